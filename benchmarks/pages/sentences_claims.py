"""What the evidence of sentences was to show, with what was found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from benchmarks.pages.page import Table
from benchmarks.pages.sentences_rows import (
    DEFAULT,
    READERS,
    SETS,
    Row,
    at,
    best_other,
    in_form,
    load,
    rows_of,
)

MODELS: Final = {"embedded": "embedded", "kind": "in-domain"}
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
    "accuracy": "accuracy, trained on originals",
    "trained": "accuracy, trained on releases",
    "cosine": "cosine",
}

SET: Final = "**only when set**"
HOLDS: Final = {True: "yes", False: "**no**", None: "not measured"}

Claim = tuple[str, str, str]


def claims() -> Table:
    """Each claim, what was found, and whether it holds."""
    header = ["claim, at 10 nats", "result", "holds"]
    return Table(header, list(_all(load())), (1, 2))


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
    ratio = clear["type_token_ratio"]
    for model, says in MODELS.items():

        def shown(row: Row, model: str = model) -> str:
            text = row[model]
            return f"{text['perplexity']:,.0f}, {text['type_token_ratio'] / ratio:.2f}"

        def holds(row: Row, model: str = model) -> bool:
            text = row[model]
            is_rich = text["type_token_ratio"] >= DISTINCT * ratio
            return bool(is_rich and text["perplexity"] <= clear["perplexity"])

        least = f"perplexity ≤ {clear['perplexity']:,.0f}"
        claim = f"{least}, distinct words ≥ {DISTINCT:g}"
        yield (
            f"{SETS[data]}, {says}: {claim}",
            *_of_settings(found, data, model, shown, holds),
        )


def _accuracy(found: dict[str, Any], data: str, model: str, least: float) -> Claim:
    return (
        f"{SETS[data]}, {MODELS[model]}: accuracy ≥ {least:g}",
        *_of_settings(
            found,
            data,
            model,
            lambda row: f"{row[model]['accuracy']:.3f}",
            lambda row: bool(row[model]["accuracy"] >= least),
        ),
    )


def _of_settings(
    found: dict[str, Any],
    data: str,
    model: str,
    shown: Callable[[Row], str],
    holds: Callable[[Row], bool],
) -> tuple[str, str]:
    """What the default shows, else the most accurate setting within 10 nats."""
    (default,) = rows_of(found, data, DEFAULT)
    if holds(default):
        return shown(default), HOLDS[True]
    rows = [r for r in rows_of(found, data, "tree") if r["nats"] < NATS and model in r]
    rows = [row for row in rows if holds(row)] or rows
    if not rows:
        return shown(default), HOLDS[False]
    best = max(rows, key=lambda row: float(row[model]["accuracy"]))
    says = f"default {shown(default)}; set for {best['setting']:g}: {shown(best)}"
    return says, SET if holds(best) else HOLDS[False]


def _targets(found: dict[str, Any]) -> Claim:
    rows = found.get("targets", {}).values()
    gaps = [abs(row["reader"] - row["promised"]) for row in rows]
    says = f"success of an attacker within {CLOSE:g} of its target"
    if not gaps:
        return says, "–", HOLDS[None]
    within = sum(gap <= CLOSE for gap in gaps)
    return (
        says,
        f"{within} of {len(gaps)}; farthest {max(gaps):.3f}",
        HOLDS[within == len(gaps)],
    )


def _worst(found: dict[str, Any]) -> Claim:
    rows = [r for data in SETS for r in rows_of(found, data, DEFAULT) if "worst" in r]
    worst = max(row["worst"] for row in rows)
    often = [f"{row['often']:.2f}" for row in rows]
    return (
        f"no content word guessed more often than {WORST:g} under the default",
        f"{worst:.2f}; above {WORST:g}: {min(often)} to {max(often)} of all words",
        HOLDS[worst <= WORST],
    )


def _leads(found: dict[str, Any], key: str, says: str) -> Claim:
    """The decoded tree at or above the others on every data set."""
    ranges = {data: lead(found, data, key) for data in SETS}
    known = {data: ends for data, ends in ranges.items() if ends is not None}
    told = [
        f"{SETS[data]} {low:+.3f} to {high:+.3f}" for data, (low, high) in known.items()
    ]
    return (
        f"tree best of all at a success of {FROM:g} to {TO:g}: {says}",
        "; ".join(told) or "–",
        HOLDS[all(low >= 0 for low, _ in known.values())],
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
