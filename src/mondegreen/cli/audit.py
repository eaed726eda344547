"""Two checks: ``mondegreen audit`` of a promise, ``doctor`` of an installation."""

from __future__ import annotations

import platform
import sys
from dataclasses import replace
from importlib import metadata
from typing import TYPE_CHECKING, Any, Final, Literal

import click

from mondegreen.cli import options
from mondegreen.cli.options import command, option
from mondegreen.cli.render import echo_facts, echo_json, shower
from mondegreen.errors import ConfigurationError, InvalidParameterError
from mondegreen.settings import Settings

if TYPE_CHECKING:
    from mondegreen.audit.report import AuditReport
    from mondegreen.space.space import Space

_BROKEN: Final = 4
_TIMEOUT: Final = 600.0


@command()
def audit(
    epsilon: float = option(
        "Claim to check, and epsilon of the mechanism.", "-e --epsilon"
    ),
    settings: Settings = options.settings(
        "mechanism",
        *options.POLICY,
        "numbers",
        "near",
        "parameters",
        "space",
        "allow_unproved",
    ),
    target: str | None = option(
        "Function to audit: any callable word -> word. It runs in its own process.",
        "MODULE:FUNCTION",
    ),
    claim: float | None = option(
        "Audit the mechanism against another epsilon.  [default: --epsilon]"
    ),
    words: int | None = option(
        "Audit N words of the space. Exact methods need at most 4096.",
        "N",
        type=click.IntRange(min=2),
    ),
    metric: Literal[
        "chebyshev", "discrete", "euclidean", "hamming", "manhattan", "poincare"
    ]
    | None = option(
        "Metric of the claim.  [default: the metric of the guarantee, or of the space]"
    ),
    method: Literal["auto", "exact", "statistical"] = option(
        "Method of the audit. auto is exact if possible."
    ),
    runs: options.Seed | None = option(
        "Number of outputs per input.  [default: 20000; 4000 for a target]"
    ),
    pairs: int = option("Number of input pairs in a statistical audit.", default=16),
    alpha: float = option(
        "Probability of a false alarm.",
        default=0.001,
    ),
    unknown_words: str | None = option(
        "Words that the target does not know. Empty: none.  [default: invented words]",
        "W,W,...",
    ),
    workers: bool = option("Run the target in forked worker processes."),
    python: str | None = option("Python interpreter for the target.", "PATH"),
    timeout: float = option(
        "Timeout for importing the target, and for 500 calls, in seconds.",
        "SECONDS",
        default=_TIMEOUT,
        type=click.FloatRange(min=0, min_open=True),
    ),
    seed: options.Seed | None = option("Seed, to repeat an audit."),
    as_json: bool = options.JSON,
    quiet: bool = options.QUIET,
) -> None:
    """Check the guarantee of a mechanism, or of any function from words to words.

    By default, the command audits what privatize does by default: policy sensitive,
    mechanism urr. On a policy, the audit compares every pair of ordinary words and
    groups, in the integers that are sampled. It also draws
    many outputs, looks up every word, and counts the printed words.

    On a space, the audit is exact if output probabilities can be computed. It then
    checks every pair of words and every output, or a proved bound on large spaces,
    and compares sampled outputs with the probabilities. Otherwise the audit is
    statistical: it chooses an event on one half of the runs and bounds it on the
    other half. "Not rejected" proves nothing. The report says which violations the
    audit could have found. A small epsilon is the strongest test. "Not tested" means
    that the probabilities hold, but that a sampler without noise would not be found.

    A mechanism of your own is MODULE:CLASS, such as coin:Coin for the file coin.py of
    this folder.

    \b
    mondegreen audit --epsilon 12
    mondegreen audit --policy names --mechanism krr --epsilon 8
    mondegreen audit --mechanism tem --epsilon 2.5 --words 500
    mondegreen audit --mechanism exponential --epsilon 4 --claim 2 --words 500
    mondegreen audit -m vickrey_literal -e 0.1 --words 60 --allow-unproved
    mondegreen audit --mechanism coin:Coin --epsilon 2 --words 100
    mondegreen audit --target mymodule:privatize --epsilon 2 --space mine.safetensors

    \b
    Exit codes: 0 the guarantee holds or was not rejected, 4 it is broken, or its
    sampler could not be tested, 2 usage, 3 data.
    """  # noqa: D301
    show = shower(quiet)
    common: dict[str, Any] = {
        "metric": metric,
        "pairs": pairs,
        "alpha": alpha,
        "seed": seed,
        "progress": lambda what, share: show(f"{what}: {share:.0%}"),
        **({} if runs is None else {"runs": runs}),
    }
    if target is None:
        of_targets = {
            "--unknown-words": unknown_words is not None,
            "--workers": workers,
            "--python": python is not None,
            "--timeout": timeout != _TIMEOUT,
        }
        _refuse("a mechanism", "--target", of_targets)
        settings = _register(settings)
        chosen = replace(settings, epsilon=epsilon).resolve()
        report = _audit_settings(chosen, words, claim=claim, method=method, **common)
    else:
        from mondegreen.audit.target import audit_target

        of_mechanisms = {
            "--mechanism": settings.mechanism is not None,
            "--policy": settings.policy is not None,
            "--claim": claim is not None,
            "--set": bool(settings.parameters),
            "--method exact": method == "exact",
            "--allow-unproved": settings.allow_unproved,
        }
        _refuse("--target", "mechanisms of this package", of_mechanisms)
        # What a policy alone has a meaning for is refused beside every word.
        known = replace(settings, policy="all").resolve()
        if unknown_words is not None:
            common["unknown"] = tuple(filter(None, unknown_words.split(",")))
        common |= {"workers": workers, "python": python, "timeout": timeout}
        report = audit_target(target, _load_words(known, words), epsilon, **common)
    show("")
    if as_json:
        echo_json(report.to_dict())
    else:
        click.echo(str(report))
    click.get_current_context().exit(_BROKEN if report.is_failed else 0)


