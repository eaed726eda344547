"""Charts as PNG, drawn by matplotlib from the same description as the SVG."""

from __future__ import annotations

import io
from typing import Any

from mondegreen.report.chart import (
    Axis,
    Chart,
    Fan,
    Histograms,
    Line,
    middle,
    ticks,
    written,
)
from mondegreen.report.palette import DASHES, INK, LIGHT, style_of
from mondegreen.scores.picture import check_plotting

_MARKERS = {
    "circle": "o",
    "square": "s",
    "diamond": "D",
    "up": "^",
    "down": "v",
    "cross": "X",
    "hexagon": "h",
    "plus": "P",
}
_DPI = 160


def png(figure: Chart | Histograms | Fan) -> bytes:
    """Return a chart as PNG: the same numbers give the same bytes.

    Raises
    ------
    OptionalDependencyError
        If matplotlib is not installed.
    """
    check_plotting("a figure as PNG")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(7.5, 5), layout="constrained")
    FigureCanvasAgg(drawing)
    drawing.suptitle(_literal(figure.title), fontsize=11, fontweight="bold")
    if isinstance(figure, Histograms):
        _histograms(drawing, figure)
    elif isinstance(figure, Fan):
        _fan(drawing.add_subplot(), figure)
    else:
        _chart(drawing, figure)
    target = io.BytesIO()
    drawing.savefig(target, format="png", dpi=_DPI)
    return target.getvalue()


def _chart(drawing: Any, chart: Chart) -> None:
    """Draw lines, their intervals, and the legend below."""
    axes = drawing.add_subplot()
    _axes(axes, chart.x, chart.y)
    for line in chart.lines:
        _line(axes, line)
    for name, value in chart.reference:
        axes.axhline(value, color=INK["quiet"][0], linestyle=":", label=name)
    chosen = [p for line in chart.lines for p in line.points if p.is_chosen]
    for point in chosen:
        axes.plot(
            [middle(point.x)],
            [middle(point.y)],
            linestyle="",
            marker="o",
            markersize=14,
            markerfacecolor="none",
            markeredgecolor=INK["ink"][0],
            markeredgewidth=1.6,
            label="chosen",
        )
    drawing.legend(loc="outside lower center", ncols=2, fontsize=8, frameon=False)


def _line(axes: Any, line: Line) -> None:
    """Draw one curve with bars where it is uncertain."""
    place, dash, shape = style_of(line.style)
    colour = LIGHT[place]
    look = {
        "color": colour,
        "linestyle": _dash(dash),
        "marker": _MARKERS[shape],
        "markersize": 6,
        "markeredgecolor": "white",
    }
    if any(point.x[0] != point.x[1] for point in line.points):
        _boxes(axes, line, look)
        return
    xs = [point.x[0] for point in line.points]
    lower, upper = ([point.y[end] for point in line.points] for end in (0, 1))
    axes.plot(xs, lower, **look, label=_literal(line.name))
    if upper != lower:
        axes.plot(xs, upper, **look)
        axes.fill_between(xs, lower, upper, color=colour, alpha=0.2, linewidth=0)


def _boxes(axes: Any, line: Line, look: dict[str, Any]) -> None:
    """Draw a box for each point, as large as what is not known of it."""
    from matplotlib.patches import Rectangle

    label = _literal(line.name)
    for point in line.points:
        (left, right), (low, high) = point.x, point.y
        if left == right and low == high:
            axes.plot([left], [low], **{**look, "linestyle": ""}, label=label)
        else:
            box = Rectangle((left, low), right - left, high - low, label=label)
            box.set(edgecolor=look["color"], facecolor=(look["color"], 0.1))
            axes.add_patch(box)
        label = "_nolegend_"


def _histograms(drawing: Any, figure: Histograms) -> None:
    """Draw one panel for each epsilon."""
    across = min(3, len(figure.panels))
    rows = -(-len(figure.panels) // across)
    drawing.set_size_inches(7.5, 0.9 + 1.7 * rows)
    grid = drawing.subplots(rows, across, squeeze=False).ravel()
    colour = LIGHT[style_of(figure.style)[0]]
    for axes in grid[len(figure.panels) :]:
        axes.set_axis_off()
    for axes, panel in zip(grid, figure.panels, strict=False):
        axes.stairs(panel.shares, figure.edges, fill=True, color=colour)
        if figure.x.is_log:
            axes.set_xscale("log")
        axes.set_xlim(figure.x.low, figure.x.high)
        title = panel.title + (", chosen" if panel.is_chosen else "")
        axes.set_title(title, fontsize=9, loc="left")
        axes.yaxis.set_major_formatter(lambda value, _: written(value, "share"))
        if figure.x.unit == "share":
            axes.xaxis.set_major_formatter(lambda value, _: written(value, "share"))
        axes.tick_params(labelsize=8)
    drawing.supxlabel(_literal(figure.x.label), fontsize=9)


def _fan(axes: Any, fan: Fan) -> None:
    """Draw nested bands around a median."""
    _axes(axes, fan.x, fan.y)
    count = len(fan.percentiles)
    for place in range(count // 2):
        lower, upper = (
            [row[place] for row in fan.rows],
            [row[-1 - place] for row in fan.rows],
        )
        axes.fill_between(fan.at, lower, upper, color=LIGHT[0], alpha=0.22, linewidth=0)
    for place, percentile in enumerate(fan.percentiles):
        values = [row[place] for row in fan.rows]
        is_median = place == count // 2
        axes.plot(
            fan.at,
            values,
            color=LIGHT[0],
            linewidth=2 if is_median else 0.9,
            linestyle="solid" if is_median else _dash(DASHES[1]),
        )
        axes.annotate(
            "median" if percentile == 50 else f"{percentile:g}%",
            (fan.at[-1], values[-1]),
            textcoords="offset points",
            xytext=(6, -3),
            fontsize=8,
            annotation_clip=False,
        )


def _axes(axes: Any, x: Axis, y: Axis) -> None:
    """Set limits, ticks and labels."""
    for axis, name in ((x, "x"), (y, "y")):
        getattr(axes, f"set_{name}scale")("log" if axis.is_log else "linear")
        getattr(axes, f"set_{name}lim")(axis.low, axis.high)
        places = ticks(axis)
        texts = [written(place, axis.unit) for place in places]
        getattr(axes, f"set_{name}ticks")(places, texts)
        getattr(axes, f"{name}axis").minorticks_off()
        getattr(axes, f"set_{name}label")(_literal(axis.label), fontsize=9)
    axes.grid(axis="y", color=INK["line"][0])
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)


def _dash(dash: str) -> Any:
    """Return a dash pattern in points, of what is written in units of the drawing."""
    if not dash:
        return "solid"
    return (0, tuple(float(part) / 2 for part in dash.split()))


def _literal(text: str) -> str:
    """Return a text in which a dollar sign starts no formula, and N_w is one."""
    plain = text.replace("\\", r"\\").replace("$", r"\$")
    return plain.replace("N_w", "$N_w$").replace("S_w", "$S_w$")
