r"""An attacker who guesses hidden words by the ordinary words of the whole text.

A note about an illness has words that other notes lack, and they may stand far from its
name. The attacker knows in how many texts of a corpus two words stand together. A text
prints the group g of a hidden word, and the set X of distinct ordinary words. The
attacker guesses the word w of the group with the largest

.. math::
    \ln \frac{m_w}{m_g} + a \sum_{x \in X}
    \ln \frac{c_{wx} + s \, q_x}{(n_w + s) \, q_x}, \qquad q_x = \frac{n_{gx}}{n_g}

In the corpus, w stands at :math:`m_w` of the :math:`m_g` places of the group. Of the
:math:`n_w` texts with w in this group, :math:`c_{wx}` have x too. Of the :math:`n_g`
texts with the group, :math:`n_{gx}` have x. The sum leaves out the words that no text
with the group has. It is naive Bayes: each ratio is smoothed as if s more texts had w,
and the ordinary words of all texts with the group.

All places of a text with one group get one guess, so a word that is repeated is guessed
from all its places at once. The attacker tries the 128 most frequent words of each
group, and counts the 4,096 ordinary words that stand in most texts of the corpus. The
level of smoothing s and the weight a are those that guess most words of one text in
five of the corpus, by the rest of it. A group has a level of its own if that guesses
clearly more of its words there: h of them, and the common level fewer than
:math:`h - 2 \sqrt{h}`. A weight of 0 guesses from the group alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats, Ids, Weights
from mondegreen.attacks.parts import draw_parts

WORDS: Final = 128
ORDINARY: Final = 4096
"""Words of a group that are tried, and ordinary words that count."""

_PARTS: Final = 5
_HELD: Final = 300
"""Texts of the corpus that choose the smoothing and the weight, at most."""

_CLEARLY: Final = 2.0
"""Standard deviations by which a level has to be better for a group."""

_CELLS: Final = 1 << 20
"""Numbers in memory at a time."""

Marks = NDArray[np.bool_]
Sums = NDArray[np.float32]


class Texts(NamedTuple):
    """Texts as a release shows them, and where words are hidden.

    Parameters
    ----------
    symbols : int array, shape (words,)
        The ordinary word or the group at each place, text after text.
    starts : int array, shape (texts + 1,)
        Where each text begins; the last one is the number of words.
    hidden : int array
        The places that show a group, in order.
    """

    symbols: Ids
    starts: Weights
    hidden: Weights

    @property
    def owners(self) -> Weights:
        """The text of each hidden place."""
        return np.searchsorted(self.starts, self.hidden, side="right") - 1


class _Level(NamedTuple):
    smoothing: float
    weight: float


_LEVELS: Final = tuple(
    _Level(smoothing, weight)
    for smoothing in (1.0, 4.0, 16.0, 64.0)
    for weight in (0.0, 0.125, 0.25, 0.5, 1.0)
)


class _Company(NamedTuple):
    """The distinct ordinary words of texts: those of text t end at ``ends[t + 1]``."""

    ends: Weights
    words: Weights

    def list_chunks(
        self, texts: Weights, width: int
    ) -> Iterator[tuple[slice, Weights]]:
        """Split texts, so that their words times ``width`` are few enough."""
        sizes = (self.ends[texts + 1] - self.ends[texts]) * max(1, width)
        chunks = np.cumsum(sizes) // _CELLS
        for chunk in np.unique(chunks):
            first, last = np.searchsorted(chunks, [chunk, chunk + 1]).tolist()
            yield slice(first, last), texts[first:last]

    def spread(self, texts: Weights) -> tuple[Weights, Weights]:
        """List the words of some texts, and the number of the text of each."""
        counts = self.ends[texts + 1] - self.ends[texts]
        owners = np.repeat(np.arange(len(texts)), counts)
        steps = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
        return owners, self.words[self.ends[texts][owners] + steps]


@final
class WholeTexts:
    """Texts of a corpus, and which words stand in them together.

    Parameters
    ----------
    known : Texts
        The corpus as a release without strayed words would show it.
    words : int array, shape (words,)
        The word at each place of the corpus.
    ordinary : int
        How many symbols are ordinary words; groups have larger numbers.

    Examples
    --------
    Ordinary words are 0 and 1. The only group is 2, and hides 7 beside 0, 8 beside 1:

    >>> symbols, words = np.array([0, 2, 1, 2] * 20), np.array([0, 7, 1, 8] * 20)
    >>> hidden = np.arange(1, 80, 2)
    >>> known = Texts(symbols, np.arange(0, 81, 2), hidden)
    >>> release = Texts(symbols[:4], np.array([0, 2, 4]), hidden[:2])
    >>> WholeTexts(known, words, 2).guess(release, symbols[:4])
    array([0, 7, 1, 8])
    """

    def __init__(self, known: Texts, words: Ids, ordinary: int) -> None:
        self._known, self._ordinary = known, ordinary
        self._groups = known.symbols[known.hidden]
        self._words = words[known.hidden].astype(np.int64)
        self._owners = known.owners
        self._numbers = self._number_ordinary(known)
        self._company = self._list_company(known)
        self._places = _split(self._groups)
        self._levels = self._choose_levels()

    def _number_ordinary(self, known: Texts) -> Weights:
        """Number the ordinary words that stand in most texts; -1 for others."""
        keys = np.unique(_key_by_text(known, self._ordinary))
        counts = np.bincount(keys % self._ordinary, minlength=self._ordinary)
        kept = np.argsort(-counts, kind="stable")[:ORDINARY]
        kept = kept[counts[kept] > 0]
        found = np.full(self._ordinary, -1, dtype=np.int64)
        found[kept] = np.arange(len(kept))
        return found

    def _list_company(self, texts: Texts) -> _Company:
        keys = np.unique(_key_by_text(texts, self._ordinary))
        numbers = self._numbers[keys % self._ordinary]
        keys, numbers = keys[numbers >= 0], numbers[numbers >= 0]
        every = np.arange(len(texts.starts), dtype=np.int64) * self._ordinary
        return _Company(np.searchsorted(keys, every), numbers)

    def _choose_levels(self) -> dict[int, _Level]:
        """Choose for each group what guesses most words in a part of the corpus."""
        parts = draw_parts(len(self._known.starts) - 1, _PARTS)
        is_held = parts == 0
        is_held[np.flatnonzero(is_held)[_HELD:]] = False
        hits: dict[int, Weights] = {}
        for symbol, places in self._places.items():
            held = is_held[self._owners[places]]
            if held.any() and not held.all():
                hits[symbol] = self._try_levels(places[~held], places[held])
        if not hits:
            return dict.fromkeys(self._places, _LEVELS[0])
        most = int(np.sum([*hits.values()], axis=0).argmax())
        found = dict.fromkeys(self._places, _LEVELS[most])
        for symbol, own in hits.items():
            if own[most] < own.max() - _CLEARLY * np.sqrt(own.max()):
                found[symbol] = _LEVELS[int(own.argmax())]
        return found

    def _try_levels(self, places: Weights, held: Weights) -> Weights:
        """Count the words of a group that each level guesses, by other places."""
        group, truth = self._learn(places), self._words[held]
        texts, own = np.unique(self._owners[held], return_inverse=True)
        hits = []
        for smoothing, levels in groupby(_LEVELS, key=lambda each: each.smoothing):
            sums = group.score(self._company, texts, smoothing)
            for _, weight in levels:
                guesses = group.choose(sums, weight)[own.ravel()]
                hits.append(np.count_nonzero(guesses == truth))
        return np.array(hits)

    def _learn(self, places: Weights) -> _Group:
        """Count the words of a group, and the ordinary words beside them."""
        words, counts = np.unique(self._words[places], return_counts=True)
        order = np.argsort(-counts, kind="stable")[:WORDS]
        words, prior = words[order], np.log(counts[order] / len(places))
        number = np.full(int(self._words[places].max()) + 1, -1, dtype=np.int64)
        number[words] = np.arange(len(words))
        width = int(self._numbers.max(initial=-1)) + 1
        owners, own = self._owners[places], number[self._words[places]]
        among = np.bincount(self._company.spread(np.unique(owners))[1], minlength=width)
        pairs = np.unique(owners[own >= 0] * len(words) + own[own >= 0])
        texts, own = np.divmod(pairs, len(words))
        together = np.zeros(width * len(words), dtype=np.float32)
        for part, chunk in self._company.list_chunks(texts, 1):
            which, beside = self._company.spread(chunk)
            keys = beside * len(words) + own[part][which]
            together += np.bincount(keys, minlength=len(together))
        return _Group(
            words,
            prior,
            np.bincount(own, minlength=len(words)),
            together.reshape(width, len(words)),
            among / len(np.unique(owners)),
        )

    def guess(self, release: Texts, read: Ids) -> Ids:
        """Guess the hidden words of a release.

        Parameters
        ----------
        release : Texts
        read : int array, shape (words,)
            What is guessed where the corpus lacks the group.

        Returns
        -------
        int array, shape (words,)
        """
        found, owners = read.copy(), release.owners
        company = self._list_company(release)
        for symbol, places in _split(release.symbols[release.hidden]).items():
            if symbol not in self._places:
                continue
            group = self._learn(self._places[symbol])
            texts, own = np.unique(owners[places], return_inverse=True)
            level = self._levels[symbol]
            sums = group.score(company, texts, level.smoothing)
            guesses = group.choose(sums, level.weight)
            found[release.hidden[places]] = guesses[own.ravel()]
        return found


class _Group(NamedTuple):
    """The words of a group in the corpus, and which ordinary words are beside them."""

    words: Weights
    prior: Floats  # ln(m_w / m_g)
    texts: Weights  # n_w
    together: Sums  # c_wx, shape (ordinary words, words)
    shares: Floats  # q_x

    def score(self, company: _Company, texts: Weights, smoothing: float) -> Sums:
        """Sum the log ratios of some texts, shape (texts, words)."""
        seen = self.shares > 0
        shares = self.shares[seen, None].astype(np.float32)
        logs = np.zeros(self.together.shape, dtype=np.float32)
        logs[seen] = np.log(self.together[seen] / shares + np.float32(smoothing))
        logs[seen] -= np.log(self.texts + smoothing).astype(np.float32)
        found = np.zeros((len(texts), len(self.words)), dtype=np.float32)
        for part, chunk in company.list_chunks(texts, len(self.words)):
            owners, beside = company.spread(chunk)
            if len(owners):
                first = np.flatnonzero(np.diff(owners, prepend=-1))
                sums = np.add.reduceat(logs[beside], first, axis=0)
                found[part][owners[first]] = sums
        return found

    def choose(self, sums: Sums, weight: float) -> Weights:
        """Choose the best word of each text."""
        best = (self.prior + weight * sums).argmax(axis=1)
        return np.asarray(self.words[best])


def _key_by_text(texts: Texts, ordinary: int) -> Weights:
    """Number the ordinary words of texts by text and word."""
    lengths = np.diff(texts.starts)
    owners = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    is_ordinary = texts.symbols < ordinary
    return owners[is_ordinary] * ordinary + texts.symbols[is_ordinary]


def _split(groups: Ids) -> dict[int, Weights]:
    """List the places of each group."""
    order = np.argsort(groups, kind="stable")
    distinct, first = np.unique(groups[order], return_index=True)
    parts = np.split(order, first[1:])
    return dict(zip(distinct.tolist(), parts, strict=False))  # none of no place
