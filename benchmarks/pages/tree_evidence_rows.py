"""Rows of tree_evidence.json: which there are, and numbers between them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from benchmarks import machine
from benchmarks.measure.trees.tree_evidence_plan import FORESTS, GRIDS, PLAIN
from benchmarks.measure.trees.tree_evidence_plan import SAMPLED as LEARNT

NAMES: Final = {
    "imdb": "film reviews",
    "ag_news": "news",
    "disaster_tweets": "disaster tweets",
    "insuranceqa_questions": "insurance questions",
    "imdb, 3,000 texts": "film reviews, part",
    "ag_news, 4,000 texts": "news, part",
}
TREES: Final = (*FORESTS, PLAIN)
CLOSED: Final = tuple(GRIDS)
SAMPLED: Final = tuple(LEARNT)
MECHANISMS: Final = (*TREES, *CLOSED, *SAMPLED)

Row = dict[str, Any]


def load() -> dict[str, Any]:
    """The results."""
    found: dict[str, Any] = json.loads(
        (machine.RESULTS / "tree_evidence.json").read_text()
    )
    return found


def attack(found: dict[str, Any], row: Row) -> float:
    """The success of the guess, or what it is at least."""
    if "attack" in row:
        return float(row["attack"])
    law = found["laws"].get(f"{row['mechanism']}|{row['setting']:g}")
    return float(row["attack_at_least"] if law is None else law[row["data"]])


def rows_of(found: dict[str, Any], data: str, name: str) -> list[Row]:
    """The rows of a mechanism on a data set, by attack."""
    rows = [
        row
        for row in found["rows"].values()
        if (row["data"], row["mechanism"]) == (data, name)
    ]
    return sorted(rows, key=lambda row: attack(found, row))


def between(curve: Sequence[tuple[float, float]], target: float) -> float | None:
    """A number at an attack, between its nearest ones; None beyond them."""
    if not curve or not min(curve)[0] <= target <= max(curve)[0]:
        return None
    return float(np.interp(target, *zip(*sorted(curve), strict=True)))


def at(found: dict[str, Any], rows: list[Row], target: float, key: str) -> float | None:
    """A number of a mechanism at an attack, between its nearest settings."""
    return between([(attack(found, row), row[key]) for row in rows], target)


def clear_of(found: dict[str, Any], data: str) -> Row | None:
    """The row of the texts themselves."""
    row: Row | None = found["rows"].get(f"{data}|clear|0")
    return row


def measured_at(found: dict[str, Any], row: Row) -> Row:
    """The row that was measured at the setting of a contextual attack."""
    key = f"{row['data']}|{row['mechanism']}|{row['setting']:g}"
    known: Row = found["rows"].get(key, row)
    return known
