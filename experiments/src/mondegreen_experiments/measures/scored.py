"""Texts as they are written beside their releases, and what scores say of them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.random import Generator

from mondegreen.arrays import Ids
from mondegreen.errors import LawUnknownError
from mondegreen.files import read_lines
from mondegreen.mechanisms.base import State
from mondegreen.scores.corpus import CorpusScorer, sentence_cosines
from mondegreen.scores.deniability import compute_expected_distinct
from mondegreen.text.detokenizer import Detokenizer
from mondegreen.text.lookup import Lookup
from mondegreen.text.tokenizer import TokenizedBatch, tokenize
from mondegreen_experiments.bench import Bench, Labelled
from mondegreen_experiments.choices import sentence_model
from mondegreen_experiments.recipe import Measured
from mondegreen_experiments.releases import repeated

SPACE: Final = "glove-300"
"""Its vectors compare texts, whichever the space of the mechanism is."""

_RUNS: Final = 100


@final
@dataclass(frozen=True, slots=True)
class Written:
    """Texts as they are written, and as words of a space."""

    tokens: TokenizedBatch
    known: Labelled

    @property
    def texts(self) -> list[str]:
        return ["".join(parts or []) for parts in self.tokens.parts]


@functools.lru_cache(maxsize=18)  # of 3 splits, 2 data sets and 3 seeds
def drawn(
    bench: Bench, name: str, split: str, count: int, words: int, seed: int
) -> Written:
    """Draw texts of a split, all of them where there are not as many.

    Of each the last ``words`` words: reviews end with what they find.
    """
    texts, labels = bench.written(name, split)
    rows = np.random.default_rng(seed).permutation(len(texts))[:count]
    parts = tokenize([texts[i] for i in rows]).parts
    tokens = TokenizedBatch([(each or [""])[-2 * words - 1 :] for each in parts])
    codes = np.asarray(Lookup(bench.space(SPACE), "word", ()).codes(tokens))
    ends = np.cumsum(tokens.counts())[:-1]
    ids = np.split(codes.astype(np.int32), ends)
    return Written(tokens, Labelled(ids, labels[rows]))


def counted(state: State, words: Ids, rng: Generator) -> dict[str, float]:
    """Mean N_w, and distinct outputs of a hundred runs, of words, in per cent.

    From the law itself where it has a closed form; else from a hundred runs.
    """
    try:
        law = np.exp(state.log_prob(words))
    except LawUnknownError:
        outputs = repeated(state, words, _RUNS, rng)
        stays = (outputs == words[:, None]).mean(axis=1)
        different = np.array([len(np.unique(row)) for row in outputs], float)
    else:
        stays = law[np.arange(len(words)), words]
        different = compute_expected_distinct(law, _RUNS)
    return {
        "n_w": 100 * float(stays.mean()),
        "s_w": 100 * float(different.mean()) / _RUNS,
    }


def some_words(texts: Sequence[Labelled], size: int, count: int, rng: Generator) -> Ids:
    """Draw as many of the different words of texts that the vocabulary has."""
    present = np.unique(np.concatenate([each.flat for each in texts]))
    present = present[present < size]
    found: Ids = rng.choice(present, min(count, len(present)), replace=False)
    return found.astype(np.int32)


@functools.lru_cache(maxsize=1)
def _english(bench: Bench) -> list[str]:
    return read_lines(bench.path("nltk_words/en.txt"))


def beside(
    bench: Bench,
    originals: Sequence[Written],
    releases: Sequence[Labelled | None],
    *,
    english: bool = True,
) -> Measured:
    """Scores of releases beside their originals, in per cent; None is no release.

    ``pp``: words that changed, unknown ones too; ``cs``: cosine of the mean vectors of
    a text and its release, or of a sentence model that was named; ``low``: the thousand
    rarest words of the originals, ties in alphabetical order, that come up anywhere in
    the release; ``rare_unchanged``: occurrences of these that came out as they were;
    ``english``: words of NLTK's list, 0 where they are not asked for.
    """
    space = bench.space(SPACE)
    scorer = CorpusScorer(space, english=_english(bench) if english else None)
    printer, model = Detokenizer(space.words), sentence_model(bench.choices)
    likeness: list[float] = []
    for written, release in zip(originals, releases, strict=True):
        texts = written.texts
        printed = release and printer.join(written.tokens, release.flat)
        scorer.add(texts, printed or texts)
        if model is not None:
            released = [each or "" for each in printed or texts]
            likeness += sentence_cosines(texts, released, model).tolist()
    scores = scorer.scores()
    cosine = float(np.nanmean(likeness)) if likeness else scores.text_cosine or 0.0
    return {
        "pp": scores.pp or 0.0,
        "cs": 100 * max(cosine, 0.0),
        "low": scores.low or 0.0,
        "rare_unchanged": scores.rare_unchanged or 0.0,
        "english": scores.english_release or 0.0,
    }
