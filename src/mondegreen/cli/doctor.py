"""``mondegreen doctor``."""

from __future__ import annotations

import importlib.metadata
import platform
import sys
from typing import Any, Final

import click

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
_OPTIONAL: Final = {"matplotlib": "pictures of scores", "torch": "searches on a GPU"}

# RFC 8439, appendix A.1, test vector 1: key and nonce zero, block 0.
_ZERO_KEY_STREAM: Final = "76b8e0ada0f13d90405d6ae55386bd28"


_NEXT: Final = (
    'All is well. Try: echo "I met Ann in Oslo." | mondegreen privatize - --epsilon 10'
)
_REPAIR: Final = (
    "Do not use it like this. Install it again, into a virtual environment of its own."
)
_BROKEN: Final = 1
_MISSING: Final = "MISSING"
_WRONG: Final = "WRONG, do not use"


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print an object.")
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> None:
    """Show versions, spaces and the random source, and check what can be checked.

    Run it first after an installation, and put what it prints into a report of a bug:
    it reads no text, and opens no connection.

    \b
    mondegreen doctor

    \b
    Exit codes: 0 all is well, 1 a library is MISSING or the random source is WRONG,
    3 the embedded space is damaged.
    """  # noqa: D301
    from mondegreen.cli.render import echo_facts, echo_json
    from mondegreen.files import home
    from mondegreen.space.store import space_names

    libraries = {name: _version(name) for name in _LIBRARIES}
    source = _random_source()
    problems = [name for name, version in libraries.items() if version == _MISSING]
    if _WRONG in source:
        problems.append("random source")
    findings = {
        "mondegreen": importlib.metadata.version("mondegreen"),
        "python": f"{platform.python_version()}, {sys.executable}",
        "platform": platform.platform(),
        "libraries": libraries,
        "optional": {name: _optional(name) for name in _OPTIONAL},
        "random source": source,
        "default space": _default_space(),
        "spaces": space_names() if as_json else ", ".join(space_names()),
        "cache": str(home()),
        "network": "never used, except by: mondegreen space fetch",
        "broken": problems if as_json else ", ".join(problems) or "nothing",
    }
    if as_json:
        echo_json(findings)
    else:
        echo_facts(findings)
        click.echo(f"\n{_REPAIR if problems else _NEXT}")
    ctx.exit(_BROKEN if problems else 0)


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return _MISSING


def _optional(name: str) -> str:
    """Return the version of what is not needed, or what it would be good for."""
    version = _version(name)
    return f"not installed ({_OPTIONAL[name]})" if version == _MISSING else version


def _random_source() -> str:
    """Compare the stream cipher with its standard."""
    from mondegreen.sampling.noise import chacha20

    stream: Any = chacha20(bytes(32)).bit_generator
    start = stream.random_raw(2).astype("<u8").tobytes().hex()
    verdict = "as RFC 8439" if start == _ZERO_KEY_STREAM else _WRONG
    return f"ChaCha20 ({verdict}), keyed by the operating system for every batch"


def _default_space() -> str:
    """Load the embedded space, which checks its digest."""
    from mondegreen import load_space

    space = load_space()
    return f"{space.name}, {space.vocab_size:,} x {space.dim}, digest {space.digest}"
