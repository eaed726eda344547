"""``mondegreen audit``."""

from __future__ import annotations

from typing import Any, Final

import click

from mondegreen.cli import options
from mondegreen.cli.render import echo_json, shower
from mondegreen.errors import ConfigurationError

_BROKEN: Final = 4
_TIMEOUT: Final = 600.0


@click.command()
@options.mechanism_option(None, "One of this package.")
@click.option(
    "--target",
    metavar="MODULE:FUNCTION",
    help="Any callable word -> word, run in a process of its own.",
)
@options.epsilon_option(
    "Epsilon of the mechanism, and the claim that is checked; for a target, the claim."
)
@click.option(
    "--claim",
    type=float,
    metavar="NUMBER",
    help="Audit the mechanism against another epsilon.  [default: --epsilon]",
)
@options.settings_option
@options.space_option()
@click.option(
    "--words",
    type=click.IntRange(min=2),
    metavar="N",
    help="Audit on N words of the space, so that exact methods apply (up to 4096).",
)
@click.option(
    "--metric",
    type=click.Choice(["discrete", "euclidean", "hamming", "poincare"]),
    help="Metric of the claim.  [default: that of the guarantee, or of the space]",
)
@click.option(
    "--method",
    type=click.Choice(["auto", "exact", "statistical"]),
    default="auto",
    show_default=True,
    help="auto is exact where that is possible.",
)
@click.option(
    "--runs",
    type=click.IntRange(min=0),
    help="Outputs of each input.  [default: 20000; 4000 for a target]",
)
@click.option(
    "--pairs",
    type=click.IntRange(min=1),
    default=16,
    show_default=True,
    help="Pairs of inputs of a statistical audit.",
)
@click.option(
    "--alpha",
    type=float,
    default=0.001,
    show_default=True,
    help="Chance that a mechanism that keeps its promise is called broken.",
)
@click.option(
    "--unknown-words",
    default=None,
    metavar="W,W,...",
    help="Words that a target does not know; empty: none.  [default: invented ones]",
)
@click.option(
    "--workers", is_flag=True, help="The target is run in forked worker processes."
)
@click.option(
    "--python", metavar="PATH", help="Interpreter of the environment of the target."
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=_TIMEOUT,
    show_default=True,
    metavar="SECONDS",
    help="For the import of a target, and for 500 calls.",
)
@click.option("--seed", type=click.IntRange(min=0), help="Repeat the same audit.")
@options.unproved_option
@options.json_option("Print the report as JSON.")
@options.quiet_option()
@click.pass_context
def audit(
    ctx: click.Context,
    name: str | None,
    target: str | None,
    epsilon: float,
    claim: float | None,
    settings: tuple[str, ...],
    space: str,
    words: int | None,
    metric: str | None,
    method: Any,
    runs: int | None,
    pairs: int,
    alpha: float,
    unknown_words: str | None,
    workers: bool,
    python: str | None,
    timeout: float,
    seed: int | None,
    allow_unproved: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Check the promise of a mechanism, or of any function from words to words.

    Exact where output probabilities can be computed: every pair of words and every
    output, or a proved bound on large spaces; outputs are then drawn and compared with
    these probabilities. Statistical otherwise: an event is chosen on one half of the
    runs and bounded on the other. "Not rejected" proves nothing; the report says what
    could have been seen. Small epsilons show most: little is allowed.

    \b
    mondegreen audit --mechanism tem --epsilon 2.5 --words 500
    mondegreen audit --mechanism exponential --epsilon 4 --claim 2 --words 500
    mondegreen audit -m vickrey_literal -e 0.1 --words 60 --allow-unproved
    mondegreen audit --target mymodule:privatize --epsilon 2 --space mine.safetensors

    \b
    Exit codes: 0 it holds or was not rejected, 4 it is broken, 2 usage, 3 data.
    """  # noqa: D301
    from mondegreen.audit.subspace import subspace
    from mondegreen.space.store import load_space

    if (name is None) == (target is None):
        raise ConfigurationError("give one of --mechanism and --target")
    loaded = load_space(space)
    if words is not None:
        loaded = subspace(loaded, words)
    show = shower(quiet)
    common: dict[str, Any] = {
        "metric": metric,
        "pairs": pairs,
        "alpha": alpha,
        "seed": seed,
        "progress": lambda what, share: show(f"{what}: {share:.0%}"),
    }
    if name is not None:
        from mondegreen.audit.run import audit_mechanism

        _refuse(
            "--mechanism",
            "--target",
            {
                "--unknown-words": unknown_words is not None,
                "--workers": workers,
                "--python": python is not None,
                "--timeout": timeout != _TIMEOUT,
            },
        )
        mechanism = options.built(name, epsilon, settings)
        options.check_proved(mechanism, allow_unproved=allow_unproved)
        report = audit_mechanism(
            mechanism,
            loaded,
            claim=claim,
            runs=20_000 if runs is None else runs,
            method=method,
            **common,
        )
    else:
        from mondegreen.audit.run_target import audit_target
        from mondegreen.audit.target import UNKNOWN_WORDS

        _refuse(
            "--target",
            "--mechanism",
            {
                "--claim": claim is not None,
                "--set": bool(settings),
                "--method exact": method == "exact",
                "--allow-unproved": allow_unproved,
            },
        )
        unknown: tuple[str, ...] = UNKNOWN_WORDS
        if unknown_words is not None:
            unknown = tuple(word for word in unknown_words.split(",") if word)
        report = audit_target(
            str(target),
            loaded,
            epsilon,
            unknown=unknown,
            workers=workers,
            runs=4000 if runs is None else runs,
            python=python,
            timeout=timeout,
            **common,
        )
    show("")
    if as_json:
        echo_json(report.to_dict())
    else:
        click.echo(str(report))
    ctx.exit(_BROKEN if report.is_broken else 0)


def _refuse(given: str, needed: str, unfit: dict[str, bool]) -> None:
    """Refuse options that mean nothing for what is audited."""
    for option, is_set in unfit.items():
        if is_set:
            raise ConfigurationError(f"{option} is for {needed}, not for {given}")
