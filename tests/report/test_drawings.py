"""Drawings are valid, named for screen readers, and legible to every eye."""

import itertools
import re
import xml.etree.ElementTree as ET

import pytest
from studies import measurement, study

from mondegreen.report.charts import _DASHES, _MARKERS, inline, picture, swatch
from mondegreen.report.figures import Axis, Chart, Line, Point, figures
from mondegreen.report.svg import COLOURS

NS = "{http://www.w3.org/2000/svg}"
FIGURES = figures(study())
SOME = [each for each in FIGURES if "by-worst_loss" not in each.key][::3]
HUES = [name for name in COLOURS if re.fullmatch(r"c\d", name)]

some = pytest.mark.parametrize("figure", SOME, ids=lambda figure: figure.key)


def root_of(figure):
    return ET.fromstring(picture(figure))


def styled(root, part):
    """Return the elements whose style holds something."""
    return [each for each in root.iter() if part in (each.get("style") or "")]


def places(path):
    """Return the places of a path."""
    numbers = [float(each) for each in re.findall(r"-?[\d.]+", path.get("d"))]
    return [(numbers[at], numbers[at + 1]) for at in range(0, len(numbers), 2)]


@pytest.mark.slow(
    "a large drawing", seconds=0.2, but=("certified_epsilon-by-epsilon", "n_w-2-tem")
)
@some
def test_a_file_is_valid_and_has_a_name_and_a_description(figure):
    root = root_of(figure)
    assert root.get("role") == "img"
    named = {child.get("id"): child.text for child in root if child.get("id")}
    assert [named[key] for key in root.get("aria-labelledby").split()] == [
        figure.title,
        figure.says,
    ]


@some
def test_a_file_needs_no_style_sheet_and_no_font_of_this_machine(figure):
    text = picture(figure).decode()
    assert "var(" not in text
    assert "<style" not in text
    assert "DejaVu" not in text
    for element in ET.fromstring(text).iter(f"{NS}path"):
        assert re.search("fill|stroke", element.get("style") or "")


@some
def test_a_file_of_a_page_has_both_themes_and_only_known_colours(figure):
    text = picture(figure, for_page=True).decode()
    ET.fromstring(text)
    assert "prefers-color-scheme:dark" in text
    _, drawn = text.split("</style>")
    assert not re.search('#[0-9a-f]{6}[;"]', drawn)
    assert set(re.findall(r"var\(--(\w+)\)", drawn)) <= set(COLOURS)


def test_a_chart_of_a_page_is_as_wide_as_a_phone_and_names_its_curves_above():
    names = [f"mechanism {number}" for number in range(12)]
    lines = [Line.exact(name, i, [(1, i), (2, i)]) for i, name in enumerate(names)]
    axis = Axis("a label that is longer than the line that a phone has room for")
    chart = Chart(
        "k", "A title that is longer than one line of it", "s", axis, axis, lines
    )
    root = ET.fromstring(picture(chart, for_page=True))
    assert root.get("width") == "368"
    texts = [each for each in root.iter(f"{NS}text") if each.text]
    written = {each.text: each for each in texts}
    assert set(names) <= set(written)
    heights = [float(written[name].get("y")) for name in names]
    assert max(heights) < float(root.get("height")) / 2
    assert all(len(each.text) * 6 < 368 for each in texts)
    assert " ".join(each.text for each in texts).count("phone has") == 2


@some
def test_a_drawing_of_a_page_is_named_by_its_figure(figure):
    root = ET.fromstring(
        inline(figure, 340, 290, "narrow").replace("xlink:href", "href")
    )
    assert root.get("aria-labelledby") == f"{figure.key}-title"
    assert root.get("aria-describedby") == f"{figure.key}-says"


def chart_of(*lines, **more):
    axis = Axis("x")
    return Chart("k", "t", "s", axis, axis, lines, **more)


def curve_of(*points):
    """Return the root of a drawing of one curve, and its colour."""
    return root_of(chart_of(Line("a", 0, points))), COLOURS["c0"][0]


def edges(root, colour):
    """Return the places of each line of a curve."""
    lines = styled(root, f"stroke: {colour}; stroke-width: 2.2")
    return [places(line) for line in lines]


def marks(root, colour):
    found = [each for each in root.iter(f"{NS}use") if colour in each.get("style")]
    return [(float(each.get("x")), float(each.get("y"))) for each in found]


def bands(root, colour):
    return styled(root, f"fill: {colour}; opacity: 0.16")


def test_points_lie_where_the_axes_say():
    points = [Point((x, x), (y, y)) for x, y in ((0, 0), (1, 10), (3, 30))]
    root, colour = curve_of(*points)
    (line,) = edges(root, colour)
    (a, b), (c, d), (e, f) = line
    assert (c - a) / (e - a) == pytest.approx(1 / 3, abs=1e-3)
    assert (b - d) / (b - f) == pytest.approx(1 / 3, abs=1e-3)
    assert f < b, "up is up"
    assert marks(root, colour) == line


