"""Shapes: tokens whose own spelling shows what they are, such as numbers and codes.

Each shape is a symbol of every policy. Its outputs are all tokens of one fixed format:
a finite public set, from which one is printed by its number.
"""

from __future__ import annotations

import re
from collections.abc import Callable
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


is_pseudo_word = re.compile("([bdfgklmnprstvz][aeiou]){3}x").fullmatch
"""Whether a folded word is printed for parts of addresses."""


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
)
"""The formats, in the order of their symbols."""

PLACES: Final = {shape.name: place for place, shape in enumerate(SHAPES)}

_YEAR: Final = re.compile("(19|20)[0-9]{2}")
_MIXED: Final = (
    (re.compile("[0-9]{1,3}(st|nd|rd|th)"), "ordinal"),
    (re.compile("[0-9]{1,2}(am|pm)"), "time of day"),
    (re.compile("([0-9]{2})?[0-9]0s"), "decade"),
    (re.compile("[0-9]{1,5}[a-z]{1,2}"), "measure"),
)


def number_shape(digits: str, *, in_date: bool) -> str:
    """Name the format of a run of ASCII digits.

    ``in_date`` says that a slash touches it, which the structure shows.

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
    """
    found = (name for pattern, name in _MIXED if pattern.fullmatch(folded))
    return next(found, "code")
