"""Laws of the noise family, against closed forms and quadrature."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import mondegreen as mg
from mechanisms.laws import (
    ALPHA,
    counts,
    flip_probability,
    g_test,
    input_points,
    line_law,
    noise_p_value,
    plane_law,
    ray_law,
    two_words_p_value,
    vickrey_line_law,
)
from mondegreen.mechanisms.noise.mahalanobis import regularize_covariance
from mondegreen.sampling.laplace import multivariate_laplace, uniform_direction
from mondegreen.space.space import Space

# n, epsilon, distance, P(flip) printed in the specification, draws
TWO_WORDS = [
    (1, 1.0, 1.0, 0.3033, 400_000),
    (5, 2.0, 2.0, 0.1861, 400_000),
    (50, 10.0, 1.5, 0.1446, 200_000),
    (300, 10.0, 3.0, 0.1932, 60_000),
]
LINE = [0.0, 1.0, 1.5, 4.0, -2.0]
STARTS = [0, 2, 4, 5]  # 5 is the unknown word
PLANE = [[0, 0], [1, 0.2], [-0.5, 2], [3, 3], [-2, -1], [1.2, -1.5]]


def line(points=LINE):
    return Space.from_arrays(
        "line", [f"w{i}" for i in range(len(points))], _col(points)
    )


def plane():
    return Space.from_arrays("plane", [f"w{i}" for i in range(len(PLANE))], PLANE)


def _col(points):
    return [[x] for x in points]


def two_words(n, distance):
    vectors = np.zeros((2, n), dtype=np.float32)
    vectors[1, 0] = distance
    return Space.from_arrays("two", ["a", "b"], vectors)


def state_of(name, space, **parameters):
    return mg.mechanism(name, **parameters).prepare(space)


# Checkers of a whole state: the smallest p-value over inputs, Bonferroni-corrected


def line_p_value(state, law, size=100_000, seed=0):
    """Compare outputs on a line with ``law(points, start)`` for several inputs."""
    rng = np.random.default_rng(seed)
    points = state.space.vectors[:, 0].astype(float)
    found = []
    for word in STARTS:
        start = float(input_points(state.space)[word, 0])
        observed = counts(state.sample, word, state.space.vocab_size, size, rng)
        found.append(g_test(observed, law(points, start)))
    return min(1.0, len(found) * min(found))


def plane_p_value(state, epsilon, root, size=100_000, seed=0):
    """Compare outputs in the plane with polar integration over Voronoi cells."""
    rng = np.random.default_rng(seed)
    points = state.space.vectors.astype(float)
    found = []
    for word in (0, 3, len(points)):
        start = input_points(state.space)[word]
        observed = counts(state.sample, word, len(points), size, rng)
        found.append(g_test(observed, plane_law(points, start, root, epsilon)))
    return min(1.0, len(found) * min(found))


def whitened(draw_noise, matrix):
    """Noise seen through ``A**-1/2``, the symmetric root (not the one of src)."""
    values, vectors = np.linalg.eigh(matrix)
    white = vectors @ np.diag(values**-0.5) @ vectors.T
    return lambda rng, shape: draw_noise(rng, shape) @ white


# Laplace


@pytest.mark.parametrize(("n", "epsilon", "distance", "printed", "size"), TWO_WORDS)
def test_the_closed_form_of_two_words_gives_the_printed_numbers(
    n, epsilon, distance, printed, size
):
    assert flip_probability(epsilon, n, distance) == pytest.approx(printed, abs=6e-5)


@pytest.mark.parametrize("name", ["laplace", "vickrey", "mahalanobis"])
@pytest.mark.parametrize(("n", "epsilon", "distance", "printed", "size"), TWO_WORDS)
@pytest.mark.slow("millions of draws")
def test_two_words_flip_as_often_as_the_closed_form_says(
    name, n, epsilon, distance, printed, size
):
    other = {"vickrey": {"t": 0.0}, "mahalanobis": {"lambda_": 0.0}}.get(name, {})
    state = state_of(name, two_words(n, distance), epsilon=epsilon, **other)
    rng = np.random.default_rng(n)
    assert two_words_p_value(state.sample, epsilon, n, distance, size, rng) > ALPHA


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_laplace_on_a_line_has_the_interval_law(epsilon):
    state = state_of("laplace", line(), epsilon=epsilon)
    assert line_p_value(state, lambda x, s: line_law(x, s, epsilon)) > ALPHA


@pytest.mark.slow("another size", but="0.5")
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_laplace_in_the_plane_has_the_law_of_voronoi_cells(epsilon):
    state = state_of("laplace", plane(), epsilon=epsilon)
    assert plane_p_value(state, epsilon, np.eye(2)) > ALPHA


def test_the_closed_forms_agree_with_each_other():
    x = np.array(LINE)
    rays = ray_law(x[:, None], np.array([0.3]), np.array([[1.0], [-1.0]]), 1, 2.0)
    np.testing.assert_allclose(rays, line_law(LINE, 0.3, 2.0), atol=1e-12)
    np.testing.assert_allclose(
        vickrey_line_law(LINE, 1.5, 0.7, 0.0), line_law(LINE, 1.5, 0.7), atol=1e-9
    )
    two = plane_law(np.array([[0, 0], [1.0, 0]]), np.zeros(2), np.eye(2), 2.0)
    assert two[1] == pytest.approx(flip_probability(2.0, 2, 1.0), abs=1e-5)
    assert line_law(LINE, 0.0, 2.0).sum() == pytest.approx(1)


def test_words_at_one_point_share_their_law_and_their_outputs():
    state = state_of("laplace", line([0.0, 0.0, 1.0]), epsilon=1.0)
    rng = np.random.default_rng(0)
    seen = [counts(state.sample, word, 3, 100_000, rng) for word in (0, 1)]
    law = line_law([0.0, 1.0], 0.0, 1.0)
    for one in seen:
        assert g_test([one[:2].sum(), one[2]], law) > ALPHA / 2
    assert (seen[0][:2] == 0).tolist() == (seen[1][:2] == 0).tolist()


# Mahalanobis


@pytest.mark.parametrize("lambda_", [0.0, 0.2, 0.9])
@pytest.mark.parametrize(("n", "rows"), [(1, 30_000), (2, 30_000), (20, 50_000)])
def test_whitened_mahalanobis_noise_is_laplace(n, rows, lambda_):
    rng = np.random.default_rng(n)
    vectors = rng.normal(size=(60, n)) * np.linspace(0.2, 4, n) + 3
    space = Space.from_arrays("cloud", [f"w{i}" for i in range(60)], vectors)
    state = state_of("mahalanobis", space, epsilon=2.0, lambda_=lambda_)
    matrix = _covariance(space, lambda_)
    assert noise_p_value(whitened(state.draw_noise, matrix), 2.0, n, rows, rng) > ALPHA


def _covariance(space, lambda_):
    """A, from the definition."""
    n = space.dim
    sigma = np.atleast_2d(np.cov(space.vectors.astype(float).T))
    sigma *= n / np.trace(sigma)
    return lambda_ * sigma + (1 - lambda_) * np.eye(n)


@pytest.mark.parametrize("lambda_", [0.0, 0.2, 0.9])
def test_the_matrix_has_trace_n_and_is_the_regularised_covariance(lambda_):
    matrix = regularize_covariance(plane(), lambda_)
    assert np.trace(matrix) == pytest.approx(2)
    np.testing.assert_allclose(matrix, _covariance(plane(), lambda_), rtol=1e-12)


@pytest.mark.slow("other shapes", but="0.2")
@pytest.mark.parametrize("lambda_", [0.0, 0.2, 0.95])
def test_mahalanobis_in_the_plane_has_the_law_of_voronoi_cells(lambda_):
    state = state_of("mahalanobis", plane(), epsilon=1.5, lambda_=lambda_)
    root = np.linalg.cholesky(_covariance(plane(), lambda_))
    assert plane_p_value(state, 1.5, root) > ALPHA


@pytest.mark.parametrize("points", [[[1, 2]], [[1, 2], [1, 2]], [[0, 0], [1, 1]]])
def test_mahalanobis_is_defined_where_the_covariance_is_not(points):
    words = [f"w{i}" for i in range(len(points))]
    space = Space.from_arrays("flat", words, points)
    state = state_of("mahalanobis", space, epsilon=1.0)
    z = state.draw_noise(np.random.default_rng(0), (100, 2))
    assert np.isfinite(z).all()


@pytest.mark.parametrize("lambda_", [0.0, 0.2, 0.9])
def test_the_diameter_of_mahalanobis_bounds_all_pairs_and_not_by_twice(lambda_):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(60, 4)) * [3, 1, 1, 0.5] + [10, 0, 0, 0]
    space = Space.from_arrays("off", [f"w{i}" for i in range(60)], points)
    state = state_of("mahalanobis", space, epsilon=1.0, lambda_=lambda_)
    everything = np.arange(60, dtype=np.int32)
    farthest = state.distances(everything, everything).max()
    stated = state.guarantee.scale["diameter"]
    least = np.linalg.eigvalsh(_covariance(space, lambda_))[0]
    assert farthest <= stated <= space.geometry.diameter / math.sqrt(least) * (1 + 1e-6)


def test_the_euclidean_equivalent_is_an_upper_bound():
    space, lambda_ = plane(), 0.7
    state = state_of("mahalanobis", space, epsilon=3.0, lambda_=lambda_)
    (text,) = state.guarantee.equivalents
    euclidean = float(text.split()[1])
    smallest = np.linalg.eigvalsh(_covariance(space, lambda_))[0]
    assert euclidean == pytest.approx(3.0 / math.sqrt(smallest), rel=1e-5)
    assert euclidean <= 3.0 / math.sqrt(1 - lambda_) * (1 + 1e-5)


# Vickrey


@pytest.mark.slow("other kernels", seconds=0.2, but=("0.0", "0.5", "t5"))
@pytest.mark.parametrize(
    "t",
    [0.0, 0.25, 0.5, 0.75, 1.0, (0.0, 0.0), (1.0, 1.0), (0.5, 2.0, 0.1), (3.0, 0.0)],
)
def test_vickrey_on_a_line_has_the_law_of_its_kernel(t):
    state = state_of("vickrey", line(), epsilon=1.2, t=t)
    law = lambda x, s: vickrey_line_law(x, s, 1.2, t)  # noqa: E731
    assert law(np.array(LINE), 0.0).sum() == pytest.approx(1, abs=1e-9)
    assert line_p_value(state, law) > ALPHA


def test_vickrey_never_excludes_the_input():
    state = state_of("vickrey", line(), epsilon=2.0)
    rng = np.random.default_rng(0)
    for word in range(len(LINE)):
        assert counts(state.sample, word, len(LINE), 10_000, rng)[word] > 1000


@pytest.mark.parametrize("t", [0.0, 0.3, 0.5, 1.0])
def test_two_words_at_one_point_are_chosen_by_t_alone(t):
    # r1 = r2 everywhere: the first with probability 1 - t; also where both are 0.
    space = Space.from_arrays("twins", ["a", "b"], [[2.0], [2.0]])
    for epsilon in (1.0, 1e9):
        state = state_of("vickrey", space, epsilon=epsilon, t=t)
        seen = counts(state.sample, 0, 2, 50_000, np.random.default_rng(0))
        law = np.array([1 - t, t])
        assert g_test(seen, law) > ALPHA  # the lower id is the first


@pytest.mark.slow("other shapes", but="0.5")
@pytest.mark.parametrize("t", [0.5, 1.0, (0.1, 0.2, 0.3)])
def test_the_size_of_a_batch_decides_no_tie(t):
    points = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]], [5, 1, 4], axis=0)
    space = Space.from_arrays("ties", [f"w{i}" for i in range(10)], points)
    state = state_of("vickrey", space, epsilon=2.0, t=t)
    ids = np.random.default_rng(0).integers(0, 11, 1200).astype(np.int32)
    ((noisy, uniforms),) = state.noisy(ids, np.random.default_rng(1))
    whole = state.decode(noisy, state.search, uniforms)
    for size in (1, 3, 4, 100, 511, 512):
        parts = [
            state.decode(noisy[i : i + size], state.search, uniforms[i : i + size])
            for i in range(0, len(ids), size)
        ]
        np.testing.assert_array_equal(np.concatenate(parts), whole)


def vickrey_plane_law(space, start, root, epsilon, t, steps=1000):
    """Integrate the kernel over directions and over quantiles of the radius."""
    middles = (np.arange(steps) + 0.5) / steps
    angles, radii = 2 * np.pi * middles, stats.gamma.ppf(middles, 2) / epsilon
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=1) @ root.T
    points = start + radii[:, None, None] * directions
    gaps = points[:, :, None, :] - space.vectors.astype(float)
    distances = np.sqrt((gaps**2).sum(axis=-1)).reshape(steps**2, -1)
    order = np.argsort(distances, axis=1)[:, :2]
    near, far = np.take_along_axis(distances, order, axis=1).T
    first = (1 - t) * far / (t * near + (1 - t) * far)
    law = np.bincount(order[:, 0], first, minlength=len(space.words))
    law += np.bincount(order[:, 1], 1 - first, minlength=len(space.words))
    return law / steps**2


def vickrey_plane_laws(state, lambda_, t):
    """The laws of some words: an integral of seconds, and the same for all noise."""
    space, epsilon = state.space, state.guarantee.epsilon
    root = np.linalg.cholesky(_covariance(space, lambda_))
    return {
        word: vickrey_plane_law(space, input_points(space)[word], root, epsilon, t)
        for word in (0, 3, len(space.words))
    }


def vickrey_in_the_plane_p_value(state, laws, size=100_000):
    rng, words = np.random.default_rng(0), len(state.space.words)
    found = [
        g_test(counts(state.sample, word, words, size, rng), law)
        for word, law in laws.items()
    ]
    return min(1.0, len(found) * min(found))


@pytest.mark.slow("integrals in the plane")
@pytest.mark.parametrize("t", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("lambda_", [0.0, 0.7])
def test_vickrey_chooses_behind_the_noise_that_it_is_given(t, lambda_):
    state = state_of("vickrey", plane(), epsilon=1.5, t=t, lambda_=lambda_)
    laws = vickrey_plane_laws(state, lambda_, t)
    assert vickrey_in_the_plane_p_value(state, laws) > ALPHA
    # Round noise under the claim of the other, and less noise, are rejected.
    other = state_of("vickrey", plane(), epsilon=1.5, t=t, lambda_=0.7 - lambda_)
    assert vickrey_in_the_plane_p_value(other, laws) < ALPHA
    twin = state_of("vickrey", plane(), epsilon=1.65, t=t, lambda_=lambda_)
    assert vickrey_in_the_plane_p_value(twin, laws) < ALPHA


def test_vickrey_states_the_distance_of_its_noise():
    space, epsilon = plane(), 1.5
    shaped = state_of("vickrey", space, epsilon=epsilon, lambda_=0.7)
    other = state_of("mahalanobis", space, epsilon=epsilon, lambda_=0.7)
    for name in ("metric", "scale", "equivalents", "epsilon"):
        assert getattr(shaped.guarantee, name) == getattr(other.guarantee, name), name
    ids = np.arange(len(space.words) + 1, dtype=np.int32)
    np.testing.assert_array_equal(
        shaped.distances(ids, ids[::-1]), other.distances(ids, ids[::-1])
    )
    round_noise = state_of("vickrey", space, epsilon=epsilon)
    assert round_noise.guarantee.metric == "Euclidean distance"


def test_round_noise_of_vickrey_is_not_named_in_its_parameters():
    # Digests of settings, and so keyed releases, stay what they were.
    assert mg.mechanism("vickrey", epsilon=1.0, lambda_=0.0).to_dict() == {
        "name": "vickrey",
        "parameters": {"epsilon": 1.0, "t": 0.5},
    }
    shaped = mg.mechanism("vickrey", epsilon=1.0, lambda_=0.2).to_dict()
    assert shaped["parameters"]["lambda_"] == 0.2


def test_vickrey_at_zero_distance_does_not_divide_by_zero():
    mechanism = mg.mechanism("vickrey", epsilon=1.0, t=0.25)
    law = mechanism.chances(np.array([[0.0, 0.0], [0.0, 2.0], [1.0, 1.0]]))
    np.testing.assert_allclose(law, [[0.75, 0.25], [1, 0], [0.75, 0.25]])
    always = mg.mechanism("vickrey", epsilon=1.0, t=1.0)
    np.testing.assert_allclose(always.chances(np.array([[0.0, 2.0]])), [[0, 1]])


def test_vickrey_with_more_neighbours_than_words_takes_all():
    state = state_of("vickrey", line([0.0, 1.0]), epsilon=1.0, t=(1.0,) * 5)
    seen = counts(state.sample, 0, 2, 50_000, np.random.default_rng(0))
    law = vickrey_line_law([0.0, 1.0], 0.0, 1.0, (1.0, 1.0))
    assert g_test(seen, law) > ALPHA


# Weakened twins and wrong laws: the same checkers must reject them


class Twin:
    """A noise state with another law of noise under the same claim."""

    def __init__(self, state, draw):
        self.space, self.draw = state.space, draw
        self.decode, self.search = state.decode, state.search
        self.uniforms = state.uniforms

    def sample(self, ids, rng):
        points = self.draw(rng, (len(ids), self.space.dim)) + self.space.points(ids)
        uniforms = rng.random((len(ids), self.uniforms))
        return self.decode(points, self.search, uniforms)


@pytest.mark.slow(
    "other epsilons",
    seconds=0.1,
    but=(
        "2.0-laplace-parameters0",
        "2.0-mahalanobis-parameters3",
        "2.0-vickrey-parameters1",
    ),
)
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("laplace", {}),
        ("vickrey", {"t": 0.5}),
        ("vickrey", {"t": (1.0, 1.0)}),
        ("mahalanobis", {}),
    ],
)
@pytest.mark.parametrize("factor", [2.0, 1.1, 0.9])
def test_another_epsilon_under_the_same_claim_is_rejected(name, parameters, factor):
    twin = state_of(name, line(), epsilon=1.2 * factor, **parameters)
    t = parameters.get("t", 0.0)
    assert line_p_value(twin, lambda x, s: vickrey_line_law(x, s, 1.2, t)) < ALPHA


@pytest.mark.slow("other dimensions", but="5-2.0-2.0-0.1861-400000")
@pytest.mark.parametrize(("n", "epsilon", "distance", "printed", "size"), TWO_WORDS)
def test_twice_the_epsilon_flips_two_words_too_rarely(
    n, epsilon, distance, printed, size
):
    twin = state_of("laplace", two_words(n, distance), epsilon=2 * epsilon)
    rng = np.random.default_rng(n)
    assert two_words_p_value(twin.sample, epsilon, n, distance, size, rng) < ALPHA


def _gaussian(rng, shape):
    return rng.standard_normal(shape) * np.sqrt(shape[1] + 1) / 2


def _ball(rng, shape):
    inside = rng.random((shape[0], 1)) ** (1 / shape[1])
    return multivariate_laplace(rng, 2.0, shape) * inside


def _shape_off_by_one(rng, shape):
    radius = rng.gamma(max(shape[1] - 1, 0.5), 0.5, size=(shape[0], 1))
    return uniform_direction(rng, shape) * radius


@pytest.mark.parametrize("wrong", [_gaussian, _ball, _shape_off_by_one])
@pytest.mark.parametrize("n", [1, 5])
def test_wrong_noise_flips_two_words_at_another_rate(wrong, n):
    twin = Twin(state_of("laplace", two_words(n, 2.0), epsilon=2.0), wrong)
    rng = np.random.default_rng(n)
    assert two_words_p_value(twin.sample, 2.0, n, 2.0, 400_000, rng) < ALPHA


@pytest.mark.slow("other noise", but="_gaussian")
@pytest.mark.parametrize("wrong", [_gaussian, _ball, _shape_off_by_one])
def test_wrong_noise_is_rejected_in_the_plane(wrong):
    twin = Twin(state_of("laplace", plane(), epsilon=2.0), wrong)
    assert plane_p_value(twin, 2.0, np.eye(2)) < ALPHA


@pytest.mark.slow("many draws")
def test_mahalanobis_brought_back_to_unit_length_is_rejected():
    space, lambda_ = plane(), 0.7
    matrix = _covariance(space, lambda_)
    root = np.linalg.cholesky(matrix)

    def renormalised(rng, shape):
        u = uniform_direction(rng, shape) @ root.T
        u /= np.linalg.norm(u, axis=1, keepdims=True)
        return u * rng.gamma(shape[1], 1 / 2.0, size=(shape[0], 1))

    rng = np.random.default_rng(0)
    white = whitened(renormalised, matrix)
    assert noise_p_value(white, 2.0, 2, 30_000, rng) < ALPHA
    twin = Twin(state_of("mahalanobis", space, epsilon=2.0, lambda_=lambda_), None)
    twin.draw = renormalised
    assert plane_p_value(twin, 2.0, root) < ALPHA


def test_mahalanobis_with_the_inverse_root_is_rejected():
    matrix = _covariance(plane(), 0.7)
    inverse = np.linalg.inv(np.linalg.cholesky(matrix))
    draw = lambda rng, shape: multivariate_laplace(rng, 2.0, shape) @ inverse  # noqa: E731
    rng = np.random.default_rng(0)
    assert noise_p_value(whitened(draw, matrix), 2.0, 2, 30_000, rng) < ALPHA


class LiteralVickrey:
    """As printed: the input word is taken out of its own neighbours."""

    def __init__(self, space, epsilon, t):
        self.space, self.epsilon, self.t = space, epsilon, t

    def sample(self, ids, rng):
        x = multivariate_laplace(rng, self.epsilon, (len(ids), 1))
        x += self.space.points(ids)
        gaps = np.abs(x - self.space.vectors[:, 0].astype(float))
        known = ids < self.space.vocab_size
        gaps[np.flatnonzero(known), ids[known]] = np.inf
        order = np.argsort(gaps, axis=1)[:, :2]
        r = np.take_along_axis(gaps, order, axis=1)
        p = (1 - self.t) * r[:, 1] / (self.t * r[:, 0] + (1 - self.t) * r[:, 1])
        second = (rng.random(len(ids)) >= p).astype(int)
        return order[np.arange(len(ids)), second].astype(np.int32)


def test_literal_vickrey_is_rejected():
    twin = LiteralVickrey(line(), 1.2, 0.5)
    assert line_p_value(twin, lambda x, s: vickrey_line_law(x, s, 1.2, 0.5)) < ALPHA


@pytest.mark.slow("other kernels", but="0.6")
@pytest.mark.parametrize("other", [0.4, 0.6, (1.0, 0.0)])
def test_vickrey_with_another_kernel_is_rejected(other):
    twin = state_of("vickrey", line(), epsilon=1.2, t=other)
    assert line_p_value(twin, lambda x, s: vickrey_line_law(x, s, 1.2, 0.5)) < ALPHA


def test_a_goodness_of_fit_test_sees_what_it_should():
    law = np.array([0.5, 0.3, 0.2, 0.0])
    assert g_test([500, 300, 200, 0], law) > 0.99
    assert g_test([500, 300, 199, 1], law) == 0
    assert g_test([560, 240, 200, 0], law) < 1e-3
    rng = np.random.default_rng(0)
    p = [g_test(rng.multinomial(2000, law), law) for _ in range(2000)]
    assert stats.kstest(p, "uniform").statistic < 0.08


@pytest.mark.slow("draws on the default space", seconds=20)
@pytest.mark.parametrize(("epsilon", "stay"), [(12.0, 0.47), (17.6, 0.89)])
def test_half_of_the_words_stay_where_the_proof_says(epsilon, stay):
    """Half at 2 sqrt(n ln V) / d = 12.4, nearly all at sqrt(2) times that: 17.6."""
    space = mg.load_space()
    state = mg.mechanism("laplace", epsilon=epsilon).prepare(space)
    mean = state.guarantee.scale["mean"]
    half = 2 * math.sqrt(space.vectors.shape[1] * math.log(space.vocab_size)) / mean
    assert half == pytest.approx(12.45, abs=0.01)
    rng = np.random.default_rng(7)
    ids = rng.integers(0, space.vocab_size, 2000, dtype=np.int32)
    assert np.mean(state.sample(ids, rng) == ids) == pytest.approx(stay, abs=0.04)
