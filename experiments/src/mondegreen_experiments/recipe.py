"""A recipe: one experiment of a paper, without the algorithms that it uses."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, final

import numpy as np

from mondegreen_experiments.code import code_of

if TYPE_CHECKING:
    from mondegreen_experiments.bench import Bench
    from mondegreen_experiments.choices import Choices

Scale = Literal["quick", "full"]
Point: TypeAlias = Mapping[str, Any]
"""Where on the grid: names and JSON values, such as ``{"epsilon": 6.0, "dim": 50}``."""

Measured: TypeAlias = Mapping[str, float]
Found: TypeAlias = Mapping[str, float | str]
"""What one run gives: numbers, and texts that are shown as they are."""

ROUNDING: Final = 1e-9
"""A margin of this size, and smaller, is 0."""

Table: TypeAlias = Sequence[tuple[Point, Measured]]
"""Points, each with the means of what was measured there."""

Measure: TypeAlias = Callable[["Bench", Point, int], Found]
"""From data, a point of the grid and a seed to what is found there."""


@final
@dataclass(frozen=True, slots=True)
class Setting:
    """What was measured with: a reason why nothing can be told may depend on it.

    Attributes
    ----------
    choices : Choices
        Vectors and models that a call named in place of ours.
    points : sequence of points
        The points that were measured.
    spaces : collection of str
        Names of the spaces that these points take, such as ``glove-50``.
    """

    choices: Choices
    points: Sequence[Point] = ()
    spaces: Collection[str] = ()


Reason: TypeAlias = str | Callable[[Setting], str]
"""Why what is measured cannot decide a claim or a number; empty where it can."""

Source: TypeAlias = Literal["printed", "recomputed by us", "read off a figure"]
"""Where a number of a paper comes from."""


def reason_at(reason: Reason, setting: Setting) -> str:
    """Write a reason for what was measured."""
    return reason if isinstance(reason, str) else reason(setting)


@final
@dataclass(frozen=True, slots=True)
class Published:
    """A number of a paper, and how near ours must come to agree with it.

    It agrees if our whole interval lies within ``tolerance`` of it. It differs if our
    whole interval lies outside. Otherwise nothing can be told. ``tolerance`` is chosen
    before we measure. ``untold`` says why ours cannot be compared, whatever it is, as
    where our vectors are not the paper's. ``apart`` says why the number is shown and
    not counted: a floor or a ceiling that ours is near, too, or arithmetic. A number
    that the paper does not print is not counted either: ``source`` says where it comes
    from.
    """

    where: str  # such as "Table 6, IMDb"
    point: Point
    measure: str
    value: float
    tolerance: float
    untold: Reason = ""
    apart: str = ""
    source: Source = "printed"


def at_end(value: float, tolerance: float, most: float = 1.0) -> str:
    """Say that a number is next to an end of its range, from 0 to ``most``.

    It is if a tolerance is over half of the way to that end. Agreement shows little
    there.

    >>> at_end(0.98, 0.1)
    'a ceiling'
    >>> at_end(0.5, 0.1)
    ''
    """
    floor, ceiling = ENDS
    if value < 2 * tolerance:
        return floor
    return ceiling if most - value < 2 * tolerance else ""


ENDS: Final = ("a floor", "a ceiling")
"""Why a number near an end of its range is counted apart, if ours is near it too."""


@final
@dataclass(frozen=True, slots=True)
class Shape:
    """A claim in words about all points, and a test of it.

    ``test`` gives by how much the claim holds, in the unit of what is measured: above 0
    it holds, below 0 it does not. A test may give a bool if no number tells how far the
    claim is from its threshold. ``how`` says how the claim is tested, where its words
    do not. ``printed`` are numbers of the paper, as a table that the test must pass,
    and ``source`` says where they come from. ``untold`` says why what is measured here
    cannot decide the claim, whatever the test gives. ``apart`` says why the claim is
    not counted: it is true by definition, proved, or a matter of logic. ``note`` is
    what its authors should know of it. ``name`` is what a citation of the claim ends
    with, behind the name of the recipe: it stays if the words of the claim change.
    """

    where: str
    claim: str
    test: Callable[[Table], float]
    how: str = ""
    printed: Table = ()
    source: Source = "printed"
    untold: Reason = ""
    apart: str = ""
    note: str = ""
    name: str = ""

    def holds(self, table: Table) -> bool:
        """Whether the test is passed by these numbers alone, without intervals."""
        return is_met(self.test(table))


def is_met(margin: float) -> bool:
    """Whether a test is passed: by more than rounding.

    >>> is_met(0.1), is_met(0.0), is_met(True), is_met(False)
    (True, False, True, False)
    """
    if isinstance(margin, bool | np.bool_):
        return bool(margin)
    return bool(margin > ROUNDING)


@final
@dataclass(frozen=True, slots=True)
class Recipe:
    """One experiment: a grid, what is measured at each point, and what was published.

    Attributes
    ----------
    name : str
        Such as ``cmp-deniability``.
    paper : str
        Author and year.
    title : str
        What is measured, in a few words.
    differs : str
        Where this is not the paper's experiment: data, sizes, models; and why.
    measure : callable
        Takes the bench, a point and a seed.
    points : mapping from scale to points
        The grid.
    seeds : mapping from scale to int
        How many runs of each point; 1 where nothing is random.
    data : sequence of str
        Names of the data sets that it reads.
    alone : bool
        Whether it measures time, so that nothing else may run beside it.
    by_seed : bool
        Whether all points of a seed are run before those of the next one, since they
        share what takes long.
    axes : (str, str, str)
        Name of the point's value along the axis, or of a measure there, of the value
        that tells curves apart, and of the measure that is drawn; none where no figure
        is drawn.
    shares : sequence of str
        Measures in [0, 1], such as accuracies: their intervals end there.
    spaces : callable, optional
        Takes a point, and gives the names of the spaces that it takes, such as
        ``glove-300``; None if they are not known.
    version : int
        Raised when what is measured changes: kept results of another are not used.
    """

    name: str
    paper: str
    title: str
    differs: str
    measure: Measure
    points: Mapping[Scale, Sequence[Point]]
    seeds: Mapping[Scale, int]
    data: Sequence[str] = ()
    published: Sequence[Published] = ()
    shapes: Sequence[Shape] = ()
    axes: tuple[str, str, str] | None = None
    shares: Sequence[str] = ()
    spaces: Callable[[Point], Sequence[str]] | None = None
    needs: Sequence[str] = field(default=())  # libraries, such as torch
    version: int = 1
    alone: bool = False
    by_seed: bool = False

    def spaces_of(self, points: Sequence[Point]) -> frozenset[str]:
        """Names of the spaces that these points take; none if they are not known."""
        if self.spaces is None:
            return frozenset()
        return frozenset(name for point in points for name in self.spaces(point))

    def key(self, point: Point, seed: int, data: str = "") -> str:
        """Name a run by what decides what it gives.

        The version need not be raised where the code of recipes, attacks or scores
        changes, nor where a file of data does: both are part of the name, ``data`` as
        :meth:`Bench.key <mondegreen_experiments.bench.Bench.key>` gives it. Mechanisms
        are not, nor is the scale: what differs by scale stands in the point.
        """
        code = code_of(self.measure)
        what = [self.name, self.version, code, place(point), seed, data]
        return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]


def point_key(point: Point) -> str:
    """Write a point on one line.

    >>> point_key({"epsilon": 6.0, "dim": 50})
    'epsilon=6.0, dim=50'
    """
    return ", ".join(f"{name}={value}" for name, value in point.items())


def place(point: Point) -> str:
    """Name a point whatever the order of its names, and however numbers are written.

    >>> place({"epsilon": 6.0, "dim": 50}) == place({"dim": 50, "epsilon": 6})
    True
    """
    numbers = {
        name: value if isinstance(value, str | bool) else float(value)
        for name, value in point.items()
        if isinstance(value, str | int | float)
    }
    return json.dumps({**point, **numbers}, sort_keys=True)


def curve(table: Table, x: str, y: str, **fixed: Any) -> list[float]:
    """Values of a measure along one coordinate, the others being fixed.

    >>> table = [({"e": 2, "d": 1}, {"n": 0.2}), ({"e": 1, "d": 1}, {"n": 0.1})]
    >>> curve(table, "e", "n", d=1)
    [0.1, 0.2]
    """
    found = [
        (point[x], measured[y])
        for point, measured in table
        if all(point[name] == value for name, value in fixed.items())
    ]
    return [value for _, value in sorted(found)]


def rises(values: Sequence[float], slack: float = 0.0) -> bool:
    """Whether no value is below the one before it, but for noise of this size."""
    return least_step(values, slack) >= -ROUNDING


def least_step(values: Sequence[float], slack: float = 0.0) -> float:
    """The least step from a value to the next, and ``slack`` more.

    >>> least_step([1.0, 3.0, 2.5])
    -0.5
    """
    steps = (b - a + slack for a, b in itertools.pairwise(values))
    return min(steps, default=math.inf)


def climb(values: Sequence[float], slack: float = 0.0) -> float:
    """By how much a curve rises from its first value to its last.

    Less, if a step on the way falls: at most :func:`least_step`. So a curve that is
    flat within the slack does not rise, however large the slack is.

    >>> climb([1.0, 3.0, 2.5], slack=0.75)
    0.25
    >>> climb([1.0, 1.0, 1.0], slack=0.75)
    0.0
    """
    if len(values) < 2:
        return math.inf
    return min(values[-1] - values[0], least_step(values, slack))


def lead(gaps: Sequence[float], slack: float = 0.0) -> float:
    """By how much one curve is above another: the mean of its gaps to it.

    Less, if some gap is below 0: at most the least gap and ``slack`` more. So curves
    that are equal within the slack do not lead.

    >>> lead([0.25, 0.75, 0.0], slack=0.125)
    0.125
    >>> lead([0.0, 0.0], slack=0.125)
    0.0
    """
    if not gaps:
        return math.inf
    return min(math.fsum(gaps) / len(gaps), min(gaps) + slack)
