"""Words that a release shows in part, or written in another way.

``diabet**`` tells *diabetes*, ``5550991942`` tells 555-099-1942, ``2,073`` tells 2073,
and ``16/10/87`` tells 16 October 1987. Half of the letters of a word tell it: of the
words of a language, few have the same half.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import permutations
from typing import Final, Literal, TypeAlias

from mondegreen.attacks.any_tool.amounts import find_amounts, read_amount
from mondegreen.attacks.readings import plain
from mondegreen.text.tokenizer import canonical

_SIGNS: Final = "*#_•●█■▇…"
_find_pieces = re.compile(
    rf"(?<![^\W_{_SIGNS}])[^\W_]*(?:[{_SIGNS}]+[^\W_]*)+"
).finditer
_cut = re.compile(rf"[{_SIGNS}]+").split

_LEAST_LETTERS: Final = 3
_LEAST_DIGITS: Final = 4
_LEAST_SIGNS: Final = 6
"""Fewer digits stand in a text by chance, once nothing parts them."""

_drop_groups = re.compile(
    "(?<=[0-9])[,.'\u2019 \u00a0\u2009\u202f](?=[0-9]{3}(?![0-9]))"
).sub
_find_numbers = re.compile("(?<![^\\W_])[0-9]{4,}(?![^\\W_])").findall

_MONTHS: Final = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH: Final = rf"(?P<month>{'|'.join(_MONTHS)})[a-z]{{0,6}}\.?"
_YEAR: Final = r"['\u2019]?(?P<year>[0-9]{4}|[0-9]{2})(?![0-9])"
_find_numeric = re.compile(
    r"(?<![0-9])([0-9]{1,4})(\s?[-/._]\s?|\s)([0-9]{1,2})\2([0-9]{1,4})(?![0-9])"
).findall
_find_whole = re.compile(
    r"(?<![^\W_])((?:19|20)[0-9]{2})([01][0-9])([0-3][0-9])(?![^\W_])"
).findall
_list_named = [
    re.compile(form, re.IGNORECASE).finditer
    for form in (
        rf"(?<![0-9])(?P<day>[0-9]{{1,2}})[a-z]{{0,2}}[-\s]*(?:of\s)?{_MONTH}[-,\s]*{_YEAR}",
        rf"\b{_MONTH}[-\s]*(?P<day>[0-9]{{1,2}})(?![0-9])[a-z]{{0,2}}[-,\s]*{_YEAR}",
    )
]
_list_days = [
    re.compile(form, re.IGNORECASE).finditer
    for form in (
        rf"(?<![0-9])(?P<day>[0-9]{{1,2}})[a-z]{{0,2}}[-\s]*(?:of\s)?{_MONTH}(?![a-z])",
        rf"\b{_MONTH}[-\s]*(?P<day>[0-9]{{1,2}})(?![0-9])",
    )
]
_find_digits = re.compile(
    r"(?<![\w#.,:/-])([0-9]{2,15})(?:[.,]0{1,2})?(?![\w:/-]|[.,][0-9])"
).findall
"""Numbers of two digits or more, but for parts of others and numbers of masks."""

_ASCII_DIGITS: Final = {
    first + value: str(value)
    for first in (0x0660, 0x06F0, 0x0966, 0xFF10)
    for value in range(10)
}
"""Arabic, Persian, Indian and wide digits."""

_find_times = re.compile(
    r"(?<![0-9:.])([01]?[0-9]|2[0-3])(?:[:.h]([0-5][0-9]))?(?::[0-5][0-9])?"
    r"(?![0-9])(?:\s*([ap])\.?\s?m\b)?",
    re.IGNORECASE,
).findall

_drop_words_of_dates = re.compile(
    rf"\b(?:{_MONTH}|of|[ap]\.?\s?m)\b|(?<=[0-9])(?:st|nd|rd|th|h|[ap]m)\b",
    re.IGNORECASE,
).sub
_has_letter = re.compile(r"[^\W\d_]").search
_is_number = re.compile(r"\W*([0-9]{4,})(?:[.,][0-9]{1,2})?\W*").fullmatch

_Date: TypeAlias = tuple[int, int, int]  # the last two digits of the year, month, day
_Time: TypeAlias = tuple[int, int]  # the hour of the day, minutes
_Day: TypeAlias = tuple[Literal["day"], int, int]  # month, day
_Amount: TypeAlias = tuple[Literal["words", "digits"], int]  # how it is written
_Written: TypeAlias = str | _Date | _Time | _Day | _Amount

_MOST_PARTS: Final = 3  # of a date, which may be written in any order


def find_shown_in_part(
    hidden: Mapping[int, str], release: str, original: str
) -> Iterator[int]:
    """Find hidden words whose letters a mask shows, half of them or more.

    Parameters
    ----------
    hidden : mapping of int to str
        Folded words by place.
    release, original : str
        What is in both texts is no mask.

    Yields
    ------
    int
        Places. Each mask shows one word.

    Examples
    --------
    >>> text = "Meg** has d*ab*tes and J***."
    >>> hidden = {0: "megan", 2: "diabetes", 4: "jonathan"}
    >>> list(find_shown_in_part(hidden, text, ""))
    [0, 2]
    """
    waiting: dict[str, list[int]] = defaultdict(list)
    for place, word in hidden.items():
        if len(word) >= _LEAST_LETTERS:
            waiting[plain(word)].append(place)
    for found in _find_pieces(release):
        if found[0] in original or not waiting:
            continue
        parts = [plain(canonical(part)) for part in _cut(found[0])]
        shown = next((each for each in waiting if _shows(parts, each)), None)
        if shown is not None:
            yield waiting[shown].pop(0)
            if not waiting[shown]:
                del waiting[shown]


def _shows(parts: Sequence[str], word: str) -> bool:
    """Whether the parts stand in a word in order, and are half of it but not all."""
    shown = sum(map(len, parts))
    if not shown < len(word) <= 2 * shown:
        return False
    first, *inner, last = parts
    if not (word.startswith(first) and word.endswith(last)):
        return False
    place, end = len(first), len(word) - len(last)
    for part in inner:
        at = word.find(part, place, end)
        if at < 0:
            return False
        place = at + len(part)
    return place <= end


def is_joined(words: Sequence[str], texts: Iterable[str]) -> bool:
    """Whether a number of several words stands in a release with other signs in it.

    Parameters
    ----------
    words : sequence of str
        Folded words of the number. Up to three count in any order: a date.
    texts : iterable of str
        The folded letters and digits of each way to read the release.

    Returns
    -------
    bool
        False for words that have too few digits to tell.

    Examples
    --------
    >>> is_joined(["555", "099", "1942"], ["ring15550991942"])
    True
    >>> is_joined(["03", "18", "2011"], ["born20110318t000000"])
    True
    """
    whole = "".join(words)
    digits = sum(map(str.isdigit, whole))
    if digits < _LEAST_DIGITS or len(whole) < _LEAST_SIGNS:
        return False
    forms = {whole}
    if len(words) <= _MOST_PARTS and whole.isdigit():
        forms |= {"".join(each) for each in permutations(words)}
    return any(form in text for form in forms for text in texts)


def count_written(texts: Iterable[str]) -> Counter[_Written]:
    """Count the numbers of four digits or more of a text, its dates and its times.

    Parameters
    ----------
    texts : iterable of str
        The ways to read the text; of each number, the largest count is kept.

    Returns
    -------
    Counter
        Numbers without the signs between thousands, and dates as (year, month, day)
        with two digits of the year. A date that can be read in two orders is two. Times
        are (hour, minutes), and days of a month ("day", month, day). Numbers in words
        are ("words", value), and those in two digits or more ("digits", value).

    Examples
    --------
    >>> count_written(["Pay 2,073 on 16 October 1987."])["2073"]
    1
    >>> count_written(["from 5:07 p.m. to 17:07"])[17, 7]
    2
    >>> count_written(["16/10/87, Oct. 16th, 1987 and 1987-10-16"])[87, 10, 16]
    3
    >>> count_written(["forty-two in the week of March 13th"])["words", 42]
    1
    """
    found: Counter[_Written] = Counter()
    for given in texts:
        text = write_digits(given)
        whole = _drop_groups("", text)
        each: list[_Written] = [*_find_numbers(whole), *_iterate_times(text)]
        each += [*_iterate_dates(text), *_iterate_days(text)]
        each += [("words", value) for value in find_amounts(whole)]
        each += [("digits", int(digits)) for digits in _find_digits(whole)]
        found |= Counter(each)
    return found


def write_digits(text: str) -> str:
    """Write the digits of other scripts as those of ASCII.

    >>> write_digits("２０７３")
    '2073'
    """
    return text if text.isascii() else text.translate(_ASCII_DIGITS)


def _iterate_days(text: str) -> Iterator[_Day]:
    """Find the days of a month, with a year or without."""
    for _, month, day in _iterate_numeric(text):
        yield "day", month, day
    for find in _list_days:
        for match in find(text):
            month = _MONTHS.index(match["month"].lower()) + 1
            if _may_be((0, month, int(match["day"]))):
                yield "day", month, int(match["day"])


def _iterate_dates(text: str) -> Iterator[_Date]:
    yield from _iterate_numeric(text)
    for find in _list_named:
        for match in find(text):
            month = _MONTHS.index(match["month"].lower()) + 1
            date = int(match["year"]) % 100, month, int(match["day"])
            if _may_be(date):
                yield date


def _iterate_numeric(text: str) -> Iterator[_Date]:
    for first, _, second, third in _find_numeric(text):
        a, b, c = int(first), int(second), int(third)
        if len(first) == 4:
            each = {(a % 100, b, c)}
        elif len(first) < 3 and len(third) in (2, 4):
            each = {(c % 100, b, a), (c % 100, a, b)}
        else:
            each = set()
        yield from (date for date in sorted(each) if _may_be(date))
    for digits in _find_whole(text):  # 19871016
        year, month, day = map(int, digits)
        if _may_be((year % 100, month, day)):
            yield year % 100, month, day


def _iterate_times(text: str) -> Iterator[_Time]:
    """Find 5:07, 5.07, 5 pm, 17:07 and 17h07; an hour alone is no time."""
    for hour, minutes, half in _find_times(text):
        if minutes or half:
            late = 12 * (half.lower() == "p")
            first = int(hour) % 12 + late if half else int(hour)
            yield first, int(minutes or 0)


def _may_be(date: _Date) -> bool:
    return 1 <= date[1] <= 12 and 1 <= date[2] <= 31


def is_written(
    unit: str, original: Counter[_Written], release: Counter[_Written]
) -> bool:
    """Whether a number or date stands in a release, however it is written there.

    Parameters
    ----------
    unit : str
        As the original writes it.
    original, release : Counter
        What :func:`count_written` finds in both. What the original has elsewhere too
        is left only if the release has as many.

    Examples
    --------
    >>> text, release = "Paid 2073, in 2073.", "Paid 2,073, in 2073."
    >>> is_written("2073", count_written([text]), count_written([release]))
    True
    >>> is_written("2073", count_written([text]), count_written(["Paid 9, in 2073."]))
    False
    """
    unit = write_digits(unit)
    if (value := read_amount(unit)) is not None and _has_more(value, original, release):
        return True
    if _has_letter(_drop_words_of_dates("", unit)):
        return False  # there is more to hide
    found: list[_Written] = [*_iterate_dates(unit)] or [*_iterate_times(unit)]
    found = found or [*dict.fromkeys(_iterate_days(unit))]
    if not found and (number := _is_number(_drop_groups("", unit))):
        found = [number[1]]
    return any(release[each] >= max(original[each], 1) for each in found)


def _has_more(
    value: int, original: Counter[_Written], release: Counter[_Written]
) -> bool:
    """Whether a release writes a number in words, or in digits, more often."""
    forms: tuple[_Amount, _Amount] = ("words", value), ("digits", value)
    return any(release[form] > original[form] for form in forms)
