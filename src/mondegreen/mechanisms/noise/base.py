"""The noise family: perturb the vector, then decode without seeing the word."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids, LogProbs, Vectors
from mondegreen.errors import LawUnknownError
from mondegreen.guarantee import Guarantee
from mondegreen.mechanisms.base import AbstractMechanism, State, check_ids, parameter
from mondegreen.mechanisms.metrics import space_distances
from mondegreen.space.search.base import NeighbourSearch
from mondegreen.space.search.decoders import DECODERS
from mondegreen.space.space import Space

Item = TypeVar("Item")


def drawn_ahead(items: Iterator[Item]) -> Generator[Item]:
    """Yield the items in order, each made in a thread while the last one is used.

    One thread makes one item after the other: whatever they consume, such as a random
    generator, is consumed in the same order as without it. Close the result, so
    that nothing is consumed any more once the caller goes on.

    Examples
    --------
    >>> list(drawn_ahead(iter([3, 1, 2])))
    [3, 1, 2]
    """
    with ThreadPoolExecutor(1, thread_name_prefix="mondegreen-noise") as thread:
        waiting = thread.submit(_one, items)
        while made := waiting.result():
            waiting = thread.submit(_one, items)
            yield made[0]


def _one(items: Iterator[Item]) -> tuple[Item, ...]:
    """Return the next item, or nothing after the last one."""
    for item in items:
        return (item,)
    return ()


NOISE_ASSUMPTIONS: Final = (
    "noise is drawn in double precision as if in real numbers; only the index of a "
    "word is released, never a coordinate",
)

_BLOCK: Final = 4096
"""Words searched together: large enough for full speed, a few MB of noise."""

Uniforms = NDArray[np.float64]

Decoder = Callable[[Vectors, NeighbourSearch, Uniforms], Ids]
"""Maps noisy points to words, with uniform numbers on [0, 1) where it chooses.

It sees no input, so it is post-processing.
"""


def _add(points: Vectors, noise: Vectors) -> Vectors:
    """Translate in Euclidean space."""
    noise += points
    return noise


class AbstractNoise(AbstractMechanism):
    """A mechanism whose search for the nearest word can be chosen."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return name and parameters, without a decoder that is the default.

        The digest of what was released before there was a choice, and with it the
        keys of replays, stay what they were.
        """
        found = AbstractMechanism.to_dict(self)
        if found["parameters"]["decoder"] == "exact":
            del found["parameters"]["decoder"]
        return found


@final
@dataclass(frozen=True, slots=True)
class NoiseState(State):
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
    uniforms : int
        Uniform numbers that ``decode`` takes for each word.
    whitening : float64 array, shape (n, n), optional
        Turns the metric of the guarantee into that of the space.
    """

    space: Space
    guarantee: Guarantee
    draw_noise: Callable[[np.random.Generator, tuple[int, int]], Vectors]
    decode: Decoder
    search: NeighbourSearch
    translate: Callable[[Vectors, Vectors], Vectors] = _add
    uniforms: int = 0
    whitening: Vectors | None = None

    def sample(self, ids: Ids, rng: np.random.Generator) -> Ids:
        """Draw an output for each input; see :class:`mondegreen.mechanisms.State`."""
        check_ids(ids, self.space.vocab_size)
        out = np.empty(len(ids), dtype=np.int32)
        blocks = self._noisy(ids, rng)
        if len(ids) > _BLOCK:
            blocks = drawn_ahead(blocks)
        start = 0
        with contextlib.closing(blocks):
            for points, uniforms in blocks:
                stop = start + len(points)
                out[start:stop] = self.decode(points, self.search, uniforms)
                start = stop
        return out

    def _noisy(
        self, ids: Ids, rng: np.random.Generator
    ) -> Generator[tuple[Vectors, Uniforms]]:
        """Yield noisy points block by block; draws all that a block needs."""
        for start in range(0, len(ids), _BLOCK):
            block = ids[start : start + _BLOCK]
            noise = self.draw_noise(rng, (len(block), self.space.dim))
            uniforms = rng.random((len(block), self.uniforms))
            yield self.translate(self.space.points(block), noise), uniforms

    def log_prob(self, ids: Ids) -> LogProbs:
        """Raise: a probability is an integral over a Voronoi cell."""
        raise LawUnknownError(
            f"{self.guarantee.mechanism} has no law in closed form; sample from it, or "
            "use a selection mechanism such as tem"
        )

    def distances(self, first: Ids, second: Ids) -> NDArray[np.float64]:
        """Return the metric of the guarantee, (first, second)."""
        return space_distances(self.space, first, second, whitening=self.whitening)


def decode_nearest(points: Vectors, search: NeighbourSearch, uniforms: Uniforms) -> Ids:
    """Return the nearest word of each point."""
    return search.nearest(points, 1)[:, 0]


def decoder_parameter() -> Any:
    """Declare the parameter that names the search for the nearest word."""
    return parameter(
        "exact",
        range=", ".join(DECODERS),
        help="how the nearest word is found; no part of the promise depends on it",
    )
