"""``mondegreen calibrate``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from mondegreen.cli import completion
from mondegreen.cli.options import columns_option, space_option
from mondegreen.cli.sample import PUBLIC_SAMPLE, counted
from mondegreen.errors import (
    ConfigurationError,
    InvalidParameterError,
    UnprovedGuaranteeError,
)
from mondegreen.wording import amount

if TYPE_CHECKING:
    from mondegreen.calibration.evaluate import Setting
    from mondegreen.space.space import Space


@click.command()
@click.argument("sample", type=click.Path(allow_dash=True, path_type=str))
@columns_option
@click.option(
    "--format",
    type=click.Choice(["txt", "csv", "tsv", "jsonl", "parquet"]),
    help="Of SAMPLE.  [default: what the name tells; txt for -]",
)
@click.option(
    "-m",
    "--mechanism",
    "names",
    multiple=True,
    default=("calibrated",),
    show_default=True,
    metavar="NAME[:KEY=VALUE,...]",
    shell_complete=completion.mechanisms,
    help="With parameters, such as vickrey:t=0.25. Without t, vickrey chooses it too. "
    "Repeatable.",
)
@click.option(
    "-t",
    "--target",
    "targets",
    multiple=True,
    metavar="KEY=VALUE",
    help="n_w (chance to stay, at most), s_w (likely outputs, at least), bayes_risk "
    "(error of the best guess, at least), certified_epsilon, worst_loss (nats; at "
    "most), utility_loss (share of the distance of a random word, at most). "
    "Repeatable: all must hold.",
)
@click.option(
    "--over",
    type=click.Choice(["worst", "P99", "P95", "P90", "P75", "P50", "mean"]),
    default="P95",
    show_default=True,
    help="Words that must keep n_w and s_w: all, that percentage of the vocabulary, or "
    "their mean.",
)
@click.option(
    "--prior",
    type=click.Choice(["sample", "uniform"]),
    default="sample",
    show_default=True,
    help="What bayes_risk and utility_loss are about: the word frequencies of SAMPLE, "
    "each word of the vocabulary counted once more than it occurs, or every word "
    "alike. By the frequencies as they are, a guess may be right more often; in a "
    "small SAMPLE, far more often.",
)
@click.option(
    "--match",
    type=click.Choice(
        ["bayes_risk", "certified_epsilon", "n_w", "privacy_ratio", "worst_loss"]
    ),
    help="In place of a target: be as private as --to, in this sense.",
)
@click.option(
    "--to",
    metavar="NAME[:KEY=VALUE,...]:EPSILON",
    shell_complete=completion.mechanisms,
    help="The setting to be as private as, such as laplace:12. For --match.",
)
@click.option(
    "--to-space",
    metavar="NAME|PATH",
    shell_complete=completion.spaces,
    help="Where --to is measured.  [default: that of --space]",
)
@click.option(
    "-e",
    "--epsilon",
    "epsilons",
    multiple=True,
    type=float,
    metavar="NUMBER",
    help="Epsilon to show where there is no target, and in the curves of the report. "
    "Repeatable.  [default: eight around the one where each mechanism turns]",
)
@space_option
@click.option(
    "--quick",
    is_flag=True,
    help="Look at fewer words: sooner done, with wider intervals.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Fixes which words and outputs are drawn to measure with.",
)
@click.option(
    "--html",
    type=click.Path(path_type=str),
    metavar="FILE",
    help="Write a report with curves. Holds no text of SAMPLE.",
)
@click.option(
    "--sentences",
    type=click.Path(path_type=str),
    metavar="FILE",
    help="PUBLIC texts, one a line, for the report to show before and after.",
)
@click.option("--force", is_flag=True, help="Replace a report that exists.")
@click.option(
    "--allow-unproved", is_flag=True, help="Permit mechanisms without a proof."
)
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def calibrate(
    sample: str,
    columns: tuple[str, ...],
    format: Any,
    names: tuple[str, ...],
    targets: tuple[str, ...],
    over: str,
    prior: str,
    match: str | None,
    to: str | None,
    to_space: str | None,
    epsilons: tuple[float, ...],
    space: str,
    quick: bool,
    seed: int,
    html: str | None,
    sentences: str | None,
    force: bool,
    allow_unproved: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Choose epsilon by a target.

    SAMPLE is PUBLIC text of the kind that is to be privatized: its word frequencies are
    the prior. For each mechanism, finds the largest epsilon that keeps the targets; or,
    with a target of utility_loss, the smallest. What is printed has been measured at
    that epsilon; where it is an estimate, the target holds at the worse end of its
    interval. Without a target, prints what eight epsilons do. Work of more than a
    minute is announced. Interrupt it at will: what was measured is kept, and the same
    command goes on from there. For the mechanism "tree" see also: mondegreen chances.

    \b
    mondegreen calibrate tweets.csv --column text --target n_w=0.5
    mondegreen calibrate tweets.csv -m tem -m laplace --match bayes_risk --to tem:2.5
    """  # noqa: D301
    from mondegreen.calibration.evaluate import Evaluator
    from mondegreen.calibration.plan import Forecast, Plan
    from mondegreen.calibration.targets import parse_target
    from mondegreen.cli.calibrate_report import read_lines, write
    from mondegreen.cli.calibrate_text import Outcome, infeasible, lines_of, values_of
    from mondegreen.cli.progress import say, shower
    from mondegreen.cli.render import echo_json
    from mondegreen.space.store import load_space

    asked = [parse_target(target, over, prior) for target in targets]
    settings = [_setting(name, allow_unproved=allow_unproved) for name in names]
    reference = _reference(match, to)
    _check_space(to_space, to, sample)
    _check_report(html, sentences, force=force)
    loaded = load_space(space)
    read = counted(sample, format, columns, loaded, quiet=quiet)
    evaluator = Evaluator(loaded, read.priors(), quick=quick, seed=seed)
    if not quiet:
        say(PUBLIC_SAMPLE)
    show = shower(quiet)
    forecast = Forecast() if quiet else Forecast(say)
    plan = Plan(evaluator, settings, asked, prior, show, forecast)
    with _saying_what_is_kept(loaded):
        if match is not None and reference is not None:
            there = loaded if to_space is None else load_space(to_space)
            if there is not loaded:
                priors = counted(sample, format, columns, there, quiet=quiet).priors()
                evaluator = replace(evaluator, space=there, priors=priors)
            plan.match(match, *reference, over, evaluator)
        rows = plan.rows()
        chosen = plan.best(rows)
        show("")
        if plan.targets and chosen is None:
            raise ConfigurationError(infeasible(plan, rows))
        curves = []
        if html is not None or not plan.targets:
            curves = plan.curves(rows, epsilons)
        show("")
    found = Outcome(plan, tuple(rows), chosen, tuple(curves), read, columns, space)
    if html is not None:
        write(found, html, sentences=read_lines(sentences), force=force)
    if as_json:
        echo_json(values_of(found))
    else:
        click.echo("\n".join(lines_of(found)))


