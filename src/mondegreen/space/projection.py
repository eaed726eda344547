"""Public linear projections of a space, and how much they can stretch it."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids, Vectors
from mondegreen.space.space import Space

__all__ = ["gaussian_projection", "lipschitz_constant"]

_TILE_ROWS: Final = 1024

Places = NDArray[np.intp]


def gaussian_projection(dim: int, projection_dim: int, seed: int) -> Vectors:
    """Return a matrix of normal numbers of variance 1/k, shape (k, n).

    It keeps squared lengths in the mean. The seed makes it public; no privacy rests on
    it.
    """
    rng = np.random.default_rng(seed)
    matrix: Vectors = rng.standard_normal((projection_dim, dim))
    matrix /= np.sqrt(projection_dim)
    return matrix


def lipschitz_constant(matrix: Vectors, space: Space) -> float:
    r"""Return an upper bound of the stretch of a linear map over all pairs of inputs.

    .. math:: s = \max_{w \ne w'} \frac{\lVert \Phi (\phi(w) - \phi(w')) \rVert}
                                       {\lVert \phi(w) - \phi(w') \rVert}

    Parameters
    ----------
    matrix : float64 array, shape (k, n)
        :math:`\Phi`.
    space : Space
        Its words and the unknown point; equal points do not count.

    Notes
    -----
    *Numerics.* Products in float32 look for pairs that may stretch more than the best
    so far, with a slack above their rounding error; only those are computed, in
    float64 and from their difference, and the largest is rounded up. Time grows with
    the square of the vocabulary.
    """
    ids = np.unique(space.canonical)
    points = space.points(ids) - space.unknown
    images = points @ matrix.T
    squares = np.einsum("ij,ij->i", points, points)
    image_squares = np.einsum("ij,ij->i", images, images)
    everyone = np.arange(len(ids) - 1)
    best = _largest_stretch(matrix, space, ids, everyone, everyone + 1)
    for i in range(0, len(ids), _TILE_ROWS):
        # |Xi - Xj|^2 - best^2 |xi - xj|^2 as one product, X the image of x.
        square = best**2
        rest = (image_squares - square * squares)[:, None]
        ones = np.ones_like(rest)
        tile = slice(i, i + _TILE_ROWS)
        left = np.hstack([-2 * images, 2 * square * points, rest, ones])[tile]
        right = np.hstack([images, points, ones, rest])[i:].astype(np.float32)
        slack = 5.0 * (left.shape[1] + 8) * 2.0**-24
        slack *= float(image_squares.max()) + square * float(squares.max())
        # Some builds of BLAS raise the flag of an invalid operation on padding of their
        # own, so the values are asked instead: a pair without a number is computed too.
        with np.errstate(invalid="ignore"):
            gains = left.astype(np.float32) @ right.T
        rows, columns = np.nonzero(~(gains <= -slack))
        apart = rows < columns
        rows, columns = i + rows[apart], i + columns[apart]
        best = max(best, _largest_stretch(matrix, space, ids, rows, columns))
    if best == 0:  # nothing to stretch; any map will do
        return float(np.linalg.norm(matrix, 2)) * (1 + 1e-9) or 1.0
    return best * (1 + 1e-9)


def _largest_stretch(
    matrix: Vectors, space: Space, ids: Ids, rows: Places, columns: Places
) -> float:
    """Return the largest stretch of some pairs, from their differences."""
    largest = 0.0
    for start in range(0, len(rows), _TILE_ROWS):
        part = slice(start, start + _TILE_ROWS)
        gaps = space.points(ids[rows[part]]) - space.points(ids[columns[part]])
        stretch = np.linalg.norm(gaps @ matrix.T, axis=1)
        stretch /= np.linalg.norm(gaps, axis=1)
        largest = max(largest, float(stretch.max()))
    return largest
