"""Days of months: a printed number beside a month is a day of it, "82 June" is none.

A number of one or two digits is drawn uniformly from all of its format, whatever is
beside it. If the word that is *printed* beside it is a month, the output becomes a day
of the same format. That is a function of outputs and structure, so it is
post-processing: the loss is unchanged. Hours are printed as they are drawn: three of
two digits are valid, and "10 pm" would stay "10 pm" once in three times.

Of the two-digit numbers 10 to 99, the days 10 to 14 and 20 to 28 have a chance of 5 in
90 each, and the days 15 to 19 of 4 in 90. Of the numbers of one digit, and of 00 to 09,
day 1 has 2 in 10 and 2 to 9 have 1 in 10 each. Of ordinals, 1st to 3rd have 2 in 31 and
4th to 28th have 1 in 31 each. A day is at most 28, so it is valid in every month.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

MONTHS: Final = frozenset(
    "january february march april may june july august september october november "
    "december jan feb mar apr jun jul aug sep sept oct nov dec".split()
)
"""Printed words that are months, in small letters."""

_ONE_DIGIT: Final = tuple(1 + digit % 9 for digit in range(10))

DAYS: Final[Mapping[str, tuple[int, ...]]] = {
    "1 digits": _ONE_DIGIT,
    "0 and 1 digits": _ONE_DIGIT,
    "2 digits": tuple(number % 19 for number in range(10, 100)),
    "ordinal": tuple(place % 28 for place in range(31)),
}
"""Of each member of a format, the member of the same format that is a day."""


def count_outcomes(members: tuple[int, ...]) -> int:
    """Count outcomes as if all were as likely as the most likely one, rounded down.

    >>> {name: count_outcomes(days) for name, days in DAYS.items()}
    {'1 digits': 5, '0 and 1 digits': 5, '2 digits': 18, 'ordinal': 15}
    """
    return len(members) // max(map(members.count, members))
