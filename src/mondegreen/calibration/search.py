r"""From targets to epsilon: bracket, bisect, and then check what is returned.

Scores are nearly monotone in epsilon, not quite: rates come from a grid, and what is
estimated has noise. So a bisection only says where to look. What is returned has been
measured at that very epsilon, and keeps every target at the wrong end of its interval.
Where scores are estimates, the check takes fresh randomness, since the best of many
estimates is too good, and the attempts share the chance of error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, final

from mondegreen.calibration.score_bounds import ScoreBounds
from mondegreen.calibration.targets import Target

_CONFIDENCE: Final = 0.95  # that all targets hold at the epsilon that is returned
_DOUBLINGS: Final = 8  # how far from the start a target is looked for
_ATTEMPTS: Final = 12
_STRIDE: Final = 1.5  # the largest step, as a factor, from an epsilon that fails
_DIGITS: Final = 4

# Share of what is missing that another factor of two must add, or it is the end.
_STALE: Final = 0.01

Measure = Callable[[float, "Attempt"], ScoreBounds | None]
"""From epsilon to what it does; None where the mechanism does not exist there."""


class Attempt(NamedTuple):
    """How an epsilon is to be measured."""

    number: int = 0  # 0 for looks, then 1, 2, ...: each takes other random numbers
    confidence: float = 0.95  # of each interval

    @property
    def is_rough(self) -> bool:
        """Whether it is only to find where to look."""
        return self.number == 0


@final
@dataclass(slots=True)
class Calibration:
    """What a search found: the setting that keeps all targets, or why there is none."""

    chosen: ScoreBounds | None = None
    tried: list[ScoreBounds] = field(default_factory=list)  # rough looks included
    problem: str = ""  # the target that is missed, and the best that was reached
    is_binding: bool = True  # False: targets hold at every epsilon that was tried


def calibrate(
    measure: Measure, targets: Sequence[Target], start: float, tolerance: float = 0.01
) -> Calibration:
    """Find the setting that keeps all targets, beginning at an epsilon.

    With targets about privacy alone, that is the largest epsilon found; with one about
    use, the smallest that keeps it, which is the most private one, and it must keep the
    others as well. ``tolerance`` is relative: how much more epsilon is given away,
    roughly, where scores are exact.
    """
    search = _Search(measure, targets, tolerance)
    guess = search.look(start)
    search.conclude(None if guess is None else search.settle(guess))
    return search.result


def round_epsilon(epsilon: float, *, up: bool) -> float:
    """Round an epsilon to four digits, to no more, or no less, than it is.

    >>> round_epsilon(1.73456, up=False), round_epsilon(1.73456, up=True)
    (1.734, 1.735)
    """
    power = 10.0 ** (_DIGITS - 1 - math.floor(math.log10(epsilon)))
    scaled = epsilon * power
    whole = round(scaled)
    if abs(scaled - whole) > 1e-9 * scaled:
        whole = math.ceil(scaled) if up else math.floor(scaled)
    return float(f"{whole / power:.{_DIGITS}g}")


@final
class _Search:
    """One search; ``sign`` is 1 where the largest epsilon is wanted, else -1."""

    def __init__(
        self, measure: Measure, targets: Sequence[Target], tolerance: float
    ) -> None:
        self.measure, self.targets, self.tolerance = measure, targets, tolerance
        self.steering = [t for t in targets if t.is_about_use] or list(targets)
        self.sign = -1 if self.steering[0].is_about_use else 1
        self.result = Calibration()

    def _round(self, epsilon: float) -> float:
        return round_epsilon(epsilon, up=self.sign < 0)

    def _measure(self, epsilon: float, attempt: Attempt) -> ScoreBounds | None:
        """Measure, and remember."""
        found = self.measure(epsilon, attempt)
        if found is not None:
            self.result.tried.append(found)
        return found

    def look(self, start: float) -> float | None:
        """Find about the last epsilon at which the targets hold; None if none."""
        if all(target.is_linear for target in self.steering):
            return self._scale(start)
        # Outwards from the start: further while they hold, or until they do.
        margin = self._margin(start)
        held = margin >= 0
        factor = 2.0 ** (self.sign if held else -self.sign)
        outside = start
        for doubling in range(_DOUBLINGS):
            following = outside * factor
            last, margin = margin, self._margin(following)
            if (margin >= 0) != held:
                pair = (outside, following) if held else (following, outside)
                return self._bisect(*pair)
            outside = following
            if doubling > 2 and abs(margin - last) <= _STALE * abs(last):
                break  # the law has come to its limit
        self.result.is_binding = not held
        return outside if held else None

    def _scale(self, start: float) -> float | None:
        """Guess, for targets that grow as epsilon does."""
        for _ in range(2):
            found = self._measure(self._round(start), Attempt())
            known = [] if found is None else [t.likely(found) for t in self.steering]
            if found is None or None in known:
                return None
            start = found.epsilon * min(
                target.value / value
                for target, value in zip(self.steering, known, strict=True)
                if value
            )
        return start

    def _bisect(self, inside: float, outside: float) -> float:
        """Bisect for about the last epsilon at which the targets seem to hold."""
        while abs(math.log(outside / inside)) > self.tolerance:
            middle = math.sqrt(inside * outside)
            if self._margin(middle) >= 0:
                inside = middle
            else:
                outside = middle
        return inside

    def _margin(self, epsilon: float) -> float:
        """Tell by how much the steering targets seem to hold; negative: missed."""
        found = self._measure(self._round(epsilon), Attempt())
        if found is None:
            return -math.inf
        return min(target.margin(found) for target in self.steering)

    def settle(self, guess: float) -> ScoreBounds | None:
        """Check epsilons by what is measured there, from the guess to the safe side."""
        step, missed = 1 + self.tolerance, None
        epsilon, best = self._round(guess), None
        for number in range(1, _ATTEMPTS + 1):
            # Attempts share the chance of error, as sum 6 / (pi k)^2 = 1, and so do the
            # targets: each looks at one end, wrong half as often as its interval.
            share = (1 - _CONFIDENCE) * 6 / (math.pi * number) ** 2
            attempt = Attempt(number, 1 - 2 * share / len(self.targets))
            found = self._measure(epsilon, attempt)
            holds = found is not None and all(t.holds(found) for t in self.steering)
            if holds:
                best = found
            else:
                missed = epsilon
            following = self._next(best, missed, epsilon, step)
            if following is None or following == epsilon:
                break
            if not holds and best is None:
                step = min(step**2, _STRIDE)
            epsilon = following
        return best

    def _next(
        self,
        best: ScoreBounds | None,
        missed: float | None,
        epsilon: float,
        step: float,
    ) -> float | None:
        """Choose the epsilon to try after this; None where it is good enough."""
        if best is None:
            return self._round(epsilon * step ** (-self.sign))
        if missed is None:
            if not self.result.is_binding or not self._is_exact(best):
                return None
            return self._round(epsilon * step**self.sign)
        gap = abs(math.log(missed / best.epsilon))
        # An estimate that is near its target fails at random: stop sooner.
        if gap <= self.tolerance * (1.05 if self._is_exact(best) else 4):
            return None
        return self._round(math.sqrt(missed * best.epsilon))

    def _is_exact(self, found: ScoreBounds) -> bool:
        """Whether the value is exact: that of a reader never is."""
        estimates = ("reader", "sensitive")
        return found.is_exact and all(t.key not in estimates for t in self.steering)

    def conclude(self, best: ScoreBounds | None) -> None:
        """Take what was found if it keeps the targets that did not steer."""
        if best is None:
            self.result.problem = self._problem()
        elif broken := [target for target in self.targets if not target.holds(best)]:
            steering = self.steering[0]
            start = (
                f"{steering.key}={steering.value:g} needs epsilon {best.epsilon:g} or "
                "more. There, "
            )
            missed = "; ".join(_explain_miss(target, [best]) for target in broken)
            self.result.problem = start + missed
        else:
            self.result.chosen = best

    def _problem(self) -> str:
        """Say which target is missed, and what the best is that was reached."""
        tried = self.result.tried
        if not tried:
            return "there is no setting near the epsilons that were tried"
        worst = [t for t in self.steering if not any(map(t.holds, tried))]
        return "; ".join(
            _explain_miss(target, tried) for target in worst or self.steering
        )


def _explain_miss(target: Target, tried: Sequence[ScoreBounds]) -> str:
    """Say how near settings come to a target."""
    values = [(target.pessimistic(each), each.epsilon) for each in tried]
    known = [(value, at) for value, at in values if value is not None]
    if not known:
        return f"{target.score} is not known for it"
    side, sign, best_of = (
        ("at least", 1, "highest") if target.is_at_least else ("at most", -1, "lowest")
    )
    best, at = max(known, key=lambda pair: sign * pair[0])
    return (
        f"the {best_of} value of {target.score} that the search can show is "
        f"{best:.4g}, at epsilon {at:g}. Your target is {side} {target.value:g}"
    )
