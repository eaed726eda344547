"""Charts as data: what is drawn, apart from how; one description for every format."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, final

Unit = Literal["share", "number", "nats"]
Ends: TypeAlias = tuple[float, float]
"""The ends of an interval; equal where a value is exact."""

_MOST_TICKS: Final = 6


@final
@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a chart.

    Parameters
    ----------
    label : str
        What it shows, with the unit.
    unit : {"share", "number", "nats"}
        A share is written in per cent.
    is_log : bool
        Whether it is logarithmic; values are above 0 then.
    low, high : float
        What it covers, ``low < high``.
    """

    label: str
    unit: Unit
    is_log: bool
    low: float
    high: float

    @classmethod
    def around(
        cls,
        label: str,
        unit: Unit,
        values: Sequence[float],
        *,
        is_log: bool = False,
        from_zero: bool = False,
    ) -> Axis:
        """Return an axis with room for all values; a share goes from 0 to 1 at most.

        Examples
        --------
        >>> axis = Axis.around("epsilon", "number", [8.0], is_log=True)
        >>> axis.low < 8 < axis.high
        True
        """
        low, high = min(values), max(values)
        if is_log:
            room = max((high / low) ** 0.04, 1.05) if high > low else 2.0
            return cls(label, unit, is_log, low / room, high * room)
        if from_zero or unit == "share":
            low = min(0.0, low)
        room = (high - low) * 0.05 or abs(high) * 0.1 or 1.0
        top = high + room
        if unit == "share":
            top = 1.0 if high > 0.6 and high <= 1.0 else top
        return cls(label, unit, is_log, low if low == 0 else low - room, top)

    def share(self, value: float) -> float:
        """Return where a value lies between the ends of the axis, from 0 to 1."""
        if self.is_log:
            found = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            found = (value - self.low) / (self.high - self.low)
        return min(1.0, max(0.0, found))


@final
@dataclass(frozen=True, slots=True)
class Point:
    """A setting in a chart.

    Parameters
    ----------
    epsilon : float
        Of the setting.
    x, y : pair of float
        The ends of what is known of each.
    is_chosen : bool
        Whether it is the chosen setting.
    """

    epsilon: float
    x: Ends
    y: Ends
    is_chosen: bool = False


@final
@dataclass(frozen=True, slots=True)
class Line:
    """The settings of one mechanism.

    Parameters
    ----------
    name : str
        The mechanism and its parameters.
    style : int
        Colour, dash and marker; the same in every chart of a study.
    points : tuple of Point
        By rising epsilon, at least one.
    """

    name: str
    style: int
    points: tuple[Point, ...]


@final
@dataclass(frozen=True, slots=True)
class Chart:
    """Lines over two axes.

    Parameters
    ----------
    key : str
        Unique in a study; part of identifiers and file names.
    title, says : str
        What it is, and how to read it.
    x, y : Axis
    lines : tuple of Line
    reference : tuple of (str, float)
        Values of y that are limits, by name.
    missing : tuple of str
        Names of mechanisms of which too little is known.
    corner : str
        What the upper left corner means, if it means something.
    """

    key: str
    title: str
    says: str
    x: Axis
    y: Axis
    lines: tuple[Line, ...]
    reference: tuple[tuple[str, float], ...] = ()
    missing: tuple[str, ...] = ()
    corner: str = ""


@final
@dataclass(frozen=True, slots=True)
class Panel:
    """One histogram of several on the same axis.

    Parameters
    ----------
    title : str
    shares : tuple of float
        Share of the words in each bin.
    is_chosen : bool
        Whether it is the chosen setting.
    """

    title: str
    shares: tuple[float, ...]
    is_chosen: bool = False


@final
@dataclass(frozen=True, slots=True)
class Histograms:
    """Histograms over the vocabulary, one for each epsilon of a mechanism.

    Parameters
    ----------
    key, title, says : str
        As those of :class:`Chart`.
    x : Axis
    edges : tuple of float
        Of the bins, in the unit of ``x``; one more than bins.
    panels : tuple of Panel
    style : int
        Colour of the mechanism.
    """

    key: str
    title: str
    says: str
    x: Axis
    edges: tuple[float, ...]
    panels: tuple[Panel, ...]
    style: int


