"""The figures of the page on reproductions: a curve a law, as the papers draw them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from benchmarks.pages.reproductions_rows import Row
from mondegreen.report.figures import Axis, Chart, Line, Point

NO_NOISE: Final = "none"
MOST: Final = 8
"""Curves of a figure: more cannot be told apart."""

LABELS: Final = {
    "n_w": "share of runs where a word stays, N_w",
    "e_m": "error of the adversary, E_M",
}
LONGEST: Final = 72


def charts(rows: Sequence[Row]) -> dict[str, Chart]:
    """Figures by file name; a recipe without axes has none."""
    drawn = {}
    for row in rows:
        if row["axes"] and (lines := _lines(row)):
            chart = _chart(row, lines)
            drawn[f"{chart.key}.svg"] = chart
    return drawn


def _chart(row: Row, lines: tuple[Line, ...]) -> Chart:
    x, by, y = row["axes"]
    places = [point.x[0] for line in lines for point in line.points]
    values = [end for line in lines for point in line.points for end in point.y]
    is_share = 0 <= min(values) and max(values) <= 1
    title, said = row["title"], f"{row['paper']}: {LABELS.get(y, y)} by {x}, by {by}."
    return Chart(
        f"reproductions-{row['recipe']}",
        title if len(title) <= LONGEST else f"{title[: LONGEST - 1]}…",
        f"{said} Bands are intervals of 95 % over seeds.",
        Axis(x, is_log=min(places) > 0 and max(places) > 50 * min(places)),
        Axis(LABELS.get(y, y.replace("_", " ")), "share" if is_share else "number"),
        lines,
        _limit(row),
    )


def _lines(row: Row) -> tuple[Line, ...]:
    """A curve for each value of the second axis, in the part of the grid that is drawn.

    Where other names of the points vary too, each of their values has its own curves if
    all of them can be told apart; else the first part with the most points is drawn.
    """
    x, by, y = row["axes"]
    curves: dict[tuple[str, str], list[Point]] = {}
    for each in row["points"]:
        point, mean = each["point"], each["measures"].get(y)
        if mean is None or point.get(by) == NO_NOISE:
            continue
        rest = _rest(row, point)
        ends = mean["low"], mean["high"]
        where = float(point[x]), float(point[x])
        curve = curves.setdefault((str(point[by]), rest), [])
        curve.append(Point(where, ends, estimate=mean["value"]))
    if len(curves) > MOST:
        parts = Counter(rest for _, rest in curves)
        most = parts.most_common(1)[0][0]
        curves = {key: points for key, points in curves.items() if key[1] == most}
    parts = {rest for _, rest in curves}
    names = {key: ", ".join(key) if len(parts) > 1 else key[0] for key in curves}
    return tuple(
        Line(names[key], style, tuple(sorted(points, key=lambda point: point.x)))
        for style, (key, points) in enumerate(curves.items())
    )


def _rest(row: Row, point: Row) -> str:
    """What of a point is neither an axis nor the same everywhere."""
    every = [each["point"] for each in row["points"]]
    varies = [
        name
        for name in point
        if name not in row["axes"] and len({str(each.get(name)) for each in every}) > 1
    ]
    return ", ".join(str(point[name]) for name in varies)


def _limit(row: Row) -> tuple[str, float] | None:
    """What is measured without noise."""
    _, by, y = row["axes"]
    for each in row["points"]:
        if each["point"].get(by) == NO_NOISE and y in each["measures"]:
            return "without noise", float(each["measures"][y]["value"])
    return None
