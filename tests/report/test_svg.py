"""Drawings are valid, named for screen readers, and legible to every eye."""

import itertools
import xml.etree.ElementTree as ET

import pytest
from studies import measurement, study

from mondegreen.report.chart import Axis, Chart, Line, Point
from mondegreen.report.figures import figures
from mondegreen.report.palette import DARK, INK, LIGHT, MARKERS, marker, style_of
from mondegreen.report.svg.element import svg

NS = "{http://www.w3.org/2000/svg}"
FIGURES = figures(study())


@pytest.mark.parametrize("is_file", [False, True])
@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.key)
def test_a_drawing_is_valid_and_has_a_name_and_a_description(figure, is_file):
    root = ET.fromstring(svg(figure, is_file=is_file))
    assert root.get("role") == "img"
    named = {child.get("id"): child.text for child in root if child.get("id")}
    assert [named[key] for key in root.get("aria-labelledby").split()] == [
        figure.title,
        figure.says,
    ]


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.key)
def test_a_file_needs_no_style_sheet(figure):
    for element in ET.fromstring(svg(figure, is_file=True)).iter():
        kind = element.tag.removeprefix(NS)
        if kind in ("path", "rect", "circle"):
            assert element.get("fill") or element.get("stroke")
        assert "var(" not in "".join(element.attrib.values())


def chart_of(*lines, low=0.0, high=1.0):
    axis = Axis("x", "number", False, low, high)
    return Chart("k", "t", "s", axis, axis, lines)


def test_points_lie_where_the_axes_say():
    corners = (Point(1, (0.0, 0.0), (0.0, 0.0)), Point(2, (1.0, 1.0), (1.0, 1.0)))
    root = ET.fromstring(svg(chart_of(Line("a", 0, corners)), 480, 300))
    (line,) = [
        element.get("d")
        for element in root.iter(f"{NS}path")
        if element.get("class") == "stroke"
    ]
    assert line == "M62.0 254.0L454.0 30.0"


def test_an_interval_is_a_band_and_an_exact_value_has_none():
    def bands(low, high):
        points = tuple(Point(x, (x, x), (low, high)) for x in (0.2, 0.8))
        drawn = svg(chart_of(Line("a", 0, points)))
        return drawn.count('fill-opacity=".2"')

    assert bands(0.4, 0.6) == 1
    assert bands(0.5, 0.5) == 0


def test_what_is_uncertain_both_ways_gets_a_box_and_no_line():
    points = (Point(1, (0.25, 0.5), (0.25, 0.75)), Point(2, (0.6, 0.7), (0.4, 0.6)))
    root = ET.fromstring(svg(chart_of(Line("a", 0, points)), 488, 300))
    box, _ = root.iter(f"{NS}rect")
    assert [float(box.get(key)) for key in ("x", "y", "width", "height")] == [
        162.0, 86.0, 100.0, 112.0,
    ]  # fmt: skip
    assert not [e for e in root.iter(f"{NS}path") if e.get("class") == "stroke"]


def test_the_middle_of_an_interval_is_not_drawn_as_a_line():
    points = tuple(Point(x, (x, x), (0.25, 0.75)) for x in (0.0, 1.0))
    drawn = svg(chart_of(Line("a", 0, points)), 488, 300)
    assert 'd="M62.0 198.0L462.0 198.0"' in drawn
    assert 'd="M62.0 86.0L462.0 86.0"' in drawn
    assert drawn.count('class="stroke"') == 2


def test_values_beyond_the_axis_stay_on_the_drawing():
    points = (Point(1, (-5.0, -5.0), (9.0, 9.0)),)
    assert 'd="M57.8 30.0' in svg(chart_of(Line("a", 0, points)))


def test_the_chosen_setting_has_a_ring():
    assert svg(FIGURES[0]).count(">chosen</text>") == 1
    assert ">chosen</text>" not in svg(figures(study(chosen=None))[0])


def test_names_in_drawings_are_text():
    name = "<i>&\"'\x00"
    found = figures(study(measurements=(measurement(name),), chosen=None))
    for figure in found:
        drawn = svg(figure, is_file=True)
        root = ET.fromstring(drawn)
        assert not list(root.iter(f"{NS}i"))
    assert "&lt;i&gt;&amp;&quot;&#x27;\ufffd" in svg(found[0], is_file=True)


def luminance(colour):
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [
        p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts
    ]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_computed_as_the_standard_says():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize(("place", "hues"), [(0, LIGHT), (1, DARK)])
def test_lines_have_a_contrast_of_three_and_text_of_four_and_a_half(place, hues):
    colour = {name: pair[place] for name, pair in INK.items()}
    assert min(contrast(hue, colour["card"]) for hue in hues) >= 3
    texts = itertools.product(("ink", "quiet", "accent"), ("ground", "card", "soft"))
    for text, ground in texts:
        assert contrast(colour[text], colour[ground]) >= 4.5, (text, ground)
    assert contrast(colour["ink"], colour["mark"]) >= 4.5


def test_forty_curves_differ_in_more_than_colour():
    found = [style_of(number) for number in range(40)]
    assert len(set(found)) == 40
    for one, other in itertools.combinations(found[:12], 2):
        assert one[1:] != other[1:], "dash and marker alone tell twelve apart"


def test_every_marker_has_a_shape_of_its_own():
    assert len({marker(shape, 0, 0, 4) for shape in MARKERS}) == len(MARKERS)
