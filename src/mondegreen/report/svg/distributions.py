"""Histograms and fans: how something is spread over the vocabulary."""

from __future__ import annotations

import math
from collections.abc import Iterable

from mondegreen.report.chart import Fan, Histograms, Panel, written
from mondegreen.report.markup import escaped
from mondegreen.report.palette import DASHES, INK, LIGHT, style_of
from mondegreen.report.svg.frame import Frame, dashed, joined, label, rule

_PANEL_WIDTH, _PANEL_HEIGHT, _ACROSS = 180, 122, 3


def draw_histograms(figure: Histograms) -> tuple[list[str], int, int]:
    """Return small histograms side by side, with the width and height of all."""
    parts = []
    across = _ACROSS
    rows = -(-len(figure.panels) // across)
    for place, panel in enumerate(figure.panels):
        x = 12 + place % across * _PANEL_WIDTH
        y = place // across * _PANEL_HEIGHT
        parts += _panel(figure, panel, x, y)
    width, height = 24 + across * _PANEL_WIDTH, rows * _PANEL_HEIGHT + 26
    parts.append(
        f'<text x="{width - 24}" y="{height - 8}" text-anchor="end">'
        f"{label(figure.x)}</text>"
    )
    return parts, width, height


def _panel(figure: Histograms, panel: Panel, x: float, y: float) -> list[str]:
    """Return one histogram, whose highest bar fills the height."""
    colour, ink = LIGHT[style_of(figure.style)[0]], INK["ink"][0]
    width, bottom, height = _PANEL_WIDTH - 20, y + _PANEL_HEIGHT - 28, 62
    highest = max(panel.shares)
    name = panel.title + (", chosen" if panel.is_chosen else "")
    kind = ' class="strong"' if panel.is_chosen else ""
    fill = f' fill="{ink}" font-weight="600"' if panel.is_chosen else ""
    bars = []
    for low, high, share in zip(
        figure.edges[:-1], figure.edges[1:], panel.shares, strict=True
    ):
        left = x + figure.x.share(low) * width
        wide = max(1.0, x + figure.x.share(high) * width - left - 1)
        tall = share / highest * height
        if share > 0:
            said = (
                f"{written(low, figure.x.unit)} to {written(high, figure.x.unit)}: "
                f"{written(share, 'share')} of the words"
            )
            bars.append(
                f'<rect class="fill" x="{left:.1f}" y="{bottom - tall:.1f}" '
                f'width="{wide:.1f}" height="{max(tall, 0.8):.1f}" fill="{colour}">'
                f"<title>{said}</title></rect>"
            )
    place = style_of(figure.style)[0]
    marks = [figure.x.low, figure.x.high]
    if not figure.x.is_log:
        marks.insert(1, (figure.x.low + figure.x.high) / 2)
    elif figure.x.high > 1000 * figure.x.low:
        marks.insert(1, 10.0 ** round(math.log10(figure.x.low * figure.x.high) / 2))
    anchors = dict(zip((marks[0], marks[-1]), ("start", "end"), strict=True))
    return [
        f'<text x="{x}" y="{y + 16}"{kind}{fill}>{escaped(name)}</text>',
        f'<text x="{x + width}" y="{y + 16}" text-anchor="end" class="small" '
        f'font-size="11">↑ {written(highest, "share")}</text>',
        f'<g class="c{place}">',
        *bars,
        "</g>",
        rule("axis", f"M{x} {bottom + 0.5}h{width}"),
        *(
            f'<text x="{x + figure.x.share(tick) * width:.1f}" y="{bottom + 16}" '
            f'text-anchor="{anchors.get(tick, "middle")}" font-size="11">'
            f"{written(tick, figure.x.unit)}</text>"
            for tick in marks
        ),
    ]


def draw_fan(fan: Fan, width: int, height: int) -> list[str]:
    """Return nested bands around a median, and the names of the percentiles."""
    frame = Frame(fan.x, fan.y, width, height)
    frame.right -= 62
    parts = [*frame.axes(), '<g class="c0">']
    count = len(fan.percentiles)
    colour = LIGHT[0]
    for place in range(count // 2):
        lower = [(x, row[place]) for x, row in zip(fan.at, fan.rows, strict=True)]
        upper = [(x, row[-1 - place]) for x, row in zip(fan.at, fan.rows, strict=True)]
        path = _path(frame, [*lower, *reversed(upper)])
        parts.append(
            f'<path class="fill" d="M{path}Z" fill="{colour}" fill-opacity=".22"/>'
        )
    for place in range(count):
        points = [(x, row[place]) for x, row in zip(fan.at, fan.rows, strict=True)]
        is_median = place == count // 2
        dash = "" if is_median else dashed(DASHES[1])
        parts.append(
            f'<path class="stroke" d="M{_path(frame, points)}" fill="none" '
            f'stroke="{colour}" stroke-width="{2.4 if is_median else 1.1}"{dash}/>'
        )
    parts.append("</g>")
    names = zip(fan.percentiles, fan.rows[-1], strict=True)
    heights = _apart([frame.up(value) for _, value in names], 15)
    for percentile, y in zip(fan.percentiles, heights, strict=True):
        name = "median" if percentile == 50 else f"{percentile:g}%"
        parts.append(f'<text x="{frame.right + 8}" y="{y + 4:.1f}">{name}</text>')
    return parts


def _path(frame: Frame, points: Iterable[tuple[float, float]]) -> str:
    return joined((frame.across(x), frame.up(y)) for x, y in points)


def _apart(heights: list[float], least: float) -> list[float]:
    """Return heights of labels, from the lowest up, that do not overlap."""
    found: list[float] = []
    for height in heights:
        found.append(min(height, found[-1] - least) if found else height)
    return found
