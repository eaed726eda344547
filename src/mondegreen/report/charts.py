"""Charts as data, and the one way to draw them, for pages and for files."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from mondegreen.errors import InvalidParameterError
from mondegreen.report.numbers import Ends, Unit, exactly, in_words, written
from mondegreen.report.svg import (
    ADVANCE,
    CARD,
    COLOURS,
    FONT,
    INK,
    QUIET,
    RULE,
    canvas,
    check_drawing,
    element,
    plain,
    png_file,
    size,
    svg_file,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis as Ruler
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
"""Height of a row, in pixels."""


@final
@dataclass(frozen=True, slots=True)
class Axis:
    """What an axis shows; a share is written in per cent, and starts at 0."""

    label: str
    unit: Unit = "number"
    is_log: bool = False
    from_zero: bool = False


@final
@dataclass(frozen=True, slots=True)
class Point:
    """One place of a curve: the ends of what is known of each coordinate."""

    x: Ends
    y: Ends
    epsilon: float | None = None
    is_chosen: bool = False


@final
@dataclass(frozen=True, slots=True)
class Line:
    """A curve; ``style`` numbers its colour, dash and marker."""

    name: str
    style: int
    points: tuple[Point, ...]

    @classmethod
    def exact(cls, name: str, style: int, places: Sequence[Ends]) -> Line:
        """Make a curve of places that are known exactly."""
        return cls(name, style, tuple(Point((x, x), (y, y)) for x, y in places))


@final
@dataclass(frozen=True, slots=True)
class Chart:
    """Curves over two axes; ``key`` names files and identifiers.

    ``limit`` is a value of y that nothing can exceed, with its name, ``corner`` what the
    upper left corner means, ``missing`` names curves of which too little is known.
    """

    key: str
    title: str
    says: str
    x: Axis
    y: Axis
    lines: tuple[Line, ...]
    limit: tuple[str, float] | None = None
    missing: tuple[str, ...] = ()
    corner: str = ""


@final
@dataclass(frozen=True, slots=True)
class Row:
    """One histogram: the share of words in each bin."""

    title: str
    shares: tuple[float, ...]
    is_chosen: bool = False


@final
@dataclass(frozen=True, slots=True)
class Histograms:
    """Histograms over the same bins, one above the other."""

    key: str
    title: str
    says: str
    x: Axis
    edges: tuple[float, ...]
    rows: tuple[Row, ...]
    style: int


@final
@dataclass(frozen=True, slots=True)
class Bar:
    """A named value, drawn with its interval if it has one."""

    name: str
    value: float
    ends: Ends
    style: int = 0


@final
@dataclass(frozen=True, slots=True)
class Bars:
    """Bars from zero, one above the other."""

    title: str
    says: str
    x: Axis
    bars: tuple[Bar, ...]


Figure: TypeAlias = Chart | Histograms | Bars


def inline(figure: Chart | Histograms, width: int, height: int, kind: str) -> str:
    """Draw a figure for a page, which names it and has its legend.

    ``kind`` is a class, which tells drawings of one figure apart.
    """
    about = (
        f'class="plot {kind}" role="img" aria-labelledby="{figure.key}-title" '
        f'aria-describedby="{figure.key}-says"'
    )
    with _drawn(figure, width, height) as (drawing, tips):
        return element(drawing, f"{figure.key} {kind}", about, tips)


def picture(
    figure: Figure, format: str = "svg", *, follows_theme: bool = False
) -> bytes:
    """Draw a figure as a file, with its title and the names of its curves."""
    check_drawing("a picture")
    if format not in FORMATS:
        raise InvalidParameterError("format", format, " or ".join(FORMATS))
    with _drawn(figure, 640, 420, top=30) as (drawing, tips):
        drawing.set(frameon=True, facecolor=CARD)
        width, height = size(drawing)
        look: dict[str, Any] = {"weight": 700, "size": 15, "color": INK}
        drawing.text(12 / width, 1 - 22 / height, plain(figure.title), **look)
        if format == "png":
            return png_file(drawing)
        about = figure.title, figure.says, tips
        return svg_file(drawing, *about, follows_theme=follows_theme)


def swatch(style: int) -> str:
    """Draw a piece of a curve, for a legend in a page."""
    with canvas(36, 16) as drawing:
        axes = drawing.add_axes((0.06, 0, 0.88, 1), xlim=(0, 2), ylim=(-1, 1))
        axes.set_axis_off()
        _draw(axes, [(0, 0), (2, 0)], _look(style))
        _mark(axes, style, [(1, 0)])
        about = 'class="plot swatch" width="36" height="16" aria-hidden="true"'
        return element(drawing, f"swatch-{style}", about)


@contextmanager
def _drawn(
    figure: Figure, width: int, height: int, top: int = 0
) -> Iterator[tuple[Drawing, list[str]]]:
    """Draw a figure; also hand out what its markers tell.

    Space at the top is for a title, and the drawing names its curves then.
    """
    tips: list[str] = []
    with canvas(width, height + top) as drawing:
        if isinstance(figure, Chart):
            _chart(drawing, figure, tips, top)
        elif isinstance(figure, Histograms):
            _histograms(drawing, figure, top)
        else:
            _bars(drawing, figure, top)
        yield drawing, tips


def _chart(drawing: Drawing, chart: Chart, tips: list[str], top: int) -> None:
    """Draw curves, what is certain over what is not."""
    axes = _axes(drawing, chart.x, chart.y)
    for line in sorted(chart.lines, key=_uncertainty, reverse=True):
        _line(axes, chart, line, tips)
    if chart.limit is not None:
        dots = {"linestyle": (0, (1, 3)), "linewidth": 1.6, "clip_on": False}
        axes.axhline(chart.limit[1], color=QUIET, **dots)
    names = [_short(line.name) for line in chart.lines] if top else []
    right = 30 + ADVANCE * max(map(len, names)) if len(names) > 1 else 24
    _settle(drawing, axes, chart.x, chart.y, top, right)
    if chart.limit is not None:
        _note(axes, chart.limit[0], (1, chart.limit[1]), (0, 8), ha="right", size=11)
    if chart.corner and size(drawing)[0] > 500:
        down = -18 if chart.limit is None else -34
        look = {"xycoords": "axes fraction", "color": INK, "weight": 700}
        _note(axes, f"↖ {chart.corner}", (0, 1), (10, down), **look)
    for point in (p for line in chart.lines for p in line.points if p.is_chosen):
        _ring(drawing, axes, point)
    if len(names) > 1:
        _end_labels(axes, chart.lines, names)


def _axes(drawing: Drawing, x: Axis, y: Axis | None) -> Axes:
    """Make axes with nothing but a grid and a line below; rows have no y."""
    axes = drawing.add_axes((0, 0, 1, 1))
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.patch.set_visible(False)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelcolor=QUIET, pad=6)
    axes.tick_params(axis="x", length=4, color=QUIET, pad=4)
    axes.margins(0.04)
    for name, axis in (("x", x), ("y", y)):
        if axis is not None and axis.is_log:
            getattr(axes, f"set_{name}scale")("log")
    if y is not None:
        axes.grid(axis="y", color=RULE, linewidth=1, clip_on=False)
    axes.set_xlabel(x.label, loc="right", color=QUIET)
    return axes


def _line(axes: Axes, chart: Chart, line: Line, tips: list[str]) -> None:
    """Draw a curve, or the band that holds it.

    Where only intervals are known, the two edges of the band are drawn and nothing
    between them, which could be taken for an estimate. Each edge joins one corner of
    what is known at every point: upper left and lower right where the curve rises, the
    other two where it falls, so that the band follows the curve.
    """
    first, last = line.points[0], line.points[-1]
    across, up = (_middle(getattr(last, c)) - _middle(getattr(first, c)) for c in "xy")
    side = 0 if across * up >= 0 else 1
    upper = [(point.x[side], point.y[1]) for point in line.points]
    lower = [(point.x[1 - side], point.y[0]) for point in line.points]
    look = _look(line.style)
    if upper != lower:
        _band(axes, line.points, look["color"])
    for edge in [lower] if upper == lower else [lower, upper]:
        if len(edge) > 1:
            _draw(axes, edge, look)
    for point, *spots in zip(line.points, lower, upper, strict=True):
        _mark(axes, line.style, list(dict.fromkeys(spots)), f"tip-{len(tips)}")
        name = "" if point.epsilon is None else f", ε = {exactly(point.epsilon)}"
        tips.append(f"{line.name}{name}: {in_words(point.y, chart.y.unit)}")


def _band(axes: Axes, points: Sequence[Point], colour: str) -> None:
    """Fill what is known of the points, and everything between two in a row."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    boxes = [[(x, y) for x in point.x for y in point.y] for point in points]
    pairs = pairwise(boxes) if len(boxes) > 1 else [(boxes[0], boxes[0])]
    # One path: where parts of it overlap, the colour is no darker.
    hulls = [Path(_hull([*one, *other]), closed=True) for one, other in pairs]
    whole = Path.make_compound_path(*hulls)
    axes.add_patch(PathPatch(whole, color=colour, alpha=0.16, lw=0, clip_on=False))


