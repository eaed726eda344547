"""``mondegreen calibrate``: an epsilon for a target, and what to copy."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal

import click

from mondegreen.cli import options
from mondegreen.cli.calibrate_tree import TREE_ALIKE, TREE_POWER, tune_tree
from mondegreen.cli.options import File, argument, command, option
from mondegreen.cli.render import echo_json, read_public, say, shower
from mondegreen.errors import ConfigurationError, InvalidParameterError
from mondegreen.io.guess import Format
from mondegreen.settings import SYMBOL_MECHANISMS, Settings
from mondegreen.wording import amount

if TYPE_CHECKING:
    from mondegreen.attacks.adversary import Adversary
    from mondegreen.calibration.evaluate import Setting
    from mondegreen.calibration.sample import Sample
    from mondegreen.space.space import Space

Match = Literal[
    "bayes_risk", "certified_epsilon", "n_w", "privacy_ratio", "reader", "worst_loss"
]

_PASSAGE: Final = 50_000  # words of SAMPLE that a reader is tried on

_OVER_SPACE: Final = "calibrated"
"""The mechanism for targets about mechanisms over a space, where none is named."""

_OF_SPACE: Final = (
    "over prior match to to_space space language quick html sentences force output "
    "power alike"
).split()
"""Options that have no meaning for policies."""

_OF_TREE: Final = ("output", "power", "alike")


@command()
def calibrate(
    sample: File = argument(),
    columns: tuple[options.Column, ...] = options.COLUMNS,
    format: Format | None = options.FORMAT,
    sheet: str | None = options.SHEET,
    encoding: str | None = options.ENCODING,
    names: tuple[options.MechanismName, ...] = option(
        "Mechanism to tune, with parameters such as vickrey:t=0.25. Without t, the "
        "command chooses t too. Repeatable.  [default: urr, then krr, with policy "
        "sensitive; calibrated for targets of mechanisms on a space]",
        "-m --mechanism NAME[:KEY=VALUE,...]",
        default=(),
        show_default=False,
    ),
    targets: tuple[str, ...] = option(
        "Target to keep. Policies: sensitive (maximum share of the sensitive words "
        "that an attacker with texts from the same domain recovers), ordinary "
        "(minimum share of the ordinary words that stay unchanged). Mechanisms on a "
        "space: n_w (maximum probability that a word stays), s_w (minimum number of "
        "likely outputs), bayes_risk (minimum error rate of the best guess), reader "
        "(maximum share of the words that an attacker who reads sentences recovers), "
        "worst_word (maximum success rate on the most exposed content word), "
        "certified_epsilon (maximum exact epsilon), worst_loss (maximum loss between "
        "any two words, in nats), utility_loss (maximum distance moved, as a share of "
        "the distance to a random word). For -m tree with -o: success (maximum "
        "success rate of the best guess of a single word) or reader. Repeatable: all "
        "must hold.",
        "-t --target KEY=VALUE",
    ),
    over: Literal["worst", "P99", "P95", "P90", "P75", "P50", "mean"] = option(
        "Which words n_w and s_w must hold for: all of the vocabulary (worst), a "
        "percentage of it (P95: 95 %), or the mean over all words.",
        default="P95",
    ),
    prior: Literal["sample", "uniform"] = option(
        "Word frequencies for bayes_risk and utility_loss. sample: as in SAMPLE, plus "
        "one for each word. uniform: all words alike. An attacker who knows the true "
        "frequencies may recover more. Use a large SAMPLE: word frequencies in a "
        "small one do not generalize."
    ),
    match: Match | None = option(
        "Instead of a target: find the epsilon that is as private as the setting of "
        "--to, by this measure."
    ),
    to: options.MechanismName | None = option(
        "Reference setting for --match, such as laplace:12.",
        "NAME[:KEY=VALUE,...]:EPSILON",
    ),
    to_space: options.SpaceName | None = option(
        "Space in which to measure --to.  [default: the space of --space]"
    ),
    epsilons: tuple[float, ...] = option(
        "Epsilon to show without a target, and in the curves of the report. "
        "Repeatable.  [default: eight values around the point where words begin to "
        "stay]",
        "-e --epsilon",
    ),
    settings: Settings = options.settings(*options.POLICY),
    space: options.SpaceName = options.SPACE,
    language: options.LanguageName | None = options.KNOWN_LANGUAGE,
    output: File | None = option(
        "For -m tree: JSON file to write, with the probability of each level of the "
        "tree. Other commands read it with --set @FILE.",
        "-o --output",
    ),
    power: float = TREE_POWER,
    alike: bool = TREE_ALIKE,
    quick: bool = option("Use fewer words: faster, with wider intervals."),
    seed: options.Seed = option(
        "Seed of the words and outputs that are measured.", default=0
    ),
    html: File | None = option(
        "Write a report with curves. It holds no text of SAMPLE."
    ),
    sentences: File | None = option(
        "PUBLIC texts that the report shows before and after, one per line."
    ),
    force: bool = options.FORCE,
    allow_unproved: bool = options.UNPROVED,
    as_json: bool = options.JSON,
    quiet: bool = options.QUIET,
) -> None:
    """Choose parameters for a target.

    SAMPLE is PUBLIC text from the domain of your texts. By default, the command tunes a
    policy: an attacker learns from half of SAMPLE and guesses the sensitive words of
    the rest. The command finds the mechanism, the epsilon and the size of groups that
    keep the targets. This takes up to a minute. With --mechanism, it tunes mechanisms
    on a space: the attacker knows the word frequencies of SAMPLE. For each mechanism it
    finds the largest epsilon that keeps the targets. With a target for readability
    (ordinary, utility_loss), it finds the smallest. Even the worse end of the interval
    meets the targets. Without a target, it shows several epsilons. You can interrupt
    long work: the same command continues where it stopped. With -m tree and -o, it
    finds the probability of each level of the tree at one --epsilon.

    \b
    mondegreen calibrate tickets.csv --column text -t sensitive=0.35 -t ordinary=0.95
    mondegreen calibrate tweets.csv -m tem -m laplace --match bayes_risk --to tem:2.5
    mondegreen calibrate public.csv -m tree -t success=0.2 -e 10 -o chances.json
    """  # noqa: D301
    of_space = (match, to, to_space, output, html, sentences)
    if _is_over_policy(names, targets, any(of_space)):
        from mondegreen.calibration.targets import parse_target
        from mondegreen.cli.calibrate_policy import (
            calibrate_policy,
            check_options_of_policy,
        )

        check_options_of_policy(_OF_SPACE)
        calibrate_policy(
            sample,
            columns,
            format,
            sheet,
            encoding,
            settings,
            [parse_target(target) for target in targets],
            names,
            epsilons,
            seed=seed,
            as_json=as_json,
            quiet=quiet,
        )
        return
    if settings != Settings():
        raise ConfigurationError(
            "options of a policy cannot be combined with mechanisms on a space: "
            f"leave out --mechanism, or name one of {', '.join(SYMBOL_MECHANISMS)}"
        )
    if output is not None:
        tune_tree(
            sample,
            output,
            target=_bound_tree(names, targets, epsilons),
            epsilon=epsilons[0],
            power=power,
            alike=alike,
            columns=columns,
            format=format,
            sheet=sheet,
            encoding=encoding,
            space=space,
            language=language,
            force=force,
            as_json=as_json,
            quiet=quiet,
        )
        return
    if not names and not quiet:
        say(
            "These targets are for mechanisms on a space. You named no --mechanism, so "
            f"the command measures {_OVER_SPACE}."
        )
    _calibrate_over_space(
        sample,
        columns,
        format,
        sheet,
        encoding,
        [_setting(n, allow_unproved=allow_unproved) for n in names or (_OVER_SPACE,)],
        targets,
        over,
        prior,
        match,
        to,
        to_space,
        epsilons,
        space,
        language,
        quick=quick,
        seed=seed,
        html=html,
        sentences=sentences,
        force=force,
        as_json=as_json,
        quiet=quiet,
    )


def _calibrate_over_space(
    sample: str,
    columns: tuple[str, ...],
    format: Format | None,
    sheet: str | None,
    encoding: str | None,
    settings: Sequence[Setting],
    targets: Sequence[str],
    over: str,
    prior: Literal["sample", "uniform"],
    match: Match | None,
    to: str | None,
    to_space: str | None,
    epsilons: tuple[float, ...],
    space: str,
    language: str | None,
    *,
    quick: bool,
    seed: int,
    html: str | None,
    sentences: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Find epsilons of mechanisms over a space, and print the best setting."""
    from mondegreen.calibration.evaluate import Evaluator
    from mondegreen.calibration.plan import Plan
    from mondegreen.calibration.targets import parse_target
    from mondegreen.cli.calibrate_report import Outcome
    from mondegreen.space.store import load_space

    asked = [parse_target(target, over, prior) for target in targets]
    reference = _reference(match, to)
    if to_space is not None and (to is None or sample == "-"):
        raise ConfigurationError(
            "--to-space needs --to, and a SAMPLE that is a file, not -"
        )
    shown = _check_report(html, sentences, force=force)
    loaded = load_space(space)
    keys = {target.key for target in asked} | {match}
    how: dict[str, Any] = {"quiet": quiet, "keep": _PASSAGE}
    how |= {"sheet": sheet, "encoding": encoding}
    read = read_public(sample, format, columns, loaded, **how)
    reader = _adversary(read, loaded, language, keys)
    evaluator = Evaluator(
        loaded, read.priors(), quick=quick, seed=seed, adversary=reader
    )
    show = shower(quiet)
    tell = say if not quiet else lambda line: None
    plan = Plan(evaluator, settings, asked, prior, show, tell)
    with _saying_what_is_kept(loaded):
        if match is not None and reference is not None:
            there = loaded if to_space is None else load_space(to_space)
            if there is not loaded:
                again = read_public(sample, format, columns, there, **how)
                reader = _adversary(again, there, language, keys)
                evaluator = replace(
                    evaluator, space=there, priors=again.priors(), adversary=reader
                )
            plan.match(match, *reference, over, evaluator)
        rows = plan.rows()
        chosen = plan.best(rows)
        show("")
        if plan.targets and chosen is None:
            why = "; ".join(f"{row.setting}: {row.calibration.problem}" for row in rows)
            wanted = "; ".join(map(str, plan.targets))
            raise ConfigurationError(
                f"no epsilon could be shown to meet the target: {wanted}. {why}"
            )
        curves = []
        if html is not None or not plan.targets:
            curves = plan.curves(rows, epsilons)
        show("")
    found = Outcome(plan, rows, chosen, curves, read, columns, space)
    if html is not None:
        found.write_page(html, shown, force=force)
    if as_json:
        echo_json(found.to_dict())
    else:
        click.echo("\n".join(found.lines()))


