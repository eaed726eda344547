"""Compare survivors and reader with counts by spans, on 200 annotated texts of a set.

The counts by hand need no alignment: they know what was done to each span. The table of
``docs/how-to/check-your-redactor.md`` shows them beside what the attacks count.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq

import mondegreen as mg
from benchmarks import machine
from mondegreen.attacks.any_tool.reader import PublicReader, read_hidden
from mondegreen.attacks.any_tool.rows import Given, Row, read_rows
from mondegreen.attacks.any_tool.spans import Annotation, read_spans
from mondegreen.language.store import load_language

TEXTS = 200
NAMES = {"llm_redactor": "person", "presidio_synthetic": "PERSON"}
"""Annotated sets, and how each calls the name of a person."""

_SURROGATES = ("Zorblax Quimby", "Vexley", "Orbs 12 Plinth")


class Agreement(NamedTuple):
    """What an attack counts, what spans count, and how many units there are."""

    counted: float
    by_hand: int
    units: int


def find_data(name: str) -> Path:
    """Return where a set lies."""
    return machine.SHARED / f"private_text/{name}.parquet"


def read_annotated(name: str) -> Iterator[tuple[str, list[Annotation]]]:
    """Yield the first texts whose spans do not overlap, and their spans."""
    left = TEXTS
    for row in pq.read_table(find_data(name)).to_pylist():
        spans = read_spans(row["spans"], row["text"])
        apart = all(
            a == b or a[1] <= b[0] or b[1] <= a[0] for a in spans for b in spans
        )
        if spans and apart and left:
            left -= 1
            yield row["text"], spans


def redact(
    text: str, spans: Sequence[Annotation], rng: random.Random
) -> tuple[str, int]:
    """Leave, mask, delete or replace each span at random; count what is left."""
    left = 0
    for start, end, kind in reversed(spans):
        action = rng.choice(["leave", "mask", "delete", "surrogate"])
        left += action == "leave"
        shown = {
            "leave": text[start:end],
            "mask": f"[{kind.upper()}]",
            "delete": "",
            "surrogate": rng.choice(_SURROGATES),
        }[action]
        text = text[:start] + shown + text[end:]
    return text, left


def count_survivors(name: str) -> Agreement:
    """Count units that are left by random redaction."""
    rng, given, by_hand = random.Random(4), [], 0
    for number, (text, spans) in enumerate(read_annotated(name), start=1):
        release, left = redact(text, spans, rng)
        by_hand += left
        given.append(Given(number, text, release, spans))
    rows = list(read_rows(given))
    counted = sum(row.left_count() for row in rows)
    return Agreement(
        counted, by_hand, sum(len(each.annotations or ()) for each in given)
    )


def count_recovered(name: str) -> Agreement:
    """Count units that the reader has where all names of persons are masked."""
    given, kinds = [], Counter[str]()
    for number, (text, spans) in enumerate(read_annotated(name), start=1):
        release = text
        for start, end, kind in reversed(spans):
            kinds[kind] += 1
            if kind == NAMES[name]:
                release = release[:start] + "[PERSON]" + release[end:]
        given.append(Given(number, text, release, spans))
    rows = list(read_rows(given))
    reader = PublicReader(load_language(), mg.load_space(), rows)
    found = read_hidden(rows, reader, "annotated units")
    by_hand = 0
    for index, (row, each) in enumerate(zip(rows, given, strict=True)):
        for start, end, kind in each.annotations or ():
            words = re.findall(r"\w+", each.original[start:end].lower())
            # Other kinds stand; a name is had where its first guesses spell it.
            by_hand += kind != NAMES[name] or all(
                _is_guessed(reader, row, word, index) for word in words
            )
    assert found.value is not None
    return Agreement(found.value * found.n, by_hand, kinds.total())


def _is_guessed(reader: PublicReader, row: Row, word: str, index: int) -> bool:
    """Whether the first guess at the place of a word is the word."""
    if word not in row.words:
        return False
    ids, scores = reader.scores(index, row.words.index(word))
    return bool(int(ids[scores.argmax()]) == reader.get_id(word))


def main() -> None:
    """Count, and write."""
    found = {
        name: {
            "survivors": count_survivors(name)._asdict(),
            "reader": count_recovered(name)._asdict(),
        }
        for name in NAMES
    }
    machine.save("hand_counts", {"texts": TEXTS, "sets": found})


if __name__ == "__main__":
    main()
