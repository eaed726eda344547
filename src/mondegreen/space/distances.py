"""Distances between the inputs of a space, by products where its metric allows it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Final, final

import numpy as np

from mondegreen.arrays import Floats, Ids, Vectors, in_blocks, slices
from mondegreen.space.geometry import Neighbours, report_misstated
from mondegreen.space.metric import distances, relative_error
from mondegreen.space.space import Space

_TILE: Final = 1024
_STRIPE: Final = 64
_DIGITS: Final = 1e-4  # what other processors and six digits may change


@final
class Distances:
    """Distances of inputs, the unknown word being the last; 0 exactly at one point.

    ``inputs`` gives, for ids, the points that inputs lie at where those are not the
    points of the space. Rows of a space without vectors are None.
    """

    def __init__(
        self, space: Space, inputs: Callable[[Ids], Vectors] | None = None
    ) -> None:
        self.space = space
        self.count = space.vocab_size + 1
        self.is_known = space.has_vectors
        self._is_euclidean = space.metric == "euclidean"
        self._is_checked = inputs is not None
        if self.is_known:
            self._inputs = inputs or space.points
            # Seen from the centroid, Euclidean norms and their rounding are smallest.
            self._origin = space.unknown if self._is_euclidean else 0.0
            canonical = space.canonical
            self.has_duplicates = bool((canonical != np.arange(self.count)).any())

    def between(self, left: Ids, right: Ids) -> Floats:
        """Distances of some inputs to some, shape (left, right)."""
        (points, squares), (others, other_squares) = self._at(left), self._at(right)
        if not self._is_euclidean:
            return distances(self.space.metric, points, others)
        # |x|^2 - 2 x . y + |y|^2, shape (left, right).
        table: Floats = points @ others.T
        table *= -2
        table += squares[:, None]
        table += other_squares
        np.sqrt(np.maximum(table, 0.0, out=table), out=table)
        canonical = self.space.canonical
        table[canonical[left][:, None] == canonical[right]] = 0.0
        return table

    def rows(self, ids: Ids) -> Floats | None:
        """Distances of some inputs to all words, shape (ids, V)."""
        return next(self.stripes(ids, len(ids)))[1]

    def stripes(self, ids: Ids, size: int) -> Iterator[tuple[Ids, Floats | None]]:
        """Yield some inputs at a time with their distances to all words."""
        # One large product for all of them, then roots while a stripe is in the cache.
        squared = self._compute_squared(ids) if self._is_euclidean else None
        for part in slices(len(ids), size):
            some = ids[part]
            if squared is not None:
                table = squared[part]
                np.sqrt(np.maximum(table, 0.0, out=table), out=table)
                # A word at the very point of the input is at distance 0 exactly.
                if self.has_duplicates:
                    canonical = self.space.canonical
                    table[canonical[some][:, None] == canonical[:-1]] = 0.0
                else:
                    words = np.flatnonzero(some < self.space.vocab_size)
                    table[words, some[words]] = 0.0
                yield some, table
            elif self.is_known:
                points = self._inputs(some)
                yield some, distances(self.space.metric, points, self.space.vectors)
            else:
                yield some, None

    def each(
        self,
        work: Callable[[int, int, Floats], None],
        progress: Callable[[float], object] = lambda share: None,
    ) -> None:
        """Call ``work(i, j, table)`` for every tile of unordered pairs, ``i <= j``.

        ``table[a, b]`` is the distance of inputs ``i + a`` and ``j + b``. Calls come
        from several threads, each with a table of its own; ``progress`` gets the share
        that is done. The first pass refuses a space that states other distances than
        those of its points.
        """
        starts = range(0, self.count, _TILE)
        tiles = [(i, j) for i in starts for j in starts if j >= i]
        words = None if self._is_checked else Neighbours(self.count - 1)
        margin = 1 + self.relative_error  # here, so that threads find it

        def run(tile: list[tuple[int, int]]) -> None:
            [(i, j)] = tile
            table = self.between(self._ids(i), self._ids(j))
            if words is not None:
                self._check_extremes(table, margin)
                last = self.count - 1  # the unknown word is no word
                words.add(i, j, table[: last - i, : last - j])
            work(i, j, table)

        list(in_blocks(run, tiles, 1, progress))
        if words is not None:
            self._check_averages(words)
            self._is_checked = True

    @property
    def relative_error(self) -> float:
        """The most that a distance in a table may be off, as a share of it."""
        return self._errors[0]

    def error(self, cutoff: float) -> float:
        """The most that ``min(distance, cutoff)`` in a table may be off."""
        return min(self._errors[1], self._errors[0] * cutoff)

    @cached_property
    def _errors(self) -> tuple[float, float]:
        r"""The most that a positive distance is off, as a share and in all.

        Euclidean squares are sums of three products, each right up to
        :math:`n u |x| |y|`; together :math:`s = 4 (n + 8) u \max |x|^2`, so a distance
        is off by at most :math:`s / d`. Other metrics come by their formula.
        """
        space = self.space
        if not self._is_euclidean:
            return relative_error(space.metric, space.vectors, space.unknown), math.inf
        largest = float(self._squared_norms().max())
        slack = 4.0 * (space.dim + 8) * 2.0**-53 * largest
        closest = space.geometry.closest
        if closest == 0:  # all inputs at one point
            return 0.0, 0.0
        return slack / closest**2, slack / closest

    @cached_property
    def _words(self) -> Floats:
        """Words as (y, |y|^2, 1): with (-2x, 1, |x|^2) the product is |x - y|^2."""
        space = self.space
        table = np.ones((space.vocab_size, space.dim + 2))
        words = table[:, :-2]
        np.subtract(space.vectors, self._origin, out=words)
        table[:, -2] = np.einsum("ij,ij->i", words, words)
        return table

    def _compute_squared(self, ids: Ids) -> Floats:
        """Squared distances to all words, up to rounding."""
        queries = np.ones((len(ids), self.space.dim + 2))
        points, queries[:, -1] = self._at(ids)
        queries[:, :-2] = -2 * points
        table: Floats = queries @ self._words.T
        return table

    def _ids(self, start: int) -> Ids:
        return np.arange(start, min(start + _TILE, self.count), dtype=np.int32)

    def _at(self, ids: Ids) -> tuple[Vectors, Floats]:
        """Coordinates and squared norms of inputs, seen from the origin."""
        points = self._inputs(ids) - self._origin
        return points, np.einsum("ij,ij->i", points, points)

    def _squared_norms(self) -> Floats:
        starts = range(0, self.count, _TILE)
        return np.concatenate([self._at(self._ids(start))[1] for start in starts])

    def _check_extremes(self, table: Floats, margin: float) -> None:
        """Refuse a space whose stated extremes are not those of its points.

        What rounding may add to a law is charged by the smallest distance, so one
        that is stated too large would make certificates too small.
        """
        stated, least = self.space.geometry, float(table.min())
        if least == 0:
            least = float(table.min(where=table > 0, initial=math.inf))
        most = float(table.max())
        if least * margin < stated.closest or most > stated.diameter * margin:
            raise report_misstated(self.space.name)

    def _check_averages(self, words: Neighbours) -> None:
        r"""Refuse a space whose stated averages are not those of its words.

        They turn the epsilon of a law into what is promised between neighbours. An
        honest statement may be off by a share, and by what float32 did to the squares
        of a word's distances: that of x and y is right up to
        :math:`c (|x|^2 + |y|^2)`; with :math:`|y| \le |x| + d` that is at most
        :math:`3 c |x|^2` and a share :math:`2 c`.
        """
        stated, nearest = self.space.geometry, words.nearest
        if len(nearest) < 2:
            return
        share, slack = _DIGITS + 2 * self.relative_error, np.zeros(len(nearest))
        if self._is_euclidean:
            unit = 4.0 * (self.space.dim + 8) * 2.0**-24
            share = _DIGITS + 2 * unit
            slack = 3 * unit * np.maximum(self._squared_norms()[:-1], 1e-30)
        squares, roots = nearest**2, np.sqrt(slack)
        low = float(np.median(np.sqrt(np.maximum(squares - slack, 0.0))))
        high = float(np.median(np.sqrt(squares + slack)))
        # A root is off by at most that of the slack and at most slack / distance.
        off = np.divide(slack, nearest, out=roots.copy(), where=squares > slack)
        margin = words.mean * share + 2 * float(np.minimum(roots, off).mean())
        if not (
            low * (1 - share) <= stated.nearest <= high * (1 + share)
            and abs(stated.mean - words.mean) <= margin
        ):
            raise report_misstated(self.space.name)


def stripes(rows: int) -> Iterator[slice]:
    """Cut the rows of a tile into stripes that stay in the cache while worked on."""
    return slices(rows, _STRIPE)