def _is_over_policy(
    names: Sequence[str], targets: Sequence[str], has_options_of_space: bool
) -> bool:
    """Tell whether the command is about policies; the default where nothing says."""
    from mondegreen.calibration.targets import POLICY_KEYS

    if names:
        of_policy = [
            options.split_mechanism(name)[0] in SYMBOL_MECHANISMS for name in names
        ]
        if any(of_policy) != all(of_policy):
            raise ConfigurationError(
                "mechanisms on a policy (urr, krr) and mechanisms on a space have "
                "different targets: run the command once for each"
            )
        return all(of_policy)
    keys = [target.partition("=")[0].strip() for target in targets]
    is_about_space = any(key not in POLICY_KEYS for key in keys)
    return not (is_about_space or has_options_of_space)


def _bound_tree(
    names: Sequence[str], targets: Sequence[str], epsilons: Sequence[float]
) -> tuple[str, float]:
    """Read what --output needs besides one epsilon: the tree and one target."""
    found = dict(target.split("=", 1) for target in targets if "=" in target)
    known = len(found) == 1 and found.keys() <= {"success", "reader"}
    if tuple(names) not in ((), ("tree",)) or not known or len(epsilons) != 1:
        raise ConfigurationError(
            "--output takes -m tree, one target (success=VALUE or reader=VALUE) and "
            "one --epsilon"
        )
    ((key, value),) = found.items()
    try:
        share = float(value)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise InvalidParameterError(f"target {key}", value, "above 0, below 1")
    return key, share


