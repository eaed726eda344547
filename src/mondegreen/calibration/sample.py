"""A public sample of text: how frequent its words are, and nothing else of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import final

import numpy as np

from mondegreen.arrays import Floats, Weights
from mondegreen.errors import SourceError
from mondegreen.io.base import AbstractSource
from mondegreen.scores.risk import frequency_prior, uniform_prior
from mondegreen.space.space import Space
from mondegreen.text.lookup import Lookup
from mondegreen.text.tokenizer import tokenize


@final
@dataclass(frozen=True, slots=True)
class Sample:
    """How often each word of a space occurs in PUBLIC text, unknown ones last."""

    name: str
    texts: int
    words: int
    unknown: int  # words that the vocabulary does not have
    counts: Weights = field(repr=False)
    passage: tuple[str, ...] = field(default=(), repr=False)  # some of its texts

    def priors(self) -> dict[str, Floats]:
        """Give the uniform prior and that of the sample, smoothed by one."""
        return {
            "uniform": uniform_prior(len(self.counts) - 1),
            "sample": frequency_prior(self.counts),
        }

    def expectations(self) -> tuple[Floats, Floats]:
        """Give the frequencies as counted, and with one more word spread over all.

        The second expects every word, and differs from the first by less the more
        words there are in the sample, however many there are in the vocabulary.
        """
        raw = frequency_prior(self.counts, smoothing=0.0)
        return raw, frequency_prior(self.counts, smoothing=1 / len(self.counts))

    def to_dict(self) -> dict[str, object]:
        """Give JSON values: sizes alone."""
        sizes = asdict(self)
        del sizes["counts"], sizes["passage"]
        return sizes


def read_sample(
    source: AbstractSource,
    space: Space,
    advance: Callable[[], object] = lambda: None,
    *,
    keep: int = 0,
) -> Sample:
    """Count the words of all text columns of a source, in constant memory.

    ``keep`` is how many words of texts are kept, about, from all over the source.
    """
    lookup, size = Lookup(space), space.vocab_size + 1
    counts = np.zeros(size, dtype=np.int64)
    texts, passage = 0, Passage(keep)
    for batch in source.batches():
        found = source.texts(batch)
        texts += len(found)
        tokens = tokenize(found)
        counts += np.bincount(lookup.codes(tokens), minlength=size)
        passage.add(found, tokens.counts())
        advance()
    words = int(counts.sum())
    if not words:
        raise SourceError(source.name, "the sample has no words in these columns")
    kept = tuple(passage.texts)
    return Sample(source.name, texts, words, int(counts[-1]), counts, kept)


@final
class Passage:
    """Texts drawn at random, of so many words at most, or a single one.

    They stand in their order. One source has one passage: draws have no other seed.
    """

    def __init__(self, words: int) -> None:
        self.texts: list[str] = []
        self._drawn: list[tuple[float, int]] = []  # number of a text, and its words
        self._most, self._words, self._limit = words, 0, 1.0
        self._rng = np.random.default_rng(0)

    def add(self, texts: list[str], sizes: list[int]) -> None:
        if not self._most:
            return
        numbers = self._rng.random(len(texts)).tolist()
        for text, size, number in zip(texts, sizes, numbers, strict=True):
            if number >= self._limit:
                continue
            self.texts.append(text)
            self._drawn.append((number, size))
            self._words += size
            while self._words > self._most and len(self.texts) > 1:
                self._halve()

    def _halve(self) -> None:
        """Keep the texts with the lower half of the numbers that are drawn."""
        pairs = [*zip(self.texts, self._drawn, strict=True)]
        self._limit /= 2
        kept = [pair for pair in pairs if pair[1][0] < self._limit]
        kept = kept or [min(pairs, key=lambda pair: pair[1][0])]
        self.texts = [text for text, _ in kept]
        self._drawn = [drawn for _, drawn in kept]
        self._words = sum(size for _, size in self._drawn)
