"""What is measured of a release: use, fluency, and what a reader recovers."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import mondegreen as mg
from benchmarks.measure.sentences.sentence_texts import Corpus, Data
from mondegreen.language.counts import chain_ids
from mondegreen.language.ngrams import NGrams

Floats = NDArray[np.float64]
Ids = NDArray[np.int32]

_DRAWS: Final = 400
_LINKED: Final = 500
_FIRST: Final = 5


@final
class Judges:
    """Judges of one data set, each made once, of texts that are no test texts."""

    def __init__(self, data: Data, classes: NDArray[np.str_]) -> None:
        self.data, self.classes = data, classes

    @functools.cached_property
    def of_clear(self) -> Any:
        """A classifier that was trained on all clear training texts."""
        return self.trained(self.data.train, self.data.train.ids)

    def trained(self, corpus: Corpus, ids: Ids) -> Any:
        """Train TF-IDF and logistic regression, with the defaults of scikit-learn."""
        from sklearn.feature_extraction.text import TfidfTransformer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline

        model = make_pipeline(TfidfTransformer(), LogisticRegression(max_iter=1000))
        return model.fit(self._counts(corpus, ids), corpus.labels)

    def accuracy(self, model: Any, ids: Ids) -> float:
        """How many test texts, with these words, a classifier tells the label of."""
        test = self.data.test
        return float(model.score(self._counts(test, ids), test.labels))

    def reads(self, ids: Ids) -> dict[str, float]:
        """Everything about the words of the test texts that stands for itself."""
        test, size = self.data.test, self.data.space.vocab_size
        known = (test.ids < size) & (ids < size)
        same = self.classes[test.ids[known]] == self.classes[ids[known]]
        return {
            "accuracy": self.accuracy(self.of_clear, ids),
            "cosine": self.cosine(ids),
            "perplexity": perplexity(self.data.judge, ids, test.ends),
            "type_token_ratio": type_token_ratio(ids, size),
            "class_kept": float(same.mean()),
            "kept": float((ids == test.ids).mean()),
        }

    def cosine(self, ids: Ids) -> float:
        """The mean cosine of texts and releases: idf-weighted means of word vectors."""
        one, other = (self._vectors(each) for each in (self.data.test.ids, ids))
        lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
        some = lengths > 0
        return float(((one * other).sum(axis=1)[some] / lengths[some]).mean())

    def _vectors(self, ids: Ids) -> Floats:
        """The vector of each test text."""
        counts = self._counts(self.data.test, ids).multiply(self._idf).tocsr()
        vectors = self.data.space.vectors.astype(np.float64)
        return np.asarray(counts[:, :-1] @ vectors)

    @functools.cached_property
    def _idf(self) -> Floats:
        """ln of texts for each text with a word; 0 for the unknown word."""
        counts = self._counts(self.data.train, self.data.train.ids)
        texts = np.bincount(counts.indices, minlength=counts.shape[1])
        found = np.log(counts.shape[0] / np.maximum(texts, 1))
        found[-1] = 0.0
        return found

    def _counts(self, corpus: Corpus, ids: Ids) -> sparse.csr_matrix:
        """How often each word stands in each text."""
        shape = len(corpus.labels), self.data.space.vocab_size + 1
        return sparse.csr_matrix((np.ones(len(ids)), (corpus.owners, ids)), shape=shape)


def perplexity(judge: NGrams, ids: Ids, ends: NDArray[np.bool_]) -> float:
    """The perplexity of known words; an unknown one is context alone.

    A model that may say "unknown" finds that easy to foresee, and releases have none.
    """
    chain = chain_ids(ids, ends.tolist(), judge.boundary)[1:]
    scores = judge.chain_log_probs(ids, ends.tolist())
    return float(np.exp(-scores[chain < judge.boundary - 1].mean()))


def type_token_ratio(ids: Ids, size: int) -> float:
    """Distinct words by words, of known ones."""
    known = ids[ids < size]
    return len(np.unique(known)) / len(known)


def by_text(hits: Floats, corpus: Corpus) -> tuple[float, float, float]:
    """A share of words, and its interval of 95 % by a bootstrap of texts."""
    texts = len(corpus.labels)
    sums = np.bincount(corpus.owners, hits, texts)
    counts = np.diff(corpus.bounds)
    drawn = np.random.default_rng(2).integers(texts, size=(_DRAWS, texts))
    shares = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(shares, (0.025, 0.975)).tolist()
    return float(hits.mean()), low, high


def linked(state: Any, corpus: Corpus, released: Ids) -> float:
    """How often the first five words find the original of a release among 500."""
    long = np.flatnonzero(np.diff(corpus.bounds) >= _FIRST)[:_LINKED]
    places = corpus.bounds[long][:, None] + np.arange(_FIRST)
    inputs, row = np.unique(corpus.ids[places], return_inverse=True)
    outputs, column = np.unique(released[places], return_inverse=True)
    logs = state.log_prob(inputs.astype(np.int32))[:, outputs]
    logs = np.maximum(logs, -700.0)  # impossible
    row, column = row.reshape(places.shape), column.reshape(places.shape)
    scores = sum(logs[row[:, i][:, None], column[:, i]] for i in range(_FIRST))
    own = np.diagonal(scores)
    above, equal = (scores > own).sum(axis=0), (scores == own).sum(axis=0)
    return float(np.where(above == 0, 1 / equal, 0.0).mean())


def lists_of(space: mg.Space) -> NDArray[np.str_]:
    """The usual grammatical class of each word, the unknown one last."""
    from benchmarks.ship.ship_tree import lists

    return np.array([*lists(space)[0], "unknown"])


def entropy(shares: Sequence[float] | Floats) -> float:
    """In nats."""
    some = np.asarray(shares)[np.asarray(shares) > 0]
    return float(-(some * np.log(some)).sum())
