"""A recipe with other seeds, or at other values of epsilon, as a call asks for."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from mondegreen.errors import ConfigurationError
from mondegreen_experiments.recipe import (
    Point,
    Recipe,
    Scale,
    Shape,
    Table,
    is_met,
    place,
)


def adapted(
    recipe: Recipe, scale: Scale, seeds: int | None, epsilons: Sequence[float]
) -> Recipe:
    """The same recipe, for one scale, with so many seeds and these epsilons.

    Points without noise stay. A claim whose test needs points that are not there cannot
    be told: see :func:`_if_told`.

    Raises
    ------
    ConfigurationError
        If epsilons are named and no point has one.
    """
    found = replace(
        recipe,
        points={scale: recipe.points[scale]},
        seeds={scale: seeds or recipe.seeds[scale]},
    )
    if not epsilons:
        return found
    if not all(math.isfinite(each) and each > 0 for each in epsilons):
        raise ConfigurationError("--epsilon must be a number above 0")
    if not any(point.get("epsilon") for point in recipe.points[scale]):
        raise ConfigurationError(f"{recipe.name} has no epsilon to set")
    return replace(
        found,
        points={scale: _at(recipe.points[scale], epsilons)},
        shapes=[replace(each, test=_if_told(each)) for each in recipe.shapes],
    )


def _at(points: Sequence[Point], epsilons: Sequence[float]) -> list[Point]:
    """Each point at each epsilon, once; those without noise have epsilon 0."""
    found: dict[str, Point] = {}
    for point in points:
        own = epsilons if point.get("epsilon") else (point.get("epsilon"),)
        for epsilon in own:
            new = point if epsilon is None else {**point, "epsilon": epsilon}
            found.setdefault(place(new), new)
    return list(found.values())


def _if_told(shape: Shape) -> Callable[[Table], float]:
    """The test of a claim, and not a number where these points cannot tell.

    A test that finds no point to compare raises, or gives an infinite margin.
    """

    def test(table: Table) -> float:
        try:
            margin = shape.test(table)
        except (LookupError, ValueError, ArithmeticError, StopIteration):
            return math.nan
        if isinstance(margin, float) and not math.isfinite(margin):
            return math.nan
        return float(is_met(margin)) - 0.5 if isinstance(margin, bool) else margin

    return test
