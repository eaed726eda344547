"""A language model from texts, read once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import final

import numpy as np

from mondegreen.arrays import Ids
from mondegreen.errors import LanguageError
from mondegreen.language.counts import Counter, Counts
from mondegreen.language.ngrams import NGrams
from mondegreen.space.space import Space
from mondegreen.text.policy import Lookup
from mondegreen.text.sentences import ends_of
from mondegreen.text.tokenizer import tokenize


@final
class TextCounter:
    """Counts the triples of texts, over the words of a space and the unknown word."""

    def __init__(self, space: Space) -> None:
        self._space, self._lookup = space, Lookup(space)
        self._counter = Counter(space.vocab_size)

    def add(self, texts: Sequence[str | None]) -> None:
        """Add PUBLIC texts; a sentence never goes over the end of a text."""
        self._counter.add(*_words(texts, self._lookup))

    def finish(self) -> Counts:
        """Hand out what was counted; nothing can be added afterwards."""
        counts = self._counter.finish()
        if not counts.words:
            raise LanguageError("the texts have no words")
        return counts


def build_language(
    batches: Iterable[Sequence[str | None]],
    space: Space,
    *,
    least: int = 1,
    sources: Sequence[str] = (),
    licences: Sequence[str] = (),
) -> NGrams:
    """Build a model from batches of PUBLIC texts, in a stream.

    Parameters
    ----------
    batches : iterable of lists of str
        PUBLIC texts. A model of private texts would carry them into what is decoded
        with it, and no guarantee covers that.
    space : Space
        The model is over its words, the unknown word, and sentence ends.
    least : int
        Words, pairs and triples that occur fewer times are left out.
    sources, licences : lists of str
        What to write into the model about the texts.

    Returns
    -------
    NGrams

    Raises
    ------
    LanguageError
        Where the texts hold no words.

    Examples
    --------
    >>> space = Space.from_arrays("line", ["cold", "is", "it"], [[0], [1], [3]])
    >>> model = build_language([["It is cold.", "Is it cold?"]], space)
    >>> model.about.words, model.about.sentences
    (6, 2)
    """
    counter = TextCounter(space)
    for texts in batches:
        counter.add(texts)
    about = {"sources": sources, "licences": licences}
    return NGrams.from_counts(counter.finish(), space, least=least, **about)


def read_words(
    batches: Iterable[Sequence[str | None]], space: Space
) -> tuple[Ids, list[bool]]:
    """Read all words of texts as ids, and whether a sentence ends behind each."""
    lookup = Lookup(space)
    found = [_words(texts, lookup) for texts in batches]
    ids = [np.zeros(0, np.int32), *(each for each, _ in found)]
    return np.concatenate(ids), [end for _, ends in found for end in ends]


def _words(texts: Sequence[str | None], lookup: Lookup) -> tuple[Ids, list[bool]]:
    batch = tokenize(texts)
    return lookup.codes(batch), ends_of(batch).tolist()
