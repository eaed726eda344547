"""Progress and messages on standard error, where somebody can see them."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from mondegreen.io.base import AbstractSource


@contextlib.contextmanager
def progress(source: AbstractSource, *, quiet: bool) -> Iterator[Callable[[], None]]:
    """Show how much of a source has been read; yields a function to call per batch."""
    if quiet or source.total is None or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task(f"privatizing ({source.unit})", total=source.total)
        yield lambda: bar.update(task, completed=source.position)


def say(message: str) -> None:
    """Print a message on a line of its own."""
    start = "\r\x1b[K" if sys.stderr.isatty() else ""
    click.echo(start + message, err=True)


def shower(quiet: bool) -> Callable[[str], None]:
    """Return what shows a changing line on a terminal, and nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        return lambda message: None
    return lambda message: click.echo(f"\r\x1b[K{message}", err=True, nl=False)
