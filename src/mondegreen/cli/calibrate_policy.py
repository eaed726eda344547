"""``mondegreen calibrate`` for policies: epsilon, mechanism and size of groups."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import click

from mondegreen.cli.render import (
    MUST_BE_PUBLIC,
    echo_json,
    progress,
    say,
    shower,
    table,
)
from mondegreen.errors import ConfigurationError
from mondegreen.settings import SYMBOL_MECHANISMS, Settings
from mondegreen.wording import amount, figure, figures

if TYPE_CHECKING:
    from mondegreen.calibration.policies import PolicyPlan, PolicyRow, PolicyScores
    from mondegreen.calibration.targets import Target

_DEFAULT: Final = "sensitive"
_HEADER: Final = (
    "mechanism",
    "epsilon",
    "groups of",
    "sensitive words recovered",
    "by the group alone",
    "ordinary words kept",
)
_FEWEST: Final = 25
"""Fewer measured texts make an interval so wide that no target is kept."""

_NOTE: Final = """\
recovered: share of the sensitive words that an attacker guesses who sees the ordinary \
words, knows the policy and its probabilities, and has the rest of SAMPLE; 95 % \
interval. Which words count is one fixed list.
kept: share of the ordinary words that stay."""


def calibrate_policy(
    sample: str,
    columns: tuple[str, ...],
    format: Any,
    sheet: str | None,
    encoding: str | None,
    settings: Settings,
    targets: Sequence[Target],
    mechanisms: Sequence[str],
    epsilons: Sequence[float],
    *,
    seed: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Find settings of a policy, and print them with the command to copy."""
    from mondegreen.calibration.policies import (
        EPSILONS,
        PolicyPlan,
        check_policy_targets,
        read_policy_sample,
    )
    from mondegreen.io.open import open_source

    check_policy_targets(targets)
    settings = replace(
        settings,
        policy=settings.policy or _DEFAULT,
        mechanism=mechanisms[0] if mechanisms else None,
    ).resolve()
    if settings.policy == "all":
        raise ConfigurationError(
            "--policy all has no ordinary words: name a mechanism, such as -m tree, "
            "and a target such as reader=0.3"
        )
    more: dict[str, Any] = {"seed": seed, "show": shower(quiet)}
    if mechanisms:
        more["mechanisms"] = mechanisms
    else:
        # The default first, then the other ones.
        own = str(settings.mechanism)
        rest = sorted(set(SYMBOL_MECHANISMS) - {own})
        more["mechanisms"] = (own, *rest)
    if _is_given("hide_among"):
        more["sizes"] = (settings.hide_among,)
    with (
        open_source(
            sample,
            format=format,
            columns=columns,
            missing="pass",
            sheet=sheet,
            encoding=encoding,
        ) as source,
        progress(source, quiet=quiet) as advance,
    ):
        read = read_policy_sample(source, advance)
    if not quiet:
        say(MUST_BE_PUBLIC)
        say(
            f"The attacker learns from {amount(len(read.corpus), 'text')}. The command "
            f"chooses settings on {len(read.look):,} other texts, and measures the "
            f"figures on {len(read.check):,} more. This takes up to a minute."
        )
    plan = PolicyPlan(settings, read, targets, **more)
    rows = plan.rows() if targets else []
    chosen = plan.best(rows)
    if targets and chosen is None:
        others = plan.alternatives()
        more["show"]("")
        raise ConfigurationError(_why_not(plan, rows, others))
    shown = [] if targets else plan.curve(epsilons or EPSILONS)
    more["show"]("")
    command = None if chosen is None else _command(settings, chosen, columns)
    if as_json:
        found = {
            "policy": settings.policy,
            "policy_digest": plan.policy(plan.sizes[0]).digest,
            "sample": read.to_dict(),
            "seed": seed,
            "targets": [
                {"key": t.key, "value": t.value, "score": t.score, "meaning": str(t)}
                for t in targets
            ],
            "rows": [
                {
                    **row.to_dict(),
                    "command": row.chosen and _command(settings, row.chosen, columns),
                }
                for row in rows
            ],
            "chosen": chosen and chosen.to_dict(),
            "command": command,
            "curves": [each.to_dict() for each in shown],
        }
        echo_json(found)
        return
    click.echo("\n".join(_lines(plan, rows, shown, command)))


