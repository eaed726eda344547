"""Colours, dashes and markers that tell mechanisms apart, to every eye and on paper.

Hues after Okabe and Ito, darkened or lightened until each has a contrast of 3 to 1 and
more with its ground (WCAG 2.2, 1.4.11). No two of forty curves share colour, dash and
marker, so that colour alone never has to be told apart.
"""

from __future__ import annotations

from typing import Final

LIGHT: Final = (
    "#0067a8",
    "#c05200",
    "#00805c",
    "#a8478a",
    "#8f6a00",
    "#3a86c8",
    "#5d5d66",
    "#8c2d19",
)
"""On white."""

DARK: Final = (
    "#4fa3ee",
    "#ff9248",
    "#3ecf9e",
    "#e38cc8",
    "#e0b83e",
    "#9ad9ff",
    "#b9bec8",
    "#ff7b6b",
)
"""On the ground of the dark page."""

INK: Final = {
    "ink": ("#1c2128", "#e8eaee"),
    "quiet": ("#59616d", "#a6aebb"),
    "line": ("#dcdfe4", "#363d49"),
    "ground": ("#f5f4f0", "#12151a"),
    "card": ("#ffffff", "#1a1f27"),
    "accent": ("#3b4cc0", "#9fb0ff"),
    "mark": ("#ffe9a8", "#5a4a12"),
    "soft": ("#eef0fb", "#232a3a"),
}
"""Other colours by use, in light and in dark."""

DASHES: Final = ("", "8 4", "2 3", "10 3 2 3", "5 2")

MARKERS: Final = (
    "circle",
    "square",
    "diamond",
    "up",
    "down",
    "cross",
    "hexagon",
    "plus",
)

_CORNERS: Final = {
    "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "diamond": ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
    "up": ((0, -1.2), (1.15, 0.9), (-1.15, 0.9)),
    "down": ((0, 1.2), (1.15, -0.9), (-1.15, -0.9)),
    "cross": (
        (-1.1, -0.6), (-0.6, -1.1), (0, -0.5), (0.6, -1.1), (1.1, -0.6), (0.5, 0),
        (1.1, 0.6), (0.6, 1.1), (0, 0.5), (-0.6, 1.1), (-1.1, 0.6), (-0.5, 0),
    ),
    "hexagon": (
        (-0.6, -1.05), (0.6, -1.05), (1.2, 0), (0.6, 1.05), (-0.6, 1.05), (-1.2, 0),
    ),
    "plus": (
        (-0.4, -1.3), (0.4, -1.3), (0.4, -0.4), (1.3, -0.4), (1.3, 0.4), (0.4, 0.4),
        (0.4, 1.3), (-0.4, 1.3), (-0.4, 0.4), (-1.3, 0.4), (-1.3, -0.4), (-0.4, -0.4),
    ),
}  # fmt: skip


def style_of(number: int) -> tuple[int, str, str]:
    """Return place of the colour, dash pattern and marker of a curve.

    Examples
    --------
    >>> style_of(0), style_of(1)
    ((0, '', 'circle'), (1, '8 4', 'square'))
    """
    return (
        number % len(LIGHT),
        DASHES[number % len(DASHES)],
        MARKERS[number % len(MARKERS)],
    )


def marker(shape: str, x: float, y: float, radius: float) -> str:
    """Return the path of a marker around a place."""
    if shape == "circle":
        return (
            f"M{x - radius:.1f} {y:.1f}a{radius} {radius} 0 1 0 {2 * radius} 0"
            f"a{radius} {radius} 0 1 0 {-2 * radius} 0Z"
        )
    corners = (
        f"{x + radius * across:.1f} {y + radius * up:.1f}"
        for across, up in _CORNERS[shape]
    )
    return f"M{'L'.join(corners)}Z"
