"""Look-up of many pairs and triples of words at once in a language model."""

from __future__ import annotations

from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.language.ngrams import NGrams

Integers = NDArray[np.integer[Any]]
Singles = NDArray[np.float32]

_ROOM: Final = 4
"""Slots for each key: most words asked for are absent, and then found so at once."""

_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)
"""2**64 over the golden ratio: near keys get far slots."""

STEP: Final = 1024
"""Scores are whole numbers of 1/1024 nat, so that sums of them are exact: every
machine, and every order of sentences, finds the same best one."""


def rounded(logs: NDArray[np.floating[Any]]) -> Singles:
    """Round log-probabilities to a whole number of steps."""
    return (np.rint(np.asarray(logs, dtype=np.float64) * STEP) / STEP).astype(
        np.float32
    )


@final
class _Places:
    """Where each of some distinct keys stands; a hash table with linear probing.

    numpy has no other way to find millions of keys a second: a binary search takes
    six times as long.
    """

    def __init__(self, keys: Integers) -> None:
        self.count = len(keys)
        self._keys = np.append(keys.astype(np.int64), -1)
        bits = max(4, int(self.count * _ROOM - 1).bit_length())
        self._shift, self._mask = np.uint64(64 - bits), (1 << bits) - 1
        self._table = np.full(1 << bits, self.count, dtype=np.int32)
        waiting = np.arange(self.count)
        slots = self._slots(self._keys[:-1])
        while len(waiting):
            free = self._table[slots] == self.count
            self._table[slots[free]] = waiting[free]  # of several, the last one
            lost = self._table[slots] != waiting
            waiting, slots = waiting[lost], (slots[lost] + 1) & self._mask

    def _slots(self, keys: Integers) -> NDArray[np.int64]:
        return (keys.astype(np.uint64) * _FACTOR >> self._shift).astype(np.int64)

    def find(self, keys: Integers) -> NDArray[np.int32]:
        """The place of each key; the number of keys for one that is absent."""
        slots = self._slots(keys)
        found = self._table[slots]
        left = np.flatnonzero((self._keys[found] != keys) & (found != self.count))
        while len(left):
            slots[left] = (slots[left] + 1) & self._mask
            found[left] = place = self._table[slots[left]]
            other = (self._keys[place] != keys[left]) & (place != self.count)
            left = left[other]
        return found


@final
class Tables:
    """The scores of a language model, for arrays of candidates.

    The place of a pair is its number among the kept pairs, or ``pairs`` where it was
    not kept; back-offs are 0 there.
    """

    def __init__(self, language: NGrams) -> None:
        words = len(language.unigram_log)
        self._words, self.end = words, words - 1
        self.unigram = rounded(language.unigram_log)
        self.backoff = rounded(language.unigram_backoff)
        first = np.repeat(np.arange(words), np.diff(language.pair_starts))
        self._pairs = _Places(first * words + language.pair_words)
        self.pairs = self._pairs.count
        self._pair = np.append(rounded(language.pair_log), np.float32(-np.inf))
        self.pair_backoff = np.append(rounded(language.pair_backoff), np.float32(0))
        lengths = np.diff(language.triple_starts)
        self.continues = np.append(lengths > 0, False)
        pair = np.repeat(np.arange(self.pairs), lengths)
        self._triples = _Places(pair * words + language.triple_words)
        self._triple = np.append(rounded(language.triple_log), np.float32(-np.inf))

    def pair_places(self, first: Integers, second: Integers) -> NDArray[np.int32]:
        """The places of pairs, in the shape that the arrays have together."""
        keys = first.astype(np.int64) * self._words + second
        return self._pairs.find(keys.ravel()).reshape(keys.shape)

    def pair_scores(
        self, places: NDArray[np.int32], first: Integers, second: Integers
    ) -> Singles:
        """Score pairs, ln p(second | first), never below the back-off."""
        low = self.backoff[first] + self.unigram[second]
        return np.asarray(np.maximum(self._pair[places], low))

    def triple_scores(self, places: NDArray[np.int32], third: Integers) -> Singles:
        """Score triples, ln p(third | pair), where that was kept, else ``-inf``."""
        keys = places.astype(np.int64) * self._words + third
        return np.asarray(self._triple[self._triples.find(keys)])
