"""Distances from inputs to the words near them, with a bound on their error."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import Final, Protocol, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids, Vectors
from mondegreen.space.metric import distances, relative_error
from mondegreen.space.space import Space

__all__ = ["EuclideanScan", "MetricScan", "Scan", "scan_of"]

_CHUNK_WORDS: Final = 8192
_FEWEST_ROWS: Final = 16
"""A product of fewer rows may be summed in another order than one of many."""


class Scan(Protocol):
    """Finds the words near inputs, whatever the metric of the space."""

    def near(
        self, block: Ids, cutoff: float
    ) -> Iterator[tuple[Ids, NDArray[np.float64]]]:
        """Yield for each canonical input the words below the cutoff, and distances.

        A word at the very point of the input is at distance 0 exactly.
        """

    def error(self, closest: float, cutoff: float) -> float:
        """Return the largest error of ``min(distance, cutoff)``.

        ``closest`` is the smallest positive distance; equal points have no error.
        """


@functools.lru_cache(maxsize=2)
def scan_of(space: Space) -> Scan:
    """Return the scan for the metric of a space, which the laws on it share."""
    return EuclideanScan(space) if space.metric == "euclidean" else MetricScan(space)


@final
class MetricScan:
    """Any metric of :mod:`mondegreen.space.metric`, by its formula in float64."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._error = relative_error(space.metric, space.vectors, space.unknown)

    def near(
        self, block: Ids, cutoff: float
    ) -> Iterator[tuple[Ids, NDArray[np.float64]]]:
        """Yield for each input the words below the cutoff, and distances."""
        points = self._space.points(block)
        for row in distances(self._space.metric, points, self._space.vectors):
            near = np.flatnonzero(row < cutoff).astype(np.int32)
            yield near, row[near]

    def error(self, closest: float, cutoff: float) -> float:
        """Return the largest error: a share of the distance, up to the cutoff."""
        return self._error * cutoff


@final
class EuclideanScan:
    """Squared distances by products: float32 for candidates, float64 for the rest."""

    def __init__(self, space: Space) -> None:
        self._space = space
        # Words as (y, |y|^2, 1): with (-2x, 1, |x|^2) the product is |x - y|^2.
        self._words = np.ones((space.vocab_size, space.dim + 2), dtype=np.float32)
        self._words[:, :-2] = space.vectors
        self._norms = _squared_norms(space.vectors)
        self._words[:, -2] = self._norms
        largest = max(float(self._norms.max()), float(space.unknown @ space.unknown))
        # Rounding of a squared distance by its three terms, in double precision.
        self._slack = 8.0 * (space.dim + 8) * 2.0**-53 * largest
        # The same in single precision, which only looks for candidates.
        self._short_slack = 8.0 * (space.dim + 8) * 2.0**-24 * largest
        # Words by the point that they lie at.
        points = space.canonical[:-1]
        self._by_point = np.argsort(points, kind="stable")
        self._points = points[self._by_point]

    def error(self, closest: float, cutoff: float) -> float:
        """Return the largest error of a distance."""
        error = math.sqrt(self._slack)
        return min(error, self._slack / closest) if closest else error

    def queries(self, block: Ids) -> Vectors:
        """Return inputs as ``(-2x, 1, |x|^2)``, in double precision."""
        points = self._space.points(block)
        queries = np.ones((len(points), self._space.dim + 2))
        queries[:, :-2] = -2 * points
        queries[:, -1] = np.einsum("ij,ij->i", points, points)
        return queries

    def squared(self, block: Ids, queries: Vectors, words: slice, out: Vectors) -> None:
        """Fill in squared distances of canonical inputs to a range of words.

        In double precision; 0 exactly for words at the very point of an input.
        ``queries`` are those of the block. The company of an input is not meant to
        matter, down to the last bit: few rows are filled up with zeros.
        """
        wide = self._words[words].astype(np.float64)
        wide[:, -2] = self._norms[words]
        if len(block) < _FEWEST_ROWS:
            filled = np.zeros((_FEWEST_ROWS, queries.shape[1]))
            filled[: len(block)] = queries
            out[:] = (filled @ wide.T)[: len(block)]
        else:
            np.matmul(queries, wide.T, out=out)
        starts = np.searchsorted(self._points, block).tolist()
        stops = np.searchsorted(self._points, block, side="right").tolist()
        for row, (start, stop) in enumerate(zip(starts, stops, strict=True)):
            for word in self._by_point[start:stop].tolist():
                if words.start <= word < words.stop:
                    out[row, word - words.start] = 0.0

    def near(
        self, block: Ids, cutoff: float
    ) -> Iterator[tuple[Ids, NDArray[np.float64]]]:
        """Yield for each input the words below the cutoff, and distances."""
        canonical = self._space.canonical
        for point, (near, squared) in zip(
            block.tolist(), self._squares(block, cutoff), strict=True
        ):
            # A word at the very point of the input is at distance 0, not at the root
            # of a rounding error.
            squared[point == canonical[near]] = 0.0
            inside = squared < cutoff**2
            yield near[inside], np.sqrt(np.maximum(squared[inside], 0.0))

    def _squares(
        self, block: Ids, cutoff: float
    ) -> Iterator[tuple[Ids, NDArray[np.float64]]]:
        """Yield for each input words that may be near, and squared distances.

        Products in float32 find the words that may be near; if these are few, only
        their distances are computed in float64, else all of them.
        """
        count = self._space.vocab_size
        points, queries = self._space.points(block), self.queries(block)
        if cutoff == self._space.geometry.diameter:
            everything = np.arange(count, dtype=np.int32)
            yield from ((everything, row) for row in self._squared_distances(queries))
            return
        rough = queries.astype(np.float32) @ self._words.T
        maybe = rough <= cutoff**2 + self._short_slack
        wide = maybe.sum(axis=1) > count // 64
        dense = iter(self._squared_distances(queries[wide]))
        for point, is_wide, mask in zip(points, wide.tolist(), maybe, strict=True):
            near = np.flatnonzero(mask).astype(np.int32)
            if is_wide:
                yield near, next(dense)[near]
            else:
                gaps = self._words[near, :-2].astype(np.float64) - point
                yield near, np.einsum("ij,ij->i", gaps, gaps)

    def _squared_distances(self, queries: Vectors) -> NDArray[np.float64]:
        """Return squared distances to all words in double precision, (rows, V)."""
        count = self._space.vocab_size
        squared = np.empty((len(queries), count))
        if len(queries):
            for start in range(0, count, _CHUNK_WORDS):
                words = slice(start, start + _CHUNK_WORDS)
                wide = self._words[words].astype(np.float64)
                wide[:, -2] = self._norms[words]
                np.matmul(queries, wide.T, out=squared[:, words])
        return squared


def _squared_norms(vectors: Vectors) -> NDArray[np.float64]:
    """Return squared norms in double precision, chunk by chunk."""
    norms = np.empty(len(vectors))
    for start in range(0, len(vectors), _CHUNK_WORDS):
        wide = vectors[start : start + _CHUNK_WORDS].astype(np.float64)
        norms[start : start + _CHUNK_WORDS] = np.einsum("ij,ij->i", wide, wide)
    return norms
