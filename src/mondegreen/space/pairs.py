"""All pairs of inputs of a space, in tiles of bounded memory, on all cores."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids, Vectors
from mondegreen.space.distances import distances, relative_error
from mondegreen.space.geometry import misstated
from mondegreen.space.space import Space

_TILE: Final = 1024
_STRIPE: Final = 64
_DIGITS: Final = 1e-4  # what other processors and six digits may change

Floats = NDArray[np.float64]
Work = Callable[[int, int, Floats], None]


@final
class PairTiles:
    """Distances of all unordered pairs of inputs, the unknown word being the last.

    Parameters
    ----------
    space : Space
        In its own metric; float64.
    inputs : callable, optional
        From ids to the points that inputs lie at, instead of those of the space.

    Attributes
    ----------
    relative_error : float
        The most that a distance in a table may be off, as a share of it.
    """

    def __init__(
        self, space: Space, inputs: Callable[[Ids], Vectors] | None = None
    ) -> None:
        self.space = space
        self._inputs = inputs or space.points
        self.count = space.vocab_size + 1
        self.has_duplicates = bool((space.canonical != np.arange(self.count)).any())
        # Seen from the centroid, Euclidean norms and their rounding are smallest.
        self._origin = space.unknown if space.metric == "euclidean" else 0.0
        self.relative_error, self._largest_error = self._errors()
        self._is_checked = self._inputs != space.points

    def each(
        self, work: Work, progress: Callable[[float], object] = lambda share: None
    ) -> None:
        """Call ``work(i, j, table)`` for every tile with ``i <= j``.

        ``table[a, b]`` is the distance of inputs ``i + a`` and ``j + b``, 0 exactly
        where they lie at one point. Calls come from several threads, each with a
        table of its own; ``progress`` gets the share that is done.

        Raises
        ------
        SpaceIntegrityError
            If the space states other distances than those of its points. The first
            pass looks at all of them.
        """
        starts = range(0, self.count, _TILE)
        tiles = [(i, j) for i in starts for j in starts if j >= i]
        words = None if self._is_checked else _Words(self.count - 1)

        def run(i: int, j: int) -> None:
            table = self.between(self._ids(i), self._ids(j))
            if words is not None:
                self._check(table)
                words.add(i, j, table)
            work(i, j, table)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            futures = [pool.submit(run, i, j) for i, j in tiles]
            for done, future in enumerate(futures, start=1):
                future.result()
                progress(done / len(tiles))
        if words is not None:
            self._check_words(words)
            self._is_checked = True

    def between(self, left: Ids, right: Ids) -> Floats:
        """Return the distances of some inputs to some, shape (left, right)."""
        (points, squares), (others, other_squares) = self._at(left), self._at(right)
        if self.space.metric != "euclidean":
            return distances(self.space.metric, points, others)
        table: Floats = points @ others.T
        table *= -2
        table += squares[:, None]
        table += other_squares
        np.maximum(table, 0.0, out=table)
        np.sqrt(table, out=table)
        canonical = self.space.canonical
        table[canonical[left][:, None] == canonical[right]] = 0.0
        return table

    def error(self, cutoff: float) -> float:
        """Return the most that ``min(distance, cutoff)`` in a table may be off."""
        return min(self._largest_error, self.relative_error * cutoff)

    def _errors(self) -> tuple[float, float]:
        r"""Return the most that a positive distance is off, as a share and in all.

        Euclidean squares are sums of three products, each right up to
        :math:`n u |x| |y|`; together :math:`s = 4 (n + 8) u \max |x|^2`, so a distance
        is off by at most :math:`s / d`. Other metrics come by their formula.
        """
        space = self.space
        if space.metric != "euclidean":
            return relative_error(space.metric, space.vectors, space.unknown), math.inf
        starts = range(0, self.count, _TILE)
        largest = max(float(self._at(self._ids(start))[1].max()) for start in starts)
        slack = 4.0 * (space.dim + 8) * 2.0**-53 * largest
        closest = space.geometry.closest
        if closest == 0:  # all inputs at one point
            return 0.0, 0.0
        return slack / closest**2, slack / closest

    def _ids(self, start: int) -> Ids:
        """Return the inputs of a tile."""
        return np.arange(start, min(start + _TILE, self.count), dtype=np.int32)

    def _at(self, ids: Ids) -> tuple[Vectors, Floats]:
        """Return coordinates and squared norms of inputs."""
        points = self._inputs(ids) - self._origin
        return points, np.einsum("ij,ij->i", points, points)

    def _check(self, table: Floats) -> None:
        """Refuse a space whose stated distances are not those of its points.

        What rounding may add to a law is charged by the smallest distance, so one
        that is stated too large would make certificates too small.
        """
        stated, room = self.space.geometry, 1 + self.relative_error
        least = float(table.min())
        if least == 0:
            least = float(table.min(where=table > 0, initial=math.inf))
        if least * room < stated.closest or float(table.max()) > stated.diameter * room:
            raise misstated(self.space.name)

    def _check_words(self, words: _Words) -> None:
        """Refuse a space whose stated averages are not those of its words.

        They turn the epsilon of a law into what is promised between neighbours.
        """
        stated = self.space.geometry
        nearest, mean = words.bounds(*self._float32_errors())
        if not (
            nearest[0] <= stated.nearest <= nearest[1]
            and mean[0] <= stated.mean <= mean[1]
        ):
            raise misstated(self.space.name)

    def _float32_errors(self) -> tuple[float, Floats]:
        r"""Return how far from a distance an honest statement may be.

        As a share, and what the squares of a word's distances may be off. Euclidean
        ones are measured in float32, where that of x and y is right up to
        :math:`c (|x|^2 + |y|^2)`; with :math:`|y| \le |x| + d` that is at most
        :math:`3 c |x|^2` and a share :math:`2 c`.
        """
        space = self.space
        if space.metric != "euclidean":
            return _DIGITS + 2 * self.relative_error, np.zeros(space.vocab_size)
        starts = range(0, self.count, _TILE)
        squares = np.concatenate([self._at(self._ids(start))[1] for start in starts])
        unit = 4.0 * (space.dim + 8) * 2.0**-24
        return _DIGITS + 2 * unit, 3 * unit * np.maximum(squares[:-1], 1e-30)


@final
class _Words:
    """The nearest other word of every word and the sum of all distances of words."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._nearest = np.full(count, math.inf)
        self._total = 0.0
        self._lock = threading.Lock()

    def add(self, i: int, j: int, table: Floats) -> None:
        """Take a tile; its table is the same afterwards."""
        table = table[: self._count - i, : self._count - j]
        if not table.size:
            return
        total = float(table.sum())
        if i == j:
            np.fill_diagonal(table, math.inf)
        rows, columns = table.min(axis=1), table.min(axis=0)
        if i == j:
            np.fill_diagonal(table, 0.0)
        with self._lock:
            self._total += total if i == j else 2 * total
            for start, least in ((i, rows), (j, columns)):
                part = self._nearest[start : start + len(least)]
                np.minimum(part, least, out=part)

    def bounds(
        self, share: float, slack: Floats
    ) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the least and the most that the median and the mean may be stated.

        Distances may be off by a share, and the squares of those of a word by a slack.
        A root is off by at most that of the slack and at most slack / distance.
        """
        if self._count < 2:
            return (0.0, 0.0), (0.0, 0.0)
        squares = self._nearest**2
        low = float(np.median(np.sqrt(np.maximum(squares - slack, 0.0))))
        high = float(np.median(np.sqrt(squares + slack)))
        mean = self._total / (self._count * (self._count - 1))
        roots = np.sqrt(slack)
        off = np.divide(slack, self._nearest, out=roots.copy(), where=squares > slack)
        room = mean * share + 2 * float(np.minimum(roots, off).mean())
        return (low * (1 - share), high * (1 + share)), (mean - room, mean + room)


def stripes(rows: int) -> list[slice]:
    """Cut the rows of a tile into stripes that stay in the cache while worked on."""
    return [slice(start, start + _STRIPE) for start in range(0, rows, _STRIPE)]
