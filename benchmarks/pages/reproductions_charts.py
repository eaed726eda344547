"""The figures of the page on reproductions: a curve a law, as the papers draw them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from benchmarks.pages.reproductions_rows import NO_NOISE, READER, Row
from mondegreen.report.figures import Axis, Chart, Line, Point

MOST: Final = 8
"""Curves of a figure: more cannot be told apart."""

LABELS: Final = {
    "adaptive": "sentences whose author is named, adaptive adversary",
    "again_us": "microseconds a word, once prepared",
    "again_us_to_cmp": "time of a word, once prepared, over that of CMP",
    "both": "accuracy, trained on releases and asked with releases",
    "budget": "budget of loss",
    "dim": "dimensions of the vectors",
    "e_m": "error of the adversary, E_M",
    "l_m": "loss, L_M",
    "loss": "error rate of the classifier",
    "n_w": "how often a word stays, N_w",
    "n_w_brr": "how often a word stays under BRR",
    "naive_auc": "area under the curve, auditor trained on clear texts",
    "nearest_50": "median distance of the nearest word",
    "puc_50": "composite score PUC, alpha = 0.5",
    "accuracy": "accuracy, trained on releases and asked with releases",
    "reader": "share of words that a reader of whole texts recovers",
    "test_mrr": "mean reciprocal rank (MRR), asked with releases",
    "shadow_naive_auc": "area under the curve, adversary trained on clear texts",
    "unchanged": "share of words that stay",
    "worst": "largest mass beyond the threshold",
}
"""What is written at an axis; else its name."""
LONGEST: Final = 72
SHOWN: Final = {
    "vickrey-lexicon": (
        *("Laplace", "Mahalanobis", "t=0.25", "t=0.5", "t=0.75", "t=1"),
        *("neighbor 3", "printed, t=0.5"),
    )
}
"""Curves of a figure that has too many; all are in the results."""


def charts(rows: Sequence[Row]) -> dict[str, Chart]:
    """Figures by file name; a recipe without axes has none."""
    drawn = {}
    for row in rows:
        lines, part = _lines(row) if row["axes"] else ((), "")
        if lines:
            chart = _chart(row, lines, part)
            drawn[f"{chart.key}.svg"] = chart
    return drawn


def _chart(row: Row, lines: tuple[Line, ...], part: str) -> Chart:
    x, by, y = row["axes"]
    across = LABELS.get(x, x.replace("_", " ")) + (f" ({part})" if part else "")
    places = [point.x[0] for line in lines for point in line.points]
    title, said = row["title"], f"{row['paper']}: {LABELS.get(y, y)} by {x}, by {by}."
    return Chart(
        f"reproductions-{row['recipe']}",
        title if len(title) <= LONGEST else f"{title[: LONGEST - 1]}…",
        f"{said} Bands are intervals of 95 % over seeds.",
        Axis(across, is_log=min(places) > 0 and max(places) > 50 * min(places)),
        Axis(
            LABELS.get(y, y.replace("_", " ")),
            "share" if y in row["shares"] else "number",
        ),
        lines,
        _limit(row),
    )


def _lines(row: Row) -> tuple[tuple[Line, ...], str]:
    """A curve for each value of the second axis, and which part of the grid is drawn.

    Where other names of the points vary too, each of their values has its own curves if
    all of them can be told apart; else the first part with the most points is drawn.
    """
    x, by, y = row["axes"]
    curves: dict[tuple[str, str], list[Point]] = {}
    for each in row["points"]:
        point, mean, place = each["point"], each["measures"].get(y), _value(each, x)
        if mean is None or place is None or not _is_shown(row, point):
            continue
        ends = mean["low"], mean["high"]
        found = each["measures"].get("epsilon", {"value": place})
        epsilon = point.get("epsilon", found["value"])
        key = _name(by, point[by]), _rest(row, point)
        curve = curves.setdefault(key, [])
        known = Point((place, place), ends, float(epsilon), estimate=mean["value"])
        curve.append(known)
    part = ""
    if len(curves) > MOST:
        parts = Counter(rest for _, rest in curves)
        part = max(parts, key=lambda rest: (READER in rest, parts[rest]))
        curves = {key: points for key, points in curves.items() if key[1] == part}
    # What goes with the second axis, value by value, need not be told.
    several = len(curves) > len({value for value, _ in curves})
    lines = tuple(
        Line(
            ", ".join(filter(None, key)) if several else key[0],
            style,
            tuple(sorted(points, key=_epsilon)),
        )
        for style, (key, points) in enumerate(curves.items())
    )
    return lines, part


def _value(each: Row, name: str) -> float | None:
    """Where a point lies along an axis, which may be what was measured there."""
    if name in each["point"]:
        value = each["point"][name]
        return None if isinstance(value, str) else float(value)
    found = each["measures"].get(name)
    return None if found is None else float(found["value"])


def _epsilon(point: Point) -> float:
    return point.epsilon or 0.0


def _rest(row: Row, point: Row) -> str:
    """What of a point is neither along the curve nor the same everywhere.

    Numbers are left out where words alone tell all these parts of the grid apart, and
    so is how a point was chosen where it lies at what was measured there.
    """
    every = [each["point"] for each in row["points"]]
    varies = [
        name
        for name in point
        if name not in (*row["axes"], "epsilon")
        and (row["axes"][0] in point or name not in ("by", "level"))
        and len({str(each.get(name)) for each in every}) > 1
    ]
    words = [name for name in varies if isinstance(point[name], str)]
    whole, short = (
        {tuple(str(each.get(name)) for name in names) for each in every}
        for names in (varies, words)
    )
    enough = words if len(whole) == len(short) else varies
    return ", ".join(_name(name, point[name]) for name in enough)


def _name(name: str, value: object) -> str:
    """Write a value for a legend: a number by itself tells nobody what it is of."""
    return f"{name} {value}" if str(value).replace(".", "").isdigit() else str(value)


def _is_shown(row: Row, point: Row) -> bool:
    some = SHOWN.get(row["recipe"])
    return not _is_clear(row, point) and (not some or point[row["axes"][1]] in some)


def _is_clear(row: Row, point: Row) -> bool:
    return NO_NOISE in (point.get(row["axes"][1]), point.get("law"))


def _limit(row: Row) -> tuple[str, float] | None:
    """What is measured without noise, where that is one number for all curves."""
    y = row["axes"][2]
    found = {
        float(each["measures"][y]["value"])
        for each in row["points"]
        if _is_clear(row, each["point"]) and y in each["measures"]
    }
    return ("without noise", found.pop()) if len(found) == 1 else None
