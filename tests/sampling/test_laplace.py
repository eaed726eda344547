"""The multivariate Laplace law: a Gamma radius and a free direction."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from mechanisms.laws import ALPHA, noise_p_value
from mondegreen.sampling.laplace import multivariate_laplace, uniform_direction

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
