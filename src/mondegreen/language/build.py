"""A language model from texts, read once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids
from mondegreen.errors import LanguageError
from mondegreen.language.counts import Counter, Counts
from mondegreen.language.ngrams import NGrams
from mondegreen.space.space import Space
from mondegreen.text.lookup import Lookup
from mondegreen.text.print_forms import as_released
from mondegreen.text.sentences import find_ends
from mondegreen.text.tokenizer import TokenizedBatch, tokenize

_KEPT: Final = 0.01
"""Share of words outside of the space that a release may have: some pass unchanged."""


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


def release_words(
    batches: Iterable[Sequence[str | None]], space: Space
) -> tuple[Ids, NDArray[np.bool_]]:
    """Read the words of a release that was drawn, and where its sentences end.

    A word that was kept is -1. Raises LanguageError where more than one in a hundred is
    not in the space: a mechanism draws none of these.
    """
    lookup = Lookup(space)
    ids, ends = [np.zeros(0, np.int32)], [np.zeros(0, np.bool_)]
    for texts in batches:
        parts = tokenize(texts).parts
        batch = TokenizedBatch([each and as_released(each) for each in parts])
        ids.append(lookup.codes(batch))
        ends.append(find_ends(batch))
    words = np.concatenate(ids)
    kept = words == space.vocab_size
    if not len(words):
        raise LanguageError("the release has no words")
    if kept.mean() > _KEPT:
        raise LanguageError(
            f"{int(kept.sum()):,} of {len(words):,} words are not in space "
            f"{space.name!r}, so a mechanism cannot have drawn them. Give a release "
            "of this setting (--read none --structure keep, without --unknown mask), "
            "never an original"
        )
    return np.where(kept, -1, words).astype(np.int32), np.concatenate(ends)


def _words(texts: Sequence[str | None], lookup: Lookup) -> tuple[Ids, list[bool]]:
    batch = tokenize(texts)
    return lookup.codes(batch), find_ends(batch).tolist()
