"""What ``mondegreen calibrate`` prints: a row for each mechanism, and what to copy."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, final

from mondegreen.calibration.evaluate import Setting
from mondegreen.calibration.plan import Plan, Row
from mondegreen.calibration.sample import Sample
from mondegreen.calibration.score_bounds import ScoreBounds
from mondegreen.calibration.targets import MATCHES
from mondegreen.mechanisms import mechanism_class
from mondegreen.space.store import DEFAULT_SPACE
from mondegreen.wording import amount

_COLUMNS: Final = (
    ("certified", "certified_epsilon", "number"),
    ("worst loss", "worst_loss", "number"),
    ("N_w mean", "n_w_mean", "percent"),
    ("N_w 95 %", "n_w_95", "percent"),
    ("S_w 5 %", "s_w_05", "count"),
    ("risk uniform", "bayes_risk_uniform", "percent"),
    ("risk sample", "bayes_risk_sample", "percent"),
    ("loss", "utility_loss_share_{prior}", "percent"),
)


@final
@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything that is printed.

    Parameters
    ----------
    plan : Plan
        What was asked for.
    rows : tuple of Row
        One for each mechanism; none without targets.
    chosen : ScoreBounds or None
        The setting to take.
    curves : tuple of ScoreBounds
        Other epsilons, if they were measured.
    sample : Sample
        Its size is printed, nothing else of it.
    columns : tuple of str
        Columns with text, for the command line.
    space : str
        As it was given.
    """

    plan: Plan
    rows: tuple[Row, ...]
    chosen: ScoreBounds | None
    curves: tuple[ScoreBounds, ...]
    sample: Sample
    columns: tuple[str, ...]
    space: str


def lines_of(found: Outcome) -> list[str]:
    """Return what people read."""
    sample, plan = found.sample, found.plan
    lines = [
        f"sample  {sample.name}: {amount(sample.texts, 'text')}, "
        f"{amount(sample.words, 'word')}, "
        f"{sample.unknown / sample.words:.1%} of them unknown",
        *(f"target  {target}" for target in plan.targets),
    ]
    if plan.reference is not None:
        by = plan.targets[-1].key
        where = f" on {plan.elsewhere}" if plan.elsewhere else ""
        lines.append(f"match   {_name(plan.reference)}{where}: {MATCHES[by]}")
    settings = [row.chosen for row in found.rows if row.chosen is not None]
    shown, size = settings or list(found.curves), plan.evaluator.space.vocab_size
    lines += ["", *_table(shown, plan.prior, size), ""]
    for row in found.rows:
        if row.chosen is None:
            lines += [f"{row.setting}: no epsilon. {row.calibration.problem}", ""]
        elif not row.calibration.is_binding:
            lines += [f"{row.setting}: the target holds at every epsilon tried.", ""]
    lines += _notes(shown, plan)
    if found.chosen is not None:
        lines += ["", "take:", f"  {command_of(found, found.chosen)}"]
    return lines


def _table(settings: Sequence[ScoreBounds], prior: str, vocab_size: int) -> list[str]:
    """Return settings in columns."""
    head = ["mechanism", "epsilon", *(name for name, _, _ in _COLUMNS), "metric"]
    table = [head]
    for each in settings:
        cells = [
            _ends(each.scores.get(score.format(prior=prior)), kind, vocab_size)
            for _, score, kind in _COLUMNS
        ]
        table.append([_short(each), f"{each.epsilon:g}", *cells, each.metric])
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(
            f"{cell:{width}}" if place in (0, len(head) - 1) else f"{cell:>{width}}"
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]


def _notes(settings: Sequence[ScoreBounds], plan: Plan) -> list[str]:
    """Say how to read the table."""
    notes = [
        "certified: nats per unit of the metric; worst loss: nats between any two "
        "words, at most.",
        "N_w: chance that a word stays, on average, and at most that for 95 % of the "
        "words.",
        "S_w: likely outputs (95 % of the probability), at least that for 95 % of the "
        "words.",
        "risk: how often the best guess of a word is wrong, without its context.",
        f"loss: distance moved, as a share of that of a random word ({plan.prior} "
        "prior).",
    ]
    if any(low < high for each in settings for low, high in each.scores.values()):
        notes.append(
            "a to b: intervals of 95 % or more; the target holds at the worse end."
        )
    if len({_uncut(each.metric) for each in settings}) > 1:
        notes.append(
            "Metrics differ, so epsilons do not compare; worst loss and risk do."
        )
    return notes


