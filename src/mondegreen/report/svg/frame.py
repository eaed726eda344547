"""The frame of a drawing: where its axes lie, and its smallest pieces."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, final

from mondegreen.report.chart import Axis, ticks, written
from mondegreen.report.markup import escaped
from mondegreen.report.palette import INK

LEFT: Final = 62
_RIGHT, _TOP, _BOTTOM = 26, 30, 46

HALO: Final = (
    'stroke="#ffffff" stroke-width="4" paint-order="stroke" stroke-linejoin="round"'
)
"""Of text that lies over lines."""


@final
class Frame:
    """Where the axes of a chart lie."""

    def __init__(self, x: Axis, y: Axis, width: int, height: int) -> None:
        self.x, self.y = x, y
        self.left, self.right = LEFT, width - _RIGHT
        self.top, self.bottom = _TOP, height - _BOTTOM

    def across(self, value: float) -> float:
        """Return the place of a value of x."""
        return self.left + self.x.share(value) * (self.right - self.left)

    def up(self, value: float) -> float:
        """Return the place of a value of y."""
        return self.bottom - self.y.share(value) * (self.bottom - self.top)

    def axes(self) -> list[str]:
        """Return grid, numbers and labels."""
        parts = []
        for tick in ticks(self.y):
            y = self.up(tick)
            parts.append(rule("grid", f"M{self.left} {y:.1f}H{self.right}"))
            parts.append(
                f'<text x="{self.left - 8}" y="{y + 4:.1f}" text-anchor="end">'
                f"{written(tick, self.y.unit)}</text>"
            )
        for tick in ticks(self.x):
            x = self.across(tick)
            parts.append(rule("axis", f"M{x:.1f} {self.bottom}v5"))
            parts.append(
                f'<text x="{x:.1f}" y="{self.bottom + 20}" text-anchor="middle">'
                f"{written(tick, self.x.unit)}</text>"
            )
        parts.append(rule("axis", f"M{self.left} {self.bottom}H{self.right}"))
        parts.append(f'<text x="8" y="16">{label(self.y)}</text>')
        parts.append(
            f'<text x="{self.right}" y="{self.bottom + 40}" text-anchor="end">'
            f"{label(self.x)}</text>"
        )
        return parts


def label(axis: Axis) -> str:
    """Return the label of an axis, with real subscripts."""
    low = '<tspan dy="3" class="small" font-size="11">w</tspan><tspan dy="-3">'
    parts = re.split(r"(?<=[NS])_w", escaped(axis.label))
    return low.join(parts) + "</tspan>" * (len(parts) - 1)


def rule(kind: str, path: str) -> str:
    """Return a thin line, of the grid or of an axis."""
    colour = INK["line" if kind == "grid" else "quiet"][0]
    return f'<path class="{kind}" d="{path}" stroke="{colour}" fill="none"/>'


def dashed(dash: str) -> str:
    """Return the attribute of a dash pattern; nothing for a solid line."""
    return f' stroke-dasharray="{dash}"' if dash else ""


def joined(spots: Iterable[tuple[float, float]]) -> str:
    """Return places as the steps of a path."""
    return "L".join(f"{x:.1f} {y:.1f}" for x, y in spots)
