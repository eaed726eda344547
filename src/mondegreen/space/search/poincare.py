r"""Exact nearest words in the Poincaré ball, in double precision.

Among words :math:`y`, the distance to a point x grows with
:math:`\lVert x - y \rVert^2 / (1 - \lVert y \rVert^2)`: how far x is from the edge is a
common factor. So the order is defined, and computed without cancellation, for points on
the edge of the ball too.
"""

from __future__ import annotations

from typing import Final, final

import numpy as np

from mondegreen.arrays import Ids, Vectors
from mondegreen.errors import MondegreenError
from mondegreen.space.metric import one_minus_norm2, squared_gaps

_BLOCK_WORDS: Final = 1 << 17


@final
class PoincareSearch:
    """Exhaustive search for the nearest word in hyperbolic distance."""

    def __init__(self, vectors: Vectors) -> None:
        self._columns = np.ascontiguousarray(vectors.T, dtype=np.float64)
        self._scale = 1 / np.sqrt(one_minus_norm2(vectors))

    def nearest(self, points: Vectors, k: int) -> Ids:
        """Ids of the ``k`` nearest words, nearest first; ties go to the lowest id."""
        if not np.isfinite(points).all():
            raise MondegreenError("a noisy point is not finite; nothing was released")
        count = self._columns.shape[1]
        k = min(k, count)
        out = np.empty((len(points), k), dtype=np.int32)
        size = max(1, _BLOCK_WORDS // count)  # tables that stay in the cache
        for start in range(0, len(points), size):
            rows = slice(start, start + size)
            scores = squared_gaps(points[rows], self._columns, self._scale)
            if k == 1:
                out[rows, 0] = scores.argmin(axis=1)
            else:
                out[rows] = np.argsort(scores, axis=1, kind="stable")[:, :k]
        return out

    def describe(self) -> str:
        return "exhaustive float64 search, which sees the noisy point only"
