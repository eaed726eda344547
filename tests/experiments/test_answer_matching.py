"""Matching of questions and answers: it learns, repeats itself, and is judged right."""

import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sklearn")

from mondegreen_experiments.bench import Labelled  # noqa: E402
from mondegreen_experiments.models.matching import (  # noqa: E402
    Asked,
    Encoder,
    matched,
    tf_idf,
)
from mondegreen_experiments.models.ranks import (  # noqa: E402
    average_precision,
    chance_precision,
    chance_rank,
    reciprocal_rank,
)
from mondegreen_experiments.models.training import (  # noqa: E402
    Training,
    padded,
    until_no_better,
)

SIZE = 60
VECTORS = np.random.default_rng(0).normal(size=(SIZE, 8))
TRAINING = Training(epochs=15, batch=20, rate=0.02, patience=4)


def asked(count, seed, told=True, right=1, wrong=9):
    """Questions and answers of one kind have words of its own, if they are told."""
    rng = np.random.default_rng(seed)
    kinds = rng.permutation(np.arange(count) % 6)
    words = [rng.integers(0, SIZE // 6, 6).astype(np.int32) for _ in range(2 * count)]
    if told:
        words = [
            each + SIZE // 6 * kind
            for each, kind in zip(words, np.tile(kinds, 2), strict=True)
        ]
    questions, answers = Labelled(words[:count], kinds), Labelled(words[count:], kinds)
    return Asked.drawn(questions, answers, right, wrong, rng)


def test_precision_and_rank_are_those_computed_by_hand():
    scores = np.array([[0.9, 0.8, 0.7, 0.1], [0.1, 0.2, 0.3, 0.4]])
    is_right = np.array([[True, False, True, False], [True, False, False, False]])
    assert average_precision(scores, is_right) == pytest.approx(
        ((1 + 2 / 3) / 2 + 1 / 4) / 2
    )
    assert reciprocal_rank(scores, is_right) == pytest.approx((1 + 1 / 4) / 2)


def test_of_equal_scores_wrong_answers_come_first():
    scores, is_right = np.ones((1, 4)), np.array([[False, True, False, False]])
    assert average_precision(scores, is_right) == 1 / 4
    assert reciprocal_rank(scores, is_right) == 1 / 4


@pytest.mark.parametrize(("right", "wrong"), [(1, 0), (1, 4), (2, 3), (3, 1)])
def test_chance_is_the_mean_over_all_orders(right, wrong):
    orders = set(itertools.permutations([True] * right + [False] * wrong))
    is_right = np.array(sorted(orders))
    scores = np.tile(-np.arange(right + wrong, dtype=float), (len(is_right), 1))
    mean = average_precision(scores, is_right)
    assert chance_precision(right, wrong) == pytest.approx(mean)
    mean = reciprocal_rank(scores, is_right)
    assert chance_rank(right, wrong) == pytest.approx(mean)


def test_lists_hold_as_many_right_and_wrong_answers_as_were_asked_for():
    found = asked(60, 1, right=3, wrong=7)
    assert found.lists.shape == (60, 10)
    assert (found.is_right.sum(axis=1) == 3).all()
    assert all(len(set(row)) == 10 for row in found.lists)


def test_a_question_with_too_few_right_answers_is_left_out():
    words = [np.zeros(1, np.int32)] * 4
    questions = Labelled(words[:3], np.array([0, 1, 0]))
    answers = Labelled(words, np.array([0, 0, 1, 2]))
    found = Asked.drawn(questions, answers, 2, 2, np.random.default_rng(0))
    assert found.questions.labels.tolist() == [0, 0]


@pytest.mark.slow("a model that learns, and one that cannot")
def test_a_model_ranks_what_can_be_told_and_nothing_else():
    for told, least, most in ((True, 0.9, 1.0), (False, 0.2, 0.4)):
        tell = matched(
            VECTORS, asked(120, 1, told), asked(60, 2, told), 0, TRAINING, 16
        )
        test = asked(200, 3, told)
        scores = tell(test)
        assert scores.shape == (200, 10)
        assert np.abs(scores).max() <= 1 + 1e-6
        assert least <= reciprocal_rank(scores, test.is_right) <= most


def test_a_seed_gives_the_same_model_and_another_another():
    known, valid, test = asked(60, 1), asked(30, 2), asked(20, 3)
    state = torch.random.get_rng_state()
    first, again, other = (
        matched(VECTORS, known, valid, seed, TRAINING, 16)(test) for seed in (0, 0, 1)
    )
    assert (first == again).all()
    assert (first != other).any()
    assert (torch.random.get_rng_state() == state).all()


def test_a_text_is_encoded_the_same_beside_a_longer_one():
    model, device = Encoder(VECTORS, filters=8), torch.device("cpu")
    short, long = np.array([3, 4], np.int32), np.arange(9, dtype=np.int32)
    with torch.no_grad():
        alone = model(padded([short], 20, device))
        beside = model(padded([short, long], 20, device))
    np.testing.assert_allclose(alone[0], beside[0], atol=1e-6)


def test_tf_idf_finds_the_same_words_and_orders_the_rest_at_random():
    words = [np.array([i, i + 20], np.int32) for i in range(20)]
    answers = Labelled(words, np.arange(20))
    rng = np.random.default_rng(0)
    found = Asked.drawn(answers, answers, 1, 9, rng)
    assert reciprocal_rank(tf_idf(found, SIZE, rng), found.is_right) == 1
    lost = Labelled([np.array([50], np.int32)] * 20, np.arange(20))
    lists = [tf_idf(found.asking(lost), SIZE, rng) for _ in range(50)]
    mean = np.mean([reciprocal_rank(each, found.is_right) for each in lists])
    assert mean == pytest.approx(chance_rank(1, 9), abs=0.04)  # four deviations


@pytest.mark.parametrize(("losses", "kept"), [([3, 1, 2, 4, 0], 2), ([3, 2, 1], 3)])
def test_the_model_of_the_lowest_loss_is_kept(losses, kept):
    model = torch.nn.Linear(1, 1)
    said = iter(losses)

    def epoch():
        with torch.no_grad():
            model.bias += 1

    with torch.no_grad():
        model.bias.zero_()
    training = Training(epochs=len(losses), patience=2)
    until_no_better(model, training, epoch, lambda: float(next(said)))
    assert model.bias.item() == kept