def infeasible(plan: Plan, rows: Sequence[Row]) -> str:
    """Say why no mechanism keeps the targets."""
    why = "; ".join(f"{row.setting}: {row.calibration.problem}" for row in rows)
    asked = "; ".join(map(str, plan.targets))
    return f"no epsilon was found that is sure to keep: {asked}. {why}"


def values_of(found: Outcome) -> dict[str, Any]:
    """Return JSON values."""
    plan, space = found.plan, found.plan.evaluator.space
    return {
        "space": space.name,
        "space_digest": space.digest,
        "sample": found.sample.to_dict(),
        "quick": plan.evaluator.quick,
        "seed": plan.evaluator.seed,
        "prior": plan.prior,
        "targets": [
            {
                "key": target.key,
                "value": target.value,
                "score": target.score,
                "meaning": str(target),
            }
            for target in plan.targets
        ],
        "reference": plan.reference and plan.reference.to_dict(),
        "reference_space": plan.reference and (plan.elsewhere or space.name),
        "rows": [
            {
                "mechanism": row.setting.name,
                "feasible": row.chosen is not None,
                "binding": row.calibration.is_binding,
                "problem": row.calibration.problem or None,
                "epsilon": row.chosen and row.chosen.epsilon,
                "measurement": row.chosen and row.chosen.to_dict(),
                "command": row.chosen and command_of(found, row.chosen),
            }
            for row in found.rows
        ],
        "chosen": found.chosen and found.chosen.to_dict(),
        "command": found.chosen and command_of(found, found.chosen),
        "curves": [each.to_dict() for each in found.curves],
    }


def command_of(found: Outcome, setting: ScoreBounds) -> str:
    """Return the command that privatizes with a setting."""
    parts = ["mondegreen", "privatize", "INPUT", "-o", "OUTPUT"]
    if found.columns != ("text",):
        for column in found.columns:
            parts += ["--column", column]
    parts += ["--mechanism", setting.mechanism, "--epsilon", f"{setting.epsilon:.10g}"]
    for name, value in setting.parameters.items():
        if value is not None and value != _default(setting.mechanism, name):
            plain = value if isinstance(value, str) else json.dumps(value)
            parts += ["--set", f"{name}={plain}"]
    if found.space != DEFAULT_SPACE:
        parts += ["--space", found.space]
    if not mechanism_class(setting.mechanism).is_private:
        parts.append("--allow-unproved")
    return shlex.join(parts)


def _default(mechanism: str, name: str) -> object:
    """Return the default of a parameter."""
    declared = mechanism_class(mechanism).parameters()
    return next((each["default"] for each in declared if each["name"] == name), None)


def _short(setting: ScoreBounds) -> str:
    """Return a mechanism and what of it is not the default."""
    given = {
        name: value
        for name, value in setting.parameters.items()
        if value is not None and value != _default(setting.mechanism, name)
    }
    return str(Setting(setting.mechanism, given))


def _name(setting: ScoreBounds) -> str:
    return f"{_short(setting)} at epsilon {setting.epsilon:g}"


def _uncut(metric: str) -> str:
    """Return a metric without where it is cut off: the promise only gets stronger."""
    return metric.removeprefix("min(").partition(",")[0]


def _ends(ends: tuple[float, float] | None, kind: str, vocab_size: int) -> str:
    """Return a score as people read it, with both ends if they differ."""
    if ends is None:
        return "-"
    if kind == "count" and ends[0] < ends[1] == vocab_size:
        return f"{ends[0]:,.0f} or more"
    low, high = (_plain(end, kind) for end in ends)
    unit = " %" if kind == "percent" else ""
    return f"{low}{unit}" if low == high else f"{low} to {high}{unit}"


def _plain(value: float, kind: str) -> str:
    if kind == "percent":
        return f"{100 * value:.3g}"
    return f"{value:,.0f}" if kind == "count" else f"{value:.4g}"
