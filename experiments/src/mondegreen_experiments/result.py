"""What the runs of a recipe say together, beside what was published."""

from __future__ import annotations

import inspect
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, TypeAlias, final

import numpy as np

from mondegreen_experiments.kept import Run
from mondegreen_experiments.recipe import (
    Point,
    Published,
    Recipe,
    Shape,
    Table,
    is_met,
    place,
)

Verdict: TypeAlias = Literal["holds", "does not hold", "cannot be told here"]
HOLDS: Final = "holds"
FAILS: Final = "does not hold"
UNTOLD: Final = "cannot be told here"


@final
@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over seeds, with the interval of Student's t at 95 %.

    With one run there is no interval: both ends are the value itself. Runs that agree
    have an interval of no width: it tells the spread between seeds and nothing else.
    """

    value: float
    low: float
    high: float
    runs: int

    @classmethod
    def of(cls, values: Sequence[float], *, is_share: bool = False) -> Mean:
        """Average; the interval of a share is cut off at 0 and at 1.

        The mean of shares lies between these, so that a cut interval holds it whenever
        the whole one does.

        >>> Mean.of([1.0, 2.0, 3.0])
        Mean(value=2.0, low=-0.484..., high=4.484..., runs=3)
        >>> Mean.of([0.7, 0.8, 0.99], is_share=True).high
        1.0
        """
        count = len(values)
        mean = math.fsum(values) / count
        if count == 1:
            return cls(mean, mean, mean, 1)
        from scipy.stats import t

        spread = math.fsum((each - mean) ** 2 for each in values) / (count - 1)
        reach = float(t.ppf(0.975, count - 1)) * math.sqrt(spread / count)
        low, high = mean - reach, mean + reach
        if is_share and 0 <= min(values) <= max(values) <= 1:
            low, high = max(0.0, low), min(1.0, high)
        return cls(mean, low, high, count)


@final
@dataclass(frozen=True, slots=True)
class Compared:
    """A published number beside ours; ``ours`` is None where it was not measured."""

    published: Published
    ours: Mean | None

    @property
    def agrees(self) -> Verdict | None:
        """Whether our whole interval is within the tolerance, or outside of it."""
        if self.ours is None:
            return None
        reach, value = self.published.tolerance, self.published.value
        low, high = value - reach, value + reach
        if low - 1e-9 <= self.ours.low and self.ours.high <= high + 1e-9:
            return HOLDS
        return UNTOLD if self.ours.low <= high and low <= self.ours.high else FAILS


@final
@dataclass(frozen=True, slots=True)
class Judged:
    """A claim, by how much its test is passed, and what follows.

    ``margin`` is that of the means; its interval is that of Student's t at 95 %, by how
    much the margin varies between seeds. Where the interval lies on one side of 0 the
    claim holds, or does not. Where it holds 0, nothing can be told.
    """

    shape: Shape
    margin: Mean | None  # none where the test gives no number
    verdict: Verdict

    @property
    def printed_margin(self) -> float | None:
        """By how much the paper's own numbers pass; none where none are known."""
        shape = self.shape
        return float(shape.test(shape.printed)) if shape.printed else None

    @classmethod
    def of(cls, shape: Shape, table: Table, by_seed: Sequence[Table]) -> Judged:
        margin = shape.test(table)
        each = [shape.test(one) for one in by_seed]
        if any(math.isnan(one) for one in (margin, *each)):  # no test of these points
            return cls(shape, None, UNTOLD)
        if not all(math.isfinite(m) and not _is_bool(m) for m in (margin, *each)):
            return cls(shape, None, _verdict(shape, margin, *each))
        around = Mean.of([float(m) for m in each])
        reach = (around.high - around.low) / 2
        mean = Mean(float(margin), margin - reach, margin + reach, len(each))
        return cls(shape, mean, _verdict(shape, mean.low, mean.high))


def _verdict(shape: Shape, *margins: float) -> Verdict:
    """What follows where the test is passed by so much at least, and at most."""
    found = {is_met(margin) for margin in margins}
    if shape.untold or len(found) > 1:
        return UNTOLD
    return HOLDS if True in found else FAILS


def _is_bool(value: float) -> bool:
    return isinstance(value, bool | np.bool_)


