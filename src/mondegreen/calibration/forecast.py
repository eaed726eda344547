"""How long a calibration takes, said as soon as it can be known."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Final, final

from mondegreen.calibration.found import Effort, Progress
from mondegreen.wording import amount

_LONG: Final = 60.0
"""Seconds that nobody need be told of."""

_LOOKS: Final = 7
_CHECKS: Final = 4
"""Measurements of a search, as many as most take."""

_SOON: Final = 5.0
"""Seconds after which the share that is done says how long the rest will take."""


@final
@dataclass(slots=True)
class Forecast:
    """Says once of each piece of work that it will take more than a minute.

    Parameters
    ----------
    tell : callable
        Called with a line.
    """

    tell: Callable[[str], object] = lambda line: None
    _looks: dict[str, list[float]] = field(default_factory=dict)

    def look(
        self, name: str, seconds: float, rough: Effort, full: Effort, searches: int
    ) -> None:
        """Take note of a rough look; the second tells how long the searches are.

        The first pays for what is prepared once.
        """
        looks = self._looks.setdefault(name, [])
        looks.append(seconds)
        if len(looks) == 2:
            share = _outputs(full) / _outputs(rough)
            self._say(name, min(looks) * (_LOOKS + _CHECKS * share) * searches)

    def advancing(self, name: str, progress: Progress) -> Progress:
        """Return a function that takes the share that is done, and hands it on."""
        started, is_told = perf_counter(), False

        def advance(share: float) -> None:
            nonlocal is_told
            progress(share)
            seconds = perf_counter() - started
            if not is_told and share > 0 and seconds > _SOON:
                is_told = True
                self._say(name, seconds / share)

        return advance

    def _say(self, name: str, seconds: float) -> None:
        if seconds > _LONG:
            minutes = amount(math.ceil(seconds / 60), "minute")
            self.tell(f"{name}: up to about {minutes}. What is measured is kept.")


def _outputs(effort: Effort) -> int:
    """Return how many outputs are drawn for two priors."""
    return effort.words * effort.runs + 2 * effort.draws
