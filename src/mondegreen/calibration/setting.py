"""A mechanism without its epsilon, and how it is measured at any."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.calibration.found import ROUGH, Effort, Progress
from mondegreen.calibration.measurement import Measurement, measure
from mondegreen.calibration.search import Attempt, rounded
from mondegreen.errors import InvalidParameterError, SpaceError
from mondegreen.mechanisms import mechanism
from mondegreen.mechanisms.base import AbstractMechanism, State
from mondegreen.scores.similarity import pair_distances
from mondegreen.space.space import Space

CURVE: Final = 8
"""Epsilons of a curve."""

_PROBES: Final = 128
_FAR: Final = 0.75
_WIDTH: Final = 2.0
"""A curve goes from the epsilon of the switch over this factor to it times this."""

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True)
class Setting:
    """A mechanism and its parameters, epsilon left open.

    Parameters
    ----------
    name : str
        Registry name or alias.
    parameters : mapping of str to JSON value
        All that are not left to their defaults.
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def at(self, epsilon: float) -> AbstractMechanism:
        """Return the mechanism at one epsilon."""
        return mechanism(self.name, epsilon=epsilon, **self.parameters)

    def __str__(self) -> str:
        listed = ",".join(f"{key}={value}" for key, value in self.parameters.items())
        return f"{self.name}:{listed}" if listed else self.name


@final
@dataclass(frozen=True, slots=True)
class Bench:
    """Where settings are measured: a space, priors, and how thoroughly.

    Parameters
    ----------
    space : Space
        Public words and vectors.
    priors : mapping of str to float64 array, shape (V + 1,)
        From PUBLIC text.
    quick : bool
        See :func:`mondegreen.calibration.measurement.measure`.
    seed : int
        Of all that is drawn.
    cache : bool
        Whether measurements are kept and taken from the cache folder.
    rough : Effort
        Of looks that only say where to look on.
    """

    space: Space
    priors: Mapping[str, Floats]
    quick: bool = False
    seed: int = 0
    cache: bool = True
    rough: Effort = ROUGH

    def measured(
        self,
        setting: Setting,
        epsilons: Sequence[float],
        attempt: Attempt,
        *,
        certify: bool = False,
        progress: Progress = lambda share: None,
    ) -> list[Measurement | None]:
        """Measure a setting at some epsilons; None where it cannot be prepared."""
        return [
            self._one(setting.at(epsilon), attempt, progress, certify=certify)
            for epsilon in epsilons
        ]

    def _one(
        self,
        made: AbstractMechanism,
        attempt: Attempt,
        progress: Progress,
        *,
        certify: bool,
    ) -> Measurement | None:
        """Measure one mechanism."""
        try:
            (found,) = measure(
                [made],
                self.space,
                self.priors,
                quick=self.quick or attempt.is_rough,
                effort=self.rough if attempt.is_rough else None,
                seed=self.seed + 1000 * attempt.number,
                confidence=attempt.confidence,
                certify=certify and not attempt.is_rough,
                progress=progress,
                cache=self.cache,
            )
        except (InvalidParameterError, SpaceError):
            return None  # such as tight at a small epsilon
        return found

    def curves(
        self,
        settings: Sequence[tuple[Setting, Sequence[float]]],
        progress: Progress = lambda share: None,
    ) -> list[Measurement]:
        """Measure settings at their epsilons, laws in a distance in shared passes."""
        usable = [
            made
            for setting, epsilons in settings
            for epsilon in epsilons
            if self._prepared(made := setting.at(epsilon)) is not None
        ]
        return measure(
            usable,
            self.space,
            self.priors,
            quick=self.quick,
            seed=self.seed,
            certify=not self.quick,
            progress=progress,
            cache=self.cache,
        )

    def switch(self, setting: Setting) -> float:
        """Return about the epsilon at which outputs leave the far words for the near.

        Where they move three quarters as far as a random word would; where there is no
        distance, where three quarters of the words change.
        """
        epsilon = self._scale(setting)
        is_far = self._is_far(setting, epsilon)
        factor = 2.0 if is_far else 0.5
        for _ in range(8):
            following = epsilon * factor
            if self._is_far(setting, following) != is_far:
                break
            epsilon = following
        low, high = sorted((epsilon, epsilon * factor))
        for _ in range(5):
            middle = math.sqrt(low * high)
            low, high = (
                (middle, high) if self._is_far(setting, middle) else (low, middle)
            )
        return math.sqrt(low * high)

    def epsilons(self, switch: float, count: int = CURVE) -> list[float]:
        """Return the epsilons of a curve around a switch."""
        shares = np.linspace(-1.0, 1.0, count)
        return [rounded(switch * _WIDTH**share, up=False) for share in shares]

    def _prepared(self, made: AbstractMechanism) -> State | None:
        """Return a mechanism ready to sample, if it exists on this space."""
        try:
            return made.prepare(self.space)
        except (InvalidParameterError, SpaceError):
            return None  # such as tight at a small epsilon

    def _scale(self, setting: Setting) -> float:
        """Return ln V over the mean distance, in the metric of the mechanism."""
        count = math.log(max(self.space.vocab_size, 3))
        for guess in (1.0, 10.0, 100.0):
            state = self._prepared(setting.at(guess))
            if state is not None:
                mean = state.stated.scale["mean"]
                return count / mean if 0 < mean < math.inf else count
        setting.at(1.0).prepare(self.space)  # raises what is wrong
        return count

    def _is_far(self, setting: Setting, epsilon: float) -> bool:
        """Whether outputs are mostly far words, from a few runs."""
        state = self._prepared(setting.at(epsilon))
        if state is None:
            return True
        rng = np.random.default_rng([self.seed, 2])
        words = rng.integers(self.space.vocab_size, size=_PROBES).astype(np.int32)
        outputs = state.sample(words, rng)
        gaps = pair_distances(self.space, words, outputs)
        if gaps is None:
            return float((words != outputs).mean()) > _FAR
        return float(gaps.mean()) > _FAR * self.space.geometry.mean
