"""The texts of the evidence of sentences, and who may see which of them.

Half A of the training texts is what a language model of the kind is built from, half B
what the judge of fluency is built from, and what releases to train on are drawn from:
neither the judge nor what is released shares a text with the decoder. Of news, A is
the whole training split, and B another file, of descriptions without titles. The valid
split finds the weight of the mixture of models. Test rows give figures alone.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

import mondegreen as mg
from benchmarks import machine
from mondegreen.files import home
from mondegreen.language.build import build_language
from mondegreen.language.mix import Mixture, mix
from mondegreen.language.ngrams import NGrams
from mondegreen.language.store import load_language, save_language
from mondegreen.text.lookup import Lookup
from mondegreen.text.sentences import sentence_ends
from mondegreen.text.tokenizer import tokenize

Some = NDArray[np.int64]


@final
@dataclass(frozen=True)
class Plan:
    """A data set: texts that are tested, released to train on, and read by a reader."""

    file: str
    tested: int
    trained: int
    read: int
    judge: str = ""  # a file of its own for half B


SETS: Final = {
    "reviews": Plan("imdb", 800, 1000, 160),
    "news": Plan("ag_news", 2000, 4000, 1000, judge="ag_news_extra_desc_only"),
    "tweets": Plan("disaster_tweets", 1000, 2700, 1000),
    "questions": Plan("insuranceqa_questions", 2000, 4000, 2000),
}
_HELD: Final = 400
"""Texts of the valid split that the weight of two models is found on."""


@final
@dataclass(frozen=True)
class Corpus:
    """Words of labelled texts as ids of a space, ``V`` for the unknown word.

    ``bounds`` says where each text begins, and ends with the number of words; ``ends``
    behind which words a sentence ends.
    """

    ids: NDArray[np.int32]
    ends: NDArray[np.bool_]
    bounds: Some
    labels: Some

    @property
    def owners(self) -> Some:
        """The text of each word."""
        return np.repeat(np.arange(len(self.labels)), np.diff(self.bounds))

    def first(self, texts: int) -> Corpus:
        """Only the first texts."""
        bounds = self.bounds[: texts + 1]
        last = bounds[-1]
        return Corpus(self.ids[:last], self.ends[:last], bounds, self.labels[:texts])


@final
class Data:
    """One data set in its parts."""

    def __init__(self, name: str, space: mg.Space) -> None:
        self.name, self.plan, self.space = name, SETS[name], space
        texts, labels, split = _read(self.plan.file)
        (train,) = np.nonzero(split == "train")
        train = np.random.default_rng(0).permutation(train)
        half = len(train) if self.plan.judge else len(train) // 2
        (test,) = np.nonzero(split == "test")
        test = np.random.default_rng(1).permutation(test)[: self.plan.tested]
        (valid,) = np.nonzero(split == "valid")
        self._of_kind = [texts[i] for i in train[:half]]
        self._held = [texts[i] for i in valid[:_HELD]]
        self.held = [texts[i] for i in valid[_HELD:]]
        self.train = self._corpus(texts, labels, train)
        self.test = self._corpus(texts, labels, test)
        if self.plan.judge:
            texts, labels, _ = _read(self.plan.judge)
            train, half = np.random.default_rng(0).permutation(len(texts)), 0
        self._judges = [texts[i] for i in train[half:]]
        self.to_release = self._corpus(
            texts, labels, train[half : half + self.plan.trained]
        )

    @functools.cached_property
    def judge(self) -> NGrams:
        """Trigrams of texts that no decoder saw."""
        return build_language([self._judges], self.space)

    @functools.cached_property
    def mixture(self) -> Mixture:
        """The embedded model and one of the kind of text, mixed."""
        own = build_language([self._of_kind], self.space)
        held = coded(self._held, self.space)
        return mix(load_language(), own, held[0], held[1].tolist())

    @functools.cached_property
    def model(self) -> NGrams:
        """The mixture, which is kept, for it takes a while."""
        embedded = load_language().digest[:8]
        path = home() / "languages" / f"evidence-{self.name}-{embedded}.lm"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            save_language(self.mixture.model, path, force=True)
        return NGrams.open(path)

    def _corpus(self, texts: Sequence[str], labels: Some, chosen: Some) -> Corpus:
        ids, ends, bounds = coded([texts[i] for i in chosen], self.space)
        return Corpus(ids, ends, bounds, labels[chosen])


def coded(
    texts: Sequence[str], space: mg.Space
) -> tuple[NDArray[np.int32], NDArray[np.bool_], Some]:
    """The ids of the words of texts, ends of sentences, and bounds of texts."""
    batch = tokenize(texts)
    ids = np.asarray(Lookup(space).codes(batch), dtype=np.int32)
    ends = [end for parts in batch.parts if parts for end in sentence_ends(parts[2::2])]
    return ids, np.array(ends, dtype=bool), np.cumsum([0, *batch.counts()])


def _read(name: str) -> tuple[list[str], Some, NDArray[np.str_]]:
    """Texts, labels and splits; line breaks of web pages are markup, not words."""
    table = pq.read_table(machine.SHARED / f"{name}.parquet")
    texts = [text.replace("<br />", " ") for text in table.column("text").to_pylist()]
    labels = np.unique(table.column("label").to_pylist(), return_inverse=True)[1]
    known = "split" in table.column_names
    split = table.column("split").to_pylist() if known else ["train"] * len(texts)
    return texts, labels, np.array(split)
