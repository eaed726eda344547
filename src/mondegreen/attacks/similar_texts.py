r"""An attacker who copies hidden words from the most similar place of known texts.

Texts that occur several times, forms and answers to the same question differ in few
words, so an attacker who knows one of them reads the others. A text is a sequence of
signs: what a reader sees at each word, such as the word itself or the group of a hidden
one. The eight known texts with the most in common, by the 64 rarest signs of a release,
are compared place by place: the likeness of the place j of a known text to the place i
is

.. math::
    \frac{1}{2} \, \frac{\sum_{|d| \le 8} [x_{i + d} = y_{j + d}] \, / \, (1 + |d|)}
         {\sum_{|d| \le 8} 1 / (1 + |d|)}
    + \frac{1}{2} \, \frac{\sum_{s \in x \cap y} \ln(1 + N / n_s)}
         {\sum_{s \in x} \ln(1 + N / n_s)}

over the offsets d that are in the release, and over its distinct signs s. The sign s is
in :math:`n_s` of N known texts. One sign stands for each end of a text. The word of the
most similar place is copied, and the most frequent one of equally similar places. How
similar a place has to be is learnt from the known texts alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats, Weights

Marks: TypeAlias = NDArray[np.bool_]
Numbers: TypeAlias = NDArray[np.integer[Any]]

_TEXTS: Final = 8
_RAREST: Final = 64
_REACH: Final = 8
_END, _BEFORE, _BESIDE = -1, -2, -3
"""Signs of an end, of what is behind it in a release, and between known texts."""

_LEARNT: Final = 500
"""Known texts that show, each without itself, how similar a place has to be."""

_LEVELS: Final = (*np.arange(0.3, 0.8, 0.1), 0.8, 0.85, 0.9, 0.95, 0.99)

_OFFSETS: Final = np.arange(-_REACH, _REACH + 1)
_WEIGHTS: Final = 1.0 / (1.0 + np.abs(_OFFSETS))


class Copied(NamedTuple):
    """The words that are copied to some places, and how similar the places are.

    ``words`` is -1, and ``likeness`` 0, where no known text has anything in common.
    """

    words: Weights
    likeness: Floats


@final
class SimilarTexts:
    """Known texts, and where each sign stands in them.

    Parameters
    ----------
    signs : sequence of int array, shape (words,)
        The signs of each known text, 0 or more.
    words : sequence of int array, shape (words,)
        The words at the same places, 0 or more.

    Examples
    --------
    >>> known = SimilarTexts([np.array([5, 6, 1, 7])], [np.array([15, 16, 11, 17])])
    >>> known.copy(np.array([6, 1, 7]), [1])
    Copied(words=array([11]), likeness=array([0.9375]))
    """

    def __init__(self, signs: Sequence[Numbers], words: Sequence[Numbers]) -> None:
        self.texts = len(signs)
        self._signs, self._words = signs, words
        distinct = [np.unique(each) for each in signs]
        owners = np.repeat(np.arange(self.texts), [len(each) for each in distinct])
        every = np.concatenate(distinct) if distinct else np.zeros(0, dtype=np.int64)
        order = np.argsort(every, kind="stable")
        self._owners = owners[order]
        self._listed, self._starts = np.unique(every[order], return_index=True)
        self._starts = np.append(self._starts, len(every))

    def copy(
        self, signs: Numbers, places: Sequence[int], *, without: int | None = None
    ) -> Copied:
        """Copy words to some places of a release.

        Parameters
        ----------
        signs : int array, shape (words,)
            The signs of the release.
        places : sequence of int
            Where a word is hidden.
        without : int, optional
            A known text that is left out.

        Returns
        -------
        Copied
            One word for each place.
        """
        words = np.full(len(places), -1, dtype=np.int64)
        likeness = np.zeros(len(places))
        texts, common = self._find_texts(signs, without)
        if not len(places) or not len(texts):
            return Copied(words, likeness)
        known, own, shares = self._lay_out(texts, common)
        shown = _pad(signs, _BEFORE)
        (candidates,) = np.nonzero(own >= 0)
        for i, place in enumerate(places):
            window = shown[place + 1 + _OFFSETS + _REACH]
            weights = np.where(window == _BEFORE, 0.0, _WEIGHTS)
            # What has neither the sign nor one beside it in common is not looked at.
            near = np.zeros(len(candidates), dtype=np.bool_)
            for offset in (-1, 0, 1):
                near |= known[candidates + offset] == window[_REACH + offset]
            some = candidates[near]
            if not len(some):
                continue
            scores = (known[some[:, None] + _OFFSETS] == window) @ weights
            scores = (scores / weights.sum() + shares[some]) / 2
            likeness[i] = scores.max()
            best = own[some[scores >= scores.max() - 1e-9]]
            words[i] = Counter(best.tolist()).most_common(1)[0][0]
        return Copied(words, likeness)

    def get_text(self, text: int) -> tuple[Numbers, Numbers]:
        """Return the signs of a known text, and its words."""
        return self._signs[text], self._words[text]

    def choose_texts(self) -> list[int]:
        """Choose known texts to learn from, at equal distances: 500 or so."""
        return [*range(0, self.texts, max(1, self.texts // _LEARNT))]

    def learn_level(
        self, places: Mapping[int, Weights], rights: Mapping[int, Marks]
    ) -> float:
        """Find how similar a place has to be, so that copying is better than a guess.

        Each of some known texts is read by means of the others.

        Parameters
        ----------
        places : mapping of int to int array
            Of known texts: the places that a release hides.
        rights : mapping of int to bool array
            Of the same texts: where another guess is right.

        Returns
        -------
        float
            The least likeness of a place whose word is copied; infinite for none.

        Examples
        --------
        >>> texts = [np.array([5, 6, 1, 7]), np.array([5, 6, 1, 7])]
        >>> known = SimilarTexts(texts, texts)
        >>> known.learn_level({0: np.array([2])}, {0: np.array([False])})
        0.99
        """
        gains, similar = [np.zeros(0)], [np.zeros(0)]
        for text, hidden in places.items():
            found = self.copy(self._signs[text], hidden.tolist(), without=text)
            copied = found.words == self._words[text][hidden]
            gains.append(copied.astype(np.float64) - rights[text])
            similar.append(found.likeness)
        every, likeness = np.concatenate(gains), np.concatenate(similar)
        sums = [float(every[likeness >= level].sum()) for level in _LEVELS]
        best = len(sums) - 1 - int(np.argmax(sums[::-1]))
        return float(_LEVELS[best]) if sums[best] > 0 else np.inf

    def _find_texts(
        self, signs: Numbers, without: int | None
    ) -> tuple[Weights, Floats]:
        """Find the known texts with the most in common, and how much that is."""
        distinct = np.unique(signs)
        at = np.searchsorted(self._listed, distinct)
        at = at[at < len(self._listed)]
        at = at[np.isin(self._listed[at], distinct)]
        counts = self._starts[at + 1] - self._starts[at]
        logs = np.log1p(self.texts / counts)
        scores = np.zeros(self.texts)
        for sign in np.argsort(counts, kind="stable")[:_RAREST].tolist():
            own = slice(self._starts[at[sign]], self._starts[at[sign] + 1])
            scores[self._owners[own]] += logs[sign]
        if without is not None:
            scores[without] = 0.0
        count = min(_TEXTS, self.texts)
        best = np.sort(np.argpartition(-scores, count - 1)[:count])
        best = best[scores[best] > 0]
        unknown = (len(distinct) - len(at)) * np.log1p(self.texts)
        known = self._listed[at]
        common = [float(logs[np.isin(known, self._signs[i])].sum()) for i in best]
        return best, np.array(common) / (logs.sum() + unknown)

    def _lay_out(
        self, texts: Weights, common: Floats
    ) -> tuple[Weights, Weights, Floats]:
        """Put known texts behind each other: signs, words, what they have in common."""
        known = np.concatenate([_pad(self._signs[text], _BESIDE) for text in texts])
        own = np.concatenate([_pad(self._words[text], _BESIDE) for text in texts])
        lengths = [len(self._signs[text]) + 2 * _REACH + 2 for text in texts]
        return known, own, np.repeat(common, lengths)


def _pad(values: Numbers, beyond: int) -> Weights:
    """Put an end at both sides, and what is beyond it."""
    side = [beyond] * _REACH
    return np.concatenate([side, [_END], values, [_END], side]).astype(np.int64)
