"""One text and its release, word by word: what stands, what is hidden, and how."""

from __future__ import annotations

import functools
import operator
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, NamedTuple, final

import numpy as np

from mondegreen.attacks.alignment import GONE, Tokens, align, read_tokens
from mondegreen.attacks.any_tool.amounts import has_number_word
from mondegreen.attacks.any_tool.known_names import KNOWN_NAME, find_known_names
from mondegreen.attacks.any_tool.pieces import (
    count_written,
    find_shown_in_part,
    is_joined,
    is_written,
    write_digits,
)
from mondegreen.attacks.any_tool.spans import Annotation
from mondegreen.attacks.readings import decode_signs, list_readings, plain, squeeze
from mondegreen.attacks.related_rows import Beside
from mondegreen.attacks.sensitive import NUMBER, word_classes
from mondegreen.text.tokenizer import tokenize

_ROWS: Final = 512
_PLAIN: Final = ("ordinary", "rest", NUMBER)
_UNCHANGED: Final = 0.8
_SHORTEST: Final = 3

_find_chunks = re.compile(r"[^\s<>]+").finditer

STANDS, MOVED, REPLACED, MASKED, DELETED = range(5)
"""What became of a word. A moved word is printed elsewhere in the same release."""


class Given(NamedTuple):
    """A row as it is read."""

    number: int  # of the row, from 1
    original: str
    release: str  # empty where it was withheld
    annotations: Sequence[Annotation] | None = None
    label: str | None = None
    time: float | None = None  # of the original, in seconds
    released_time: float | None = None
    names: Sequence[str] = ()  # that other columns of the row of the original state
    beside: Beside | None = None  # what the release shows beside it


@final
@dataclass(frozen=True, slots=True)
class Unit:
    """What a tool is asked to hide: a sensitive word, or an annotated span."""

    kind: str
    first: int  # its words are first..last - 1
    last: int


@final
@dataclass(frozen=True, slots=True, repr=False)
class Row:
    """A text and its release, aligned.

    Parameters
    ----------
    number : int
    words : list of str
        Folded words of the original.
    classes : list of str
        Of each word, by the shipped lexicon.
    released : Tokens
    target : list of int
        The place of the counterpart of each word, or ``GONE``.
    fate : list of int
        ``STANDS``, ``MOVED``, ``REPLACED``, ``MASKED`` or ``DELETED``.
    time, released_time : float or None, seconds
        When the original and the release say that they were written.
    units : list of Unit
        Annotated spans if there are any annotations; else the sensitive words, and
        names that other columns of the row state.
    beside : Beside or None
        What the release shows beside the text.
    """

    number: int
    words: list[str]
    gaps: list[str]
    classes: list[str]
    released: Tokens
    target: list[int]
    fate: list[int]
    units: list[Unit]
    label: str | None = field(default=None)
    time: float | None = None
    released_time: float | None = None
    beside: Beside | None = None

    def is_left(self, unit: Unit) -> bool:
        """Whether all words of a unit can be read in the release."""
        return max(self.fate[unit.first : unit.last]) <= MOVED

    def is_partly_left(self, unit: Unit) -> bool:
        """Whether a word of a unit can be read that is sensitive by itself.

        Titles, such as *Dr.*, and other ordinary words are not; of a unit that has no
        others, all must be left.
        """
        return self.is_left(unit) or any(
            self.fate[i] <= MOVED
            and self.classes[i] != "ordinary"
            and not _is_short(self.words[i], self.classes[i])
            for i in range(unit.first, unit.last)
        )

    def left_count(self) -> int:
        return sum(map(self.is_left, self.units))

    @property
    def is_unchanged(self) -> bool:
        """Whether all units are left, and four of five words or more stand.

        A row without units may stay: it holds nothing that was to be hidden. What a
        release adds protects nothing, so it does not count as a change.
        """
        if not self.units or self.left_count() < len(self.units):
            return False
        return self.fate.count(STANDS) >= _UNCHANGED * len(self.fate)

    def __repr__(self) -> str:
        return f"Row({self.number}, <{len(self.words)} words>)"


def read_rows(given: Iterable[Given]) -> Iterator[Row]:
    """Align rows, batch by batch.

    >>> (row,) = read_rows([Given(1, "Call Ann now.", "Call [NAME] now.")])
    >>> [unit.kind for unit in row.units], row.fate
    (['first_name'], [0, 3, 0])
    """
    stream = iter(given)
    while chunk := list(islice(stream, _ROWS)):
        batch = tokenize([each.original for each in chunk])
        classes = word_classes(batch).tolist()
        ends = np.cumsum([0, *batch.counts()]).tolist()
        for i, each in enumerate(chunk):
            yield _row(each, classes[ends[i] : ends[i + 1]])


