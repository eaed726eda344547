r"""An attacker who counts which words are hidden between two visible ones.

Where masks show the length of a word or some of its letters, few words fit, and the
nearest visible words on both sides tell which. The attacker counts the hidden words of
known releases by what stands there:

1. the mask, with what it shows, and the nearest visible word on each side,
2. the mask and the one before it,
3. the mask and the one behind it,
4. the mask alone.

A visible word counts with the number of hidden words between it and the mask. Let
:math:`p_k(w)` be the share of w at level k. The attacker guesses the word with the
largest :math:`p_1 + (p_2 + p_3) / 10 + p_4 / 100`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator
from typing import Final, final

import numpy as np

from mondegreen.arrays import Weights

NEAREST: Final = "the nearest visible words, and what masks show"
"""The name of this way to guess."""

_WEIGHTS: Final = (1.0, 0.1, 0.1, 0.01)
_END: Final = -1


@final
class NearestWords:
    """Hidden words of known releases, by the visible ones beside them.

    Parameters
    ----------
    first : int
        Signs of visible words are this number or more; smaller ones are marks.

    Examples
    --------
    >>> known = NearestWords(10)
    >>> known.add(np.array([17, 3, 18]), np.array([7, 5, 8]))
    >>> known.guess(np.array([17, 3, 18]), 1)
    5
    """

    def __init__(self, first: int) -> None:
        self._first = first
        self._counts: defaultdict[Hashable, Counter[int]] = defaultdict(Counter)

    def add(self, signs: Weights, words: Weights) -> None:
        """Count the hidden words of a text whose words are known."""
        for place in np.flatnonzero(signs < self._first).tolist():
            for key in self._list_keys(signs, place):
                self._counts[key][int(words[place])] += 1

    def guess(self, signs: Weights, place: int) -> int | None:
        """Guess the hidden word at a place; None where nothing is known of its mark."""
        scores: defaultdict[int, float] = defaultdict(float)
        for weight, key in zip(_WEIGHTS, self._list_keys(signs, place), strict=True):
            counts = self._counts.get(key, Counter())
            total = counts.total()
            for word, count in counts.items():
                scores[word] += weight * count / total
        return max(scores, key=lambda word: (scores[word], -word), default=None)

    def _list_keys(self, signs: Weights, place: int) -> Iterator[Hashable]:
        mark = int(signs[place])
        before, behind = (self._see(signs, place, step) for step in (-1, 1))
        yield mark, before, behind
        yield mark, before, None
        yield mark, None, behind
        yield mark, None, None

    def _see(self, signs: Weights, place: int, step: int) -> tuple[int, int]:
        """Find the nearest visible word on a side, and how far it is."""
        at = place + step
        while 0 <= at < len(signs) and signs[at] < self._first:
            at += step
        sign = int(signs[at]) if 0 <= at < len(signs) else _END
        return sign, abs(at - place)
