"""The noise family: perturb the vector, then decode without seeing the word."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar, Final, TypeVar, final

import numpy as np

from mondegreen.arrays import Floats, Ids, Vectors, slices
from mondegreen.guarantee import Guarantee
from mondegreen.mechanisms import base
from mondegreen.sampling.laplace import multivariate_laplace
from mondegreen.space.search import decoders
from mondegreen.space.search.decoders import NeighbourSearch
from mondegreen.space.space import Space

Item = TypeVar("Item")
DrawNoise = Callable[[np.random.Generator, tuple[int, int]], Vectors]
"""Draws noise around the origin, ``(rng, (T, n))``."""

Decoder = Callable[[Vectors, NeighbourSearch, Floats], Ids]
"""Maps noisy points to words, with uniform numbers on [0, 1) where it chooses.

It sees no input, so it is post-processing.
"""

NOISE_ASSUMPTIONS: Final = (
    "noise is drawn in double precision as if in real numbers; only the index of a "
    "word is released, never a coordinate",
)

BLOCK: Final = 4096
"""Words searched together: large enough for full speed, a few MB of noise."""


class AbstractNoise(base.AbstractMechanism):
    """A mechanism on Euclidean vectors whose search for the nearest word is chosen."""

    __slots__ = ()

    family: ClassVar[str] = "noise"
    metric: ClassVar[str] = "Euclidean distance"

    epsilon: float
    decoder: str

    def __post_init__(self) -> None:
        base.AbstractMechanism.__post_init__(self)
        decoders.check_decoder(self.decoder)

    def to_dict(self) -> dict[str, Any]:
        # Without the default decoder: digests, and with them the keys of replays, stay
        # what they were before there was a choice.
        found = base.AbstractMechanism.to_dict(self)
        if found["parameters"]["decoder"] == "exact":
            del found["parameters"]["decoder"]
        return found

    def laplace_state(self, space: Space, **stated: Any) -> NoiseState:
        """Laplace noise that the nearest word decodes, under this guarantee."""
        base.check_space(self, space)
        search = decoders.decoder_search(self.decoder, space.vectors)
        return NoiseState(
            space,
            noise_guarantee(self, space, search, **stated),
            lambda rng, shape: multivariate_laplace(rng, self.epsilon, shape),
            search,
        )


def noise_guarantee(
    mechanism: base.AbstractMechanism,
    space: Space,
    search: NeighbourSearch,
    **stated: Any,
) -> Guarantee:
    """What noise promises by proof, whatever search decodes it."""
    how = f"proof; decoder: {search.describe()}"
    return mechanism.promise(
        space, certified_how=how, assumptions=NOISE_ASSUMPTIONS, **stated
    )


def _nearest(points: Vectors, search: NeighbourSearch, uniforms: Floats) -> Ids:
    return search.nearest(points, 1)[:, 0]


def _add(points: Vectors, noise: Vectors) -> Vectors:
    noise += points
    return noise


@final
@dataclass(frozen=True, slots=True)
class NoiseState(base.State):
    """A noise mechanism prepared for one space.

    ``translate(points, noise)`` moves the noise from the origin to the points and may
    overwrite it. ``uniforms`` are drawn for each word that ``decode`` chooses for.
    ``whitening``, (n, n), turns the metric of the guarantee into that of the space, and
    ``norm`` is that of the guarantee.
    The law has no closed form: a probability is an integral over a Voronoi cell.
    """

    space: Space
    guarantee: Guarantee
    draw_noise: DrawNoise
    search: NeighbourSearch
    decode: Decoder = _nearest
    translate: Callable[[Vectors, Vectors], Vectors] = _add
    uniforms: int = 0
    whitening: Vectors | None = None
    norm: str = "euclidean"

    def sample(self, ids: Ids, rng: np.random.Generator) -> Ids:
        base.check_ids(ids, self.space.vocab_size)
        blocks = self.noisy(ids, rng)
        if len(ids) > BLOCK:
            blocks = draw_ahead(blocks)
        out = [np.empty(0, dtype=np.int32)]
        with contextlib.closing(blocks):
            out += [self.decode(block, self.search, chance) for block, chance in blocks]
        return np.concatenate(out)

    def noisy(
        self, ids: Ids, rng: np.random.Generator
    ) -> Generator[tuple[Vectors, Floats]]:
        """Yield noisy points, and the uniform numbers for them, block by block."""
        for part in slices(len(ids), BLOCK):
            block = ids[part]
            noise = self.draw_noise(rng, (len(block), self.space.dim))
            uniforms = rng.random((len(block), self.uniforms))
            yield self.translate(self.space.points(block), noise), uniforms

    def distances(self, first: Ids, second: Ids) -> Floats:
        if self.norm != "euclidean":
            cutoff = self.guarantee.scale["diameter"]
            return base.space_distances(
                self.space, first, second, cutoff=cutoff, norm=self.norm
            )
        if self.whitening is None:
            return base.State.distances(self, first, second)
        return base.space_distances(self.space, first, second, whitening=self.whitening)


def draw_ahead(items: Iterator[Item]) -> Generator[Item]:
    """Yield the items in order, each made in a thread while the last one is used.

    One thread makes them all, so a random generator is consumed in the same order as
    without it. Close the result: then nothing is consumed once the caller goes on.

    >>> list(draw_ahead(iter([3, 1, 2])))
    [3, 1, 2]
    """
    with ThreadPoolExecutor(1, thread_name_prefix="mondegreen-noise") as thread:
        waiting = thread.submit(next, items, None)
        while (made := waiting.result()) is not None:
            waiting = thread.submit(next, items, None)
            yield made


def decoder_parameter() -> Any:
    """Declare the parameter that names the search for the nearest word."""
    return base.parameter(
        "exact",
        range=", ".join(decoders.DECODERS),
        help="how the nearest word is found; the guarantee does not depend on it",
    )
