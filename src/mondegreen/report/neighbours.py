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
PERCENTILES: Final = (5, 20, 50, 80, 95)
_ENTRIES: Final = 1 << 23
"""Distances computed together: 64 MiB."""


@final
@dataclass(frozen=True, slots=True)
class NeighbourDistances:
    """Percentiles, over words, of the distance to the k-th nearest other word.

    ``distances`` has a row for each k, with a number for each percentile; ``words`` of
    the ``vocab_size`` words were looked at.
    """

    k: tuple[int, ...]
    percentiles: tuple[float, ...]
    distances: tuple[tuple[float, ...], ...]
    words: int
    vocab_size: int

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> NeighbourDistances:
        rows = tuple(map(tuple, values["distances"]))
        lists = {name: tuple(values[name]) for name in ("k", "percentiles")}
        return cls(**{**values, **lists, "distances": rows})


def neighbour_distances(
    space: Space, words: int = 2000, seed: int = 0
) -> NeighbourDistances | None:
    """Measure how far the k-th nearest words are, from some words to all.

    So many words are drawn at random, without replacement; all, if there are no more.
    The vectors are public, so that this costs no privacy. None for a space without
    vectors, or of a single word. Euclidean distances come from products in float64 and
    are right to seven digits; words at one point may appear a millionth apart.

    Feyisetan et al., "Privacy- and Utility-Preserving Textual Analysis via Calibrated
    Multivariate Perturbations", WSDM 2020, Figure 1.

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
    distances_of = _distances(space)
    step = max(1, _ENTRIES // total)
    for start in range(0, len(ids), step):
        block = ids[start : start + step]
        rows = distances_of(block)
        rows[np.arange(len(block)), block] = -1.0  # itself, before all others
        rows.partition(ranks, axis=1)
        found[start : start + step] = rows[:, ranks]
    percentiles = np.percentile(found, PERCENTILES, axis=0).T.round(6)
    return NeighbourDistances(
        tuple(ranks.tolist()),
        PERCENTILES,
        tuple(map(tuple, percentiles.tolist())),
        len(ids),
        total,
    )


def _distances(space: Space) -> Callable[[Ids], Floats]:
    """Make what computes the distances from some words to all."""
    if space.metric != "euclidean":
        return lambda ids: distances(space.metric, space.vectors[ids], space.vectors)
    wide = space.vectors.astype(np.float64)
    wide -= wide.mean(axis=0)  # shorter vectors, less to cancel
    squares = np.einsum("ij,ij->i", wide, wide)

    def euclidean(ids: Ids) -> Floats:
        rows = wide[ids] @ wide.T
        rows *= -2
        rows += squares
        rows += squares[ids, None]
        np.maximum(rows, 0, out=rows)
        return np.sqrt(rows, out=rows)

    return euclidean
