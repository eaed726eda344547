"""Claims about mechanisms side by side, as functions of a table of means."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from mondegreen_experiments.recipe import Table


def by_law(table: Table, name: str, **fixed: Any) -> dict[str, float]:
    """A measure by the ``law`` of its point, where the rest of the point is as said.

    >>> table = [({"law": "a", "e": 1}, {"n": 0.2}), ({"law": "b", "e": 1}, {})]
    >>> by_law(table, "n", e=1)
    {'a': 0.2}
    """
    return {
        str(point["law"]): measured[name]
        for point, measured in table
        if name in measured
        and all(point[each] == value for each, value in fixed.items())
    }


def spread(values: Mapping[str, float]) -> float:
    """How far the largest is above the least; 0 where there is none.

    >>> spread({"a": 0.25, "b": 0.5, "c": 0.75})
    0.5
    """
    found = values.values()
    return max(found, default=0.0) - min(found, default=0.0)


def reversals(
    before: Mapping[str, float], after: Mapping[str, float], slack: float
) -> Sequence[tuple[str, str]]:
    """Pairs whose first is clearly above before, and clearly below after.

    >>> reversals({"a": 0.8, "b": 0.6, "c": 0.7}, {"a": 0.5, "b": 0.7}, slack=0.1)
    [('a', 'b')]
    """
    both = [name for name in before if name in after]
    return [
        (a, b)
        for a, b in itertools.permutations(both, 2)
        if before[a] > before[b] + slack and after[b] > after[a] + slack
    ]
