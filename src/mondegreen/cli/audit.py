"""``mondegreen audit``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from mondegreen.cli import completion
from mondegreen.cli.options import (
    built,
    settings_option,
    space_option,
)
from mondegreen.errors import ConfigurationError

if TYPE_CHECKING:
    from mondegreen.audit.report import AuditReport
    from mondegreen.space.space import Space


_BROKEN: Final = 4
_TIMEOUT: Final = 600.0


@click.command()
@click.option(
    "-m",
    "--mechanism",
    "name",
    metavar="NAME",
    shell_complete=completion.mechanisms,
    help="One of this package.",
)
@click.option(
    "--target",
    metavar="MODULE:FUNCTION",
    help="Any callable word -> word, run in a process of its own.",
)
@click.option(
    "-e",
    "--epsilon",
    required=True,
    type=float,
    metavar="NUMBER",
    help="Epsilon of the mechanism, and the claim that is checked; for a target, the "
    "claim.",
)
@click.option(
    "--claim",
    type=float,
    metavar="NUMBER",
    help="Audit the mechanism against another epsilon.  [default: --epsilon]",
)
@settings_option
@space_option
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
    help="Chance that a sound mechanism is called broken.",
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
@click.option(
    "--allow-unproved", is_flag=True, help="Permit a mechanism without a proof."
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
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
    method: str,
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

    Exact where the law is known: every pair and every output of closed laws,
    certificates on large spaces; outputs are then drawn and compared with that law.
    Statistical otherwise: an event is chosen on one half of the runs and bounded on the
    other. "Not rejected" proves nothing; the report says what could have been seen.
    Small epsilons show most: little is allowed.

    \b
    mondegreen audit --mechanism tem --epsilon 2.5 --words 500
    mondegreen audit --mechanism exponential --epsilon 4 --claim 2 --words 500
    mondegreen audit -m vickrey_literal -e 0.1 --words 60 --allow-unproved
    mondegreen audit --target mymodule:privatize --epsilon 2 --space mine.safetensors

    \b
    Exit codes: 0 it holds or was not rejected, 4 it is broken, 2 usage, 3 data.
    """  # noqa: D301
    from mondegreen.audit.subspace import subspace
    from mondegreen.cli.render import echo_json
    from mondegreen.space.store import load_space

    if (name is None) == (target is None):
        raise ConfigurationError("give one of --mechanism and --target")
    loaded = load_space(space)
    if words is not None:
        loaded = subspace(loaded, words)
    common: dict[str, object] = {
        "metric": metric,
        "pairs": pairs,
        "alpha": alpha,
        "seed": seed,
        "progress": _Progress(quiet),
    }
    if target is not None:
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
        report = _target(
            target,
            loaded,
            epsilon,
            runs,
            unknown_words,
            workers,
            python,
            timeout,
            common,
        )
    else:
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
        report = _mechanism(
            str(name),
            epsilon,
            settings,
            loaded,
            claim,
            runs,
            allow_unproved,
            {**common, "method": method},
        )
    if not quiet:
        _Progress(quiet).clear()
    if as_json:
        echo_json(report.to_dict())
    else:
        click.echo(str(report))
    ctx.exit(_BROKEN if report.is_broken else 0)


def _mechanism(
    name: str,
    epsilon: float,
    settings: tuple[str, ...],
    space: Space,
    claim: float | None,
    runs: int | None,
    allow_unproved: bool,
    common: dict[str, object],
) -> AuditReport:
    """Audit a mechanism of this package."""
    from mondegreen.audit.run import audit_mechanism
    from mondegreen.errors import UnprovedGuaranteeError

    mechanism = built(name, epsilon, settings)
    if not mechanism.is_private and not allow_unproved:
        raise UnprovedGuaranteeError(
            f"{mechanism.name} has no proof; to audit it all the same, pass "
            "--allow-unproved"
        )
    return audit_mechanism(
        mechanism,
        space,
        claim=claim,
        runs=20_000 if runs is None else runs,
        **common,
    )


def _target(
    target: str,
    space: Space,
    epsilon: float,
    runs: int | None,
    unknown_words: str | None,
    workers: bool,
    python: str | None,
    timeout: float,
    common: dict[str, object],
) -> AuditReport:
    """Audit somebody else's callable."""
    from mondegreen.audit.run_target import audit_target
    from mondegreen.audit.target import UNKNOWN_WORDS

    unknown = (
        UNKNOWN_WORDS
        if unknown_words is None
        else tuple(word for word in unknown_words.split(",") if word)
    )
    return audit_target(
        target,
        space,
        epsilon,
        unknown=unknown,
        workers=workers,
        runs=4000 if runs is None else runs,
        python=python,
        timeout=timeout,
        **common,  # type: ignore[arg-type]
    )


def _refuse(given: str, needed: str, options: dict[str, bool]) -> None:
    """Refuse options that mean nothing for what is audited."""
    for option, is_set in options.items():
        if is_set:
            raise ConfigurationError(f"{option} is for {needed}, not for {given}")


class _Progress:
    """Shows what is done on a line of standard error, on a terminal only."""

    def __init__(self, quiet: bool) -> None:
        from mondegreen.cli.progress import shower

        self._show = shower(quiet)

    def __call__(self, what: str, share: float) -> None:
        self._show(f"{what}: {share:.0%}")

    def clear(self) -> None:
        """Empty the line."""
        self._show("")
