"""Plain structure: what is printed between words where nothing of the input is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Codes, Ids
from mondegreen.errors import InvalidParameterError
from mondegreen.text.lookup import DROP

SentenceEnds: TypeAlias = Callable[[Ids, NDArray[np.int64]], NDArray[np.bool_]]
"""From the released ids of texts, one text behind the other, and the number of words of
each, to whether a sentence ends after each word.

It sees no input. An id is negative where a word is kept or masked. What it says of one
text may not depend on the others of the batch; that a text ends, it need not say."""


def last_alone(ids: Ids, counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """End no sentence before the last word of a text.

    >>> last_alone(np.array([7, 4], dtype=np.int32), np.array([2])).tolist()
    [False, False]
    """
    return np.zeros(len(ids), dtype=np.bool_)


def plain_parts(
    texts: Sequence[list[str] | None],
    codes: Codes,
    counts: Sequence[int],
    ends: SentenceEnds,
) -> list[list[str] | None]:
    """Replace the structure of texts: single spaces, and a full stop after sentences.

    A function of the codes and the null texts. Nothing is put around a word that is
    dropped.

    >>> texts = [["(", "Oslo", "? ", "Yes", "!"], None]
    >>> plain_parts(texts, np.array([3, 4], dtype=np.int32), [2, 0], last_alone)
    [['', 'Oslo', ' ', 'Yes', '.'], None]
    """
    printed = codes != DROP
    bounds = np.cumsum([0, *counts])
    before = np.append(0, np.cumsum(printed))[bounds]
    shown = np.diff(before)
    stops = ends(codes[printed], shown)
    if stops.shape != (before[-1],) or stops.dtype != np.bool_:
        allowed = f"one boolean for each of {before[-1]} words"
        raise InvalidParameterError("ends", f"{stops.dtype}{stops.shape}", allowed)
    mine = np.where(stops, ". ", " ").astype(object)
    mine[before[1:][shown > 0] - 1] = "."
    gaps = np.full(len(codes), "", dtype=object)
    gaps[printed] = mine
    flat: list[str] = gaps.tolist()
    found: list[list[str] | None] = []
    for parts, start, count in zip(texts, bounds.tolist(), counts, strict=False):
        if parts is not None:
            parts = ["", *parts[1:]]
            parts[2::2] = flat[start : start + count]
        found.append(parts)
    return found
