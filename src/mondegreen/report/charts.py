"""The one way to draw: figures by matplotlib, for pages and for files."""

from __future__ import annotations

import functools
import math
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mondegreen.errors import InvalidParameterError
from mondegreen.report import figures, svg
from mondegreen.report.figures import Axis, Bars, Chart, Ends, Figure, Line, Point
from mondegreen.report.svg import ADVANCE, CARD, COLOURS, FONT, INK, QUIET, RULE, size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

FORMATS: Final = ("png", "svg")

# Five dashes, eight markers and eight hues: no two of forty curves share all three, so
# that colour alone never has to be told apart.
_DASHES: Final = ((), (8, 4), (2, 3), (10, 3, 2, 3), (5, 2))
_MARKERS: Final = "osD^vXhP"
_WIDTH: Final = 2.2
_LONGEST: Final = 44
"""Characters of a name in a drawing; tables have the whole name."""
_ROW: Final = 36
"""Height of a row of bars, in pixels."""
_LINE: Final = 22
"""Height of a line of the title or of the legend, in pixels."""
_SWATCH: Final = 44
"""Width of a piece of curve in a legend, in pixels."""
PHONE: Final = 368
"""Width of a column of text on a phone, in pixels."""
_SMALLEST_WIDE: Final = 500
"""Width from which on a drawing names its curves where they end, in pixels."""


def inline(figure: Chart, width: int, height: int, kind: str) -> str:
    """Draw a figure for a page, which names it and has its legend.

    ``kind`` is a class, which tells drawings of one figure apart.
    """
    about = (
        f'class="plot {kind}" role="img" aria-labelledby="{figure.key}-title" '
        f'aria-describedby="{figure.key}-says"'
    )
    with _draw_figure(figure, width, height) as (drawing, tips):
        return svg.element(drawing, f"{figure.key} {kind}", about, tips)


def picture(figure: Figure, format: str = "svg", *, for_page: bool = False) -> bytes:
    """Draw a figure as a file, with its title and the names of its curves.

    One ``for_page`` of the documentation is as wide as a phone, so that its text is
    never made smaller, and dark where the system of the reader is.
    """
    svg.check_drawing("a picture")
    if format not in FORMATS:
        raise InvalidParameterError("format", format, " or ".join(FORMATS))
    width = PHONE if for_page and isinstance(figure, Chart) else 640
    title = textwrap.wrap(svg.plain(figure.title), int(width / (1.3 * ADVANCE)))
    rows = _legend_rows(figure, width) if isinstance(figure, Chart) else []
    top = 14 + _LINE * (len(title) + len(rows))
    with _draw_figure(figure, width, 420, top) as (drawing, tips):
        drawing.set(frameon=True, facecolor=CARD)
        look: dict[str, Any] = {"weight": 700, "size": 1.1 * FONT, "color": INK}
        for number, line in enumerate(title, 1):
            drawing.text(*_from_top(drawing, 8, _LINE * number), line, **look)
        _legend(drawing, rows, 8 + _LINE * len(title))
        if format == "png":
            return svg.png_file(drawing)
        about = figure.title, figure.says, tips
        return svg.svg_file(drawing, *about, follows_theme=for_page)


def picture_format(path: str) -> str:
    """Read from the name of a file which format it asks for.

    >>> picture_format("word.SVG")
    'svg'
    """
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        raise InvalidParameterError("--plot", path, "a file named .png or .svg")
    return suffix


@functools.cache
def swatch(style: int, dash: int | None = None) -> str:
    """Draw a piece of a curve, for a legend in a page; it has no identifiers."""
    from matplotlib.markers import MarkerStyle
    from matplotlib.patches import PathPatch

    with svg.canvas(36, 16) as drawing:
        axes = drawing.add_axes((0, 0, 1, 1), xlim=(0, 36), ylim=(0, 16))
        axes.set_axis_off()
        _draw(axes, [(2, 8), (34, 8)], _look(Line("", style, (), dash)))
        if dash is None:
            shape = MarkerStyle(_MARKERS[style % len(_MARKERS)])
            place: Any = shape.get_transform()
            place = place.scale(8.4).translate(18, 8)
            path = shape.get_path().transformed(place)
            look = {"facecolor": _hue(style), "edgecolor": CARD, "linewidth": 1.2}
            axes.add_patch(PathPatch(path, clip_on=False, zorder=3, **look))
        about = 'class="plot swatch" width="36" height="16" aria-hidden="true"'
        return svg.element(drawing, "swatch", about)


