"""Text inside of HTML and SVG: whatever it holds, it stays text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

# What XML cannot hold, and a browser would replace or drop.
_FORBIDDEN: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]")


def escaped(text: object) -> str:
    """Return text that may stand in an element or in a quoted attribute.

    Examples
    --------
    >>> escaped('<b> & "c"')
    '&lt;b&gt; &amp; &quot;c&quot;'
    """
    return escape(_FORBIDDEN.sub("\ufffd", str(text)), quote=True)


def with_symbols(text: str) -> str:
    """Return text as markup, with subscripts for N_w and S_w."""
    return re.sub(r"\b([NS])_w\b", r"\1<sub>w</sub>", escaped(text))


def word(text: str) -> str:
    """Return a word or a sentence, whose direction of writing stays its own."""
    return f"<bdi>{escaped(text)}</bdi>"


def to_bytes(markup: str) -> bytes:
    """Return UTF-8; half a character, which UTF-8 cannot hold, becomes a mark."""
    return markup.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def table(
    caption: str,
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    names: int = 1,
) -> str:
    """Return a table of markup; its first columns are headers of their row.

    Parameters
    ----------
    caption : str
        Text, not markup.
    head, rows : sequences of str
        Markup of the cells.
    names : int
        So many cells name a row.
    """
    lines = [
        f"<table><caption>{escaped(caption)}</caption>",
        "<thead><tr>",
        *(f'<th scope="col">{cell}</th>' for cell in head),
        "</tr></thead><tbody>",
    ]
    for row in rows:
        cells = "".join(
            f'<th scope="row">{cell}</th>' if place < names else f"<td>{cell}</td>"
            for place, cell in enumerate(row)
        )
        lines.append(f"<tr>{cells}</tr>")
    return "".join([*lines, "</tbody></table>"])
