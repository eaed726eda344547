"""Structure: the short public list of what passes unchanged between words."""

from __future__ import annotations

import math
import re
from itertools import islice
from typing import Final

SIGNS: Final = (
    "!\"#%&'()*+,-./:;<=>?@[\\]^_`{|}~"  # ASCII
    "‘’‚“”„«»‹›–—…•·¡¿"  # typographic
    "、。，！？：；（）「」『』"  # Chinese and Japanese
    "،؛؟।"  # Arabic, Hindi
)
"""Ordinary punctuation."""

CURRENCY: Final = "$¢£¥€₹₩₽"
"""Currency signs: structure beside a digit or alone, and otherwise a word."""

BLANKS: Final = " \t\n\r\xa0"
"""White space: space, tab, line feed, carriage return and no-break space."""

LISTED: Final = SIGNS + CURRENCY + BLANKS
"""All characters of the list; any other is content."""

GAP: Final = 8
"""Units of the longest gap between two words that passes whole."""

SAME: Final = 32
"""Length up to which a run of one same white-space character is one unit."""

_ENDINGS: Final = 4  # 's as the first unit of a gap: two apostrophes, two cases
KINDS: Final = (
    len(SIGNS + CURRENCY)
    + SAME * (len(BLANKS) + 1)  # and one more, the line end \r\n
    + _ENDINGS
)
"""How many units there are."""

GAP_BITS: Final = math.log2(sum(KINDS**units for units in range(GAP + 1)))
"""Bits that a gap can carry at most: the logarithm of the number of gaps."""

_UNIT: Final = re.compile(
    rf"['’][sS]|(\r\n|[{BLANKS}])\1{{0,{SAME - 1}}}+|.", re.DOTALL
)


def cut_gaps(parts: list[str]) -> list[str]:
    r"""Turn what is too long for a gap into a word.

    Structure and words come in turn, as they came. Of a gap of more than 8 units the
    first two and the last two characters stay, so that a line keeps its end.

    >>> cut_gaps(["", "a", "\n----------\n", "b", "...!"])
    ['', 'a', '\n-', '--------', '-\n', 'b', '...!']
    """
    cut: list[str] = []
    for place, part in enumerate(parts):
        if place % 2 == 0 and len(part) > GAP and is_long(part):
            end = -1 if part[-2].isalpha() else -2  # half of an 's would be a letter
            cut += [part[:2], part[2:end], part[end:]]
        else:
            cut.append(part)
    return cut


def is_long(gap: str) -> bool:
    """Whether a gap has more units than may pass; looks no further than they do."""
    return sum(1 for _ in islice(_UNIT.finditer(gap), GAP + 1)) > GAP
