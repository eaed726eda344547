"""The plots of the page on speed show what the result files hold."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from benchmarks.pages import speed_page
from mondegreen.report.charts import picture
from mondegreen.report.figures import Axis, Chart, Line

SVG = "{http://www.w3.org/2000/svg}"


def told(drawn: bytes) -> list[str]:
    """Return every text of a drawing, with what its markers tell.

    Not its bytes, which are those of one version of matplotlib.
    """
    return [each.text for each in ET.fromstring(drawn).iter() if each.text]


@pytest.mark.slow("draws")
def test_plots_are_those_of_the_results() -> None:
    for name, chart in speed_page.charts(speed_page.load("growth")).items():
        drawn = picture(chart, for_page=True)
        assert told((speed_page.ASSETS / name).read_bytes()) == told(drawn)


def test_higher_is_higher_and_axes_are_logarithmic() -> None:
    log = Axis("", is_log=True)
    line = Line.exact("a", 0, [(1, 1), (10, 10), (100, 100)])
    root = ET.fromstring(picture(Chart("k", "t", "s", log, log, (line,))))
    places = [
        (float(mark.get("x", "")), float(mark.get("y", "")))
        for mark in root.iter(f"{SVG}use")
    ]
    (x0, y0), (x1, y1), (x2, y2) = places
    assert abs((x1 - x0) - (x2 - x1)) < 0.2
    assert abs((y1 - y0) - (y2 - y1)) < 0.2
    assert y0 > y1 > y2  # SVG counts from the top
