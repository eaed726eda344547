"""Rows of sentences.json, and numbers between them at equal success of a reader."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from benchmarks import machine
from benchmarks.pages.tree_evidence_rows import between

SETS: Final = {
    "reviews": "film reviews",
    "news": "news",
    "tweets": "disaster tweets",
    "questions": "insurance questions",
}
MECHANISMS: Final = {
    "tree": "`tree`",
    "exponential": "`exponential`",
    "tem": "`tem`",
    "calibrated": "`calibrated`",
    "families": "`tree`, families",
}
DEFAULT: Final = "tree, default"
FAMILIES: Final = "families, default"
MORE: Final = {"tree": "tree, 12 nats"}
"""What goes on where a mechanism ends: within 10 nats a tree recovers no more."""
TREES: Final = ("tree", "families")
FORMS: Final = {"raw": "raw", "kind": "decoded"}
READERS: Final = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)

Row = dict[str, Any]
Value = Callable[[Row], float | None]


def load() -> dict[str, Any]:
    """What was measured, with what single words tell in each row."""
    path = machine.RESULTS / "sentences.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    for key, row in found["rows"].items():
        row |= found["told"].get(key, {})
    return found


def samples() -> dict[str, Any]:
    """The thirty sentences, and the leak."""
    path = machine.RESULTS / "sentence_samples.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def rows_of(found: dict[str, Any], data: str, mechanism: str) -> list[Row]:
    """The rows of a mechanism on a data set, by success of the reader."""
    rows = [
        row
        for row in found["rows"].values()
        if (row["data"], row["mechanism"]) == (data, mechanism)
    ]
    return sorted(rows, key=lambda row: float(row["reader"]))


def curve_of(found: dict[str, Any], data: str, mechanism: str) -> list[Row]:
    """The same, and what goes on beyond them."""
    rows = rows_of(found, data, mechanism)
    most = max((float(row["reader"]) for row in rows), default=1.0)
    more = rows_of(found, data, MORE.get(mechanism, ""))
    return rows + [row for row in more if float(row["reader"]) > most]


def in_form(form: str, key: str) -> Value:
    """A number of the raw or the decoded text."""
    return lambda row: row[form].get(key)


def plain(key: str) -> Value:
    """A number of the setting."""
    return lambda row: row.get(key)


def at(
    found: dict[str, Any], data: str, mechanism: str, reader: float, value: Value
) -> float | None:
    """A number where the reader recovers so much; None beyond what was measured."""
    curve = [
        (float(row["reader"]), number)
        for row in curve_of(found, data, mechanism)
        if (number := value(row)) is not None
    ]
    return between(curve, reader)


def best_other(
    found: dict[str, Any], data: str, reader: float, key: str
) -> tuple[float, str] | None:
    """The best of all other mechanisms, raw or decoded, and which one that is."""
    values = [
        (number, f"{name}, {says}")
        for mechanism, name in MECHANISMS.items()
        for form, says in FORMS.items()
        if mechanism not in TREES
        and (number := at(found, data, mechanism, reader, in_form(form, key)))
        is not None
    ]
    return max(values) if values else None
