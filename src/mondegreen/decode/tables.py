"""Look-up of many pairs and triples of words at once in a language model."""

from __future__ import annotations

from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.language.ngrams import NGrams

Indices = NDArray[np.int64]
Integers = NDArray[np.integer[Any]]
Singles = NDArray[np.float32]

_ROOM: Final = 2
"""Slots for each key, of four bytes."""

_SEEN: Final = 8
"""Bits for each key at least: most of what is asked for is absent, and found so in a
megabyte of them, which stays near the processor."""

_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)
"""2**64 over the golden ratio: near keys get far slots."""

STEP: Final = 1024
"""Scores are whole numbers of 1/1024 nat, so that sums of them are exact: every
machine, and every order of sentences, finds the same best one. A float32 holds whole
numbers up to 2^24, so sums up to 16,384 nats: 160 for each of the 100 words that a
sentence has at most."""


def round_to_steps(logs: NDArray[np.floating[Any]]) -> Singles:
    """Round log-probabilities to a whole number of steps."""
    return (np.rint(np.asarray(logs, dtype=np.float64) * STEP) / STEP).astype(
        np.float32
    )


@final
class _Places:
    """Where words stand in rows of words: a hash table with linear probing.

    numpy has no other way to find millions of keys a second: a binary search takes
    six times as long. Only places are kept; that of another key is known by its row
    and its word, which the language model holds.
    """

    def __init__(self, starts: Integers, words: Integers, width: int) -> None:
        self.count, self._width = len(words), width
        self._starts, self._words = np.asarray(starts), np.asarray(words)
        self._size = self.count * _ROOM + 1
        # One bit for the first `fine` bits of each hash. A key that is there has its
        # bit set, so what is not seen is absent; what is seen may be absent all the
        # same.
        fine = max(4, int(self.count * _SEEN - 1).bit_length())
        self._fine = np.uint64(64 - fine)
        self._table = np.full(self._size, self.count, dtype=np.int32)
        row = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        hashes = self._hashes(row, words)
        del row
        seen = np.zeros(1 << fine, dtype=np.bool_)
        seen[hashes >> self._fine] = True
        self._seen = np.packbits(seen, bitorder="little")
        del seen
        waiting = np.arange(self.count, dtype=np.int32)
        slots = self._slots(hashes).astype(np.int32)
        # All keys at once: each tries its slot, and goes on to the next if another has
        # it. So no slot between the first one of a key and its own is ever empty, and a
        # search may stop at an empty one.
        while len(waiting):
            free = self._table[slots] == self.count
            self._table[slots[free]] = waiting[free]  # of several, the last one
            lost = self._table[slots] != waiting
            waiting, slots = waiting[lost], (slots[lost] + 1) % self._size

    def _slots(self, hashes: NDArray[np.uint64]) -> Indices:
        """Where to look first: as far along the table as a hash along its range."""
        # size * h / 2^32 for the upper 32 bits h of a hash: evenly over 0 .. size - 1.
        slots = hashes >> np.uint64(32)
        slots *= np.uint64(self._size)
        slots >>= np.uint64(32)
        return slots.view(np.int64)

    def _hashes(self, rows: Integers, words: Integers) -> NDArray[np.uint64]:
        # Products modulo 2^64: the factor is odd, so distinct keys have distinct
        # hashes.
        keys = rows.astype(np.int64) * self._width + words
        found = keys.reshape(-1).view(np.uint64)
        found *= _FACTOR
        return found

    def find(
        self, rows: Integers, words: Integers
    ) -> tuple[Indices, NDArray[np.int32]]:
        """Find words in rows, which may broadcast: which are there, and their places.

        Which: flat, in the shape that both have together.
        """
        hashes = self._hashes(rows, words)
        fine = (hashes >> self._fine).view(np.int64)
        seen = self._seen.take(fine >> 3, mode="clip")
        seen >>= (fine & 7).astype(np.uint8)
        seen &= 1
        asked = np.flatnonzero(seen.view(np.bool_))
        slots = self._slots(hashes.take(asked, mode="clip"))
        shape = np.broadcast_shapes(rows.shape, words.shape)
        rows, words = (
            np.broadcast_to(each, shape).reshape(-1).take(asked, mode="clip")
            for each in (rows, words)
        )
        start = self._starts.take(rows, mode="clip")
        size = self._starts.take(rows + 1, mode="clip") - start
        place = self._table.take(slots, mode="clip")
        left = np.flatnonzero(self._is_other(place, start, size, words))
        while len(left):
            slots[left] = near = (slots[left] + 1) % self._size
            place[left] = now = self._table.take(near, mode="clip")
            left = left[self._is_other(now, start[left], size[left], words[left])]
        found = np.flatnonzero(place != self.count)
        return asked.take(found, mode="clip"), place.take(found, mode="clip")

    def _is_other(
        self,
        place: NDArray[np.int32],
        start: Integers,
        size: Integers,
        words: Integers,
    ) -> NDArray[np.bool_]:
        """Whether a slot holds what was not asked for: neither that, nor nothing."""
        inside = place - start
        other = (inside < 0) | (inside >= size)
        other |= self._words.take(place, mode="clip") != words
        other &= place != self.count
        return np.asarray(other)


@final
class _Rounded:
    """Logarithms as steps: the codes of a model, and what these stand for."""

    def __init__(self, language: NGrams, name: str, book: int) -> None:
        self._codes = np.asarray(language.parts[name])
        self._book = round_to_steps(language.parts["books"][book])

    def __getitem__(self, places: NDArray[np.int32]) -> Singles:
        codes = self._codes.take(places, mode="clip")
        return np.asarray(self._book.take(codes, mode="clip"))


@final
class Tables:
    """The scores of a language model, for arrays of candidates.

    The place of a pair is its number among the kept pairs, or ``pairs`` where it was
    not kept; back-offs are 0 there.
    """

    def __init__(self, language: NGrams) -> None:
        words = len(language.unigram_log)
        self.end = words - 1
        self.unigram = round_to_steps(language.unigram_log)
        self.backoff = round_to_steps(language.unigram_backoff)
        self._pairs = _Places(language.pair_starts, language.pair_words, words)
        self.pairs = self._pairs.count
        self._pair_log = _Rounded(language, "pair_log", 0)
        self.pair_backoff = np.append(
            round_to_steps(language.pair_backoff), np.float32(0)
        )
        starts = language.triple_starts
        self.continues = np.append(np.diff(starts) > 0, False)
        self._triples = _Places(starts, language.triple_words, words)
        self._triple_log = _Rounded(language, "triple_log", 2)

    def pair_places(self, first: Integers, second: Integers) -> NDArray[np.int32]:
        """The places of pairs, in the shape that the arrays have together."""
        shape = np.broadcast_shapes(first.shape, second.shape)
        found = np.full(shape, self.pairs, dtype=np.int32)
        which, places = self._pairs.find(first, second)
        found.reshape(-1)[which] = places
        return found

    def pair_scores(self, first: Integers, second: Integers) -> Singles:
        """Score pairs, ln p(second | first), never below the back-off."""
        found: Singles = self.backoff[first] + self.unigram[second]
        which, places = self._pairs.find(first, second)
        flat = found.reshape(-1)
        flat[which] = np.maximum(flat[which], self._pair_log[places])
        return found

    def find_kept_triples(
        self, pairs: NDArray[np.int32], third: Integers
    ) -> tuple[Indices, Singles]:
        """Score triples, ln p(third | pair): which were kept, and their scores."""
        which, places = self._triples.find(pairs, third)
        return which, self._triple_log[places]
