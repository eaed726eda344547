"""Charts as SVG: inside a page, whose colours they take, or as files of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mondegreen.report.chart import Chart, Fan, Histograms, Line
from mondegreen.report.markup import escaped
from mondegreen.report.palette import INK, LIGHT, marker, style_of
from mondegreen.report.svg.curves import draw_chart
from mondegreen.report.svg.distributions import draw_fan, draw_histograms
from mondegreen.report.svg.frame import LEFT, dashed

_LEGEND_LINE: Final = 20
_LONGEST: Final = 44
"""Characters of a name in a legend; the tables have the whole name."""

# Presentation attributes give a file its colours. A page overrules them by class, so
# that the same drawing follows light and dark.
STYLE: Final = "\n".join(
    [
        ".plot text{font:13px system-ui,sans-serif;fill:var(--quiet)}",
        ".plot .small{font-size:11px}",
        ".plot .strong{fill:var(--ink);font-weight:600}",
        ".plot .grid{stroke:var(--line)}",
        ".plot .axis{stroke:var(--quiet)}",
        ".plot .ring{stroke:var(--ink)}",
        ".plot .halo{stroke:var(--card)}",
        *(
            f".c{place}{{--c:var(--c{place})}}.plot .c{place} .stroke"
            f"{{stroke:var(--c)}}.plot .c{place} .fill{{fill:var(--c)}}"
            for place in range(len(LIGHT))
        ),
        ".plot .mark{stroke:var(--card)}",
    ]
)


def svg(
    figure: Chart | Histograms | Fan,
    width: int = 480,
    height: int = 300,
    *,
    is_file: bool = False,
) -> str:
    """Return a chart as an SVG element that screen readers can name.

    Parameters
    ----------
    figure : Chart, Histograms or Fan
    width, height : int
        Of the drawing, in its own units; those of histograms follow from their number.
    is_file : bool
        Whether it stands alone: with title and legend, on white.
    """
    legend: Sequence[Line] = ()
    if isinstance(figure, Histograms):
        parts, width, height = draw_histograms(figure)
    elif isinstance(figure, Fan):
        parts = draw_fan(figure, width, height)
    else:
        parts = draw_chart(figure, width, height)
        legend = figure.lines if is_file else ()
    return _framed(figure, parts, width, height, legend, is_file=is_file)


def swatch(style: int) -> str:
    """Return the line and marker of a curve, for a legend in a page."""
    parts = _sample(style, 2, 8)
    return (
        '<svg class="plot swatch" viewBox="0 0 36 16" width="36" height="16" '
        f'aria-hidden="true">{parts}</svg>'
    )


def _framed(
    figure: Chart | Histograms | Fan,
    parts: list[str],
    width: int,
    height: int,
    legend: Sequence[Line],
    *,
    is_file: bool,
) -> str:
    """Return the element around a drawing."""
    head, tail, top = [], [], 0
    if is_file:
        top = 34
        head = [
            f'<text class="strong" x="12" y="22" font-size="15" font-weight="600" '
            f'fill="{INK["ink"][0]}">{escaped(figure.title)}</text>',
            f'<g transform="translate(0 {top})">',
        ]
        tail = [*_legend(legend, height + 8), "</g>"]
    whole = top + height + _LEGEND_LINE * len(legend) + (16 if legend else 0)
    ground = f'<rect width="{width}" height="{whole}" fill="#ffffff"/>'
    font = 'font-family="system-ui,sans-serif" font-size="13"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="plot" {font} '
            f'viewBox="0 0 {width} {whole}" role="img" fill="{INK["quiet"][0]}" '
            f'aria-labelledby="{figure.key}-t {figure.key}-d">',
            f'<title id="{figure.key}-t">{escaped(figure.title)}</title>',
            f'<desc id="{figure.key}-d">{escaped(figure.says)}</desc>',
            *([ground] if is_file else []),
            *head,
            *parts,
            *tail,
            "</svg>",
        ]
    )


def _legend(lines: Sequence[Line], y: int) -> list[str]:
    """Return a line for each curve."""
    parts = []
    for line in lines:
        parts.append(_sample(line.style, LEFT, y + 4))
        parts.append(f'<text x="{LEFT + 44}" y="{y + 9}">{_short(line.name)}</text>')
        y += _LEGEND_LINE
    return parts


def _sample(style: int, x: float, y: float) -> str:
    """Return a piece of a curve with one marker."""
    place, dash, shape = style_of(style)
    return (
        f'<g class="c{place}"><path class="stroke" d="M{x} {y}h32" fill="none" '
        f'stroke="{LIGHT[place]}" stroke-width="2.2"{dashed(dash)}/>'
        f'<path class="fill mark" d="{marker(shape, x + 16, y, 4)}" '
        f'fill="{LIGHT[place]}" stroke="#ffffff"/></g>'
    )


def _short(name: str) -> str:
    cut = name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"
    return escaped(cut)
