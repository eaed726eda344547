"""Exact nearest codes in Hamming distance, with all words that tie."""

from __future__ import annotations

from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids, slices
from mondegreen.space.codes import Bits

# Classes asked for at first: with 256 bits all that tie are among them but for one
# code in 300, and they cost no more than two.
_FIRST: Final = 4
_CELLS: Final = 1 << 21


@final
class HammingSearch:
    """Exhaustive search over codes that leaves ties to the caller.

    Words with one code make one class; classes are numbered by their codes. Which of
    two classes at the same distance faiss would name first makes no difference:
    all of them are found, and put in order.
    """

    def __init__(self, table: Bits) -> None:
        import faiss  # not at the top: mechanisms are listed without it

        distinct, inverse, counts = np.unique(
            table, axis=0, return_inverse=True, return_counts=True
        )
        self._members = np.argsort(inverse.ravel(), kind="stable").astype(np.int32)
        self._counts = np.append(counts, 0).astype(np.int64)
        self._starts = np.append(0, np.cumsum(counts)).astype(np.int64)
        self._index = faiss.IndexBinaryFlat(8 * table.shape[1])
        self._index.add(np.ascontiguousarray(distinct))

    def pick(self, codes: Bits, draws: NDArray[np.uint64]) -> Ids:
        """One word nearest to each code, uniform among all such words.

        ``draws`` are uniform on ``0 .. 2**64 - 1``, one for each code: number ``r``
        takes the word in place ``r * ties >> 64``.
        """
        nearest = self._find_tied(codes)
        total = self._counts[nearest].cumsum(axis=1)
        # draws * ties >> 64 without overflow: there are fewer than 2**31 ties.
        ties, half = total[:, -1].astype(np.uint64), np.uint64(32)
        low = (draws & np.uint64(0xFFFFFFFF)) * ties >> half
        place = ((draws >> half) * ties + low >> half).astype(np.int64)
        column = (total <= place[:, None]).sum(axis=1)
        rows = np.arange(len(codes))
        found = nearest[rows, column]
        offset = place - (total[rows, column] - self._counts[found])
        picked: Ids = self._members[self._starts[found] + offset]
        return picked

    def ties(self, codes: Bits) -> list[Ids]:
        """The words nearest to each code, by class and then by id."""
        classes = np.split(self._members, self._starts[1:])
        return [
            np.concatenate([classes[c] for c in row]) for row in self._find_tied(codes)
        ]

    def _find_tied(self, codes: Bits) -> NDArray[np.int64]:
        """The nearest classes, sorted; an empty class fills the rows."""
        size = int(self._index.ntotal)
        k = min(_FIRST, size)
        out = self._nearest(codes, k)
        open_rows = np.flatnonzero(out[:, -1] < size)
        while k < size and len(open_rows):
            k = min(8 * k, size)
            wider = np.full((len(codes), k), size)
            wider[:, : out.shape[1]] = out
            step = max(1, _CELLS // k)
            for part in slices(len(open_rows), step):
                rows = open_rows[part]
                wider[rows] = self._nearest(codes[rows], k)
            out = wider
            open_rows = open_rows[out[open_rows, -1] < size]
        return out

    def _nearest(self, codes: Bits, k: int) -> NDArray[np.int64]:
        """Those of the k nearest classes that are at the least distance."""
        distance, found = self._index.search(np.ascontiguousarray(codes), k)
        found[distance > distance[:, :1]] = self._index.ntotal
        found.sort(axis=1)
        nearest: NDArray[np.int64] = found
        return nearest

    def describe(self) -> str:
        return "exhaustive Hamming search (faiss), which sees the noisy code only"
