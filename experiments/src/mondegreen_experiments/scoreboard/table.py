"""The table of the scoreboard: a row for each tool, the best of each column in bold."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, final

from mondegreen_experiments.scoreboard.measure import BESIDE, IN
from mondegreen_experiments.scoreboard.sets import ANNOTATED, SETS
from mondegreen_experiments.scoreboard.tools import TOOLS

Cells: TypeAlias = Mapping[str, Mapping[str, float]]
"""What one tool got: by set, the measures."""

Goal: TypeAlias = Literal["least", "most"]

DASH: Final = "–"
ALL: Final = "all sets"


@final
@dataclass(frozen=True, slots=True)
class Column:
    """A column: one measure, on some sets, and whether less or more of it is better.

    Several sets give their mean. Its interval is that of independent sets: the root of
    the sum of the squared half widths, over their number.
    """

    title: str
    measure: str
    sets: Sequence[str]
    goal: Goal
    digits: int = 2


def _with_use(use: str) -> tuple[str, ...]:
    return tuple(name for name, each in SETS.items() if each.use == use)


COLUMNS: Final = (
    Column("units left", "survivors", ANNOTATED, "least"),
    Column("reader", "reader", _with_use("classes"), "least"),
    Column("linkage", "linkage", tuple(SETS), "least"),
    Column("classes", "accuracy", _with_use("classes"), "most"),
    Column("intents", "accuracy", _with_use("intents"), "most"),
    Column("retrieval", "retrieval", _with_use("retrieval"), "most"),
    Column("other words kept", "others", tuple(SETS), "most"),
    Column("speed", "speed", (ALL,), "most"),
)


def choose_columns(name: str) -> list[Column]:
    """Give the columns of one set."""
    found = {each.measure: each for each in COLUMNS if each.measure != "speed"}
    found["accuracy"] = dataclasses.replace(  # of classes or of intents
        found["accuracy"], title="accuracy"
    )
    return [dataclasses.replace(each, sets=[name]) for each in found.values()]


@final
@dataclass(frozen=True, slots=True)
class Cell:
    """A value with its interval; speeds of one run have none."""

    value: float
    low: float | None
    high: float | None

    def write(self, *, bold: bool) -> str:
        """Write as ``0.12 [0.10, 0.14]``; three figures of what is no share."""
        if self.low is None or self.high is None:
            shown = f"{self.value:.3g}" if self.value < 1000 else f"{self.value:.0f}"
            return f"**{shown}**" if bold else shown
        shown = f"{self.value:.2f}"
        ends = f"[{self.low:.2f}, {self.high:.2f}]"
        return f"**{shown}** {ends}" if bold else f"{shown} {ends}"


def compute_cell(column: Column, cells: Cells) -> Cell | None:
    """Find the value of a tool; None where it was not measured on all sets."""
    found = [cells.get(name, {}) for name in column.sets]
    values = [each.get(column.measure) for each in found]
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    if column.measure == "speed":
        return Cell(known[0], None, None)
    mean = sum(known) / len(known)
    below, above = (
        math.hypot(
            *(each[column.measure] - each[f"{column.measure} low"] for each in found)
        ),
        math.hypot(
            *(each[f"{column.measure} high"] - each[column.measure] for each in found)
        ),
    )
    low, high = mean - below / len(known), mean + above / len(known)
    return Cell(mean, max(0.0, low), min(1.0, high))


def find_best(column: Column, board: Mapping[str, Cells]) -> frozenset[str]:
    """Name the tools with the best value, controls aside; several where they are equal.

    Values are compared as they are printed.
    """
    found = {
        name: round(cell.value, column.digits)
        for name, cells in board.items()
        if not is_control(name) and (cell := compute_cell(column, cells)) is not None
        if not (column.measure == "speed" and name == BESIDE)
    }
    if not found:
        return frozenset()
    best = min(found.values()) if column.goal == "least" else max(found.values())
    return frozenset(name for name, value in found.items() if value == best)


def is_control(name: str) -> bool:
    """Whether a tool is a control."""
    return name in TOOLS and TOOLS[name].kind == "control"


def get_title(name: str) -> str:
    """Give the title of a tool; one that was added has its own name."""
    return TOOLS[name].title if name in TOOLS else name


def sort_points(
    points: Sequence[Mapping[str, Any]],
) -> dict[str, dict[str, dict[str, float]]]:
    """Sort what was measured by tool and set.

    A point has ``point``, where it is on the grid, ``values`` and ``texts``.
    What a tool got on all sets together is under the name ``ALL``.
    """
    board: dict[str, dict[str, dict[str, float]]] = {}
    for each in points:
        cells = board.setdefault(each["point"]["tool"], {})
        for name, value in each["values"].items():
            place, _, measure = name.rpartition(IN)
            cells.setdefault(place or ALL, {})[measure] = value
    return {
        name: board[name]
        for name in (*TOOLS, *(each for each in board if each not in TOOLS))
        if name in board
    }


def list_promises(points: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Give what each tool promises."""
    return {each["point"]["tool"]: each["texts"]["nats"] for each in points}


def write_rows(
    board: Mapping[str, Cells],
    columns: Sequence[Column],
    promises: Mapping[str, str],
) -> list[list[str]]:
    """Write the rows: the tool, each column, and what it promises."""
    best = [find_best(column, board) for column in columns]
    rows = []
    for name, cells in board.items():
        row = [get_title(name)]
        for column, winners in zip(columns, best, strict=True):
            cell = compute_cell(column, cells)
            row.append(DASH if cell is None else cell.write(bold=name in winners))
        rows.append([*row, promises.get(name, DASH)])
    return rows


def drop_empty(board: Mapping[str, Cells], columns: Sequence[Column]) -> list[Column]:
    """Leave out the columns that no tool has a value in."""
    return [
        column
        for column in columns
        if any(compute_cell(column, cells) is not None for cells in board.values())
    ]


def list_sets(board: Mapping[str, Cells]) -> Collection[str]:
    """Name the sets that were measured, in their order."""
    return dict.fromkeys(
        name for cells in board.values() for name in cells if name != ALL
    )
