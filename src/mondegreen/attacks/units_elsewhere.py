"""Annotated units that a release hides in its texts, and shows in another column."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, final

from mondegreen.attacks.any_tool.pieces import count_written, is_written
from mondegreen.attacks.readings import drop_marks, list_readings, squeeze

_SHORTEST: Final = 3
"""A unit with fewer letters and digits is often elsewhere by chance."""

_LEAST_DIGITS: Final = 6
"""So many digits in a row count with other signs or digits around them."""

_FEWEST_ROWS: Final = 3
_SHARE: Final = 0.5
"""Short units count if so many rows that have some show them in one column."""

_WHOLE: Final = 2**53  # larger numbers are not exact

_words = re.compile(r"[^\W_]+").findall
_has_letter = re.compile(r"[^\W\d_]").search
_drop_letters = re.compile(r"\D+").sub


@final
class UnitsElsewhere:
    """Counts, by column, the rows whose hidden units stand there.

    A unit stands in a cell that has all of its words, or writes its number, date or
    time in another way. A telephone number counts without a zero at its beginning, so
    that integers are found. Of a unit with one or two signs, the cell must be equal,
    and so in half of the rows: ratings have the same digits by chance.

    Examples
    --------
    >>> units = UnitsElsewhere()
    >>> hidden = units.list_hidden(["0170 1234567", "Ann"], ["Ann has [PHONE]."])
    >>> units.is_shown("mobile", 491701234567, hidden)
    True
    >>> units.is_shown("name", "Ann", hidden)  # the text shows Ann, too
    False
    """

    def __init__(self) -> None:
        self._short: Counter[str] = Counter()
        self._short_rows = 0

    def list_hidden(
        self, units: Iterable[str], releases: Iterable[str | None]
    ) -> list[HiddenUnit]:
        """List the units of a row that its releases do not show."""
        made = [HiddenUnit.read(unit) for unit in dict.fromkeys(units)]
        shown = _Cell.read(" ".join(filter(None, releases))) if made else None
        hidden = [each for each in made if shown and not each.is_in(shown)]
        self._short_rows += any(each.is_short for each in hidden)
        return hidden

    def is_shown(
        self, column: str, value: object, hidden: Iterable[HiddenUnit]
    ) -> bool:
        """Tell whether a cell shows one of the units; short ones are counted alone."""
        cell = _Cell.read(_write(value))
        of_row = [*hidden]
        self._short[column] += any(
            each.is_short and each.whole in cell.squeezed for each in of_row
        )
        return any(not each.is_short and each.is_in(cell) for each in of_row)

    def count_short(self) -> Counter[str]:
        """Count the rows that show short units, of columns where that is no chance."""
        least = max(_FEWEST_ROWS, _SHARE * self._short_rows)
        return Counter({name: n for name, n in self._short.items() if n >= least})

    def __repr__(self) -> str:
        return f"UnitsElsewhere({len(self._short)} columns)"


@final
@dataclass(frozen=True, slots=True, repr=False)
class _Cell:
    """A text, in all ways to read it."""

    words: frozenset[str]
    squeezed: tuple[str, ...]
    written: Counter[Any]

    @classmethod
    def read(cls, text: str) -> _Cell:
        forms = list_readings(text)
        folded = [_fold(each) for each in forms]
        return cls(
            frozenset(word for each in folded for word in _words(each)),
            tuple(squeeze(each) for each in folded),
            count_written(forms) if any(map(str.isdigit, text)) else Counter(),
        )


@final
@dataclass(frozen=True, slots=True, repr=False)
class HiddenUnit:
    """An annotated unit."""

    text: str
    words: frozenset[str]
    whole: str = field(default="")
    digits: str = ""

    @classmethod
    def read(cls, text: str) -> HiddenUnit:
        folded = _fold(text)
        digits = "" if _has_letter(text) else _drop_letters("", text).lstrip("0")
        return cls(text, frozenset(_words(folded)), squeeze(folded), digits)

    @property
    def is_short(self) -> bool:
        return len(self.whole) < _SHORTEST

    def is_in(self, cell: _Cell) -> bool:
        if self.words and self.words <= cell.words:
            return True
        if len(self.digits) >= _LEAST_DIGITS:
            if any(self.digits in each for each in cell.squeezed):
                return True
        return bool(cell.written) and is_written(self.text, Counter(), cell.written)


def _fold(text: str) -> str:
    return drop_marks(text.casefold())


def _write(value: object) -> str:
    """Write a value as text: the number 42.0 is 42."""
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < _WHOLE
    return str(int(value) if is_whole else value)  # type: ignore[call-overload]