def test_an_interval_is_a_band_and_an_exact_value_has_none():
    wide = [Point((x, x), (0.4, 0.6)) for x in (0.2, 0.8)]
    exact = [Point((x, x), (0.5, 0.5)) for x in (0.2, 0.8)]
    assert len(bands(*curve_of(*wide))) == 1
    assert len(bands(*curve_of(*exact))) == 0


def test_the_middle_of_an_interval_is_not_drawn_as_a_line():
    root, colour = curve_of(*(Point((x, x), (0.25, 0.75)) for x in (0.0, 1.0)))
    lower, upper = edges(root, colour)
    low, high = ({y for _, y in edge} for edge in (lower, upper))
    assert len(low) == len(high) == 1
    assert low != high
    assert {y for _, y in marks(root, colour)} == low | high


@pytest.mark.parametrize("way", [1, -1])
@pytest.mark.parametrize("order", [1, -1])
def test_what_is_uncertain_both_ways_is_within_a_band_that_follows_the_curve(
    way, order
):
    boxes = [((0.1, 0.3), (0.1, 0.4)), ((0.3, 0.6), (0.3, 0.5)), ((0.5, 0.9), (0.6, 1))]
    points = [
        Point(x, tuple(sorted(way * end for end in y))) for x, y in boxes[::order]
    ]
    root, colour = curve_of(*points)
    (band,) = bands(root, colour)
    corners = places(band)
    lower, upper = edges(root, colour)
    # Both edges are on the outline, and so are the far corners of the ends.
    assert set(lower) | set(upper) <= set(corners)
    across, up = ([place[axis] for place in (*lower, *upper)] for axis in (0, 1))
    outer = [(max(across), min(up) if way > 0 else max(up))]
    outer.append((min(across), max(up) if way > 0 else min(up)))
    assert set(outer) <= set(corners)


def test_the_chosen_setting_has_a_ring():
    chosen, none = figures(study())[0], figures(study(chosen=None))[0]
    assert picture(chosen).decode().count(">chosen</text>") == 1
    assert b">chosen</text>" not in picture(none)


def test_markers_tell_their_values():
    found = [each.text for each in root_of(FIGURES[0]).iter(f"{NS}title")]
    assert "tem, ε = 0.5: 88.4%" in found


def test_names_in_drawings_are_text():
    name = "<i>&\"'\x00$a_b$"
    found = figures(study(measurements=(measurement(name),), chosen=None))
    frontier, curve = found[0], found[1]
    for figure in (frontier, curve):
        assert not list(root_of(figure).iter(f"{NS}i"))
    titles = [each.text for each in root_of(frontier).iter(f"{NS}title")]
    assert any(title.startswith("<i>&\"'\ufffd$a_b$, ε = 1") for title in titles)


def test_a_word_that_no_font_has_is_drawn_as_text():
    lines = [Line.exact(name, 0, [(1, 1), (2, 2)]) for name in ("単語", "b")]
    assert "単語" in picture(chart_of(*lines)).decode()
    assert picture(chart_of(*lines), "png").startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("low", "high", "is_log"),
    [(0.3, 4.1, True), (1, 33860, True), (0.9, 1.1, True), (1e-9, 1e9, True),
     (0, 1, False), (0, 1e-6, False), (3.2, 3.9, False), (-2, 2, False),
     (8, 8, False), (8, 8, True)],
)  # fmt: skip
def test_ticks_are_few(low, high, is_log):
    axis = Axis("", is_log=is_log)
    line = Line.exact("a", 0, [(low, 1), (high, 2)])
    chart = Chart("k", "t", "s", axis, Axis(""), (line,))
    texts = [each for each in root_of(chart).iter(f"{NS}text") if each.text]
    ticks = [each for each in texts if "middle" in (each.get("style") or "")]
    assert 2 <= len(ticks) <= 8
    assert len({each.text for each in ticks}) == len(ticks)


def test_a_swatch_can_stand_in_a_page_many_times():
    assert " id=" not in swatch(0)
    assert "aria-hidden" in swatch(0)


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


@pytest.mark.parametrize("place", [0, 1])
def test_lines_have_a_contrast_of_three_and_text_of_four_and_a_half(place):
    colour = {name: pair[place] for name, pair in COLOURS.items()}
    assert min(contrast(colour[hue], colour["card"]) for hue in HUES) >= 4.5
    texts = itertools.product(("ink", "quiet", "accent"), ("ground", "card", "soft"))
    for text, ground in texts:
        assert contrast(colour[text], colour[ground]) >= 4.5, (text, ground)
    assert contrast(colour["ink"], colour["mark"]) >= 4.5


def test_forty_curves_differ_in_more_than_colour():
    looks = [
        (number % len(HUES), number % len(_DASHES), number % len(_MARKERS))
        for number in range(40)
    ]
    assert len(HUES) == 8
    assert len(set(looks)) == 40
    assert len(set(_MARKERS)) == len(_MARKERS)
    for one, other in itertools.combinations(looks[:12], 2):
        assert one[1:] != other[1:], "dash and marker alone tell twelve apart"


def test_light_colours_are_told_apart_by_their_value():
    light = [pair[0] for pair in COLOURS.values()]
    assert len(set(light)) == len(light), "a page replaces them by value"
