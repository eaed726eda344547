"""What the runs of a recipe say together, beside what was published."""

from __future__ import annotations

import inspect
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, TypeAlias, final

import numpy as np

from mondegreen_experiments.choices import Choices
from mondegreen_experiments.kept import Run
from mondegreen_experiments.recipe import (
    ENDS,
    ROUNDING,
    Point,
    Published,
    Recipe,
    Setting,
    Shape,
    Table,
    is_met,
    place,
    reason_at,
)

Verdict: TypeAlias = Literal[
    "holds", "does not hold", "cannot be told here", "counted apart"
]
HOLDS: Final = "holds"
FAILS: Final = "does not hold"
UNTOLD: Final = "cannot be told here"
APART: Final = "counted apart"
"""Of a definition, a proof or logic, and of floors, ceilings and arithmetic."""

NUMBERS: Final = {HOLDS: "agrees", FAILS: "differs"}
"""How two of the verdicts are called where a number is compared."""

ONE_RUN: Final = "one run has no interval"
NO_TEST: Final = "the points that its test needs were not measured"
NEAR: Final = "our interval contains 0"
NEAR_NUMBER: Final = "our interval reaches over an end of the tolerance"
SEEDS: Final = "our seeds disagree"


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
    """A published number beside ours; ``ours`` is None where it was not measured.

    ``why`` is the reason for its verdict, if there is one.
    """

    published: Published
    ours: Mean | None
    agrees: Verdict | None
    why: str

    @classmethod
    def of(cls, published: Published, ours: Mean | None, setting: Setting) -> Compared:
        """Compare our whole interval with the tolerance around the number."""
        apart = published.apart
        if not apart and published.source != "printed":
            apart = published.source
        if ours is None:
            return cls(published, None, None, apart)
        low, high = (published.value + side * published.tolerance for side in (-1, 1))
        is_outside = ours.high < low or high < ours.low
        # Next to an end agreement shows little, but a difference is one.
        if apart and not (apart in ENDS and is_outside):
            return cls(published, ours, APART, apart)
        if untold := reason_at(published.untold, setting):
            return cls(published, ours, UNTOLD, untold)
        if ours.runs == 1:
            return cls(published, ours, UNTOLD, ONE_RUN)
        if low - ROUNDING <= ours.low and ours.high <= high + ROUNDING:
            return cls(published, ours, HOLDS, "")
        if ours.low <= high and low <= ours.high:
            return cls(published, ours, UNTOLD, NEAR_NUMBER)
        return cls(published, ours, FAILS, "")


@final
@dataclass(frozen=True, slots=True)
class Judged:
    """A claim, by how much its test is passed, and what follows.

    ``margin`` is that of the means; its interval is that of Student's t at 95 %, by how
    much the margin varies between seeds. If the interval lies on one side of 0 the
    claim holds, or does not. Otherwise nothing can be told, and so with one run, which
    has no interval. ``why`` is the reason for the verdict, or what its authors should
    know.
    """

    shape: Shape
    margin: Mean | None  # none where the test gives no number
    verdict: Verdict
    why: str

    @property
    def printed_margin(self) -> float | None:
        """By how much the paper's own numbers pass; none where none are known."""
        shape = self.shape
        return float(shape.test(shape.printed)) if shape.printed else None

    @classmethod
    def of(
        cls, shape: Shape, table: Table, by_seed: Sequence[Table], setting: Setting
    ) -> Judged:
        """Apply the test to the means and to each seed."""
        whole, each = shape.test(table), [shape.test(one) for one in by_seed]
        margin = _around(whole, each)
        if shape.apart:
            return cls(shape, margin, APART, shape.apart)
        if untold := reason_at(shape.untold, setting):
            return cls(shape, margin, UNTOLD, untold)
        if any(math.isnan(one) for one in (whole, *each)):
            return cls(shape, None, UNTOLD, NO_TEST)
        if len(each) < 2:
            return cls(shape, margin, UNTOLD, ONE_RUN)
        if margin is None:
            verdict, why = _by_seeds([whole, *each]), SEEDS
        else:
            verdict, why = _by_interval(margin), NEAR
        return cls(shape, margin, verdict, why if verdict == UNTOLD else shape.note)


def _around(whole: float, each: Sequence[float]) -> Mean | None:
    """The margin of the means with the interval between seeds; of numbers alone."""
    if not all(math.isfinite(m) and not _is_bool(m) for m in (whole, *each)):
        return None
    around = Mean.of([float(m) for m in each])
    reach = (around.high - around.low) / 2
    return Mean(float(whole), whole - reach, whole + reach, len(each))


def _by_interval(margin: Mean) -> Verdict:
    if margin.low > ROUNDING:
        return HOLDS
    return FAILS if margin.high < -ROUNDING else UNTOLD


def _by_seeds(margins: Sequence[float]) -> Verdict:
    """What follows where no number tells how far the claim is from its threshold."""
    found = {is_met(margin) for margin in margins}
    if len(found) > 1:
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
    def of(
        cls, recipe: Recipe, runs: Sequence[Run], choices: Choices | None = None
    ) -> Result:
        """Average runs and judge; ``choices`` are what the call named for them."""
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
        measured = list(points.values())
        spaces = recipe.spaces_of(measured)
        setting = Setting(choices or Choices(), measured, spaces)
        return cls(
            recipe,
            [(points[key], means[key]) for key in means],
            texts,
            [
                Compared.of(
                    each,
                    means.get(place(each.point), {}).get(each.measure),
                    setting,
                )
                for each in recipe.published
            ],
            [Judged.of(each, table, by_seed, setting) for each in recipe.shapes],
            math.fsum(run.seconds for run in runs),
        )

    @property
    def held(self) -> str:
        """How many of the claims that count hold, such as ``2 of 3``."""
        known = [each.verdict for each in self.shapes if each.verdict != APART]
        return f"{known.count(HOLDS)} of {len(known)}"

    @property
    def agreed(self) -> str:
        """How many published numbers agree, of those that were measured."""
        known = [
            each.agrees for each in self.compared if each.agrees not in (None, APART)
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
                    "where": each.published.where,
                    "point": dict(each.published.point),
                    "measure": each.published.measure,
                    "paper": each.published.value,
                    "source": each.published.source,
                    "tolerance": each.published.tolerance,
                    "ours": None if each.ours is None else asdict(each.ours),
                    "agrees": each.agrees,
                    "why": each.why,
                }
                for each in self.compared
            ],
            "claims": [
                {
                    "name": each.shape.name,
                    "where": each.shape.where,
                    "claim": each.shape.claim,
                    "how": each.shape.how,
                    "verdict": each.verdict,
                    "why": each.why,
                    "margin": None if each.margin is None else asdict(each.margin),
                    "printed": [
                        {"point": dict(point), "measures": dict(measures)}
                        for point, measures in each.shape.printed
                    ],
                    "printed_margin": each.printed_margin,
                    "source": each.shape.source,
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


def result_of(
    recipe: Recipe,
    found: Sequence[Run] | Exception,
    choices: Choices | None = None,
) -> Result | Exception:
    """What runs say together; else the error that ended them, or that of a claim."""
    if isinstance(found, Exception):
        return found
    try:
        return Result.of(recipe, found, choices)
    except Exception as error:  # of a recipe, which must not end the others
        return error
