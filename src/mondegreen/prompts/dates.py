"""Dates in other notations: what a model writes for 12/03/1985, and what it stands for.

A date of digits is hidden as a whole, and its format is kept. A model may write the
hidden date in words. Which part it took for the month is then seen: that part of the
original is the month too. Where both parts of the hidden date are equal, it is not
seen, and the original comes back as the user wrote it. A date that begins with the year
can be read in one way alone. So can one that names its month, such as 14 June.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from mondegreen.policy.shapes import PLACES, SHAPES
from mondegreen.prompts.calendar import MONTHS_SHORT

Missing = Literal["", "year", "day", "rest"]
"""What a notation leaves out of a date. Where only the year is left, the rest is."""

_MONTHS: Final = (
    "January February March April May June July August September October November "
    "December"
).split()
_NUMBERS: Final = {
    form.lower(): number
    for number, forms in enumerate(zip(_MONTHS, MONTHS_SHORT, strict=True), 1)
    for form in (forms[0], *forms[1])
}
_DATE: Final = re.compile(
    r"([0-9]{1,2})([/.-])([0-9]{1,2})\2([0-9]{4})|([0-9]{1,2})/([0-9]{1,2})"
)
_NAMED: Final = re.compile(
    r"(?:([0-9]{1,2})(?:st|nd|rd|th)?(?: of)? )?([a-z]+)\.?"
    r"(?: ([0-9]{1,2})(?:st|nd|rd|th)?)?(?:,? ([0-9]{4}))?"
)
_SLASHED: Final = re.compile(r"[0-9]{1,2}/[0-9]{1,2}/")
_YEAR_FIRST: Final = re.compile(r"([0-9]{4})([/.-])([0-9]{1,2})\2([0-9]{1,2})")


def _pad(*forms: str) -> tuple[str, ...]:
    """Add to forms those whose day of one digit has a zero before it."""
    padded = (form.replace("{day}", "{two}") for form in forms)
    return tuple(dict.fromkeys((*forms, *padded)))


_WITHOUT_YEAR: Final = _pad(
    "{month} {day}",
    "{day} {month}",
    "{month} {nth}",
    "{nth} of {month}",
    "{nth} {month}",
)
_WITH_YEAR: Final = _pad(
    "{month} {day}, {year}",
    "{month} {day} {year}",
    "{day} {month} {year}",
    "{day} {month}, {year}",
    "{month} {nth}, {year}",
    "{nth} of {month} {year}",
    "{nth} of {month}, {year}",
    "{nth} {month} {year}",
    "{day}-{month}-{year}",
)
_WITHOUT_DAY: Final = ("{month} {year}", "{month} of {year}")
_WORDS: Final[tuple[tuple[str, Missing], ...]] = (
    *((form, "year") for form in _WITHOUT_YEAR),
    *((form, "") for form in _WITH_YEAR),
    *((form, "day") for form in _WITHOUT_DAY),
)
_NAMES: Final = 4
"""Names of a month: in full, short, short with a full stop, and another short one."""


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
    orders: tuple[bool, ...] = (True, False)
    """Whether the month comes first: both ways, if it cannot be told."""
    is_named: bool = False
    """Whether the month is named. Then it is ``a``, and digits have both orders."""

    @property
    def is_year_first(self) -> bool:
        """Whether it is written as 1985-12-03."""
        return len(self.orders) == 1


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
    >>> found = {n.sent: n.original for n in list_notations("June 9th", "14 April")}
    >>> found["9 June"], found["Jun. 9"], found["9th of June"]
    ('14 April', 'Apr. 14', '14th of April')
    >>> found = {n.sent: n.original for n in list_notations("2021-02-08", "1985-12-13")}
    >>> found["08.02.2021"], found["02/08/2021"], found["2021/02/08"]
    ('13.12.1985', '12/13/1985', '1985/12/13')
    >>> {n.sent: n.original for n in list_notations("54 March", "27 May")}["March 54th"]
    'May 27th'
    """
    theirs, mine = _read(sent, is_any_day=True), _read(original)
    if theirs is None or mine is None or theirs.orders != mine.orders:
        return []
    if bool(theirs.year) != bool(mine.year) or theirs.is_named != mine.is_named:
        return []
    found: dict[str, Notation] = {}
    for order in theirs.orders:
        for text, each in _pair(_write(theirs, order), _write(mine, order)).items():
            # Where both readings are the same text, which one is meant cannot be told.
            same = found.get(text, each) == each
            found[text] = each if same else found[text]._replace(original=original)
    if theirs.is_year_first and theirs.a == theirs.b:  # 05/05/1961 has two readings
        for text in filter(_SLASHED.match, found):
            found[text] = found[text]._replace(original=original)
    if theirs.year:  # an answer may name the year alone
        found[theirs.year] = Notation(theirs.year, mine.year, "rest")
    return [each for each in found.values() if each.sent != sent]


