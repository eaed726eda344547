"""Times of day in other notations: what a model writes for 7:00 am, or for 19:00."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_TIME: Final = re.compile(r"(?i)([0-9]{1,2})(?::([0-9]{2}))?(?: ?([ap])\.?m\.?)?")
HALF: Final = re.compile(r"(?i) ?[ap](?:m(?!\w)|\.m\.)")
"""What stands behind the digits of a time of twelve hours."""

_HALVES: Final = ("am", "pm")
_NOON: Final = 12
_HOURS: Final = 24


class _Time(NamedTuple):
    hour: int
    minute: str
    """Two digits; empty if only the hour is written."""
    half: str
    """``am``, ``pm``, or empty if it is not written."""
    is_padded: bool = False
    """Whether the hour has a zero in front, as in the clock of 24 hours."""

    @property
    def of_day(self) -> int:
        """The hour from 0 to 23, where no half means the clock of 24 hours."""
        if not self.half or self.hour > _NOON:
            return self.hour
        return self.hour % _NOON + _NOON * (self.half == "pm")


def list_times(sent: str, original: str) -> dict[str, str]:
    """List other notations of a time, and the original in the same notation.

    Hours alone stand for full hours. The original keeps its minutes then, unless it is
    a full hour too. A time without *am* and *pm* may be read as either; where the
    original cannot be read so, it stays as the user wrote it.

    Examples
    --------
    >>> found = list_times("5:00 am", "7:00 am")
    >>> found["5am"], found["5 a.m."], found["5:00am"], found["05:00"]
    ('7am', '7 a.m.', '7:00am', '07:00')
    >>> list_times("22:21", "19:00")["10:21 pm"]
    '7:00 pm'
    >>> list_times("May 5", "May 6")
    {}
    """
    theirs, mine = _read(sent), _read(original)
    if theirs is None or mine is None:
        return {}
    found: dict[str, str] = {}
    for half in _HALVES:
        new = _read_as(theirs, half)
        if new is None:
            continue
        old = _translate(theirs, mine, half)
        for short, gap, dots in itertools.product((False, True), ("", " "), "-."):
            text = _write(new, gap, dots, is_short=short)
            if text:
                is_short = short and (old is None or old.minute in ("", "00"))
                kept = _write(old, gap, dots, is_short=is_short) if old else original
                found[text] = kept
    if theirs.half or theirs.minute:
        found |= dict(zip(_clocks(theirs), _clocks(mine), strict=True))
    found.pop(sent, None)
    return found


def _read(text: str) -> _Time | None:
    parts = _TIME.fullmatch(text)
    if parts is None or not (parts[2] or parts[3]):
        return None
    half = f"{parts[3].lower()}m" if parts[3] else ""
    is_padded = len(parts[1]) > 1 and parts[1][0] == "0"
    found = _Time(int(parts[1]), parts[2] or "", half, is_padded)
    return found if found.hour < _HOURS and found.minute < "60" else None


def _read_as(time: _Time, half: str) -> _Time | None:
    """A time with ``am`` or ``pm``; None if it cannot be one."""
    if time.half and time.hour <= _NOON:
        return time if time.half == half else None
    if time.half:  # 13:20 am: a surrogate that may be read as both
        return _Time(time.hour - _NOON, time.minute, half)
    if 1 <= time.hour <= _NOON:
        return time._replace(half=half)
    return _to_half_day(time) if half == _half_of(time) else None


def _translate(theirs: _Time, mine: _Time, half: str) -> _Time | None:
    """The original, if the surrogate is read with this half; None if it has none."""
    if theirs.half:
        return mine if mine.half else _to_half_day(mine)
    if mine.half:
        return mine
    is_open = 1 <= mine.hour <= _NOON and not mine.is_padded
    if is_open and 1 <= theirs.hour <= _NOON:
        return mine._replace(half=half)  # the answer decides for both
    return _to_half_day(mine) if half == _half_of(theirs) else None


def _half_of(time: _Time) -> str:
    return _HALVES[time.of_day >= _NOON]


def _to_half_day(time: _Time) -> _Time:
    return _Time((time.of_day - 1) % _NOON + 1, time.minute, _half_of(time))


def _write(time: _Time, gap: str, dots: str, *, is_short: bool) -> str:
    """Write a time with its half; "" if it has minutes and is to have none."""
    minute = time.minute or "00"
    if is_short and minute != "00":
        return ""
    half = f"{time.half[0]}.m." if dots == "." else time.half
    return f"{time.hour or _NOON}{'' if is_short else f':{minute}'}{gap}{half}"


def _clocks(time: _Time) -> Iterator[str]:
    """Write a time by the clock of 24 hours, without and with a leading zero."""
    minute = time.minute or "00"
    yield f"{time.of_day}:{minute}"
    yield f"{time.of_day:02}:{minute}"
