"""A recipe: one experiment of a paper, without the algorithms that it uses."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, final

import numpy as np

from mondegreen_experiments.code import code_of

if TYPE_CHECKING:
    from mondegreen_experiments.bench import Bench

Scale = Literal["quick", "full"]
Point: TypeAlias = Mapping[str, Any]
"""Where on the grid: names and JSON values, such as ``{"epsilon": 6.0, "dim": 50}``."""

Measured: TypeAlias = Mapping[str, float]
Found: TypeAlias = Mapping[str, float | str]
"""What one run gives: numbers, and texts that are shown as they are."""

Table: TypeAlias = Sequence[tuple[Point, Measured]]
"""Points, each with the means of what was measured there."""

Measure: TypeAlias = Callable[["Bench", Point, int], Found]
"""From data, a point of the grid and a seed to what is found there."""


@final
@dataclass(frozen=True, slots=True)
class Published:
    """A number that a paper prints, and how near ours must come to agree with it.

    It agrees where our whole interval lies within ``tolerance`` of it. It differs where
    our whole interval lies outside. Else nothing can be told. ``tolerance`` is chosen
    before we measure: half a unit of the last printed digit, and more where our data is
    not theirs, which ``because`` says. A number that any mechanism would give, such as
    a recall of 0 or what arithmetic gives, is shown and not counted: ``is_counted``.
    """

    where: str  # such as "Table 6, IMDb"
    point: Point
    measure: str
    value: float
    tolerance: float
    because: str = ""
    is_counted: bool = True


@final
@dataclass(frozen=True, slots=True)
class Shape:
    """A claim in words about all points, and a test of it.

    ``test`` gives by how much the claim holds, in the unit of what is measured: at 0 it
    just does, below 0 it does not. A test may give a bool where no number tells how far
    the claim is from its threshold. ``printed`` are the paper's own numbers, as a table
    that the test must pass. ``untold`` says why what is measured here cannot decide the
    claim, whatever the test gives. ``note`` is what its authors should know of it.
    """

    where: str
    claim: str
    test: Callable[[Table], float]
    printed: Table = ()
    untold: str = ""
    note: str = ""

    def holds(self, table: Table) -> bool:
        """Whether the test is passed by these numbers alone, without intervals."""
        return is_met(self.test(table))


def is_met(margin: float) -> bool:
    """Whether a test is passed, but for rounding.

    >>> is_met(0.1), is_met(-0.1), is_met(True), is_met(False)
    (True, False, True, False)
    """
    return (
        bool(margin) if isinstance(margin, bool | np.bool_) else bool(margin >= -1e-9)
    )


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
    needs: Sequence[str] = field(default=())  # libraries, such as torch
    version: int = 1
    alone: bool = False
    by_seed: bool = False

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
    return is_met(least_step(values, slack))


def least_step(values: Sequence[float], slack: float = 0.0) -> float:
    """The least step from a value to the next, and ``slack`` more.

    >>> least_step([1.0, 3.0, 2.5])
    -0.5
    """
    steps = (b - a + slack for a, b in itertools.pairwise(values))
    return min(steps, default=math.inf)
