"""Shapes: tokens whose own spelling shows what they are, such as numbers and codes.

Each shape is a symbol of every policy. Its outputs are all tokens of one fixed format:
a finite public set, from which one is printed by its number.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, final

_LONGEST: Final = 16
"""Digits of the longest format; longer runs of digits have it too."""

_UNITS: Final = ("kg", "km", "cm", "mg", "ml", "mm", "gb", "mb", "ft", "lb")
_LETTERS: Final = "BCDEFGHJKLMNOPQRSTUVWXYZ"  # a and i are words
_EMOJI: Final = (
    "😀 😃 😄 😁 😆 😅 😂 🙂 🙃 😉 😊 😇 😍 😘 😋 😛 😜 😝 😎 😏 "
    "😒 😞 😔 😟 😕 🙁 😣 😖 😫 😩 😢 😭 😤 😠 😡 😳 😱 😨 😰 😥 "
    "😓 🤔 🤗 🤭 🤫 😶 😐 😑 😬 🙄 😯 😦 😧 😮 😲 😴 🤤 😪 😵 😷 "
    "👍 👎 👌 👏 🙌 🙏 💪 👋 ❤ 💔 💕 💙 💚 💛 💜 ⭐ 🌟 ✨ 🔥 💯 "
    "✅ ❌ ❗ ❓ 🎉 🎂 🎁 🎈 🌞 🌧 ❄ 🌈 🌹 🌻 🍀 🌍 🚗 🚀 ✈ ⏰ "
    "📞 📧 📷 🎵 🎮 ⚽ 🏀 🏆 📚 💻 💡 🔑 🏠 🐶 🐱 🐦 🍕 🍔 🍰 ☕ "
).split()


@final
@dataclass(frozen=True, slots=True)
class Shape:
    """A format: its name, how many tokens have it, and the token of a number."""

    name: str
    size: int
    print: Callable[[int], str]


def _digits(count: int) -> Shape:
    low = 10 ** (count - 1) if count > 1 else 0
    return Shape(f"{count} digits", 10**count - low, lambda i: str(low + i))


def _zeros(count: int) -> Shape:
    size = 10 ** (count - 1)
    return Shape(f"0 and {count - 1} digits", size, lambda i: f"0{i:0{count - 1}d}")


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if 10 < number % 100 < 14 else ending}"


def _decade(number: int) -> str:
    return f"{1900 + 10 * number}s" if number < 12 else f"{10 * (number - 10)}s"


def _code(number: int) -> str:
    number, digits = divmod(number, 10**4)
    first, second = divmod(number, len(_LETTERS))
    return f"{_LETTERS[first]}{_LETTERS[second]}{digits:04d}"


def _pseudo_word(number: int) -> str:
    """A word that no language has on purpose, for parts of addresses."""
    sounds = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
    found = ""
    for _ in range(3):
        number, place = divmod(number, len(sounds))
        found += sounds[place]
    return found + "x"


is_printed_code = re.compile(f"[{_LETTERS.lower()}]{{2}}[0-9]{{4}}").fullmatch
"""Whether a folded word is printed for codes."""

is_pseudo_word = re.compile("([bdfgklmnprstvz][aeiou]){3}x").fullmatch
"""Whether a folded word is printed for parts of addresses."""


_Part = tuple[int, Callable[[int], str]]
"""How many values a part of a date or time has, and how one is written."""


def _two(first: int, last: int) -> _Part:
    """A part of two digits."""
    return 1 + last - first, lambda i: f"{first + i:02}"


_YEAR_PART: Final[_Part] = (200, lambda i: str(1900 + i))
_HOUR: Final[_Part] = (10, str)  # of one digit
# A day and month that are valid in both orders. Both have two digits, or one at least
# has one: so no two formats print the same.
_PADDED: Final = [f"{a:02}{{0}}{b:02}" for a in range(1, 13) for b in range(1, 13)]
_SHORT: Final = [
    f"{a}{{0}}{b}" for a in range(1, 13) for b in range(1, 13) if min(a, b) < 10
]


def _days(forms: list[str], sign: str) -> _Part:
    return len(forms), lambda i: forms[i].format(sign)


def _write(number: int, sign: str, parts: tuple[_Part, ...]) -> str:
    """Print a value of parts; the last part changes first."""
    found: list[str] = []
    for size, show in reversed(parts):
        number, place = divmod(number, size)
        found.append(show(place))
    return sign.join(reversed(found))


def _written(example: str, sign: str, *parts: _Part) -> Shape:
    """Make the format of a date or time, named by an example of it."""
    size = math.prod(size for size, _ in parts)
    return Shape(example, size, lambda i: _write(i, sign, parts))


def _half_day(number: int) -> str:
    number, minute = divmod(number, 60)
    return f"{1 + number % 12}:{minute:02}{'am' if number < 12 else 'pm'}"


def _list_written() -> Iterator[tuple[str, Shape]]:
    """The pattern and the format of each way to write a date or a time of day."""
    minute = _two(0, 59)
    for sign in "-/.":
        s = re.escape(sign)
        day = _YEAR_PART, _two(1, 12), _two(1, 28)
        yield (
            f"[0-9]{{4}}{s}[0-9]{{2}}{s}[0-9]{{2}}",
            _written(f"date {sign.join(('2024', '05', '12'))}", sign, *day),
        )
        yield (
            f"[0-9]{{4}}{s}[0-9]{{1,2}}{s}[0-9]{{1,2}}",
            _written(
                f"date {sign.join(('2024', '5', '12'))}",
                sign,
                _YEAR_PART,
                _days(_SHORT, sign),
            ),
        )
    for forms, digits, days in (
        (_PADDED, "[0-9]{{2}}{0}[0-9]{{2}}", ("05", "12")),
        (_SHORT, "[0-9]{{1,2}}{0}[0-9]{{1,2}}", ("5", "12")),
    ):
        for sign, year in itertools.product("-/.", ("2024", "24")):
            if sign == "-" and year == "24":
                continue  # a code, more often than a date
            s = re.escape(sign)
            part = _YEAR_PART if year == "2024" else _two(0, 99)
            yield (
                f"{digits.format(s)}{s}[0-9]{{{len(year)}}}",
                _written(
                    f"date {sign.join((*days, year))}", sign, _days(forms, sign), part
                ),
            )
    for example, hour in (("10:30", _two(0, 23)), ("9:30", _HOUR)):
        pattern = f"[0-9]{{{len(example) - 3}}}:[0-9]{{2}}"
        yield pattern, _written(f"clock {example}", ":", hour, minute)
        yield (
            f"{pattern}:[0-9]{{2}}",
            _written(f"clock {example}:15", ":", hour, minute, minute),
        )
    yield "[0-9]{1,2}:[0-9]{2}[aApP][mM]", Shape("clock 10:30pm", 1440, _half_day)


WRITTEN_DATES: Final = tuple((each, shape.name) for each, shape in _list_written())
"""Patterns of dates and times, and the names of their formats; the first one counts."""

is_written_date = re.compile("|".join(each for each, _ in WRITTEN_DATES)).fullmatch
"""Whether a word is a date or a time, valid or not."""


def _four_digits(number: int) -> str:
    """Years are a format of their own, so they are no outputs of this one."""
    return str(1000 + number if number < 900 else 1200 + number)


SHAPES: Final = (
    *(_digits(count) for count in range(1, 4)),
    Shape("4 digits", 8800, _four_digits),
    *(_digits(count) for count in range(5, _LONGEST + 1)),
    *(_zeros(count) for count in range(2, _LONGEST + 1)),
    Shape("year", 200, lambda i: str(1900 + i)),
    Shape("month or day of a date", 12, lambda i: str(1 + i)),
    Shape("month or day of a date, with 0", 9, lambda i: f"0{1 + i}"),
    Shape("day of a date above 12", 19, lambda i: str(13 + i)),
    Shape("ordinal", 31, lambda i: _ordinal(1 + i)),
    Shape("time of day", 24, lambda i: f"{1 + i % 12}{'am' if i < 12 else 'pm'}"),
    Shape("decade", 20, _decade),
    Shape("measure", 98 * len(_UNITS), lambda i: f"{2 + i // 10}{_UNITS[i % 10]}"),
    Shape("code", len(_LETTERS) ** 2 * 10**4, _code),
    Shape("part of an address", 70**3, _pseudo_word),
    Shape("letter", len(_LETTERS), _LETTERS.__getitem__),
    Shape("sign", len(_EMOJI), _EMOJI.__getitem__),
    *(shape for _, shape in _list_written()),
)
"""The formats, in the order of their symbols."""

PLACES: Final = {shape.name: place for place, shape in enumerate(SHAPES)}

_YEAR: Final = re.compile("(19|20)[0-9]{2}")
_MIXED: Final = (
    (re.compile("[0-9]{1,3}(st|nd|rd|th)"), "ordinal"),
    (re.compile("[0-9]{1,2}(am|pm)"), "time of day"),
    (re.compile("([0-9]{2})?[0-9]0'?s"), "decade"),
    (re.compile("[0-9]{1,5}[a-z]{1,2}"), "measure"),
    *((re.compile(pattern), name) for pattern, name in WRITTEN_DATES),
)


def number_shape(digits: str, *, in_date: bool) -> str:
    """Name the format of a run of ASCII digits.

    ``in_date`` says that a slash touches it, which the structure shows: that of a day
    and a month without a year.

    >>> [number_shape(d, in_date=False) for d in ("7", "07", "1985", "4711")]
    ['1 digits', '0 and 1 digits', 'year', '4 digits']
    """
    if in_date and len(digits) < 3 and 1 <= int(digits) <= 31:
        if int(digits) > 12:
            return "day of a date above 12"
        return "month or day of a date" + (", with 0" if digits[0] == "0" else "")
    if _YEAR.fullmatch(digits):
        return "year"
    count = min(len(digits), _LONGEST)
    if digits[0] == "0" and count > 1:
        return f"0 and {count - 1} digits"
    return f"{count} digits"


def find_mixed_shape(folded: str) -> str:
    """Name the format of a token with digits and other characters.

    >>> [find_mixed_shape(word) for word in ("21st", "7pm", "80s", "5kg", "de89x")]
    ['ordinal', 'time of day', 'decade', 'measure', 'code']
    >>> [find_mixed_shape(word) for word in ("92:84", "31/12/1999")]
    ['clock 10:30', 'date 05/12/2024']
    """
    found = (name for pattern, name in _MIXED if pattern.fullmatch(folded))
    return next(found, "code")