def _register(settings: Settings) -> Settings:
    """Register a mechanism of MODULE:CLASS; refuse parameters behind its name."""
    given = settings.mechanism or ""
    name, parameters = options.split_mechanism(given)
    if parameters:
        such = " ".join(f"--set {each}" for each in parameters.split(","))
        allowed = f"a name without parameters. Use -m {name} {such}"
        raise InvalidParameterError("--mechanism", given, allowed)
    if ":" not in given:
        return settings
    from mondegreen.mechanisms.by_module import registered_name

    return replace(settings, mechanism=registered_name(given))


def _audit_settings(
    settings: Settings, words: int | None, **options_of_audit: Any
) -> AuditReport:
    """Audit the mechanism of resolved settings, on their policy or their space."""
    from mondegreen.audit.run import audit_mechanism
    from mondegreen.policy.policy import find_policy
    from mondegreen.privatizer.build import build_mechanism

    mechanism = build_mechanism(settings)
    options.check_proved(mechanism, allow_unproved=settings.allow_unproved)
    policy = find_policy(settings)
    if policy is not None and words is not None:
        raise ConfigurationError(
            "--words is for mechanisms on a space; all symbols of a policy are audited"
        )
    inputs = _load_words(settings, words) if policy is None else policy
    return audit_mechanism(mechanism, inputs, **options_of_audit)


def _load_words(settings: Settings, words: int | None) -> Space:
    """Load the space of settings, or so many of its words."""
    from mondegreen.audit.subspace import subspace
    from mondegreen.space.store import load_space

    loaded = load_space(str(settings.space))
    return loaded if words is None else subspace(loaded, words)


def _refuse(given: str, needed: str, unfit: dict[str, bool]) -> None:
    """Refuse options that mean nothing for what is audited."""
    for name, is_set in unfit.items():
        if is_set:
            raise ConfigurationError(f"{name} is for {needed}, not for {given}")


_LIBRARIES: Final = "numpy pyarrow click rich regex randomgen".split()
"""Every command needs these."""

