"""Releases of texts by the mechanisms that recipes compare."""

from __future__ import annotations

import contextlib
import functools
import math
import time
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.random import Generator

from mondegreen.arrays import Ids
from mondegreen.calibration.monte_carlo import sample_outputs
from mondegreen.errors import MondegreenError, SpaceError
from mondegreen.mechanisms import mechanism
from mondegreen.mechanisms.base import State
from mondegreen.space.binarize import with_codes
from mondegreen.space.search.decoders import decoder_search
from mondegreen.space.space import Space
from mondegreen.space.store import load_codes
from mondegreen_experiments.bench import Labelled
from mondegreen_experiments.recipe import Point

LAWS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "CMP": ("laplace", {}),
    "Mahalanobis": ("mahalanobis", {"lambda_": 0.2}),
    "Vickrey": ("vickrey", {"t": 0.5}),
    "TEM": ("tem", {}),
    "SanText": ("exponential", {}),
    "SynTF": ("syntf", {}),
    "truncated Gumbel": ("truncated_gumbel", {}),
    "BRR": ("brr", {}),
    "calibrated": ("calibrated", {}),
    "tree": ("tree", {}),
}
"""Mechanisms by the names that the papers give them, with the settings of these."""

_DECODED: Final = ("laplace", "mahalanobis", "vickrey")
_TRIED: Final = 1024
"""Mechanisms with a decoder, and points that it is chosen by."""

NO_NOISE: Final = "none"
"""Stands for a mechanism that releases texts as they are."""

BY_LARGEST: Final = "BRR by largest ratio"
"""The same, by the ratio of the largest losses in place of the mean ones."""

BY_RATIO: Final = "BRR by ratio"
"""BRR at the epsilon that its paper's privacy ratio calls equal to one of CMP."""


@functools.lru_cache(maxsize=4)
def coded(space: Space) -> Space:
    """The space with codes: its own, those of the package, or trained ones."""
    try:
        load_codes(space)
    except SpaceError:
        return with_codes(space)
    return space


def prepared(law: str, epsilon: float, space: Space, decoder: str = "") -> State:
    """A mechanism by the name in the papers, ready for a space.

    Where noise is decoded, that is by ``decoder``, or by the one that takes less time
    here: ``fast`` finds the words of ``exact``, on a processor with products of 8 bits
    sooner, and on others 20 times as late. What measures cost names it.
    """
    name, parameters = LAWS[law]
    if name == "brr":
        space = coded(space)
    elif name in _DECODED:
        parameters = {**parameters, "decoder": decoder or _sooner(space)}
    return mechanism(name, epsilon=float(epsilon), **parameters).prepare(space)


@functools.lru_cache(maxsize=4)
def _sooner(space: Space) -> str:
    """Name the decoder that finds the words of a few points in less time."""
    times = {"exact": math.inf}
    points = np.random.default_rng(0).normal(size=(_TRIED, space.dim)).astype("f4")
    points *= space.geometry.nearest
    points += space.points(np.arange(_TRIED, dtype=np.int32) % space.vocab_size)
    for decoder in ("exact", "fast"):
        with contextlib.suppress(MondegreenError):
            search = decoder_search(decoder, space.vectors)
            search.nearest(points, 1)
            begun = time.thread_time()
            search.nearest(points, 1)
            times[decoder] = time.thread_time() - begun
    return min(times, key=lambda name: times[name])


def repeated(state: State, words: Ids, runs: int, rng: Generator) -> Ids:
    """Outputs of each word, run again and again, (words, runs)."""
    outputs = sample_outputs(state, np.repeat(words, runs).astype(np.int32), rng)
    return outputs.reshape(len(words), runs)


def released(texts: Labelled, state: State | None, rng: Generator) -> Labelled:
    """Release every word of the texts by itself; without a state, as they are."""
    if state is None or not len(texts):
        return texts
    return texts.with_words(sample_outputs(state, texts.flat, rng))


def equal_by_ratio(space: Space, by: str) -> tuple[float, float]:
    """Euclidean and Hamming distances whose products with epsilon are set equal.

    ``by`` is "mean", over all pairs of words, those of a word with itself included, or
    "largest". The ratio equals bounds of the loss, not what happens to words.
    """
    binary, others = (
        load_codes(coded(space)).geometry,
        (space.vocab_size - 1) / space.vocab_size,
    )
    if by == "mean":
        return space.geometry.mean * others, binary.mean * others
    return space.geometry.diameter, binary.diameter


def release_at(point: Point, space: Space) -> State | None:
    """The mechanism ``law`` of a point at its ``epsilon``; None for no noise.

    It is kept, with the laws of words that it has computed, for the seeds of a point.
    """
    law, epsilon = str(point["law"]), float(point["epsilon"])
    if law == NO_NOISE:
        return None
    if law in (BY_RATIO, BY_LARGEST):
        by = "mean" if law == BY_RATIO else "largest"
        euclidean, hamming = equal_by_ratio(space, by)
        law, epsilon = "BRR", epsilon * euclidean / hamming
    return _kept(law, epsilon, space)


@functools.lru_cache(maxsize=1)
def _kept(law: str, epsilon: float, space: Space) -> State:
    return prepared(law, epsilon, space)


def laws_by_epsilon(
    laws: Sequence[str], epsilons: Sequence[float], **same: Any
) -> list[Point]:
    """A grid of laws by epsilon, and one point without noise, which comes first."""
    noisy = [(law, epsilon) for law in laws for epsilon in epsilons]
    return [
        {"law": law, "epsilon": epsilon, **same}
        for law, epsilon in [(NO_NOISE, 0), *noisy]
    ]
