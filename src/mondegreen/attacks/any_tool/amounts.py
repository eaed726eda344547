"""Numbers that are written in words, or with a word such as million or a k."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final, final

_SMALL: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen "
    "fourteen fifteen sixteen seventeen eighteen nineteen".split()
)
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_WORTH: Final = {
    **{word: value for value, word in enumerate(_SMALL)},
    **{word: 10 * value for value, word in enumerate(_TENS, start=2)},
    "hundred": 100,
}
_SCALES: Final = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
_SIGNS: Final = {"k": 10**3, "m": 10**6, "mn": 10**6, "bn": 10**9, **_SCALES}
_NUMBER_WORDS: Final = frozenset({*_WORTH, *_SCALES})

_ONE: Final = "|".join(sorted(_NUMBER_WORDS, key=len, reverse=True))
_HYPHEN: Final = "[-\u2010\u2011\u2013]"
_COMMA: Final = "(?:" + "|".join(f"(?<={scale})," for scale in _SCALES) + ")?"
_BETWEEN: Final = rf"(?:\s?{_HYPHEN}\s?|{_COMMA}\s+(?:and\s+)?)"
_find_words = re.compile(
    rf"(?<![0-9])(?<![0-9][\s-])\b(?:{_ONE})(?:{_BETWEEN}(?:{_ONE}))*\b",
    re.IGNORECASE,
).finditer
_find_scaled = re.compile(
    rf"(?<![\w.,])([0-9]{{1,6}}(?:\.[0-9]{{1,6}})?)\s?-?({'|'.join(_SIGNS)})(?!\w)",
    re.IGNORECASE,
).findall
_is_scaled = re.compile(rf"[0-9.]+\s?-?(?:{'|'.join(_SIGNS)})", re.IGNORECASE).fullmatch
_are_words = re.compile(rf"(?:{_ONE}|and|a|[\s,]|{_HYPHEN})+", re.IGNORECASE).fullmatch
_is_digits = re.compile(r"([0-9]{1,15})(?:[.,]0{1,2})?").fullmatch
_drop_groups = re.compile(
    "(?<=[0-9])[,.'\u2019 \u00a0\u2009\u202f](?=[0-9]{3}(?![0-9]))"
).sub
_AROUND: Final = " \t\n$€£¥.,;:()"

_split = re.compile(r"[a-z]+").findall

_LEAST: Final = 2
"""One is a pronoun, too."""


_has_word = re.compile(rf"\b(?:{_ONE})\b", re.IGNORECASE).search


def has_number_word(text: str) -> bool:
    """Whether a text has a number in words.

    >>> has_number_word("She is forty-two."), has_number_word("She often asks.")
    (True, False)
    """
    return _has_word(text) is not None


def read_amount(text: str) -> int | None:
    """Read a text that is one whole number from 2 on, in words or in digits.

    >>> [read_amount(each) for each in ("Forty-two", "$12.5k", "2,073.00", "42", "a 7")]
    [42, 12500, 2073, 42, None]
    """
    whole = _drop_groups("", text.strip(_AROUND))
    if found := _is_digits(whole):
        return int(found[1]) if int(found[1]) >= _LEAST else None
    is_one = _is_scaled(whole) or _are_words(whole)
    values = [*find_amounts(whole)] if is_one else []
    return values[0] if len(values) == 1 else None


def find_amounts(text: str) -> Iterator[int]:
    """Find the whole numbers from 2 on that a text does not write in digits alone.

    Parameters
    ----------
    text : str

    Yields
    ------
    int

    Examples
    --------
    >>> list(find_amounts("Forty-two of two hundred and five paid 12.5k."))
    [42, 205, 12500]
    >>> list(find_amounts("five five five, or two thousand, three hundred and one"))
    [5, 5, 5, 2301]
    """
    for found in _find_words(text):
        yield from (n for n in _read(_split(found[0].lower())) if n >= _LEAST)
    for digits, sign in _find_scaled(text):
        value = Decimal(digits) * _SIGNS[sign.lower()]
        if value == value.to_integral_value() and value >= _LEAST:
            yield int(value)


def _read(words: list[str]) -> Iterator[int]:
    """Read number words; where one cannot go on, the next number begins."""
    number = _Number()
    for word in words:
        if word == "and":
            continue
        if not number.may_take(word):
            yield number.value
            number = _Number()
        number.take(word)
    yield number.value


@final
class _Number:
    """A number as far as its words have been read."""

    def __init__(self) -> None:
        self._total = self._group = 0
        self._scale = 10**12
        self._is_new = True

    @property
    def value(self) -> int:
        return self._total + self._group

    def may_take(self, word: str) -> bool:
        if self._is_new:
            return True
        if word in _SCALES:
            return 0 < self._group and _SCALES[word] < self._scale
        if word == "hundred":
            return 0 < self._group < 10
        room = 10 if _WORTH[word] < 10 else 100
        is_free = self._group % room == 0 and self._group % 100 != 10
        return is_free and _WORTH[word] > 0

    def take(self, word: str) -> None:
        self._is_new = False
        if word in _SCALES:
            self._scale = _SCALES[word]
            self._total += (self._group or 1) * self._scale
            self._group = 0
        elif word == "hundred":
            self._group = (self._group or 1) * 100
        else:
            self._group += _WORTH[word]

    def __repr__(self) -> str:
        return "_Number()"
