"""Calibrating several mechanisms to the same targets, and choosing among them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Final, final

import numpy as np

from mondegreen.calibration.evaluate import Evaluator, Setting
from mondegreen.calibration.score_bounds import (
    FULL,
    QUICK,
    ROUGH,
    ROUGH_SUPPORT,
    Effort,
    ScoreBounds,
)
from mondegreen.calibration.search import Attempt, Calibration, calibrate, rounded
from mondegreen.calibration.targets import Target, match_target
from mondegreen.errors import ConfigurationError
from mondegreen.mechanisms.base import Progress
from mondegreen.wording import amount

_TOLERANCE: Final = 0.01
_QUICK_TOLERANCE: Final = 0.04

_CURVE: Final = 8
"""Epsilons of a curve."""

_WIDTH: Final = 2.0
"""A curve goes from the epsilon of the transition over this factor to it times this."""

_LONG: Final = 60.0
"""Seconds that nobody need be told of."""

_LOOKS: Final = 7
_CHECKS: Final = 4
"""Measurements of a search, as many as most take."""

_SOON: Final = 5.0
"""Seconds after which the share that is done says how long the rest will take."""

T_GRID: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Weights of the second neighbour that are tried."""

Show = Callable[[str], object]
Solve = Callable[[float, bool], Calibration]


@final
@dataclass(frozen=True, slots=True)
class Row:
    """What was found for one mechanism: its parameters, and its epsilon if any."""

    setting: Setting
    calibration: Calibration

    @property
    def chosen(self) -> ScoreBounds | None:
        """The setting that keeps all targets, if there is one."""
        return self.calibration.chosen


@final
@dataclass(slots=True)
class Forecast:
    """Says once of each piece of work that it will take more than a minute."""

    tell: Show = lambda line: None
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
        """Watch the share that is done, and hand it on."""
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
    """Count the outputs that are drawn for two priors."""
    return effort.words * effort.runs + 2 * effort.draws


@final
@dataclass(slots=True)
class Plan:
    """Targets, all of which must hold, for mechanisms that one evaluator measures.

    A ``vickrey`` without ``t`` gets the best one. ``prior`` is that of the scores that
    decide between settings.
    """

    evaluator: Evaluator
    settings: Sequence[Setting]
    targets: list[Target]
    prior: str = "sample"
    show: Show = lambda line: None
    forecast: Forecast = field(default_factory=Forecast)
    reference: ScoreBounds | None = None
    """What was matched."""
    elsewhere: str = ""
    """The space where the reference was measured, if it is another one."""
    _transitions: dict[str, float] = field(default_factory=dict)

    def match(
        self, by: str, to: Setting, epsilon: float, over: str, evaluator: Evaluator
    ) -> None:
        """Add the target of being as private as a reference, in a named sense.

        ``evaluator`` is that of the reference; its space may be another one.
        """
        if evaluator.space.digest != self.evaluator.space.digest:
            self.elsewhere = evaluator.space.name
            if by == "certified_epsilon":
                raise ConfigurationError(
                    "epsilons of two spaces are per unit of different distances: match "
                    "worst_loss, bayes_risk, n_w or privacy_ratio"
                )
        self.show(f"{to.name}: measuring the reference")
        found = evaluator.try_at(to, epsilon, certify=True)
        if found is None:
            raise ConfigurationError(
                f"--to: {to.name} has no setting at epsilon {epsilon:g} on this space"
            )
        self.reference = found
        self.targets.append(match_target(found, by, over=over, prior=self.prior))

    def rows(self) -> list[Row]:
        """Calibrate every mechanism; none without a target."""
        return [self._row(setting) for setting in self.settings if self.targets]

    def best(self, rows: Sequence[Row]) -> ScoreBounds | None:
        """Choose the setting to take: see :func:`preference`."""
        found = [row.chosen for row in rows if row.chosen is not None]
        found.sort(key=lambda each: preference(each, self.targets, self.prior))
        return found[0] if found else None

    def curves(
        self, rows: Sequence[Row], epsilons: Sequence[float] = ()
    ) -> list[ScoreBounds]:
        """Measure every mechanism at epsilons, by default around its transition."""
        settings = [row.setting for row in rows] or list(self.settings)
        pairs = [(each, epsilons or self._around(each)) for each in settings]
        progress = self.forecast.advancing(
            "curves", lambda share: self.show(f"measuring curves {share:.0%}")
        )
        return self.evaluator.curves(pairs, progress)

    def _row(self, setting: Setting) -> Row:
        """Calibrate one mechanism, t of Vickrey included where it is open."""
        if setting.name != "vickrey" or "t" in setting.parameters:
            return Row(setting, self._solved(setting, self.evaluator))
        rough = replace(self.evaluator, quick=True)
        searches = len(T_GRID) if self.evaluator.quick else len(T_GRID) + 1

        def at(t: float) -> Setting:
            return Setting(setting.name, {**setting.parameters, "t": t})

        t, found = calibrate_vickrey(
            lambda t, is_thorough: self._solved(
                at(t), self.evaluator if is_thorough else rough, searches
            ),
            self.targets,
            self.prior,
        )
        return Row(at(t), found)

    def _solved(
        self, setting: Setting, evaluator: Evaluator, searches: int = 1
    ) -> Calibration:
        """Search epsilon for one setting, of as many as there are of its mechanism."""
        keys = {target.key for target in self.targets}
        certify = bool(keys & {"certified_epsilon", "worst_loss"})
        effort = ROUGH_SUPPORT if "s_w" in keys else ROUGH
        rough = replace(evaluator, quick=True, effort=effort)

        def measure(epsilon: float, attempt: Attempt) -> ScoreBounds | None:
            what = "looking at" if attempt.is_rough else "checking"
            line = f"{setting}: {what} epsilon {epsilon:.4g}"
            self.show(line)
            started = perf_counter()
            found = replace(
                rough if attempt.is_rough else evaluator,
                seed=evaluator.seed + 1000 * attempt.number,
                confidence=attempt.confidence,
            ).try_at(
                setting,
                epsilon,
                certify=certify and not attempt.is_rough,
                progress=lambda share: self.show(f"{line} {share:.0%}"),
            )
            if attempt.is_rough:
                seconds = perf_counter() - started
                full = QUICK if evaluator.quick else FULL
                self.forecast.look(setting.name, seconds, effort, full, searches)
            return found

        return calibrate(
            measure,
            self.targets,
            self._transition(setting),
            tolerance=_QUICK_TOLERANCE if evaluator.quick else _TOLERANCE,
        )

    def _transition(self, setting: Setting) -> float:
        """Find where the curve of a setting turns, once."""
        name = str(setting)
        if name not in self._transitions:
            self.show(f"{name}: finding where it turns")
            self._transitions[name] = self.evaluator.transition(setting)
        return self._transitions[name]

    def _around(self, setting: Setting) -> list[float]:
        """List the epsilons of a curve around its transition."""
        middle = self._transition(setting)
        shares = np.linspace(-1.0, 1.0, _CURVE)
        return [rounded(middle * _WIDTH**share, up=False) for share in shares]


