"""Sets of texts: some with annotations, others with labels."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, final

import numpy as np

from mondegreen.attacks.any_tool.spans import Annotation, SpanError, read_spans
from mondegreen.errors import ConfigurationError, SourceError
from mondegreen_experiments.bench import Bench
from mondegreen_experiments.recipe import Point

Use: TypeAlias = Literal["classes", "intents", "retrieval", ""]
"""What the texts of a set are for; nothing where it is annotated."""

_SEED: Final = 26
_LEARNED: Final = 5_000
"""Texts of a training part that classifiers learn from, at most."""

_TITLE: Final = "TITLE"  # "Mr.": not a unit that tells who somebody is


@final
@dataclass(frozen=True, slots=True)
class TextSet:
    """A set of the bench: how many of its texts are released, and what they are for.

    ``words`` cuts texts to their last words, 0 for none.
    """

    file: str
    texts: int
    use: Use = ""
    split: str | None = None
    words: int = 0


SETS: Final[Mapping[str, TextSet]] = {
    "Presidio's texts": TextSet("private_text/presidio_synthetic", 120),
    "llm-redactor's prompts": TextSet("private_text/llm_redactor", 120),
    "film reviews": TextSet("imdb", 80, "classes", "test", words=40),
    "news": TextSet("ag_news", 80, "classes", "test"),
    "banking questions": TextSet("private_text/banking77", 120, "intents", "test"),
    "insurance questions": TextSet("insuranceqa_questions", 120, "retrieval", "test"),
}
"""The first two are annotated. Sizes are those of the scale ``quick``."""

ANNOTATED: Final = tuple(name for name, each in SETS.items() if not each.use)
PLAIN: Final = tuple(name for name, each in SETS.items() if each.use)
FULL: Final = 5
"""How many times as many texts the scale ``full`` takes, at most all of them."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Texts:
    """Texts to release, with annotations or labels where they have such."""

    texts: Sequence[str]
    spans: Sequence[Sequence[Annotation]] | None
    labels: Sequence[Any] | None

    def __repr__(self) -> str:
        return f"Texts(<{len(self.texts)} texts>)"


def read_texts(bench: Bench, point: Point) -> dict[str, Texts]:
    """Read the texts of a point: the sets of the bench, or a file that was added."""
    if "file" in point:
        file, field = str(point["file"]), str(point["spans"])
        return {str(point["set"]): _read_file(file, field, int(point["texts"]))}
    times = int(point["times"])
    return {
        name: _read(bench, each, times * each.texts)
        for name, each in SETS.items()
        if not bench.lacks([each.file])
    }


def _read(bench: Bench, each: TextSet, count: int) -> Texts:
    table = bench.table(each.file)
    rows = _rows(table, each.split, count)
    texts = [_cut(table["text"][i], each.words) for i in rows]
    if each.use:
        return Texts(texts, None, [table["label"][i] for i in rows])
    spans = [
        [a for a in read_spans(table["spans"][i], table["text"][i]) if a.kind != _TITLE]
        for i in rows
    ]
    return Texts(texts, spans, None)


def _rows(
    table: Mapping[str, Sequence[Any]], split: str | None, count: int
) -> list[int]:
    """Choose rows of a part at random, the same ones each time, in their order."""
    splits = table.get("split", [None] * len(table["text"]))
    rows = [i for i, each in enumerate(splits) if split in (None, each)]
    order = np.random.default_rng(_SEED).permutation(len(rows))[:count]
    return [rows[i] for i in sorted(order.tolist())]


def read_learned(bench: Bench, name: str) -> tuple[list[str], list[Any]]:
    """Read texts and labels of the training part of a set."""
    each = SETS[name]
    table = bench.table(each.file)
    rows = _rows(table, "train", _LEARNED)
    texts = [_cut(table["text"][i], each.words) for i in rows]
    return texts, [table["label"][i] for i in rows]


def _cut(text: str, words: int) -> str:
    """Keep the last words, where so many are asked for; drop marks of web pages."""
    text = text.replace("<br />", " ")
    return " ".join(text.split()[-words:]) if words else text


def _read_file(path: str, field: str, count: int) -> Texts:
    """Read the column ``text`` and spans of a file, of so many rows at random."""
    from mondegreen.io.fields import read_field

    texts = read_field(path, "text")
    fields = read_field(path, field) if field else itertools.repeat(None)
    rows = [
        (text, given)
        for text, given in zip(texts, fields, strict=False)
        if isinstance(text, str) and text
    ]
    if len(rows) < 2:
        raise SourceError(path, "it has fewer than two texts")
    kept = _rows({"text": rows}, None, count)
    chosen = [rows[i] for i in kept]
    if field and not any(given is not None for _, given in rows):
        raise SourceError(path, f"no text has the field {field!r} of --spans")
    if not field:
        return Texts([text for text, _ in chosen], None, None)
    try:
        found = [read_spans(given, text) for text, given in chosen]
    except SpanError as error:
        raise SourceError(path, f"field {field!r}: {error}") from None
    return Texts([text for text, _ in chosen], found, None)


def describe_file(given: str, spans: str, most: int) -> dict[str, Any]:
    """Read ``NAME=FILE`` as a part of a point; the file is known by size and time."""
    name, _, file = given.partition("=")
    path = Path(file)
    if not name or not file or name in SETS:
        raise ConfigurationError(
            f"--set {given}: write NAME=FILE, with a name that no other set has"
        )
    if not path.is_file():
        raise ConfigurationError(f"--set {given}: {file} is no file")
    about = path.stat()
    return {
        "set": name,
        "texts": most,
        "file": str(path),
        "spans": spans,
        "state": f"{about.st_size} {about.st_mtime_ns}",
    }