@contextmanager
def _draw_figure(
    figure: Figure, width: int, height: int, top: int = 0
) -> Iterator[tuple[Drawing, list[str]]]:
    """Draw a figure; also hand out what its markers tell.

    Space at the top is for a title, and the drawing names its curves then.
    """
    tips: list[str] = []
    with svg.canvas(width, height + top) as drawing:
        if isinstance(figure, Chart):
            _chart(drawing, figure, tips, top)
        else:
            _bars(drawing, figure, top)
        yield drawing, tips


def _chart(drawing: Drawing, chart: Chart, tips: list[str], top: int) -> None:
    """Draw curves, what is certain over what is not."""
    axes = _axes(drawing, chart.x, chart.y)
    for line in sorted(chart.lines, key=_uncertainty, reverse=True):
        _line(axes, chart, line, tips)
    across = axes.get_yaxis_transform()
    if chart.limit is not None:
        place = chart.limit[1]
        dots = {"color": QUIET, "linestyle": (0, (1, 3)), "linewidth": 1.6}
        _draw(axes, [(0, place), (1, place)], {**dots, "transform": across})
    is_wide = size(drawing)[0] >= _SMALLEST_WIDE
    names = [_short(line.name) for line in chart.lines] if top and is_wide else []
    right = 30 + ADVANCE * max(map(len, names)) if len(names) > 1 else 24
    _settle(drawing, axes, chart.x, chart.y, top, right)
    halo = {"gid": "halo"}
    if chart.limit is not None:
        name, place = chart.limit
        _note(axes, across, (1, place), name, (0, 8), ha="right", **halo)
    if chart.corner and is_wide:
        look = {"color": INK, "weight": 700, "va": "top", **halo}
        text = f"↖ {chart.corner}"
        spot = (0, 1) if chart.limit is None else (0, chart.limit[1])
        where = axes.transAxes if chart.limit is None else across
        _note(axes, where, spot, text, (10, -14), **look)
    ceiling = None if chart.limit is None else chart.limit[1]
    for point in (p for line in chart.lines for p in line.points if p.is_chosen):
        _ring(drawing, axes, point, ceiling)
    if len(names) > 1:
        _end_labels(axes, chart.lines, names)


def _legend_rows(chart: Chart, width: int) -> list[list[tuple[float, Line]]]:
    """Break the names of curves into rows, with their places from the left in pixels.

    A wide drawing has none: it names curves where they end.
    """
    if width >= _SMALLEST_WIDE or len(chart.lines) < 2:
        return []
    rows: list[list[tuple[float, Line]]] = [[]]
    left = 8.0
    for line in chart.lines:
        needed = _SWATCH + ADVANCE * len(_short(line.name)) + 14
        if rows[-1] and left + needed > width:
            rows.append([])
            left = 8.0
        rows[-1].append((left, line))
        left += needed
    return rows


def _legend(
    drawing: Drawing, rows: Sequence[Sequence[tuple[float, Line]]], top: float
) -> None:
    """Draw a piece of each curve, and its name."""
    from matplotlib.lines import Line2D

    look: dict[str, Any] = {"transform": drawing.transFigure}
    for number, row in enumerate(rows, 1):
        for left, line in row:
            name = _from_top(drawing, left + _SWATCH, top + _LINE * number)
            drawing.text(*name, _short(line.name), color=INK)
            y = top + _LINE * number - 5
            ends = [_from_top(drawing, left + x, y) for x in (0, _SWATCH - 6)]
            xs, ys = zip(*ends, strict=True)
            drawing.add_artist(Line2D(xs, ys, **_look(line), **look))
            middle = _from_top(drawing, left + (_SWATCH - 6) / 2, y)
            xs, ys = ((each,) for each in middle)
            drawing.add_artist(Line2D(xs, ys, **_marker(line.style), **look))


