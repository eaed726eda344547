"""The uniform law on the unit sphere."""

from __future__ import annotations

import numpy as np

from mondegreen.arrays import Vectors

__all__ = ["uniform_direction"]


def uniform_direction(rng: np.random.Generator, shape: tuple[int, int]) -> Vectors:
    """Draw unit vectors, uniform on the sphere; ``shape`` is (rows, n).

    Normal vectors divided by their norm. They must lie *on* the sphere: a point
    uniform in the ball changes the law of whatever is scaled by it.

    Examples
    --------
    >>> u = uniform_direction(np.random.default_rng(0), (4, 3))
    >>> np.linalg.norm(u, axis=1).round(12).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    direction = rng.standard_normal(shape)
    # Squares of doubles near 1 neither overflow nor vanish, so no rescaling is due;
    # a row of n exact zeros has probability 0 in the model and 2**-1000 in practice.
    direction /= np.sqrt(np.einsum("ij,ij->i", direction, direction))[:, None]
    return direction
