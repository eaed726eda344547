"""Texts before and after, side by side: on a terminal, and nowhere else.

Originals are private. They are kept in memory and go to a terminal only. Every way to
print them is in this file.
"""

from __future__ import annotations

import difflib
import itertools
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, final

import click

from mondegreen.cli.render import refuse_quiet
from mondegreen.errors import ConfigurationError

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Console
    from rich.text import Text

    from mondegreen.attacks.context import ContextCertificate, Place
    from mondegreen.io.base import AbstractSource
    from mondegreen.privatizer.privatizer import Privatizer

MOST_SHOWN: Final = 100
"""Texts that ``--show`` prints at most."""

MOST_EXPOSED: Final = 40
"""Places that ``explain FILE`` prints at most."""

_BESIDE: Final = 40  # columns for number, posterior, class and an exposed word
_WORDS: Final = 60  # of a text; a longer one is cut
_LETTERS: Final = 60  # of a word, or of what is between two words
_SIDE_BY_SIDE: Final = 80  # columns of the terminal
_HIDDEN, _PRINTED = "bold red", "bold green"


@final
class FirstTexts:
    """The first texts of a source and their releases, which a terminal shows.

    With ``is_shown`` false they are kept for a certificate, which counts words.
    """

    def __init__(
        self, count: int, *, is_shown: bool = True, quiet: bool = False
    ) -> None:
        is_shown = is_shown and count > 0
        refuse_quiet("--show", quiet=quiet and is_shown)
        if is_shown and not sys.stderr.isatty():
            raise ConfigurationError(
                "--show prints original texts. It needs a terminal as standard error, "
                "and standard error is a pipe or a file. Leave --show out"
            )
        self._count = count
        self._before: list[str] = []
        self._after: list[str] = []

    def take_originals(
        self, source: AbstractSource, batches: Iterable[pa.RecordBatch]
    ) -> Iterator[pa.RecordBatch]:
        """Pass the batches of a source on, and keep its first texts."""
        for batch in batches:
            self._take(source, batch, self._before)
            yield batch

    def take_release(self, source: AbstractSource, batch: pa.RecordBatch) -> None:
        """Keep the first texts of the releases, which have the order of the source."""
        self._take(source, batch, self._after)

    def _take(
        self, source: AbstractSource, batch: pa.RecordBatch, kept: list[str]
    ) -> None:
        if missing := self._count - len(kept):
            kept += source.texts(batch.slice(0, missing))[:missing]

    def certify(self, privatizer: Privatizer) -> ContextCertificate | None:
        """Count what the context gives away of the texts; None where there are none."""
        if not self._before:
            return None
        from mondegreen.attacks.context import certify_context

        return certify_context(self._before, privatizer, releases=self._after)

    def show(self, privatizer: Privatizer, output: str) -> None:
        """Print the texts on the terminal that is standard error, and a next step."""
        if not self._before:
            return
        from rich.console import Console

        console = Console(stderr=True, highlight=False)
        show_before_after(console, privatizer, self._before, self._after)
        if output != "-":
            measure = "measure what an attacker recovers: mondegreen attack --help"
            click.echo(f"Next: read {output}. Then {measure}", err=True)


def show_before_after(
    console: Console,
    privatizer: Privatizer,
    before: Sequence[str],
    after: Sequence[str],
) -> None:
    """Print texts beside their releases; hidden words are bold and in color.

    A console that is no terminal gets the releases alone.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    hidden = _find_hidden(privatizer, before)
    cut = [
        [parts or [""] for parts in privatizer.lookup.cut(texts).parts]
        for texts in (before, after)
    ]
    pairs = list(map(_mark, *cut, hidden))
    # Not console.is_terminal: an environment variable can set that.
    if not console.file.isatty():
        for _, release in pairs:
            console.print(release, soft_wrap=True)
        console.print("The originals are shown on a terminal only.")
        return
    if console.width < _SIDE_BY_SIDE:
        for original, release in pairs:
            console.print(Text.assemble(("before  ", "dim"), original))
            console.print(Text.assemble(("after   ", "dim"), release), end="\n\n")
        return
    table = Table(box=box.SIMPLE_HEAD, expand=True, pad_edge=False)
    table.add_column("before", ratio=1)
    table.add_column("after", ratio=1)
    for pair in pairs:
        table.add_row(*pair)
    console.print(table)


def show_exposed(texts: Sequence[str], places: Sequence[Place]) -> None:
    """Print exposed words within their sentences, the most certain ones, in color."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    around = min(_LETTERS, max(10, (console.width - _BESIDE) // 2))  # on both sides
    for place in places[:MOST_EXPOSED]:
        text = texts[place.text]
        start = max(0, place.start - around)
        parts = [
            text[start : place.start],
            text[place.start : place.end],
            text[place.end : place.end + around],
        ]
        line = Text(f"{place.text + 1:>6,}  {place.posterior:.2f}  {place.kind:<12}  ")
        parts[0] = parts[0].rjust(around)
        line.append_text(_color(parts, [True], _HIDDEN))
        console.print(line, no_wrap=True, overflow="ellipsis")
    if len(places) > MOST_EXPOSED:
        console.print(f"and {len(places) - MOST_EXPOSED:,} more")


def _find_hidden(privatizer: Privatizer, texts: Sequence[str]) -> list[list[bool]]:
    """Say for each word of each text whether the mechanism hides it."""
    from mondegreen.policy.lookup import PolicyLookup
    from mondegreen.text.lookup import KEEP, Lookup

    tokens, policy = privatizer.lookup.cut(texts), privatizer.policy
    if policy is None:
        codes = Lookup(privatizer.space, keep=privatizer.keep).codes(tokens)
        found = [code != KEEP for code in codes.tolist()]
    else:
        symbols = PolicyLookup(policy).codes(tokens).tolist()
        found = [policy.describe(symbol)[0] != "ordinary" for symbol in symbols]
    marks = iter(found)
    return [list(itertools.islice(marks, count)) for count in tokens.counts()]


def _mark(
    originals: Sequence[str], releases: Sequence[str], hidden: Sequence[bool]
) -> tuple[Text, Text]:
    """Color the hidden words of a text, and what is printed in their places.

    Both texts are given as they were cut.
    """
    printed = hidden
    if len(originals) != len(releases):  # the words no longer have the same places
        words = originals[1::2], releases[1::2]
        printed = [True] * len(words[1])
        for match in difflib.SequenceMatcher(None, *words, False).get_matching_blocks():
            printed[match.b : match.b + match.size] = [False] * match.size
    return _color(originals, hidden, _HIDDEN), _color(releases, printed, _PRINTED)


def _color(parts: Sequence[str], marks: Sequence[bool], style: str) -> Text:
    """Make a line that a terminal can print: no control characters, and not too long.

    A text could else move the cursor, or change the title of the window.
    """
    from rich.text import Text

    shown = Text()
    for place, part in enumerate(parts[: 2 * _WORDS]):
        cut = part if len(part) <= _LETTERS else part[: _LETTERS - 1] + "…"
        safe = "".join(letter if letter.isprintable() else " " for letter in cut)
        is_marked = place % 2 == 1 and marks[place // 2]
        shown.append(safe, style if is_marked else "")
    if len(parts) > 2 * _WORDS + 1:
        shown.append(" …")
    return shown
