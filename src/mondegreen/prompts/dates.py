"""Dates in other notations: what a model writes for 12/03/1985, and what it stands for.

A date of digits and slashes is hidden part by part, and its format is kept. A model may
write the hidden date in words. Which part it took for the month is then seen: that part
of the original is the month too. Where both parts of the hidden date are equal, it is
not seen, and the original comes back as the user wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from mondegreen.policy.shapes import PLACES, SHAPES

Missing = Literal["", "year", "day"]
"""What a notation leaves out of a date."""

_MONTHS: Final = (
    "January February March April May June July August September October November "
    "December"
).split()
_SHORT: Final = {"September": ("Sep", "Sept")}
_DATE: Final = re.compile(r"([0-9]{1,2})/([0-9]{1,2})(?:/([0-9]{4}))?")
_WITH_YEAR: Final = (
    "{month} {day}, {year}", "{month} {day} {year}", "{day} {month} {year}",
    "{day} {month}, {year}", "{month} {nth}, {year}", "{nth} of {month} {year}",
    "{nth} of {month}, {year}", "{nth} {month} {year}",
)  # fmt: skip
_WITHOUT_YEAR: Final = (
    "{month} {day}", "{day} {month}", "{month} {nth}", "{nth} of {month}",
    "{nth} {month}",
)  # fmt: skip
_WITHOUT_DAY: Final = ("{month} {year}", "{month} of {year}")
_ISO: Final = "{year}-{m:02}-{d:02}"
_DIGITS: Final = (
    "{a}/{b}/{year}", "{a:02}/{b:02}/{year}", "{a}.{b}.{year}", "{a:02}.{b:02}.{year}",
    "{a}/{b}/{short}", "{a:02}/{b:02}/{short}", "{a:02}-{b:02}-{year}",
)  # fmt: skip

_ORDINALS: Final = SHAPES[PLACES["ordinal"]]


class Notation(NamedTuple):
    """A hidden date as it may be written, and the original in the same notation."""

    sent: str
    original: str
    missing: Missing = ""


class _Date(NamedTuple):
    a: int
    b: int
    year: str


def list_notations(sent: str, original: str) -> list[Notation]:
    """List other notations of a date; none if one of the two is no date.

    Examples
    --------
    >>> found = {n.sent: n.original for n in list_notations("07/31/1961", "12/13/1985")}
    >>> found["July 31, 1961"], found["31 July"], found["1961-07-31"]
    ('December 13, 1985', '13 December', '1985-12-13')
    >>> dict((n.sent, n.original) for n in list_notations("5/5/1961", "3/4/1985"))[
    ...     "May 5, 1961"
    ... ]
    '3/4/1985'
    """
    theirs, mine = _read(sent), _read(original)
    if theirs is None or mine is None or bool(theirs.year) != bool(mine.year):
        return []
    month_first, day_first = (
        _pair(_write(theirs, order), _write(mine, order)) for order in (True, False)
    )
    found = month_first | day_first
    for text in month_first.keys() & day_first.keys():
        if month_first[text] != day_first[text]:  # which one is meant cannot be told
            found[text] = month_first[text]._replace(original=original)
    return [each for each in found.values() if each.sent != sent]


def _pair(
    theirs: Iterator[tuple[str, Missing]], mine: Iterator[tuple[str, Missing]]
) -> dict[str, Notation]:
    found: dict[str, Notation] = {}
    for (new, missing), (old, _) in zip(theirs, mine, strict=True):
        if new and old:
            found.setdefault(new, Notation(new, old, missing))
    return found


def _read(text: str) -> _Date | None:
    parts = _DATE.fullmatch(text)
    return parts and _Date(int(parts[1]), int(parts[2]), parts[3] or "")


def _write(date: _Date, month_first: bool) -> Iterator[tuple[str, Missing]]:
    """Write a date in all notations, in one order; "" where it is none."""
    month, day = (date.a, date.b) if month_first else (date.b, date.a)
    is_date = 1 <= month <= len(_MONTHS) and 1 <= day <= 31
    forms: list[tuple[str, Missing]] = [(each, "year") for each in _WITHOUT_YEAR]
    if date.year:
        forms += [(each, "") for each in _WITH_YEAR]
        forms += [(each, "day") for each in _WITHOUT_DAY]
    for name in range(4):
        for form, missing in forms:
            yield _fill(form, date, month, day, name) if is_date else "", missing
    if date.year:
        yield _fill(_ISO, date, month, day, 0) if is_date else "", ""
        swapped = date if month_first else date._replace(a=date.b, b=date.a)
        for form in _DIGITS:
            yield _fill(form, swapped, 1, 1, 0), ""


def _fill(form: str, date: _Date, month: int, day: int, name: int) -> str:
    """Fill in a form; ``name`` chooses a name of the month, "" if there is none."""
    full = _MONTHS[month - 1]
    short = _SHORT.get(full, (full[:3],))
    names = (full, short[0], f"{short[0]}.", short[-1])
    return form.format(
        month=names[name],
        day=day,
        nth=_ORDINALS.print(day - 1),
        m=month,
        d=day,
        a=date.a,
        b=date.b,
        year=date.year,
        short=date.year[-2:],
    )
