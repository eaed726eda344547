"""Exact nearest words by exhaustive products in float32, with faiss."""

from __future__ import annotations

from typing import Final, final

import faiss
import numpy as np

from mondegreen.arrays import Ids, Vectors
from mondegreen.errors import MondegreenError

_FEW: Final = range(4, 512)
"""Rows for which one product and its largest entries are faster than faiss, which below
half a thousand compares each query by itself, and for fewer still is fastest."""
_ENTRIES: Final = 1 << 24
"""Of one such product: 64 MiB."""


@final
class FaissSearch:
    r"""Exhaustive search for the nearest word in Euclidean distance.

    Since :math:`\arg\min_y \|x - y\|^2 = \arg\max_y x \cdot y - \|y\|^2 / 2`, it
    looks for the largest inner product with one coordinate more. Unlike squared
    distances, these products keep the order of the words when noise throws the point
    far away from all of them, and do not overflow before :math:`10^{36}`.
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
        queries = np.ones((len(points), points.shape[1] + 1), dtype=np.float32)
        queries[:, :-1] = points
        if not np.isfinite(queries).all():
            raise MondegreenError("a noisy point is not finite; nothing was released")
        k = min(k, self._count)
        if len(queries) in _FEW:
            return self._among_few(queries, k)
        _, ids = self._index.search(queries, k)
        if (ids < 0).any():
            raise MondegreenError("the search found no word; nothing was released")
        found: Ids = ids.astype(np.int32)
        return found

    def _among_few(self, queries: Vectors, k: int) -> Ids:
        """The same by whole products, a block of rows at a time."""
        table = faiss.rev_swig_ptr(self._index.get_xb(), self._count * self._index.d)
        table = table.reshape(self._count, self._index.d)
        found = np.empty((len(queries), k), dtype=np.int32)
        step = max(1, _ENTRIES // self._count)
        for start in range(0, len(queries), step):
            block = slice(start, start + step)
            with np.errstate(over="ignore", invalid="ignore"):
                products = queries[block] @ table.T
            if not np.isfinite(products).all():
                raise MondegreenError("a product overflows; nothing was released")
            rows = np.arange(len(products))
            for rank in range(k):
                best = products.argmax(axis=1)
                found[block, rank] = best
                products[rows, best] = -np.inf
        return found

    def describe(self) -> str:
        return "exhaustive float32 search (faiss), which sees the noisy point only"
