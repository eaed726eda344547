"""MkDocs hook: where a line breaks in code, and that none does before a comma.

A browser breaks ``--hide-identifiers`` after each hyphen, and a path where its line
ends. Here a short word stays whole, and a long one may break after a slash, a dot or an
underscore. A formula and the comma behind it stay together, and so does a short cell of
numbers.
"""

from __future__ import annotations

import re
from typing import Any, Final

__all__ = ["LONGEST", "on_page_content", "set_breaks"]

LONGEST: Final = 24
"""Characters of a word that a narrow column always has room for."""

# Code in a block follows an empty span, and keeps its lines.
_INLINE: Final = re.compile(r"(?<!<span></span>)(<code>)([^<]+)(</code>)")
_CLOSED: Final = re.compile(r"(<math\b(?:(?!</math>).)*</math>)([,.;:)\]]+)", re.DOTALL)
_NUMBERS: Final = re.compile(r'<td (style="text-align: right;">(.*?)</td>)', re.DOTALL)
_PART: Final = re.compile(r"(?<=\w)([/._=:,])(?=\w)")


def set_breaks(code: str) -> str:
    """Return the HTML of code in a line, with its places to break.

    >>> set_breaks("attack --show")
    'attack <span class="whole">--show</span>'
    >>> set_breaks("benchmarks/measure/mutants.py")
    'benchmarks/<wbr>measure/<wbr>mutants.<wbr>py'
    """
    return re.sub(r"\S+", lambda found: _set_word(found[0]), code)


def _set_word(word: str) -> str:
    if len(word) > LONGEST:
        return _PART.sub(r"\1<wbr>", word)
    return f'<span class="whole">{word}</span>' if re.search(r"\W", word) else word


def _set_numbers(found: re.Match[str]) -> str:
    shown = re.sub(r"<[^>]*>", "", found[2])
    return f'<td class="whole" {found[1]}' if len(shown) <= LONGEST else found[0]


def on_page_content(html: str, **_: Any) -> str:
    """Set the breaks of a page; MkDocs calls this."""
    html = _CLOSED.sub(r'<span class="whole">\1\2</span>', html)
    html = _NUMBERS.sub(_set_numbers, html)
    return _INLINE.sub(lambda found: found[1] + set_breaks(found[2]) + found[3], html)
