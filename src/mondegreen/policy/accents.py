"""Words with marks, such as Zürich and José: their spelling without them."""

from __future__ import annotations

import unicodedata
from typing import Final

from mondegreen.text.tokenizer import LONGEST
from mondegreen.text.unicode import without_later

ACCENTED: Final = frozenset(
    "café cafés cliché clichés décor façade façades naïve résumé résumés".split()
)
"""The only words with marks that may be ordinary, and only in small letters."""

_OTHERS: Final = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ı": "i"}
)
"""Letters that Unicode does not take apart."""


def without_marks(folded: str) -> str:
    """Write a folded word without marks; "" if it has none, or other letters.

    >>> without_marks("zürich"), without_marks("łódź"), without_marks("東京")
    ('zurich', 'lodz', '')
    """
    if folded.isascii() or len(folded) > LONGEST:
        return ""
    letters = unicodedata.normalize("NFD", without_later(folded).translate(_OTHERS))
    plain = "".join(each for each in letters if not unicodedata.combining(each))
    return plain if plain.isascii() and plain.isalpha() else ""