def _adversary(
    read: Sample, space: Space, language: str | None, keys: Collection[str | None]
) -> Adversary | None:
    """Who measures what a reader recovers: as a target, or to show it at no cost."""
    from mondegreen.attacks.adversary import KEYS, Adversary
    from mondegreen.attacks.pairs import build_pairs
    from mondegreen.language.store import load_language
    from mondegreen.text.lookup import Lookup

    asked = [key for key in KEYS if key in keys]
    model = load_language(language)
    pairs = build_pairs(read.passage, Lookup(space))
    if asked or language is not None:
        model.check_space(space)
        return Adversary(pairs, model, asked or ["reader"])
    return Adversary(pairs, model, ["reader"], True) if model.is_for(space) else None


@contextlib.contextmanager
def _saying_what_is_kept(space: Space) -> Iterator[None]:
    """Say at an interrupt what need not be measured again."""
    from mondegreen.calibration.score_bounds import folder

    kept = folder(space)
    before = len(list(kept.glob("*.json")))
    try:
        yield
    except KeyboardInterrupt:
        done = amount(len(list(kept.glob("*.json"))) - before, "new measurement")
        say(f"Stored in {kept}: {done}. The same command continues from there.")
        raise


def _setting(text: str, *, allow_unproved: bool) -> Setting:
    """The mechanism that NAME[:KEY=VALUE,...] names."""
    from mondegreen.calibration.evaluate import Setting
    from mondegreen.mechanisms import mechanism_class

    name, given = options.split_mechanism(text)
    cls = mechanism_class(name)
    options.check_proved(cls, allow_unproved=allow_unproved)
    parts = tuple(part for part in given.split(",") if part)
    setting = Setting(cls.name, options.collect_parameters(parts))
    setting.at(1.0)  # refuses what it does not take, before work starts
    return setting


def _reference(match: str | None, to: str | None) -> tuple[Setting, float] | None:
    """What --to names, and its epsilon."""
    if (match is None) != (to is None):
        raise ConfigurationError("--match and --to must be used together")
    if to is None:
        return None
    name, _, epsilon = to.rpartition(":")
    try:
        number = float(name and epsilon)
    except ValueError:
        allowed = "NAME:EPSILON, such as laplace:12"
        raise InvalidParameterError("--to", to, allowed) from None
    setting = _setting(name, allow_unproved=True)
    setting.at(number)
    return setting, number


def _check_report(
    html: str | None, sentences: str | None, *, force: bool
) -> tuple[str, ...]:
    """Refuse now a report that could not be written later; read its sentences."""
    from mondegreen.io.target import Target
    from mondegreen.report.svg import check_drawing

    if sentences is not None and html is None:
        raise ConfigurationError("--sentences needs --html: the report shows them")
    if html is not None:
        check_drawing("--html")
        Target(html, force=force)
    return options.read_option_lines(sentences)
