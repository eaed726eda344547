"""Which settings can be measured together, and how."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.calibration.exact import SMALL, every_input
from mondegreen.calibration.found import Effort, Found, Progress
from mondegreen.calibration.rows import gaps_of, survey
from mondegreen.calibration.runs import trial
from mondegreen.errors import LawUnknownError
from mondegreen.mechanisms import State
from mondegreen.scores.kernel import Gaps, kernel_of
from mondegreen.space.space import Space

__all__ = ["Batches"]

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
        gaps = gaps_of(self.space)
        kinds: dict[str, list[int]] = {"exact": [], "survey": [], "trial": []}
        for place, state in states.items():
            kinds[self._kind(state, gaps)].append(place)
        for how, size in (("exact", _TOGETHER), ("survey", _TOGETHER), ("trial", 1)):
            places = kinds[how]
            for start in range(0, len(places), size):
                yield how, places[start : start + size]

    def _kind(self, state: State, gaps: Gaps) -> str:
        """Return how a state can be measured."""
        try:
            state.log_prob(np.zeros(1, dtype=np.int32))
        except LawUnknownError:
            return "trial"
        count = self.space.vocab_size
        in_distance = not kernel_of(state, gaps).has_zeros
        if count <= (SMALL if in_distance else _SLOW):
            return "exact"
        return "exact" if in_distance and not self.quick else "survey"

    def _found(
        self, how: str, states: Sequence[State], progress: Progress
    ) -> Sequence[Found]:
        """Measure one batch."""
        # The same words for every batch: curves are then smooth in epsilon.
        rng = np.random.default_rng([self.seed, 0])
        if how == "trial":
            return [
                trial(
                    states[0],
                    self.priors,
                    self.effort,
                    rng,
                    confidence=self.confidence,
                    progress=progress,
                )
            ]
        look = every_input if how == "exact" else survey
        return look(
            states,
            self.priors,
            self.effort,
            rng,
            confidence=self.confidence,
            progress=progress,
        )
