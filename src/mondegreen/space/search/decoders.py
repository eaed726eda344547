"""Exhaustive searches for the words nearest to noisy points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol, final

import numpy as np

from mondegreen.arrays import Floats, Ids, Vectors, slices
from mondegreen.errors import InvalidParameterError, MondegreenError
from mondegreen.space.geometry import canonical_ids
from mondegreen.space.metric import (
    compute_norm_gaps,
    compute_squared_gaps,
    one_minus_norm2,
)

DECODERS: Final = ("exact", "fast", "torch")

# Faiss compares each query by itself until queries have so many coordinates together.
# Below that one product and its largest entries are faster, except for a few queries.
_COORDINATES: Final = 1 << 17
_FEW: Final = 4
_ENTRIES: Final = 1 << 24  # of one such product: 64 MiB
_BLOCK_WORDS: Final = 1 << 17  # of tables in float64, which stay in the cache


class NeighbourSearch(Protocol):
    """Finds words near points. It never sees which word a point came from."""

    def nearest(self, points: Vectors, k: int) -> Ids:
        """Ids of the ``k`` nearest words, nearest first, (rows, k).

        A point that is not finite is an error: whatever a fallback returned could
        depend on the input.
        """

    def describe(self) -> str:
        """One sentence for the guarantee."""


def check_decoder(decoder: str) -> None:
    if decoder not in DECODERS:
        raise InvalidParameterError("decoder", decoder, " or ".join(DECODERS))


def decoder_search(decoder: str, vectors: Vectors) -> NeighbourSearch:
    """Build a search over public vectors; libraries are imported here.

    ``exact`` is exhaustive float32 search with faiss, ``fast`` finds the same words
    through 8-bit products, ``torch`` searches exhaustively on a GPU where there is one.
    Words at one point tie; the lowest id comes first, whatever else is searched for
    beside it.
    """
    point = canonical_ids(vectors)
    heads = np.unique(point)
    if len(heads) < len(point):
        return _PointSearch(decoder_search(decoder, vectors[heads]), point)
    if decoder == "fast":
        from mondegreen.space.search.rounded import CertifiedSearch

        return CertifiedSearch(vectors)
    if decoder == "torch":
        from mondegreen.space.search.torch import TorchSearch

        return TorchSearch(vectors)
    return FaissSearch(vectors)


def check_finite(points: Vectors) -> None:
    if not np.isfinite(points).all():
        raise MondegreenError("a noisy point is not finite; nothing was released")


@final
class _PointSearch:
    """A search over distinct points that names the words of each by their ids.

    Libraries break ties by how a block happens to be cut, and with many duplicates
    that would decide which words are among the nearest.
    """

    def __init__(self, search: NeighbourSearch, point: Ids) -> None:
        self._search = search
        _, which = np.unique(point, return_inverse=True)
        self._members = np.argsort(which, kind="stable").astype(np.int32)
        self._sizes = np.bincount(which)
        self._starts = np.cumsum(self._sizes) - self._sizes

    def nearest(self, points: Vectors, k: int) -> Ids:
        k = min(k, len(self._members))
        found = self._search.nearest(points, k)  # points: at least as many words
        ends = np.cumsum(self._sizes[found], axis=1)
        rows = np.arange(len(found))
        out = np.empty((len(found), k), dtype=np.int32)
        for rank in range(k):
            column = (ends <= rank).sum(axis=1)
            place = found[rows, column]
            offset = rank - (ends[rows, column] - self._sizes[place])
            out[:, rank] = self._members[self._starts[place] + offset]
        return out

    def describe(self) -> str:
        return self._search.describe()


@final
class FaissSearch:
    r"""Exhaustive search for the nearest word in Euclidean distance.

    Since :math:`\arg\min_y \|x - y\|^2 = \arg\max_y x \cdot y - \|y\|^2 / 2`, it
    looks for the largest inner product with one coordinate more. Unlike squared
    distances, these products keep the order of the words when noise throws the point
    far away from all of them, and do not overflow before :math:`10^{36}`.
    """

    def __init__(self, vectors: Vectors) -> None:
        import faiss  # not at the top: a mechanism that needs no search starts sooner

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
        check_finite(queries)
        k = min(k, self._count)
        if len(queries) >= _FEW and queries.size < _COORDINATES:
            return self._among_few(queries, k)
        _, ids = self._index.search(queries, k)
        if (ids < 0).any():
            raise MondegreenError("the search found no word; nothing was released")
        found: Ids = ids.astype(np.int32)
        return found

    def _among_few(self, queries: Vectors, k: int) -> Ids:
        """The same by whole products, a block of rows at a time."""
        import faiss

        table = faiss.rev_swig_ptr(self._index.get_xb(), self._count * self._index.d)
        table = table.reshape(self._count, self._index.d)
        found = np.empty((len(queries), k), dtype=np.int32)
        step = max(1, _ENTRIES // self._count)
        for block in slices(len(queries), step):
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


@final
class PoincareSearch:
    r"""Exhaustive search for the nearest word in hyperbolic distance, in float64.

    Among words :math:`y`, the distance to a point x grows with
    :math:`\lVert x - y \rVert^2 / (1 - \lVert y \rVert^2)`: how far x is from the
    edge is a common factor. So the order is defined, and computed without cancellation,
    for points on the edge of the ball too.
    """

    def __init__(self, vectors: Vectors) -> None:
        self._columns = np.ascontiguousarray(vectors.T, dtype=np.float64)
        self._scale = 1 / np.sqrt(one_minus_norm2(vectors))

    def nearest(self, points: Vectors, k: int) -> Ids:
        """Ids of the ``k`` nearest words, nearest first; ties go to the lowest id."""
        return _nearest_by(
            lambda block: compute_squared_gaps(block, self._columns, self._scale),
            points,
            self._columns.shape[1],
            k,
        )

    def describe(self) -> str:
        return "exhaustive float64 search, which sees the noisy point only"


@final
class NormSearch:
    """Exhaustive search for the nearest word in another norm, in float64.

    Not by products, as in Euclidean distance: differences of coordinates take some
    fifty times as long. In the Chebyshev norm ties are common where words share
    coordinates, and are no matter of rounding.
    """

    def __init__(self, norm: str, vectors: Vectors) -> None:
        self._norm = norm
        self._columns = np.ascontiguousarray(vectors.T, dtype=np.float64)

    def nearest(self, points: Vectors, k: int) -> Ids:
        """Ids of the ``k`` nearest words, nearest first; ties go to the lowest id."""
        return _nearest_by(
            lambda block: compute_norm_gaps(self._norm, block, self._columns),
            points,
            self._columns.shape[1],
            k,
        )

    def describe(self) -> str:
        return (
            f"exhaustive float64 search in {self._norm.capitalize()} distance, which "
            "sees the noisy point only"
        )


def _nearest_by(
    compute: Callable[[Vectors], Floats], points: Vectors, count: int, k: int
) -> Ids:
    """Ids of the smallest of ``count`` scores of each point; ties by the lowest id."""
    check_finite(points)
    k = min(k, count)
    out = np.empty((len(points), k), dtype=np.int32)
    for rows in slices(len(points), max(1, _BLOCK_WORDS // count)):
        scores = compute(points[rows])
        if k == 1:
            out[rows, 0] = scores.argmin(axis=1)
        else:
            out[rows] = np.argsort(scores, axis=1, kind="stable")[:, :k]
    return out
