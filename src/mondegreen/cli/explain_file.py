"""``mondegreen explain FILE``: which hidden words their context gives away."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

import click

from mondegreen.cli.render import echo_json, prepare_privatizer, shower, table
from mondegreen.errors import ConfigurationError, SourceError
from mondegreen.io.guess import guess_format
from mondegreen.settings import Settings
from mondegreen.wording import amount, figure

if TYPE_CHECKING:
    from mondegreen.attacks.context import ContextCertificate, Language
    from mondegreen.privatizer.privatizer import Privatizer

_CHUNK: Final = 16
_KINDS: Final = 10

_MORE: Final = (
    "An attacker with texts from your domain recovers more. To measure it: mondegreen "
    "attack."
)

PRIVATE: Final = (
    "Computed from the texts themselves: do not publish these numbers with the release."
)


@final
@dataclass(frozen=True, slots=True)
class TextFile:
    """A file to explain, and how many of its texts to read."""

    path: str
    columns: tuple[str, ...]
    corpus: tuple[str, ...]
    most: int
    sheet: str | None = None
    encoding: str | None = None  # of the file, not of the corpus

    def read(self, path: str) -> Iterator[str]:
        """Yield the texts of this file, or of another one with the same columns."""
        from mondegreen.io.open import open_source

        columns = self.columns or ("text",)
        encoding = self.encoding if path == self.path else None
        with open_source(
            path, columns=columns, missing="pass", sheet=self.sheet, encoding=encoding
        ) as source:
            for batch in source.batches():
                yield from source.texts(batch)


def is_text_file(word: str, columns: tuple[str, ...]) -> bool:
    """Whether the argument is a file: columns are named, or its name tells a format.

    >>> is_text_file("diabetes", ()), is_text_file("notes.csv", ("note",))
    (False, True)
    """
    if columns:
        return True
    return guess_format(word) is not None and Path(word).is_file()


def explain_file(
    file: TextFile, settings: Settings, *, as_json: bool, quiet: bool
) -> None:
    """Show which hidden words of a file their context gives away, before any draw.

    The words are printed on a terminal alone. Elsewhere there are counts and shares.
    """
    from mondegreen.attacks.context import DRAWS, advise, certify_context, merge
    from mondegreen.cli.before_after import show_exposed

    language = _open_language(file, settings.language)
    privatizer = prepare_privatizer(replace(settings, language=None), quiet=quiet)
    every = file.read(file.path)
    texts = list(islice(every, file.most))
    has_more = next(every, None) is not None
    show = shower(quiet)
    # Under one surrogate for all texts, these are read together.
    size = len(texts) if privatizer.settings.same == "key" else _CHUNK
    parts = []
    for first in range(0, len(texts), max(1, size)):
        show(f"{first:,} of {len(texts):,} texts")
        some = texts[first : first + size]
        parts.append(certify_context(some, privatizer, language=language))
    show("")
    found = merge(parts)
    if not found.words:
        raise SourceError(file.path, "it has no words in these columns")
    advice = advise(found, texts, privatizer)
    if as_json:
        about = {"draws": DRAWS, "advice": advice, "note": PRIVATE}
        echo_json({**found.to_dict(), **about})
        return
    click.echo("\n".join(_lines(found, privatizer, file, has_more=has_more)))
    exposed = found.find_exposed()
    if exposed and sys.stdout.isatty():
        click.echo("\nThe most certain words, with the numbers of their texts:")
        show_exposed(texts, exposed)
    elif exposed:
        click.echo("\nThe command shows these words on a terminal only.")
    more = [] if file.corpus else [_MORE]
    click.echo("\n".join(["", *advice, *more, PRIVATE]))


def _lines(
    found: ContextCertificate,
    privatizer: Privatizer,
    file: TextFile,
    *,
    has_more: bool,
) -> list[str]:
    """Say how many hidden words are given away, by class."""
    counts = found.to_dict()
    size = amount(found.texts, "text")
    if has_more:
        size = f"the first {size} (--texts N reads more)"
    lines = [
        f"{file.path}: {size}, {amount(found.words, 'word')}; "
        f"{privatizer.state.stated.setting}",
        say_exposed(found),
    ]
    rows = [["class", "hidden words", "given away"]]
    by_class: Mapping[str, Mapping[str, int]] = counts["by_class"]
    ranked = sorted(by_class.items(), key=lambda item: -item[1]["exposed"])
    if others := [each for _, each in ranked[_KINDS:]]:
        names = ("hidden_words", "exposed")
        both = {name: sum(each[name] for each in others) for name in names}
        ranked = [*ranked[:_KINDS], ("others", both)]
    rows += [
        [name, f"{each['hidden_words']:,}", f"{each['exposed']:,}"]
        for name, each in ranked
    ]
    return [*lines, "", *table(rows, align="<>>")]


def say_exposed(found: ContextCertificate) -> str:
    """Say how many hidden words are given away, and to whom."""
    counts = found.to_dict()
    hidden = amount(counts["hidden_words"], "hidden word")
    share = f" ({figure(counts['share'], 'percent')} %)" if counts["share"] else ""
    return (
        f"{hidden}. The context gives {counts['exposed']:,} of them away{share}: an "
        "attacker with the\nsame language model is more than 50 % sure of them."
    )


def _open_language(file: TextFile, name: str | None) -> Language:
    """Find what the attacker knows: a model, or one of texts from the domain."""
    if not file.corpus:
        return name
    if name is not None:
        raise ConfigurationError("--language and --corpus cannot be combined")
    from mondegreen.attacks.sensitive import in_domain_language
    from mondegreen.space.store import load_space

    own = set(file.read(file.path))  # else the file recovers itself
    every = chain.from_iterable(map(file.read, file.corpus))
    known = [text for text in every if text not in own]
    if not known:
        raise SourceError(file.corpus[0], "it has no texts besides those of FILE")
    return in_domain_language(known, load_space())