def _pair(
    theirs: Iterator[tuple[str, Missing]], mine: Iterator[tuple[str, Missing]]
) -> dict[str, Notation]:
    found: dict[str, Notation] = {}
    for (new, missing), (old, _) in zip(theirs, mine, strict=True):
        if new and old:
            found.setdefault(new, Notation(new, old, missing))
    return found


def _read(text: str, *, is_any_day: bool = False) -> _Date | None:
    if parts := _YEAR_FIRST.fullmatch(text):
        return _Date(int(parts[3]), int(parts[4]), parts[1], (True,))
    if parts := _DATE.fullmatch(text):
        a, b = parts[1] or parts[5], parts[3] or parts[6]
        return _Date(int(a), int(b), parts[4] or "")
    return _read_named(text.lower(), is_any_day=is_any_day)


def _read_named(text: str, *, is_any_day: bool) -> _Date | None:
    """Read a date that names its month; a number that was drawn may be no day."""
    parts = _NAMED.fullmatch(text)
    month = find_month(parts[2]) if parts else 0
    if parts is None or not month or bool(parts[1]) == bool(parts[3]):
        return None
    day = int(parts[1] or parts[3])
    is_date = is_any_day or 1 <= day <= 31
    return _Date(month, day, parts[4] or "", is_named=True) if is_date else None


def find_month(word: str) -> int:
    """Find the number of a month by its English name, full or short; 0 for others."""
    return _NUMBERS.get(word.lower(), 0)


def _write(date: _Date, month_first: bool) -> Iterator[tuple[str, Missing]]:
    """Write a date in all notations, in one order; "" where it is none."""
    month, day = (date.a, date.b) if month_first else (date.b, date.a)
    is_date = 1 <= month <= len(_MONTHS) and (date.is_named or 1 <= day <= 31)
    is_date &= month_first or not date.is_named
    forms = _WORDS if date.year else _WORDS[: len(_WITHOUT_YEAR)]
    nth = _ORDINALS.print(day - 1)
    parts = {"day": day, "two": f"{day:02}", "nth": nth, "year": date.year}
    # The month of a date that names it comes back by itself: its day must too.
    for name in _name_month(month) if is_date else [""] * _NAMES:
        for form, missing in forms:
            needs = missing if date.year or not date.is_named else ""
            yield is_date * form.format(month=name, **parts), needs
    if date.year:
        for sign in "-/":
            yield is_date * f"{date.year}{sign}{month:02}{sign}{day:02}", ""
        if date.is_year_first:  # with dots and dashes, the day is first
            yield from _write_digits(day, month, date.year)
        yield from _write_digits(month, day, date.year)


def _name_month(month: int) -> list[str]:
    full, short = _MONTHS[month - 1], MONTHS_SHORT[month - 1]
    with_stop = full if full == short[0] else f"{short[0]}."
    return [full, short[0], with_stop, short[-1]]


def _write_digits(a: int, b: int, year: str) -> Iterator[tuple[str, Missing]]:
    """Write a date with digits, in the order that is given."""
    for first, second in ((f"{a}", f"{b}"), (f"{a:02}", f"{b:02}")):
        yield f"{first}/{second}/{year}", ""
        yield f"{first}.{second}.{year}", ""
        yield f"{first}/{second}/{year[-2:]}", ""
    yield f"{a:02}-{b:02}-{year}", ""
