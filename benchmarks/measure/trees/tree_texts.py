"""What the benchmarks of the word tree measure on texts: accuracy, attack, grammar.

Needs scikit-learn (accuracy) and textblob (a tagger that knows nothing of our classes).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from scipy import sparse

import mondegreen as mg
from benchmarks import machine
from mondegreen.text.lookup import Lookup
from mondegreen.text.tokenizer import tokenize

TAGGED_WORDS = 40_000

# Penn tags to coarse classes; a word of the first keeps the grammar of a sentence.
_COARSE = {
    **dict.fromkeys(("NN", "NNS", "NNP", "NNPS", "NNP-PERS", "NNP-LOC"), "noun"),
    **dict.fromkeys(("VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD"), "verb"),
    **dict.fromkeys(("JJ", "JJR", "JJS"), "adjective"),
    **dict.fromkeys(("RB", "RBR", "RBS", "WRB", "RP"), "adverb"),
    **dict.fromkeys(("DT", "PDT", "WDT", "PRP$", "WP$"), "determiner"),
    **dict.fromkeys(("PRP", "WP", "EX"), "pronoun"),
    **dict.fromkeys(("IN", "TO"), "preposition"),
}


@dataclass(frozen=True)
class Texts:
    """Words of labelled texts as ids of a space."""

    ids: np.ndarray
    ends: np.ndarray
    labels: np.ndarray
    is_test: np.ndarray

    @property
    def prior(self) -> np.ndarray:
        """Frequencies of the inputs in these very texts: the strongest such prior."""
        counts = np.bincount(self.ids, minlength=int(self.ids.max()) + 1)
        return counts / len(self.ids)


def read(
    name: str,
    space: mg.Space,
    leave_out: str = "",
    documents: int | None = None,
) -> Texts:
    """Read a data set; line breaks of web pages are markup, not words.

    A split can be left out, and a number of texts be drawn, always the same.
    """
    table = pq.read_table(machine.SHARED / f"{name}.parquet")
    split = np.array(table.column("split"))
    chosen = np.flatnonzero(split != leave_out)
    if documents is not None:
        drawn = np.random.default_rng(0).choice(len(chosen), documents, replace=False)
        chosen = chosen[np.sort(drawn)]
    ids, ends = coded(np.array(table.column("text"))[chosen].tolist(), space)
    labels = np.array(table.column("label"))[chosen]
    return Texts(ids, ends, labels, split[chosen] == "test")


def coded(texts: Sequence[str], space: mg.Space) -> tuple[np.ndarray, np.ndarray]:
    """The ids of the words of texts, and where each text begins and ends."""
    tokens = tokenize([text.replace("<br />", " ") for text in texts])
    ids = np.asarray(Lookup(space, "word", ()).codes(tokens), dtype=np.int32)
    return ids, np.cumsum([0, *tokens.counts()])


def accuracy(texts: Texts, released: np.ndarray, size: int) -> tuple[float, float]:
    """Train on released texts; test on released and on clear ones.

    TF-IDF and logistic regression with the defaults of scikit-learn.
    """
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.linear_model import LogisticRegression

    weigh, train = TfidfTransformer(), ~texts.is_test
    table = _counts(texts, released, size)
    model = LogisticRegression(max_iter=1000)
    model.fit(weigh.fit_transform(table[train]), texts.labels[train])
    both = [table, _counts(texts, texts.ids, size)]
    found = [
        model.score(weigh.transform(each[texts.is_test]), texts.labels[texts.is_test])
        for each in both
    ]
    return float(found[0]), float(found[1])


def public_prior(space: mg.Space) -> np.ndarray:
    """Frequencies of words in public text, the unknown word last."""
    folder = machine.SHARED / "vectors"
    words = (folder / "w2v_imdb.words.txt").read_text(encoding="utf-8").split("\n")
    counts = dict(zip(words, np.load(folder / "w2v_imdb.counts.npy"), strict=False))
    found = np.array([counts.get(word, 0) + 0.5 for word in space.words] + [0.0])
    found[-1] = 0.03 * found.sum()
    return found / found.sum()


def table_attack(state: Any, prior: np.ndarray, block: int = 512) -> float:
    """The same for any law that is known, from its table: exact."""
    best = np.zeros(state.space.vocab_size)
    words = np.flatnonzero(prior).astype(np.int32)
    for start in range(0, len(words), block):
        some = words[start : start + block]
        law = np.exp(state.log_prob(some)) * prior[some][:, None]
        np.maximum(best, law.max(axis=0), out=best)
    return float(best.sum())


def cosine(space: mg.Space, ids: np.ndarray, released: np.ndarray) -> float:
    """The mean cosine of input and output over known words."""
    unit = space.vectors.astype(np.float32)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    known = np.flatnonzero(ids < space.vocab_size)[:300_000]
    return float((unit[ids[known]] * unit[released[known]]).sum(axis=1).mean())


def tag_agreement(space: mg.Space, texts: Texts, released: np.ndarray) -> float:
    """How often a tagger gives input and output word one class, in context.

    The tagger is that of textblob (Brill), with a lexicon and rules of its own; it
    reads 20 words at a time. It makes errors, more of them on released text.
    """
    last = min(np.searchsorted(texts.ends, TAGGED_WORDS), len(texts.ends) - 1)
    count = int(texts.ends[last])
    names = (*space.words, "something")
    clear = _tags([names[i] for i in texts.ids[:count]])
    drawn = _tags([names[i] for i in released[:count]])
    known = np.flatnonzero(texts.ids[:count] < space.vocab_size)
    return float(np.mean([clear[i] == drawn[i] for i in known]))


def _tags(words: Sequence[str]) -> list[str]:
    """Coarse classes of words in context, 20 at a time."""
    from textblob.en import tag

    found: list[str] = []
    for start in range(0, len(words), 20):
        some = list(words[start : start + 20])
        tags = [kind for _, kind in tag(" ".join(some), tokenize=False)]
        if len(tags) != len(some):
            raise ValueError("the tagger split a word")
        found += [_COARSE.get(kind, kind) for kind in tags]
    return found


def _counts(texts: Texts, ids: np.ndarray, size: int) -> sparse.csr_matrix:
    """How often each word occurs in each text."""
    rows = np.repeat(np.arange(len(texts.ends) - 1), np.diff(texts.ends))
    shape = (len(texts.ends) - 1, size + 1)
    return sparse.csr_matrix((np.ones(len(ids)), (rows, ids)), shape=shape)