def _row(given: Given, classes: list[str]) -> Row:
    original = read_tokens(given.original)
    if given.annotations is None:
        units = [
            Unit(name, i, i + 1)
            for i, name in enumerate(_name_units(given, original, classes))
            if name not in _PLAIN
        ]
    else:
        units = list(_iterate_annotated(given.annotations, original))
    in_units = {i for unit in units for i in range(unit.first, unit.last)}
    coded = [
        each
        for each in _iterate_coded(given.original, original)
        if not in_units.isdisjoint(each.places)
    ]
    telling = {*_iterate_telling(original.keys, classes, units)}
    telling |= {word for each in coded for word in each.words if len(word) >= _SHORTEST}
    runs = {*_iterate_runs(original.keys, classes, units)}
    texts = list_readings(given.release)
    readings = [
        read_tokens(text, original=given.original, telling=telling, runs=runs)
        for text in texts
    ]
    words, released, more = _choose(readings, original.keys)
    target = align(words, released)
    fate = _fates(words, classes, released, target, in_units, more)
    if coded:
        shown = {plain(key) for each in readings for key in _count(each)}
        for each in coded:
            if shown.issuperset(each.words):
                _find_again(fate, each.places)
    if given.annotations is not None:
        _find_again(fate, _find_elsewhere(units, words, classes, fate))
    hidden = {i: words[i] for i in sorted(in_units) if fate[i] > MOVED}
    _find_again(fate, find_shown_in_part(hidden, given.release, given.original))
    if hidden:
        for span in _find_rewritten(given.original, original, units, words, texts):
            _find_again(fate, span)
    return Row(
        given.number,
        original.keys,
        original.gaps,
        classes,
        released,
        target,
        fate,
        units,
        given.label,
        given.time,
        given.released_time,
        given.beside,
    )


def _find_rewritten(
    text: str,
    original: Tokens,
    units: Iterable[Unit],
    words: list[str],
    texts: list[str],
) -> Iterator[range]:
    """Find the numbers and dates that the ways to read a release write otherwise."""
    units = [
        unit
        for unit in units
        if any(map(str.isdigit, "".join(words[unit.first : unit.last])))
        or has_number_word(" ".join(words[unit.first : unit.last]))
    ]
    if not units:
        return
    joined = [squeeze(write_digits(each)).casefold() for each in texts]
    mine, theirs = count_written([text]), count_written(texts)
    for unit in units:
        span = range(unit.first, unit.last)
        written = text[original.starts[unit.first] : original.ends[unit.last - 1]]
        is_number = is_joined([words[i] for i in span], joined)
        if is_number or is_written(written, mine, theirs):
            yield span


def _find_elsewhere(
    units: Sequence[Unit], words: list[str], classes: list[str], fate: list[int]
) -> list[int]:
    """Find hidden words of units that stand at a place that nobody annotated.

    Such as a name that is written twice, and annotated once. Ordinary words and short
    numbers tell nothing by themselves: they count where the rest of the unit stands.
    """
    inside = {i for unit in units for i in range(unit.first, unit.last)}
    shown = {words[i] for i, f in enumerate(fate) if f == STANDS and i not in inside}
    found = []
    for unit in units:
        places = range(unit.first, unit.last)
        hidden = [i for i in places if fate[i] > MOVED and words[i] in shown]
        telling = [
            i
            for i in places
            if classes[i] != "ordinary" and not _is_short(words[i], classes[i])
        ]
        is_whole = telling and all(
            fate[i] <= MOVED or words[i] in shown for i in telling
        )
        found += hidden if is_whole else [i for i in hidden if i in telling]
    return found


def _find_again(fate: list[int], places: Iterable[int]) -> None:
    """Say that words are in the release after all."""
    for i in places:
        fate[i] = min(fate[i], MOVED)


def _name_units(given: Given, original: Tokens, classes: list[str]) -> list[str]:
    """Name the kind of each word: its class, or that its row states it as a name."""
    kinds = list(classes)
    if given.names:
        ends = zip(original.starts, original.ends, strict=True)
        words = [given.original[start:end] for start, end in ends]
        for place in find_known_names(words, given.names):
            if kinds[place] in _PLAIN:
                kinds[place] = KNOWN_NAME
    return kinds


