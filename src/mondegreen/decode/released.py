"""What the decoder may see: released words, and where sentences end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids, within
from mondegreen.errors import InvalidParameterError

Indices = NDArray[np.int64]

_LONGEST: Final = 100
"""Words of the longest sentence that is read as one: sums of scores stay exact, and a
text without punctuation takes no more memory than any other."""


@final
@dataclass(frozen=True, slots=True)
class Released:
    """Released words and the ends of sentences; there is no room for an input.

    Parameters
    ----------
    ids : int32 array, shape (T,)
        Words that a mechanism drew, ``0..V-1``; a negative code is a word that was
        kept, masked or dropped, which a sentence is cut at.
    ends : bool array, shape (T,)
        Whether a sentence ends after each word. Public: from structure that passes
        unchanged, or from a rule over released words.
    """

    ids: Ids
    ends: NDArray[np.bool_]

    def __post_init__(self) -> None:
        if self.ids.ndim != 1 or self.ids.shape != self.ends.shape:
            given = f"shapes {self.ids.shape} and {self.ends.shape}"
            raise InvalidParameterError("released", given, "two arrays of shape (T,)")

    def sentences(self) -> tuple[Indices, Indices]:
        """Where sentences start, and how many words they have: 100 at most.

        Returns
        -------
        tuple of two int arrays
            Starts, and lengths in words.
        """
        is_word = self.ids >= 0
        begins = is_word.copy()
        begins[1:] &= ~is_word[:-1] | self.ends[:-1]
        starts = np.flatnonzero(begins)
        stops = is_word.copy()
        stops[:-1] &= ~is_word[1:] | self.ends[:-1]
        lengths = np.flatnonzero(stops) + 1 - starts
        pieces = -(-lengths // _LONGEST)
        number = within(pieces)
        starts = np.repeat(starts, pieces) + number * _LONGEST
        lengths = np.repeat(lengths, pieces) - number * _LONGEST
        return starts, np.minimum(lengths, _LONGEST)

    def chunks(self, words: int) -> Iterator[tuple[Indices, Indices]]:
        """Yield whole sentences, of some so many words together, the longest first.

        Sentences of like lengths go together: all of a chunk are read word by word at
        the same time, for as long as the longest one lasts.

        Parameters
        ----------
        words : int
            Size of a chunk, about.

        Yields
        ------
        tuple of two int arrays
            Starts and lengths of the sentences of a chunk.
        """
        starts, lengths = self.sentences()
        order = np.argsort(-lengths, kind="stable")
        starts, lengths = starts[order], lengths[order]
        number = (np.cumsum(lengths) - 1) // words
        edges = np.flatnonzero(np.diff(number, prepend=-1, append=-1))
        for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            yield starts[first:last], lengths[first:last]
