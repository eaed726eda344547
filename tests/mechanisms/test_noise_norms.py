"""Laplace noise in the Manhattan and Chebyshev norms: its law, its words, its promise.

The noise itself is tested in tests/sampling.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import mondegreen as mg
from mechanisms.laws import (
    ALPHA,
    counts,
    g_test,
    input_points,
    line_law,
    norm_noise_p_value,
    statistical_violation,
)
from mondegreen.audit import audit_mechanism, audit_state
from mondegreen.errors import (
    ConfigurationError,
    InvalidParameterError,
    MondegreenError,
    SpaceError,
)
from mondegreen.guarantee import Guarantee
from mondegreen.sampling.laplace import multivariate_laplace
from mondegreen.sampling.noise import chacha20
from mondegreen.space.search.decoders import NormSearch
from mondegreen.space.space import Space

NORMS = ["manhattan", "chebyshev"]
OF_SCIPY = {
    "manhattan": "cityblock",
    "chebyshev": "chebyshev",
    "euclidean": "euclidean",
}
LINE = [0.0, 1.0, 1.5, 4.0, -2.0]
PLANE = [[0, 0], [1, 0.2], [-0.5, 2], [3, 3], [-2, -1], [1.2, -1.5]]
every = pytest.mark.parametrize("norm", NORMS)


def space_of(points):
    words = [f"w{i}" for i in range(len(points))]
    return Space.from_arrays("some", words, np.asarray(points, dtype=np.float64))


def cloud(count=80, dim=7, seed=3):
    rng = np.random.default_rng(seed)
    return space_of(rng.normal(size=(count, dim)) * np.linspace(0.2, 3, dim) + 4)


def axis_of(norm, n=3):
    """A direction in which lengths of the norm add up: its marginal is Laplace's.

    Of the Manhattan norm an axis; of the Chebyshev norm a diagonal, since in the plane
    max(|x|, |y|) = |x + y| / 2 + |x - y| / 2.
    """
    if norm == "manhattan":
        return np.eye(n)[0]
    return np.array([1.0, 1.0])


def on_an_axis(norm, places):
    return space_of(np.outer(places, axis_of(norm)))


def state_of(norm, space, epsilon=1.5, **parameters):
    made = mg.mechanism("laplace", epsilon=epsilon, norm=norm, **parameters)
    return made.prepare(space)


def everything(space):
    return np.arange(space.vocab_size + 1, dtype=np.int32)


# The law


@every
@pytest.mark.parametrize("n", [1, 4])
def test_a_state_draws_the_noise_of_its_norm(norm, n):
    state, rng = state_of(norm, cloud(dim=n), 2.5), np.random.default_rng(n)
    assert norm_noise_p_value(norm, state.draw_noise, 2.5, n, 40_000, rng) > ALPHA
    twin = state_of(norm, cloud(dim=n), 2.75)
    assert norm_noise_p_value(norm, twin.draw_noise, 2.5, n, 40_000, rng) < ALPHA


def line_p_value(state, law, size=60_000):
    rng, words = np.random.default_rng(0), state.space.vocab_size
    starts = [0, 2, 4]
    found = [
        g_test(counts(state.sample, word, words, size, rng), law(word))
        for word in starts
    ]
    return min(1.0, len(found) * min(found))


@every
def test_in_one_dimension_all_norms_have_the_law_of_intervals(norm):
    state = state_of(norm, space_of(np.array(LINE)[:, None]), 1.2)
    law = lambda word: line_law(LINE, LINE[word], 1.2)  # noqa: E731
    assert line_p_value(state, law) > ALPHA
    twin = state_of(norm, state.space, 1.32)
    assert line_p_value(twin, law) < ALPHA


def plane_law(norm, space, word, epsilon, steps=1200):
    """Integrate over quantiles of two independent Laplace coordinates.

    For the Chebyshev norm of half the sum and half the difference of the coordinates.
    """
    middles = (np.arange(steps) + 0.5) / steps
    quantiles = -np.sign(middles - 0.5) * np.log(1 - 2 * np.abs(middles - 0.5))
    u, v = (each.ravel() / epsilon for each in np.meshgrid(quantiles, quantiles))
    z = np.stack([u, v] if norm == "manhattan" else [u + v, u - v], axis=1)
    points = input_points(space)[word] + z
    nearest = cdist(points, space.vectors, OF_SCIPY[norm]).argmin(axis=1)
    return np.bincount(nearest, minlength=space.vocab_size) / len(points)


@every
def test_in_the_plane_the_law_is_that_of_cells_of_the_norm(norm):
    space = space_of(PLANE)
    state = state_of(norm, space, 1.5)
    other = state_of(*({"manhattan", "chebyshev"} - {norm}), space, 1.5)
    for word in (0, 3, len(PLANE)):
        law = plane_law(norm, space, word, 1.5)
        for each, is_right in ((state, True), (other, False)):
            rng = np.random.default_rng(word)
            seen = counts(each.sample, word, len(PLANE), 60_000, rng)
            assert (g_test(seen, law) > ALPHA) == is_right


@every
@pytest.mark.parametrize("size", [1, 700])
def test_the_word_is_the_nearest_one_in_the_norm(norm, size):
    space = cloud()
    state = state_of(norm, space, 3.0)
    rng, same = chacha20(bytes(32)), chacha20(bytes(32))
    ids = np.random.default_rng(1).integers(0, 81, size).astype(np.int32)
    noise = state.draw_noise(same, (size, space.dim))
    points = input_points(space)[ids] + noise
    nearest = cdist(points, space.vectors, OF_SCIPY[norm]).argmin(axis=1)
    np.testing.assert_array_equal(state.sample(ids, rng), nearest)
    assert rng.random() == same.random()


@every
def test_far_points_and_ties_have_a_word(norm):
    vectors = np.repeat([[0.0, 0], [1, 0], [5, 5]], 2, axis=0)
    found = NormSearch(norm, vectors).nearest(np.array([[1e12, 0], [5, 5], [1, 0]]), 3)
    # In the sup norm all words whose first coordinate is 5 lead; else they tie.
    assert found[:, 0].tolist() == [4 if norm == "chebyshev" else 2, 4, 2]
    assert found[1, :2].tolist() == [4, 5]
    with pytest.raises(MondegreenError, match="nothing was released"):
        NormSearch(norm, vectors).nearest(np.array([[np.nan, 0.0]]), 1)


# The promise


@every
@pytest.mark.parametrize("epsilon", [1.0, 1.5])
def test_no_output_tells_words_apart_by_more_than_their_distance(norm, epsilon):
    """At the bound itself: half the noise, or a tenth less, breaks it."""
    space = on_an_axis(norm, [-1.0, 0, 1, 2])  # beyond 1.5 the ratio is the bound
    order, rng = np.array([0, 1, 2, 3]), np.random.default_rng(0)
    excess = [
        statistical_violation(
            state_of(norm, space, epsilon * factor).sample,
            order,
            (1, 2),
            epsilon,
            400_000,
            rng,
        )
        for factor in (1.0, 2.0, 1.1)
    ]
    assert excess[0] <= 0 < min(excess[1:])


@every
def test_an_audit_sees_too_little_noise(norm):
    space = on_an_axis(norm, [-3.0, 0, 1, 4])
    options = {"runs": 20_000, "seed": 1}
    sound = audit_mechanism(
        mg.mechanism("laplace", epsilon=1.0, norm=norm), space, **options
    )
    assert sound.verdict == "not rejected"
    assert sound.metric == f"{norm.capitalize()} distance"
    state, loud = state_of(norm, space, 1.0), state_of(norm, space, 2.0)
    for twin in (loud, replace(state, draw_noise=loud.draw_noise)):
        assert audit_state(twin, claim=1.0, **options).verdict == "broken"


@pytest.mark.parametrize("shorter", ["euclidean", "chebyshev"])
def test_a_promise_in_manhattan_distance_is_none_in_a_shorter_one(shorter):
    places = [-1.0, 0, 1, 2]
    space = space_of([[x, y] for x in places for y in places])
    state, epsilon = state_of("manhattan", space, 1.0), 1.0
    # The corner is released where both coordinates are above 1.5.
    pair, order = (5, 10), np.array([*range(16)])
    gap = cdist(space.vectors[[5]], space.vectors[[10]], OF_SCIPY[shorter])[0, 0]
    ids = np.array(pair, dtype=np.int32)
    own = state.distances(ids[:1], ids[1:])[0, 0]
    assert own == 2 > gap
    rng = np.random.default_rng(0)
    lost = statistical_violation(state.sample, order, pair, 0.0, 400_000, rng)
    assert epsilon * gap < lost <= epsilon * own


@every
def test_the_guarantee_is_stated_in_the_distance_of_the_norm(norm):
    space = cloud()
    guarantee = state_of(norm, space, 2.0).guarantee
    assert guarantee.metric == f"{norm.capitalize()} distance"
    shown = str(guarantee)
    assert f"norm {norm}" in shown
    assert f"d             {guarantee.metric}, on some" in shown
    assert f"search in {guarantee.metric}" in shown
    stretch = math.sqrt(7) if norm == "manhattan" else 1
    (text,) = guarantee.equivalents
    assert text.endswith(" per unit of Euclidean distance")
    euclidean = float(text.split()[1])
    assert 2 * stretch <= euclidean <= 2 * stretch * (1 + 2e-5)
    assert Guarantee.from_dict(guarantee.to_dict()) == guarantee


@every
@pytest.mark.parametrize("dim", [1, 2, 7])
def test_distances_and_scale_are_those_of_the_norm(norm, dim):
    space = cloud(count=60, dim=dim)
    state, ids = state_of(norm, space), everything(space)
    points = input_points(space)
    table = cdist(points, points, OF_SCIPY[norm])
    np.testing.assert_allclose(state.distances(ids, ids), table, rtol=1e-12)
    scale = state.guarantee.scale
    words = table[:-1, :-1]
    away = words[~np.eye(60, dtype=bool)].reshape(60, 59)
    assert scale["mean"] == pytest.approx(away.mean())
    assert scale["nearest"] == pytest.approx(np.median(away.min(axis=1)))
    assert 0 < scale["closest"] <= table[table > 0].min()
    slack = 1 + 1e-4 if norm == "chebyshev" or dim == 1 else 2
    assert table.max() <= scale["diameter"] <= table.max() * slack


@every
@pytest.mark.parametrize(
    "points", [[[1.0, 2]], [[1, 2], [1, 2]], [[0, 0], [1, 1]], [[3, 0], [3, 4]]]
)
def test_any_euclidean_space_will_do(norm, points):
    space = space_of(points)
    state, ids = state_of(norm, space), everything(space)
    table = state.distances(ids, ids)
    same = space.canonical[:, None] == space.canonical
    assert (table[same] == 0).all()
    assert (table[~same] > 0).all()
    assert set(state.sample(ids, np.random.default_rng(0))) <= set(range(len(points)))
    assert np.isfinite(list(state.guarantee.scale.values())).all()


# The parameter


def test_the_default_is_what_it_was():
    made = mg.mechanism("laplace", epsilon=3.0)
    assert made.to_dict() == {"name": "laplace", "parameters": {"epsilon": 3.0}}
    assert made == mg.mechanism("cmp", epsilon=3.0, norm="euclidean")
    space = cloud()
    state = made.prepare(space)
    assert state.guarantee.metric == "Euclidean distance"
    assert state.guarantee.parameters == {"epsilon": 3.0}
    assert state.guarantee.scale == space.geometry.to_dict()
    assert state.guarantee.equivalents == ()
    np.testing.assert_array_equal(
        state.draw_noise(chacha20(bytes(32)), (9, 7)),
        multivariate_laplace(chacha20(bytes(32)), 3.0, (9, 7)),
    )


@every
def test_a_norm_is_saved_and_changes_keyed_noise(norm):
    made = mg.mechanism("laplace", epsilon=0.3, norm=norm)
    saved = made.to_dict()
    assert saved["parameters"] == {"epsilon": 0.3, "norm": norm}
    assert mg.mechanism(saved["name"], **saved["parameters"]) == made
    noise = mg.KeyedNoise(bytes(range(32)))
    texts = ["w3 w5 w7 w9 w11 w13 w15 w17"]
    one, two = (
        mg.Privatizer(mg.mechanism("laplace", **parameters), cloud(), noise=noise)
        for parameters in (saved["parameters"], {"epsilon": 0.3})
    )
    again = mg.Privatizer(made, cloud(), noise=noise)
    first = one.batch(texts, ids=["a"])[0].text
    assert first == again.batch(texts, ids=["a"])[0].text
    assert first != two.batch(texts, ids=["a"])[0].text


@every
@pytest.mark.parametrize("decoder", ["fast", "torch"])
def test_decoders_by_products_are_refused(norm, decoder):
    with pytest.raises(InvalidParameterError, match=f"exact with norm {norm}"):
        mg.mechanism("laplace", epsilon=3.0, norm=norm, decoder=decoder)


@pytest.mark.parametrize("norm", ["l1", "Manhattan", "", None, 1])
def test_an_unknown_norm_is_refused(norm):
    with pytest.raises(InvalidParameterError, match="manhattan or chebyshev"):
        mg.mechanism("laplace", epsilon=3.0, norm=norm)


@pytest.mark.parametrize("name", ["mahalanobis", "vickrey", "private_vectors"])
def test_what_shares_the_noise_takes_no_norm(name):
    with pytest.raises((ConfigurationError, TypeError), match="norm"):
        mechanism_of(name)(epsilon=1.0, norm="manhattan")


def mechanism_of(name):
    if name == "private_vectors":
        from mondegreen.mechanisms.noise.private_vectors import PrivateVectors

        return PrivateVectors
    return lambda **parameters: mg.mechanism(name, **parameters)


@every
def test_a_space_of_the_ball_is_refused(norm):
    ball = Space.from_arrays("ball", ["a", "b"], [[0.0], [0.5]], metric="poincare")
    with pytest.raises(SpaceError, match="euclidean"):
        state_of(norm, ball)
