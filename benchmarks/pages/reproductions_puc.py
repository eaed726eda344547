"""The benchmark's composite PUC by the weight of accuracy: every release, ranked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from benchmarks.pages.page import Table
from benchmarks.pages.reproductions_rows import NO_NOISE, Row, ours
from mondegreen_experiments.papers.benchmark.scores import ALPHAS

NAME: Final = "benchmark-scores"
ABSENT: Final = "Not measured yet.\n"
CLEAR: Final = "without noise"
DIM: Final = 50
"""In these dimensions all mechanisms are measured, at either scale."""

Releases = dict[str, Row]
"""Measures by the mechanism and epsilon of a release."""


def puc_by_alpha(rows: Sequence[Row]) -> str:
    """Say what is best at each alpha, then rank all releases of each kind of texts."""
    row = next((each for each in rows if each["recipe"] == NAME), None)
    if row is None:
        return ABSENT
    parts = []
    for texts in dict.fromkeys(each["point"]["texts"] for each in row["points"]):
        found = _releases(row, texts)
        ranked = sorted(found, key=lambda name: -found[name]["puc_50"]["value"])
        places = {puc: _places(found, puc) for puc in ALPHAS}
        lines = [
            [
                name,
                *(f"{places[puc][name]}: {ours(found[name][puc])}" for puc in ALPHAS),
            ]
            for name in ranked
        ]
        header = [texts, *(f"place: PUC, alpha {alpha:g}" for alpha in ALPHAS.values())]
        parts += [f"{_best(found, texts)}\n", str(Table(header, lines))]
    return "\n".join(parts)


def _releases(row: Row, texts: str) -> Releases:
    found = {}
    for each in row["points"]:
        point = each["point"]
        if (point["texts"], point["dim"]) == (texts, DIM):
            name = f"{point['law']}, epsilon {point['epsilon']:g}"
            found[CLEAR if point["law"] == NO_NOISE else name] = each["measures"]
    return found


def _places(found: Releases, puc: str) -> dict[str, int]:
    ranked = sorted(found, key=lambda name: -found[name][puc]["value"])
    return {name: place for place, name in enumerate(ranked, 1)}


def _best(found: Releases, texts: str) -> str:
    """The best release at each alpha, and how many reach into its interval."""
    said = []
    for puc, alpha in ALPHAS.items():
        first = min(found, key=_places(found, puc).__getitem__)
        low = found[first][puc]["low"]
        like = sum(each[puc]["high"] >= low for each in found.values()) - 1
        said.append(
            f"at alpha {alpha:g} {first} ({like} others reach into its interval)"
        )
    return f"Best on {texts}: {'; '.join(said)}."
