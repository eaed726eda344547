"""Curves: lines where values are exact, bands and boxes where intervals are known."""

from __future__ import annotations

from mondegreen.report.chart import Chart, Ends, Line, Point, exactly, in_words
from mondegreen.report.markup import escaped
from mondegreen.report.palette import INK, LIGHT, marker, style_of
from mondegreen.report.svg.frame import HALO, Frame, dashed, joined


def draw_chart(chart: Chart, width: int, height: int) -> list[str]:
    """Return the lines of a chart over its axes."""
    frame = Frame(chart.x, chart.y, width, height)
    parts = frame.axes()
    if chart.corner:
        below = [frame.up(value) for _, value in chart.reference]
        y = max([frame.top, *(y for y in below if y < frame.top + 60)]) + 24
        parts.append(
            f'<text x="{frame.left + 10}" y="{y:.1f}" class="strong corner" '
            f'fill="{INK["ink"][0]}">↖ {escaped(chart.corner)}</text>'
        )
    # What is certain is drawn over what is not.
    for line in sorted(chart.lines, key=lambda line: -_width(line)):
        parts += _line(frame, line)
    for name, value in chart.reference:
        parts += _limit(frame, name, value)
    for line in chart.lines:
        for point in line.points:
            parts += _ring(frame, point) if point.is_chosen else []
    return parts


def _limit(frame: Frame, name: str, value: float) -> list[str]:
    """Return a horizontal line with its name."""
    y = frame.up(value)
    return [
        f'<path class="axis" d="M{frame.left} {y:.1f}H{frame.right}" fill="none" '
        f'stroke="{INK["quiet"][0]}" stroke-dasharray="1 4" stroke-width="1.6"/>',
        f'<text x="{frame.right}" y="{y - 6:.1f}" text-anchor="end" '
        f'class="small halo" {HALO} font-size="11">'
        f"{escaped(name)}</text>",
    ]


def _line(frame: Frame, line: Line) -> list[str]:
    """Return a curve, or what is known of it.

    Where only an interval is known, both of its ends are drawn and nothing between
    them, which could be taken for an estimate; where both coordinates have intervals,
    a box.
    """
    place, dash, shape = style_of(line.style)
    colour = LIGHT[place]
    if not all(_is_exact(point.x) for point in line.points):
        return [f'<g class="c{place}">', *_boxes(frame, line, shape), "</g>"]
    stroke = (
        f'fill="none" stroke="{colour}" stroke-width="2.2" '
        f'stroke-linejoin="round"{dashed(dash)}'
    )
    lower, upper = (
        [(frame.across(p.x[0]), frame.up(p.y[end])) for p in line.points]
        for end in (0, 1)
    )
    parts = [f'<g class="c{place}">']
    if upper != lower:
        path = joined([*lower, *reversed(upper)])
        parts.append(
            f'<path class="fill" d="M{path}Z" fill="{colour}" fill-opacity=".2"/>'
        )
    for spots in [lower] if upper == lower else [lower, upper]:
        if len(spots) > 1:
            parts.append(f'<path class="stroke" d="M{joined(spots)}" {stroke}/>')
    for point, *ends in zip(line.points, lower, upper, strict=True):
        for spot in dict.fromkeys(ends):
            parts.append(_mark(frame, line, point, shape, spot))
    return [*parts, "</g>"]


def _width(line: Line) -> float:
    """Return how much of a curve is not known, in no unit: exact ones have 0."""
    gaps = [high - low for p in line.points for low, high in (p.x, p.y)]
    return max(gaps)


def _boxes(frame: Frame, line: Line, shape: str) -> list[str]:
    """Return a box for each point, as large as what is not known of it."""
    place, dash, _ = style_of(line.style)
    colour = LIGHT[place]
    parts = []
    for point in line.points:
        if _is_exact(point.x) and _is_exact(point.y):
            spot = frame.across(point.x[0]), frame.up(point.y[0])
            parts.append(_mark(frame, line, point, shape, spot))
            continue
        left, right = (frame.across(end) for end in point.x)
        bottom, top = (frame.up(end) for end in point.y)
        parts.append(
            f'<rect class="fill stroke" x="{left:.1f}" y="{top:.1f}" '
            f'width="{max(right - left, 1):.1f}" height="{max(bottom - top, 1):.1f}" '
            f'rx="2" fill="{colour}" fill-opacity=".07" stroke="{colour}" '
            f'stroke-opacity=".7"{dashed(dash)}>'
            f"<title>{_said(frame, line, point)}</title></rect>"
        )
    return parts


def _mark(
    frame: Frame, line: Line, point: Point, shape: str, spot: tuple[float, float]
) -> str:
    """Return the marker of a point, which tells its values."""
    return (
        f'<path class="fill mark" d="{marker(shape, *spot, 4.2)}" '
        f'fill="{LIGHT[style_of(line.style)[0]]}" stroke="#ffffff" '
        f'stroke-width="1.2"><title>{_said(frame, line, point)}</title></path>'
    )


def _said(frame: Frame, line: Line, point: Point) -> str:
    return escaped(
        f"{line.name}, ε = {exactly(point.epsilon)}: {in_words(point.y, frame.y.unit)}"
    )


def _is_exact(ends: Ends) -> bool:
    return ends[0] == ends[1]


def _ring(frame: Frame, point: Point) -> list[str]:
    """Return the ring around what is known of the chosen setting, and its name."""
    left, right = (frame.across(end) for end in point.x)
    bottom, top = (frame.up(end) for end in point.y)
    ink = INK["ink"][0]
    is_right = right < (frame.left + frame.right) / 2
    place = right + 13 if is_right else left - 13
    anchor = "start" if is_right else "end"
    height = bottom + 17 if top < frame.top + 40 else top - 9
    text = f'x="{place:.1f}" y="{height:.1f}" text-anchor="{anchor}"'
    return [
        f'<rect class="ring" x="{left - 9:.1f}" y="{top - 9:.1f}" rx="9" '
        f'width="{right - left + 18:.1f}" height="{bottom - top + 18:.1f}" '
        f'fill="none" stroke="{ink}" stroke-width="1.8"/>',
        f'<text {text} class="strong halo" fill="{ink}" {HALO}>chosen</text>',
    ]