@final
@dataclass(frozen=True, slots=True)
class Fan:
    """Percentiles of one quantity, nested around their median.

    Parameters
    ----------
    key, title, says : str
        As those of :class:`Chart`.
    x, y : Axis
    at : tuple of float
        Values of x.
    percentiles : tuple of float
    rows : tuple of tuple of float
        For each x, the value at each percentile.
    """

    key: str
    title: str
    says: str
    x: Axis
    y: Axis
    at: tuple[float, ...]
    percentiles: tuple[float, ...]
    rows: tuple[tuple[float, ...], ...]


def middle(ends: Ends) -> float:
    """Return the value that is drawn."""
    return ends[0] if ends[0] == ends[1] else (ends[0] + ends[1]) / 2


def ticks(axis: Axis) -> list[float]:
    """Return round values on an axis, a handful of them.

    Examples
    --------
    >>> ticks(Axis("", "share", False, 0.0, 1.0))
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    >>> ticks(Axis("", "number", True, 0.9, 1200.0))
    [1.0, 10.0, 100.0, 1000.0]
    """
    if not axis.is_log:
        return _even(axis.low, axis.high)
    first, last = (
        math.floor(math.log10(axis.low)),
        math.ceil(math.log10(axis.high)),
    )
    for digits in ((1, 2, 5), (1, 3), (1,)):
        found = [
            digit * 10.0**power
            for power in range(first, last + 1)
            for digit in digits
            if axis.low <= digit * 10.0**power <= axis.high
        ]
        if len(found) <= _MOST_TICKS:
            break
    if len(found) > _MOST_TICKS:
        found = found[:: -(-len(found) // _MOST_TICKS)]
    return found if len(found) > 1 else _even(axis.low, axis.high)


def _even(low: float, high: float) -> list[float]:
    """Return round values at even distances."""
    rough = (high - low) / (_MOST_TICKS - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(
        power * size for size in (1, 2, 2.5, 5, 10) if power * size >= rough * 0.99
    )
    first = math.ceil(low / step - 1e-9)
    count = math.floor((high - first * step) / step + 1e-9) + 1
    return [round((first + place) * step, 12) for place in range(count)]


def written(value: float, unit: Unit = "number") -> str:
    """Return a number as people read it, to three digits.

    Examples
    --------
    >>> written(0.6214, "share"), written(33860.0), written(0.00021)
    ('62.1%', '33,860', '0.00021')
    """
    if unit == "share":
        # What is nearly certain must not look certain.
        nearly = 0.9995 <= value < 1
        return ">99.9%" if nearly else f"{_digits(value * 100)}%"
    return _digits(value)


def _digits(value: float) -> str:
    if value == 0:
        return "0"
    size = abs(value)
    if 999.5 <= size < 1e9:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def at_most(value: float) -> str:
    """Return a number to three digits, rounded up: what is said to be a bound is one.

    Examples
    --------
    >>> at_most(7.131), at_most(1253.2), at_most(20.0)
    ('7.14', '1,260', '20')
    """
    if value <= 0:
        return "0"
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return _digits(math.ceil(value / unit * (1 - 1e-12)) * unit)


def exactly(epsilon: float) -> str:
    """Return an epsilon as it has to be typed, but for digits after the sixth.

    Examples
    --------
    >>> exactly(9.375)
    '9.375'
    """
    return f"{epsilon:.6g}"


def in_words(ends: Ends, unit: Unit = "number") -> str:
    """Return an interval, or one number where it is exact.

    Examples
    --------
    >>> in_words((0.25, 0.31), "share"), in_words((12.0, 12.0))
    ('25–31%', '12')
    """
    low, high = (written(end, unit) for end in ends)
    if low == high:
        return low
    return f"{low.removesuffix('%') if unit == 'share' else low}–{high}"
