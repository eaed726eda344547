"""Multi-index hashing (Norouzi, Punjani, Fleet 2012): exact, or with bounded probes.

Codes are cut into parts, and each part is looked up in a table of its own, with at most
so many of its bits flipped. A code that differs in fewer than ``parts * (flips + 1)``
bits has a part that differs in ``flips`` bits at most, so it is among those probed. The
exact search flips more and more bits, until the nearest code is within that reach.
"""

from __future__ import annotations

from typing import Final, final

import faiss
import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from mondegreen.arrays import Ids
from mondegreen.space.codes import Bits

_FIRST: Final = 4
"""Codes asked for at first; more where all of them tie."""


@final
class MultiIndex:
    """Search by parts of codes; it sees the noisy code alone, never the input.

    ``most_flips`` is the bound on the bits flipped in each part; without it the search
    is exact. Where nothing was probed, all words tie. faiss probes again from the
    first table whenever more bits are flipped, which costs less than the last step.
    """

    def __init__(self, table: Bits, parts: int, most_flips: int | None = None) -> None:
        distinct, inverse, counts = np.unique(
            table, axis=0, return_inverse=True, return_counts=True
        )
        bits = 8 * table.shape[1]
        self._members = np.argsort(inverse.ravel(), kind="stable").astype(np.int32)
        self._counts = np.append(counts, 0)
        self._starts = np.append(0, np.cumsum(counts))
        self._parts = parts
        self._most_flips = bits // parts if most_flips is None else most_flips
        self._index = faiss.IndexBinaryMultiHash(bits, parts, bits // parts)
        self._index.add(np.ascontiguousarray(distinct))

    def pick(self, codes: Bits, rng: Generator) -> Ids:
        """One word for each code, uniform among the nearest of those probed."""
        classes = self._find_tied(codes)
        total = self._counts[classes].cumsum(axis=1)
        is_lost = total[:, -1] == 0
        ties = np.where(is_lost, len(self._members), total[:, -1])
        place = rng.integers(0, ties)
        column = np.where(is_lost, 0, (total <= place[:, None]).sum(axis=1))
        rows = np.arange(len(codes))
        found = classes[rows, np.minimum(column, classes.shape[1] - 1)]
        before = np.where(column > 0, total[rows, np.maximum(column - 1, 0)], 0)
        start = np.where(is_lost, 0, self._starts[found])
        picked: Ids = self._members[start + place - before]
        return picked

    def ties(self, codes: Bits) -> list[Ids]:
        """The words that :meth:`pick` chooses among, by number; all where none is."""
        classes = [*np.split(self._members, self._starts[1:-1]), self._members[:0]]
        found = [
            np.sort(np.concatenate([classes[c] for c in row]))
            for row in self._find_tied(codes)
        ]
        return [words if len(words) else np.sort(self._members) for words in found]

    def _find_tied(self, codes: Bits) -> NDArray[np.int64]:
        """The nearest classes of those probed; an empty class fills the rows."""
        codes = np.ascontiguousarray(codes)
        out = np.full((len(codes), 0), self._index.ntotal)
        left = np.arange(len(codes))
        for flips in range(self._most_flips + 1):
            self._index.nflip = flips
            distance, found = self._nearest(
                codes[left], min(_FIRST, self._index.ntotal)
            )
            out = _widened(out, found.shape[1], self._index.ntotal)
            out[left] = _widened(found, out.shape[1], self._index.ntotal)
            left = left[distance >= self._parts * (flips + 1)]
            if not len(left):
                break
        return out

    def _nearest(
        self, codes: Bits, k: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The least distance among codes probed, and all classes that have it."""
        size = self._index.ntotal
        distance, found = self._index.search(codes, k)
        is_tied = (found >= 0) & (distance == distance[:, :1])
        found = np.where(is_tied, found, size)
        wide = np.flatnonzero(is_tied[:, -1])
        if k < size and len(wide):
            _, more = self._nearest(codes[wide], min(8 * k, size))
            found = _widened(found, more.shape[1], size)
            found[wide] = more
        return distance[:, 0].astype(np.int64), found


def _widened(table: NDArray[np.int64], width: int, fill: int) -> NDArray[np.int64]:
    """The table with so many columns at least."""
    more = max(0, width - table.shape[1])
    return np.pad(table, ((0, 0), (0, more)), constant_values=fill)
