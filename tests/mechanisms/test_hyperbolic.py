"""Hyperbolic noise, and selection by hyperbolic distance: laws and exact epsilons."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

import mondegreen as mg
from mechanisms.laws import (
    ALPHA,
    all_inputs,
    counts,
    direction_p_value,
    g_test,
    input_points,
    line_law,
    table_violation,
)
from mondegreen.errors import InvalidParameterError, MondegreenError, SpaceError
from mondegreen.sampling.laplace import (
    hyperbolic_laplace,
    hyperbolic_radius,
    mobius_translate,
    uniform_direction,
)
from mondegreen.space.search.decoders import PoincareSearch
from mondegreen.space.space import Space

PLANE = [[0, 0], [0.5, 0.1], [-0.3, 0.6], [0.8, 0.5], [-0.9, -0.3], [0.45, 0.2]]


def ball(points, name="ball"):
    words = [f"w{i}" for i in range(len(points))]
    points = np.asarray(points, dtype=np.float32)
    return Space.from_arrays(name, words, points, metric="poincare")


def state_of(name, space, epsilon, **parameters):
    return mg.mechanism(name, epsilon=epsilon, **parameters).prepare(space)


def hyperbolic_distances(x, y):
    """The arcosh of the papers, as a logarithm, in extended precision."""
    x, y = x.astype(np.longdouble), y.astype(np.longdouble)
    gaps = ((x[:, None] - y[None]) ** 2).sum(axis=2)
    room = (1 - (x**2).sum(axis=1))[:, None] * (1 - (y**2).sum(axis=1))[None]
    more = 2 * gaps / room
    return np.asarray(np.log1p(more + np.sqrt(more * (2 + more))), dtype=float)


def mobius(mu, z):
    """Möbius addition as printed."""
    mu, z = np.atleast_2d(mu), np.atleast_2d(z)
    inner = (mu * z).sum(axis=1, keepdims=True)
    m, s = ((v**2).sum(axis=1, keepdims=True) for v in (mu, z))
    top = (1 + 2 * inner + s) * mu + (1 - m) * z
    return top / (1 + 2 * inner + m * s)


# The radius


def radius_law(epsilon, n):
    """CDF of the density e^(-epsilon r) sinh^(n-1) r, by u = exp(-2 r)."""
    law = stats.beta((epsilon - n + 1) / 2, n)
    return lambda r: law.sf(np.exp(-2 * np.asarray(r)))


@pytest.mark.parametrize(("n", "epsilon"), [(1, 0.7), (2, 1.5), (5, 9.0), (10, 9.5)])
def test_the_law_of_the_radius_is_the_integral_of_the_density(n, epsilon):
    density = lambda r: np.exp(-epsilon * r) * np.sinh(r) ** (n - 1)  # noqa: E731
    edges = [0, 0.3, 1, 3, 8, 20, 60]
    parts = [integrate.quad(density, a, b, limit=200)[0] for a, b in pairwise(edges)]
    found = np.cumsum(parts)[:-1] / sum(parts)
    np.testing.assert_allclose(found, radius_law(epsilon, n)(edges[1:-1]), rtol=1e-6)


def ball_p_value(points, epsilon):
    """Is it the law around the origin? Radius, direction, and their independence."""
    norms = np.linalg.norm(points, axis=1)
    with np.errstate(divide="ignore"):
        radius = 2 * np.arctanh(np.minimum(norms, 1))
    n = points.shape[1]
    found = [float(stats.kstest(radius, radius_law(epsilon, n)).pvalue)]
    directions = points / norms[:, None]
    found.append(direction_p_value(directions))
    far = norms > np.median(norms)
    found.append(direction_p_value(directions[far]))
    return min(1.0, 3 * min(found))


CASES = [(1, 0.3), (1, 6.0), (2, 1.3), (2, 7.0), (5, 4.5), (5, 12.0), (10, 10.0)]


@pytest.mark.slow("other dimensions", seconds=0.3, but=("2-7.0", "5-12.0"))
@pytest.mark.parametrize(("n", "epsilon"), CASES)
def test_noise_around_the_origin_has_its_law(n, epsilon):
    rng = np.random.default_rng(n)
    radius = hyperbolic_radius(rng, epsilon, 50_000, n)
    assert stats.kstest(radius, radius_law(epsilon, n)).pvalue > ALPHA
    assert ball_p_value(hyperbolic_laplace(rng, epsilon, (50_000, n)), epsilon) > ALPHA


def test_the_radius_is_finite_next_to_the_limit():
    rng = np.random.default_rng(0)
    for n in (1, 2, 10):
        radius = hyperbolic_radius(rng, n - 1 + 1e-9, 1000, n)
        assert np.isfinite(radius).all()
        assert np.median(radius) > 1e7
        points = hyperbolic_laplace(rng, n - 1 + 1e-9, (1000, n))
        np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1, rtol=1e-12)


def _doubled(rng, epsilon, shape):
    return hyperbolic_laplace(rng, 2 * epsilon, shape)


def _lebesgue(rng, epsilon, shape):
    """The same density with respect to Lebesgue measure: rho^(n-1) e^(-eps d)."""
    rho = np.linspace(0, 1, 200_001)[1:-1]
    mass = np.cumsum(rho ** (shape[1] - 1) * ((1 - rho) / (1 + rho)) ** epsilon)
    drawn = np.interp(rng.random(shape[0]), mass / mass[-1], rho)
    return uniform_direction(rng, shape) * drawn[:, None]


def _gamma(rng, epsilon, shape):
    """Euclidean volume: r^(n-1) in place of sinh^(n-1) r."""
    radius = rng.gamma(shape[1], 1 / epsilon, size=(shape[0], 1))
    return uniform_direction(rng, shape) * np.tanh(radius / 2)


def _twice_the_norm(rng, epsilon, shape):
    """artanh in place of twice artanh."""
    radius = hyperbolic_radius(rng, epsilon, *shape)
    return uniform_direction(rng, shape) * np.tanh(radius)[:, None]


@pytest.mark.slow(
    "other noise",
    seconds=0.3,
    but=("2-3.0-_doubled", "2-3.0-_gamma", "2-3.0-_lebesgue", "2-3.0-_twice_the_norm"),
)
@pytest.mark.parametrize("wrong", [_doubled, _lebesgue, _gamma, _twice_the_norm])
@pytest.mark.parametrize(("n", "epsilon"), [(2, 3.0), (5, 9.0)])
def test_wrong_noise_is_rejected(wrong, n, epsilon):
    points = wrong(np.random.default_rng(0), epsilon, (50_000, n))
    assert ball_p_value(points, epsilon) < ALPHA


# Translation

numbers = st.integers(0, 2**32 - 1)
hard = settings(deadline=None, max_examples=200, derandomize=True)


@pytest.mark.slow("many examples; draws around any centre by default")
@hard
@given(seed=numbers, n=st.integers(1, 6), edge=st.sampled_from([0.5, 1e-2, 1e-4]))
def test_translation_is_an_isometry_that_takes_the_origin_to_the_centre(seed, n, edge):
    rng = np.random.default_rng(seed)
    mu, x, y = (
        uniform_direction(rng, (9, n)) * (1 - edge ** rng.random((9, 1)))
        for _ in range(3)
    )
    np.testing.assert_allclose(mobius_translate(mu, np.zeros_like(mu)), mu)
    moved = [mobius_translate(mu, p) for p in (x, y)]
    np.testing.assert_allclose(moved[0], mobius(mu, x), rtol=1e-6, atol=1e-9)
    d = np.diag(hyperbolic_distances(x, y))
    again = np.diag(hyperbolic_distances(*moved))
    np.testing.assert_allclose(again, d, rtol=1e-4, atol=1e-4)
    back = mobius_translate(-mu, moved[0])
    assert np.diag(hyperbolic_distances(back, x)).max() < 1e-3


def test_translation_does_not_cancel_at_the_edge():
    # Against fractions: z next to the edge, opposite to a centre next to the edge.
    for mu, z in ((0.9999, -0.99995), (0.99, -1 + 2.0**-40), (-0.9999, 1 - 2.0**-50)):
        exact = (Fraction(mu) + Fraction(z)) / (1 + Fraction(mu) * Fraction(z))
        found = mobius_translate(np.array([[mu]]), np.array([[z]]))[0, 0]
        assert abs(Fraction(float(found)) - exact) < 1e-11


@pytest.mark.slow("other dimensions", but="1-2.0")
@pytest.mark.parametrize(("n", "epsilon"), [(1, 2.0), (2, 3.0), (5, 7.0)])
def test_noise_around_any_centre_is_noise_around_the_origin_moved(n, epsilon):
    rng = np.random.default_rng(n)
    for norm in (0.5, 0.95):
        mu = np.tile(uniform_direction(rng, (1, n)) * norm, (40_000, 1))
        points = mobius_translate(mu, hyperbolic_laplace(rng, epsilon, mu.shape))
        assert ball_p_value(mobius(-mu, points), epsilon) > ALPHA / 2
        # Euclidean translation is no isometry: the same checker rejects it.
        wrong = mu + hyperbolic_laplace(rng, epsilon, mu.shape)
        inside = (wrong**2).sum(axis=1) < 1
        wrong = mobius(-mu[inside], wrong[inside])
        assert ball_p_value(wrong, epsilon) < ALPHA


# The search


def exact_nearest(point, words):
    """By fractions: |x - y|^2 / (1 - |y|^2)."""
    x = [Fraction(float(v)) for v in point]
    scores = []
    for word in words:
        y = [Fraction(float(v)) for v in word]
        gap = sum((a - b) ** 2 for a, b in zip(x, y, strict=True))
        scores.append(gap / (1 - sum(v * v for v in y)))
    return scores.index(min(scores))


@pytest.mark.slow("other distances", but="1e-06")
@pytest.mark.parametrize("edge", [0.3, 1e-3, 1e-6])
def test_the_search_is_exact_up_to_the_edge(edge):
    rng = np.random.default_rng(1)
    words = uniform_direction(rng, (40, 3)) * (1 - edge * rng.random((40, 1)))
    words = words.astype(np.float32)
    points = np.concatenate(
        [
            uniform_direction(rng, (60, 3)),  # on the edge
            uniform_direction(rng, (60, 3)) * (1 - edge * rng.random((60, 1))),
            words.astype(float),
        ]
    )
    found = PoincareSearch(words).nearest(points, 1)[:, 0]
    assert found.tolist() == [exact_nearest(point, words) for point in points]


def test_the_search_orders_neighbours_by_distance_and_refuses_nan():
    space = ball(PLANE)
    points = np.array([[0.1, 0.2], [0.9, 0.4]])
    d = hyperbolic_distances(points, space.vectors)
    search = PoincareSearch(space.vectors)
    assert (search.nearest(points, 99) == np.argsort(d, axis=1)).all()
    assert search.nearest(points[:0], 1).shape == (0, 1)
    with pytest.raises(MondegreenError, match="not finite"):
        search.nearest(np.array([[np.nan, 0]]), 1)


# The law of words, exactly, by rays: along a ray from the input a cell is an interval,
# because cosh d(x(r), y) = A cosh r - B sinh r is linear in tanh r.


def ray_law(words, centre, steps, epsilon):
    n = len(centre)
    moved = mobius(np.tile(-centre, (len(words), 1)), words.astype(float))
    room = 1 - (moved**2).sum(axis=1)
    cosh, along = (2 - room) / room, (2 * moved / room[:, None]) @ steps.T
    law = stats.beta((epsilon - n + 1) / 2, n)
    slope = along.T[:, None, :] - along.T[:, :, None]  # (rays, y, y')
    right = cosh[None, :] - cosh[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        edge = right / slope
    high = np.where(slope > 0, edge, 1.0).min(axis=2)
    low = np.where(slope < 0, edge, 0.0).max(axis=2)
    high[((slope == 0) & (right < 0)).any(axis=2)] = 0.0
    low, high = np.clip(low, 0, 1), np.clip(high, 0, 1)
    mass = law.cdf((1 - low) / (1 + low)) - law.cdf((1 - high) / (1 + high))
    return np.maximum(mass, 0).mean(axis=0)


def plane_table(space, epsilon, angles=20_000):
    theta = (np.arange(angles) + 0.5) * 2 * np.pi / angles
    steps = np.stack([np.cos(theta), np.sin(theta)], axis=1)
    return np.stack(
        [ray_law(space.vectors, x, steps, epsilon) for x in input_points(space)]
    )


def table_p_value(state, table, size=60_000, seed=0):
    rng = np.random.default_rng(seed)
    found = [
        g_test(counts(state.sample, word, len(law), size, rng), law)
        for word, law in enumerate(table)
    ]
    return min(1.0, len(found) * min(found))


@pytest.mark.slow("other sizes", but="2.0")
@pytest.mark.parametrize("epsilon", [1.3, 2.0, 5.0])
def test_in_the_plane_the_law_is_that_of_cells_and_keeps_the_promise(epsilon):
    space = ball(PLANE)
    table = plane_table(space, epsilon)
    np.testing.assert_allclose(table.sum(axis=1), 1, rtol=1e-9)
    assert table_p_value(state_of("hyperbolic", space, epsilon), table) > ALPHA
    points = input_points(space)
    d = hyperbolic_distances(points, points)
    log_table = np.log(table)
    assert table_violation(log_table, d, epsilon) <= 0
    # The bound is nearly tight, so nine tenths of it are not kept...
    assert table_violation(log_table, d, 0.9 * epsilon) > 0
    # ...and the weakened twin is caught, by its table and by its outputs.
    assert table_violation(np.log(plane_table(space, 2 * epsilon)), d, epsilon) > 0.1
    twin = state_of("hyperbolic", space, 2 * epsilon)
    assert table_p_value(twin, table) < ALPHA


class Twin:
    """Another noise, or another translation, under the same claim."""

    def __init__(self, state, draw=None, translate=None):
        self.space, self.state = state.space, state
        self.draw = draw or state.draw_noise
        self.translate = translate or state.translate

    def sample(self, ids, rng):
        noise = self.draw(rng, (len(ids), self.space.dim))
        points = self.translate(self.space.points(ids), noise)
        uniforms = rng.random((len(ids), self.state.uniforms))
        return self.state.decode(points, self.state.search, uniforms)


@pytest.mark.slow("many draws")
def test_wrong_measure_and_wrong_translation_give_other_words():
    space, epsilon = ball(PLANE), 2.0
    state, table = state_of("hyperbolic", space, epsilon), plane_table(space, epsilon)
    assert table_p_value(Twin(state), table) > ALPHA
    for twin in (
        Twin(state, draw=lambda rng, shape: _lebesgue(rng, epsilon, shape)),
        Twin(state, draw=lambda rng, shape: _gamma(rng, epsilon, shape)),
        Twin(state, translate=lambda mu, z: np.clip(mu + z, -0.7, 0.7)),
        Twin(state, translate=lambda mu, z: mobius_translate(-mu, z)),
    ):
        assert table_p_value(twin, table) < ALPHA


@pytest.mark.parametrize("epsilon", [0.4, 2.0])
def test_on_a_line_it_is_the_laplace_mechanism(epsilon):
    at = np.array([0.0, 1.0, 1.5, 4.0, -2.0])
    space = ball(np.tanh(at / 2)[:, None])
    state = state_of("hyperbolic", space, epsilon)
    starts = 2 * np.arctanh(input_points(space)[:, 0])
    table = np.stack([line_law(starts[:-1], start, epsilon) for start in starts])
    assert table_p_value(state, table) > ALPHA
    assert table_p_value(state_of("hyperbolic", space, 1.2 * epsilon), table) < ALPHA


def test_words_next_to_the_edge_keep_apart():
    rng = np.random.default_rng(0)
    space = ball(uniform_direction(rng, (200, 10)) * 0.9996)
    ids = np.tile(np.arange(200, dtype=np.int32), 20)
    out = state_of("hyperbolic", space, 12.0).sample(ids, rng)
    assert (out == ids).mean() > 0.95


# What is refused


@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_an_epsilon_without_a_density_is_refused_with_a_way_out(epsilon):
    with pytest.raises(InvalidParameterError, match="use exponential") as caught:
        state_of("hyperbolic", ball(PLANE), epsilon)
    assert "above 1 " in str(caught.value)
    state_of("exponential", ball(PLANE), epsilon)
    state_of("hyperbolic", ball(PLANE), 1.0001)


@pytest.mark.parametrize("name", ["laplace", "mahalanobis", "vickrey"])
def test_euclidean_noise_refuses_a_ball(name):
    with pytest.raises(SpaceError, match=f"{name} needs a space whose metric is eucl"):
        state_of(name, ball(PLANE), 1.0)


def test_hyperbolic_noise_refuses_a_euclidean_space():
    with pytest.raises(SpaceError, match="--metric poincare"):
        state_of("hyperbolic", Space.from_arrays("flat", ["a"], [[0.5]]), 3.0)


# Selection by hyperbolic distance


@st.composite
def balls(draw):
    rng = np.random.default_rng(draw(numbers))
    count, n = draw(st.integers(1, 12)), draw(st.integers(1, 4))
    edge = draw(st.sampled_from([0.5, 1e-2, 1e-4, 1e-6]))
    points = uniform_direction(rng, (count, n)) * (1 - edge ** rng.random((count, 1)))
    copies = rng.random(count) < draw(st.sampled_from([0.0, 0.4]))
    points[copies] = points[rng.integers(0, count, size=int(copies.sum()))]
    return ball(points)


def selection_violation(state, epsilon):
    points = input_points(state.space)
    d = hyperbolic_distances(points, points)
    metric = np.minimum(d, state.guarantee.scale["diameter"])
    return table_violation(state.log_prob(all_inputs(state.space)), metric, epsilon)


@pytest.mark.slow("all pairs of words")
@pytest.mark.parametrize("name", ["exponential", "tem"])
@hard
@given(space=balls(), log_epsilon=st.floats(-4, 4))
def test_selection_keeps_its_promise_for_hyperbolic_distance(name, space, log_epsilon):
    epsilon = float(np.exp(log_epsilon))
    try:
        state = state_of(name, space, epsilon)
    except SpaceError as error:
        assert "rounding could add" in str(error)  # noqa: PT017
        return
    assert selection_violation(state, epsilon) <= 0


@pytest.mark.parametrize("name", ["exponential", "tem"])
def test_selection_draws_by_hyperbolic_distance(name):
    space, epsilon = ball(PLANE), 1.5
    state = state_of(name, space, epsilon)
    assert state.guarantee.metric.endswith("hyperbolic distance")
    points = input_points(space)
    d = np.minimum(hyperbolic_distances(points, space.vectors), state.law.cutoff)
    law = np.exp(-epsilon / 2 * d)
    law /= law.sum(axis=1, keepdims=True)
    found = np.exp(state.log_prob(all_inputs(space)))
    np.testing.assert_allclose(found, law, rtol=1e-5)
    assert table_p_value(state, found) > ALPHA
    assert selection_violation(state, epsilon) <= 0
    assert selection_violation(state_of(name, space, 2 * epsilon), epsilon) > 0.01
    # Euclidean distances under the hyperbolic claim are another law.
    flat = Space.from_arrays("flat", space.words, space.vectors)
    assert table_p_value(state_of(name, flat, epsilon), found) < ALPHA
