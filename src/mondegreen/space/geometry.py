"""Distances of a whole space: what one unit of epsilon is worth on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids, Vectors
from mondegreen.errors import SpaceError, SpaceIntegrityError
from mondegreen.space.metric import distances as distances_of
from mondegreen.space.metric import relative_error

_TILE_ROWS = 2048
_ASKED = 64
_TILE_BYTES = 32 << 20

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
        return all(
            isinstance(value, float) and 0 <= value < np.inf
            for value in self.to_dict().values()
        )

    def to_dict(self) -> dict[str, float]:
        """Return the four numbers by name."""
        return asdict(self)


def unknown_point(vectors: Vectors) -> Vectors:
    """The point of the unknown word: the centroid, float64, shape (n,).

    Where the centroid is a word but for rounding, it is that word exactly. Two inputs
    a rounding error apart would ask every law to be that smooth.
    """
    centroid: Vectors = np.array(vectors.mean(axis=0, dtype=np.float64))
    nearest, least = centroid, np.inf
    for start in range(0, len(vectors), _TILE_ROWS):
        rows = vectors[start : start + _TILE_ROWS].astype(np.float64)
        gaps = np.linalg.norm(rows - centroid, axis=1)
        if gaps.min() < least:
            nearest, least = rows[int(gaps.argmin())].copy(), float(gaps.min())
    return nearest if least <= 1e-6 * np.linalg.norm(centroid) else centroid


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
    if metric != "euclidean":
        return _measure_directly(vectors, unknown, metric, progress)
    kept, counts = _distinct(vectors)
    # Seen from the centroid the norms, and so the rounding errors, are smallest.
    from_unknown = np.concatenate(
        [np.linalg.norm(_rows(vectors, part) - unknown, axis=1) for part in kept]
    )
    largest = float(from_unknown.max()) ** 2
    if not largest < float(np.finfo(np.float32).max) / 8:
        raise SpaceError(
            "the coordinates are too large to measure distances in float32"
        )
    # |fl(x.y) - x.y| <= n u |x||y| to first order; 4 covers the three terms of the
    # squared distance, and 8 more the rounding of the centred points to float32.
    slack = 4.0 * (vectors.shape[1] + 8) * 2.0**-24 * max(largest, 1e-30)
    positive = from_unknown[from_unknown > 0]
    closest = float(positive.min()) if len(positive) else np.inf
    total, farthest = 0.0, largest
    nearest = [np.where(count > 1, 0.0, np.inf).astype(np.float32) for count in counts]
    for i, part in enumerate(kept):
        left = _centred(vectors, part, unknown)
        for j in range(i, len(kept)):
            right = left if i == j else _centred(vectors, kept[j], unknown)
            squared = _squared_gaps(left, right)
            if i == j:
                np.fill_diagonal(squared, np.inf)
            closest = _closest_pair(vectors, part, kept[j], squared, closest, slack)
            nearest[i] = np.minimum(nearest[i], squared.min(axis=1))
            nearest[j] = np.minimum(nearest[j], squared.min(axis=0))
            if i == j:
                np.fill_diagonal(squared, 0.0)
            farthest = max(farthest, float(squared.max()))
            distances = np.sqrt(np.maximum(squared, 0.0, out=squared), out=squared)
            sums = (distances @ counts[j]).astype(np.float64)
            total += (1 if i == j else 2) * float(counts[i] @ sums)
        progress(int(part[-1]) + 1)
    per_word = np.repeat(np.concatenate(nearest), np.concatenate(counts).astype(int))
    pairs = len(vectors) * (len(vectors) - 1)
    return _digits(
        # Rounded down by more than the float64 norm can be off.
        closest=closest * (1 - (vectors.shape[1] + 8) * 2.0**-52),
        nearest=float(np.median(np.sqrt(np.maximum(per_word, 0.0)))) if pairs else 0.0,
        mean=total / pairs if pairs else 0.0,
        diameter=float(np.sqrt(farthest + slack)) if farthest > 0 else 0.0,
    )


def _digits(closest: float, nearest: float, mean: float, diameter: float) -> Geometry:
    """Keep six digits of what processors round apart, which is part of the digest."""
    rounded = float(f"{diameter:.6g}")
    if rounded < diameter:
        rounded = float(f"{diameter * (1 + 1e-5):.6g}")
    return Geometry(
        closest=closest if np.isfinite(closest) else 0.0,
        nearest=float(f"{nearest:.6g}"),
        mean=float(f"{mean:.6g}"),
        diameter=rounded,
    )


def _measure_directly(
    vectors: Vectors, unknown: Vectors, metric: str, progress: Callable[[int], object]
) -> Geometry:
    """Measure all pairs in float64, by the formula of the metric."""
    count = len(vectors)
    nearest = np.empty(count)
    from_unknown = distances_of(metric, unknown[None], vectors)
    closest = float(np.min(from_unknown, where=from_unknown > 0, initial=np.inf))
    total, diameter = 0.0, float(from_unknown.max())
    size = max(1, _TILE_BYTES // (8 * count))
    for start in range(0, count, size):
        tile = vectors[start : start + size]
        found = distances_of(metric, tile, vectors)
        total += float(found.sum())
        diameter = max(diameter, float(found.max()))
        closest = min(closest, float(np.min(found, where=found > 0, initial=np.inf)))
        own = np.arange(len(tile))
        found[own, start + own] = np.inf
        nearest[start : start + len(tile)] = found.min(axis=1)
        progress(start + len(tile))
    error = relative_error(metric, vectors, unknown)
    return _digits(
        closest=closest * (1 - error),
        nearest=float(np.median(nearest)) if count > 1 else 0.0,
        mean=total / (count * (count - 1)) if count > 1 else 0.0,
        diameter=diameter * (1 + error),
    )


def check_geometry(
    stated: Geometry, vectors: Vectors, unknown: Vectors, metric: str, name: str
) -> None:
    """Refuse distances that contradict each other or those of some inputs.

    The inputs are always the same, spread over the space, and the unknown point. Who
    makes a file can avoid them; all pairs are seen when a law is certified, and by
    ``mondegreen space verify``.
    """
    some = np.unique(np.linspace(0, len(vectors) - 1, _ASKED).astype(int))
    points = np.concatenate([vectors[some].astype(np.float64), unknown[None]])
    found = distances_of(metric, points, points)
    error = relative_error(metric, vectors[some], unknown)
    positive = float(found.min(where=found > 0, initial=np.inf))
    if not (
        stated.is_finite
        and (stated.closest or bool((vectors == unknown).all()))
        and stated.closest <= positive * (1 + error)
        and max(found.max() * (1 - error), *stated.to_dict().values())
        <= stated.diameter
    ):
        raise misstated(name)


def check_measured(stated: Geometry, now: Geometry, name: str) -> None:
    """Refuse distances that differ from those measured now.

    By more than the last digits, in which another processor may differ.
    """
    was, found = stated.to_dict(), now.to_dict()
    is_safe = stated.closest <= now.closest * (1 + 1e-9)
    if not is_safe or not np.allclose([*was.values()], [*found.values()], rtol=1e-4):
        raise misstated(name)


def misstated(name: str) -> SpaceIntegrityError:
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


def scaled_covariance(vectors: Vectors) -> Vectors:
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
    bits = _bits(vectors)
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


def _bits(vectors: Vectors) -> NDArray[np.unsignedinteger]:
    """The bits of coordinates, alike for 0.0 and -0.0."""
    size = vectors.dtype.itemsize
    bits = np.array(vectors, order="C").view(f"u{size}")
    bits[bits == 1 << (8 * size - 1)] = 0
    return bits


def _fingerprints(bits: NDArray[np.unsignedinteger]) -> NDArray[np.uint64]:
    """A number per row, equal for equal rows and rarely for others."""
    rng, found = np.random.default_rng(0), np.zeros(len(bits), dtype=np.uint64)
    factors = rng.integers(1 << 62, size=(bits.shape[1],), dtype=np.uint64) * 2 + 1
    for column in range(bits.shape[1]):
        found += bits[:, column] * factors[column]
    return found


def _rows(vectors: Vectors, ids: Ids) -> NDArray[np.float64]:
    return vectors[ids].astype(np.float64)


def _centred(vectors: Vectors, ids: Ids, centre: Vectors) -> tuple[Floats32, Floats32]:
    """Some points seen from the centre, and their squared norms, rounded once."""
    exact = _rows(vectors, ids) - centre
    squares = np.einsum("ij,ij->i", exact, exact)
    return exact.astype(np.float32), squares.astype(np.float32)


def _squared_gaps(
    left: tuple[Floats32, Floats32], right: tuple[Floats32, Floats32]
) -> Floats32:
    """Squared distances between all pairs of two tiles, by products in float32."""
    squared: Floats32 = np.multiply(left[0], -2, dtype=np.float32) @ right[0].T
    squared += left[1][:, None]
    squared += right[1]
    return squared


def _distinct(vectors: Vectors) -> tuple[list[Ids], list[Floats32]]:
    """One id per distinct point and how many words lie there, in tiles."""
    ids, counts = np.unique(canonical_ids(vectors), return_counts=True)
    cuts = np.arange(_TILE_ROWS, len(ids), _TILE_ROWS)
    return np.split(ids, cuts), np.split(counts.astype(np.float32), cuts)


def _closest_pair(
    vectors: Vectors,
    left: Ids,
    right: Ids,
    squared: Floats32,
    closest: float,
    slack: float,
) -> float:
    """The smallest exact distance seen so far.

    A pair whose float32 square exceeds the smallest one by two slacks is farther.
    """
    smallest = float(squared.min())
    if smallest == np.inf:  # a tile of one point has no pairs
        return closest
    limit = min(smallest + 2 * slack, closest**2 + slack)
    rows, columns = np.nonzero(squared <= limit)
    for start in range(0, len(rows), _TILE_ROWS):
        part = slice(start, start + _TILE_ROWS)
        gaps = _rows(vectors, left[rows[part]]) - _rows(vectors, right[columns[part]])
        closest = min(closest, float(np.linalg.norm(gaps, axis=1).min()))
    return closest
