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
DISTINCT: Final = 0.7
WORST: Final = 0.6
FROM, TO = 0.2, 0.45
CLOSE: Final = 0.02

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
    for key in ("accuracy", "cosine"):
        for data in SETS:
            yield _lead(found, data, key)


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
    best = max(row[model]["accuracy"] for row in rows)
    own = default[model]["accuracy"]
    return (
        f"{SETS[data]}, {MODELS[model]}: accuracy at least {least:g}",
        f"default {own:.3f}, best setting {best:.3f} "
        f"(clear {found['clear'][data]['accuracy']:.3f})",
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


def _lead(found: dict[str, Any], data: str, key: str) -> Claim:
    gaps = {
        reader: own - other[0]
        for reader in READERS
        if FROM <= reader <= TO
        and (own := at(found, data, "tree", reader, in_form("kind", key))) is not None
        and (other := best_other(found, data, reader, key)) is not None
    }
    says = (
        f"{SETS[data]}: decoded tree at or above all others in {key}, reader "
        f"{FROM:g} to {TO:g}"
    )
    if not gaps:
        return says, "–", None
    low, high = min(gaps.values()), max(gaps.values())
    return (
        says,
        f"{low:+.3f} to {high:+.3f}, from {min(gaps):g} to {max(gaps):g}",
        low >= 0,
    )
