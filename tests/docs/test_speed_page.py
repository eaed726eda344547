"""The plots of the page on speed show what the result files hold."""

from __future__ import annotations

from benchmarks.pages import speed_page
from benchmarks.pages.svg import line_chart


def test_plots_are_those_of_the_results() -> None:
    for name, chart in speed_page.charts(speed_page.load("growth")).items():
        assert (speed_page.ASSETS / name).read_text(encoding="utf-8") == chart


def test_higher_is_higher_and_axes_are_logarithmic() -> None:
    chart = line_chart({"a": [(1, 1), (10, 10), (100, 100)]}, "x", "y")
    (line,) = (part for part in chart.splitlines() if "<polyline" in part)
    places = [
        tuple(map(float, place.split(",")))
        for place in line.partition('points="')[2].partition('"')[0].split()
    ]
    (x0, y0), (x1, y1), (x2, y2) = places
    assert abs((x1 - x0) - (x2 - x1)) < 0.2
    assert abs((y1 - y0) - (y2 - y1)) < 0.2
    assert y0 > y1 > y2  # SVG counts from the top