@final
@dataclass(frozen=True, slots=True)
class Result:
    """Means at each point, in the order of the grid, and what they are compared with.

    ``shapes`` says of each claim in words what follows at the points measured;
    ``texts`` what the first run of a point gave in words, by :func:`place`.
    """

    recipe: Recipe
    means: Sequence[tuple[Point, Mapping[str, Mean]]]
    texts: Mapping[str, Mapping[str, str]]
    compared: Sequence[Compared]
    shapes: Sequence[Judged]
    seconds: float

    @classmethod
    def of(cls, recipe: Recipe, runs: Sequence[Run]) -> Result:
        points: dict[str, Point] = {}
        values: dict[str, dict[str, list[float]]] = defaultdict(
            lambda: defaultdict(list)
        )
        texts: dict[str, dict[str, str]] = defaultdict(dict)
        for run in runs:
            key = place(run.point)
            points[key] = run.point
            for name, value in run.measured.items():
                if isinstance(value, str):
                    texts[key].setdefault(name, value)
                else:
                    values[key][name].append(value)
        means = {
            key: {
                name: Mean.of(each, is_share=name in recipe.shares)
                for name, each in found.items()
            }
            for key, found in values.items()
        }
        table = [
            (points[key], {name: each.value for name, each in found.items()})
            for key, found in means.items()
        ]
        by_seed = _tables(runs, points, table)
        return cls(
            recipe,
            [(points[key], means[key]) for key in means],
            texts,
            [
                Compared(each, means.get(place(each.point), {}).get(each.measure))
                for each in recipe.published
            ],
            [Judged.of(each, table, by_seed) for each in recipe.shapes],
            math.fsum(run.seconds for run in runs),
        )

    @property
    def held(self) -> str:
        """How many claims hold, such as ``2 of 3``."""
        good = sum(each.verdict == HOLDS for each in self.shapes)
        return f"{good} of {len(self.shapes)}"

    @property
    def agreed(self) -> str:
        """How many published numbers agree, of those that were measured."""
        known = [
            each.agrees
            for each in self.compared
            if each.agrees is not None and each.published.is_counted
        ]
        return f"{known.count(HOLDS)} of {len(known)}"

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON values."""
        return {
            "recipe": self.recipe.name,
            "paper": self.recipe.paper,
            "title": self.recipe.title,
            "differs": self.recipe.differs,
            "version": self.recipe.version,
            "about": inspect.getdoc(self.recipe.measure) or "",
            "axes": self.recipe.axes,
            "shares": list(self.recipe.shares),
            "data": list(self.recipe.data),
            "seconds": round(self.seconds, 1),
            "points": [
                {
                    "point": dict(point),
                    "measures": {name: asdict(mean) for name, mean in found.items()},
                    "texts": dict(self.texts.get(place(point), {})),
                }
                for point, found in self.means
            ],
            "published": [
                {
                    **asdict(each.published),
                    "point": dict(each.published.point),
                    "ours": None if each.ours is None else asdict(each.ours),
                    "agrees": each.agrees,
                }
                for each in self.compared
            ],
            "claims": [
                {
                    "where": each.shape.where,
                    "claim": each.shape.claim,
                    "verdict": each.verdict,
                    "margin": None if each.margin is None else asdict(each.margin),
                    "printed": [
                        {"point": dict(point), "measures": dict(measures)}
                        for point, measures in each.shape.printed
                    ],
                    "printed_margin": each.printed_margin,
                    "untold": each.shape.untold,
                    "note": each.shape.note,
                }
                for each in self.shapes
            ],
        }


def _tables(
    runs: Sequence[Run], points: Mapping[str, Point], table: Table
) -> list[Table]:
    """A table for each seed; a point that a seed lacks has its mean."""
    found: dict[int, dict[str, dict[str, float]]] = defaultdict(dict)
    for run in runs:
        numbers = {k: v for k, v in run.measured.items() if not isinstance(v, str)}
        found[run.seed][place(run.point)] = numbers
    means = {place(point): measures for point, measures in table}
    return [
        [(points[key], {**mean, **each.get(key, {})}) for key, mean in means.items()]
        for each in found.values()
    ]


def result_of(recipe: Recipe, found: Sequence[Run] | Exception) -> Result | Exception:
    """What runs say together; else the error that ended them, or that of a claim."""
    if isinstance(found, Exception):
        return found
    try:
        return Result.of(recipe, found)
    except Exception as error:  # of a recipe, which must not end the others
        return error
