"""Equal privacy: the epsilon at which what is measured reaches a level."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias, final

Look: TypeAlias = Callable[[float], Mapping[str, float] | None]
"""From epsilon to what is measured; None where there is no mechanism at it."""

_RANGE: Final = (1e-6, 1e8)
_STALE: Final = 0.02
"""Share of what is missing that a step outwards must add, or it was in vain."""

_VAIN: Final = 3
_ROUNDS: Final = 14
_NEAR: Final = 1e-3
_INSIDE: Final = 0.1


@final
@dataclass(frozen=True, slots=True)
class Reached:
    """An epsilon, and the value there."""

    epsilon: float
    value: float


@final
class Curve:
    """What is measured along epsilon, each time once, so that levels share the work.

    Values rise with epsilon, but for noise: let each look use the same random numbers.
    What is found depends on the looks before it; for the same result ask for the same
    levels in the same order.

    >>> curve = Curve(lambda epsilon: {"stays": epsilon / (1 + epsilon)}, start=1.0)
    >>> curve.reach("stays", 0.8, 0.01)
    Reached(epsilon=4.0, value=0.8)
    >>> curve.reach("stays", 2.0, 0.01)
    'not reached: at most 0.996 (epsilon 256)'
    """

    def __init__(self, look: Look, start: float) -> None:
        self._look, self._start = look, start
        self._seen: dict[float, Mapping[str, float] | None] = {}

    def reach(self, name: str, level: float, tolerance: float) -> Reached | str:
        """Find where a value is within the tolerance of a level, or say why nowhere."""
        low, high = (self._end(name, level, up=up) for up in (False, True))
        if isinstance(low, str) or isinstance(high, str):
            return f"not reached: {low if isinstance(low, str) else high}"
        for _ in range(_ROUNDS):
            for end in (low, high):
                if abs(end.value - level) <= tolerance:
                    return end
            if high.epsilon < low.epsilon * (1 + _NEAR):
                break
            found = self._at(name, _between(low, high, level))
            if found is None or found.value <= level:
                low = found or low
            else:
                high = found
        jump = f"from {low.value:.3g} to {high.value:.3g} (epsilon {high.epsilon:.4g})"
        return f"not reached: it jumps {jump}"

    def _at(self, name: str, epsilon: float) -> Reached | None:
        if epsilon not in self._seen:
            self._seen[epsilon] = self._look(epsilon)
        found = self._seen[epsilon]
        return None if found is None else Reached(epsilon, found[name])

    def _known(self, name: str) -> list[Reached]:
        """What was looked at, by epsilon; if nothing was, the first that exists."""
        epsilon = self._start
        while not any(self._seen.values()) and epsilon < _RANGE[1]:
            self._at(name, epsilon)
            epsilon *= 2
        found = (self._at(name, epsilon) for epsilon in sorted(self._seen))
        return [each for each in found if each is not None]

    def _end(self, name: str, level: float, *, up: bool) -> Reached | str:
        """The nearest look on one side of a level; looks outwards until there is."""
        known = self._known(name)
        if not known:
            return "there is no mechanism at any epsilon"
        sign, extreme = (1, "at most") if up else (-1, "at least")
        beyond = [each for each in known if sign * (each.value - level) >= 0]
        if beyond:
            return beyond[0] if up else beyond[-1]
        last, vain = known[-1] if up else known[0], 0
        while vain < _VAIN:
            epsilon = self._outwards(last.epsilon, up=up)
            if epsilon is None:
                break
            found = self._at(name, epsilon)
            if found is None:  # downwards: there is a least one, a little nearer
                continue
            if sign * (found.value - level) >= 0:
                return found
            gain = sign * (found.value - last.value)
            vain = vain + 1 if gain < _STALE * abs(level - last.value) else 0
            last = found
        return f"{extreme} {last.value:.3g} (epsilon {last.epsilon:.4g})"

    def _outwards(self, epsilon: float, *, up: bool) -> float | None:
        """The next epsilon to look at, or None: not where there is no mechanism."""
        void = [at for at, each in self._seen.items() if each is None]
        if up:
            following = epsilon * 2
            return None if following > _RANGE[1] or following in void else following
        void = [at for at in void if at < epsilon]
        least = max(void, default=0.0)
        following = max(epsilon / 2, math.sqrt(least * epsilon))
        is_at_end = following < _RANGE[0] or following < least * 1.02
        return None if is_at_end else following


def _between(low: Reached, high: Reached, level: float) -> float:
    """Where a line between two looks says, a little inside of them."""
    share = (level - low.value) / (high.value - low.value)
    if not math.isfinite(high.value):
        share = 0.5
    share = min(max(share, _INSIDE), 1 - _INSIDE)
    return float(low.epsilon * (high.epsilon / low.epsilon) ** share)
