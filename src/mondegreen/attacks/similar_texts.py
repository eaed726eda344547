r"""An attacker who copies hidden words from the most similar place of known texts.

Texts that occur several times, quoted passages, forms and answers to the same question
differ in few words, so an attacker who knows one of them reads the others. A text is a
sequence of signs: what a reader sees at each word, such as the word itself or the group
of a hidden one. The likeness of the place j of a known text y to the place i of a
release x is

.. math::
    (1 - \lambda) \, \frac{\max_A \sum_{(p, q) \in A} w_p}
         {\sum_{|p - i| \le 20} w_p}
    + \lambda \, \frac{\sum_{s \in x \cap y} \ln(1 + N / n_s)}
         {\sum_{s \in x} \ln(1 + N / n_s)}, \qquad
    w_p = \frac{\ln(1 + N / n_{x_p})}{\sqrt{1 + |p - i|}}

The first part is about the neighborhood. A is a set of pairs of places that have equal
signs, and that come in the same order in both texts: on both sides of (i, j) and within
20 places of i. Words may be missing or inserted, so a pair may be shifted by up to 4
places: :math:`|(q - j) - (p - i)| \le 4`. The second part is about the whole texts, and
their distinct signs s. The sign s is in :math:`n_s` of N known texts. One sign, which
all texts have, stands for each end of a text.

Two kinds of places are compared. One kind has trigrams of signs near it that the
neighborhood of i has too, at nearly the same distance: the 16 places with the largest
sum of :math:`\ln(1 + N / n) / \sqrt{1 + |p - i|}` over the trigrams, where n is the
number of known places with a trigram. The other kind is in the eight known texts with
the most in common, by the 64 rarest signs of a release: the 8 places with the rarest
equal signs beside them.

The word of the most similar place is copied, and the most frequent one of equally
similar places. The attacker learns :math:`\lambda`, which is 0, 1/4 or 1/2, and how
similar a place has to be, from the known texts alone. The lowest threshold is used
with which copying gains nearly the most there, at least 99 %: a release has random
groups that the known texts lack, so its places are less similar.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats, Ids, Weights

Marks: TypeAlias = NDArray[np.bool_]
Numbers: TypeAlias = NDArray[np.integer[Any]]

_TEXTS: Final = 8
_RAREST: Final = 64
_REACH: Final = 20
_SHIFT: Final = 4
_BY_TRIGRAMS: Final = 16
_BY_TEXTS: Final = 8
"""Places that are compared with a hidden one, of each kind."""

_TRIGRAM_PLACES: Final = 16
_SIGN_PLACES: Final = 256
"""The attacker looks at so many known places of one trigram, or of one sign."""

_CHUNK: Final = 256
_END, _BEFORE, _BESIDE = -1, -2, -3
"""Signs of an end, of what is behind it in a release, and between known texts."""

_SIDE: Final = _REACH + _SHIFT + 1
_LEARNT: Final = 500
"""Known texts that show, each without itself, how similar a place has to be."""

_LEVELS: Final = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.99)
_SHARES: Final = (0.0, 0.25, 0.5)
_NEARLY: Final = 0.99
"""A lower level is taken if it has this share of the gain: releases have more noise."""

_EQUAL: Final = 1e-5
_UNIT: Final = 2.0**16

_DISTANCES: Final = np.arange(1, _REACH + 1)
_NEAR: Final = np.arange(-_SHIFT, _SHIFT + 1)
_MULTIPLIER: Final = np.uint64(0x9E3779B97F4A7C15)


class Copied(NamedTuple):
    """The words that are copied to some places, and how similar the places are.

    ``words`` is -1 where no known place is similar enough, and ``likeness`` is 0 where
    no known text has anything in common.
    """

    words: Weights
    likeness: Floats


class Level(NamedTuple):
    """How similar a place has to be, so that its word is copied.

    ``share`` is how much the whole texts count beside the neighborhood, and ``least``
    the least likeness. It is infinite where nothing is to be copied.
    """

    share: float
    least: float


_ANY: Final = Level(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class _Release:
    """What an attacker sees of a text, with ends and margins."""

    signs: Ids
    rarity: Floats  # of the sign at each place
    known: Weights  # the numbers of distinct signs that known texts have
    total: float  # the rarity of all distinct signs
    texts: Weights  # known texts with the most in common
    without: int | None


class _Places(NamedTuple):
    """Known places that are compared with hidden ones."""

    owners: Weights  # which hidden place
    at: Weights
    alike: Floats  # the neighborhoods
    common: Floats  # the whole texts

    def score(self, share: float) -> Floats:
        return (1 - share) * self.alike + share * self.common


@final
class SimilarTexts:
    """Known texts, and where each sign and each trigram of signs stands in them.

    Parameters
    ----------
    signs : sequence of int array, shape (words,)
        The signs of each known text, 0 or more.
    words : sequence of int array, shape (words,)
        The words at the same places, 0 or more.

    Examples
    --------
    >>> known = SimilarTexts([np.array([5, 6, 1, 7])], [np.array([15, 16, 11, 17])])
    >>> known.copy(np.array([5, 6, 1, 7]), [2])
    Copied(words=array([11]), likeness=array([1.]))
    """

    def __init__(self, signs: Sequence[Numbers], words: Sequence[Numbers]) -> None:
        self.texts = len(signs)
        lengths = np.array([len(each) for each in signs], dtype=np.int64)
        self._lengths = lengths
        # Margins are so wide that no neighborhood reaches into the next text.
        self._begins = np.cumsum([_SIDE, *(lengths + _SIDE + 2)])
        self._known = np.full(self._begins[-1], _BESIDE, dtype=np.int32)
        self._own = np.full(self._begins[-1], -1, dtype=np.int32)
        begins = self._begins[:-1]
        self._known[begins - 1] = self._known[begins + lengths] = _END
        texts, at = _spread(begins, lengths)
        if self.texts:
            self._known[at] = np.concatenate(signs)
            self._own[at] = np.concatenate(words)
        self._listed, numbers = np.unique(self._known[at], return_inverse=True)
        size = max(1, len(self._listed))
        distinct = np.unique(texts * size + numbers)
        owners, self._numbers = distinct // size, (distinct % size).astype(np.int32)
        self._distinct = np.searchsorted(owners, np.arange(self.texts + 1))
        self._owners = owners[np.argsort(self._numbers, kind="stable")]
        counts = np.bincount(self._numbers, minlength=len(self._listed))
        self._starts = np.cumsum([0, *counts])
        self._rarity = np.log1p(self.texts / counts)
        keys = _number_trigrams(self._known)[at - 1]
        order = np.argsort(keys, kind="stable")
        self._trigrams, self._middles = keys[order], at[order]

    def copy(
        self,
        signs: Numbers,
        places: Sequence[int],
        level: Level = _ANY,
        *,
        without: int | None = None,
    ) -> Copied:
        """Copy words to some places of a release.

        Parameters
        ----------
        signs : int array, shape (words,)
            The signs of the release.
        places : sequence of int
            Where a word is hidden.
        level : Level
            How similar a place has to be. By default, only the neighborhood counts, and
            all that is similar is copied.
        without : int, optional
            A known text that is left out.

        Returns
        -------
        Copied
            One word for each place.
        """
        (found,) = self._copy(signs, places, (level.share,), without)
        is_similar = found.likeness >= level.least
        return Copied(np.where(is_similar, found.words, -1), found.likeness)

    def get_text(self, text: int) -> tuple[Numbers, Numbers]:
        """Return the signs of a known text, and its words."""
        begin = self._begins[text]
        own = slice(begin, begin + self._lengths[text])
        return self._known[own], self._own[own]

    def choose_texts(self) -> list[int]:
        """Choose known texts to learn from, at equal distances: 500 or so."""
        return [*range(0, self.texts, max(1, self.texts // _LEARNT))]

    def learn_level(
        self, places: Mapping[int, Weights], rights: Mapping[int, Marks]
    ) -> Level:
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
        Level

        Examples
        --------
        >>> texts = [np.array([5, 6, 1, 7]), np.array([5, 6, 1, 7])]
        >>> known = SimilarTexts(texts, texts)
        >>> known.learn_level({0: np.array([2])}, {0: np.array([False])})
        Level(share=0.0, least=0.3)
        """
        count = sum(len(each) for each in places.values())
        gains, likeness = np.zeros((2, len(_SHARES), count))
        end = 0
        for text, hidden in places.items():
            signs, words = self.get_text(text)
            begin, end = end, end + len(hidden)
            ways = self._copy(signs, hidden.tolist(), _SHARES, text)
            for i, found in enumerate(ways):
                right = found.words == words[hidden]
                gains[i, begin:end] = right.astype(np.float64) - rights[text]
                likeness[i, begin:end] = found.likeness
        sums = np.array([(gains * (likeness >= each)).sum(axis=1) for each in _LEVELS])
        if sums.max() <= 0:
            return Level(0.0, np.inf)
        share = int(sums.max(axis=0).argmax())
        least = int((sums[:, share] >= _NEARLY * sums.max()).argmax())
        return Level(_SHARES[share], float(_LEVELS[least]))

    def _copy(
        self,
        signs: Numbers,
        places: Sequence[int],
        shares: Sequence[float],
        without: int | None,
    ) -> list[Copied]:
        """Copy words to places, once for each share that the whole texts may have."""
        ways = [
            Copied(np.full(len(places), -1, dtype=np.int64), np.zeros(len(places)))
            for _ in shares
        ]
        if not len(places) or not len(self._listed):
            return ways
        release = self._look_at(signs, without)
        order = np.argsort(places, kind="stable")
        for begin in range(0, len(places), _CHUNK):
            some = order[begin : begin + _CHUNK]
            compared = self._compare(release, np.asarray(places)[some] + _SIDE)
            for share, way in zip(shares, ways, strict=True):
                found = self._pick(compared, compared.score(share), len(some))
                way.words[some], way.likeness[some] = found
        return ways

    def _pick(self, places: _Places, scores: Floats, count: int) -> Copied:
        """Take the most frequent word of the most similar places."""
        words, likeness = np.full(count, -1, dtype=np.int64), np.zeros(count)
        np.maximum.at(likeness, places.owners, scores)
        best = scores >= likeness[places.owners] - _EQUAL
        own = self._own[places.at[best]].astype(np.int64)
        keys, times = np.unique((places.owners[best] << 32) + own, return_counts=True)
        keys = keys[np.argsort(times, kind="stable")]
        words[keys >> 32] = keys & 0xFFFFFFFF  # the last one stays
        return Copied(words, likeness)

    def _look_at(self, signs: Numbers, without: int | None) -> _Release:
        """Find how rare the signs of a release are, and the most similar texts."""
        distinct, inverse = np.unique(signs, return_inverse=True)
        at = np.minimum(np.searchsorted(self._listed, distinct), len(self._listed) - 1)
        is_known = self._listed[at] == distinct
        logs = np.where(is_known, self._rarity[at], np.log1p(self.texts))
        shown = np.full(len(signs) + 2 * _SIDE, _BEFORE, dtype=np.int32)
        rarity = np.zeros(len(shown))
        shown[_SIDE:-_SIDE], rarity[_SIDE:-_SIDE] = signs, logs[inverse]
        for end in (_SIDE - 1, -_SIDE):
            shown[end], rarity[end] = _END, np.log(2.0)
        known = at[is_known]
        texts = self._find_texts(known, without)
        return _Release(shown, rarity, known, float(logs.sum()), texts, without)

    def _find_texts(self, numbers: Weights, without: int | None) -> Weights:
        """Find the known texts with the most in common, by the rarest signs."""
        scores = np.zeros(self.texts)
        order = np.argsort(-self._rarity[numbers], kind="stable")[:_RAREST]
        for sign in numbers[order].tolist():
            own = slice(self._starts[sign], self._starts[sign + 1])
            scores[self._owners[own]] += self._rarity[sign]
        if without is not None:
            scores[without] = 0.0
        count = min(_TEXTS, self.texts)
        best = np.sort(np.argpartition(-scores, count - 1)[:count])
        return best[scores[best] > 0]

    def _compare(self, release: _Release, hidden: Weights) -> _Places:
        """Find known places that may be like some hidden ones, and compare them."""
        size = len(self._known)
        keys = [
            _choose(*self._find_by_trigrams(release, hidden), size, _BY_TRIGRAMS),
            _choose(*self._find_in_texts(release, hidden), size, _BY_TEXTS),
        ]
        owners, at = np.divmod(np.concatenate(keys), size)
        # Words are missing or inserted: the same sign may stand close by.
        tried = at[:, None] + _NEAR
        fits = self._known[tried] == release.signs[hidden[owners], None]
        fits[:, _SHIFT] = True
        fits &= self._own[tried] >= 0
        pairs = np.unique((owners[:, None] * size + tried)[fits])
        owners, at = np.divmod(pairs, size)
        alike = self._align(release, hidden, owners, at)
        texts = np.searchsorted(self._begins, at + 1, side="right") - 1
        every, inverse = np.unique(texts, return_inverse=True)
        return _Places(owners, at, alike, self._share(release, every)[inverse])

    def _find_by_trigrams(
        self, release: _Release, hidden: Weights
    ) -> tuple[Weights, Weights, Floats]:
        """Find places with the same trigrams near them: whose, where, and how rare."""
        first, last = hidden[0] - _REACH, hidden[-1] + _REACH + 1
        keys = _number_trigrams(release.signs[first - 1 : last + 1])
        middles = np.arange(first, last)
        inside = release.signs[first:last] >= 0
        keys, middles = keys[inside], middles[inside]
        begins = np.searchsorted(self._trigrams, keys)
        counts = np.searchsorted(self._trigrams, keys, side="right") - begins
        own, found = _spread(begins, counts, _TRIGRAM_PLACES)
        shown, known = middles[own], self._middles[found]
        rarity = np.log1p(self.texts / counts[own])
        if release.without is not None:
            begin = self._begins[release.without]
            length = self._lengths[release.without]
            kept = (known < begin) | (known >= begin + length)
            shown, known, rarity = shown[kept], known[kept], rarity[kept]
        begins = np.searchsorted(shown, hidden - _REACH)
        counts = np.searchsorted(shown, hidden + _REACH, side="right") - begins
        owners, each = _spread(begins, counts)
        distances = hidden[owners] - shown[each]
        weights = rarity[each] / np.sqrt(1 + np.abs(distances))
        return owners, known[each] + distances, weights

    def _find_in_texts(
        self, release: _Release, hidden: Weights
    ) -> tuple[Weights, Weights, Floats]:
        """Find places of similar texts that have the sign, or one beside it."""
        texts = release.texts
        _, at = _spread(self._begins[texts] - 1, self._lengths[texts] + 2)
        at = at[np.argsort(self._known[at], kind="stable")]
        signs = self._known[at]
        found = []
        for offset in (-1, 0, 1):
            shown = release.signs[hidden + offset]
            begins = np.searchsorted(signs, shown)
            counts = np.searchsorted(signs, shown, side="right") - begins
            owners, each = _spread(begins, counts, _SIGN_PLACES)
            rarity = release.rarity[hidden + offset]
            found.append((owners, at[each] - offset, rarity[owners]))
        whose, where, weights = zip(*found, strict=True)
        return np.concatenate(whose), np.concatenate(where), np.concatenate(weights)

    def _align(
        self, release: _Release, hidden: Weights, owners: Weights, at: Weights
    ) -> Floats:
        """Compare neighborhoods: the rarest common subsequence on both sides."""
        sides = np.concatenate(
            [hidden[:, None] + _DISTANCES, hidden[:, None] - _DISTANCES]
        )
        weights = (release.rarity[sides] / np.sqrt(1 + _DISTANCES)).astype(np.float32)
        reach = np.arange(1 - _SHIFT, _REACH + _SHIFT + 1)
        known = np.concatenate([at[:, None] + reach, at[:, None] - reach])
        both = np.concatenate([owners, owners + len(hidden)])
        shown, weight = release.signs[sides].T[:, both], weights.T[:, both]
        other = np.ascontiguousarray(self._known[known].T)
        # sums[k]: the most in common, with the known text k - 4 places further.
        width = len(_NEAR)
        sums = np.zeros((width, len(both)), dtype=np.float32)
        sums[:_SHIFT] = -np.inf
        for i in range(_REACH):
            is_equal = other[i : i + width] == shown[i]
            longer = is_equal * weight[i]
            longer += sums
            np.maximum(longer[:-1], sums[1:], out=longer[:-1])
            for k in range(1, width):  # ufunc.accumulate takes four times as long
                np.maximum(longer[k], longer[k - 1], out=longer[k])
            sums = longer
        # The last row is the largest one, as known words may be passed over.
        before, behind = np.split(sums[-1].astype(np.float64), 2)
        middle = release.rarity[hidden]
        equal = release.signs[hidden[owners]] == self._known[at]
        after, ahead = np.split(weights.sum(axis=1, dtype=np.float64), 2)
        every = (middle + after + ahead)[owners]
        own = middle[owners] * equal + before + behind
        return np.asarray(np.minimum(1.0, own / every))

    def _share(self, release: _Release, texts: Weights) -> Floats:
        """Tell how much of the rare signs of a release each known text has."""
        rarity = np.zeros(len(self._listed))
        rarity[release.known] = self._rarity[release.known]
        begins = self._distinct[texts]
        own, each = _spread(begins, self._distinct[texts + 1] - begins)
        sums = np.bincount(own, rarity[self._numbers[each]], minlength=len(texts))
        return np.asarray(sums / release.total)


