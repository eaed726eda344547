"""Private vectors: the noise, the measured Lipschitz constant, the grid."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanisms.laws import (
    ALPHA,
    all_inputs,
    direction_p_value,
    input_points,
    noise_p_value,
    two_words_p_value,
)
from mondegreen.errors import InvalidParameterError, LawUnknownError, SpaceError
from mondegreen.mechanisms.noise import private_vectors as projection
from mondegreen.mechanisms.noise.private_vectors import (
    PrivateVectors,
    gaussian_projection,
    lipschitz_constant,
)
from mondegreen.space.space import Space
from strategies import spaces


def cloud(count=40, dim=12, seed=0):
    vectors = np.random.default_rng(seed).normal(size=(count, dim))
    return Space.from_arrays("cloud", [f"w{i}" for i in range(count)], vectors)


def stretch(matrix, space):
    """Largest over all pairs, from differences, one by one."""
    points = input_points(space)
    gaps = points[:, None] - points[None]
    length = np.linalg.norm(gaps, axis=2)
    moved = np.linalg.norm(gaps @ matrix.T, axis=2)
    return float((moved[length > 0] / length[length > 0]).max(initial=0.0))


@pytest.mark.slow("all pairs")
@settings(deadline=None, max_examples=150, derandomize=True)
@given(
    space=spaces(max_dim=8),
    k=st.integers(1, 8),
    seed=st.integers(0, 99),
    tile=st.sampled_from([1, 3, 1024]),
)
def test_the_lipschitz_constant_bounds_all_pairs_and_hardly_more(space, k, seed, tile):
    matrix = gaussian_projection(space.dim, min(k, space.dim), seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(projection, "_TILE_ROWS", tile)
        found = lipschitz_constant(matrix, space)
    true = stretch(matrix, space)
    assert found >= true
    assert found <= np.linalg.norm(matrix, 2) * (1 + 1e-8)
    if true:
        assert found <= true * (1 + 1e-8)


def test_the_constant_of_the_identity_is_one():
    assert lipschitz_constant(np.eye(12), cloud()) == pytest.approx(1, rel=1e-8)


def noise_of(state):
    """The noise of the unknown word, as a law around the origin."""

    def draw(rng, shape):
        ids = np.full(shape[0], state.space.vocab_size)
        return state.vectors(ids, rng) - state.space.unknown @ state.matrix.T

    return draw


@pytest.mark.parametrize("k", [None, 1, 4, 12])
def test_the_noise_is_laplace_at_epsilon_over_the_constant(k):
    space, epsilon = cloud(), 3.0
    state = PrivateVectors(epsilon, k).prepare(space)
    n = k or 12
    constant = 1.0 if k is None else stretch(state.matrix, space)
    rng = np.random.default_rng(1)
    draw, rate = noise_of(state), epsilon / constant
    assert noise_p_value(draw, rate, n, 30_000, rng) > ALPHA
    twin = PrivateVectors(2 * epsilon, k).prepare(space)
    assert noise_p_value(noise_of(twin), rate, n, 30_000, rng) < ALPHA


def loss_violation(rate, matrix, space, epsilon):
    """Largest loss of a pair beyond epsilon times its distance, in nats."""
    points = input_points(space)
    gaps = points[:, None] - points[None]
    losses = rate * np.linalg.norm(gaps @ matrix.T, axis=2)
    return float((losses - epsilon * np.linalg.norm(gaps, axis=2)).max())


@pytest.mark.parametrize("k", [None, 1, 3, 12])
@pytest.mark.parametrize("seed", range(3))
def test_no_pair_loses_more_than_epsilon_times_its_distance(k, seed):
    space = cloud(seed=seed)
    state = PrivateVectors(5.0, k, seed).prepare(space)
    assert loss_violation(state.rate, state.matrix, space, 5.0) <= 1e-12
    # Nearly all of epsilon is used, so less noise breaks the promise.
    assert loss_violation(1.001 * state.rate, state.matrix, space, 5.0) > 0


def test_an_unmeasured_projection_breaks_the_promise():
    space = cloud()
    matrix = gaussian_projection(12, 3, 0)
    assert loss_violation(5.0, matrix, space, 5.0) > 0.1  # epsilon, as if s were 1
    few = Space.from_arrays("few", ["a", "b", "c"], space.vectors[:3])
    measured = 5.0 / lipschitz_constant(matrix, few)  # over a sample of the words
    assert loss_violation(measured, matrix, space, 5.0) > 0.1


@pytest.mark.parametrize(("n", "epsilon", "distance"), [(1, 1.0, 1.0), (5, 2.0, 2.0)])
def test_decoded_vectors_flip_two_words_as_laplace_does(n, epsilon, distance):
    vectors = np.zeros((2, n), dtype=np.float32)
    vectors[1, 0] = distance
    space = Space.from_arrays("two", ["a", "b"], vectors)
    rng = np.random.default_rng(n)
    state = PrivateVectors(epsilon).prepare(space)
    twin = PrivateVectors(2 * epsilon).prepare(space)
    law = (epsilon, n, distance, 200_000, rng)
    assert two_words_p_value(state.sample, *law) > ALPHA
    assert two_words_p_value(twin.sample, *law) < ALPHA


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 8.0, 1e4])
@pytest.mark.parametrize("k", [None, 3])
def test_every_coordinate_lies_on_the_grid(epsilon, k):
    state = PrivateVectors(epsilon, k).prepare(cloud())
    assert np.log2(state.step) % 1 == 0
    assert state.step <= 2.0**-4 / state.rate
    found = state.vectors(
        np.tile(all_inputs(state.space), 20), np.random.default_rng(0)
    )
    cells = found / state.step
    assert (cells == np.rint(cells)).all()
    assert np.abs(cells).max() < 2.0**52
    # Parity, a low-order bit that can be seen, is a fair coin for every word.
    odd = (cells[:, 0] % 2).reshape(20, -1).sum(axis=0)
    assert (odd > 0).all()
    assert (odd < 20).all()


def test_without_the_grid_low_order_bits_tell_words_apart():
    # Why there is a grid: sums in doubles keep multiples of the last bit of the word.
    rng = np.random.default_rng(0)
    noise = rng.laplace(size=1000) * 1e-3
    sums = [1.0 + noise, 1e-3 + noise]
    last = [np.mean((x * 2.0**53) % 1 == 0) for x in sums]
    assert last[0] == 1.0
    assert last[1] < 0.2


def test_a_space_too_wide_for_its_noise_is_refused():
    space = Space.from_arrays("wide", ["a", "b"], [[1e6], [0.0]])
    with pytest.raises(SpaceError, match="too long for noise"):
        PrivateVectors(1e9).prepare(space)


def test_it_repeats_under_a_seed_and_not_otherwise():
    state = PrivateVectors(2.0, 5).prepare(cloud())
    ids = all_inputs(state.space)
    first = state.vectors(ids, np.random.default_rng(1))
    assert first.shape == (41, 5)
    assert (state.vectors(ids, np.random.default_rng(1)) == first).all()
    assert (state.vectors(ids, np.random.default_rng(2)) != first).any()
    assert state.vectors(ids[:0], np.random.default_rng(1)).shape == (0, 5)
    directions = state.vectors(np.full(20_000, 40), np.random.default_rng(3))
    directions -= state.space.unknown @ state.matrix.T
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    assert direction_p_value(directions) > ALPHA


def test_a_large_epsilon_keeps_the_words():
    state = PrivateVectors(1e5, 6).prepare(cloud())
    words = np.arange(40)
    rng = np.random.default_rng(0)
    assert (state.decode(state.vectors(words, rng)) == words).all()
    assert (state.sample(words, rng) == words).all()
    with pytest.raises(LawUnknownError):
        state.log_prob(words)


@pytest.mark.parametrize(
    "parameters",
    [
        {"projection_dim": 0},
        {"projection_dim": 2.5},
        {"projection_dim": True},
        {"projection_seed": -1},
        {"projection_seed": None},
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters):
    with pytest.raises(InvalidParameterError, match="projection_"):
        PrivateVectors(1.0, **parameters)


def test_what_does_not_fit_the_space_is_refused():
    with pytest.raises(InvalidParameterError, match="at most 12"):
        PrivateVectors(1.0, 13).prepare(cloud())
    ball = Space.from_arrays("ball", ["a"], [[0.5]], metric="poincare")
    with pytest.raises(SpaceError, match="private_vectors needs"):
        PrivateVectors(1.0).prepare(ball)
    state = PrivateVectors(1.0).prepare(cloud())
    with pytest.raises(InvalidParameterError, match="ids"):
        state.vectors(np.array([41]), np.random.default_rng(0))


def test_the_guarantee_says_what_was_measured():
    state = PrivateVectors(2.0, 4).prepare(cloud())
    guarantee = state.guarantee
    assert guarantee.epsilon == 2.0
    assert guarantee.parameters["projection_dim"] == 4
    assert "Lipschitz constant" in guarantee.certified_how
    assert "grid" in guarantee.assumptions[0]
