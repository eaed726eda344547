"""Distances from inputs to all words of a space, a block of inputs at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids
from mondegreen.space.distances import METRICS, distances
from mondegreen.space.space import Space

Floats = NDArray[np.float64]


@final
class Distances:
    """Distances in the metric of a space; None where it has codes and no vectors."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.is_known = space.has_vectors and space.metric in METRICS
        self._is_euclidean = self.is_known and space.metric == "euclidean"
        if self._is_euclidean:
            # Words as (y, |y|^2, 1): with (-2x, 1, |x|^2) the product is |x - y|^2.
            # Seen from the centroid, norms and their rounding are smallest.
            self._words = np.ones((space.vocab_size, space.dim + 2))
            words = self._words[:, :-2]
            np.subtract(space.vectors, space.unknown, out=words)
            self._words[:, -2] = np.einsum("ij,ij->i", words, words)
            canonical = space.canonical
            self._has_duplicates = bool((canonical != np.arange(len(canonical))).any())

    def rows(self, ids: Ids) -> Floats | None:
        """Distances of inputs (rows) to words, 0 exactly where they share a point."""
        return next(self.stripes(ids, len(ids)))[1]

    def stripes(self, ids: Ids, size: int) -> Iterator[tuple[Ids, Floats | None]]:
        """Yield some inputs at a time with their distances to all words."""
        # One large product for all of them, then roots while a stripe is in the cache.
        squared = self._squared(ids) if self._is_euclidean else None
        for start in range(0, len(ids), size):
            some = ids[start : start + size]
            if squared is not None:
                yield some, self._roots(some, squared[start : start + size])
            elif self.is_known:
                points, words = self.space.points(some), self.space.vectors
                yield some, distances(self.space.metric, points, words)
            else:
                yield some, None

    def _squared(self, ids: Ids) -> Floats:
        points = self.space.points(ids) - self.space.unknown
        queries = np.ones((len(ids), self.space.dim + 2))
        queries[:, :-2] = -2 * points
        queries[:, -1] = np.einsum("ij,ij->i", points, points)
        return np.asarray(queries @ self._words.T)

    def _roots(self, ids: Ids, table: Floats) -> Floats:
        """Turn squared distances, up to rounding, into distances; in place."""
        np.maximum(table, 0.0, out=table)
        np.sqrt(table, out=table)
        if self._has_duplicates:
            canonical = self.space.canonical
            table[canonical[ids][:, None] == canonical[:-1]] = 0.0
        else:
            words = np.flatnonzero(ids < self.space.vocab_size)
            table[words, ids[words]] = 0.0
        return table
