"""Two checks: ``mondegreen audit`` of a promise, ``doctor`` of an installation."""

from __future__ import annotations

import platform
import sys
from importlib import metadata
from typing import Any, Final

import click

from mondegreen.cli import options
from mondegreen.cli.options import POSITIVE, command, option
from mondegreen.cli.render import echo_json, shower
from mondegreen.errors import ConfigurationError

_BROKEN: Final = 4
_TIMEOUT: Final = 600.0


@command()
def audit(
    epsilon: float = options.epsilon_option(
        "Epsilon of the mechanism, and the claim that is checked; for a target, "
        "the claim."
    ),
    name: str | None = option(
        None,
        "One of this package.",
        "-m --mechanism",
        metavar="NAME",
        shell_complete=options.offer_mechanisms,
    ),
    target: str | None = option(
        None,
        "Any callable word -> word, run in a process of its own.",
        metavar="MODULE:FUNCTION",
    ),
    claim: float | None = option(
        None,
        "Audit the mechanism against another epsilon.  [default: --epsilon]",
        metavar="NUMBER",
    ),
    settings: tuple[str, ...] = options.SETTINGS,
    space: str = options.SPACE,
    words: int | None = option(
        None,
        "Audit on N words of the space, so that exact methods apply (up to 4096).",
        metavar="N",
        type=click.IntRange(min=2),
    ),
    metric: str | None = option(
        None,
        "Metric of the claim.  [default: that of the guarantee, or of the space]",
        type=click.Choice(["discrete", "euclidean", "hamming", "poincare"]),
    ),
    method: Any = option(
        "auto",
        "auto is exact where that is possible.",
        type=click.Choice(["auto", "exact", "statistical"]),
    ),
    runs: int | None = option(
        None,
        "Outputs of each input.  [default: 20000; 4000 for a target]",
        type=options.SEED,
    ),
    pairs: int = option(16, "Pairs of inputs of a statistical audit.", type=POSITIVE),
    alpha: float = option(
        0.001, "Chance that a mechanism that keeps its promise is called broken."
    ),
    unknown_words: str | None = option(
        None,
        "Words that a target does not know; empty: none.  [default: invented ones]",
        metavar="W,W,...",
    ),
    workers: bool = option(False, "The target is run in forked worker processes."),
    python: str | None = option(
        None, "Interpreter of the environment of the target.", metavar="PATH"
    ),
    timeout: float = option(
        _TIMEOUT,
        "For the import of a target, and for 500 calls.",
        metavar="SECONDS",
        type=click.FloatRange(min=0, min_open=True),
    ),
    seed: int | None = option(None, "Repeat the same audit.", type=options.SEED),
    allow_unproved: bool = options.UNPROVED,
    as_json: bool = options.JSON,
    quiet: bool = options.QUIET,
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
        from mondegreen.audit.target import UNKNOWN_WORDS, audit_target

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
    click.get_current_context().exit(_BROKEN if report.is_broken else 0)


def _refuse(given: str, needed: str, unfit: dict[str, bool]) -> None:
    """Refuse options that mean nothing for what is audited."""
    for name, is_set in unfit.items():
        if is_set:
            raise ConfigurationError(f"{name} is for {needed}, not for {given}")


_LIBRARIES: Final = (
    "numpy",
    "pyarrow",
    "faiss-cpu",
    "click",
    "rich",
    "regex",
    "randomgen",
    "scipy",
)

# What they are for, where somebody looks for it.
_OPTIONAL: Final = {
    "jinja2": "reports",
    "matplotlib": "reports and pictures",
    "torch": "searches on a GPU",
}

# RFC 8439, appendix A.1, test vector 1: key and nonce zero, block 0.
_ZERO_KEY_STREAM: Final = "76b8e0ada0f13d90405d6ae55386bd28"

_NEXT: Final = (
    'All is well. Try: echo "I met Ann in Oslo." | mondegreen privatize - --epsilon 10'
)
_REPAIR: Final = (
    "Do not use it like this. Install it again, into a virtual environment of its own."
)
_SICK: Final = 1
_MISSING: Final = "MISSING"
_WRONG: Final = "WRONG, do not use"


@command()
def doctor(as_json: bool = options.JSON) -> None:
    """Show versions, spaces and the random source, and check what can be checked.

    Run it first after an installation, and put what it prints into a report of a bug:
    it reads no text, and opens no connection.

    \b
    mondegreen doctor

    \b
    Exit codes: 0 all is well, 1 a library is MISSING or the random source is WRONG,
    3 the embedded space is damaged.
    """  # noqa: D301
    from mondegreen import load_space
    from mondegreen.cli.render import echo_facts
    from mondegreen.files import home
    from mondegreen.space.store import space_names

    libraries = {name: _version(name) for name in _LIBRARIES}
    source = _random_source()
    problems = [name for name, version in libraries.items() if version == _MISSING]
    if _WRONG in source:
        problems.append("random source")
    space = load_space()  # checks its digest
    size = f"{space.vocab_size:,} x {space.dim}"
    findings = {
        "mondegreen": metadata.version("mondegreen"),
        "python": f"{platform.python_version()}, {sys.executable}",
        "platform": platform.platform(),
        "libraries": libraries,
        "optional": {name: _optional(name) for name in _OPTIONAL},
        "random source": source,
        "default space": f"{space.name}, {size}, digest {space.digest}",
        "spaces": space_names() if as_json else ", ".join(space_names()),
        "cache": str(home()),
        "network": "never used, except by: mondegreen space fetch",
        "broken": problems if as_json else ", ".join(problems) or "nothing",
    }
    echo_facts(findings, as_json=as_json)
    if not as_json:
        click.echo(f"\n{_REPAIR if problems else _NEXT}")
    click.get_current_context().exit(_SICK if problems else 0)


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return _MISSING


def _optional(name: str) -> str:
    version = _version(name)
    return f"not installed ({_OPTIONAL[name]})" if version == _MISSING else version


def _random_source() -> str:
    """Compare the stream cipher with its standard."""
    from mondegreen.sampling.noise import chacha20

    stream: Any = chacha20(bytes(32)).bit_generator
    start = stream.random_raw(2).astype("<u8").tobytes().hex()
    verdict = "as RFC 8439" if start == _ZERO_KEY_STREAM else _WRONG
    return f"ChaCha20 ({verdict}), keyed by the operating system for every batch"
