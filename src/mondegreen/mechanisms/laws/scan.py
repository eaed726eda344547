"""Distances from inputs to the words near them, with a bound on their error."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import Final, Protocol, final

import numpy as np

from mondegreen.arrays import Floats, Ids, Vectors, slices
from mondegreen.space.metric import distances, relative_error
from mondegreen.space.space import Space

_CHUNK_WORDS: Final = 8192
LARGEST_WHOLE: Final = 4096
"""Words of the largest space whose laws are never made again in parts."""
_HARMLESS: Final = 2.0**-13
"""Error of distances, as a share of the smallest, that rounding may bring."""


class Scan(Protocol):
    """Finds the words with a score below a cutoff: a distance, or another one."""

    def near(self, block: Ids, cutoff: float) -> Iterator[tuple[Ids, Floats]]:
        """Yield for each canonical input the words below the cutoff, and scores."""


@functools.lru_cache(maxsize=2)
def build_scan(space: Space) -> EuclideanScan | MetricScan:
    """The scan for the metric of a space, which the laws on it share."""
    return EuclideanScan(space) if space.metric == "euclidean" else MetricScan(space)


@final
class MetricScan:
    """Any metric of :mod:`mondegreen.space.distances`, by its formula in float64."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._error = relative_error(space.metric, space.vectors, space.unknown)
        self.inputs = space.points

    def near(self, block: Ids, cutoff: float) -> Iterator[tuple[Ids, Floats]]:
        """Yield for each input the words below the cutoff, and distances."""
        points = self._space.points(block)
        for row in distances(self._space.metric, points, self._space.vectors):
            near = np.flatnonzero(row < cutoff).astype(np.int32)
            yield near, row[near]

    def error(self, closest: float, cutoff: float) -> float:
        """The largest error of ``min(distance, cutoff)``: a share of it."""
        return self._error * cutoff


@final
class EuclideanScan:
    r"""Squared distances by products: float32 for candidates, float64 for the rest.

    In a large space coordinates are first rounded to multiples of a power of two,
    :math:`2^{-q}`, so coarse that every partial sum of the products is a whole number
    below :math:`2^{53}` of units :math:`2^{-2q}`: with :math:`M` the largest norm,
    :math:`4 M^2 2^{2q} \le 2^{53}`. Then nothing is ever rounded, and a squared
    distance is the same number whatever the order of summation, the shape of the
    product, the number of threads or the library; the error is what rounding the
    coordinates makes of distances. That is not done (``is_exact`` is False) where
    inputs are so close together that this error would count.
    """

    def __init__(self, space: Space) -> None:
        self._space = space
        self._step = _grid(space)
        self.is_exact = self._step > 0
        # Words as (y, |y|^2, 1): with (-2x, 1, |x|^2) the product is |x - y|^2.
        self._words = np.ones((space.vocab_size, space.dim + 2), dtype=np.float32)
        # Coordinates fit into float32 exactly; squares do not, so they are kept in
        # both.
        self._norms = np.empty(space.vocab_size)
        for part in _parts(space):
            wide = _round(space.vectors[part].astype(np.float64), self._step)
            self._words[part, :-2] = wide
            self._norms[part] = np.einsum("ij,ij->i", wide, wide)
        self._words[:, -2] = self._norms
        # L, the largest squared norm; sigma = 8 (n + 8) u L bounds the error of a
        # squared distance for u = 2^-53 (docs/proofs/integer-weights.md, step 2).
        largest = max(float(self._norms.max()), float(space.unknown @ space.unknown))
        # Rounding of a squared distance by its three terms, in double precision.
        self._slack = 8.0 * (space.dim + 8) * 2.0**-53 * largest
        # The same in single precision, which only looks for candidates.
        self._short_slack = 8.0 * (space.dim + 8) * 2.0**-24 * largest
        canonical = space.canonical
        self._has_duplicates = bool((canonical != np.arange(len(canonical))).any())

    def error(self, closest: float, cutoff: float) -> float:
        """The largest error of ``min(distance, cutoff)``; equal points have none.

        ``closest`` is the smallest positive distance.
        """
        if self.is_exact:
            # What rounding coordinates moves; the last is for the square root.
            return _grid_error(self._space, self._step) + 2.0**-52 * cutoff
        # |d~ - d| <= sigma / (d~ + d), where d~ + d is at least `closest`, and at least
        # |d~ - d| itself.
        error = math.sqrt(self._slack)
        return min(error, self._slack / closest) if closest else error

    def inputs(self, block: Ids) -> Vectors:
        """The points that inputs have here."""
        return _round(self._space.points(block), self._step)

    def queries(self, block: Ids) -> Vectors:
        """Inputs as ``(-2x, 1, |x|^2)``, in double precision."""
        points = self.inputs(block)
        queries = np.ones((len(points), self._space.dim + 2))
        queries[:, :-2] = -2 * points
        queries[:, -1] = np.einsum("ij,ij->i", points, points)
        return queries

    def compute_squared(
        self, block: Ids, queries: Vectors, words: slice, out: Vectors
    ) -> None:
        """Fill in squared distances of canonical inputs to a range of words.

        In double precision; 0 exactly for words at the very point of an input.
        ``queries`` are those of the block.
        """
        # (words, n + 2), with squares as they are in double precision.
        wide = self._words[words].astype(np.float64)
        wide[:, -2] = self._norms[words]
        np.matmul(queries, wide.T, out=out)
        if self._has_duplicates:
            out[block[:, None] == self._space.canonical[words]] = 0.0
        else:
            own = np.flatnonzero((block >= words.start) & (block < words.stop))
            out[own, block[own] - words.start] = 0.0

    def near(self, block: Ids, cutoff: float) -> Iterator[tuple[Ids, Floats]]:
        """Yield for each input the words below the cutoff, and distances."""
        found = self._squares(block, cutoff)
        for point, (near, squared) in zip(block.tolist(), found, strict=True):
            # A word at the very point of the input is at distance 0, not at the root
            # of a rounding error.
            squared[point == self._space.canonical[near]] = 0.0
            inside = squared < cutoff**2
            yield near[inside], np.sqrt(np.maximum(squared[inside], 0.0))

    def _squares(self, block: Ids, cutoff: float) -> Iterator[tuple[Ids, Floats]]:
        """Yield for each input words that may be near, and squared distances.

        Products in float32 find the words that may be near; if these are few, only
        their distances are computed in float64, else all of them.
        """
        count = self._space.vocab_size
        points, queries = self.inputs(block), self.queries(block)
        if cutoff == self._space.geometry.diameter:
            everything = np.arange(count, dtype=np.int32)
            yield from ((everything, row) for row in self._to_all(block, queries))
            return
        # (rows, V). A rough square is off by at most the slack, so no word nearer than
        # the cutoff is missed; those beyond it are dropped by `near`.
        rough = queries.astype(np.float32) @ self._words.T
        maybe = rough <= cutoff**2 + self._short_slack
        wide = maybe.sum(axis=1) > count // 64
        dense = iter(self._to_all(block[wide], queries[wide]))
        for point, is_wide, mask in zip(points, wide.tolist(), maybe, strict=True):
            near = np.flatnonzero(mask).astype(np.int32)
            if is_wide:
                yield near, next(dense)[near]
            else:
                # From differences: on the grid the same whole number of units as by
                # products, and off it nearer to the true one.
                gaps = self._words[near, :-2].astype(np.float64) - point
                yield near, np.einsum("ij,ij->i", gaps, gaps)

    def _to_all(self, block: Ids, queries: Vectors) -> Vectors:
        """Squared distances to all words in double precision, (rows, V)."""
        squared = np.empty((len(block), self._space.vocab_size))
        if len(block):
            for words in _parts(self._space):
                self.compute_squared(block, queries, words, squared[:, words])
        return squared


