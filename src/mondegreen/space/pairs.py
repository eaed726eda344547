"""All pairs of inputs of a space, in tiles of bounded memory, on all cores."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids, Vectors
from mondegreen.errors import SpaceIntegrityError
from mondegreen.space.metric import distances, relative_error
from mondegreen.space.space import Space

__all__ = ["PairTiles", "stripes"]

_TILE: Final = 1024
_STRIPE: Final = 64

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

    def each(
        self, work: Work, progress: Callable[[float], object] = lambda share: None
    ) -> None:
        """Call ``work(i, j, table)`` for every tile with ``i <= j``.

        ``table[a, b]`` is the distance of inputs ``i + a`` and ``j + b``, 0 exactly
        where they lie at one point. Calls come from several threads, each with a
        table of its own; ``progress`` gets the share that is done.
        """
        starts = range(0, self.count, _TILE)
        tiles = [(i, j) for i in starts for j in starts if j >= i]

        def run(i: int, j: int) -> None:
            table = self.between(self._ids(i), self._ids(j))
            if self._inputs == self.space.points:
                self._check(table)
            work(i, j, table)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            futures = [pool.submit(run, i, j) for i, j in tiles]
            for done, future in enumerate(futures, start=1):
                future.result()
                progress(done / len(tiles))

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
            raise SpaceIntegrityError(
                f"space {self.space.name!r}: its distances are misstated; build it "
                "again from its vectors"
            )


def stripes(rows: int) -> list[slice]:
    """Cut the rows of a tile into stripes that stay in the cache while worked on."""
    return [slice(start, start + _STRIPE) for start in range(0, rows, _STRIPE)]
