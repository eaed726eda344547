"""Words of ordinary English text, to say what a setting does to such text."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Final

__all__ = ["PATH", "ordinary_words"]

PATH: Final = Path(__file__).parent / "data" / "ordinary.txt"


@functools.cache
def ordinary_words() -> tuple[str, ...]:
    """Return 1,000 running words of public text, alike ones side by side.

    They stand for 16 million words of openly licensed English, which NOTICE names:
    each word as often as its share of them.

    Examples
    --------
    >>> words = ordinary_words()
    >>> len(words), words[0]
    (1000, 'the')
    """
    lines = PATH.read_text(encoding="utf-8").splitlines()
    pairs = (line.split() for line in lines)
    return tuple(word for word, share in pairs for _ in range(int(share)))
