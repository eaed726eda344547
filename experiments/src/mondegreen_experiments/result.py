"""What the runs of a recipe say together, beside what was published."""

from __future__ import annotations

import inspect
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, final

from mondegreen_experiments.kept import Run
from mondegreen_experiments.recipe import Point, Published, Recipe, place


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
    def agrees(self) -> bool | None:
        """Whether our interval, widened by the tolerance, holds the number."""
        if self.ours is None:
            return None
        reach, value = self.published.tolerance, self.published.value
        return self.ours.low - reach <= value <= self.ours.high + reach


@final
@dataclass(frozen=True, slots=True)
class Result:
    """Means at each point, in the order of the grid, and what they are compared with.

    ``shapes`` says of each claim in words whether it holds at the points measured;
    ``texts`` what the first run of a point gave in words, by :func:`place`.
    """

    recipe: Recipe
    means: Sequence[tuple[Point, Mapping[str, Mean]]]
    texts: Mapping[str, Mapping[str, str]]
    compared: Sequence[Compared]
    shapes: Sequence[tuple[str, str, bool]]
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
        return cls(
            recipe,
            [(points[key], means[key]) for key in means],
            texts,
            [
                Compared(each, means.get(place(each.point), {}).get(each.measure))
                for each in recipe.published
            ],
            [(each.where, each.claim, each.holds(table)) for each in recipe.shapes],
            math.fsum(run.seconds for run in runs),
        )

    @property
    def held(self) -> str:
        """How many claims hold, such as ``2 of 3``."""
        return f"{sum(holds for *_, holds in self.shapes)} of {len(self.shapes)}"

    @property
    def agreed(self) -> str:
        """How many published numbers agree, of those that were measured."""
        known = [each.agrees for each in self.compared if each.agrees is not None]
        return f"{sum(known)} of {len(known)}"

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
                {"where": where, "claim": claim, "holds": holds}
                for where, claim, holds in self.shapes
            ],
        }


def result_of(recipe: Recipe, found: Sequence[Run] | Exception) -> Result | Exception:
    """What runs say together; else the error that ended them, or that of a claim."""
    if isinstance(found, Exception):
        return found
    try:
        return Result.of(recipe, found)
    except Exception as error:  # of a recipe, which must not end the others
        return error
