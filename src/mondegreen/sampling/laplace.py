"""Laplace laws: exponential in a norm, or in the distance of the Poincaré ball."""

from __future__ import annotations

import numpy as np

from mondegreen.arrays import Floats, Vectors


def uniform_direction(rng: np.random.Generator, shape: tuple[int, int]) -> Vectors:
    """Draw unit vectors, uniform on the sphere; ``shape`` is (rows, n).

    They must lie *on* the sphere: a point uniform in the ball changes the law of
    whatever is scaled by it.

    >>> u = uniform_direction(np.random.default_rng(0), (4, 3))
    >>> np.linalg.norm(u, axis=1).round(12).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    direction = rng.standard_normal(shape)
    # Squares of doubles near 1 neither overflow nor vanish, so no rescaling is due;
    # a row of n exact zeros has probability 0 in the model and 2**-1000 in practice.
    direction /= np.sqrt(np.einsum("ij,ij->i", direction, direction))[:, None]
    return direction


def multivariate_laplace(
    rng: np.random.Generator, epsilon: float, shape: tuple[int, int]
) -> Vectors:
    r"""Draw vectors with density proportional to :math:`\exp(-\epsilon\|z\|_2)`.

    A direction uniform on the sphere times a radius :math:`\Gamma(n, 1/\epsilon)`,
    since the surface of radius :math:`r` grows as :math:`r^{n-1}`. ``shape`` is
    (rows, n); epsilon is per unit of length, and the mean radius ``n / epsilon``.

    Wu, Li, Kumar, Chaudhuri, Jha, Naughton. "Bolt-on Differential Privacy for
    Scalable Stochastic Gradient Descent-based Analytics." SIGMOD 2017, Appendix E.

    >>> z = multivariate_laplace(np.random.default_rng(0), 10.0, (20_000, 50))
    >>> float(np.linalg.norm(z, axis=1).mean().round(1))  # n / epsilon
    5.0
    """
    direction = uniform_direction(rng, shape)
    direction *= rng.gamma(shape[1], 1 / epsilon, size=(shape[0], 1))
    return direction


def manhattan_laplace(
    rng: np.random.Generator, epsilon: float, shape: tuple[int, int]
) -> Vectors:
    r"""Draw vectors with density proportional to :math:`\exp(-\epsilon\|z\|_1)`.

    The density is a product, so the coordinates are independent: an exponential of mean
    ``1 / epsilon`` with a fair sign each. ``shape`` is (rows, n).

    >>> z = manhattan_laplace(np.random.default_rng(0), 10.0, (20_000, 50))
    >>> float(np.abs(z).sum(axis=1).mean().round(1))  # n / epsilon
    5.0
    """
    noise: Vectors = rng.standard_exponential(shape)
    noise /= epsilon
    is_negative = rng.integers(0, 2, shape, dtype=np.bool_)
    return np.negative(noise, out=noise, where=is_negative)


def chebyshev_laplace(
    rng: np.random.Generator, epsilon: float, shape: tuple[int, int]
) -> Vectors:
    r"""Draw vectors with density proportional to :math:`\exp(-\epsilon\|z\|_\infty)`.

    A point uniform in the cube :math:`[-1, 1]^n` times
    :math:`g \sim \Gamma(n + 1, 1/\epsilon)`. Given g the density is
    :math:`(2g)^{-n}` where :math:`\|z\|_\infty \le g`, and its mean over g is
    proportional to :math:`\int_{\|z\|_\infty}^\infty e^{-\epsilon g} dg`. So the norm
    is :math:`\Gamma(n, 1/\epsilon)`. ``shape`` is (rows, n).

    >>> z = chebyshev_laplace(np.random.default_rng(0), 10.0, (20_000, 50))
    >>> float(np.abs(z).max(axis=1).mean().round(1))  # n / epsilon
    5.0
    """
    noise: Vectors = rng.uniform(-1.0, 1.0, shape)
    noise *= rng.gamma(shape[1] + 1, 1 / epsilon, size=(shape[0], 1))
    return noise


def hyperbolic_radius(
    rng: np.random.Generator, epsilon: float, rows: int, dim: int
) -> Floats:
    r"""Draw radii with density proportional to :math:`e^{-\epsilon r} \sinh^{n-1} r`.

    Epsilon, per unit of hyperbolic distance, must exceed :math:`n - 1`: at or below
    that the density has no finite integral. With :math:`u = e^{-2r}` it becomes that of
    :math:`U \sim \mathrm{Beta}((\epsilon - n + 1)/2, n)`, and :math:`r = -\ln(U)/2`.
    Since n is an integer, U is a product of n independent powers of uniforms, so r is
    a sum of independent exponentials with the rates
    :math:`\epsilon - n + 1, \epsilon - n + 3, \dots, \epsilon + n - 1`. The sum is
    drawn, since U itself underflows where epsilon is near n - 1.

    >>> r = hyperbolic_radius(np.random.default_rng(0), 9.0, 200_000, 3)
    >>> float(r.mean().round(2)), round(1 / 7 + 1 / 9 + 1 / 11, 2)
    (0.34, 0.34)
    """
    rates = epsilon - (dim - 1) + 2.0 * np.arange(dim)
    radius: Floats = rng.standard_exponential((rows, dim)) @ (1 / rates)
    return radius


def hyperbolic_laplace(
    rng: np.random.Generator, epsilon: float, shape: tuple[int, int]
) -> Vectors:
    r"""Draw points of the ball with density :math:`\propto e^{-\epsilon d_H(0, x)}`.

    The density is with respect to hyperbolic volume; ``shape`` is (rows, n), and
    epsilon as for :func:`hyperbolic_radius`. Points farther from the origin than double
    precision can express lie on the edge of the ball.
    """
    points = uniform_direction(rng, shape)
    points *= np.tanh(hyperbolic_radius(rng, epsilon, *shape) / 2)[:, None]
    return points


def mobius_translate(centres: Vectors, points: Vectors) -> Vectors:
    r"""Move points by the isometry of the ball that takes the origin to a centre.

    Möbius addition :math:`\mu \oplus z`, row by row, written as

    .. math::

        \mu + (1 - \lVert \mu \rVert^2)\, t\, \frac{a}{\lVert a \rVert^2},
        \qquad z = t u,\ \lVert u \rVert = 1,\ a = u + t \mu.

    Centres are inside the ball; points inside or on its edge. Unlike the usual quotient
    this does not cancel: the error is about :math:`2^{-53} / (1 - \lVert \mu \rVert)`
    at worst, for z on the edge opposite to the centre.

    >>> mobius_translate(np.array([[0.5]]), np.array([[0.5]])).tolist()  # 1 / 1.25
    [[0.8]]
    """
    length = np.sqrt(np.einsum("ij,ij->i", points, points))[:, None]
    safe = np.where(length > 0, length, 1.0)
    towards = points / safe
    towards += length * centres
    squares = np.einsum("ij,ij->i", towards, towards)[:, None]
    # At length 0 the direction is zero, and so is what it adds.
    one_minus_norm2 = 1 - np.einsum("ij,ij->i", centres, centres)[:, None]
    step = one_minus_norm2 * length * towards
    moved: Vectors = centres + np.divide(step, squares, out=step, where=length > 0)
    return moved
