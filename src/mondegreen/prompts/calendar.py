"""Weekdays and months in other languages and in the plural, as answers hold them.

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
    is_capitalized: bool
    """Whether it begins with a capital that it has not inside a sentence."""


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


@functools.cache
def read_names() -> Mapping[str, list[str]]:
    """Read the public table: Monday to Sunday, January to December, by language."""
    text = files(__package__).joinpath(_TABLE).read_text("utf-8")
    found: dict[str, list[str]] = json.loads(text)
    return found
