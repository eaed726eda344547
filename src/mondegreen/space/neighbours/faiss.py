"""Exact nearest words by exhaustive products in float32, with faiss."""

from __future__ import annotations

from typing import final

import faiss
import numpy as np

from mondegreen.arrays import Ids, Vectors
from mondegreen.errors import MondegreenError

__all__ = ["FaissSearch"]


@final
class FaissSearch:
    r"""Exhaustive search for the nearest word in Euclidean distance.

    Since :math:`\arg\min_y \|x - y\|^2 = \arg\max_y x \cdot y - \|y\|^2 / 2`, it
    looks for the largest inner product with one coordinate more. Unlike squared
    distances, these products keep the order of the words when noise throws the point
    far away from all of them, and do not overflow before :math:`10^{36}`.

    Parameters
    ----------
    vectors : array, shape (V, n)
        Public vectors of the words.
    """

    def __init__(self, vectors: Vectors) -> None:
        count, dim = vectors.shape
        augmented = np.empty((count, dim + 1), dtype=np.float32)
        augmented[:, :dim] = vectors
        wide = augmented[:, :dim].astype(np.float64)
        augmented[:, dim] = -np.einsum("ij,ij->i", wide, wide) / 2
        self._count = count
        self._index = faiss.IndexFlatIP(dim + 1)
        self._index.add(augmented)

    def nearest(self, points: Vectors, k: int) -> Ids:
        """Return the ids of the ``k`` nearest words, nearest first, (rows, k).

        Raises
        ------
        MondegreenError
            If a point is not finite. There is no word to fall back to: whatever a
            fallback returned could depend on the input.
        """
        queries = np.ones((len(points), points.shape[1] + 1), dtype=np.float32)
        queries[:, :-1] = points
        if not np.isfinite(queries).all():
            raise MondegreenError("a noisy point is not finite; nothing was released")
        _, ids = self._index.search(queries, min(k, self._count))
        if (ids < 0).any():
            raise MondegreenError("the search found no word; nothing was released")
        found: Ids = ids.astype(np.int32)
        return found

    def describe(self) -> str:
        """Return one sentence for the guarantee."""
        return "exhaustive float32 search (faiss), which sees the noisy point only"