@contextlib.contextmanager
def _saying_what_is_kept(space: Space) -> Iterator[None]:
    """Say at an interrupt what need not be measured again."""
    from mondegreen.calibration.score_bounds import folder
    from mondegreen.cli.progress import say

    def kept() -> int:
        return len(list(folder(space).glob("*.json")))

    before = kept()
    try:
        yield
    except KeyboardInterrupt:
        done = amount(kept() - before, "new measurement")
        say(f"Kept in {folder(space)}: {done}. The same command goes on from there.")
        raise


def _setting(text: str, *, allow_unproved: bool) -> Setting:
    """Return the mechanism that NAME[:KEY=VALUE,...] names."""
    from mondegreen.calibration.evaluate import Setting
    from mondegreen.cli.options import parameters_of
    from mondegreen.mechanisms import mechanism_class

    name, _, given = text.partition(":")
    cls = mechanism_class(name)
    if not cls.is_private and not allow_unproved:
        raise UnprovedGuaranteeError(
            f"{cls.name} does not keep a metric-privacy promise; --allow-unproved "
            "measures it all the same"
        )
    parameters = parameters_of(tuple(part for part in given.split(",") if part))
    setting = Setting(cls.name, parameters)
    setting.at(1.0)  # refuses what it does not take, before work starts
    return setting


def _reference(match: str | None, to: str | None) -> tuple[Setting, float] | None:
    """Return what --to names, and its epsilon."""
    if (match is None) != (to is None):
        raise ConfigurationError("--match and --to need each other")
    if to is None:
        return None
    name, _, epsilon = to.rpartition(":")
    try:
        number = float(epsilon)
    except ValueError:
        name, number = "", 0.0
    if not name:
        raise InvalidParameterError("--to", to, "NAME:EPSILON, such as laplace:12")
    setting = _setting(name, allow_unproved=True)
    setting.at(number)
    return setting, number


def _check_space(to_space: str | None, to: str | None, sample: str) -> None:
    """Refuse a space of nothing, and one for which SAMPLE cannot be read again."""
    if to_space is not None and (to is None or sample == "-"):
        raise ConfigurationError(
            "--to-space needs --to, and a SAMPLE that can be read twice: not -"
        )


def _check_report(html: str | None, sentences: str | None, *, force: bool) -> None:
    """Refuse now a report that could not be written later."""
    from mondegreen.cli.calibrate_report import read_lines
    from mondegreen.io.target import Target
    from mondegreen.report.svg import check_drawing

    if sentences is not None and html is None:
        raise ConfigurationError("--sentences are shown in a report: give --html")
    read_lines(sentences)

    if html is not None:
        check_drawing("--html")
        Target(html, force=force)
