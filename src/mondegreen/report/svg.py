"""Drawings of matplotlib as SVG and PNG, in colours that a page can replace.

A drawing has the light colours of :data:`COLOURS`, so that it is whole by itself. In a
page they become CSS variables, which follow light and dark.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from mondegreen.errors import OptionalDependencyError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Hues after Okabe and Ito, darkened for white and lightened for the dark page until
# each has the contrast of text with its ground, 4.5 to 1 (WCAG 2.2, 1.4.3).
COLOURS: Final = {
    "c0": ("#0067a8", "#4fa3ee"),
    "c1": ("#c05200", "#ff9248"),
    "c2": ("#00805c", "#3ecf9e"),
    "c3": ("#a8478a", "#e38cc8"),
    "c4": ("#8f6a00", "#e0b83e"),
    "c5": ("#2f78b8", "#9ad9ff"),
    "c6": ("#5d5d66", "#b9bec8"),
    "c7": ("#8c2d19", "#ff7b6b"),
    "ink": ("#1c2128", "#e8eaee"),
    "quiet": ("#59616d", "#a6aebb"),
    "line": ("#dcdfe4", "#363d49"),
    "ground": ("#f5f4f0", "#12151a"),
    "card": ("#ffffff", "#1a1f27"),
    "accent": ("#3b4cc0", "#9fb0ff"),
    "mark": ("#ffe9a8", "#5a4a12"),
    "soft": ("#eef0fb", "#232a3a"),
}
"""Colours by use, in light and in dark."""

INK, QUIET, RULE, CARD = (COLOURS[name][0] for name in ("ink", "quiet", "line", "card"))
FONT: Final = 14
ADVANCE: Final = 0.58 * FONT
"""Width of a character on average, rather more than less."""

_NAMES: Final = {light: name for name, (light, _) in COLOURS.items()}
_HALO: Final = f"paint-order:stroke;stroke:{CARD};stroke-width:4;stroke-linejoin:round"
# What matplotlib writes becomes short: no identifiers but those of markers, no fonts of
# this machine, and "N_w" with a real subscript.
_CLEANING: Final = (
    (re.compile(r'<g id="halo">'), f'<g style="{_HALO}">'),
    (re.compile(r'<g id="[^"]*"/>'), ""),
    (re.compile(r'<g id="[^"]*">'), "<g>"),
    (re.compile(r' transform="rotate\(-0 [^"]*"'), ""),
    (re.compile(rf' style="font-size: {FONT}px; font-family: [^;"]*;?'), ' style="'),
    (re.compile(r"; font-family: [^;\"]*"), ""),
    (re.compile(rf'; fill: {QUIET}"(?= x=)'), '"'),
    # Markers repeat what their definition says.
    (re.compile(r'(<use [^>]*style="fill: [^;"]*)[^"]*'), r"\1"),
    (re.compile(r"\s*\n\s*"), " "),
    (re.compile(r"> <"), "><"),
    (
        re.compile(r"\b([NS])_w\b([^<]*)(?=</text>)"),
        r'\1<tspan dy="3" style="font-size:80%">w</tspan><tspan dy="-3">\2</tspan>',
    ),
)
_TEXT: Final = f'style="font-size:{FONT}px;fill:{QUIET}"'
_NUMBERS: Final = re.compile(r' (?:d|x|y)="[^"]*"')
_LONG: Final = re.compile(r"(-?\d+\.\d\d)\d+")


def check_drawing(what: str) -> None:
    """Refuse to go on where the library of the extra ``report`` is absent."""
    try:
        import_module("matplotlib")
    except ImportError:
        raise OptionalDependencyError("matplotlib", "report", feature=what) from None


@contextmanager
def canvas(width: float, height: float) -> Iterator[Figure]:
    """Make an empty drawing, in pixels, apart from any state of pyplot."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    settings: Any = {
        "svg.fonttype": "none",
        "text.parse_math": False,  # a dollar sign starts no formula
        "font.size": FONT,
        "text.color": QUIET,
        "axes.edgecolor": QUIET,
    }
    with mpl.rc_context(settings), warnings.catch_warnings():
        # Only the width is wrong of a glyph that the font lacks: text stays text.
        warnings.filterwarnings("ignore", message="Glyph")
        yield Figure(figsize=(width / 72, height / 72), dpi=72, frameon=False)


def size(drawing: Figure) -> tuple[int, int]:
    width, height = drawing.get_size_inches() * 72
    return round(width), round(height)


def element(drawing: Figure, key: str, about: str, tips: Sequence[str] = ()) -> str:
    """Write a drawing as an element of a page; ``about`` holds its class and names.

    ``key`` is unique in the page; tips are shown by what has the gid ``tip-NUMBER``.
    """
    width, height = size(drawing)
    body = _body(drawing, key, tips)
    return _apply_theme(
        f'<svg {about} viewBox="0 0 {width} {height}" {_TEXT}>{body}</svg>'
    )


def svg_file(
    drawing: Figure, title: str, says: str, tips: Sequence[str], *, follows_theme: bool
) -> bytes:
    """Write a drawing as a file, which the same drawing always gives.

    One that ``follows_theme`` is dark where the system of the reader is; programs other
    than browsers may not understand it.
    """
    width, height = size(drawing)
    body = _body(drawing, title, tips)
    whole = (
        '<svg xmlns="http://www.w3.org/2000/svg" '
        'xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="system-ui,sans-serif" {_TEXT} '
        f'role="img" aria-labelledby="t d"><title id="t">{escape_plain(title)}</title>'
        f'<desc id="d">{escape_plain(says)}</desc>{body}</svg>\n'
    )
    if follows_theme:
        style = f"<style>{theme('svg')}svg{{background:var(--card)}}</style>"
        whole = _apply_theme(whole).replace("</desc>", f"</desc>{style}", 1)
    return whole.encode()


def png_file(drawing: Figure) -> bytes:
    target = io.BytesIO()
    drawing.savefig(target, format="png", dpi=160)
    return target.getvalue()


def theme(root: str = ":root") -> str:
    """Write the CSS that gives every colour its value, in light and in dark."""
    light, dark = (
        "".join(f"--{name}:{pair[place]};" for name, pair in COLOURS.items())
        for place in (0, 1)
    )
    return (
        f"{root}{{color-scheme:light dark;{light}}}"
        f"@media screen and (prefers-color-scheme:dark){{{root}{{{dark}}}}}"
    )


def plain(text: object) -> str:
    """Replace what XML and HTML cannot hold, which a browser would replace or drop."""
    whole = str(text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]", "\ufffd", whole)


def _body(drawing: Figure, key: str, tips: Sequence[str]) -> str:
    import matplotlib as mpl

    target = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": plain(key)}):
        drawing.savefig(target, format="svg", metadata={"Date": None})
    whole = target.getvalue()
    # Without the prolog, and without a style sheet that would hold for all of a page.
    body = whole[whole.index('<g id="figure_1">') : whole.rindex("</svg>")]
    for place, tip in enumerate(tips):
        new = f"<g><title>{escape_plain(tip)}</title>"
        body = body.replace(f'<g id="tip-{place}">', new)
    for pattern, other in _CLEANING:
        body = pattern.sub(other, body)
    return _NUMBERS.sub(lambda found: _LONG.sub(r"\1", found[0]), body)


def _apply_theme(body: str) -> str:
    """Replace colours by CSS variables."""
    pattern = "|".join(_NAMES)
    return re.sub(pattern, lambda found: f"var(--{_NAMES[found[0]]})", body)


def escape_plain(text: str) -> str:
    return escape(plain(text))
