"""The multivariate Laplace law, exponential in a norm."""

from __future__ import annotations

import numpy as np

from mondegreen.arrays import Vectors


def uniform_direction(rng: np.random.Generator, shape: tuple[int, int]) -> Vectors:
    """Draw unit vectors, uniform on the sphere; ``shape`` is (rows, n).

    Normal vectors divided by their norm. They must lie *on* the sphere: a point
    uniform in the ball changes the law of whatever is scaled by it.

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
    since the surface of radius :math:`r` grows as :math:`r^{n-1}`.

    ``shape`` is (rows, n); epsilon is per unit of length, and the mean radius
    ``n / epsilon``.

    Wu, Li, Kumar, Chaudhuri, Jha, Naughton. "Bolt-on Differential Privacy for
    Scalable Stochastic Gradient Descent-based Analytics." SIGMOD 2017, Appendix E.

    >>> z = multivariate_laplace(np.random.default_rng(0), 10.0, (20_000, 50))
    >>> float(np.linalg.norm(z, axis=1).mean().round(1))  # n / epsilon
    5.0
    """
    direction = uniform_direction(rng, shape)
    radius = rng.gamma(shape[1], 1 / epsilon, size=(shape[0], 1))
    direction *= radius
    return direction
