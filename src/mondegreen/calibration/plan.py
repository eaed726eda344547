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
from mondegreen.calibration.search import Attempt, Calibration, calibrate, round_epsilon
from mondegreen.calibration.targets import Target, match_target
from mondegreen.errors import ConfigurationError
from mondegreen.mechanisms import mechanism_class
from mondegreen.mechanisms.noise.vickrey import T_GRID as T_GRID
from mondegreen.wording import amount

_TOLERANCE: Final = 0.01
_QUICK_TOLERANCE: Final = 0.04

_CURVE: Final = 8  # epsilons of a curve
_WIDTH: Final = 2.0  # from that of the transition over this to it times this

_LONG: Final = 60.0  # seconds that nobody need be told of
_SOON: Final = 5.0  # seconds after which the share that is done foretells the rest
_LOOKS: Final = 7
_CHECKS: Final = 4  # measurements of a search, as many as most take

Show = Callable[[str], object]


@final
@dataclass(frozen=True, slots=True)
class Row:
    """What was found for one mechanism: its parameters, and its epsilon if any."""

    setting: Setting
    calibration: Calibration

    @property
    def chosen(self) -> ScoreBounds | None:
        return self.calibration.chosen


@final
@dataclass(slots=True)
class Plan:
    """Targets that must all hold, for mechanisms that one evaluator measures.

    A ``vickrey`` without ``t`` gets the best one, and so does any mechanism that names
    a parameter to search. ``prior`` is that of the scores that
    decide between settings; ``reference`` is what was matched, and ``elsewhere`` the
    space where it was measured, if that is another one. ``show`` gets each step, and
    ``tell``, once of each piece of work, that it will take more than a minute.
    """

    evaluator: Evaluator
    settings: Sequence[Setting]
    targets: list[Target]
    prior: str = "sample"
    show: Show = lambda line: None
    tell: Show = lambda line: None
    reference: ScoreBounds | None = None
    elsewhere: str = ""
    _transitions: dict[str, float] = field(default_factory=dict)
    _looks: dict[str, list[float]] = field(default_factory=dict)  # their seconds

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
                    "the epsilons of two spaces have different units: use --match "
                    "with worst_loss, bayes_risk, n_w or privacy_ratio"
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
        started, is_told = perf_counter(), False

        def progress(share: float) -> None:
            nonlocal is_told
            self.show(f"measuring curves {share:.0%}")
            seconds = perf_counter() - started
            if not is_told and share > 0 and seconds > _SOON:
                is_told = True
                self._foretell("curves", seconds / share)

        return self.evaluator.curves(pairs, progress)

    def _row(self, setting: Setting) -> Row:
        """Calibrate one mechanism, with the parameter that it searches if any."""
        searched = mechanism_class(setting.name).searched
        if searched is None or searched[0] in setting.parameters:
            return Row(setting, self._solve(setting, self.evaluator))
        parameter, grid = searched
        rough = replace(self.evaluator, quick=True)
        searches = len(grid) if self.evaluator.quick else len(grid) + 1

        def at(t: float) -> Setting:
            return Setting(setting.name, {**setting.parameters, parameter: t})

        def solve(t: float, is_thorough: bool) -> Calibration:
            evaluator = self.evaluator if is_thorough else rough
            return self._solve(at(t), evaluator, searches)

        t, found = calibrate_vickrey(solve, self.targets, self.prior, grid)
        return Row(at(t), found)

    def _solve(
        self, setting: Setting, evaluator: Evaluator, searches: int = 1
    ) -> Calibration:
        """Search epsilon for one setting, of ``searches`` of its mechanism."""
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
                looks = self._looks.setdefault(setting.name, [])
                looks.append(perf_counter() - started)
                if len(looks) == 2:  # the first pays for what is prepared once
                    full = _outputs(QUICK if evaluator.quick else FULL)
                    times = _LOOKS + _CHECKS * full / _outputs(effort)
                    self._foretell(setting.name, min(looks) * times * searches)
            return found

        return calibrate(
            measure,
            self.targets,
            self._transition(setting),
            _QUICK_TOLERANCE if evaluator.quick else _TOLERANCE,
        )

    def _foretell(self, name: str, seconds: float) -> None:
        if seconds > _LONG:
            minutes = amount(math.ceil(seconds / 60), "minute")
            self.tell(f"{name}: up to about {minutes}. What is measured is kept.")

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
        return [round_epsilon(middle * _WIDTH**share, up=False) for share in shares]


def _outputs(effort: Effort) -> int:
    """Count the outputs that are drawn, for two priors."""
    return effort.words * effort.runs + 2 * effort.draws


# Choosing epsilon and t of Vickrey together: Algorithm 2 of Xu, Aggarwal, Feyisetan,
# Teissier, "On a Utilitarian Approach to Privacy Preserving Text Generation",
# PrivateNLP 2021, made safe. The printed algorithm doubles epsilon at t = 0 until the
# utility loss fits the budget, and then looks for the t with the largest inference
# error at that one epsilon. There hardly any t > 0 fits, since the loss grows with t.
# Here every t has its own epsilon, the smallest that fits, and the best of these pairs
# is taken.


def calibrate_vickrey(
    solve: Callable[[float, bool], Calibration],
    targets: Sequence[Target],
    prior: str,
    grid: Sequence[float] = T_GRID,
) -> tuple[float, Calibration]:
    """Find the t and its epsilon that keep all targets and are preferred.

    For each t a rough search for the epsilon that keeps the targets; the t whose
    setting is preferred (:func:`preference`); and a thorough search for that t alone.
    Where this ends without a setting, the next t is taken. ``solve(t, is_thorough)``
    searches epsilon at one t; ``prior`` is that of the inference error.

    Differs from the paper besides: the doubling ends, since at t = 1 the loss has a
    floor that no epsilon gets below, and in the printed form of Vickrey at every t;
    losses are compared at the upper end of their interval; prior and loss come from
    PUBLIC text, since what is tuned on private text tells about it. The numbers of the
    setting that is returned are drawn anew, after the choice.
    """
    found = [(t, solve(t, False)) for t in grid]
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
    problem = calibration.problem or "no value of t could be shown to meet the targets"
    return t, Calibration(None, tried or calibration.tried, problem)


def preference(
    setting: ScoreBounds | None, targets: Sequence[Target], prior: str
) -> float:
    """Sort key of settings that keep the same targets, the best first.

    Under a budget of utility, that of the larger inference error, at its lower end,
    as in the paper. Under targets of privacy, that of the smaller utility loss, at its
    upper end.
    """
    if setting is None:
        return math.inf
    if any(target.is_about_use for target in targets):
        return -setting.scores.get(f"inference_error_{prior}", (0.0, 0.0))[0]
    return setting.scores.get(f"utility_loss_share_{prior}", (0.0, 1.0))[1]
