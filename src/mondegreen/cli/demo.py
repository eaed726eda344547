"""``mondegreen demo``: invented sentences before and after, and what is promised."""

from __future__ import annotations

from typing import Final

import click

from mondegreen.cli.options import command

SENTENCES: Final = (
    "My doctor in Boston found the diabetes early, and I paid 340 dollars.",
    "Anna told me that her husband lost his job at the bank last Monday.",
    "Please call Mr. Petrov before 9 about the divorce and the house in Lisbon.",
)
"""Invented for this command. They are about nobody."""


@command()
def demo() -> None:
    """Show three invented sentences before and after.

    The command uses the default policy and mechanism, at epsilon 12. On a terminal,
    hidden words are in color. Each run draws other words. The command reads no file.

    \b
    mondegreen demo
    """  # noqa: D301
    from rich.console import Console

    from mondegreen.cli.before_after import show_before_after
    from mondegreen.cli.render import prepare_privatizer, show_promise
    from mondegreen.settings import Settings

    privatizer = prepare_privatizer(Settings(epsilon=12.0), quiet=True)
    releases = [str(privatizer(sentence)) for sentence in SENTENCES]
    console = Console(highlight=False)
    if console.file.isatty():
        show_before_after(console, privatizer, SENTENCES, releases)
    else:  # the originals are invented, so a pipe can have them
        for sentence, release in zip(SENTENCES, releases, strict=True):
            click.echo(f"before  {sentence}\nafter   {release}\n")
    show_promise(privatizer.guarantee, privatizer.preview(), quiet=False)
    click.echo(
        "Next: mondegreen privatize notes.csv -o safe.csv --column text --epsilon 12 "
        "--show 3"
    )
