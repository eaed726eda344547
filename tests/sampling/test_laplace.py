"""The multivariate Laplace law: a Gamma radius and a free direction."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from mechanisms.laws import ALPHA, noise_p_value, norm_lengths, norm_noise_p_value
from mondegreen.sampling.laplace import (
    chebyshev_laplace,
    manhattan_laplace,
    multivariate_laplace,
    uniform_direction,
)

# In n dimensions wrong laws differ by about 1/n: rows are chosen to see it.
DIMS = [(1, 40_000), (5, 40_000), (50, 50_000), (300, 50_000)]


def laplace(epsilon):
    return lambda rng, shape: multivariate_laplace(rng, epsilon, shape)


@pytest.mark.parametrize(("n", "rows"), DIMS)
@pytest.mark.parametrize("epsilon", [0.5, 20.0])
@pytest.mark.slow("millions of draws")
def test_the_radius_is_gamma_and_the_direction_free(n, rows, epsilon):
    rng = np.random.default_rng([n, int(epsilon * 2)])
    assert noise_p_value(laplace(epsilon), epsilon, n, rows, rng) > ALPHA


def gaussian(rng, shape):
    """Normal noise of the same covariance, (n + 1) / epsilon**2."""
    return rng.standard_normal(shape) * np.sqrt(shape[1] + 1)


def in_the_ball(rng, shape):
    """The direction uniform in the ball, as the paper can be read."""
    return multivariate_laplace(rng, 1.0, shape) * rng.random((shape[0], 1)) ** (
        1 / shape[1]
    )


def one_dimension_short(rng, shape):
    """A radius of shape n - 1 (n + 1 where there is no n - 1)."""
    n = shape[1]
    radius = rng.gamma(n - 1 or 2, size=(shape[0], 1))
    return uniform_direction(rng, shape) * radius


def independent(rng, shape):
    """Laplace noise in each coordinate: the law of another norm."""
    return rng.laplace(size=shape) * np.sqrt((shape[1] + 1) / 2)


def inverted(rng, shape):
    """Epsilon taken for the scale (twice, so that epsilon 1 shows it)."""
    return multivariate_laplace(rng, 1.0, shape) * 2


@pytest.mark.parametrize(("n", "rows"), DIMS)
@pytest.mark.parametrize(
    "wrong", [gaussian, in_the_ball, one_dimension_short, inverted, laplace(2.0)]
)
@pytest.mark.slow("millions of draws")
def test_wrong_laws_are_rejected_in_every_dimension(wrong, n, rows):
    assert noise_p_value(wrong, 1.0, n, rows, np.random.default_rng(n)) < ALPHA


@pytest.mark.parametrize(("n", "rows"), DIMS[1:])
@pytest.mark.slow("millions of draws")
def test_noise_per_coordinate_is_rejected(n, rows):
    assert noise_p_value(independent, 1.0, n, rows, np.random.default_rng(n)) < ALPHA


def test_one_dimension_is_the_laplace_law():
    z = multivariate_laplace(np.random.default_rng(3), 4.0, (50_000, 1))[:, 0]
    assert stats.kstest(z, stats.laplace(scale=0.25).cdf).pvalue > ALPHA


def test_extreme_epsilons_give_finite_noise():
    for epsilon in (1e-9, 1e9):
        z = multivariate_laplace(np.random.default_rng(0), epsilon, (100, 300))
        assert np.isfinite(z).all()
        assert np.linalg.norm(z, axis=1).mean() == pytest.approx(300 / epsilon, rel=0.1)


# Other norms

IN_NORM = {"manhattan": manhattan_laplace, "chebyshev": chebyshev_laplace}
NORM_DIMS = [(1, 40_000), (2, 40_000), (5, 40_000), (60, 40_000)]
every_norm = pytest.mark.parametrize("norm", IN_NORM)


def in_norm(norm, epsilon):
    return lambda rng, shape: IN_NORM[norm](rng, epsilon, shape)


@every_norm
@pytest.mark.parametrize(("n", "rows"), NORM_DIMS)
@pytest.mark.parametrize("epsilon", [0.5, 20.0])
def test_noise_in_a_norm_has_its_length_and_direction(norm, n, rows, epsilon):
    rng = np.random.default_rng([n, int(epsilon * 2)])
    draw = in_norm(norm, epsilon)
    assert norm_noise_p_value(norm, draw, epsilon, n, rows, rng) > ALPHA


def of_the_other_norm(norm, rng, shape):
    return IN_NORM[{"manhattan": "chebyshev", "chebyshev": "manhattan"}[norm]](
        rng, 1.0, shape
    )


def of_the_euclidean_norm(norm, rng, shape):
    return multivariate_laplace(rng, 1.0, shape)


def a_normal_direction(norm, rng, shape):
    """A normal vector brought to length 1 in the norm: the length alone is right."""
    z = rng.standard_normal(shape)
    z *= (rng.gamma(shape[1], size=len(z)) / norm_lengths(norm, z))[:, None]
    return z


def one_dimension_too_short(norm, rng, shape):
    """A length of shape n - 1, or a cube of shape n."""
    z = IN_NORM[norm](rng, 1.0, shape)
    return z * rng.beta(shape[1] - 1, 1, size=(len(z), 1))


def of_a_tenth_more_epsilon(norm, rng, shape):
    return IN_NORM[norm](rng, 1.1, shape)


def without_signs(norm, rng, shape):
    return np.abs(IN_NORM[norm](rng, 1.0, shape))


@every_norm
@pytest.mark.parametrize(("n", "rows"), NORM_DIMS[1:])
@pytest.mark.parametrize(
    "wrong",
    [
        of_the_other_norm,
        of_the_euclidean_norm,
        a_normal_direction,
        one_dimension_too_short,
        of_a_tenth_more_epsilon,
        without_signs,
    ],
)
def test_wrong_noise_in_a_norm_is_rejected(wrong, norm, n, rows):
    rng = np.random.default_rng(n)
    draw = lambda rng, shape: wrong(norm, rng, shape)  # noqa: E731
    assert norm_noise_p_value(norm, draw, 1.0, n, rows, rng) < ALPHA


@every_norm
def test_extreme_epsilons_give_finite_noise_in_a_norm(norm):
    for epsilon in (1e-9, 1e9):
        z = IN_NORM[norm](np.random.default_rng(0), epsilon, (100, 300))
        lengths = norm_lengths(norm, z)
        assert lengths.mean() == pytest.approx(300 / epsilon, rel=0.1)