# Choosing epsilon and t of Vickrey together: Algorithm 2 of Xu, Aggarwal, Feyisetan,
# Teissier, "On a Utilitarian Approach to Privacy Preserving Text Generation",
# PrivateNLP 2021, made safe. The printed algorithm doubles epsilon at t = 0 until the
# utility loss fits the budget, and then looks for the t with the largest inference
# error at that one epsilon. There hardly any t > 0 fits, since the loss grows with t.
# Here every t has its own epsilon, the smallest that fits, and the best of these pairs
# is taken.


def calibrate_vickrey(
    solve: Solve, targets: Sequence[Target], prior: str
) -> tuple[float, Calibration]:
    """Find the t and its epsilon that keep all targets and are preferred.

    For each t a rough search for the epsilon that keeps the targets; the t whose
    setting is preferred (:func:`preference`); and a thorough search for that t alone.
    Where this ends without a setting, the next t is taken. ``solve(t, is_thorough)``
    searches epsilon at one t; ``prior`` is that of the inference error.

    Differs from the paper besides: the doubling ends, since for t > 0 the loss has a
    floor that no epsilon gets below; losses are compared at the upper end of their
    interval; prior and loss come from PUBLIC text, since what is tuned on private text
    tells about it. The numbers of the setting that is returned are drawn anew, after
    the choice.
    """
    found = [(t, solve(t, False)) for t in T_GRID]
    found.sort(key=lambda each: preference(each[1].chosen, targets, prior))
    tried: list[ScoreBounds] = []
    for t, rough in found:
        if rough.chosen is None:
            break
        calibration = solve(t, True)
        tried += calibration.tried
        if calibration.chosen is not None:
            return t, calibration
    t, calibration = found[0]
    problem = calibration.problem or "no value of t has a setting that is sure to fit"
    return t, Calibration(tuple(targets), None, tried or calibration.tried, problem)


def preference(
    setting: ScoreBounds | None, targets: Sequence[Target], prior: str
) -> tuple[float, float]:
    """Sort key of settings that keep the same targets, the best first.

    Under a budget of utility, that of the larger inference error, at its lower end,
    as in the paper. Under targets of privacy, that of the smaller utility loss, at its
    upper end.
    """
    if setting is None:
        return 1.0, 0.0
    if any(target.is_about_use for target in targets):
        error = setting.scores.get(f"inference_error_{prior}", (0.0, 0.0))
        return 0.0, -error[0]
    loss = setting.scores.get(f"utility_loss_share_{prior}", (0.0, 1.0))
    return 0.0, loss[1]
