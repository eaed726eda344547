"""Distances from inputs to all words, block by block, for laws and for scores."""

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
class Gaps:
    """Distances from inputs to all words of a space, block by block.

    Parameters
    ----------
    space : Space
        In its own metric; a space of codes alone has no distances.
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        self._is_euclidean = space.has_vectors and space.metric == "euclidean"
        if self._is_euclidean:
            # Words as (y, |y|^2, 1): with (-2x, 1, |x|^2) the product is |x - y|^2.
            # Seen from the centroid, norms and their rounding are smallest.
            self._words = np.ones((space.vocab_size, space.dim + 2))
            words = self._words[:, :-2]
            np.subtract(space.vectors, space.unknown, out=words)
            self._words[:, -2] = np.einsum("ij,ij->i", words, words)
            canonical = space.canonical
            self._has_duplicates = bool((canonical != np.arange(len(canonical))).any())

    def stripes(self, ids: Ids, size: int) -> Iterator[tuple[Ids, Floats | None]]:
        """Yield some inputs at a time with their distances to all words."""
        squared = self._squared(ids) if self._is_euclidean else None
        for start in range(0, len(ids), size):
            part = slice(start, start + size)
            yield ids[part], self._finished(ids[part], squared, part)

    def rows(self, ids: Ids) -> Floats | None:
        """Return distances of inputs (rows) to words, 0 exactly at one point."""
        return next(self.stripes(ids, len(ids)))[1]

    def _squared(self, ids: Ids) -> Floats:
        """Return squared distances, up to rounding."""
        points = self.space.points(ids) - self.space.unknown
        queries = np.ones((len(ids), self.space.dim + 2))
        queries[:, :-2] = -2 * points
        queries[:, -1] = np.einsum("ij,ij->i", points, points)
        return np.asarray(queries @ self._words.T)

    def _finished(self, ids: Ids, squared: Floats | None, part: slice) -> Floats | None:
        """Return distances, from squared ones where there are any; overwrites them."""
        if squared is None:
            if not self.space.has_vectors or self.space.metric not in METRICS:
                return None
            points = self.space.points(ids)
            return distances(self.space.metric, points, self.space.vectors)
        table = squared[part]
        np.maximum(table, 0.0, out=table)
        np.sqrt(table, out=table)
        self._set_zeros(table, ids)
        return table

    def _set_zeros(self, table: Floats, ids: Ids) -> None:
        """Put a word at the very point of the input at distance 0 exactly."""
        if self._has_duplicates:
            canonical = self.space.canonical
            table[canonical[ids][:, None] == canonical[:-1]] = 0.0
        else:
            words = np.flatnonzero(ids < self.space.vocab_size)
            table[words, ids[words]] = 0.0
