"""Line charts as SVG, for pages in light and in dark."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

__all__ = ["line_chart"]

Points = Sequence[tuple[float, float]]

# Hues that stay apart for colour-blind eyes, and readable on white and on slate.
_COLOURS = (
    "#d55e00",
    "#0086c9",
    "#009e73",
    "#b8860b",
    "#c45a9b",
    "#7a6fd0",
    "#8a8a8a",
    "#a0522d",
    "#5f9e2f",
    "#d1477a",
    "#4f6fbf",
    "#00a3a3",
    "#8c5fb5",
    "#6b7a8f",
)
_WIDTH, _HEIGHT = 640, 380
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 492, 20, 320
_LABEL = 16
_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#333}"
    ".axis{stroke:#777;fill:none}.grid{stroke:#777;stroke-opacity:.25}"
    ".line{fill:none;stroke-width:2}.dash{stroke-dasharray:6 4}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}}"
)


def line_chart(
    lines: Mapping[str, Points],
    x_label: str,
    y_label: str,
    dashed: Sequence[str] = (),
    *,
    linear: bool = False,
) -> str:
    """Return a chart of lines by name.

    Parameters
    ----------
    lines : mapping of str to points
        All coordinates above 0. Colours go by the order, and a line without points
        keeps its colour.
    x_label, y_label : str
        What the axes show, with units.
    dashed : sequence of str
        Names of lines that are limits rather than measurements of ours.
    linear : bool
        Whether both axes count tenths; they are logarithmic otherwise.
    """
    xs = [x for points in lines.values() for x, _ in points]
    ys = [y for points in lines.values() for _, y in points]
    across: _Scale | _Tenths
    up: _Scale | _Tenths
    if linear:
        across, up = _Tenths(xs, _LEFT, _RIGHT), _Tenths(ys, _BOTTOM, _TOP)
        ticks = across.ticks
    else:
        across = _Scale(min(xs), max(xs), _LEFT, _RIGHT)
        ticks = sorted(set(xs))
        up = _Scale(
            _decade(min(ys), math.floor), _decade(max(ys), math.ceil), _BOTTOM, _TOP
        )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'role="img" aria-label="{escape(y_label)} by {escape(x_label)}">',
        f"<style>{_STYLE}</style>",
        *_axes(across, up, ticks, x_label, y_label),
    ]
    ends = []
    if len(lines) > len(_COLOURS):
        raise ValueError(f"{len(lines)} lines, and {len(_COLOURS)} colours")
    for (name, points), colour in zip(lines.items(), _COLOURS, strict=False):
        if not points:  # it keeps its colour for other charts
            continue
        places = [(across(x), up(y)) for x, y in sorted(points)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        dash = " dash" if name in dashed else ""
        parts.append(
            f'<polyline class="line{dash}" stroke="{colour}" points="{path}"/>'
        )
        parts += [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>'
            for x, y in places
        ]
        ends.append((places[-1], name, colour))
    return "\n".join([*parts, *_labels(ends), "</svg>"]) + "\n"


class _Scale:
    """Maps the logarithm of numbers to places."""

    def __init__(self, low: float, high: float, start: float, stop: float) -> None:
        self.low, self.high = low, high
        self._start, self._stop = start, stop

    def __call__(self, value: float) -> float:
        if self.high == self.low:
            return (self._start + self._stop) / 2
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self._start + share * (self._stop - self._start)

    @property
    def ticks(self) -> list[float]:
        """Powers of ten."""
        first, last = round(math.log10(self.low)), math.log10(self.high * 1.001)
        return [10.0**exponent for exponent in range(first, math.floor(last) + 1)]


class _Tenths:
    """Maps numbers to places, from a tenth to a tenth."""

    def __init__(self, values: Sequence[float], start: float, stop: float) -> None:
        first = math.floor(min(values) * 10 + 1e-9)
        last = max(math.ceil(max(values) * 10 - 1e-9), first + 1)
        self.ticks = [tenth / 10 for tenth in range(first, last + 1)]
        self._start, self._stop = start, stop

    def __call__(self, value: float) -> float:
        share = (value - self.ticks[0]) / (self.ticks[-1] - self.ticks[0])
        return self._start + share * (self._stop - self._start)


def _decade(value: float, rounded: type[int]) -> float:
    return 10.0 ** rounded(math.log10(value))


def _axes(
    across: _Scale | _Tenths,
    up: _Scale | _Tenths,
    ticks: list[float],
    x_label: str,
    y_label: str,
) -> list[str]:
    """Return grid, numbers and labels."""
    parts = [f'<path class="axis" d="M{_LEFT} {_TOP}V{_BOTTOM}H{_RIGHT}"/>']
    for value in up.ticks:
        y = up(value)
        parts.append(f'<path class="grid" d="M{_LEFT} {y:.1f}H{_RIGHT}"/>')
        parts.append(
            f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">'
            f"{_short(value)}</text>"
        )
    for tick in ticks:
        parts.append(
            f'<text x="{across(tick):.1f}" y="{_BOTTOM + 20}" text-anchor="middle">'
            f"{_short(tick)}</text>"
        )
    middle = (_LEFT + _RIGHT) / 2
    parts.append(
        f'<text x="{middle}" y="{_HEIGHT - 14}" text-anchor="middle">'
        f"{escape(x_label)}</text>"
    )
    middle = (_TOP + _BOTTOM) / 2
    parts.append(
        f'<text transform="translate(16 {middle}) rotate(-90)" text-anchor="middle">'
        f"{escape(y_label)}</text>"
    )
    return parts


def _labels(ends: list[tuple[tuple[float, float], str, str]]) -> list[str]:
    """Return the names of lines beside their ends, moved apart where they overlap."""
    parts, free = [], _TOP - _LABEL
    wanted = sorted(ends, key=lambda end: end[0][1])
    heights = []
    for (_, y), _, _ in wanted:
        free = max(y, free + _LABEL)
        heights.append(free)
    below = max(0.0, (heights[-1] if heights else 0) - _BOTTOM)
    for ((x, y), name, colour), height in zip(wanted, heights, strict=True):
        place = max(_TOP, height - below)
        parts.append(
            f'<path d="M{x + 5:.1f} {y:.1f}L{_RIGHT + 14} {place:.1f}" fill="none" '
            f'stroke="{colour}" stroke-opacity=".5"/>'
        )
        parts.append(
            f'<text x="{_RIGHT + 18}" y="{place + 4:.1f}" style="fill:{colour}">'
            f"{escape(name)}</text>"
        )
    return parts


def _short(value: float) -> str:
    """Return a number as people write it: 34k, 0.1, 2M."""
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"