def _hull(spots: Sequence[Ends]) -> list[Ends]:
    """Find the corners around some places, counterclockwise, the first one twice."""
    found: list[Ends] = []
    for part in (sorted(set(spots)), sorted(set(spots), reverse=True)):
        chain: list[Ends] = []
        for x, y in part:
            while len(chain) > 1:
                (a, b), (c, d) = chain[-2:]
                if (c - a) * (y - b) > (d - b) * (x - a):
                    break
                chain.pop()
            chain.append((x, y))
        found += chain[:-1]
    return [*(found or spots[:1]), (found or spots)[0]]


def _settle(
    drawing: Drawing, axes: Axes, x: Axis, y: Axis, top: int, right: float
) -> None:
    """Choose limits and ticks for what was drawn, and margins that hold the labels."""
    width, height = size(drawing)
    axes.autoscale_view()
    _scale(axes, axes.yaxis, y, height / 50)
    _scale(axes, axes.xaxis, x, width / 75)
    names = [written(place, y.unit) for place in axes.yaxis.get_majorticklocs()]
    _place(drawing, axes, (16 + ADVANCE * max(map(len, names)), right, top + 32))
    drawing.text(8 / width, 1 - (top + 16) / height, y.label)


def _place(drawing: Drawing, axes: Axes, margins: tuple[float, float, float]) -> None:
    """Set the margins to the left, to the right and above, in pixels."""
    (width, height), (left, right, top) = size(drawing), margins
    across, up = (width - left - right) / width, (height - top - 48) / height
    axes.set_position((left / width, 48 / height, across, up))


