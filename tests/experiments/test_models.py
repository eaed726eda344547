"""Models that experiments train: they learn, and repeat themselves for a seed."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from mondegreen_experiments.bench import Labelled  # noqa: E402
from mondegreen_experiments.models.classifiers import (  # noqa: E402
    BagOfNgrams,
    Recurrent,
    accuracy,
    fitted,
)
from mondegreen_experiments.models.mean_vectors import fitted_mean  # noqa: E402
from mondegreen_experiments.models.next_word import next_word_ranks  # noqa: E402
from mondegreen_experiments.models.training import PAD, Training, padded  # noqa: E402

SIZE = 40
VECTORS = np.random.default_rng(0).normal(size=(SIZE, 8))
BUILDS = {
    "bag": lambda classes: BagOfNgrams(SIZE, classes, dim=8, buckets=64),
    "bag, lazy Adam": lambda classes: BagOfNgrams(
        SIZE, classes, dim=8, buckets=64, sparse=True
    ),
    "lstm": lambda classes: Recurrent(VECTORS, classes, hidden=16),
    "bilstm": lambda classes: Recurrent(VECTORS, classes, hidden=8, both_ways=True),
}
TRAINING = Training(epochs=12, batch=16, rate=0.02, patience=4)


def texts(count, seed, told=True):
    """Texts whose class is which half of the words their middle word is of."""
    rng = np.random.default_rng(seed)
    words = [
        rng.integers(0, SIZE, rng.integers(3, 9)).astype(np.int32) for _ in range(count)
    ]
    labels = rng.integers(0, 2, count)
    if told:
        for text, label in zip(words, labels, strict=True):
            text[:] = text % (SIZE // 2) + label * SIZE // 2
    return Labelled(words, labels)


@pytest.mark.parametrize("name", BUILDS)
def test_a_model_learns_what_can_be_learnt_and_nothing_else(name):
    for told, least, most in ((True, 0.9, 1.0), (False, 0.35, 0.65)):
        tell = fitted(
            BUILDS[name], texts(200, 1, told), texts(80, 2, told), 0, TRAINING
        )
        asked = texts(200, 3, told)
        found = tell(asked)
        assert found.shape == (200, 2)
        np.testing.assert_allclose(found.sum(axis=1), 1)
        assert least <= accuracy(found, asked) <= most


@pytest.mark.parametrize("name", BUILDS)
def test_a_seed_gives_the_same_model_and_another_another(name):
    known, valid, asked = texts(60, 1), texts(30, 2), texts(20, 3)
    state = torch.random.get_rng_state()
    first, again, other = (
        fitted(BUILDS[name], known, valid, seed, TRAINING)(asked) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    assert torch.equal(state, torch.random.get_rng_state())  # others' draws stay
    assert not torch.are_deterministic_algorithms_enabled()


def test_texts_are_cut_and_filled():
    rows = padded([np.array([4, 5, 6]), np.array([], int)], 2, torch.device("cpu"))
    assert rows.tolist() == [[5, 6], [PAD, PAD]]


@pytest.mark.parametrize("name", BUILDS)
def test_what_fills_a_row_changes_nothing(name):
    torch.manual_seed(0)
    model = BUILDS[name](2).eval()
    device = torch.device("cpu")
    short = np.array([1, 2, 3])
    alone = model(padded([short], 9, device))
    beside = model(padded([short, np.arange(9)], 9, device))[:1]
    torch.testing.assert_close(alone, beside)


def test_a_language_model_ranks_the_words_it_saw_first_and_others_anywhere():
    rng = np.random.default_rng(6)
    known, other = ([rng.integers(0, SIZE, 9) for _ in range(8)] for _ in range(2))
    training = Training(epochs=80, batch=8, rate=0.02, longest=9)
    ranks, again = (next_word_ranks(known, SIZE, 0, training) for _ in range(2))
    assert [len(each) for each in ranks(known)] == [8] * 8
    assert np.concatenate(ranks(known)).mean() < 1
    assert np.concatenate(ranks(other)).mean() > SIZE / 5
    assert np.concatenate(ranks(other)).max() < SIZE
    for one, same in zip(ranks(other), again(other), strict=True):
        np.testing.assert_array_equal(one, same)


def test_mean_vectors_tell_what_can_be_learnt_and_nothing_else():
    pytest.importorskip("sklearn")
    vectors = VECTORS + np.repeat([[2.0], [-2.0]], SIZE // 2, axis=0)
    for told, least, most in ((True, 0.95, 1.0), (False, 0.35, 0.65)):
        tell = fitted_mean(vectors, texts(200, 1, told), texts(80, 2, told))
        asked = texts(200, 3, told)
        assert least <= accuracy(tell(asked), asked) <= most
    odd = Labelled([np.array([SIZE], np.int32), np.array([], np.int32)], np.zeros(2))
    unknown, nothing = tell(odd)
    np.testing.assert_array_equal(unknown, nothing)  # both are a vector of zeros
