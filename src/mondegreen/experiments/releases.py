"""Releases of texts by the mechanisms that recipes compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.random import Generator

from mondegreen.arrays import Ids
from mondegreen.calibration.monte_carlo import sampled
from mondegreen.experiments.bench import Labelled
from mondegreen.experiments.recipe import Point
from mondegreen.mechanisms import mechanism, mechanism_class
from mondegreen.mechanisms.base import State
from mondegreen.space.space import Space

LAWS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "CMP": ("laplace", {}),
    "Mahalanobis": ("mahalanobis", {"lambda_": 0.2}),
    "Vickrey": ("vickrey", {"t": 0.5}),
    "TEM": ("tem", {}),
    "SanText": ("exponential", {}),
    "SynTF": ("syntf", {}),
    "Gumbel": ("truncated_gumbel", {}),
    "BRR": ("brr", {}),
    "calibrated": ("calibrated", {}),
    "tree": ("tree", {}),
}
"""Mechanisms by the names that the papers give them, with the settings of these."""

NO_NOISE: Final = "none"
"""Stands for a mechanism that releases texts as they are."""


def prepared(law: str, epsilon: float, space: Space, *, fast: bool = False) -> State:
    """A mechanism by the name in the papers, ready for a space.

    ``fast`` finds the word nearest to a noisy point, the same one, in half the time;
    it needs torch.
    """
    name, parameters = LAWS[law]
    if fast and mechanism_class(name).family == "noise":
        parameters = {**parameters, "decoder": "fast"}
    return mechanism(name, epsilon=float(epsilon), **parameters).prepare(space)


def repeated(state: State, words: Ids, runs: int, rng: Generator) -> Ids:
    """Outputs of each word, run again and again, (words, runs)."""
    outputs = sampled(state, np.repeat(words, runs).astype(np.int32), rng)
    return outputs.reshape(len(words), runs)


def released(texts: Labelled, state: State | None, rng: Generator) -> Labelled:
    """Release every word of the texts by itself; without a state, as they are."""
    if state is None or not len(texts):
        return texts
    return texts.with_words(sampled(state, texts.flat, rng))


def release_at(point: Point, space: Space) -> State | None:
    """The mechanism ``law`` of a point at its ``epsilon``; None for no noise."""
    if point["law"] == NO_NOISE:
        return None
    return prepared(str(point["law"]), float(point["epsilon"]), space)


def laws_by_epsilon(
    laws: Sequence[str], epsilons: Sequence[float], **same: Any
) -> list[Point]:
    """A grid of laws by epsilon, and one point without noise, which comes first."""
    noisy = [(law, epsilon) for law in laws for epsilon in epsilons]
    return [
        {"law": law, "epsilon": epsilon, **same}
        for law, epsilon in [(NO_NOISE, 0), *noisy]
    ]
