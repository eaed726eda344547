"""Laws that list most words, kept as a few sums from which any part is made again.

A law over V words takes 8 V bytes as running sums. Its *outline*, the running sums at
the ends of blocks of words, takes 8 V / B, and a draw that falls into a block needs the
weights of that block alone: B distances. So a law is computed once, its outline is
kept, and later draws cost a block each. The integers are the same, bit for bit, or the
draw is refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids, Vectors, Weights, rows_within
from mondegreen.errors import MondegreenError, SpaceError
from mondegreen.mechanisms.laws.floors import EqualFloors, OwnFloors
from mondegreen.mechanisms.laws.scan import EuclideanScan
from mondegreen.sampling.integers import SHRINK, TOTAL
from mondegreen.space.space import Space

_LARGEST_WHOLE: Final = 4096
"""Words of the largest space whose laws are always kept whole."""

_MOST_LISTED: Final = 1024
"""Words of a law that is kept whole, on average: more than its outline would take."""

_ASKED: Final = 64
_TABLE_BYTES: Final = 72 << 20
_CHUNK_WORDS: Final = 4096
_SLAB_ROWS: Final = 2048
_SLAB_DRAWS: Final = 8192
_HEAD: Final = 3
"""Numbers of an outline before its sums: scale (its bits), largest word, remainder."""

_PROBES: Final = 6

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True)
class DenseRow:
    """The law of one input, with the running sums of all words.

    Parameters
    ----------
    laws : DenseLaws
        Whose law it is.
    outline : int64 array
        What is enough to make the row again; see :class:`DenseLaws`.
    cumulative : int64 array, shape (columns,)
        Running sums of what the words weigh above their floors.
    """

    laws: DenseLaws
    outline: Weights
    cumulative: Weights

    @property
    def nbytes(self) -> int:
        """Memory held, roughly."""
        return self.cumulative.nbytes + self.outline.nbytes + 400

    @property
    def remainder(self) -> int:
        """What the largest weight was given, so that all sum to ``2**62``."""
        return int(self.outline[2])

    def outputs(self, draws: Weights) -> Ids:
        """Turn integers uniform on ``0 .. 2**62 - 1`` into words, exactly."""
        floors = self.laws.floors_of(self.outline[None])
        excess = draws - floors.total
        column = np.searchsorted(self.cumulative, np.maximum(excess, 0), side="right")
        listed = self.laws.words_of(column)
        out: Ids = np.where(excess < 0, floors.words(draws, 0), listed)
        return out.astype(np.int32)

    def weights(self, vocab_size: int) -> Weights:
        """Return the weights of all words, which sum to ``2**62``."""
        dense = self.laws.floors_of(self.outline[None]).weights(vocab_size)
        above = np.diff(self.cumulative, prepend=0)[: self.laws.columns]
        np.add.at(dense, self.laws.words_of(np.arange(len(above))), above)
        return dense


@final
class DenseLaws:
    r"""Integer laws of a space: floors, and an excess for every word.

    The excess is :math:`\lfloor s_w\, m_y\, (e^{-c \min(d(w, y), g)} - e^{-cg})
    \rfloor`, and what is left of :math:`2^{62}` goes to the largest.

    Parameters
    ----------
    space, scan : Space, EuclideanScan
        Whose distances are computed.
    rate, cutoff : float
        :math:`c` and :math:`g`.
    factors : float64 array, shape (V + 1,), optional
        :math:`m` of the words and of the unknown word as an output, with
        :math:`s = 1`. By default :math:`m = 1`, the unknown word is no output, and
        :math:`s_w` is what makes the weights sum to :math:`2^{62}`.
    floors : OwnFloors, optional
        The floors that go with the factors.
    to_unknown : float64 array, shape (V + 1,), optional
        Distances of the inputs to the unknown word as an output.
    printed : int
        The word that is released for the unknown word as an output.

    Notes
    -----
    An *outline* holds the bits of :math:`s_w`, the largest column and its remainder,
    and the running sums of the excess at the ends of blocks. *Numerics.* Distances of
    a block are made again by a product of another shape, so outlines need distances
    that are exact (:class:`EuclideanScan`); else whole rows are made again. The
    integers that come out must have the sum that the outline says, or nothing is
    drawn.
    """

    def __init__(
        self,
        space: Space,
        scan: EuclideanScan,
        rate: float,
        cutoff: float,
        *,
        factors: Floats | None = None,
        floors: OwnFloors | None = None,
        to_unknown: Floats | None = None,
        printed: int = 0,
    ) -> None:
        self._space, self._scan = space, scan
        self._rate, self._least = rate, math.exp(-rate * cutoff)
        self._factors, self._floors = factors, floors
        self._to_unknown, self._printed = to_unknown, printed
        self.size = 1 << max(8, round(math.log2(space.vocab_size) / 2))
        self.columns = space.vocab_size + (factors is not None)
        self.blocks = -(-self.columns // self.size)
        self._width = self.blocks * self.size
        if factors is not None:
            self._factors = np.zeros(self._width)
            self._factors[: self.columns] = factors

    @property
    def stride(self) -> int:
        """Numbers of an outline."""
        return _HEAD + self.blocks

    def rows(self, points: Sequence[int]) -> Iterator[tuple[int, DenseRow]]:
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
        outlines: Sequence[Weights],
        bounds: Sequence[tuple[int, int]],
        draws: Weights,
        out: Ids,
    ) -> None:
        """Fill ``out[start:stop]`` with the words of ``draws[start:stop]``, exactly.

        Parameters
        ----------
        points, outlines, bounds : sequences of one length
            Canonical inputs, their outlines, and where their draws are.
        """
        for first in range(0, len(points), _SLAB_ROWS):
            part = slice(first, first + _SLAB_ROWS)
            block = np.array(points[part], dtype=np.int32)
            stacked = np.stack(list(outlines[part]))
            spans = bounds[part]
            inputs = np.repeat(
                np.arange(len(block)), [stop - start for start, stop in spans]
            )
            places = np.concatenate([np.arange(a, b) for a, b in spans])
            out[places] = self._drawn(block, stacked, inputs, draws[places])

    def floors_of(self, outlines: Weights) -> EqualFloors | OwnFloors:
        """Return the floors of some inputs."""
        if self._floors is not None:
            return self._floors
        scales = outlines[:, 0].view(np.float64)
        floor = (scales * self._least).astype(np.int64)
        return EqualFloors(floor, self._space.vocab_size)

    def words_of(self, columns: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the words that columns are released as."""
        if self._factors is None:
            return columns
        return np.where(columns == self._space.vocab_size, self._printed, columns)

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
        outlines = np.stack([row.outline for row in rows])
        queries = self._scan.queries(probes)
        for k in range(self.blocks):
            part = slice(k * self.size, (k + 1) * self.size)
            again = self._weights(probes, queries, outlines, k)
            if (again != above[:, part]).any():
                return False
        return True

    def _row(self, squares: Floats) -> DenseRow:
        """Quantise one law from squared distances, which are consumed."""
        count, excess = self._space.vocab_size, self._excess(squares)
        scale = 1.0
        if self._factors is None:
            scale = TOTAL / (count * self._least + float(excess.sum())) * SHRINK
            excess *= scale
        else:
            excess *= self._factors
        weights = excess.astype(np.int64)
        top = int(weights.argmax())
        outline = np.zeros(self.stride, dtype=np.int64)
        outline[:1] = np.array([scale]).view(np.int64)
        base = int(self.floors_of(outline[None]).total[0])
        remainder = TOTAL - base - int(weights.sum())
        if remainder < 0:
            raise SpaceError("the weights of an input exceed one")
        weights[top] += remainder
        outline[1:_HEAD] = top, remainder
        cumulative = np.cumsum(weights)
        outline[_HEAD:] = cumulative[self.size - 1 :: self.size]
        return DenseRow(self, outline, cumulative)

    def _excess(self, squares: Floats) -> Floats:
        """Turn squared distances into weights above the floor, in place."""
        np.maximum(squares, 0.0, out=squares)
        np.sqrt(squares, out=squares)
        squares *= -self._rate
        np.exp(squares, out=squares)
        squares -= self._least
        return np.maximum(squares, 0.0, out=squares)

    def _squares(self, block: Ids, queries: Vectors, part: slice, out: Floats) -> None:
        """Fill in squared distances of inputs to some columns; infinite beyond."""
        words = slice(part.start, min(part.stop, self._space.vocab_size))
        count = words.stop - words.start
        self._scan.squared(block, queries, words, out[:, :count])
        out[:, count:] = np.inf
        if self._to_unknown is not None and part.stop > words.stop:
            out[:, count] = self._to_unknown[block] ** 2

    def _weights(
        self, block: Ids, queries: Vectors, outlines: Weights, k: int
    ) -> Weights:
        """Make the weights of one block of words again, above the floors."""
        part = slice(k * self.size, (k + 1) * self.size)
        excess = np.empty((len(block), self.size))
        self._squares(block, queries, part, excess)
        self._excess(excess)
        if self._factors is None:
            excess *= outlines[:, :1].view(np.float64)
        else:
            excess *= self._factors[part]
        weights = excess.astype(np.int64)
        top = outlines[:, 1] - part.start
        here = np.flatnonzero((top >= 0) & (top < self.size))
        weights[here, top[here]] += outlines[here, 2]
        return weights

    def _drawn(
        self,
        block: Ids,
        outlines: Weights,
        inputs: NDArray[np.intp],
        draws: Weights,
    ) -> Ids:
        """Return the words of draws for inputs with outlines."""
        floors, sums = self.floors_of(outlines), outlines[:, _HEAD:]
        total = np.broadcast_to(floors.total, len(block))
        excess = draws - total[inputs]
        out = np.zeros(len(draws), dtype=np.int64)
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
            weights = self._weights(block[rows], queries[rows], outlines[rows], k)
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
                out[here[span]] = self.words_of(k * self.size + passed.sum(axis=1))
        return out.astype(np.int32)


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
