r"""Exact nearest words in the Poincaré ball, in double precision."""

from __future__ import annotations

from typing import Final, final

import numpy as np

from mondegreen.arrays import Ids, Vectors
from mondegreen.errors import MondegreenError
from mondegreen.space.distances import room

_BLOCK_WORDS: Final = 1 << 17


@final
class PoincareSearch:
    r"""Exhaustive search for the nearest word in hyperbolic distance.

    Among words :math:`y`, the distance to a point x grows with
    :math:`\lVert x - y \rVert^2 / (1 - \lVert y \rVert^2)`; the room that x leaves to
    the edge is a common factor. So the order is defined, and computed without
    cancellation, for points on the edge of the ball too.

    Parameters
    ----------
    vectors : array, shape (V, n)
        Public vectors of the words, inside the ball.
    """

    def __init__(self, vectors: Vectors) -> None:
        self._columns = np.ascontiguousarray(vectors.T, dtype=np.float64)
        self._scale = 1 / np.sqrt(room(vectors))

    def nearest(self, points: Vectors, k: int) -> Ids:
        """Return the ids of the ``k`` nearest words, nearest first, (rows, k).

        Ties go to the lowest id.

        Raises
        ------
        MondegreenError
            If a point is not finite.
        """
        if not np.isfinite(points).all():
            raise MondegreenError("a noisy point is not finite; nothing was released")
        count = self._columns.shape[1]
        k = min(k, count)
        out = np.empty((len(points), k), dtype=np.int32)
        size = max(1, _BLOCK_WORDS // count)  # tables that stay in the cache
        for start in range(0, len(points), size):
            scores = self._scores(points[start : start + size])
            rows = slice(start, start + len(scores))
            if k == 1:
                out[rows, 0] = scores.argmin(axis=1)
            else:
                out[rows] = np.argsort(scores, axis=1, kind="stable")[:, :k]
        return out

    def _scores(self, points: Vectors) -> Vectors:
        """Return what the distance grows with, (rows, V)."""
        total = np.zeros((len(points), self._columns.shape[1]))
        for i, column in enumerate(self._columns):
            gap = points[:, i, None] - column
            # Scaled first: the square of a tiny gap must not vanish.
            gap *= self._scale
            gap *= gap
            total += gap
        return total

    def describe(self) -> str:
        """Return one sentence for the guarantee."""
        return "exhaustive float64 search, which sees the noisy point only"
