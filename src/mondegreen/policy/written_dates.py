"""Dates and times: numbers that are written as one, such as 2024-05-12 and 10:30.

Such a run of numbers is one word, and one draw: a valid date or time comes out, whether
the number was one or not. What is one is decided by its digits and signs alone.
"""

from __future__ import annotations

import re
from typing import Final

from mondegreen.policy.shapes import WRITTEN_DATES

DATES_DISCLOSED: Final = (
    "dates and times: where numbers are written as a date or a time, such as "
    "2024-05-12, 31/12/1999 and 10:30. Each is one word, valid or not. So is a decade "
    "with the ending 's, such as 1980's",
)

_DASHED: Final = "|".join(p for p, name in WRITTEN_DATES if "-" in name)
_OTHERS: Final = "|".join(p for p, name in WRITTEN_DATES if "-" not in name)

_DECADE: Final = "(?:[0-9]{2})?[0-9]0['’][sS]"

# Not a part of a longer run of numbers and signs, such as those of addresses and
# versions. A hyphen may stand between two times. Behind a full stop or a colon, the
# first letter of the next word decides nothing.
_FOUND: Final = re.compile(
    r"(?<![0-9A-Za-z@_/:.\\#%&+~])"
    rf"(?:(?<!-)(?:{_DASHED})(?!-)|(?:{_OTHERS}|{_DECADE}))"
    r"(?![0-9A-Za-z@_/\\]|[.:](?![ \t\n\r\xa0\")\]}>”»]|\Z))"
)


def join_dates(text: str, parts: list[str]) -> list[str]:
    """Make one word of each date, time and 1980's of a text that was cut.

    >>> from mondegreen.text.tokenizer import tokenize
    >>> text = "Born 31/12/1999 at 10:30, by version 1.2.3.4"
    >>> join_dates(text, tokenize([text]).parts[0])[1::2]
    ['Born', '31/12/1999', 'at', '10:30', 'by', 'version', '1', '2', '3', '4']
    """
    ends = {found.start(): found.end() for found in _FOUND.finditer(text)}
    if not ends:
        return parts
    joined, i, at = parts[:1], 1, len(parts[0])
    while i < len(parts):
        last, reach = i, at + len(parts[i])
        end = ends.get(at, reach)
        gap = parts[i + 1]
        if end == reach + 2 and gap[1:2] in ("s", "S"):  # a decade
            joined += [text[at:end], gap[2:]]
            i, at = i + 2, reach + len(gap)
            continue
        while reach < end:
            reach += len(parts[last + 1]) + len(parts[last + 2])
            last += 2
        if reach > end:  # a mark of another script goes on behind it
            last, reach = i, at + len(parts[i])
        joined += [text[at:reach], parts[last + 1]]
        i, at = last + 2, reach + len(parts[last + 1])
    return joined
