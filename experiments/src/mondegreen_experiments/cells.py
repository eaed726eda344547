"""The numbers of the papers that we have, and where each of them comes from."""

from __future__ import annotations

import csv
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast, final

from mondegreen_experiments.recipe import Point, Source

FILE: Final = Path(__file__).with_name("papers") / "cells.csv"
_TEXTS: Final = ("law", "texts")
_NUMBERS: Final = ("dim", "epsilon", "budget")


@final
@dataclass(frozen=True, slots=True)
class Cell:
    """One number of a paper.

    ``at`` says where it stands in a table, such as ``{"law": "CMP", "epsilon": 6}``.
    ``source`` is not "printed" if we computed it, or read it off a figure.
    """

    paper: str
    where: str
    at: Point
    measure: str
    value: float
    source: Source
    note: str


@functools.cache
def every_cell() -> Sequence[Cell]:
    """Read all numbers, in the order of the file."""
    with FILE.open(encoding="utf-8", newline="") as file:
        return [_cell(row) for row in csv.DictReader(file)]


def find_cells(paper: str, measure: str, where: str = "", **at: Any) -> list[Cell]:
    """Find the numbers of a measure that a paper gives at these places.

    ``where`` is how the name of a table begins.

    >>> [cell.value for cell in find_cells("benchmark", "n_w", law="TEM")]
    [0.1, 99.2]
    """
    return [
        cell
        for cell in every_cell()
        if (cell.paper, cell.measure) == (paper, measure)
        and cell.where.startswith(where)
        and all(cell.at.get(name) == value for name, value in at.items())
    ]


def _cell(row: dict[str, str]) -> Cell:
    at: dict[str, Any] = {name: row[name] for name in _TEXTS if row[name]}
    for name in _NUMBERS:
        if row[name]:
            value = float(row[name])
            at[name] = int(value) if value.is_integer() else value
    source = cast(Source, row["source"])
    fixed = row["paper"], row["where"], at, row["measure"]
    return Cell(*fixed, float(row["value"]), source, row["note"])
