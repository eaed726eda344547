"""The arrays of a back-off model, and how a probability is read from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats, Weights

WordIds: TypeAlias = NDArray[Any]
"""Ids of words: integers of any width."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Tables:
    r"""Single words, pairs and triples that are kept, with natural logarithms.

    For ``V`` words the ids are ``0..V-1``, ``V`` for the unknown word, and ``V + 1``
    for the boundary of a sentence, its begin and its end. ``n2`` pairs and ``n3``
    triples are kept.

    .. math:: p(w \mid u, v) = \max(\text{stored}, \gamma(u, v) \, p(w \mid v))

    and likewise p(w | v) with single words; what is not stored is its back-off, and
    :math:`\gamma` of what is not stored is 1.
    """

    frequency: NDArray[Any]  # (V+1,) shares of running words, all above 0; sum 1
    unigram_log: NDArray[
        Any
    ]  # (V+2,) log p(w) where nothing is known of what is before
    unigram_backoff: NDArray[Any]  # (V+2,) log gamma(v), 0 without pairs
    pair_starts: Weights  # (V+3,) where the pairs of each first word start
    pair_words: WordIds  # (n2,) second words, rising for each first word
    pair_log: NDArray[Any]  # (n2,) log p(w | v)
    pair_backoff: NDArray[Any]  # (n2,) log gamma(v, w), 0 without triples
    triple_starts: Weights  # (n2+1,) where the triples of each pair start
    triple_words: WordIds  # (n3,) third words, rising for each pair
    triple_log: NDArray[Any]  # (n3,) log p(w | u, v)

    @classmethod
    def of_keys(
        cls,
        frequency: Floats,
        unigram: tuple[NDArray[Any], NDArray[Any]],
        pair: tuple[Weights, NDArray[Any], NDArray[Any]],
        triple: tuple[Weights, NDArray[Any]],
    ) -> Tables:
        """Build from keys, which rise, probabilities, and the weights of back-offs.

        With ``size`` ids, the key of ``u, v`` is ``u * size + v``, and so on.
        """
        size = len(unigram[0])
        pairs, triples = pair[0], triple[0]
        owner = np.searchsorted(pairs, triples // size)
        return Tables(
            frequency=frequency,
            unigram_log=np.log(unigram[0]),
            unigram_backoff=np.log(unigram[1]),
            pair_starts=find_starts(np.bincount(pairs // size, minlength=size)),
            pair_words=pairs % size,
            pair_log=np.log(pair[1]),
            pair_backoff=np.log(pair[2]),
            triple_starts=find_starts(np.bincount(owner, minlength=len(pairs))),
            triple_words=triples % size,
            triple_log=np.log(triple[1]),
        )

    @property
    def vocab_size(self) -> int:
        """Number V of words; the unknown word and the boundary are two more."""
        return len(self.unigram_log) - 2

    @property
    def boundary(self) -> int:
        """Id of the begin and the end of a sentence."""
        return self.vocab_size + 1

    def frequencies(self) -> Floats:
        """How often words occur, the unknown one last: (V + 1,), above 0, of sum 1."""
        shares = self.frequency.astype(np.float64)
        return np.asarray(shares / shares.sum())

    def log_prob(self, first: Any, second: Any, words: Any) -> Floats:
        """Score words behind two others: natural logarithms, at most 0.

        Parameters
        ----------
        first, second, words : array of int
            Ids of one shape, or of shapes that broadcast. The first word of a sentence
            has the boundary as ``second``, and ``first`` does not matter then.

        Returns
        -------
        float64 array of that shape
        """
        u, v, w = np.broadcast_arrays(
            *(np.asarray(each) for each in (first, second, words))
        )
        shape, u, v, w = w.shape, u.ravel(), v.ravel(), w.ravel()
        context = _find(self.pair_starts, self.pair_words, u, v)
        shorter = self._backoff_at(context) + self.pair_log_prob(v, w)
        triple = _find(self.triple_starts, self.triple_words, context, w)
        return _larger(self.triple_log, triple, shorter).reshape(shape)

    def pair_log_prob(self, second: Any, words: Any) -> Floats:
        """Score words behind one other, in arrays of one shape ``(T,)``."""
        shorter = self.unigram_backoff[second].astype(float) + self.unigram_log[words]
        places = _find(self.pair_starts, self.pair_words, second, words)
        return _larger(self.pair_log, places, shorter)

    def log_backoff(self, first: Any, second: Any) -> Floats:
        """The logarithm of gamma of pairs, 0 where a pair is not kept."""
        return self._backoff_at(_find(self.pair_starts, self.pair_words, first, second))

    def _backoff_at(self, places: Weights) -> Floats:
        result, hit = np.zeros(len(places)), places >= 0
        result[hit] = self.pair_backoff[places[hit]]
        return result


def find_starts(counts: Any) -> Weights:
    """Where each of some parts starts, and where the last ends, from their lengths."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def _find(starts: Weights, words: WordIds, rows: WordIds, wanted: WordIds) -> Weights:
    """The place of a word in a row, by bisection; -1 where it is absent."""
    known = rows >= 0
    low = np.where(known, starts[rows], 0)
    end = np.where(known, starts[rows + 1], 0)
    high = end.copy()
    open_ = np.flatnonzero(low < high)  # most rows are short, and soon left out
    while len(open_):
        middle = (low[open_] + high[open_]) // 2
        below = words[middle] < wanted[open_]
        low[open_[below]] = middle[below] + 1
        high[open_[~below]] = middle[~below]
        open_ = open_[low[open_] < high[open_]]
    hit = low < end
    hit[hit] = words[low[hit]] == wanted[hit]
    return np.where(hit, low, -1)


def _larger(values: NDArray[Any], places: Weights, shorter: Floats) -> Floats:
    """What is stored, but never less than what is shorter says."""
    result, hit = shorter.copy(), places >= 0
    result[hit] = np.maximum(values[places[hit]], shorter[hit])
    return result
