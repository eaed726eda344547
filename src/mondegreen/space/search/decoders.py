"""The searches that a noise mechanism can decode with, by name."""

from __future__ import annotations

from typing import Final, Protocol, final

import numpy as np

from mondegreen.arrays import Ids, Vectors
from mondegreen.errors import InvalidParameterError
from mondegreen.space.geometry import canonical_ids

DECODERS: Final = ("exact", "fast", "torch")


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
    """Refuse a name that is no decoder's."""
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
        return _PointSearch(_search(decoder, vectors[heads]), point)
    return _search(decoder, vectors)


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


def _search(decoder: str, vectors: Vectors) -> NeighbourSearch:
    """Build a search over distinct points."""
    if decoder == "fast":
        from mondegreen.space.search.rounded import CertifiedSearch

        return CertifiedSearch(vectors)
    if decoder == "torch":
        from mondegreen.space.search.torch import TorchSearch

        return TorchSearch(vectors)
    from mondegreen.space.search.faiss import FaissSearch

    return FaissSearch(vectors)