def _choose(
    owners: Weights, at: Weights, weights: Floats, size: int, most: int
) -> Weights:
    """Choose known places for each hidden one: those with the largest sums around them.

    Of places close to each other, one stands for all. Returned are keys: the number of
    the hidden place times ``size``, and the known place.
    """
    keys, inverse = np.unique(owners * size + at, return_inverse=True)
    # Whole numbers, so that sums do not depend on their order.
    whole = np.rint(weights * _UNIT)
    own = np.bincount(inverse, whole, minlength=len(keys))
    sums = np.append(0.0, np.cumsum(own))
    around = sums[np.searchsorted(keys, keys + _SHIFT, side="right")]
    around = around - sums[np.searchsorted(keys, keys - _SHIFT)]
    is_first = np.ones(len(keys), dtype=np.bool_)
    for step in range(1, min(_SHIFT + 1, len(keys))):
        is_close = keys[step:] - keys[:-step] <= _SHIFT
        is_larger = own[step:] > own[:-step]
        is_first[step:] &= ~is_close | is_larger
        is_first[:-step] &= ~is_close | ~is_larger
    keys, around = keys[is_first], around[is_first]
    owners = keys // size
    order = np.lexsort((keys, -around, owners))
    rank = np.arange(len(order)) - np.searchsorted(owners, owners)
    return np.asarray(keys[order[rank < most]])


def _spread(
    begins: Weights, counts: Weights, most: int | None = None
) -> tuple[Weights, Weights]:
    """List the numbers in some ranges, and the range of each number.

    A range with more than ``most`` numbers gives so many, at equal distances.
    """
    kept = counts if most is None else np.minimum(counts, most)
    owners = np.repeat(np.arange(len(kept)), kept)
    steps = np.arange(len(owners)) - np.repeat(np.cumsum(kept) - kept, kept)
    if most is not None:
        steps = steps * counts[owners] // kept[owners]
    return owners, begins[owners] + steps


def _number_trigrams(signs: Ids) -> NDArray[np.uint64]:
    """Number the trigrams of signs: equal ones alike, and others nearly never."""
    own = signs.astype(np.uint64)
    pairs = own[:-2] * _MULTIPLIER + own[1:-1]
    return np.asarray(pairs * _MULTIPLIER + own[2:])
