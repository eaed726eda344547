"""All mechanisms at equal success of a reader: the headline of the reproductions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from benchmarks.pages.page import Table
from benchmarks.pages.reproductions_rows import Row, ours
from mondegreen.experiments.recipe import point_key
from mondegreen.wording import figure

NAME: Final = "benchmark-equal"
READER: Final = "reader"
"""What the value of a point holds where the reader's success is what is equal."""

ABSENT: Final = "Not measured yet.\n"

Groups = dict[str, dict[str, dict[float, Row]]]
"""Means of what is drawn, by the texts, the mechanism and the level."""


def equal_reader(rows: Sequence[Row]) -> str:
    """A table for each kind of texts: mechanisms by levels; the best ones first."""
    row = _row(rows)
    if row is None:
        return ABSENT
    parts = [f"`{_measure(row)}` of each mechanism where a reader recovers that share "
             "of the words; – where a mechanism does not reach it.\n"]  # fmt: skip
    for group, laws in _groups(row).items():
        levels = sorted({level for found in laws.values() for level in found})
        middle = levels[len(levels) // 2]
        ranked = sorted(laws, key=lambda law: -_value(laws[law].get(middle)))
        lines = [
            [law, *(_shown(laws[law].get(level)) for level in levels)] for law in ranked
        ]
        header = ["mechanism", *map(figure, levels)]
        parts.append(
            f"{group}:\n\n{Table(header, lines)}"
            if group
            else str(Table(header, lines))
        )
    return "\n".join(parts)


def equal_sentence(rows: Sequence[Row]) -> str:
    """Which mechanism keeps most where a reader recovers equally much."""
    row = _row(rows)
    if row is None:
        return ""
    said = [
        f"{' or '.join(best)} ({group or 'all texts'}, level {figure(level)})"
        for group, level, best in _best(_groups(row))
    ]
    return (
        "At equal success of a reader, most is kept of "
        f"`{_measure(row)}` by {'; '.join(said)}; mechanisms that are named together "
        "cannot be told apart."
    )


def _best(groups: Groups) -> Iterator[tuple[str, float, list[str]]]:
    """The best mechanism at the middle level, with those within its interval."""
    for group, laws in groups.items():
        levels = sorted({level for found in laws.values() for level in found})
        middle = levels[len(levels) // 2]
        known = {law: found[middle] for law, found in laws.items() if middle in found}
        first = max(known.values(), key=_value)
        best = [law for law, mean in known.items() if mean["high"] >= first["low"]]
        yield group, middle, sorted(best, key=lambda law: -_value(known[law]))


def _row(rows: Sequence[Row]) -> Row | None:
    return next((row for row in rows if row["recipe"] == NAME and _groups(row)), None)


def _measure(row: Row) -> str:
    return str(row["axes"][2])


def _groups(row: Row) -> Groups:
    """What was measured at equal success of the reader; without noise is no level."""
    groups: Groups = {}
    for each in row["points"]:
        point, mean = each["point"], each["measures"].get(_measure(row))
        if mean is None or "level" not in point or not _is_of_reader(point):
            continue
        rest = {
            name: value
            for name, value in point.items()
            if name not in ("law", "level") and READER not in str(value)
            if len({str(p["point"].get(name)) for p in row["points"]}) > 1
        }
        laws = groups.setdefault(point_key(rest), {})
        laws.setdefault(str(point["law"]), {})[float(point["level"])] = mean
    return groups


def _is_of_reader(point: Mapping[str, object]) -> bool:
    return any(READER in str(value) for value in point.values())


def _value(mean: Row | None) -> float:
    return float("-inf") if mean is None else float(mean["value"])


def _shown(mean: Row | None) -> str:
    return "–" if mean is None else ours(mean)