def _scale(axes: Axes, ruler: Ruler, axis: Axis, most: float) -> None:
    """Choose the limits of an axis and a handful of round ticks."""
    from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

    _, largest = ruler.get_data_interval()
    low, high = ruler.get_view_interval()
    if axis.unit == "share" and 0.6 < largest <= 1:
        high = 1.0
    if axis.from_zero or axis.unit == "share":
        low = min(low, 0.0) if low < -high else 0.0
    axes.set(**{f"{ruler.axis_name}lim": (low, high)})
    decades = math.log10(high / low) if axis.is_log else 0.0
    count = max(3, min(6, int(most)))
    if decades > 1:
        digits = next(
            (d for d in ((1, 2, 5), (1, 3)) if len(d) * decades < count), (1,)
        )
        ruler.set_major_locator(LogLocator(subs=digits, numticks=count))
    else:
        ruler.set_major_locator(MaxNLocator(count - 1, steps=[1, 2, 2.5, 5, 10]))
    ruler.set_minor_locator(NullLocator())
    ruler.set_major_formatter(lambda value, _: written(value, axis.unit))


def _look(style: int) -> dict[str, Any]:
    """Choose colour and dash of a curve."""
    dash = tuple(part / _WIDTH for part in _DASHES[style % len(_DASHES)])
    return {
        "color": _hue(style),
        "linewidth": _WIDTH,
        "linestyle": (0, dash) if dash else "solid",
    }


def _hue(style: int) -> str:
    return COLOURS[f"c{style % 8}"][0]


def _mark(axes: Axes, style: int, places: Sequence[Ends], gid: str = "") -> None:
    """Draw the marker of a curve at some places."""
    look = {"markersize": 8.4, "markeredgecolor": CARD, "markeredgewidth": 1.2}
    shape = {"marker": _MARKERS[style % len(_MARKERS)], "color": _hue(style)}
    _draw(axes, places, {**look, **shape, "linestyle": "", "gid": gid or None})


def _draw(axes: Axes, places: Sequence[Ends], look: dict[str, Any]) -> None:
    from matplotlib.lines import Line2D

    xs, ys = zip(*places, strict=True)
    axes.add_line(Line2D(xs, ys, clip_on=False, **look))


def _middle(ends: Ends) -> float:
    return (ends[0] + ends[1]) / 2


def _uncertainty(line: Line) -> float:
    """Tell how much of a curve is not known: nothing of an exact one."""
    return max(high - low for point in line.points for low, high in (point.x, point.y))