def _grid(space: Space) -> float:
    """The step that coordinates are rounded to; 0 leaves them as they are."""
    if space.vocab_size <= LARGEST_WHOLE:
        return 0.0
    norms, sizes = [space.unknown @ space.unknown], [np.abs(space.unknown).max()]
    for part in _parts(space):
        wide = space.vectors[part].astype(np.float64)
        norms.append(np.einsum("ij,ij->i", wide, wide).max())
        sizes.append(np.abs(wide).max())
    largest = float(max(norms))
    if not 2.0**-60 < largest < 2.0**60:
        return 0.0
    # Sums below 2^53 units, with a little room for rounding the norms up; and
    # coordinates of 24 bits, which float32 holds.
    # frexp gives e with 4 L < 2^e, so that 4 L 2^{2 q} <= 2^53 for 2 q = 53 - e.
    bits = (53 - math.frexp(4.0 * largest * (1 + 2.0**-10))[1]) // 2
    step = 2.0 ** -min(bits, 24 - math.frexp(float(max(sizes)))[1])
    closest = space.geometry.closest
    return step if _grid_error(space, step) <= _HARMLESS * closest else 0.0


def _round(points: Vectors, step: float) -> Vectors:
    """Points with coordinates rounded to multiples of a power of two."""
    if not step:
        return points
    scaled = points * (1 / step)  # exact, as a power of two is
    np.rint(scaled, out=scaled)
    scaled *= step
    return scaled


@functools.lru_cache(maxsize=4)
def _grid_error(space: Space, step: float) -> float:
    """The most that rounding moves an input from a word, or towards it."""

    def bound_move(points: Vectors) -> float:
        gaps = points - _round(points, step)
        return float(np.sqrt(np.einsum("ij,ij->i", gaps, gaps).max())) * (1 + 1e-9)

    parts = _parts(space)
    farthest = max(bound_move(space.vectors[part].astype(np.float64)) for part in parts)
    return farthest + max(farthest, bound_move(space.unknown[None]))


def _parts(space: Space) -> Iterator[slice]:
    """The words, a chunk at a time: coordinates in float64 take much memory."""
    return slices(space.vocab_size, _CHUNK_WORDS)
