"""A model of word order from public text: what a reader, or an adversary, expects.

Interpolated Witten-Bell: what is seen n times after a context of N words with T kinds
has the probability (n + T q) / (N + T), where q is that of the shorter context, and at
the end 1 / (V + 1), the unknown word among them.
"""

from __future__ import annotations

from typing import final

import numpy as np
import pyarrow.parquet as pq

import mondegreen as mg
from benchmarks import machine
from benchmarks.measure.trees import tree_texts as measure

__all__ = ["PUBLIC", "WordModel", "public_model", "split_of"]

PUBLIC = (
    ("mr", None),
    ("cr", None),
    ("subj", None),
    ("ag_news_extra_desc_only", None),
    ("nq_open_questions", None),
    ("imdb", "valid"),
    ("ag_news", "valid"),
    ("disaster_tweets", "valid"),
    ("insuranceqa_questions", "valid"),
)
"""Data sets, and the split of each: none of it is released or measured."""


@final
class WordModel:
    """Trigrams over the ids of a space, ``size`` for the unknown word.

    Parameters
    ----------
    ids, ends : int arrays
        Words of all texts, and where each text begins and ends.
    size : int
        ``V``.
    """

    def __init__(self, ids: np.ndarray, ends: np.ndarray, size: int) -> None:
        self.size, self._base = size, size + 2
        first, second = self._contexts(ids, ends)
        counts = np.bincount(ids, minlength=size + 1)[: size + 1]
        kinds = np.count_nonzero(counts)
        self.unigrams = (counts + kinds / (size + 1)) / (len(ids) + kinds)
        self._pairs = _Table(second, ids, self._base)
        before = self._key(first, second)
        self._triples = _Table(before, ids, self._base)

    def pair(self, before: np.ndarray, word: np.ndarray) -> np.ndarray:
        """Return P(word | word before); ``size + 1`` is the start of a text."""
        return self._pairs.smoothed(before, word, self.unigrams[word])

    def perplexity(self, ids: np.ndarray, ends: np.ndarray, *, known: bool) -> float:
        """The perplexity of texts under trigrams.

        Parameters
        ----------
        ids, ends : int arrays
            The texts.
        known : bool
            Whether only words of the vocabulary count; an unknown word then is
            context alone. A model that may say "unknown" finds it easy to foresee.
        """
        first, second = self._contexts(ids, ends)
        shorter = self.pair(second, ids)
        found = self._triples.smoothed(self._key(first, second), ids, shorter)
        counted = ids < self.size if known else slice(None)
        return float(np.exp(-np.log(found[counted]).mean()))

    def _contexts(
        self, ids: np.ndarray, ends: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The two words before each word; the start where there is none."""
        start = self.size + 1
        second = np.concatenate([[start], ids[:-1]]).astype(np.int64)
        begins = ends[:-1][ends[:-1] < ends[1:]]
        second[begins] = start
        first = np.concatenate([[start], second[:-1]])
        first[begins] = start
        return first, second

    def _key(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return first.astype(np.int64) * self._base + second


@final
class _Table:
    """Counts of words after contexts."""

    def __init__(self, before: np.ndarray, words: np.ndarray, base: int) -> None:
        self._base = base
        keys = before.astype(np.int64) * base + words
        self._keys, self._counts = np.unique(keys, return_counts=True)
        contexts, starts = np.unique(self._keys // base, return_index=True)
        self._contexts = contexts
        self._totals = np.add.reduceat(self._counts, starts)
        self._kinds = np.diff([*starts, len(self._keys)])

    def smoothed(
        self, before: np.ndarray, words: np.ndarray, shorter: np.ndarray
    ) -> np.ndarray:
        """Probabilities, given those of the shorter context."""
        at, seen = _places(self._contexts, before)
        total, kinds = self._totals[at] * seen, self._kinds[at] * seen
        at, known = _places(self._keys, before.astype(np.int64) * self._base + words)
        found = self._counts[at] * known
        return np.where(
            seen, (found + kinds * shorter) / np.maximum(total + kinds, 1), shorter
        )


def _places(keys: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where keys stand, and whether they do."""
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return at, keys[at] == wanted


def public_model(space: mg.Space) -> WordModel:
    """The model of all public texts."""
    parts = [split_of(space, name, split) for name, split in PUBLIC]
    lengths = np.concatenate([np.diff(ends) for _, ends in parts])
    ids = np.concatenate([ids for ids, _ in parts])
    return WordModel(ids, np.cumsum([0, *lengths]), space.vocab_size)


def split_of(
    space: mg.Space, name: str, split: str | None
) -> tuple[np.ndarray, np.ndarray]:
    """The words of one split of a data set, or of all of it, and its ends."""
    table = pq.read_table(machine.SHARED / f"{name}.parquet").to_pydict()
    texts = table["text"]
    if split is not None:
        both = zip(texts, table["split"], strict=True)
        texts = [text for text, own in both if own == split]
    return measure.coded(texts, space)