_PARTS: Final = {
    "faiss-cpu": "the mechanisms brr, laplace, mahalanobis and vickrey, and the "
    "release of vectors",
    "scipy": "calibrate, audit, building of word trees, and the mechanism "
    "truncated_gumbel",
    "jinja2": "pages: calibrate --html and attack --html",
}
"""What does not work without a library; the rest does."""

# What they are for, where somebody looks for it.
_OPTIONAL: Final = {
    "matplotlib": "reports and pictures",
    "torch": "searches on a GPU",
}

# RFC 8439, appendix A.1, test vector 1: key and nonce zero, block 0.
_ZERO_KEY_STREAM: Final = "76b8e0ada0f13d90405d6ae55386bd28"

_NEXT: Final = (
    'All is well. Try: echo "I met Ann in Oslo." | mondegreen privatize - --epsilon 12'
)
_REPAIR: Final = (
    "Do not use it like this. Install it again, into a virtual environment of its own."
)
_REST: Final = "Everything else works. To install it: pip install"
_MISSING: Final = "MISSING"
_WRONG: Final = "WRONG, do not use"


@command()
def doctor(as_json: bool = options.JSON) -> None:
    """Show versions, spaces and the random source, and check the installation.

    Run it after the installation, and add its output to a bug report. It reads no text
    and opens no connection.

    \b
    mondegreen doctor

    \b
    Exit codes: 0 privatize works, 1 a library that it needs is MISSING or the random
    source is WRONG, 3 the embedded space is damaged.
    """  # noqa: D301
    from mondegreen import load_space
    from mondegreen.files import home
    from mondegreen.space.store import space_names

    libraries = {name: _version(name) for name in (*_LIBRARIES, *_PARTS)}
    source = _random_source()
    absent = [name for name, version in libraries.items() if version == _MISSING]
    problems = [name for name in absent if name not in _PARTS]
    parts = {name: _PARTS[name] for name in absent if name in _PARTS}
    if _WRONG in source:
        problems.append("random source")
    space = load_space()  # checks its digest
    size = f"{space.vocab_size:,} x {space.dim}"
    findings = {
        "mondegreen": metadata.version("mondegreen"),
        "python": f"{platform.python_version()}, {sys.executable}",
        "platform": platform.platform(),
        "libraries": libraries,
        "optional": {
            name: _version(name, f"not installed ({use})")
            for name, use in _OPTIONAL.items()
        },
        "random source": source,
        "default space": f"{space.name}, {size}, digest {space.digest}",
        "spaces": space_names() if as_json else ", ".join(space_names()),
        "cache": str(home()),
        "network": "only for: space fetch, serve, proxy; "
        "reproduce with --fetch or --peers",
        **_list_problems(problems, parts, as_json=as_json),
    }
    echo_facts(findings, as_json=as_json)
    if not as_json:
        rest = f"{_REST} {' '.join(parts)}" if parts else _NEXT
        click.echo(f"\n{_REPAIR if problems else rest}")
    click.get_current_context().exit(1 if problems else 0)


def _list_problems(
    problems: list[str], parts: dict[str, str], *, as_json: bool
) -> dict[str, object]:
    """Say what is broken, and what does not work without a library."""
    if as_json:
        return {"broken": problems, "does not work": parts}
    found: dict[str, object] = {}
    if problems:
        found["broken"] = ", ".join(problems)
    if parts:
        found["does not work"] = "; ".join(parts.values())
    return found or {"problems": "none"}


def _version(name: str, absent: str = _MISSING) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return absent


def _random_source() -> str:
    """Compare the stream cipher with its standard."""
    from mondegreen.sampling.noise import chacha20

    stream: Any = chacha20(bytes(32)).bit_generator
    start = stream.random_raw(2).astype("<u8").tobytes().hex()
    verdict = "as RFC 8439" if start == _ZERO_KEY_STREAM else _WRONG
    return f"ChaCha20 ({verdict}), keyed by the operating system for every batch"
