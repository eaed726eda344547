"""Character bigrams of the public words of a space."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids

__all__ = ["Bigrams"]


@final
class Bigrams:
    r"""How many character bigrams two words share (Dice coefficient of sets).

    .. math:: \mathrm{dice}(v, w) = \frac{2 |B_v \cap B_w|}{|B_v| + |B_w|}

    where :math:`B_w` are the pairs of adjacent characters of w, its start and its end
    counted as a character. Every word shares all with itself, and the unknown word
    none with any.

    Parameters
    ----------
    words : sequence of str
        Public words, without line breaks.

    Examples
    --------
    >>> Bigrams(["night", "nacht", "x"]).overlap(0).round(3).tolist()
    [1.0, 0.5, 0.0]
    """

    def __init__(self, words: Sequence[str]) -> None:
        known: dict[str, int] = {}
        # A line break marks both ends, since no word has one.
        sets = [
            {known.setdefault(a + b, len(known)) for a, b in pairwise(f"\n{word}\n")}
            for word in words
        ]
        self._sizes = np.array([len(each) for each in sets])
        self._starts = np.concatenate([[0], np.cumsum(self._sizes)])
        self._bigrams = np.fromiter(
            (bigram for each in sets for bigram in sorted(each)), dtype=np.int64
        )
        # The same table by bigram: the words that have it.
        order = np.argsort(self._bigrams, kind="stable")
        owners = np.repeat(np.arange(len(words), dtype=np.int32), self._sizes)
        counts = np.bincount(self._bigrams, minlength=len(known))
        self._owners: list[Ids] = np.split(owners[order], np.cumsum(counts)[:-1])

    def overlap(self, word: int) -> NDArray[np.float64]:
        """Return the coefficients of one input with all words, shape (V,)."""
        count = len(self._sizes)
        if word == count:  # the unknown word
            return np.zeros(count)
        own = self._bigrams[self._starts[word] : self._starts[word + 1]]
        owners = np.concatenate([self._owners[bigram] for bigram in own.tolist()])
        shared = np.bincount(owners, minlength=count)
        shares: NDArray[np.float64] = 2 * shared / (self._sizes + len(own))
        return shares