def _iterate_annotated(
    annotations: Sequence[Annotation], original: Tokens
) -> Iterator[Unit]:
    """Find the words that an annotation touches; one without words is left out."""
    starts, ends = np.array(original.starts), np.array(original.ends)
    for start, end, kind in annotations:
        first = int(np.searchsorted(ends, start, side="right"))
        last = int(np.searchsorted(starts, end, side="left"))
        if first < last:
            yield Unit(kind, first, last)


class _Coded(NamedTuple):
    """Words of an original that stand there in a form of HTML or of addresses."""

    places: range
    words: list[str]  # without marks


def _iterate_coded(text: str, original: Tokens) -> Iterator[_Coded]:
    """Find what ``M&uuml;ller`` says, whose own words no release may have."""
    if "&" not in text and "%" not in text:
        return
    for each in _find_chunks(text):
        chunk = each.group()
        if "&" not in chunk and "%" not in chunk:
            continue
        first = bisect_right(original.ends, each.start())
        last = bisect_left(original.starts, each.end())
        shown = decode_signs(chunk)
        words = [plain(key) for key in read_tokens(shown).keys]
        if shown != chunk and words and first < last:
            yield _Coded(range(first, last), words)


def _iterate_telling(
    words: list[str], classes: list[str], units: list[Unit]
) -> Iterator[str]:
    """Find the words that hide nothing if a mask has them between its brackets.

    Ordinary words outside of units are none, since tags are such words. Nor is a short
    number, unless it is a whole unit: tools number their masks.
    """
    is_in_unit = [False] * len(words)
    for unit in units:
        is_in_unit[unit.first : unit.last] = [True] * (unit.last - unit.first)
        if unit.last - unit.first == 1:
            yield plain(words[unit.first])
    for word, name, is_telling in zip(words, classes, is_in_unit, strict=True):
        if (is_telling or name != "ordinary") and not _is_short(word, name):
            yield plain(word)


def _iterate_runs(
    words: list[str], classes: list[str], units: list[Unit]
) -> Iterator[tuple[str, ...]]:
    """Find the units of short numbers alone: 3/4/95 tells, and its 3 does not."""
    for unit in units:
        span = slice(unit.first, unit.last)
        if all(map(_is_short, words[span], classes[span])):
            yield tuple(words[span])


def _is_short(word: str, name: str) -> bool:
    return name == NUMBER and len(word) < _SHORTEST


def _choose(
    readings: Sequence[Tokens], words: list[str]
) -> tuple[list[str], Tokens, Counter[str]]:
    """Choose the reading with the most words of the original; it is aligned.

    Words that only other readings have are returned beside it: so no way to read a
    release hides a word. Words that differ in marks alone, such as José and Jose, are
    one: the first of the original stands for all, also in what is returned.
    """
    first: dict[str, str] = {}
    for word in words:
        first.setdefault(plain(word), word)
    for each in readings:
        each.keys[:] = [
            key if is_mask else first.get(plain(key), key)
            for key, is_mask in zip(each.keys, each.is_mask, strict=True)
        ]
    words = [first[plain(word)] for word in words]
    own, counts = Counter(words), [_count(each) for each in readings]
    at = max(range(len(counts)), key=lambda i: (counts[i] & own).total())
    return words, readings[at], functools.reduce(operator.or_, counts) - counts[at]


def _count(tokens: Tokens) -> Counter[str]:
    """Count the words; no masks."""
    both = zip(tokens.keys, tokens.is_mask, strict=True)
    return Counter(key for key, is_mask in both if not is_mask)


def _fates(
    words: list[str],
    classes: list[str],
    released: Tokens,
    target: list[int],
    in_units: set[int],
    more: Counter[str],
) -> list[int]:
    fate = []
    for word, place in zip(words, target, strict=True):
        if place == GONE:
            fate.append(DELETED)
        elif released.is_mask[place]:
            fate.append(MASKED)
        else:
            fate.append(STANDS if released.keys[place] == word else REPLACED)
    taken = {p for p, f in zip(target, fate, strict=True) if f == STANDS}
    spare = Counter(
        key
        for place, key in enumerate(released.keys)
        if place not in taken and not released.is_mask[place]
    )
    spare.update(more)
    for i, word in enumerate(words):
        # Ordinary words are everywhere; a name that stands elsewhere is not hidden.
        is_telling = i in in_units or classes[i] != "ordinary"
        if fate[i] > MOVED and is_telling and spare[word] > 0:
            spare[word] -= 1
            fate[i] = MOVED
    return fate
