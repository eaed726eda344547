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
from mondegreen.text.policy import Lookup
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
        return {key: each for key, each in asdict(self).items() if key != "counts"}


def read_sample(
    source: AbstractSource, space: Space, advance: Callable[[], object] = lambda: None
) -> Sample:
    """Count the words of all text columns of a source, in constant memory."""
    lookup, size = Lookup(space), space.vocab_size + 1
    counts = np.zeros(size, dtype=np.int64)
    texts = 0
    for batch in source.batches():
        found = source.texts(batch)
        texts += len(found)
        counts += np.bincount(lookup.codes(tokenize(found)), minlength=size)
        advance()
    words = int(counts.sum())
    if not words:
        raise SourceError(source.name, "the sample has no words in these columns")
    return Sample(source.name, texts, words, int(counts[-1]), counts)
