"""Numbers of a report, as people read them."""

from __future__ import annotations

import math
from typing import TypeAlias

from mondegreen.scores.definitions import Unit
from mondegreen.wording import figure

Ends: TypeAlias = tuple[float, float]
"""The ends of an interval; equal where a value is exact."""


def written(value: float, unit: Unit = "number") -> str:
    """Write a number to three digits.

    >>> written(0.6214, "share"), written(33860.0), written(0.00021)
    ('62.1%', '33,860', '0.00021')
    """
    if unit == "share":
        # What is nearly certain must not look certain.
        nearly = 0.9995 <= value < 1
        return ">99.9%" if nearly else f"{figure(value, 'percent')}%"
    return figure(value, "count" if 999.5 <= abs(value) < 1e9 else "number")


def in_words(ends: Ends, unit: Unit = "number") -> str:
    """Write an interval, or one number where it is exact.

    >>> in_words((0.25, 0.31), "share"), in_words((12.0, 12.0))
    ('25–31%', '12')
    """
    low, high = (written(end, unit) for end in ends)
    if low == high:
        return low
    return f"{low.removesuffix('%') if unit == 'share' else low}–{high}"


def at_most(value: float) -> str:
    """Write a number to three digits, rounded up: what is said to be a bound is one.

    >>> at_most(7.131), at_most(1253.2), at_most(20.0)
    ('7.14', '1,260', '20')
    """
    if value <= 0:
        return "0"
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return written(math.ceil(value / unit * (1 - 1e-12)) * unit)


def exactly(epsilon: float) -> str:
    """Write an epsilon as it has to be typed, but for digits after the sixth."""
    return figure(epsilon, digits=6)
