r"""Laws that fall exponentially with a score, as integers: whole, and by blocks.

Every mechanism of the selection family draws from

.. math:: P(y \mid w) \propto m_y \exp(-c \min(d(w, y), g)),

with its own rate :math:`c`, cutoff :math:`g` and score :math:`d`: a distance, or what a
rating lacks to 1. All :math:`m_y` are 1 but for ``tight``.

*By blocks.* A law over V words takes 8 V bytes as running sums. Its *block cdf*, the
running sums at the ends of blocks of B words, takes 8 V / B, and a draw that falls into
a block needs the weights of that block alone: B distances. So a law is computed once,
its block cdf is kept, and later draws cost a block each. The integers are the same, bit
for bit, or the draw is refused.

What it pays: on the 34,000 words of the default space 192 MB hold 700 whole laws, and
64 MB the block cdfs of all. ``exponential`` draws 150,000 words of the IMDb sample a
second time 10 times as fast as without them, and ``calibrated`` likewise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats, Ids, Vectors, Weights, rows_within, slices
from mondegreen.errors import MondegreenError, SpaceError
from mondegreen.mechanisms.laws.rows import EqualFloors, OwnFloors, Row
from mondegreen.mechanisms.laws.scan import LARGEST_WHOLE, EuclideanScan, Scan
from mondegreen.sampling.integers import SHRINK, TOTAL, quantize
from mondegreen.space.space import Space

_TABLE_BYTES: Final = 72 << 20
_MOST_LISTED: Final = 1024
"""Words of a law that is kept whole, on average: more than its block cdf would take."""

_ASKED: Final = 64
_CHUNK_WORDS: Final = 4096
_SLAB_ROWS: Final = 2048
_SLAB_DRAWS: Final = 4096
_PROBES: Final = 6

_HEAD: Final = 3
"""Numbers of a block cdf before its sums: see :class:`BlockLaws`."""

Certifier = Callable[..., list[float]]


class IntegerLaw:
    r"""The laws of all inputs of one mechanism on one space, made when asked for.

    ``rate`` and ``cutoff`` are :math:`c` and :math:`g` in the formula of the module;
    ``scan`` finds the words with a score below the cutoff.
    """

    # Whether the score is the distance of the space, and whether it orders the words.
    takes_distances: ClassVar[bool] = True
    falls_with_distance: ClassVar[bool] = True

    # Computes certificates of several laws, ``(laws, progress)``, and in a blink what
    # they cannot be below, ``(laws)``. None where the proof is all there is.
    certify: ClassVar[Certifier | None] = None
    bound: ClassVar[Certifier]

    # Most that rounding moves a log-ratio, in nats, where a certificate counts it.
    kappa: float = 0.0

    # What distinguishes ``tight``: factors m of the words and, last, of the unknown
    # word as an output, which is released as another word; floors that follow m.
    factors: Floats | None = None
    floors: OwnFloors | None = None
    to_unknown: Floats | None = None
    printed: int = 0

    def __init__(self, space: Space, scan: Scan, rate: float, cutoff: float) -> None:
        self.space, self.scan, self.rate, self.cutoff = space, scan, rate, cutoff

    @property
    def key(self) -> str:
        """What names this law among those of its space that have a certificate."""
        # Ten digits: another machine may round rates otherwise, in the last of
        # sixteen, which is far below the margin of a certificate.
        return f"{self.rate:.10g} {self.cutoff:.10g}"

    @cached_property
    def blocks(self) -> BlockLaws | None:
        """The same laws by blocks of words, where they list many words."""
        scan = self.scan
        if isinstance(scan, EuclideanScan) and self._lists_many(scan):
            return BlockLaws(self, scan)
        return None

    def _lists_many(self, scan: EuclideanScan) -> bool:
        """Whether laws of a large space list so many words that few could be kept.

        Surely where most words are within the cutoff of each other; else some inputs
        are asked, always the same.
        """
        geometry, cutoff = self.space.geometry, self.cutoff
        if self.space.vocab_size <= LARGEST_WHOLE:
            return False
        if cutoff > geometry.mean:
            return True
        # At the median of the nearest distances half of the words list themselves
        # alone.
        if cutoff <= geometry.nearest or not scan.is_exact:
            return False
        points = np.unique(self.space.canonical)
        # Every ceil(n / 64)-th point: at most 64 of them.
        some = points[:: -(-len(points) // _ASKED)]
        listed = [len(near) for near, _ in scan.near(some, cutoff)]
        return sum(listed) > _MOST_LISTED * len(listed)

    @property
    def reproducible(self) -> BlockLaws | None:
        """The laws by blocks, if parts of them can be made again."""
        laws = self.blocks
        return laws if laws is not None and laws.is_reproducible else None

    def rows(self, points: Sequence[int]) -> Iterator[tuple[int, Row]]:
        """Yield the law of each canonical input, in order, in bounded memory."""
        if self.blocks is not None:
            yield from self.blocks.rows(points)
            return
        size = rows_within(_TABLE_BYTES, self.space.vocab_size)
        for part in slices(len(points), size):
            block = np.array(points[part], dtype=np.int32)
            near = self.scan.near(block, self.cutoff)
            for point, (words, scores) in zip(block.tolist(), near, strict=True):
                yield point, self.row(point, words, scores)

    def row(self, point: int, words: Ids, scores: Floats) -> Row:
        """Quantise the law of one input from the words below the cutoff."""
        # N(y) = floor(s f) + floor(s x(y)) with f = e^{-c g}, x(y) = max(e^{-c d} - f,
        # 0) for the listed words, shape (listed,), and x = 0 for all others.
        floor = math.exp(-self.rate * self.cutoff)
        if len(words):
            # A word a rounding error within the cutoff must weigh the floor at least.
            excess = np.maximum(np.exp(-self.rate * scores) - floor, 0.0)
        else:  # all words at the cutoff or beyond: uniform, remainder to word 0
            words, excess = np.zeros(1, dtype=np.int32), np.zeros(1)
        count = self.space.vocab_size
        base, weights = quantize(excess, floor, count)
        floors = EqualFloors(np.array([base]), count)
        return Row(floors, words, np.cumsum(weights))

    def check_remainder(self, remainder: int) -> None:
        """Refuse integers that do not leave to the largest weight what they should."""
        if remainder < 0:
            raise SpaceError("the weights of an input exceed one")

    def log_rows(self, ids: Ids, distances: Floats) -> tuple[Floats, Floats]:
        """Log-probabilities and probabilities in real numbers, from distances."""
        logs = np.minimum(distances, self.cutoff)
        logs *= -self.rate
        probabilities = np.exp(logs)
        sums = probabilities.sum(axis=1, keepdims=True)
        probabilities /= sums
        logs -= np.log(sums)
        return logs, probabilities


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
    64 bits are stored as they are (``view``, no conversion), so that the weights made
    again are the same. Distances of a block are made again by a product of another
    shape, so they must be exact (:class:`EuclideanScan`); else whole rows are made.
    """

    def __init__(self, law: IntegerLaw, scan: EuclideanScan) -> None:
        space = law.space
        self._law, self._space, self._scan = law, space, scan
        self._least = math.exp(-law.rate * law.cutoff)
        # V / B sums are kept and B weights are made again: B near sqrt(V) is the least
        # of both. A power of two, so that products have shapes that are quick.
        self.size = 1 << max(8, round(math.log2(space.vocab_size) / 2))
        columns = space.vocab_size + (law.factors is not None)
        self.blocks = -(-columns // self.size)
        self.stride = _HEAD + self.blocks  # numbers of a block cdf
        self._width = self.blocks * self.size
        # The word that each column is released as; those beyond the last weigh nothing.
        self._words = np.full(self._width, law.printed, dtype=np.int32)
        self._words[: space.vocab_size] = np.arange(space.vocab_size)
        self._factors: Floats | None = None
        if law.factors is not None:
            self._factors = np.zeros(self._width)
            self._factors[:columns] = law.factors

    def rows(self, points: Sequence[int]) -> Iterator[tuple[int, Row]]:
        """Yield the law of each canonical input, in order, in bounded memory."""
        size = rows_within(_TABLE_BYTES, self._width)
        for some in slices(len(points), size):
            block = np.array(points[some], dtype=np.int32)
            # (inputs, columns): squared distances, which `_row` turns into weights in
            # place.
            table = np.empty((len(block), self._width))
            queries = self._scan.queries(block)
            for part in slices(self._width, _CHUNK_WORDS):
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
        for part in slices(len(points), _SLAB_ROWS):
            block = np.array(points[part], dtype=np.int32)
            spans = bounds[part]
            # For each draw of these inputs: the row of its input in `block`, and its
            # place in `draws` and `out`. Both have the shape (draws of the slab,).
            inputs = np.repeat(np.arange(len(block)), [b - a for a, b in spans])
            places = np.concatenate([np.arange(a, b) for a, b in spans])
            stacked = np.stack(list(block_cdfs[part]))
            out[places] = self._draw(block, stacked, inputs, draws[places])

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
        # (probes, columns): the weights above the floors, whole.
        above = np.diff([row.cumulative for row in rows], prepend=0)
        block_cdfs = np.stack([row.block_cdf for row in rows])  # type: ignore[misc]
        queries = self._scan.queries(probes)
        for k in range(self.blocks):
            again = self._weights(probes, queries, block_cdfs, k)
            if (again != above[:, k * self.size : (k + 1) * self.size]).any():
                return False
        return True

    def _floors(self, block_cdfs: Weights) -> EqualFloors | OwnFloors:
        if self._law.floors is not None:
            return self._law.floors
        # floor(s f) for each input, shape (inputs,), from the very bits of s.
        scales = block_cdfs[:, 0].view(np.float64)
        floor = (scales * self._least).astype(np.int64)
        return EqualFloors(floor, self._space.vocab_size)

    def _row(self, squares: Floats) -> Row:
        """Quantise one law from squared distances, which are consumed."""
        excess, scale = self._excess(squares), 1.0
        if self._factors is None:
            # s = 2^62 / (V f + sum x) (1 - 2^-46). The last factor leaves 2^16, more
            # than a sum in floats is off, so the remainder below is never negative.
            total = self._space.vocab_size * self._least + float(excess.sum())
            scale = TOTAL / total * SHRINK
            excess *= scale
        else:
            # s = 1, and the factors are T' mu_y: floor(T' mu_y x(y)).
            excess *= self._factors
        weights = excess.astype(np.int64)
        top = int(weights.argmax())
        block_cdf = np.zeros(self.stride, dtype=np.int64)
        block_cdf[:1].view(np.float64)[0] = scale
        floors = self._floors(block_cdf[None])
        # Python integers: exact. The largest weight is at least the average, so there
        # the remainder moves a log-ratio least.
        remainder = TOTAL - int(floors.total[0]) - int(weights.sum())
        self._law.check_remainder(remainder)
        weights[top] += remainder
        block_cdf[1:_HEAD] = top, remainder
        cumulative = np.cumsum(weights)
        # (blocks,): the running sum at the last word of each block.
        block_cdf[_HEAD:] = cumulative[self.size - 1 :: self.size]
        return Row(floors, self._words, cumulative, block_cdf)

    def _excess(self, squares: Floats) -> Floats:
        """Turn squared distances into weights above the floor, in place."""
        # x = max(e^{-c d} - e^{-c g}, 0), with d the root of a square that rounding may
        # have taken below 0. Beyond g, and where the square is infinite, x is 0.
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
        self._scan.compute_squared(block, queries, words, out[:, :count])
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

    def _draw(
        self, block: Ids, block_cdfs: Weights, inputs: NDArray[np.intp], draws: Weights
    ) -> Ids:
        """The words of draws for inputs with these block cdfs."""
        # An integer i below the sum of the floors, F, belongs to the word that owns it
        # among the floors. Any other one belongs to the first word whose running sum of
        # x passes i - F: first its block, then the word in that block.
        floors, sums = self._floors(block_cdfs), block_cdfs[:, _HEAD:]
        excess = draws - np.broadcast_to(floors.total, len(block))[inputs]
        out = np.zeros(len(draws), dtype=np.int32)
        common = np.flatnonzero(excess < 0)
        out[common] = floors.words(draws[common], inputs[common])
        listed = np.flatnonzero(excess >= 0)
        hit = _passed(sums, inputs[listed], excess[listed])
        # The draws of block k are `order[ends[k] : ends[k + 1]]`.
        order = np.argsort(hit, kind="stable")
        ends = np.searchsorted(hit[order], np.arange(self.blocks + 1))
        queries = self._scan.queries(block)
        for k in np.flatnonzero(np.diff(ends)).tolist():
            here = listed[order[ends[k] : ends[k + 1]]]
            rows, which = np.unique(inputs[here], return_inverse=True)
            weights = self._weights(block[rows], queries[rows], block_cdfs[rows], k)
            before = sums[rows, k - 1] if k else np.zeros(len(rows), dtype=np.int64)
            cumulative = np.cumsum(weights, axis=1)
            # The same sum as when the law was made whole: else two intervals of one law
            # could overlap, and the draw would follow no law at all.
            if (cumulative[:, -1] != sums[rows, k] - before).any():
                raise MondegreenError(
                    "this machine computed two different laws for one setting; "
                    "nothing was released"
                )
            places = _passed(cumulative, which, excess[here] - before[which])
            out[here] = self._words[k * self.size + places]
        return out


def _passed(ends: Weights, rows: NDArray[np.intp], draws: Weights) -> NDArray[np.intp]:
    """How many of the running sums in its row each draw has passed."""
    found = np.empty(len(draws), dtype=np.intp)
    for some in slices(len(draws), _SLAB_DRAWS):
        # A word owns the integers from the sum before it up to below its own sum, so a
        # draw has passed each sum that is at most itself. (slab, sums) at a time.
        found[some] = (ends[rows[some]] <= draws[some, None]).sum(axis=1)
    return found
