"""How often each three words stand in a row, counted in a stream of texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple, final

import numpy as np

from mondegreen.arrays import Ids, Weights
from mondegreen.errors import InvalidParameterError

_LARGEST: Final = (1 << 21) - 2  # words of a space: three ids share 63 bits
_CHUNK: Final = 1 << 21  # ids that are sorted together


class Counts(NamedTuple):
    """Distinct triples of ids in order, and how often each occurs.

    The triple (u, v, w) has the key ``(u * size + v) * size + w``, where ``size`` is
    the number of words and two more: the unknown word, and the sentence boundary,
    which is the last id. A sentence of n words gives n triples: the boundary stands
    before its first word and behind its last, so ``(boundary, first, second)`` is the
    first triple, and ``(.., last, boundary)`` is the last. The middle of a triple is
    never a boundary.
    """

    size: int
    keys: Weights
    counts: Weights
    words: int
    sentences: int


@final
class Counter:
    """Counts triples chunk by chunk; memory grows with the distinct ones alone."""

    def __init__(self, vocab_size: int) -> None:
        if not 1 <= vocab_size <= _LARGEST:
            allowed = f"a space of 1 to {_LARGEST:,} words"
            raise InvalidParameterError("vocab_size", vocab_size, allowed)
        self._size = vocab_size + 2
        self._waiting: list[Any] = []
        self._length = 0
        self._runs: list[tuple[Weights, Weights]] = []  # each twice the next, at least
        self._words, self._sentences = 0, 0

    def add(self, ids: Ids, ends: Iterable[bool]) -> None:
        """Add words, and whether a sentence ends behind each; it ends at the last."""
        if not len(ids):
            return
        chain = chain_ids(ids, ends, self._size - 1)
        self._words += len(ids)
        self._sentences += len(chain) - 1 - len(ids)
        self._waiting.append(chain[1:])
        self._length += len(ids)
        if self._length >= _CHUNK:
            self._sort()

    def _sort(self) -> None:
        """Count what waits, and join runs of like length."""
        boundary = np.array([self._size - 1], np.int64)
        ids = np.concatenate([boundary, *self._waiting], dtype=np.int64)
        self._waiting, self._length = [], 0
        keys = (ids[:-2] * self._size + ids[1:-1]) * self._size + ids[2:]
        keys, counts = np.unique(keys[ids[1:-1] != boundary], return_counts=True)
        run = (keys, counts)
        while self._runs and len(self._runs[-1][0]) < 2 * len(run[0]):
            run = _merge(self._runs.pop(), run)
        self._runs.append(run)

    def finish(self) -> Counts:
        """Join all that was counted; nothing can be added afterwards."""
        if self._waiting:
            self._sort()
        nothing = np.zeros(0, np.int64)
        run = self._runs.pop() if self._runs else (nothing, nothing)
        while self._runs:
            run = _merge(self._runs.pop(), run)
        return Counts(self._size, *run, self._words, self._sentences)


def chain_ids(ids: Ids, ends: Iterable[bool], boundary: int) -> Ids:
    """Put a boundary before the words, behind each sentence, and behind the last word.

    >>> chain_ids(np.array([0, 1, 2], np.int32), [False, True, False], 9).tolist()
    [9, 0, 1, 9, 2, 9]
    """
    stops = np.fromiter(ends, np.bool_, len(ids))
    stops[-1:] = True
    places = np.concatenate([[0], np.flatnonzero(stops) + 1])
    return np.insert(ids, places, boundary)


def _merge(
    one: tuple[Weights, Weights], other: tuple[Weights, Weights]
) -> tuple[Weights, Weights]:
    """Join two runs, each in order, and add up the counts of what both have."""
    keys, counts = (np.concatenate(both) for both in zip(one, other, strict=True))
    order = np.argsort(keys, kind="stable")  # linear: both are in order already
    keys = keys[order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    return keys[starts], np.add.reduceat(counts[order], starts)
