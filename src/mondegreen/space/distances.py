r"""Distances between points: Euclidean, and hyperbolic in the Poincaré ball.

In the ball, with curvature -1,

.. math::

    d_H(x, y) = 2 \operatorname{arsinh}
        \frac{\lVert x - y \rVert}
             {\sqrt{(1 - \lVert x \rVert^2)(1 - \lVert y \rVert^2)}},

which is the arcosh of the papers without its cancellation for close points.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Vectors
from mondegreen.errors import SpaceError, UnknownNameError

METRICS: Final = {
    "euclidean": "Euclidean distance",
    "poincare": "hyperbolic distance",
}
"""The metrics a space may have, and what a guarantee calls them."""

_LEAST_ROOM: Final = 2.0**-30
_CHUNK_ROWS: Final = 8192

Floats = NDArray[np.float64]


def distances(metric: str, points: Vectors, vectors: Vectors) -> Floats:
    """Return the distance of every point to every vector, (rows, V), in float64.

    Parameters
    ----------
    metric : {"euclidean", "poincare"}
        Of the space the points are in.
    points : array, shape (rows, n)
        Few enough that two tables of this many rows fit into memory.
    vectors : array, shape (V, n)
        All words, for example; may be memory-mapped.

    Notes
    -----
    *Numerics.* Sums of squared differences, which do not cancel: equal points are at
    distance 0 exactly, and every distance is right up to :func:`relative_error`.

    Examples
    --------
    >>> distances("poincare", np.array([[0.0]]), np.array([[0.0], [0.5]])).round(4)
    array([[0.    , 1.0986]])
    """
    if metric not in METRICS:
        raise UnknownNameError("metric", metric, METRICS)
    return (poincare if metric == "poincare" else euclidean)(points, vectors)


def euclidean(points: Vectors, vectors: Vectors) -> Floats:
    """Return Euclidean distances, (rows, V)."""
    squared = _squared_gaps(points, vectors)
    return np.sqrt(squared, out=squared)


def poincare(points: Vectors, vectors: Vectors) -> Floats:
    """Return hyperbolic distances of points of the Poincaré ball, (rows, V)."""
    ratio = _squared_gaps(points, vectors)
    ratio /= np.outer(room(points), room(vectors))  # symmetric to the last bit
    np.arcsinh(np.sqrt(ratio, out=ratio), out=ratio)
    ratio *= 2
    return ratio


def room(vectors: Vectors) -> Floats:
    r"""Return :math:`1 - \lVert x \rVert^2`, what is left to the edge of the ball."""
    left = np.empty(len(vectors))
    for start in range(0, len(vectors), _CHUNK_ROWS):
        wide = vectors[start : start + _CHUNK_ROWS].astype(np.float64)
        left[start : start + _CHUNK_ROWS] = 1 - np.einsum("ij,ij->i", wide, wide)
    return left


def relative_error(metric: str, vectors: Vectors, unknown: Vectors) -> float:
    r"""Return an upper bound of the relative error of :func:`distances`.

    Notes
    -----
    *Numerics.* With :math:`u = 2^{-53}`, the sum of squared differences is right up to
    :math:`(n + 2) u`. The room :math:`q = 1 - |x|^2` is off by :math:`n u`, hence
    by :math:`n u / q + u` of itself: this is what the edge of the ball costs. The
    root halves errors, and as :math:`\operatorname{arsinh} t \ge t / \sqrt{1 + t^2}`,
    an error of a share of t is at most that share of the distance. Together, with a
    few :math:`u` for the root and arsinh, at most
    :math:`(n + 8) u / 2 + n u / q_{\min} + 4 u`; returned is twice as much.
    """
    least = 1.0
    if metric == "poincare":
        least = min(float(room(vectors).min()), float(room(unknown[None])[0]))
    return 2 * (int(vectors.shape[1]) + 16) * 2.0**-53 / least


def check_points(metric: str, name: str, vectors: Vectors) -> None:
    """Refuse a metric that does not exist, and points that are not in its domain.

    Raises
    ------
    UnknownNameError
        If there is no such metric.
    SpaceError
        If a point of a Poincaré space is outside of the ball, or so close to its edge
        that double precision cannot tell.
    """
    if metric not in METRICS:
        raise UnknownNameError("metric", metric, METRICS)
    if metric == "poincare":
        left = room(vectors)
        worst = int(left.argmin())
        if not left[worst] >= _LEAST_ROOM:
            norm = float(np.linalg.norm(vectors[worst].astype(np.float64)))
            raise SpaceError(
                f"space {name!r}: row {worst} has norm {norm:.10g}; in the Poincaré "
                "ball a norm must be below 1 - 5e-10. Rescale the vectors, store "
                "them in float32, or build a Euclidean space"
            )


def _squared_gaps(points: Vectors, vectors: Vectors) -> Floats:
    """Return squared Euclidean distances from differences, chunk by chunk."""
    total = np.zeros((len(points), len(vectors)))
    left = points.astype(np.float64)
    for start in range(0, len(vectors), _CHUNK_ROWS):
        part = slice(start, start + _CHUNK_ROWS)
        right = np.ascontiguousarray(vectors[part].T, dtype=np.float64)
        for i in range(len(right)):
            gap = left[:, i, None] - right[i]
            gap *= gap
            total[:, part] += gap
    return total
