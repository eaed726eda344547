"""Distances of a whole space: what one unit of epsilon is worth on it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats, Ids, Vectors, slices
from mondegreen.errors import SpaceError, SpaceIntegrityError
from mondegreen.space.metric import distances as distances_of
from mondegreen.space.metric import norm_distances, relative_error

_TILE_ROWS = 2048
_ASKED = 64

Floats32 = NDArray[np.float32]


@final
@dataclass(frozen=True, slots=True)
class Geometry:
    """Distances between the points of a space, in the metric of the space.

    Parameters
    ----------
    closest : float
        The smallest positive distance between two inputs, the unknown point
        included; 0.0 where all inputs lie at one point. Never above the true value.
    nearest : float
        Median over words of the distance to the nearest other word.
    mean : float
        Mean over all ordered pairs of distinct words.
    diameter : float
        The largest distance between two inputs. Never below the true value.
    """

    closest: float
    nearest: float
    mean: float
    diameter: float

    @property
    def is_finite(self) -> bool:
        values = self.to_dict().values()
        return all(isinstance(each, float) and 0 <= each < np.inf for each in values)

    def to_dict(self) -> dict[str, float]:
        """Return the four numbers by name.

        Returns
        -------
        dict of str to float
            Closest, nearest, mean and diameter, in units of distance.
        """
        return asdict(self)


def unknown_point(vectors: Vectors) -> Vectors:
    """The point of the unknown word: the centroid, float64.

    Where the centroid is a word but for rounding, it is that word exactly. Two inputs
    a rounding error apart would ask every law to be that smooth.
    """
    centroid: Vectors = np.array(vectors.mean(axis=0, dtype=np.float64))
    gaps = _gaps(vectors, centroid, "euclidean")
    nearest = int(gaps.argmin())
    is_word = gaps[nearest] <= 1e-6 * np.linalg.norm(centroid)
    return np.array(vectors[nearest], dtype=np.float64) if is_word else centroid


def _gaps(vectors: Vectors, point: Vectors, metric: str) -> Floats:
    """Distances of words to a point."""
    if metric != "euclidean":
        return distances_of(metric, point[None], vectors).ravel()
    parts = slices(len(vectors), _TILE_ROWS)
    gaps = (vectors[part].astype(np.float64) - point for part in parts)
    return np.concatenate([np.linalg.norm(each, axis=1) for each in gaps])


def measure(
    vectors: Vectors,
    unknown: Vectors,
    progress: Callable[[int], object] = lambda done: None,
    *,
    metric: str = "euclidean",
) -> Geometry:
    """Measure all pairwise distances, in tiles of bounded memory.

    In Euclidean spaces float32 products find the candidates; whatever could be the
    closest pair is computed again in float64, so that ``closest`` is a bound and not
    a guess. The vectors may be memory-mapped: they are read tile by tile.
    """
    is_euclidean, slack = metric == "euclidean", 0.0
    found = _gaps(vectors, unknown, metric)
    closest = float(found.min(where=found > 0, initial=np.inf))
    farthest = float(found.max())
    if is_euclidean:
        farthest = farthest**2
        if not farthest < float(np.finfo(np.float32).max) / 8:
            problem = "the coordinates are too large to measure distances in float32"
            raise SpaceError(problem)
        # |fl(x.y) - x.y| <= n u |x||y| to first order; 4 covers the three terms of the
        # squared distance, and 8 more the rounding of the centred points to float32.
        slack = 4.0 * (vectors.shape[1] + 8) * 2.0**-24 * max(farthest, 1e-30)
    # Not by `Distances`: it knows a space, which needs these numbers first, and float64
    # tiles round otherwise, which would change the digest of every space.
    words, point = Neighbours(len(vectors)), canonical_ids(vectors)
    table: NDArray[np.floating]
    for i in range(0, len(vectors), _TILE_ROWS):
        left = _Tile.of(vectors, i, unknown)
        for j in range(i, len(vectors), _TILE_ROWS):
            right = left if i == j else _Tile.of(vectors, j, unknown)
            same = point[i : i + _TILE_ROWS, None] == point[j : j + _TILE_ROWS]
            if is_euclidean:
                table = left.squared_distances_to(right)
                table[same] = np.inf
                closest = _closest_pair(left.exact, right.exact, table, closest, slack)
            else:
                table = distances_of(metric, left.exact, right.exact)
                apart = np.min(table, where=~same, initial=np.inf)
                closest = min(closest, float(apart))
            table[same] = 0.0
            farthest = max(farthest, float(table.max()))
            if is_euclidean:
                np.sqrt(np.maximum(table, 0.0, out=table), out=table)
            words.add(i, j, table)
        progress(min(i + _TILE_ROWS, len(vectors)))
    if is_euclidean:
        farthest = float(np.sqrt(farthest + slack)) if farthest > 0 else 0.0
        # More than the float64 norm can be off.
        error = (vectors.shape[1] + 8) * 2.0**-52
    else:
        error = relative_error(metric, vectors, unknown)
        farthest *= 1 + error
    # Six digits of what processors round apart, which is part of the digest.
    return Geometry(
        closest=closest * (1 - error) if np.isfinite(closest) else 0.0,
        nearest=float(f"{words.median_nearest:.6g}"),
        mean=float(f"{words.mean:.6g}"),
        diameter=round_up(farthest),
    )


def round_up(value: float) -> float:
    """Six digits that are never less.

    >>> round_up(1.2345611), round_up(2.0)
    (1.23457, 2.0)
    """
    rounded, above = float(f"{value:.6g}"), float(f"{value * (1 + 1e-5):.6g}")
    return rounded if rounded >= value else above


@final
class Neighbours:
    """The nearest other word of every word, and the mean distance, from tiles."""

    def __init__(self, count: int) -> None:
        self._pairs = count * (count - 1)
        self._total = 0.0
        self._lock = threading.Lock()
        self.nearest = np.full(count, np.inf)

    def add(self, i: int, j: int, table: NDArray[np.floating]) -> None:
        """Take distances of words i + a and j + b, i <= j; they stay as they are."""
        total = float(table.sum(dtype=np.float64))
        if i == j:
            np.fill_diagonal(table, np.inf)
        rows = table.min(axis=1, initial=np.inf)
        columns = table.min(axis=0, initial=np.inf)
        if i == j:
            np.fill_diagonal(table, 0.0)
        with self._lock:
            self._total += total if i == j else 2 * total
            for start, least in ((i, rows), (j, columns)):
                part = self.nearest[start : start + len(least)]
                np.minimum(part, least, out=part)

    @property
    def median_nearest(self) -> float:
        return float(np.median(self.nearest)) if self._pairs else 0.0

    @property
    def mean(self) -> float:
        return self._total / self._pairs if self._pairs else 0.0


def check_geometry(
    stated: Geometry, vectors: Vectors, unknown: Vectors, metric: str, name: str
) -> None:
    """Refuse distances that contradict each other or those of some inputs.

    The author of a forged file can avoid those inputs. Certifying a law, and
    ``mondegreen space verify``, check all pairs.
    """
    some = np.unique(np.linspace(0, len(vectors) - 1, _ASKED).astype(int))
    points = np.concatenate([vectors[some].astype(np.float64), unknown[None]])
    found = distances_of(metric, points, points)
    error = relative_error(metric, vectors[some], unknown)
    positive = float(found.min(where=found > 0, initial=np.inf))
    largest, values = found.max() * (1 - error), stated.to_dict().values()
    if not (
        stated.is_finite
        and (stated.closest or bool((vectors == unknown).all()))
        and stated.closest <= positive * (1 + error)
        and max(largest, *values) <= stated.diameter
    ):
        raise report_misstated(name)


def check_measured(stated: Geometry, now: Geometry, name: str) -> None:
    """Refuse distances that differ from those measured now.

    By more than the last digits, in which another processor may differ.
    """
    was, found = stated.to_dict(), now.to_dict()
    is_safe = stated.closest <= now.closest * (1 + 1e-9)
    if not is_safe or not np.allclose([*was.values()], [*found.values()], rtol=1e-4):
        raise report_misstated(name)


def report_misstated(name: str) -> SpaceIntegrityError:
    return SpaceIntegrityError(
        f"space {name!r}: its distances are misstated; build it again from its vectors"
    )


def estimate(vectors: Vectors, unknown: Vectors, transform: Vectors) -> Geometry:
    """Measure a space seen through a linear map, from an even sample of its words.

    ``nearest`` and ``mean`` are taken over at most 512 words against all others.
    ``closest`` and ``diameter`` are bounds: what the singular values of the map leave
    of zero, and twice the largest distance from the unknown point.
    """
    points = (vectors.astype(np.float64) - unknown) @ transform.T
    squares = np.einsum("ij,ij->i", points, points)
    sample = np.unique(np.linspace(0, len(points) - 1, 512).astype(int))
    squared = squares[sample, None] + squares - 2 * points[sample] @ points.T
    distances = np.sqrt(np.maximum(squared, 0.0))
    others = len(points) - 1
    total = float(distances.sum())
    distances[np.arange(len(sample)), sample] = np.inf
    return Geometry(
        closest=0.0,
        nearest=float(np.median(distances.min(axis=1))) if others else 0.0,
        mean=total / (len(sample) * others) if others else 0.0,
        diameter=2 * float(np.sqrt(squares.max())),
    )


def estimate_in_norm(
    vectors: Vectors, unknown: Vectors, norm: str, euclidean: Geometry
) -> Geometry:
    r"""Measure a Euclidean space in the Manhattan or Chebyshev norm.

    ``nearest`` and ``mean`` are taken over at most 64 words against all others.
    ``closest`` and ``diameter`` are bounds, from :math:`\|x\|_\infty \le \|x\|_2 \le
    \|x\|_1`, :math:`\|x\|_1 \le \sqrt n \|x\|_2`, :math:`\|x\|_2 \le \sqrt n
    \|x\|_\infty`, and from the widths of the coordinates, whose largest *is* the
    Chebyshev diameter.
    """
    root = float(np.sqrt(vectors.shape[1]))
    low = np.minimum(vectors.min(axis=0).astype(np.float64), unknown)
    widths = np.maximum(vectors.max(axis=0).astype(np.float64), unknown) - low
    if norm == "chebyshev":
        closest, diameter = euclidean.closest / root, float(widths.max())
    else:
        around = norm_distances(norm, unknown[None], vectors)
        bounds = (widths.sum(), 2 * around.max(), root * euclidean.diameter)
        # More than what sums in float64 can be off.
        diameter = float(min(bounds)) * (1 + 1e-9)
        closest = euclidean.closest
    sample = np.unique(np.linspace(0, len(vectors) - 1, 64).astype(int))
    distances = norm_distances(norm, vectors[sample], vectors)
    others = len(vectors) - 1
    total = float(distances.sum())
    distances[np.arange(len(sample)), sample] = np.inf
    return Geometry(
        closest=closest * (1 - 1e-9),
        nearest=float(np.median(distances.min(axis=1))) if others else 0.0,
        mean=total / (len(sample) * others) if others else 0.0,
        diameter=round_up(diameter),
    )


def scale_covariance(vectors: Vectors) -> Vectors:
    """The sample covariance of public vectors, scaled to trace n.

    The identity where all vectors are equal, since then every scale is as good.
    """
    dim = vectors.shape[1]
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    covariance = centred.T @ centred
    trace = float(np.trace(covariance))
    return covariance * (dim / trace) if trace > 0 else np.eye(dim)


def canonical_ids(vectors: Vectors, unknown: Vectors | None = None) -> Ids:
    """For each word, and for the unknown one if given, the lowest id at its point."""
    size = vectors.dtype.itemsize
    bits = np.array(vectors, order="C").view(f"u{size}")
    bits[bits == 1 << (8 * size - 1)] = 0  # -0.0 is the point 0.0
    _, first, inverse = np.unique(
        _fingerprints(bits), return_index=True, return_inverse=True
    )
    lowest = first[inverse]
    others = np.flatnonzero(lowest != np.arange(len(bits)))
    if (bits[lowest[others]] != bits[others]).any():  # one fingerprint of two points
        _, first, inverse = np.unique(
            bits, axis=0, return_index=True, return_inverse=True
        )
        lowest = first[inverse.ravel()]
    if unknown is not None:
        maybe = np.flatnonzero(vectors[:, 0] == unknown[0])
        there = maybe[(vectors[maybe] == unknown).all(axis=1)]
        lowest = np.append(lowest, there[0] if len(there) else len(vectors))
    return lowest.astype(np.int32)


def _fingerprints(bits: NDArray[np.unsignedinteger]) -> NDArray[np.uint64]:
    """A number per row, equal for equal rows and rarely for others."""
    rng, found = np.random.default_rng(0), np.zeros(len(bits), dtype=np.uint64)
    factors = rng.integers(1 << 62, size=(bits.shape[1],), dtype=np.uint64) * 2 + 1
    for column, factor in zip(bits.T, factors, strict=True):
        found += column * factor
    return found


class _Tile(NamedTuple):
    """Some words: in float64; and in float32, seen from the centroid, with squares."""

    exact: Floats
    points: Floats32
    squares: Floats32

    @classmethod
    def of(cls, vectors: Vectors, start: int, centre: Vectors) -> _Tile:
        exact = vectors[start : start + _TILE_ROWS].astype(np.float64)
        centred = exact - centre
        squares = np.einsum("ij,ij->i", centred, centred)
        return cls(exact, centred.astype(np.float32), squares.astype(np.float32))

    def squared_distances_to(self, other: _Tile) -> Floats32:
        squared: Floats32 = np.multiply(self.points, -2) @ other.points.T
        squared += self.squares[:, None]
        squared += other.squares
        return squared


def _closest_pair(
    left: Floats, right: Floats, squared: Floats32, closest: float, slack: float
) -> float:
    """The smallest exact distance seen so far.

    A pair whose float32 square exceeds the smallest one by two slacks is farther.
    """
    smallest = float(squared.min())
    if smallest == np.inf:  # a tile of one point has no pairs
        return closest
    limit = min(smallest + 2 * slack, closest**2 + slack)
    rows, columns = np.nonzero(squared <= limit)
    for part in slices(len(rows), _TILE_ROWS):
        gaps = left[rows[part]] - right[columns[part]]
        closest = min(closest, float(np.linalg.norm(gaps, axis=1).min()))
    return closest
