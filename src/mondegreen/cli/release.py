"""What a run says about its release: on the terminal, in the report, in the file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from mondegreen.errors import SourceError

if TYPE_CHECKING:
    from mondegreen.guarantee import Guarantee
    from mondegreen.io.base import AbstractSource
    from mondegreen.passes import Pass


_FORMAT: Final = "mondegreen-report/2"
_LONGEST: Final = 16 << 20


def announce(
    guarantee: Guarantee, earlier: Sequence[Pass], *, quiet: bool, verbose: bool
) -> None:
    """Print the promise before work starts; warnings where it is quiet, too."""
    if not quiet:
        click.echo(guarantee if verbose else guarantee.summary(), err=True)
    else:
        if not guarantee.is_private:
            click.echo(f"NOT PRIVATE: {guarantee.reason_not_private}", err=True)
        if guarantee.warning:
            click.echo(guarantee.warning, err=True)
    for each in earlier:
        if not (quiet and each.is_private):
            click.echo(f"Privatized before: {each}", err=True)


def earlier_passes(source: AbstractSource, report: str | None) -> list[Pass]:
    """Return the passes that the input went through, by its own word or a report."""
    from mondegreen.passes import from_json

    found = from_json(source.earlier)
    if report is None:
        return found
    try:
        with Path(report).open("rb") as file:
            passes = json.loads(file.read(_LONGEST))["passes"]
    except OSError as error:
        problem = error.strerror or type(error).__name__
        raise SourceError(report, f"cannot be read: {problem}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        problem = "not a report of mondegreen privatize"
        raise SourceError(report, problem, hint="see --report") from None
    return [*from_json(json.dumps(passes)), *found]


def report_of(
    passes: Sequence[Pass],
    guarantee: Guarantee,
    source: AbstractSource,
    columns: tuple[str, ...],
    counts: dict[str, int],
) -> bytes:
    """Return the report. Counts of unknown or changed words are not in it.

    Such counts are functions of the private words, and nothing bounds what they tell;
    the numbers of rows and words are part of what passes in clear anyway.
    """
    from mondegreen import __version__
    from mondegreen.passes import all_private

    report: dict[str, Any] = {
        "format": _FORMAT,
        "mondegreen": __version__,
        "is_private": all_private(passes),
        "guarantee": guarantee.to_dict(),
        "passes": [each.to_dict() for each in passes],
        "input": {"format": source.format, "columns": list(columns)},
        "counts": counts,
    }
    return (json.dumps(report, indent=2, ensure_ascii=False) + "\n").encode()
