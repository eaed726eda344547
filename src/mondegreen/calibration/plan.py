"""Calibrating several mechanisms to the same targets, and choosing among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import final

from mondegreen.calibration.forecast import Forecast
from mondegreen.calibration.found import FULL, QUICK, ROUGH_SUPPORT
from mondegreen.calibration.matching import match_target
from mondegreen.calibration.measurement import Measurement
from mondegreen.calibration.search import Attempt, Calibration, calibrate
from mondegreen.calibration.setting import Bench, Setting
from mondegreen.calibration.targets import Target
from mondegreen.calibration.vickrey import T_GRID, calibrate_vickrey, preference
from mondegreen.errors import ConfigurationError

_TOLERANCE = 0.01
_QUICK_TOLERANCE = 0.04

Show = Callable[[str], object]


@final
@dataclass(frozen=True, slots=True)
class Row:
    """What was found for one mechanism.

    Parameters
    ----------
    setting : Setting
        With the parameters that were chosen.
    calibration : Calibration
        Its epsilon, or why there is none.
    """

    setting: Setting
    calibration: Calibration

    @property
    def chosen(self) -> Measurement | None:
        """The setting that keeps all targets, if there is one."""
        return self.calibration.chosen


@final
@dataclass(slots=True)
class Plan:
    """Targets for mechanisms on one bench.

    Parameters
    ----------
    bench : Bench
        Where they are measured.
    settings : sequence of Setting
        A ``vickrey`` without ``t`` gets the best one.
    targets : list of Target
        All must hold.
    prior : str
        Of the scores that decide between settings.
    show : callable
        Called with a line of progress.
    forecast : Forecast
        Told of the time that measurements take.
    reference : Measurement or None
        What was matched.
    elsewhere : str
        The space where the reference was measured, if it is another one.
    """

    bench: Bench
    settings: Sequence[Setting]
    targets: list[Target]
    prior: str = "sample"
    show: Show = lambda line: None
    forecast: Forecast = field(default_factory=Forecast)
    reference: Measurement | None = None
    elsewhere: str = ""
    _switches: dict[str, float] = field(default_factory=dict)

    def match(
        self,
        by: str,
        to: Setting,
        epsilon: float,
        over: str,
        bench: Bench,
    ) -> None:
        """Add the target of being as private as a reference, in a named sense.

        ``bench`` is that of the reference; its space may be another one.
        """
        if bench.space.digest != self.bench.space.digest:
            self.elsewhere = bench.space.name
            if by == "certified_epsilon":
                raise ConfigurationError(
                    "epsilons of two spaces are per unit of different distances: match "
                    "worst_loss, bayes_risk, n_w or privacy_ratio"
                )
        self.show(f"{to.name}: measuring the reference")
        attempt = Attempt(is_rough=False)
        (found,) = bench.measured(to, [epsilon], attempt, certify=True)
        if found is None:
            raise ConfigurationError(
                f"--to: {to.name} has no setting at epsilon {epsilon:g} on this space"
            )
        self.reference = found
        self.targets.append(match_target(found, by, over=over, prior=self.prior))

    def rows(self) -> list[Row]:
        """Calibrate every mechanism; none without a target."""
        return [self._row(setting) for setting in self.settings if self.targets]

    def best(self, rows: Sequence[Row]) -> Measurement | None:
        """Return the setting to take: see :func:`preference`."""
        found = [row.chosen for row in rows if row.chosen is not None]
        found.sort(key=lambda each: preference(each, self.targets, self.prior))
        return found[0] if found else None

    def curves(
        self, rows: Sequence[Row], epsilons: Sequence[float] = ()
    ) -> list[Measurement]:
        """Return measurements at the epsilons of a curve for every mechanism."""
        settings = [row.setting for row in rows] or list(self.settings)
        pairs = [
            (each, epsilons or self.bench.epsilons(self._switch(each)))
            for each in settings
        ]
        progress = self.forecast.advancing(
            "curves", lambda share: self.show(f"measuring curves {share:.0%}")
        )
        return self.bench.curves(pairs, progress)

    def _row(self, setting: Setting) -> Row:
        """Calibrate one mechanism, t of Vickrey included where it is open."""
        if setting.name != "vickrey" or "t" in setting.parameters:
            return Row(setting, self._solved(setting, self.bench))
        rough = replace(self.bench, quick=True)
        searches = len(T_GRID) if self.bench.quick else len(T_GRID) + 1

        def at(t: float) -> Setting:
            return Setting(setting.name, {**setting.parameters, "t": t})

        t, found = calibrate_vickrey(
            lambda t, is_thorough: self._solved(
                at(t), self.bench if is_thorough else rough, searches
            ),
            self.targets,
            self.prior,
        )
        return Row(at(t), found)

    def _solved(self, setting: Setting, bench: Bench, searches: int = 1) -> Calibration:
        """Search epsilon for one setting, of as many as there are of its mechanism."""
        keys = {target.key for target in self.targets}
        certify = bool(keys & {"certified_epsilon", "worst_loss"})
        if "s_w" in keys:
            bench = replace(bench, rough=ROUGH_SUPPORT)

        def measure(
            epsilons: Sequence[float], attempt: Attempt
        ) -> list[Measurement | None]:
            what = "looking at" if attempt.is_rough else "checking"
            line = f"{setting}: {what} epsilon {epsilons[0]:.4g}"
            self.show(line)
            started = perf_counter()
            found = bench.measured(
                setting,
                epsilons,
                attempt,
                certify=certify,
                progress=lambda share: self.show(f"{line} {share:.0%}"),
            )
            if attempt.is_rough:
                seconds = perf_counter() - started
                full = QUICK if bench.quick else FULL
                self.forecast.look(setting.name, seconds, bench.rough, full, searches)
            return found

        return calibrate(
            measure,
            self.targets,
            self._switch(setting),
            tolerance=_QUICK_TOLERANCE if bench.quick else _TOLERANCE,
        )

    def _switch(self, setting: Setting) -> float:
        """Return where the curve of a setting is, found once."""
        name = str(setting)
        if name not in self._switches:
            self.show(f"{name}: finding its switch")
            self._switches[name] = self.bench.switch(setting)
        return self._switches[name]
