"""Conversations of five turns: what users ask, with their personal units marked."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pyarrow.parquet as pq

from benchmarks import machine
from benchmarks.measure.policies import ANNOTATED, TITLE, _spans
from benchmarks.measure.restoring import PROMPTS, Writer

TURNS: Final = 5
MARKER: Final = "marker"
"""The kind of a marker, which is no personal unit."""

_OPENING: Final = (
    "Repeat this text.",
    "Translate this text into German.",
    "Summarize this text in two sentences.",
    "Draft a reply to this text.",
    "List the sentences of this text.",
    "Extract the fields of this text as JSON.",
)
_FOLLOWING: Final = (
    *_OPENING,
    "Say that again.",
    "Say that again in capitals.",
    "What is the mail address that I gave?",
    "What is the phone number that I gave?",
    "What is the amount that I gave?",
    "What is the name that I gave?",
    "What is the date that I gave?",
)
LOOK_UP: Final = "Look up the customer of this text."
_PARAMETERS: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        name: {"type": "string"} for name in ("name", "mail", "phone", "date")
    },
}
FUNCTION: Final = {"name": "find_customer", "parameters": _PARAMETERS}
TOOLS: Final[dict[str, dict[str, Any]]] = {
    "chat/completions": {"type": "function", "function": FUNCTION},
    "responses": {"type": "function", **FUNCTION},
}
_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"


@dataclass(frozen=True)
class Said:
    """A text that goes up, and where its personal units are."""

    text: str
    spans: tuple[tuple[int, int, str], ...] = ()

    def __add__(self, other: Said) -> Said:
        start = len(self.text)
        moved = ((a + start, b + start, kind) for a, b, kind in other.spans)
        return Said(self.text + other.text, (*self.spans, *moved))


@dataclass(frozen=True)
class Turn:
    """One turn: what is asked, and what a tool returns if it is called."""

    said: Said
    is_stream: bool
    is_json: bool = False
    result: Said | None = None


@dataclass(frozen=True)
class Asked:
    """A conversation. ``marker`` is a word that no other conversation holds."""

    number: int
    kind: str
    source: str
    marker: str
    turns: tuple[Turn, ...]


def marker(number: int) -> str:
    """A word that is no word: different for each number, and never a surrogate.

    >>> marker(1), marker(71)
    ('Kwobabababeb', 'Kwobababedeb')
    """
    letters = []
    for _ in range(4):
        number, vowel = divmod(number, len(_VOWELS))
        number, consonant = divmod(number, len(_CONSONANTS))
        letters += [_VOWELS[vowel], _CONSONANTS[consonant]]
    return "Kwo" + "".join(reversed(letters)) + "eb"


@functools.cache
def annotated(name: str) -> tuple[Said, ...]:
    """The texts of an annotated set. Titles such as "Mr." are no units."""
    rows = pq.read_table(machine.SHARED / "private_text" / f"{name}.parquet")
    return tuple(
        Said(
            row["text"],
            tuple(each for each in _spans(row["spans"]) if each[2] != TITLE),
        )
        for row in rows.to_pylist()
    )


class Asker:
    """Writes conversations. Those of one seed and number are the same."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._writer = Writer(seed)

    def __call__(self, number: int) -> Asked:
        """Write the conversation of a number."""
        rng = self._writer.rng = random.Random(f"{self._seed} {number}")
        source = (*ANNOTATED, "synthetic facts")[number % 3]
        word = marker(number)
        kind = "responses" if rng.random() < 0.3 else "chat/completions"
        texts = self._texts(source, rng)
        words = "\nThe reference is ", word, "."
        end = len(words[0]) + len(word)
        reference = Said("".join(words), ((len(words[0]), end, MARKER),))
        opening = Said(rng.choice(_OPENING) + "\n\n") + next(texts) + reference
        turns = [self._turn(opening, rng)]
        turns += [self._follow(texts, rng) for _ in range(TURNS - 1)]
        return Asked(number, kind, source, word, tuple(turns))

    def _texts(self, source: str, rng: random.Random) -> Iterator[Said]:
        while True:
            if source in ANNOTATED:
                yield rng.choice(annotated(source))
            else:
                yield self._facts(rng)

    def _facts(self, rng: random.Random) -> Said:
        """A prompt of synthetic facts, whose values are the units."""
        values, found = self._writer.values(), Said("")
        pieces = rng.choice(PROMPTS).replace("}", "{").split("{")
        for i, piece in enumerate(pieces):
            text = values[piece] if i % 2 else piece
            found += Said(text, ((0, len(text), piece),) if i % 2 else ())
        return found

    def _follow(self, texts: Iterator[Said], rng: random.Random) -> Turn:
        if rng.random() < 0.2:
            result = Said("Found:\n") + self._facts(rng)
            return self._turn(Said(LOOK_UP), rng, result)
        said = Said(rng.choice(_FOLLOWING))
        if rng.random() < 0.25:
            said = Said(rng.choice(_OPENING) + "\n\n") + next(texts)
        return self._turn(said, rng)

    def _turn(self, said: Said, rng: random.Random, result: Said | None = None) -> Turn:
        is_json = said.text.startswith("Extract") and rng.random() < 0.5
        return Turn(said, rng.random() < 0.5, is_json, result)


def first(count: int, seed: int) -> Iterator[Asked]:
    """Write the first conversations of a seed."""
    return map(Asker(seed), itertools.islice(itertools.count(), count))
