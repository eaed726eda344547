r"""The posterior of hidden words under a policy: forward-backward over few candidates.

The attacker sees symbols :math:`z_1 \dots z_n`, and knows the policy, its law and a
public trigram model :math:`Q` over the words of a space. The posterior of the words is

.. math:: P(x \mid z) \propto Q(x_1 \dots x_n) \prod_i P(z_i \mid x_i)

An ordinary word that the law never changes is certain (``urr``), and every other place
has candidates. Places with two certain words between them are independent, so each
island of candidates is summed by itself, by the forward-backward algorithm of second
order.

References
----------
Rabiner. "A Tutorial on Hidden Markov Models and Selected Applications in Speech
Recognition." Proceedings of the IEEE, 1989.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats, Ids
from mondegreen.decode.tables import Tables
from mondegreen.language.ngrams import NGrams
from mondegreen.mechanisms.symbols.response import Response
from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.policy import Policy
from mondegreen.sampling.integers import TOTAL
from mondegreen.text.print_forms import capitalize, public_cases
from mondegreen.text.tokenizer import TokenizedBatch, canonical

_USUAL: Final = 0.98
"""Chance that a word has the capital, or not, that public text mostly gives it."""

_STRAYS: Final = 64
"""Words, the most frequent ones, that may have strayed to a group."""

_STRAYS_TO_WORDS: Final = 8
"""Words that may have strayed to an ordinary word."""

_BUDGET: Final = 1 << 15
"""Triples of candidates that one place may take part in."""

_LONGEST: Final = 100
"""Words that are read together; a longer sentence is cut."""

Marks = NDArray[np.bool_]


class Column(NamedTuple):
    """The candidates of one place: ids of words, and ln P(z | word) of each."""

    ids: Ids
    log_law: Floats


class Truth(NamedTuple):
    """The true words of places, as ids of the model, and their true symbols."""

    words: Ids
    symbols: Ids


class Marginal(NamedTuple):
    """A column with ln P(word, z_1..z_n) of each candidate, up to a constant."""

    ids: Ids
    log_law: Floats
    log_joint: Floats

    def posterior(self, word: int) -> float:
        """Return the share of one word; 0 for a word that is no candidate."""
        total = np.logaddexp.reduce(self.log_joint)
        return float(np.exp(self.log_joint[self.ids == word] - total).sum())


@final
class PolicyPosterior:
    """Computes posteriors of the hidden words of texts under one policy and law.

    Parameters
    ----------
    policy : Policy
    response : Response
        The law over its symbols.
    language : NGrams
        A model of PUBLIC text.
    words : sequence of str
        The words of the model, in order.

    Notes
    -----
    *Candidates.* A group has all words of the model that the policy puts there, written
    small or with a capital: the usual form with chance 0.98, the other with 0.02. A
    true word that is in its group for another reason, such as a detector, counts as the
    rarer form. Frequent words are added, which may have strayed. A place whose
    neighbors are certain keeps all of them, so its posterior is exact for this model,
    but for strays that are rarer. Where hidden words are neighbors, only the best
    candidates by the ordinary words around them are kept: 181 of two in a row, 32 of
    three. The true word is always kept. What is left out makes the other posteriors
    larger, not smaller, at a place whose neighbors are certain.

    *Unknown words.* A word that the model does not have is never guessed. The attacker
    assumes that each hidden word is one of the model, unless its group has none.
    """

    def __init__(
        self,
        policy: Policy,
        response: Response,
        language: NGrams,
        words: Sequence[str],
    ) -> None:
        self._tables = Tables(language)
        self.boundary, self.unknown = language.boundary, language.vocab_size
        self._response = response
        self._ordinary = len(policy.ordinary)
        self._index = {word: i for i, word in enumerate(words)}
        self._clear = [self._index.get(word, self.unknown) for word in policy.ordinary]
        frequent = np.argsort(-language.frequency[: self.unknown], kind="stable")
        self._frequent = frequent[:_STRAYS].astype(np.int32)
        self._columns: dict[int, Column] = {}
        self._members = self._list_members(PolicyLookup(policy), words)

    def _list_members(
        self, lookup: PolicyLookup, words: Sequence[str]
    ) -> dict[int, list[tuple[int, float]]]:
        """List the words of each group, with P(symbol | word) before any noise."""
        cases = public_cases()
        found: dict[int, list[tuple[int, float]]] = {}
        for i, word in enumerate(words):
            small = lookup.find_symbol(word)
            large = lookup.find_symbol(capitalize(word))
            share = _USUAL if word in cases else 1 - _USUAL
            shares = {small: 1.0} if small == large else {small: 1 - share}
            shares |= {} if small == large else {large: share}
            for symbol, chance in shares.items():
                if symbol >= self._ordinary:
                    found.setdefault(symbol, []).append((i, chance))
        return found

    def find_words(self, batch: TokenizedBatch) -> Ids:
        """Look the words of texts up in the model; one it lacks is the unknown word.

        Parameters
        ----------
        batch : TokenizedBatch
            The original texts.

        Returns
        -------
        int32 array, shape (T,)
            Ids of words of the model.
        """
        words = batch.words()
        ids = (self._index.get(canonical(word), self.unknown) for word in words)
        return np.fromiter(ids, np.int32, len(words))

    def is_certain(self, symbol: int) -> bool:
        """Whether a released symbol shows its word: no other input leads to it.

        Parameters
        ----------
        symbol : int
            Symbol of a released word.

        Returns
        -------
        bool
            True for an ordinary word without cover.
        """
        first, count = self._response.first, self._response.count
        return symbol < self._ordinary and not first <= symbol < first + count

    def _column(self, symbol: int) -> Column:
        known = self._columns.get(symbol)
        if known is None:
            known = self._columns[symbol] = self._make_column(symbol)
        return known

    def _make_column(self, symbol: int) -> Column:
        if self.is_certain(symbol):
            return Column(np.array([self._clear[symbol]], np.int32), np.zeros(1))
        stray = self._response.stray / TOTAL
        kept = self._response.kept / TOTAL
        if symbol < self._ordinary:
            members, count = [(self._clear[symbol], 1.0)], _STRAYS_TO_WORDS
        else:
            members = self._members.get(symbol, [(self.unknown, 1.0)])
            count = _STRAYS
        own = np.array([word for word, _ in members], np.int32)
        share = np.array([chance for _, chance in members])
        more = self._frequent[:count]
        more = more[~np.isin(more, own)]
        # P(z | word): the share s of the spellings of a word has this symbol and is
        # kept, the rest strays here: s a / T + (1 - s) b / T. Other words stray: b / T.
        law = np.concatenate(
            [share * kept + (1 - share) * stray, np.full(len(more), stray)]
        )
        with np.errstate(divide="ignore"):
            return Column(np.concatenate([own, more]), np.log(law))

    def marginals(
        self, released: Ids, ends: Marks, truth: Truth, wanted: Marks
    ) -> dict[int, Marginal]:
        """Sum over all sentences of candidates, for the wanted places.

        Parameters
        ----------
        released : int32 array, shape (T,)
            The released symbols of some texts.
        ends : bool array, shape (T,)
            Whether a sentence ends behind each word.
        truth : Truth, shape (T,)
            The true words. They are kept among the candidates.
        wanted : bool array, shape (T,)
            The places to report.

        Returns
        -------
        dict of int to Marginal
            By place. A place is missing where the released word is certain.
        """
        found: dict[int, Marginal] = {}
        first = 0
        for stop in (np.flatnonzero(ends) + 1).tolist():
            for start in range(first, stop, _LONGEST):
                part = slice(start, min(start + _LONGEST, stop))
                if wanted[part].any():
                    true = Truth(truth.words[part], truth.symbols[part])
                    self._read_sentence(
                        released[part], true, wanted[part], start, found
                    )
            first = stop
        return {place: each for place, each in found.items() if wanted[place]}

    def _read_sentence(
        self,
        symbols: Ids,
        truth: Truth,
        wanted: Marks,
        start: int,
        found: dict[int, Marginal],
    ) -> None:
        columns = [self._column(symbol) for symbol in symbols.tolist()]
        is_open = np.array([not self.is_certain(s) for s in symbols.tolist()])
        is_group = symbols >= self._ordinary
        edge = Column(np.array([self.boundary], np.int32), np.zeros(1))
        # Two places before, and one behind; behind an end follows nothing.
        every = [edge, edge, *columns, edge]
        for first, last in _islands(is_open):
            if not wanted[first : last + 1].any():
                continue
            island = []
            for i in range(first, last + 1):
                column, word = columns[i], int(truth.words[i])
                if is_open[i]:
                    has_stayed = symbols[i] == truth.symbols[i]
                    column = self._with(column, word, has_stayed=bool(has_stayed))
                if is_group[i]:
                    column = self._prune(every, column, i, is_group, word)
                island.append(column)
            behind = every[last + 3 : last + 5]
            logs = self._sum(every[first : first + 2], island, behind)
            for i, (column, log_joint) in enumerate(zip(island, logs, strict=True)):
                found[start + first + i] = Marginal(*column, log_joint)

    def _with(self, column: Column, truth: int, *, has_stayed: bool) -> Column:
        """Add the true word to the candidates, where it is unusually written."""
        ids, law = column
        if truth >= self.unknown or (ids == truth).any():
            return column
        rare = (1 - _USUAL) * self._response.kept
        weight = rare if has_stayed else self._response.stray
        return Column(
            np.append(ids, np.int32(truth)), np.append(law, np.log(weight / TOTAL))
        )

    def _prune(
        self,
        every: Sequence[Column],
        column: Column,
        place: int,
        is_group: Marks,
        truth: int,
    ) -> Column:
        """Keep the best candidates by the ordinary words beside them, and the truth."""
        ids, law = column
        at = place + 2
        widths = [len(each.ids) for each in every[at - 2 : at + 3]]
        beside = np.zeros(len(is_group) + 4, dtype=np.bool_)
        beside[2:-2] = is_group
        count = _share_budget(widths, beside[at - 2 : at + 3].tolist())
        if len(ids) <= count:
            return column
        # Of an ordinary word that may be a stray, the first candidate is the word.
        u, v, x = (every[i].ids[:1] for i in (at - 2, at - 1, at + 1))
        if beside[at - 1]:
            scores = law + self._tables.unigram[ids]
        elif beside[at - 2]:
            scores = law + self._tables.pair_scores(v, ids)
        else:
            scores = law + self._triples(u, v, ids)[0, 0]
        if not beside[at + 1]:
            scores = scores + self._tables.pair_scores(ids, x)
        kept = np.argpartition(-scores, count - 1)[:count]
        kept = np.union1d(kept, np.flatnonzero(ids == truth))
        return Column(ids[kept], law[kept])

    def _triples(self, first: Ids, second: Ids, third: Ids) -> Floats:
        """Score triples, ln p(third | first, second), of shape (K, K, K)."""
        pairs = self._tables.pair_places(first[:, None], second[None, :])[:, :, None]
        third = np.asarray(third)[None, None, :]
        scores = self._tables.pair_scores(second[None, :, None], third)
        # The back-off ln gamma(u, v) + ln p(w | v), unless the triple was kept.
        found = (self._tables.pair_backoff[pairs] + scores).astype(np.float64)
        which, kept = self._tables.find_kept_triples(pairs, third)
        flat = found.reshape(-1)
        flat[which] = np.maximum(flat[which], kept)
        return found

    def _sum(
        self,
        before: Sequence[Column],
        island: Sequence[Column],
        behind: Sequence[Column],
    ) -> list[Floats]:
        """Sum over the paths through each candidate: forward-backward."""
        # a_t(v, w) = sum_u a_{t-1}(u, v) p(w | u, v) P(z | w), in logarithms. Steps
        # have the shape (u, v, w), states (v, w). Places behind the island are certain,
        # and count through p(w | u, v): they tell about the last candidates.
        chain = [*before, *island, *behind]
        steps, forward = [], [np.zeros((1, 1))]
        for u, v, w in zip(chain, chain[1:], chain[2:], strict=False):
            step = self._triples(u.ids, v.ids, w.ids) + w.log_law
            steps.append(step)
            paths = forward[-1][:, :, None] + step
            forward.append(_log_sum(paths, 0))
        onward = np.zeros_like(forward[-1])
        found = []
        for state, step in zip(reversed(forward[1:]), reversed(steps), strict=True):
            # a_t(v, w) times what follows, summed over v: ln P(w, z) of each candidate
            # w.
            found.append(_log_sum(state + onward, 0))
            onward = _log_sum(step + onward[None, :, :], 2)
        return found[::-1][: len(island)]


def _log_sum(values: Floats, axis: int) -> Floats:
    """Add probabilities along an axis, as logarithms; all of them are above 0."""
    top = values.max(axis=axis, keepdims=True)
    total = np.exp(values - top).sum(axis=axis)
    return np.asarray(np.log(total) + top.squeeze(axis))


def _islands(is_open: Marks) -> Iterator[tuple[int, int]]:
    """Yield first and last places that two certain words do not divide.

    >>> list(_islands(np.array([0, 1, 0, 1, 0, 0, 1], dtype=np.bool_)))
    [(1, 3), (6, 6)]
    """
    places = np.flatnonzero(is_open)
    if not len(places):
        return
    cuts = np.flatnonzero(np.diff(places) > 2) + 1
    for part in np.split(places, cuts):
        yield int(part[0]), int(part[-1])


def _share_budget(widths: Sequence[int], is_group: Sequence[bool]) -> int:
    """Tell how many candidates the place in the middle of five may have.

    Each three places in a row take the budget together. Groups share what the widths
    of the ordinary words leave.

    >>> _share_budget([1, 1, 900, 1, 1], [False, False, True, False, False])
    32768
    >>> _share_budget([1, 1, 900, 900, 900], [False, False, True, True, True])
    32
    """
    least = _BUDGET
    for first in range(min(3, len(widths) - 2)):
        three = range(first, first + 3)
        taken = math.prod(widths[i] for i in three if not is_group[i])
        groups = sum(is_group[i] for i in three)
        least = min(least, math.floor((_BUDGET / taken) ** (1 / groups) + 1e-9))
    return max(1, least)
