"""The noise family: perturb the vector, then decode without seeing the word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from mondegreen.arrays import Ids, LogProbs, Vectors
from mondegreen.errors import LawUnknownError
from mondegreen.guarantee import Guarantee
from mondegreen.mechanisms.base import check_ids
from mondegreen.space.neighbours.base import NeighbourSearch
from mondegreen.space.space import Space

__all__ = ["NOISE_ASSUMPTIONS", "Decoder", "NoiseState", "decode_nearest"]

NOISE_ASSUMPTIONS: Final = (
    "noise is drawn in double precision as if in real numbers; only the index of a "
    "word is released, never a coordinate",
)

_BLOCK: Final = 4096
"""Words searched together: large enough for full speed, a few MB of noise."""

Decoder = Callable[[Vectors, NeighbourSearch, np.random.Generator], Ids]
"""Maps noisy points to words; it sees no input, so it is post-processing."""


def _add(points: Vectors, noise: Vectors) -> Vectors:
    """Translate in Euclidean space."""
    noise += points
    return noise


@final
@dataclass(frozen=True, slots=True)
class NoiseState:
    """A noise mechanism prepared for one space.

    Parameters
    ----------
    space : Space
        Where inputs and outputs live.
    guarantee : Guarantee
        What one call promises for each word.
    draw_noise : callable ``(rng, (T, n)) -> float64 array``
        The law of the noise around the origin.
    decode : callable
        From noisy points to words.
    search : NeighbourSearch
        Over the public vectors of the space.
    translate : callable ``(points, noise) -> float64 array``
        Moves the noise from the origin to the points; may overwrite the noise.
    """

    space: Space
    guarantee: Guarantee
    draw_noise: Callable[[np.random.Generator, tuple[int, int]], Vectors]
    decode: Decoder
    search: NeighbourSearch
    translate: Callable[[Vectors, Vectors], Vectors] = _add

    def sample(self, ids: Ids, rng: np.random.Generator) -> Ids:
        """Draw an output for each input; see :class:`mondegreen.mechanisms.State`."""
        check_ids(ids, self.space.vocab_size)
        out = np.empty(len(ids), dtype=np.int32)
        for start in range(0, len(ids), _BLOCK):
            block = ids[start : start + _BLOCK]
            noise = self.draw_noise(rng, (len(block), self.space.dim))
            points = self.translate(self.space.points(block), noise)
            out[start : start + _BLOCK] = self.decode(points, self.search, rng)
        return out

    def log_prob(self, ids: Ids) -> LogProbs:
        """Raise: a probability is an integral over a Voronoi cell."""
        raise LawUnknownError(
            f"{self.guarantee.mechanism} has no law in closed form; sample from it, or "
            "use a selection mechanism such as tem"
        )


def decode_nearest(
    points: Vectors, search: NeighbourSearch, rng: np.random.Generator
) -> Ids:
    """Return the nearest word of each point."""
    return search.nearest(points, 1)[:, 0]