def _lines(
    plan: PolicyPlan,
    rows: Sequence[PolicyRow],
    shown: Sequence[PolicyScores],
    command: str | None,
) -> Iterator[str]:
    sample, policy = plan.sample, plan.policy(plan.sizes[0])
    size = f"{amount(sample.texts, 'text')}, {amount(sample.words, 'word')} read"
    yield f"sample  {sample.name}: {size}"
    yield f"policy  {policy.name}, SHA-256 {policy.digest[:12]}"
    yield from (f"target  {target}" for target in plan.targets)
    found = [*(row.chosen for row in rows if row.chosen is not None), *shown]
    yield from ["", *table([_HEADER, *map(_cells, found)], align="<>>>>>"), "", _NOTE]
    for row in rows:
        name = f"{row.mechanism}, groups of {_size(row.hide_among)}"
        if row.chosen is None:
            yield f"{name}: no epsilon. {row.problem}"
        elif not row.is_binding and all(t.key == "sensitive" for t in plan.targets):
            yield f"{name}: the target holds at every epsilon tried."
    if command is not None:
        if any(target.key == "ordinary" for target in plan.targets):
            yield (
                "\nThis is the smallest epsilon that keeps the targets. A larger one, "
                "such as 12, keeps more ordinary words, and bounds less between groups."
            )
        yield f"\ntake:\n  {command}"


def _cells(scores: PolicyScores) -> list[str]:
    read = scores.sensitive
    cells = [scores.mechanism, f"{scores.epsilon:g}", _size(scores.hide_among)]
    if read is None or read.value is None:
        cells += ["-", "-"]
    else:
        ends = figures(read.low or 0.0, read.high or 0.0, "percent", digits=3)
        alone = read.details["group_alone"]["value"]
        cells += [f"{_percent(read.value)} ({ends} of {read.n:,})", _percent(alone)]
    return [*cells, _percent(scores.ordinary)]


def _percent(share: float) -> str:
    return f"{figure(share, 'percent', digits=3)} %"


def _size(hide_among: int) -> str:
    from mondegreen.calibration.policies import WHOLE_CLASSES

    return "whole classes" if hide_among == WHOLE_CLASSES else f"{hide_among:,}"


def _why_not(
    plan: PolicyPlan, rows: Sequence[PolicyRow], others: Sequence[PolicyRow]
) -> str:
    """Say what was tried, and what would reach the target of sensitive words."""
    wanted = "; ".join(map(str, plan.targets))
    what = "the target" if len(plan.targets) == 1 else "all targets"
    lines = [f"no setting of the policy {plan.settings.policy} meets {what}: {wanted}."]
    if (count := len(plan.sample.check)) < _FEWEST:
        lines.append(
            f"Too few texts: {count} were measured, one of four in SAMPLE. Use at "
            f"least {4 * _FEWEST} texts."
        )
        return "\n".join(lines)
    for row in rows:
        lines.append(
            f"{row.mechanism}, groups of {_size(row.hide_among)}: {row.problem}."
        )
    lines.append(
        "The other words give the hidden words away. Larger groups do not help."
    )
    for row in others:
        if row.chosen is not None:
            lines.append(
                f"-m {row.mechanism} at epsilon {row.chosen.epsilon:g} meets the "
                "target of sensitive words. It keeps "
                f"{_percent(row.chosen.ordinary)} of the ordinary words."
            )
    lines.append("--policy all replaces every word.")
    return "\n".join(lines)


def _command(settings: Settings, chosen: PolicyScores, columns: Sequence[str]) -> str:
    """Write the command that privatizes with a setting."""
    context = click.get_current_context().params
    parts = ["mondegreen", "privatize", "INPUT", "-o", "OUTPUT"]
    for column in columns if tuple(columns) != ("text",) else ():
        parts += ["--column", column]
    parts += ["--policy", str(settings.policy), "--mechanism", chosen.mechanism]
    parts += ["--epsilon", f"{chosen.epsilon:g}"]
    if chosen.hide_among != Settings().hide_among:
        parts += ["--hide-among", str(chosen.hide_among)]
    if settings.most_ordinary is not None:
        parts += ["--most-ordinary", str(settings.most_ordinary)]
    for name in ("ordinary", "sensitive"):
        if context.get(name) is not None:
            parts += [f"--{name}", context[name]]
    for flag, classes in (("--open", settings.opened), ("--hide", settings.hidden)):
        for each in classes:
            parts += [flag, each]
    return shlex.join(parts)


def _is_given(name: str) -> bool:
    source = click.get_current_context().get_parameter_source(name)
    return source is click.core.ParameterSource.COMMANDLINE


def check_options_of_policy(names: Sequence[str]) -> None:
    """Refuse options that only mechanisms over a space have."""
    for name in names:
        if _is_given(name):
            raise ConfigurationError(
                f"--{name.replace('_', '-')} is for mechanisms on a space: name one, "
                "such as -m tree"
            )