def _from_top(drawing: Drawing, x: float, y: float) -> Ends:
    """Turn pixels from the upper left corner into shares of the drawing."""
    width, height = size(drawing)
    return x / width, 1 - y / height


def _axes(drawing: Drawing, x: Axis, y: Axis | None) -> Axes:
    """Make empty axes; rows have no y.

    Ticks and grid are drawn by hand, in half the time that matplotlib takes for them.
    """
    axes = drawing.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.margins(0.04)
    for name, axis in (("x", x), ("y", y)):
        if axis is not None and axis.is_log:
            getattr(axes, f"set_{name}scale")("log")
    return axes


def _line(axes: Axes, chart: Chart, line: Line, tips: list[str]) -> None:
    """Draw a curve, or the band that holds it.

    Where only intervals are known, the two edges of the band are drawn and nothing
    between them, which could be taken for an estimate. Each edge joins one corner of
    what is known at every point: upper left and lower right where the curve rises, the
    other two where it falls. So the band follows the curve, and where all ends rise or
    all fall it holds everything that is known of every point.
    """
    first, last = line.points[0], line.points[-1]
    across, up = (_middle(getattr(last, c)) - _middle(getattr(first, c)) for c in "xy")
    side = 0 if across * up >= 0 else 1
    upper = [(point.x[side], point.y[1]) for point in line.points]
    lower = [(point.x[1 - side], point.y[0]) for point in line.points]
    look, edges = _look(line), [lower] if upper == lower else [lower, upper]
    if all(point.estimate is not None for point in line.points):
        edges = [[(point.x[0], _height(point)) for point in line.points]]
    if upper != lower:
        above, below = (last, first) if up >= 0 else (first, last)
        corners = (above.x[1 - side], above.y[1]), (below.x[side], below.y[0])
        band = [*upper, corners[up < 0], *reversed(lower), corners[up >= 0]]
        fill: dict[str, Any] = {"color": look["color"], "alpha": 0.16, "lw": 0}
        axes.fill(*zip(*band, strict=True), clip_on=False, **fill)
    for edge in edges:
        if len(edge) > 1:
            _draw(axes, edge, look)
    pairs = list(zip(line.points, *edges, strict=True))
    for point, *spots in pairs if line.dash is None or len(pairs) == 1 else ():
        _mark(axes, line.style, list(dict.fromkeys(spots)), f"tip-{len(tips)}")
        at = figures.in_words(point.x, chart.x.unit)
        if point.epsilon is not None:
            at = f"ε = {figures.exactly(point.epsilon)}"
        tips.append(f"{line.name}, {at}: {figures.in_words(point.y, chart.y.unit)}")


def _settle(
    drawing: Drawing, axes: Axes, x: Axis, y: Axis, top: int, right: float
) -> None:
    """Set limits, ticks, grid and labels, and margins that hold them."""
    axes.autoscale_view()
    rungs = _ticks(axes, "y", y, size(drawing)[1] / 50)
    names = [figures.format_number(rung, y.unit) for rung in rungs]
    labels = _wrap(drawing, y.label)
    above = top + 14 + 18 * len(labels)
    _place(drawing, axes, (16 + ADVANCE * max(map(len, names)), right, above), x)
    across = axes.get_yaxis_transform()
    for rung, name in zip(rungs, names, strict=True):
        _rule(axes, [(0, rung), (1, rung)], RULE, across)
        _note(axes, across, (0, rung), name, (-6, 0), ha="right", va="center_baseline")
    for number, label in enumerate(labels):
        drawing.text(*_from_top(drawing, 8, top + 16 + 18 * number), label)
    _base(drawing, axes, x)


