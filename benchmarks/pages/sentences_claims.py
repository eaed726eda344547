"""What the evidence of sentences was to show, with what was found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from benchmarks.pages.page import Table
from benchmarks.pages.sentences_rows import (
    DEFAULT,
    READERS,
    SETS,
    at,
    best_other,
    in_form,
    load,
    rows_of,
)

MODELS: Final = {"embedded": "embedded model", "kind": "model of the kind"}
WANTED: Final = {
    ("reviews", "kind"): 0.82,
    ("news", "kind"): 0.82,
    ("reviews", "embedded"): 0.68,
    ("news", "embedded"): 0.58,
}
"""Accuracy of a classifier of clear text, at least."""
NATS: Final = 10.01
DISTINCT: Final = 0.7
WORST: Final = 0.6
FROM, TO = 0.2, 0.45
CLOSE: Final = 0.02
LEADS: Final = {
    "accuracy": "accuracy, trained on clear text",
    "trained": "accuracy, trained on releases",
    "cosine": "cosine",
}

Claim = tuple[str, str, bool | None]


def claims() -> Table:
    """Each claim, what was found, and whether it holds."""
    rows = [
        [claim, found, {True: "yes", False: "**no**", None: "not measured"}[holds]]
        for claim, found, holds in _all(load())
    ]
    return Table(["was to be shown, at 10 nats", "found", "holds"], rows, (1, 2))


def _all(found: dict[str, Any]) -> Iterator[Claim]:
    for data in ("reviews", "news"):
        yield from _fluency(found, data)
    for (data, model), least in WANTED.items():
        yield _accuracy(found, data, model, least)
    yield _targets(found)
    yield _worst(found)
    for key, says in LEADS.items():
        yield _leads(found, key, says)


def _fluency(found: dict[str, Any], data: str) -> Iterator[Claim]:
    """Perplexity at most that of clear text, with as many distinct words nearly."""
    clear = found["clear"][data]
    for model, says in MODELS.items():
        (row,) = rows_of(found, data, DEFAULT)
        share = row[model]["type_token_ratio"] / clear["type_token_ratio"]
        yield (
            f"{SETS[data]}, {says}: perplexity at most that of clear text, distinct "
            f"words at least {DISTINCT:g} of it",
            f"{row[model]['perplexity']:,.0f} (clear {clear['perplexity']:,.0f}), "
            f"{share:.2f}",
            row[model]["perplexity"] <= clear["perplexity"] and share >= DISTINCT,
        )


def _accuracy(found: dict[str, Any], data: str, model: str, least: float) -> Claim:
    (default,) = rows_of(found, data, DEFAULT)
    rows = [default, *rows_of(found, data, "tree")]
    rows = [row for row in rows if row["nats"] < NATS]
    best = max(row[model]["accuracy"] for row in rows if model in row)
    own = default[model]["accuracy"]
    also = f", best setting {best:.3f}" if best > own else ""
    return (
        f"{SETS[data]}, {MODELS[model]}: accuracy at least {least:g}",
        f"default {own:.3f}{also} (clear {found['clear'][data]['accuracy']:.3f})",
        own >= least,
    )


def _targets(found: dict[str, Any]) -> Claim:
    rows = found.get("targets", {}).values()
    gaps = [abs(row["reader"] - row["promised"]) for row in rows]
    says = f"a reader's success within {CLOSE:g} of what was promised"
    if not gaps:
        return says, "–", None
    within = sum(gap <= CLOSE for gap in gaps)
    return (
        says,
        f"{within} of {len(gaps)}; farthest {max(gaps):.3f}",
        within == len(gaps),
    )


def _worst(found: dict[str, Any]) -> Claim:
    rows = [r for data in SETS for r in rows_of(found, data, DEFAULT) if "worst" in r]
    worst = max(row["worst"] for row in rows)
    often = [f"{row['often']:.2f}" for row in rows]
    return (
        f"no word of content guessed above {WORST:g} under the default",
        f"{worst:.2f}; above {WORST:g}: {min(often)} to {max(often)} of all words",
        worst <= WORST,
    )


def _leads(found: dict[str, Any], key: str, says: str) -> Claim:
    """The decoded tree at or above the others on every data set."""
    ranges = {data: lead(found, data, key) for data in SETS}
    known = {data: ends for data, ends in ranges.items() if ends is not None}
    told = [
        f"{SETS[data]} {low:+.3f} to {high:+.3f}" for data, (low, high) in known.items()
    ]
    return (
        f"decoded tree at or above all others, reader {FROM:g} to {TO:g}: {says}",
        "; ".join(told) or "–",
        all(low >= 0 for low, _ in known.values()) if len(known) == len(SETS) else None,
    )


def lead(found: dict[str, Any], data: str, key: str) -> tuple[float, float] | None:
    """The least and the largest lead of the decoded tree over the best other."""
    gaps = [
        own - other[0]
        for reader in READERS
        if FROM <= reader <= TO
        and (own := at(found, data, "tree", reader, in_form("kind", key))) is not None
        and (other := best_other(found, data, reader, key)) is not None
    ]
    return (min(gaps), max(gaps)) if gaps else None
