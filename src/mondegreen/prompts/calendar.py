"""Weekdays and months in other languages, short and in the plural, as in answers.

A surrogate such as Friday comes back as "vendredi". The original is put back in the
same language and case, "lundi" for Monday. Where the language cannot be told, because
two write the surrogate alike and the original differently, the original comes back as
the user wrote it.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Final, NamedTuple

_TABLE: Final = "calendar_names.json"
_ENGLISH: Final = "en"
_WEEKDAYS: Final = 7
"""They come first in the table."""

_SHORT: Final = (
    ("Mon",), ("Tue", "Tues"), ("Wed", "Weds"), ("Thu", "Thur", "Thurs"), ("Fri",),
    ("Sat",), ("Sun",), ("Jan",), ("Feb",), ("Mar",), ("Apr",), ("May",), ("Jun",),
    ("Jul",), ("Aug",), ("Sep", "Sept"), ("Oct",), ("Nov",), ("Dec",),
)  # fmt: skip
"""English short forms, in the order of the table. A full stop may follow."""
MONTHS_SHORT: Final = _SHORT[_WEEKDAYS:]

_WORDS: Final = frozenset(("Mon", "Sat", "Sun", "Jan", "Mar"))
"""Short forms that are other words too, such as the French "mon", or names."""
_WITH_STOP: Final = frozenset(("Mon", "Sat", "Jan", "Mar"))
"""Those that count with a full stop anywhere. The Sun may end a sentence."""
_BEFORE: Final = (
    "on ", "by ", "in ", "until ", "till ", "from ", "to ", "next ", "this ", "every ",
    "(", "-", "–", "| ",
)  # fmt: skip
"""Behind these, each of them counts."""


def _capitalize(name: str) -> str:
    return name[0].upper() + name[1:]


_SPELLINGS: Final[tuple[Callable[[str], str], ...]] = (
    lambda name: name,
    _capitalize,
    str.upper,
)
"""As inside a sentence, as at its beginning, and in capitals."""


class Translation(NamedTuple):
    """A surrogate in another language, and the original in its place."""

    sent: str
    original: str
    is_capitalized: bool = False
    """Whether it begins with a capital that it has not inside a sentence."""
    before: str = ""
    """What must stand before it, because it is another word too."""


def list_short_forms(sent: str, original: str) -> list[Translation]:
    """List the short forms of a weekday or month; for a short form, the others and all.

    The original has the same form, or stays as the user wrote it where it has none.

    Examples
    --------
    >>> found = {n.sent: n.original for n in list_short_forms("Friday", "Tuesday")}
    >>> found["Fri"], found["FRI"]
    ('Tue', 'TUE')
    >>> {n.sent: n.original for n in list_short_forms("Aug", "Sept")}["August"]
    'September'
    >>> [(n.before, n.sent) for n in list_short_forms("Sunday", "Monday")][:2]
    [('on ', 'Sun'), ('on ', 'SUN')]
    """
    theirs = _forms_of(sent)
    mine = () if original.islower() else _forms_of(original)  # "march" may be no month
    found = []
    for i, form in enumerate(theirs):
        if form.upper() == sent.upper():
            continue
        old = mine[min(i, len(mine) - 1)] if mine else original
        ways = [(form, old, before) for before in _BEFORE]
        if form in _WITH_STOP:
            ways.append((f"{form}.", f"{old}.", ""))
        for new, own, before in ways if form in _WORDS else [(form, old, "")]:
            for spell in (str, str.upper):
                found.append(Translation(spell(new), spell(own), before=before))
    return found


def _forms_of(name: str) -> tuple[str, ...]:
    """All English forms of a weekday or month, the full one first; none for others."""
    small = name.lower()
    english = read_names()[_ENGLISH]
    for full, short in zip(english, _SHORT, strict=True):
        if small == full.lower() or small in map(str.lower, short):
            return full, *short
    return ()


def list_translations(sent: str, original: str) -> list[Translation]:
    """List what a weekday or month may become; none if the surrogate is no such name.

    Weekdays also become their English plurals.

    Examples
    --------
    >>> found = {n.sent: n.original for n in list_translations("Friday", "Monday")}
    >>> found["vendredi"], found["VENERDÌ"], found["Freitag"], found["sexta-feira"]
    ('lundi', 'LUNEDÌ', 'Montag', 'segunda-feira')
    >>> found["Fridays"]
    'Mondays'
    >>> dict((n.sent, n.original) for n in list_translations("Saturday", "Monday"))[
    ...     "sábado"
    ... ]  # Spanish and Portuguese
    'Monday'
    >>> list_translations("summer", "Monday")
    []
    """
    names = read_names()
    english = names[_ENGLISH]
    if sent not in english:
        return []
    theirs = english.index(sent)
    # "march" may be no month.
    mine = [i for i, name in enumerate(english) if original in (name, name.upper())]
    pairs = [
        (each[theirs], each[mine[0]] if mine else None)
        for language, each in names.items()
        if language != _ENGLISH and each[theirs].casefold() != sent.casefold()
    ]
    if theirs < _WEEKDAYS and mine and mine[0] < _WEEKDAYS:
        pairs.append((f"{sent}s", f"{english[mine[0]]}s"))
    meant: dict[str, set[str]] = {}
    for spell in _SPELLINGS:
        as_written = original.upper() if spell is str.upper else original
        for new, old in pairs:
            meant.setdefault(spell(new), set()).add(spell(old) if old else as_written)
    plain = {new for new, _ in pairs}
    capitalized = {_capitalize(new) for new in plain} - plain
    found = []
    for new, olds in meant.items():
        as_written = original.upper() if new.isupper() else original
        old = olds.pop() if len(olds) == 1 else as_written
        found.append(Translation(new, old, new in capitalized))
    return found


def is_month_of_any(word: str) -> bool:
    """Whether a word is the name of a month in one of the languages, or a short form.

    >>> is_month_of_any("febrero"), is_month_of_any("Sept"), is_month_of_any("since")
    (True, True, False)
    """
    return word.casefold() in _months()


@functools.cache
def _months() -> frozenset[str]:
    names = [each for of in read_names().values() for each in of[_WEEKDAYS:]]
    short = [form for forms in MONTHS_SHORT for form in forms]
    return frozenset(map(str.casefold, [*names, *short]))


@functools.cache
def read_names() -> Mapping[str, list[str]]:
    """Read the public table: Monday to Sunday, January to December, by language."""
    text = files(__package__).joinpath(_TABLE).read_text("utf-8")
    found: dict[str, list[str]] = json.loads(text)
    return found