def _base(drawing: Drawing, axes: Axes, x: Axis) -> None:
    """Draw the line below, with its ticks and label."""
    width, height = size(drawing)
    up = axes.get_xaxis_transform()
    _rule(axes, [(0, 0), (1, 0)], QUIET, axes.transAxes)
    for place in _ticks(axes, "x", x, width / 75):
        _rule(axes, [(place, 0), (place, -4 / axes.bbox.height)], QUIET, up)
        name = figures.format_number(place, x.unit)
        _note(axes, up, (place, 0), name, (0, -17), ha="center")
    for number, label in enumerate(reversed(_wrap(drawing, x.label))):
        spot = axes.bbox.x1 / width, (11 + 18 * number) / height
        drawing.text(*spot, label, ha="right")


def _place(
    drawing: Drawing, axes: Axes, margins: tuple[float, float, float], x: Axis
) -> None:
    """Set the margins to the left, to the right and above, in pixels.

    Below there is room for the ticks and the label of the axis.
    """
    (width, height), (left, right, top) = size(drawing), margins
    bottom = 30 + 18 * len(_wrap(drawing, x.label))
    across, up = (width - left - right) / width, (height - top - bottom) / height
    axes.set_position((left / width, bottom / height, across, up))


def _wrap(drawing: Drawing, label: str) -> list[str]:
    """Break the label of an axis into lines that a drawing has room for."""
    most = int((size(drawing)[0] - 40) / ADVANCE)
    return textwrap.wrap(svg.plain(label), most) or [""]


