r"""Laws that list most words, kept as a few sums from which any part is made again.

A law over V words takes 8 V bytes as running sums. Its *block cdf*, the running sums at
the ends of blocks of B words, takes 8 V / B, and a draw that falls into a block needs
the weights of that block alone: B distances. So a law is computed once, its block cdf
is kept, and later draws cost a block each. The integers are the same, bit for bit, or
the draw is refused.

What it pays: on the 34,000 words of the default space 192 MB hold 700 whole laws, and
64 MB the block cdfs of all. ``exponential`` draws 150,000 words of the IMDb sample a
second time 10 times as fast as without them, and ``calibrated`` likewise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids, Vectors, Weights, rows_within
from mondegreen.errors import MondegreenError
from mondegreen.mechanisms.laws.rows import EqualFloors, OwnFloors, Row
from mondegreen.mechanisms.laws.scan import EuclideanScan
from mondegreen.sampling.integers import SHRINK, TOTAL
from mondegreen.space.space import Space

if TYPE_CHECKING:
    from mondegreen.mechanisms.laws.exponential import IntegerLaw

_LARGEST_WHOLE: Final = 4096
"""Words of the largest space whose laws are always kept whole."""

_MOST_LISTED: Final = 1024
"""Words of a law that is kept whole, on average: more than its block cdf would take."""

_ASKED: Final = 64
_TABLE_BYTES: Final = 72 << 20
_CHUNK_WORDS: Final = 4096
_SLAB_ROWS: Final = 2048
_SLAB_DRAWS: Final = 8192
_PROBES: Final = 6

_HEAD: Final = 3
"""Numbers of a block cdf before its sums: see :class:`BlockLaws`."""

Floats = NDArray[np.float64]


@final
class BlockLaws:
    r"""The integer laws of a law in Euclidean distance, by blocks of words.

    The excess of a word over its floor is :math:`\lfloor s_w\, m_y\, (e^{-c \min(d(w,
    y), g)} - e^{-cg}) \rfloor`, and what is left of :math:`2^{62}` goes to the largest.
    Without factors :math:`m_y = 1`, and the scale :math:`s_w` makes the weights sum to
    :math:`2^{62}`; with factors :math:`s_w = 1`, and the unknown word is one more
    column.

    A block cdf holds the scale, the largest column, its remainder, and then the running
    sums of the excess at the ends of blocks. The scale is a float among integers: its
    64 bits are stored as they are (``view``, no conversion), so that the same float
    comes out, and the weights made again are the same.

    Distances of a block are made again by a product of another shape, so that this
    needs distances that are exact (:class:`EuclideanScan`); else whole rows are made
    again.
    """

    def __init__(self, law: IntegerLaw) -> None:
        space = law.space
        assert isinstance(law.scan, EuclideanScan)  # noqa: S101 - who asks has looked
        self._law, self._space, self._scan = law, space, law.scan
        self._least = math.exp(-law.rate * law.cutoff)
        self.size = 1 << max(8, round(math.log2(space.vocab_size) / 2))
        columns = space.vocab_size + (law.factors is not None)
        self.blocks = -(-columns // self.size)
        self._width = self.blocks * self.size
        # The word that each column is released as; those beyond the last weigh nothing.
        self._words = np.full(self._width, law.printed, dtype=np.int32)
        self._words[: space.vocab_size] = np.arange(space.vocab_size)
        self._factors: Floats | None = None
        if law.factors is not None:
            self._factors = np.zeros(self._width)
            self._factors[:columns] = law.factors

    @property
    def stride(self) -> int:
        """Numbers of a block cdf."""
        return _HEAD + self.blocks

    def rows(self, points: Sequence[int]) -> Iterator[tuple[int, Row]]:
        """Yield the law of each canonical input, in order, in bounded memory."""
        size = rows_within(_TABLE_BYTES, self._width)
        for start in range(0, len(points), size):
            block = np.array(points[start : start + size], dtype=np.int32)
            table = np.empty((len(block), self._width))
            queries = self._scan.queries(block)
            for first in range(0, self._width, _CHUNK_WORDS):
                part = slice(first, min(first + _CHUNK_WORDS, self._width))
                self._squares(block, queries, part, table[:, part])
            for point, squares in zip(block.tolist(), table, strict=True):
                yield point, self._row(squares)

    def outputs(
        self,
        points: Sequence[int],
        block_cdfs: Sequence[Weights],
        bounds: Sequence[tuple[int, int]],
        draws: Weights,
        out: Ids,
    ) -> None:
        """Turn the draws of each point, from a to b, into words of ``out``, exactly."""
        for first in range(0, len(points), _SLAB_ROWS):
            part = slice(first, first + _SLAB_ROWS)
            block = np.array(points[part], dtype=np.int32)
            spans = bounds[part]
            inputs = np.repeat(np.arange(len(block)), [b - a for a, b in spans])
            places = np.concatenate([np.arange(a, b) for a, b in spans])
            stacked = np.stack(list(block_cdfs[part]))
            out[places] = self._drawn(block, stacked, inputs, draws[places])

    @cached_property
    def is_reproducible(self) -> bool:
        """Whether laws come out the same whole and block by block.

        Distances do where the scan is exact, whatever the product; that exponentials
        do is tried with some laws.
        """
        if not self._scan.is_exact:
            return False
        points = np.unique(self._space.canonical)
        probes = points[:: max(1, len(points) // _PROBES)]
        rows = [row for _, row in self.rows(probes.tolist())]
        above = np.diff([row.cumulative for row in rows], prepend=0)
        block_cdfs = np.stack([row.block_cdf for row in rows])  # type: ignore[misc]
        queries = self._scan.queries(probes)
        for k in range(self.blocks):
            again = self._weights(probes, queries, block_cdfs, k)
            if (again != above[:, k * self.size : (k + 1) * self.size]).any():
                return False
        return True

    def _floors(self, block_cdfs: Weights) -> EqualFloors | OwnFloors:
        """The floors of some inputs."""
        if self._law.floors is not None:
            return self._law.floors
        scales = block_cdfs[:, 0].view(np.float64)
        floor = (scales * self._least).astype(np.int64)
        return EqualFloors(floor, self._space.vocab_size)

    def _row(self, squares: Floats) -> Row:
        """Quantise one law from squared distances, which are consumed."""
        excess, scale = self._excess(squares), 1.0
        if self._factors is None:
            total = self._space.vocab_size * self._least + float(excess.sum())
            scale = TOTAL / total * SHRINK
            excess *= scale
        else:
            excess *= self._factors
        weights = excess.astype(np.int64)
        top = int(weights.argmax())
        block_cdf = np.zeros(self.stride, dtype=np.int64)
        block_cdf[:1].view(np.float64)[0] = scale
        floors = self._floors(block_cdf[None])
        remainder = TOTAL - int(floors.total[0]) - int(weights.sum())
        self._law.check_remainder(remainder)
        weights[top] += remainder
        block_cdf[1:_HEAD] = top, remainder
        cumulative = np.cumsum(weights)
        block_cdf[_HEAD:] = cumulative[self.size - 1 :: self.size]
        return Row(floors, self._words, cumulative, block_cdf)

    def _excess(self, squares: Floats) -> Floats:
        """Turn squared distances into weights above the floor, in place."""
        np.maximum(squares, 0.0, out=squares)
        np.sqrt(squares, out=squares)
        squares *= -self._law.rate
        np.exp(squares, out=squares)
        squares -= self._least
        return np.maximum(squares, 0.0, out=squares)

    def _squares(self, block: Ids, queries: Vectors, part: slice, out: Floats) -> None:
        """Fill in squared distances of inputs to some columns; infinite beyond."""
        words = slice(part.start, min(part.stop, self._space.vocab_size))
        count = words.stop - words.start
        self._scan.squared(block, queries, words, out[:, :count])
        out[:, count:] = np.inf
        if self._law.to_unknown is not None and part.stop > words.stop:
            out[:, count] = self._law.to_unknown[block] ** 2

    def _weights(
        self, block: Ids, queries: Vectors, block_cdfs: Weights, k: int
    ) -> Weights:
        """Make the weights of one block of words again, above the floors."""
        part = slice(k * self.size, (k + 1) * self.size)
        excess = np.empty((len(block), self.size))
        self._squares(block, queries, part, excess)
        self._excess(excess)
        if self._factors is None:
            excess *= block_cdfs[:, :1].view(np.float64)
        else:
            excess *= self._factors[part]
        weights = excess.astype(np.int64)
        top = block_cdfs[:, 1] - part.start
        here = np.flatnonzero((top >= 0) & (top < self.size))
        weights[here, top[here]] += block_cdfs[here, 2]
        return weights

    def _drawn(
        self,
        block: Ids,
        block_cdfs: Weights,
        inputs: NDArray[np.intp],
        draws: Weights,
    ) -> Ids:
        """The words of draws for inputs with these block cdfs."""
        floors, sums = self._floors(block_cdfs), block_cdfs[:, _HEAD:]
        excess = draws - np.broadcast_to(floors.total, len(block))[inputs]
        out = np.zeros(len(draws), dtype=np.int32)
        common = np.flatnonzero(excess < 0)
        out[common] = floors.words(draws[common], inputs[common])
        listed = np.flatnonzero(excess >= 0)
        hit = np.empty(len(listed), dtype=np.int64)
        for start in range(0, len(listed), _SLAB_DRAWS):
            some = listed[start : start + _SLAB_DRAWS]
            passed = sums[inputs[some]] <= excess[some, None]
            hit[start : start + _SLAB_DRAWS] = passed.sum(axis=1)
        order = np.argsort(hit, kind="stable")
        ends = np.searchsorted(hit[order], np.arange(self.blocks + 1))
        queries = self._scan.queries(block)
        for k in np.flatnonzero(np.diff(ends)).tolist():
            here = listed[order[ends[k] : ends[k + 1]]]
            rows, which = np.unique(inputs[here], return_inverse=True)
            weights = self._weights(block[rows], queries[rows], block_cdfs[rows], k)
            before = sums[rows, k - 1] if k else np.zeros(len(rows), dtype=np.int64)
            cumulative = np.cumsum(weights, axis=1)
            if (cumulative[:, -1] != sums[rows, k] - before).any():
                raise MondegreenError(
                    "a law did not come out the same twice on this machine; nothing "
                    "was released"
                )
            inside = excess[here] - before[which]
            for start in range(0, len(here), _SLAB_DRAWS // 2):
                span = slice(start, start + _SLAB_DRAWS // 2)
                passed = cumulative[which[span]] <= inside[span, None]
                out[here[span]] = self._words[k * self.size + passed.sum(axis=1)]
        return out


def lists_many(space: Space, scan: EuclideanScan, cutoff: float) -> bool:
    """Whether laws of a large space list so many words that few could be kept whole.

    Surely where most words are within the cutoff of each other; else some inputs are
    asked, always the same.
    """
    if space.vocab_size <= _LARGEST_WHOLE:
        return False
    if cutoff > space.geometry.mean:
        return True
    if cutoff <= space.geometry.nearest or not scan.is_exact:
        return False
    points = np.unique(space.canonical)
    some = points[:: -(-len(points) // _ASKED)]
    listed = [len(near) for near, _ in scan.near(some, cutoff)]
    return sum(listed) > _MOST_LISTED * len(listed)
