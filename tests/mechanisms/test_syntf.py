"""SynTF: ratings, the exact law over all inputs and outputs, documents as counts."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy import special

import mondegreen as mg
from mechanisms.laws import ALPHA, all_inputs, counts, g_test, input_points
from mondegreen.errors import InvalidParameterError, SpaceError
from mondegreen.mechanisms.selection import syntf as rating_module
from mondegreen.mechanisms.selection.syntf import Bigrams, Rating
from mondegreen.mechanisms.term_frequency import (
    draw_term_frequencies,
    term_frequency_loss,
)
from mondegreen.space.space import Space
from strategies import epsilons, spaces, words

WORDS = ["cat", "cats", "scatter", "a", "dog", "dogs", "run", "running", "ran", "böse"]


def plain(seed=0, names=WORDS, dim=3):
    vectors = np.random.default_rng(seed).normal(size=(len(names), dim))
    return Space.from_arrays("plain", names, vectors)


def state_of(space, epsilon, **parameters):
    return mg.mechanism("syntf", epsilon=epsilon, **parameters).prepare(space)


def table(state):
    return state.log_prob(all_inputs(state.space))


def dice(v, w):
    """From the definition, with sets; None is the unknown word."""
    if v is None:
        return 0.0
    a, b = ({x[i : i + 2] for i in range(len(x) - 1)} for x in (f"<{v}>", f"<{w}>"))
    return 2 * len(a & b) / (len(a) + len(b))


def ratings(space, share):
    """rho of all inputs and words, from the definition."""
    points = input_points(space)
    norms = np.linalg.norm(points, axis=1, keepdims=True)
    unit = np.divide(points, norms, out=np.zeros_like(points), where=norms > 0)
    letters = [[dice(v, w) for w in space.words] for v in (*space.words, None)]
    return share * (1 + unit @ unit[:-1].T) / 2 + (1 - share) * np.array(letters)


def largest_loss(log_table):
    """Over all pairs of inputs and all outputs."""
    return float((log_table.max(axis=0) - log_table.min(axis=0)).max())


def rating_distances(rho):
    return np.abs(rho[:, None] - rho[None]).max(axis=2)


def test_bigrams_agree_with_sets():
    found = np.stack([Bigrams(WORDS).overlap(i) for i in range(len(WORDS))])
    expected = [[dice(v, w) for w in WORDS] for v in WORDS]
    np.testing.assert_allclose(found, expected)
    assert (np.diag(found) == 1).all()
    assert (Bigrams(WORDS).overlap(len(WORDS)) == 0).all()


@settings(deadline=None, max_examples=100, derandomize=True)
@given(names=st.integers(1, 8).flatmap(words))
def test_bigrams_of_any_words_are_a_symmetric_similarity(names):
    bigrams = Bigrams(names)
    found = np.stack([bigrams.overlap(i) for i in range(len(names))])
    assert (found == found.T).all()
    assert (np.diag(found) == 1).all()
    assert ((found >= 0) & (found <= 1)).all()


hard = settings(
    max_examples=250,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
shares = st.sampled_from([0.0, 0.3, 0.75, 1.0])


@pytest.mark.slow("all pairs")
@hard
@given(space=spaces(max_words=15), share=shares)
def test_the_sensitivity_is_never_below_the_true_one(space, share):
    rating = Rating(space, share)
    rho = ratings(space, share)
    true = float((rho.max(axis=0) - rho.min(axis=0)).max())
    assert true <= rating.sensitivity + 1e-15
    assert rating.sensitivity <= 1
    found = rating.rows(all_inputs(space))
    assert np.abs(found - rho).max() <= rating.rating_error + 1e-13


def test_the_sensitivity_is_nearly_the_true_one(monkeypatch):
    space = plain()
    rho = ratings(space, 0.75)
    true = float((rho.max(axis=0) - rho.min(axis=0)).max())
    assert Rating(space, 0.75).sensitivity == pytest.approx(true, abs=1e-4)
    whole = Rating(space, 0.75).sensitivity
    monkeypatch.setattr(rating_module, "_TILE_ROWS", 3)
    monkeypatch.setattr(rating_module, "_CHUNK_WORDS", 4)
    assert Rating(space, 0.75).sensitivity == pytest.approx(whole, abs=1e-7)
    np.testing.assert_allclose(Rating(space, 0.75).rows(all_inputs(space)), rho)


@hard
@given(space=spaces(max_words=15), epsilon=epsilons(1e-6, 1e6), share=shares)
def test_the_promise_holds_on_all_pairs_and_outputs(space, epsilon, share):
    try:
        state = state_of(space, epsilon, vector_share=share)
    except SpaceError as error:
        assert "rounding could add" in str(error)  # noqa: PT017
        assume(False)
    log = table(state)
    assert np.isfinite(log).all()
    np.testing.assert_allclose(np.exp(log).sum(axis=1), 1, rtol=1e-12)
    assert largest_loss(log) <= epsilon * (1 + 1e-12) + 1e-12
    # The metric reading, with its own slack.
    d = rating_distances(ratings(space, share))
    losses = np.abs(log[:, None] - log[None]).max(axis=2)
    allowed = 2 * state.law.rate * d + state.law.kappa
    assert (losses <= allowed * (1 + 1e-9) + 1e-12).all()


@pytest.mark.parametrize("epsilon", [0.5, 6.0, 25.0])
@pytest.mark.parametrize("share", [0.0, 0.75, 1.0])
def test_the_table_is_the_formula_and_the_sampler_draws_from_it(epsilon, share):
    space = plain()
    state = state_of(space, epsilon, vector_share=share)
    rho = ratings(space, share)
    scores = epsilon * rho / (2 * Rating(space, share).sensitivity)
    expected = special.softmax(scores, axis=1)
    found = np.exp(table(state))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-12)
    rng = np.random.default_rng(0)
    for word in (0, 4, len(WORDS)):
        seen = counts(state.sample, word, len(WORDS), 100_000, rng)
        assert g_test(seen, found[word]) > ALPHA / 3


def test_words_at_one_point_keep_laws_of_their_own_within_the_promise():
    space = Space.from_arrays("twins", ["hot", "hots", "zz"], [[1, 0], [1, 0], [0, 1]])
    log = table(state_of(space, 3.0))
    assert (log[0] != log[1]).any()
    assert largest_loss(log) <= 3.0
    together = table(state_of(space, 3.0, vector_share=1.0))
    np.testing.assert_allclose(together[0], together[1], atol=1e-12)


def test_the_weakened_twin_breaks_the_promise_and_shows():
    for seed in range(4):
        space = plain(seed)
        assert largest_loss(table(state_of(space, 3.0))) <= 3.0
        assert largest_loss(table(state_of(space, 6.0))) > 3.0
    law = np.exp(table(state_of(plain(), 6.0))[0])
    twin = state_of(plain(), 12.0)
    seen = counts(twin.sample, 0, len(WORDS), 30_000, np.random.default_rng(0))
    assert g_test(seen, law) < ALPHA


def _normalised(scores):
    with np.errstate(divide="ignore"):
        return scores - special.logsumexp(scores, axis=1, keepdims=True)


def synonyms_only(rho, epsilon):
    """As popular code has it: candidates that depend on the input."""
    return _normalised(
        np.where(rho >= np.sort(rho)[:, -4:-3], epsilon * rho / 2, -np.inf)
    )


def no_factor_two(rho, epsilon):
    return _normalised(epsilon * rho)


def sensitivity_of_one_pair(rho, epsilon):
    return _normalised(epsilon * rho / (2 * np.abs(rho[0] - rho[1]).max()))


def unknown_words_apart(rho, epsilon):
    scores = epsilon * rho / 2
    scores[-1] = 0
    scores[-1, 0] = 2 * epsilon
    return _normalised(scores)


@pytest.mark.parametrize(
    "wrong",
    [synonyms_only, no_factor_two, sensitivity_of_one_pair, unknown_words_apart],
)
def test_wrong_laws_break_the_promise(wrong):
    rho, epsilon = ratings(plain(), 0.75), 4.0
    assert largest_loss(_normalised(epsilon * rho / 2)) <= epsilon
    loss = largest_loss(wrong(rho, epsilon))
    assert not loss <= epsilon


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan"), "x", True])
def test_a_share_out_of_range_is_refused(share):
    with pytest.raises(InvalidParameterError, match="vector_share"):
        mg.mechanism("syntf", epsilon=1.0, vector_share=share)


def test_vectors_of_length_zero_and_balls_are_rated():
    space = Space.from_arrays("zero", ["a", "b"], [[0, 0], [0, 0]])
    assert largest_loss(table(state_of(space, 2.0))) <= 2.0
    words = ["a", "b", "c"]
    ball = Space.from_arrays("b", words, [[0.1], [0.9], [-0.5]], metric="poincare")
    assert largest_loss(table(state_of(ball, 2.0))) <= 2.0


def test_the_guarantee_states_both_readings():
    guarantee = state_of(plain(), 3.0).guarantee
    assert guarantee.metric == "discrete distance"
    assert set(guarantee.scale.values()) == {1.0}
    assert guarantee.loss(1) == 3.0
    first, second = guarantee.equivalents
    assert first.startswith("3-local differential privacy")
    assert "largest difference of the ratings" in second


# Documents


def test_term_frequencies_have_the_mixture_law():
    space = plain()
    state = state_of(space, 8.0)
    given_counts = np.array([3, 0, 0, 1, 0, 0, 7, 0, 0, 0, 2])
    theta = given_counts / given_counts.sum()
    law = theta @ np.exp(table(state))
    rng = np.random.default_rng(0)
    document = np.repeat(all_inputs(space), given_counts)[::-1]  # order says nothing
    found = draw_term_frequencies(state, document, 100_000, rng)
    assert found.shape == (len(WORDS),)
    assert found.sum() == 100_000
    assert g_test(found, law) > ALPHA
    # Without the unknown words of the document it is another law.
    known = document[document < len(WORDS)]
    wrong = draw_term_frequencies(state, known, 100_000, rng)
    assert g_test(wrong, law) < ALPHA


def multinomial(law, size):
    """Probabilities of all count vectors, in a fixed order."""
    found = {}
    for outcome in itertools.product(range(len(law)), repeat=size):
        key = tuple(np.bincount(outcome, minlength=len(law)).tolist())
        found[key] = found.get(key, 0.0) + math.prod(law[i] for i in outcome)
    return np.array([found[key] for key in sorted(found)])


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_loss_of_a_document_is_at_most_size_times_epsilon(size):
    space = plain(names=["cat", "cats", "dog"])
    state = state_of(space, 2.0)
    allowed = term_frequency_loss(state.guarantee, size)
    assert allowed == size * 2.0
    law, twin = (np.exp(table(s)) for s in (state, state_of(space, 4.0)))
    rng = np.random.default_rng(0)
    thetas = [*np.eye(4), *rng.dirichlet(np.ones(4), 20)]
    losses, weak = (
        largest_loss(np.log([multinomial(theta @ p, size) for theta in thetas]))
        for p in (law, twin)
    )
    assert losses <= allowed
    assert weak > allowed


@pytest.mark.parametrize("size", [0, -1, 1.5, True, "3"])
def test_a_size_that_is_none_is_refused(size):
    state = state_of(plain(), 1.0)
    with pytest.raises(InvalidParameterError, match="size"):
        draw_term_frequencies(
            state, all_inputs(state.space), size, np.random.default_rng(0)
        )