def _ticks(axes: Axes, name: str, axis: Axis, most: float) -> list[float]:
    """Set the limits of an axis around what was drawn; choose a handful of ticks."""
    from matplotlib.ticker import MaxNLocator

    ruler = getattr(axes, f"{name}axis")
    _, largest = ruler.get_data_interval()
    low, high = ruler.get_view_interval()
    if axis.unit == "share" and 0.6 < largest <= 1:
        high = 1.0
    if axis.unit == "share" or axis.from_zero:
        low = 1.0 if axis.is_log else 0.0
    getattr(axes, f"set_{name}lim")(low, high)
    count = max(3, min(6, int(most)))
    decades = math.log10(high / low) if axis.is_log else 0.0
    found = MaxNLocator(count - 1, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    if decades > 1:
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        several = (1, 2, 5) if 3 * decades < count else (1, 3)
        digits = several if 2 * decades < count else (1,)
        found = [digit * 10.0**power for power in powers for digit in digits]
    slack = (high - low) * 1e-9
    found = [float(each) for each in found if low - slack <= each <= high + slack]
    return found[:: -(-len(found) // (count + 1))]


def _look(line: Line) -> dict[str, Any]:
    number = line.style if line.dash is None else line.dash
    dash = tuple(part / _WIDTH for part in _DASHES[number % len(_DASHES)])
    return {
        "color": _hue(line.style),
        "linewidth": _WIDTH,
        "linestyle": (0, dash) if dash else "solid",
    }


def _hue(style: int) -> str:
    return COLOURS[f"c{style % 8}"][0]


def _mark(axes: Axes, style: int, places: Sequence[Ends], gid: str = "") -> None:
    _draw(axes, places, {**_marker(style), "gid": gid or None})


def _marker(style: int) -> dict[str, Any]:
    look = {"markersize": 8.4, "markeredgecolor": CARD, "markeredgewidth": 1.2}
    shape = {"marker": _MARKERS[style % len(_MARKERS)], "color": _hue(style)}
    return {**look, **shape, "linestyle": ""}


def _draw(axes: Axes, places: Sequence[Ends], look: dict[str, Any]) -> None:
    from matplotlib.lines import Line2D

    xs, ys = zip(*places, strict=True)
    axes.add_line(Line2D(xs, ys, clip_on=False, **look))


def _middle(ends: Ends) -> float:
    return (ends[0] + ends[1]) / 2


def _height(point: Point) -> float:
    return _middle(point.y) if point.estimate is None else point.estimate


def _uncertainty(line: Line) -> float:
    """Tell how much of a curve is not known: nothing of an exact one."""
    return max(high - low for point in line.points for low, high in (point.x, point.y))


def _short(name: str) -> str:
    name = svg.plain(name)
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"


def _rule(axes: Axes, ends: Sequence[Ends], colour: str, transform: Any) -> None:
    look = {"color": colour, "linewidth": 1, "transform": transform, "zorder": 0}
    _draw(axes, ends, look)


def _note(
    axes: Axes, transform: Any, at: Ends, text: str, by: Ends, **look: Any
) -> None:
    """Write text beside a place, shifted by so many pixels."""
    from matplotlib.transforms import ScaledTranslation

    shift = ScaledTranslation(by[0] / 72, by[1] / 72, axes.figure.dpi_scale_trans)
    axes.text(*at, text, transform=transform + shift, **look)


def _ring(drawing: Drawing, axes: Axes, point: Point, ceiling: float | None) -> None:
    """Draw a ring around what is known of the chosen setting, and its name.

    The name is below the ring where it would touch the top, or what is at the ceiling.
    """
    from matplotlib.patches import FancyBboxPatch

    inches = drawing.dpi_scale_trans
    corners = list(zip(point.x, point.y, strict=True))
    (left, bottom), (right, top) = axes.transData.transform(corners) / 72
    shape = "round, pad=0.12, rounding_size=0.12"
    ring = FancyBboxPatch((left, bottom), right - left, top - bottom, shape)
    ring.set(transform=inches, fill=False, edgecolor=INK, linewidth=1.8)
    drawing.add_artist(ring)
    frame = axes.bbox.transformed(inches.inverted())
    highest = frame.y1
    if ceiling is not None:
        highest = axes.transData.transform((point.x[0], ceiling))[1] / 72
    is_left = right < (frame.x0 + frame.x1) / 2
    look: dict[str, Any] = {"color": INK, "weight": 700, "gid": "halo"}
    drawing.text(
        right + 0.18 if is_left else left - 0.18,
        bottom - 0.24 if top > highest - 0.5 else top + 0.12,
        "chosen",
        transform=inches,
        ha="left" if is_left else "right",
        **look,
    )


def _end_labels(axes: Axes, lines: Sequence[Line], names: Sequence[str]) -> None:
    """Write names to the right of where curves end, moved apart where they overlap."""
    last = [line.points[-1] for line in lines]
    ends = [(_middle(point.x), _height(point)) for point in last]
    places = axes.transData.transform(ends)
    order = sorted(range(len(names)), key=lambda place: float(places[place][1]))
    heights: list[float] = []
    for place in order:
        least = heights[-1] + 1.2 * FONT if heights else -math.inf
        heights.append(max(places[place][1], least))
    too_high = max(0.0, heights[-1] - axes.bbox.y1)
    for place, height in zip(order, heights, strict=True):
        hue = _hue(lines[place].style)
        axes.annotate(
            names[place], ends[place], (axes.bbox.x1 + 12, height - too_high),
            textcoords="figure points", va="center_baseline", color=hue,
            arrowprops={"arrowstyle": "-", "color": hue, "alpha": 0.5, "lw": 0.8,
                        "shrinkA": 0, "shrinkB": 5},
        )  # fmt: skip


def _bars(drawing: Drawing, figure: Bars, top: int) -> None:
    """Draw a bar in each row, with its value, and its interval as a line."""
    names = [_short(bar.name) for bar in figure.bars]
    drawing.set_figheight((top + 54 + _ROW * len(names)) / 72)
    axes = _axes(drawing, figure.x, None)
    axes.set_ylim(len(names), 0)
    margins = 16 + ADVANCE * max(map(len, names)), 110, top + 6
    _place(drawing, axes, margins, figure.x)
    across, beside = axes.get_yaxis_transform(), {"va": "center_baseline"}
    for place, (bar, name) in enumerate(zip(figure.bars, names, strict=True)):
        height = place + 0.55
        _note(axes, across, (0, height), name, (-6, 0), ha="right", **beside)
        axes.barh(height, bar.value, 0.62, color=_hue(bar.style), clip_on=False)
        if bar.ends[0] < bar.ends[1]:
            span = [(end, height) for end in bar.ends]
            _draw(axes, span, {"color": INK, "linewidth": 1.4})
        spot = max(bar.value, bar.ends[1]), height
        said = figures.in_words(bar.ends, figure.x.unit)
        _note(axes, axes.transData, spot, said, (8, 0), **beside)
    _base(drawing, axes, figure.x)
