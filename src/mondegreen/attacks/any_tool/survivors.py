"""Units that stand unchanged in a release: nobody has to guess them."""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final, final

import numpy as np

from mondegreen.attacks.any_tool.rows import (
    DELETED,
    MASKED,
    MOVED,
    REPLACED,
    STANDS,
    Row,
)
from mondegreen.attacks.attack import Attack, by_texts, count_rows, wilson
from mondegreen.scores.interval import Ends

RISKIEST: Final = 20
_CLUSTERS: Final = 2048
"""An interval takes so many texts or more; neighbors are joined where more are."""

_NAMES: Final = {
    STANDS: "unchanged",
    MOVED: "elsewhere",
    REPLACED: "replaced",
    MASKED: "masked",
    DELETED: "deleted",
}


@final
@dataclass(slots=True)
class Shares:
    """Hits and counts of texts, joined to at most 2,048 clusters: bounded memory."""

    hits: list[float] = field(default_factory=list)
    counts: list[float] = field(default_factory=list)
    _size: int = 1
    _open: int = 0

    def add(self, hits: float, count: float) -> None:
        if self._open == 0:
            if len(self.hits) == _CLUSTERS:
                for sums in (self.hits, self.counts):
                    sums[:] = [
                        a + b for a, b in zip(sums[::2], sums[1::2], strict=True)
                    ]
                self._size *= 2
            self.hits.append(0.0)
            self.counts.append(0.0)
        self.hits[-1] += hits
        self.counts[-1] += count
        self._open = (self._open + 1) % self._size

    @property
    def total(self) -> int:
        return int(sum(self.counts))

    @property
    def value(self) -> float | None:
        total = sum(self.counts)
        return sum(self.hits) / total if total else None

    def ends(self) -> Ends | tuple[None, None]:
        """Bound the share, 95 %, where the units of a text belong together."""
        if not self.total:
            return None, None
        return by_texts(np.array(self.hits), np.array(self.counts))


@final
@dataclass(slots=True)
class Survivors:
    """Counts units that are left, over any number of rows, in bounded memory."""

    unit: str  # "sensitive words" or "annotated units"
    _shares: Shares = field(default_factory=Shares)
    _parts: Shares = field(default_factory=Shares)
    _kinds: dict[str, list[int]] = field(default_factory=dict)
    _classes: dict[str, list[int]] = field(default_factory=dict)
    _fates: Counter[int] = field(default_factory=Counter)
    _worst: list[tuple[int, int, int]] = field(default_factory=list)
    texts: int = 0
    words: int = 0

    def add(self, row: Row) -> None:
        self.texts += 1
        self.words += len(row.words)
        left = 0
        for unit in row.units:
            is_left = row.is_left(unit)
            left += is_left
            tally = self._kinds.setdefault(unit.kind, [0, 0])
            tally[0] += is_left
            tally[1] += 1
        self._fates.update(row.fate)
        for name, fate in zip(row.classes, row.fate, strict=True):
            tally = self._classes.setdefault(name, [0, 0])
            tally[0] += fate <= MOVED
            tally[1] += 1
        self._shares.add(left, len(row.units))
        self._parts.add(sum(map(row.is_partly_left, row.units)), len(row.units))
        if left:
            entry = (left, -row.number, len(row.units))
            push = heapq.heappush if len(self._worst) < RISKIEST else heapq.heappushpop
            push(self._worst, entry)

    def attack_parts(self) -> Attack:
        """Compute the share of units that are left, or have a sensitive word left."""
        what = f"counts {self.unit} with a sensitive word in it"
        return self._make("partly_left", what, self._parts)

    def attack(self, chance: float | None) -> Attack:
        """Tell which share of units is left.

        ``chance`` is the share that the most frequent unit has, which is guessed
        without a release.
        """
        details = {
            "by_kind": _tallies(self._kinds),
            "by_class": _tallies(self._classes),
            "words": {_NAMES[f]: self._fates[f] for f in sorted(_NAMES)},
            "riskiest_rows": [
                {"row": -number, "left": left, "units": units}
                for left, number, units in sorted(self._worst, reverse=True)
            ],
        }
        what = f"counts {self.unit} in it"
        return self._make("survivors", what, self._shares, chance, details)

    def _make(
        self,
        name: str,
        what: str,
        shares: Shares,
        chance: float | None = None,
        details: dict[str, Any] | None = None,
    ) -> Attack:
        about, unit = f"reads the release and {what}", f"share of {self.unit}"
        low, high = shares.ends()
        return Attack(
            name,
            about,
            shares.value,
            low,
            high,
            chance,
            shares.total,
            unit,
            details or {},
        )


@final
@dataclass(slots=True)
class UnchangedRows:
    """Counts rows with units that a release shows as they are, in bounded memory."""

    unit: str
    _count: int = 0
    _with_units: int = 0
    _without: int = 0
    _most: list[tuple[int, int]] = field(default_factory=list)

    def add(self, row: Row) -> None:
        self._with_units += bool(row.units)
        self._without += not row.units
        if row.is_unchanged:
            self._count += 1
            entry = (len(row.units), -row.number)
            push = heapq.heappush if len(self._most) < RISKIEST else heapq.heappushpop
            push(self._most, entry)

    def attack(self) -> Attack:
        """Tell how many rows are unchanged: of this release, so without an interval.

        ``rows`` lists those with the most units. A tool that misses the only unit of a
        row leaves the row unchanged; many units in one row were never looked at.
        """
        value = float(self._count) if self._with_units else None
        return count_rows(
            "unchanged_rows",
            f"counts rows that show all of their {self.unit} and 80 % of all words",
            value,
            self._with_units,
            {
                "share": self._count / self._with_units if self._with_units else None,
                "rows_without_units": self._without,
                "rows": [
                    {"row": -number, "units": units}
                    for units, number in sorted(self._most, reverse=True)
                ],
            },
        )


def _tallies(counts: dict[str, list[int]]) -> dict[str, Any]:
    """Give the share left of each kind, with an interval, the largest count first."""
    found = {}
    for name, (left, count) in sorted(counts.items(), key=lambda item: -item[1][1]):
        low, high = wilson(left, count)
        found[name] = {"value": left / count, "low": low, "high": high, "n": count}
    return found
