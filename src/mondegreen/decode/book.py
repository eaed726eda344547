"""What the decoder knows of each observation, and of two that stand side by side."""

from __future__ import annotations

import threading
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.decode.tables import Singles, Tables, round_to_steps
from mondegreen.language.ngrams import NGrams
from mondegreen.mechanisms.channel import Channel

Indices = NDArray[np.int64]

_KEPT_BYTES: Final = 16 << 20
"""Memory for pairs of observations that come again; half of them are of few kinds."""


@final
class Book:
    """The candidates of observations, and the scores of pairs of candidates.

    ``words`` and ``law``, shape (observations + 1, K), hold candidates and their
    ln P(y | x), ``-inf`` for what is none; the last row is the boundary of a sentence.
    """

    def __init__(self, channel: Channel, language: NGrams) -> None:
        self.tables = Tables(language)
        self.observation = channel.observation
        rows, count = channel.candidates.shape
        self.boundary = rows
        self.words = np.full((rows + 1, count), self.tables.end, dtype=np.int32)
        self.words[:rows] = channel.candidates
        self.law = np.full((rows + 1, count), -np.inf, dtype=np.float32)
        self.law[:rows] = round_to_steps(channel.log_law)
        self.law[rows, 0] = 0.0
        size = max(1, _KEPT_BYTES // (4 * count * count))
        self._kept_scores = np.empty((size, count, count), dtype=np.float32)
        self._kept = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        self._lock = threading.Lock()

    def scores(self, first: Indices, second: Indices) -> Singles:
        """Score the pairs of candidates of two observations each, shape (T, K, K)."""
        codes = first * (self.boundary + 1) + second
        distinct, place = np.unique(codes, return_inverse=True)
        count = self.words.shape[1]
        scores = np.empty((len(distinct), count, count), dtype=np.float32)
        known, rows = self._kept
        found, is_known = _among(known, distinct)
        scores[is_known] = self._kept_scores[rows[found[is_known]]]
        new = distinct[~is_known]
        if len(new):
            before, after = np.divmod(new, self.boundary + 1)
            left, right = self.words[before][:, :, None], self.words[after][:, None, :]
            scores[~is_known] = own = self.tables.pair_scores(left, right)
            self._keep(new, own)
        return np.asarray(scores[place])

    def _keep(self, codes: Indices, scores: Singles) -> None:
        """Keep what was looked up, while there is room: what is frequent comes soon."""
        if len(self._kept[0]) == len(self._kept_scores):
            return
        if not self._lock.acquire(blocking=False):
            return  # another thread keeps its own
        try:
            known, rows = self._kept
            place, is_known = _among(known, codes)
            free = np.arange(len(known), len(self._kept_scores))
            chosen = np.flatnonzero(~is_known)[: len(free)]
            free = free[: len(chosen)]
            self._kept_scores[free] = scores[chosen]
            known = np.insert(known, place[chosen], codes[chosen])
            rows = np.insert(rows, place[chosen], free)
            self._kept = known, rows  # at once, for readers beside
        finally:
            self._lock.release()


def _among(known: Indices, codes: Indices) -> tuple[Indices, NDArray[np.bool_]]:
    """Where codes are among known ones, which rise, or would be; and which are."""
    place = np.searchsorted(known, codes)
    is_known = place < len(known)
    is_known[is_known] = known[place[is_known]] == codes[is_known]
    return place, is_known
