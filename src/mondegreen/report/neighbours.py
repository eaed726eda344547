"""How far the k-th nearest words are (CMP paper, Figure 1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids
from mondegreen.space.distances import distances
from mondegreen.space.space import Space

Floats = NDArray[np.float64]

RANKS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""The k of which distances are shown."""

PERCENTILES: Final = (5, 20, 50, 80, 95)

_ENTRIES: Final = 1 << 23
"""Distances computed together: 64 MiB."""


@final
@dataclass(frozen=True, slots=True)
class NeighbourDistances:
    """Percentiles, over words, of the distance to the k-th nearest other word.

    Parameters
    ----------
    k : tuple of int
        1 is the nearest other word.
    percentiles : tuple of float, in [0, 100]
    distances : tuple of tuple of float, unit of distance
        For each k, one number for each percentile.
    words : int
        How many words were looked at.
    vocab_size : int
        How many there are.
    """

    k: tuple[int, ...]
    percentiles: tuple[float, ...]
    distances: tuple[tuple[float, ...], ...]
    words: int
    vocab_size: int

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> NeighbourDistances:
        """Build from what :meth:`to_dict` returned."""
        rows = tuple(tuple(row) for row in values["distances"])
        return cls(
            tuple(values["k"]),
            tuple(values["percentiles"]),
            rows,
            values["words"],
            values["vocab_size"],
        )


def neighbour_distances(
    space: Space, words: int = 2000, seed: int = 0
) -> NeighbourDistances | None:
    """Return how far the k-th nearest words are, from some words to all.

    Parameters
    ----------
    space : Space
        Its vectors are public, so that this costs no privacy.
    words : int, at least 1
        So many are drawn at random, without replacement; all, if there are no more.
    seed : int
        Of that draw.

    Returns
    -------
    NeighbourDistances or None
        None for a space without vectors, or of a single word.

    Notes
    -----
    *Numerics.* Distances are to all words; only the words they are measured from are
    sampled. Euclidean ones come from products in float64, and are right to seven
    digits; words at one point may appear a millionth apart.

    References
    ----------
    .. [1] Feyisetan et al. "Privacy- and Utility-Preserving Textual Analysis via
       Calibrated Multivariate Perturbations." WSDM 2020, Figure 1.

    Examples
    --------
    >>> space = Space.from_arrays("line", ["a", "b", "c"], [[0], [1], [3]])
    >>> found = neighbour_distances(space)
    >>> found.k, [row[2] for row in found.distances]
    ((1, 2), [1.0, 3.0])
    """
    total = space.vocab_size
    if total < 2 or space.metric == "hamming":
        return None
    ids: Ids = np.arange(total, dtype=np.int32)
    if words < total:
        drawn = np.random.default_rng(seed).choice(total, words, replace=False)
        ids = np.sort(drawn).astype(np.int32)
    ranks = np.array([k for k in RANKS if k < total])
    found = np.empty((len(ids), len(ranks)))
    gaps_of = _gaps(space)
    step = max(1, _ENTRIES // total)
    for start in range(0, len(ids), step):
        block = ids[start : start + step]
        gaps = gaps_of(block)
        gaps[np.arange(len(block)), block] = -1.0  # itself, before all others
        gaps.partition(ranks, axis=1)
        found[start : start + step] = gaps[:, ranks]
    rows = np.percentile(found, PERCENTILES, axis=0).T
    return NeighbourDistances(
        tuple(ranks.tolist()),
        PERCENTILES,
        tuple(tuple(row) for row in rows.round(6).tolist()),
        len(ids),
        total,
    )


def _gaps(space: Space) -> Callable[[Ids], Floats]:
    """Return what gives the distances from some words to all."""
    if space.metric != "euclidean":
        return lambda ids: distances(space.metric, space.vectors[ids], space.vectors)
    wide = space.vectors.astype(np.float64)
    wide -= wide.mean(axis=0)  # shorter vectors, less to cancel
    squares = np.einsum("ij,ij->i", wide, wide)

    def euclidean(ids: Ids) -> Floats:
        gaps = wide[ids] @ wide.T
        gaps *= -2
        gaps += squares
        gaps += squares[ids, None]
        np.maximum(gaps, 0, out=gaps)
        return np.sqrt(gaps, out=gaps)

    return euclidean
