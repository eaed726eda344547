"""Which settings can be measured together, and how."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.calibration.exact import SMALL, every_input
from mondegreen.calibration.found import Effort, Found, Progress
from mondegreen.calibration.rows import survey
from mondegreen.calibration.runs import trial
from mondegreen.errors import LawUnknownError
from mondegreen.mechanisms.base import State
from mondegreen.space.space import Space

_TOGETHER: Final = 8
"""Closed laws in one pass over all pairs: what an interrupt can lose."""

_SLOW: Final = 1024
"""As ``SMALL``, for laws that the mechanism itself must be asked for, row by row."""

Floats = NDArray[np.float64]


@final
class Batches:
    """Measures prepared settings batch by batch.

    Parameters
    ----------
    space : Space
        Of all states.
    priors : mapping of str to float64 array, shape (V + 1,)
        What the adversary expects, by name.
    seed : int
        Of all that is drawn; every batch looks at the same words, so that curves are
        smooth in epsilon.
    confidence : float in (0, 1)
        Of each interval by itself.
    effort : Effort
        How much is drawn.
    quick : bool
        Whether to draw where everything could be looked at, in a large space.
    """

    def __init__(
        self,
        space: Space,
        priors: Mapping[str, Floats],
        seed: int,
        confidence: float,
        effort: Effort,
        *,
        quick: bool,
    ) -> None:
        self.space, self.priors, self.effort = space, priors, effort
        self.seed, self.confidence, self.quick = seed, confidence, quick

    def run(
        self,
        states: Mapping[int, State],
        hand_in: Callable[[int, Found], None],
        progress: Progress,
    ) -> None:
        """Measure states, handing in each batch as soon as it is done."""
        done, total = 0, len(states)
        for how, places in list(self._batches(states)):
            some = [states[place] for place in places]

            def advance(share: float, done: int = done, size: int = len(some)) -> None:
                progress((done + size * share) / total)

            found = self._found(how, some, advance)
            for place, scores in zip(places, found, strict=True):
                hand_in(place, scores)
            done += len(some)
            progress(done / total)

    def _batches(self, states: Mapping[int, State]) -> Iterator[tuple[str, list[int]]]:
        """Yield what can be measured together, and how."""
        kinds: dict[str, list[int]] = {"exact": [], "survey": [], "trial": []}
        for place, state in states.items():
            kinds[self._kind(state)].append(place)
        cores = os.cpu_count() or 1
        for how, places in kinds.items():
            size = cores if how == "trial" else _TOGETHER
            for start in range(0, len(places), size):
                yield how, places[start : start + size]

    def _kind(self, state: State) -> str:
        """Return how a state can be measured."""
        try:
            state.log_prob(np.zeros(1, dtype=np.int32))
        except LawUnknownError:
            return "trial"
        count = self.space.vocab_size
        in_distance = state.takes_distances
        if count <= (SMALL if in_distance else _SLOW):
            return "exact"
        return "exact" if in_distance and not self.quick else "survey"

    def _found(
        self, how: str, states: Sequence[State], progress: Progress
    ) -> Iterable[Found]:
        """Measure one batch."""
        if how == "trial":
            return self._trials(states, progress)
        look = every_input if how == "exact" else survey
        return look(
            states,
            self.priors,
            self.effort,
            self._rng(),
            confidence=self.confidence,
            progress=progress,
        )

    def _trials(self, states: Sequence[State], progress: Progress) -> Iterator[Found]:
        """Run states, each on a core of its own; yield each as soon as it is done."""
        shares, is_over = [0.0] * len(states), False

        def work(place: int) -> Found:
            def advance(share: float) -> None:
                if is_over:  # another failed, or an interrupt: nobody waits for this
                    raise CancelledError
                shares[place] = share
                progress(sum(shares) / len(shares))

            return trial(
                states[place],
                self.priors,
                self.effort,
                self._rng(),
                confidence=self.confidence,
                progress=advance,
            )

        with ThreadPoolExecutor(len(states)) as pool:
            try:
                yield from pool.map(work, range(len(states)))
            finally:
                is_over = True

    def _rng(self) -> np.random.Generator:
        """Return what draws the same words for every batch: smooth curves."""
        return np.random.default_rng([self.seed, 0])
