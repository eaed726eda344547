"""Each attack succeeds without noise, and fails where nothing is left."""

import numpy as np
import pytest

pytest.importorskip("sklearn")

import mondegreen as mg
from mondegreen.attacks.learnt import auditor, authorship, membership
from mondegreen.attacks.learnt.ranking import Ranking
from mondegreen.errors import InvalidParameterError

SIZE, LENGTH = 600, 12


def state_at(epsilon):
    vectors = np.random.default_rng(3).normal(size=(SIZE, 5))
    words = [f"w{i}" for i in range(SIZE)]
    space = mg.Space.from_arrays("learnt", words, vectors)
    return mg.mechanism("calibrated", epsilon=epsilon).prepare(space)


def released(texts, epsilon, rng):
    """Texts as they are, or word by word through a mechanism."""
    if epsilon is None:
        return texts
    flat = state_at(epsilon).sample(texts.ravel().astype(np.int32), rng)
    return flat.reshape(texts.shape)


class Memory:
    """A model that overfits: it is sure of a label the nearer a text is to one it saw.

    Texts have labels by chance, so that memory alone tells them.
    """

    def __init__(self, texts, labels):
        self.seen = np.zeros((len(texts), SIZE), bool)
        for row, text in zip(self.seen, texts, strict=True):
            row[text] = True
        self.labels = labels

    def __call__(self, texts):
        mine = np.zeros((len(texts), SIZE), bool)
        for row, text in zip(mine, texts, strict=True):
            row[text] = True
        shared = mine.astype(float) @ self.seen.T
        weight = np.exp(shared - shared.max(axis=1, keepdims=True))
        ones = (weight * self.labels).sum(axis=1) / weight.sum(axis=1)
        ones = 0.02 + 0.96 * ones
        return np.stack([1 - ones, ones], axis=1)


def texts_of(rng, count):
    return rng.integers(0, SIZE, (count, LENGTH)), rng.integers(0, 2, count)


def by_shadows(epsilon, seed=0, count=150):
    """Shokri's attack by an adversary who knows the mechanism and asks with texts."""
    rng = np.random.default_rng(seed)

    def model(texts, labels):
        return Memory(released(texts, epsilon, rng), labels)

    def features(memory, texts, labels):
        return membership.features(memory(texts), labels)

    known, unknown = texts_of(rng, count), texts_of(rng, count)
    shadow, others = texts_of(rng, count), texts_of(rng, count)
    target, copy = model(*known), model(*shadow)
    asked = np.concatenate([features(target, *known), features(target, *unknown)])
    scores = membership.by_shadow_models(
        [features(copy, *shadow)], [features(copy, *others)], asked, seed
    )
    return Ranking.of(scores[:count], scores[count:])


def by_ratio(epsilon, seed=0, count=120, models=16):
    rng = np.random.default_rng(seed)
    texts, labels = texts_of(rng, count)
    chosen = membership.halves(count, models, rng)
    member = rng.permutation(np.arange(count) % 2 == 0)

    def confidences(rows):
        memory = Memory(released(texts[rows], epsilon, rng), labels[rows])
        return membership.confidence(memory(texts), labels)

    shadows = np.stack([confidences(rows) for rows in chosen])
    scores = membership.by_likelihood_ratio(shadows, chosen, confidences(member))
    return Ranking.of(scores[member], scores[~member])


@pytest.mark.parametrize("attack", [by_shadows, by_ratio])
def test_membership_is_told_without_noise_and_not_at_epsilon_near_zero(attack):
    assert attack(None).low > 0.9
    lost = attack(0.01)
    assert lost.low < 0.5 < lost.high


@pytest.mark.parametrize("attack", [by_shadows, by_ratio])
def test_membership_is_told_better_the_larger_epsilon_is(attack):
    assert attack(4.0).auc > attack(0.01).auc + 0.2


def test_the_ratio_needs_models_with_and_without_each_text():
    with pytest.raises(InvalidParameterError):
        membership.by_likelihood_ratio(
            np.zeros((2, 3)), np.ones((2, 3), bool), np.zeros(3)
        )
    with pytest.raises(InvalidParameterError):
        membership.halves(4, 3, np.random.default_rng(0))


def test_every_text_is_in_half_of_the_shadow_models():
    chosen = membership.halves(50, 6, np.random.default_rng(0))
    assert (chosen.sum(axis=0) == 3).all()
    assert len(np.unique(chosen, axis=0)) == 6


def users_of(rng, count, remembered):
    """Ranks of words of users: a model that saw them ranks their words higher."""
    scale = 400 if remembered else 2500
    return [rng.exponential(scale, 80).astype(np.int32) for _ in range(count)]


@pytest.mark.parametrize("remembered", [True, False])
def test_the_auditor_tells_users_whose_words_are_remembered(remembered):
    rng = np.random.default_rng(4)
    shadows = users_of(rng, 60, remembered), users_of(rng, 60, False)
    asked = users_of(rng, 60, remembered) + users_of(rng, 60, False)
    scores = auditor.by_ranks(*shadows, asked, 0)
    found = Ranking.of(scores[:60], scores[60:])
    if remembered:
        assert found.low > 0.9
        assert (scores[:60] > 0).mean() > 0.9 > 0.1 > (scores[60:] > 0).mean()
    else:
        assert found.low < 0.5 < found.high


def test_a_user_with_no_rank_within_reach_is_a_row_of_zeros():
    assert not auditor.histogram(np.array([5000, 9000], np.int32)).any()


@pytest.mark.parametrize(("epsilon", "least", "most"), [(None, 0.9, 1), (0.01, 0, 0.5)])
def test_authors_are_named_by_their_words_unless_these_are_gone(epsilon, least, most):
    rng = np.random.default_rng(5)
    habits = rng.dirichlet(np.full(SIZE, 0.02), 3)
    authors = rng.integers(0, 3, 240)
    texts = np.stack([rng.choice(SIZE, LENGTH, p=habits[each]) for each in authors])
    texts = list(released(texts, epsilon, rng))
    named = authorship.guess_authors(texts[:160], authors[:160], texts[160:], SIZE + 1)
    assert least <= (named == authors[160:]).mean() <= most


def test_a_word_that_is_repeated_is_counted_once_and_higher():
    found = authorship.counts([np.array([2, 0, 2, 2], np.int32)], 4)
    assert found.nnz == 2
    assert found.toarray().tolist() == [[1, 0, 3, 0]]