def _short(name: str) -> str:
    name = plain(name)
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"


def _note(axes: Axes, text: str, at: Ends, by: Ends, **look: Any) -> None:
    """Write beside a place: x as a share of the axes; shifted by so many pixels."""
    look = {"gid": "halo", "textcoords": "offset points"} | look
    coords = look.pop("xycoords", ("axes fraction", "data"))
    axes.annotate(text, at, by, xycoords=coords, **look)


def _ring(drawing: Drawing, axes: Axes, point: Point) -> None:
    """Draw a ring around what is known of the chosen setting, and its name."""
    from matplotlib.patches import FancyBboxPatch

    corners = list(zip(point.x, point.y, strict=True))
    (left, bottom), (right, top) = axes.transData.transform(corners) / 72
    ring = FancyBboxPatch(
        (left, bottom),
        right - left,
        top - bottom,
        "round, pad=0.12, rounding_size=0.12",
    )
    ring.set(
        transform=drawing.dpi_scale_trans, fill=False, edgecolor=INK, linewidth=1.8
    )
    drawing.add_artist(ring)
    frame = axes.bbox.transformed(drawing.dpi_scale_trans.inverted())
    is_left = right < (frame.x0 + frame.x1) / 2
    spot = (
        right + 0.18 if is_left else left - 0.18,
        bottom - 0.24 if top > frame.y1 - 0.5 else top + 0.12,
    )
    drawing.text(
        *spot, "chosen", transform=drawing.dpi_scale_trans, gid="halo", color=INK,
        ha="left" if is_left else "right", weight=700,
    )  # fmt: skip


def _end_labels(axes: Axes, lines: Sequence[Line], names: Sequence[str]) -> None:
    """Write names to the right of where curves end, moved apart where they overlap."""
    ends = [(_middle(line.points[-1].x), _middle(line.points[-1].y)) for line in lines]
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


def _rows(
    drawing: Drawing, x: Axis, names: Sequence[str], top: int, right: float
) -> Axes:
    """Make a drawing as high as its rows, the first of them above."""
    width, _ = size(drawing)
    drawing.set_size_inches(width / 72, (top + 54 + _ROW * len(names)) / 72)
    axes = _axes(drawing, x, None)
    axes.set_ylim(len(names), 0)
    axes.set_yticks([place + 0.6 for place in range(len(names))], names)
    _place(drawing, axes, (16 + ADVANCE * max(map(len, names)), right, top + 6))
    return axes


def _histograms(drawing: Drawing, figure: Histograms, top: int) -> None:
    """Draw a histogram in each row, whose highest bar fills the height."""
    names = [row.title for row in figure.rows]
    axes = _rows(drawing, figure.x, names, top, 62)
    for place, row in enumerate(figure.rows):
        base, most = place + 0.9, max(row.shares)
        heights = [base - 0.78 * share / most for share in row.shares]
        look: dict[str, Any] = {"fill": True, "color": _hue(figure.style)}
        axes.stairs(heights, figure.edges, baseline=base, clip_on=False, **look)
        axes.axhline(base, color=RULE, linewidth=1, clip_on=False)
        _note(
            axes,
            f"↑ {written(most, 'share')}",
            (1, place + 0.6),
            (8, 0),
            size=11,
            va="center",
        )
        if row.is_chosen:
            axes.get_yticklabels()[place].set(color=INK, weight=700)
    _scale(axes, axes.xaxis, figure.x, size(drawing)[0] / 75)
    axes.set_xlim(figure.edges[0], figure.edges[-1])


def _bars(drawing: Drawing, figure: Bars, top: int) -> None:
    """Draw a bar in each row, with its value, and its interval as a line."""
    axes = _rows(drawing, figure.x, [_short(bar.name) for bar in figure.bars], top, 110)
    for place, bar in enumerate(figure.bars):
        axes.barh(place + 0.5, bar.value, 0.62, color=_hue(bar.style))
        if bar.ends[0] < bar.ends[1]:
            span = [(end, place + 0.5) for end in bar.ends]
            _draw(axes, span, {"color": INK, "linewidth": 1.4})
        axes.annotate(
            in_words(bar.ends, figure.x.unit), (max(bar.value, bar.ends[1]), place + 0.5),
            (8, 0), textcoords="offset points", va="center_baseline",
        )  # fmt: skip
    _scale(axes, axes.xaxis, figure.x, 5)
