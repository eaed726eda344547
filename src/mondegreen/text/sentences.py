"""Where sentences end, by public rules over structure alone."""

from __future__ import annotations

import re
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mondegreen.text.tokenizer import TokenizedBatch

# A full stop that touches words on both sides ends nothing: 3.14, u.s, example.com.
_ENDS: Final = re.compile("[!?！？。؟।\n\r]|\\.(?!\\Z)")


def sentence_ends(structures: list[str]) -> list[bool]:
    r"""Tell after which words of a text a sentence ends.

    A public function of the structure behind each word, which passes unchanged: a
    sentence ends at an exclamation or question mark, at a line end, and at a full stop
    that is followed by something other than the next word. It knows no abbreviations.

    Parameters
    ----------
    structures : list of str
        What stands behind each word of one text, in order: ``parts[2::2]`` of
        :class:`~mondegreen.text.tokenizer.TokenizedBatch`.

    Returns
    -------
    list of bool
        One for each word. The last is always True.

    Examples
    --------
    >>> sentence_ends([" ", ". ", ".", " ", ""])
    [False, True, False, False, True]
    """
    search = _ENDS.search
    ends = [gap != " " and search(gap) is not None for gap in structures]
    if ends:
        ends[-1] = True
    return ends


def find_ends(batch: TokenizedBatch) -> NDArray[np.bool_]:
    """Tell after which words of a batch a sentence ends, flat over its texts."""
    texts = (sentence_ends(parts[2::2]) for parts in batch.parts if parts)
    return np.fromiter(chain.from_iterable(texts), np.bool_)
