"""A figure of the page: title, reading, legend, drawing, and the numbers behind it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from mondegreen.report.chart import Chart, Fan, Histograms, exactly, in_words, written
from mondegreen.report.markup import escaped, table, with_symbols
from mondegreen.report.svg.element import svg, swatch

_MANY: Final = 6
"""More curves than these have a legend in columns."""


def figure_element(figure: Chart | Histograms | Fan, *, is_wide: bool = False) -> str:
    """Return the element of a figure."""
    width, height = (600, 380) if is_wide else (480, 300)
    drawing = svg(figure, width, height)
    if isinstance(figure, Histograms):
        numbers, drawing = (
            _histogram_table(figure),
            f'<div class="panels">{drawing}</div>',
        )
    elif isinstance(figure, Fan):
        numbers = _fan_table(figure)
    else:
        numbers = _chart_table(figure)
    kind = ' class="wide"' if is_wide else ""
    return "".join(
        [
            f'<figure id="fig-{figure.key}"{kind}><figcaption>'
            f"<h3>{escaped(figure.title)}</h3><p>{with_symbols(figure.says)}</p></figcaption>",
            _legend(figure),
            drawing,
            _missing(figure),
            '<details class="numbers"><summary>The numbers</summary>'
            f'<div class="scroll long" role="region" tabindex="0" aria-label="Numbers '
            f'of the figure: {escaped(figure.title)}">{numbers}</div></details>',
            "</figure>",
        ]
    )


def _legend(figure: Chart | Histograms | Fan) -> str:
    """Return names beside their line and marker; one curve needs none."""
    if not isinstance(figure, Chart) or (len(figure.lines) == 1 and not figure.missing):
        return "<div></div>"
    items = "".join(
        f"<li>{swatch(line.style)}<span>{escaped(line.name)}</span></li>"
        for line in figure.lines
    )
    many = " many" if len(figure.lines) > _MANY else ""
    return f'<ul class="legend{many}">{items}</ul>'


def _missing(figure: Chart | Histograms | Fan) -> str:
    """Return which mechanisms are not shown."""
    if not isinstance(figure, Chart) or not figure.missing:
        return "<div></div>"
    names = escaped(", ".join(figure.missing))
    return f'<p class="note-line">Not known, so not drawn: {names}.</p>'


def _chart_table(chart: Chart) -> str:
    """Return every point of every curve."""
    head = ["mechanism", "ε"]
    is_epsilon = chart.key.endswith("-by-epsilon")
    if not is_epsilon:
        head.append(with_symbols(chart.x.label))
    head.append(with_symbols(chart.y.label))
    rows = []
    for line in chart.lines:
        for point in line.points:
            row = [escaped(line.name), exactly(point.epsilon)]
            if not is_epsilon:
                row.append(in_words(point.x, chart.x.unit))
            rows.append([*row, in_words(point.y, chart.y.unit)])
    rows += [
        [escaped(name), *[""] * (len(head) - 2), written(value, chart.y.unit)]
        for name, value in chart.reference
    ]
    return table(chart.title, head, rows, names=2)


def _histogram_table(figure: Histograms) -> str:
    """Return the share of words in every bin, a column for each epsilon."""
    head = [with_symbols(figure.x.label), *(escaped(p.title) for p in figure.panels)]
    bins = zip(figure.edges[:-1], figure.edges[1:], strict=True)
    rows: Iterable[list[str]] = (
        [
            f"{written(low, figure.x.unit)} to {written(high, figure.x.unit)}",
            *(written(panel.shares[place], "share") for panel in figure.panels),
        ]
        for place, (low, high) in enumerate(bins)
    )
    return table(f"{figure.title}: share of the vocabulary", head, rows)


def _fan_table(fan: Fan) -> str:
    """Return every percentile of every k."""
    head = ["k", *(f"{percentile:g} %" for percentile in fan.percentiles)]
    rows = (
        [written(x), *(written(value) for value in row)]
        for x, row in zip(fan.at, fan.rows, strict=True)
    )
    return table(f"{fan.title}: percentiles over the words", head, rows)
