r"""The metrics of points: Euclidean, and hyperbolic in the Poincaré ball.

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

from mondegreen.arrays import Floats, Vectors, slices
from mondegreen.errors import InvalidParameterError, SpaceError, UnknownNameError

METRICS: Final = {"euclidean": "Euclidean distance", "poincare": "hyperbolic distance"}
"""The metrics a space may have, and what a guarantee calls them."""

NORMS: Final = {
    "euclidean": METRICS["euclidean"],
    "manhattan": "Manhattan distance",
    "chebyshev": "Chebyshev distance",
}
"""Norms of the vectors of a Euclidean space, and the distances that they give."""

_EDGE: Final = 2.0**-30
_CHUNK_ROWS: Final = 8192
_FEW_ROWS: Final = 16  # of such a chunk: what is worked on stays in the cache


def distances(metric: str, points: Vectors, vectors: Vectors) -> Floats:
    """Distances of some points to all vectors by formula, (rows, V), in float64.

    Sums of squared differences do not cancel: equal points are at distance 0 exactly,
    and every distance is right up to :func:`relative_error`.

    >>> distances("poincare", np.array([[0.0]]), np.array([[0.0], [0.5]])).round(4)
    array([[0.    , 1.0986]])
    """
    _check_metric(metric)
    table = np.empty((len(points), len(vectors)))
    left = points.astype(np.float64)
    for part in slices(len(vectors), _CHUNK_ROWS):
        columns = np.ascontiguousarray(vectors[part].T, dtype=np.float64)
        table[:, part] = compute_squared_gaps(left, columns)
    if metric == "poincare":
        # An outer product is symmetric to the last bit.
        table /= np.outer(one_minus_norm2(points), one_minus_norm2(vectors))
        np.arcsinh(np.sqrt(table, out=table), out=table)
        table *= 2
        return table
    return np.sqrt(table, out=table)


def compute_squared_gaps(
    points: Vectors, columns: Floats, scale: Floats | None = None
) -> Floats:
    """Squared Euclidean distances from differences, to vectors given by coordinate.

    ``scale`` multiplies the differences to each vector, shape (V,).
    """
    total = np.zeros((len(points), columns.shape[1]))
    for i, column in enumerate(columns):
        gap = points[:, i, None] - column
        if scale is not None:
            gap *= scale  # before it is squared: a tiny gap must not vanish
        gap *= gap
        total += gap
    return total


def norm_distances(norm: str, points: Vectors, vectors: Vectors) -> Floats:
    """Distances in a norm of some points to all vectors, (rows, V), in float64.

    >>> norm_distances("manhattan", np.array([[0, 0]]), np.array([[3, -4]])).tolist()
    [[7.0]]
    """
    table = np.empty((len(points), len(vectors)))
    left = points.astype(np.float64)
    for part in slices(len(vectors), _CHUNK_ROWS):
        columns = np.ascontiguousarray(vectors[part].T, dtype=np.float64)
        for rows in slices(len(points), _FEW_ROWS):
            table[rows, part] = compute_norm_gaps(norm, left[rows], columns)
    return table


def compute_norm_gaps(norm: str, points: Vectors, columns: Floats) -> Floats:
    """Manhattan or Chebyshev distances to vectors given by coordinate, (rows, V)."""
    combine = {"manhattan": np.add, "chebyshev": np.maximum}[norm]
    total = np.zeros((len(points), columns.shape[1]))
    gap = np.empty_like(total)
    for i, column in enumerate(columns):
        np.subtract(points[:, i, None], column, out=gap)
        np.abs(gap, out=gap)
        combine(total, gap, out=total)
    return total


def check_norm(norm: str) -> None:
    if norm not in NORMS:
        raise InvalidParameterError("norm", norm, " or ".join(NORMS))


def one_minus_norm2(vectors: Vectors) -> Floats:
    r""":math:`1 - \lVert x \rVert^2`: how far a point is from the edge."""
    left = np.empty(len(vectors))
    for part in slices(len(vectors), _CHUNK_ROWS):
        wide = vectors[part].astype(np.float64)
        left[part] = 1 - np.einsum("ij,ij->i", wide, wide)
    return left


def relative_error(metric: str, vectors: Vectors, unknown: Vectors) -> float:
    r"""Upper bound of the relative error of :func:`distances`.

    With :math:`u = 2^{-53}`, the sum of squared differences is right up to :math:`(n +
    2) u`. In the ball :math:` q = 1 - |x|^2` is off by :math:`n u`, and so by :math:`n
    u / q + u` of itself: this is what the edge of the ball costs. The root halves
    errors, and as :math:`\operatorname{arsinh} t \ge t / \sqrt{1 + t^2}`, an error of a
    share of t is at most that share of the distance. Together, with a few :math:`u` for
    the root and arsinh, at most :math:`(n + 8) u / 2 + n u / q_{\min} + 4 u`; returned
    is twice as much.
    """
    least = 1.0
    if metric == "poincare":
        around = one_minus_norm2(unknown[None])
        least = min(float(one_minus_norm2(vectors).min()), float(around[0]))
    return 2 * (int(vectors.shape[1]) + 16) * 2.0**-53 / least


def check_points(metric: str, name: str, vectors: Vectors) -> None:
    """Refuse an unknown metric, and points outside of its domain.

    In the ball also points so close to its edge that double precision cannot tell.
    """
    _check_metric(metric)
    if metric == "poincare":
        left = one_minus_norm2(vectors)
        worst = int(left.argmin())
        if not left[worst] >= _EDGE:
            norm = float(np.linalg.norm(vectors[worst].astype(np.float64)))
            raise SpaceError(
                f"space {name!r}: row {worst} has norm {norm:.10g}; in the Poincaré "
                "ball a norm must be below 1 - 5e-10. Rescale the vectors, store "
                "them in float32, or build a Euclidean space"
            )


def _check_metric(metric: str) -> None:
    if metric not in METRICS:
        raise UnknownNameError("metric", metric, METRICS)
