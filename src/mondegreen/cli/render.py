"""What the verbs print: data on standard output; messages and progress beside it."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from mondegreen.errors import ConfigurationError

if TYPE_CHECKING:
    from mondegreen.calibration.sample import Sample
    from mondegreen.guarantee import Guarantee
    from mondegreen.io.base import AbstractSource
    from mondegreen.policy.shown import ShownSymbol, ShownWord
    from mondegreen.privatizer.privatizer import Privatizer
    from mondegreen.sampling.noise import NoiseSource
    from mondegreen.scores.preview import Preview
    from mondegreen.settings import Same, Settings
    from mondegreen.space.space import Space

_MINUTE: Final = 60  # seconds

_NAMED: Final = 10
"""Words of a list that a message names."""

MUST_BE_PUBLIC: Final = (
    "SAMPLE must be PUBLIC: a setting that is chosen on a text discloses something "
    "about that text."
)


def echo_json(value: object) -> None:
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def echo_facts(facts: Mapping[str, object], *, as_json: bool = False) -> None:
    """Print a fact per line, or all of them as JSON."""
    if as_json:
        echo_json(facts)
    else:
        click.echo("\n".join(table([(key, _cell(facts[key])) for key in facts])))


def echo_table(rows: Sequence[Mapping[str, object]], *, as_json: bool = False) -> None:
    """Print rows with the same keys, at least one, under these; or as JSON."""
    if as_json:
        echo_json(rows)
        return
    cells = [[_cell(row[key]) or "-" for key in row] for row in rows]
    click.echo("\n".join(table([list(rows[0]), *cells])))


def table(
    rows: Sequence[Sequence[str]], align: str = "", indent: str = ""
) -> list[str]:
    """Set cells in columns, as wide as the widest: nothing is folded or cut.

    ``align`` holds a ``<`` or ``>`` for each column; all are ``<`` if it is empty.
    """
    columns, sides = [], align or "<" * len(rows[0])
    for cells, side in zip(zip(*rows, strict=True), sides, strict=True):
        width = max(map(len, cells))
        columns.append([f"{cell:{side}{width}}" for cell in cells])
    return [indent + "  ".join(row).rstrip() for row in zip(*columns, strict=True)]


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_cell(each)}" for key, each in value.items())
    return f"{value:,}" if isinstance(value, int) else str(value)


def describe_symbol(shown: ShownSymbol) -> str:
    """Say in words what a symbol is, and among how many a word hides.

    >>> from mondegreen.policy.policy import load_policy
    >>> from mondegreen.policy.shown import PolicyView
    >>> describe_symbol(PolicyView(load_policy("sensitive")).describe(0))
    'ordinary, shown'
    """
    if shown.hides_among is None:
        return "ordinary, shown"
    if shown.class_name == "format":
        among = f"hides among all {shown.outputs:,} of this format"
        return f"{shown.class_name} {shown.group!r}; {among}"
    among = f"the {shown.outputs:,} words of group {shown.group!r}"
    return f"{shown.class_name}; hides among {among}"


def describe_spellings(shown: ShownWord) -> list[str]:
    """Say what a word is where its capital means something else.

    >>> from mondegreen.policy.policy import load_policy
    >>> from mondegreen.policy.shown import PolicyView
    >>> (word,) = PolicyView(load_policy("sensitive")).words("port")
    >>> [line.partition(";")[0] for line in describe_spellings(word)]
    ['as Port inside a sentence: place']
    """
    spelled = shown.word[:1].upper() + shown.word[1:]
    others = {
        "as the first word of a sentence": shown.at_start,
        f"behind a full stop, as in Mr. {shown.word}": shown.behind_stop,
        f"after a sign, as in ({shown.word}), or alone on a line": shown.behind_sign,
        f"as {spelled} inside a sentence": shown.capitalized,
        "in a line in capitals": shown.in_capitals,
    }
    return [
        f"{where}: {describe_symbol(symbol)}"
        for where, symbol in others.items()
        if symbol is not None
    ]


def say(message: str) -> None:
    """Print a message on a line of its own."""
    start = "\r\x1b[K" if sys.stderr.isatty() else ""
    click.echo(start + message, err=True)


def refuse_quiet(option: str, *, quiet: bool) -> None:
    """Refuse an option that prints originals beside ``--quiet``."""
    if quiet:
        raise ConfigurationError(
            f"{option} prints original texts, and --quiet prints warnings only. Leave "
            "one of them out"
        )


def shower(quiet: bool) -> Callable[[str], None]:
    """Make what shows a changing line on a terminal, and a line a minute elsewhere."""
    if quiet:
        return lambda message: None
    if not sys.stderr.isatty():
        return _show_each_minute()
    return lambda message: click.echo(f"\r\x1b[K{message}", err=True, nl=False)


def _show_each_minute() -> Callable[[str], None]:
    """Make what says in a log how far long work is; short work says nothing."""
    last = time.monotonic()

    def show(message: str) -> None:
        nonlocal last
        if message and time.monotonic() - last >= _MINUTE:
            last = time.monotonic()
            say(message)

    return show


@contextlib.contextmanager
def progress(source: AbstractSource, *, quiet: bool) -> Iterator[Callable[[], object]]:
    """Show how much of a source has been read; yields a function to call per batch."""
    with progress_bar(source.total, quiet=quiet) as move:
        yield lambda: move(source.position)


@contextlib.contextmanager
def progress_bar(
    total: int | None, *, quiet: bool
) -> Iterator[Callable[[int], object]]:
    """Show a bar and the time that is left, on a terminal only.

    ``total`` is in bytes; None, for a pipe, shows nothing. Yields a function that takes
    how many bytes have been read.
    """
    if quiet or total is None or not sys.stderr.isatty():
        yield lambda position: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    with Progress(
        TextColumn("reading"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task("", total=total)
        yield lambda position: bar.update(task, completed=position)


def prepare_privatizer(
    settings: Settings, noise: NoiseSource | None = None, *, quiet: bool
) -> Privatizer:
    """Build a privatizer, and show the progress of what takes long."""
    from mondegreen.privatizer.build import build_privatizer

    show = shower(quiet)
    privatizer = build_privatizer(
        settings, noise, progress=lambda share: show(f"calibrating {share:.0%}")
    )
    state = privatizer.state
    if state.certificate_takes_long and not quiet:
        say("Computing the exact epsilon of this setting. The result is stored.")
        state.certificate(lambda share: show(f"exact epsilon {share:.0%}"))
    if privatizer.reading.read != "none":
        privatizer.reading.warm_up(lambda share: show(f"reader {share:.0%}"))
    show("")
    if not quiet:
        _say_own_names(privatizer)
    return privatizer


def _say_own_names(privatizer: Privatizer) -> None:
    """Name the words of --ordinary that hide with a capital."""
    hidden = () if privatizer.policy is None else privatizer.policy.list_own_names()
    if hidden:
        more = f" and {len(hidden) - _NAMED:,} more" if len(hidden) > _NAMED else ""
        say(
            "Some words of --ordinary are also names, and are still replaced if they "
            f"have a capital: {', '.join(hidden[:_NAMED])}{more}. To show one with a "
            "capital, write it with a capital in your list."
        )


def same_lines(same: Same) -> tuple[str, ...]:
    """Say what a scope adds to the law of one word, which it does not change.

    >>> same_lines("record")[0]
    'same record: one replacement throughout a record, which discloses equal words'
    """
    told = {
        "record": "throughout a record, which discloses equal words",
        "key": "in all texts under one key, which discloses equal words: a cipher",
    }
    return (f"same {same}: one replacement {told[same]}",) if same in told else ()


def show_promise(
    guarantee: Guarantee, preview: Preview, *, quiet: bool, verbose: bool = False
) -> None:
    """Print guarantee and preview before work starts; if quiet, warnings alone."""
    if not quiet:
        click.echo(guarantee if verbose else guarantee.summary(), err=True)
        word = preview.protection(guarantee)
        click.echo(f"{preview.warning or preview} Protection: {word}.", err=True)
        return
    if guarantee.is_void:
        click.echo(f"NOT PRIVATE: {guarantee.reason_not_private}", err=True)
    if preview.warning:
        click.echo(preview.warning, err=True)


def read_public(
    path: str,
    format: Any,
    columns: tuple[str, ...],
    space: Space,
    *,
    quiet: bool,
    keep: int = 0,
    sheet: str | None = None,
    encoding: str | None = None,
) -> Sample:
    """Count the words of a public sample, which ``calibrate`` takes."""
    from mondegreen.calibration.sample import read_sample
    from mondegreen.io.open import open_source

    with (
        open_source(
            path,
            format=format,
            columns=columns,
            missing="pass",
            sheet=sheet,
            encoding=encoding,
        ) as source,
        progress(source, quiet=quiet) as advance,
    ):
        sample = read_sample(source, space, advance, keep=keep)
    if not quiet:
        say(MUST_BE_PUBLIC)
    return sample
