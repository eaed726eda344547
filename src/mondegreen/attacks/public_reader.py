r"""What a reader with the public language model makes of one hidden text.

The reader sees a text whose sensitive words are hidden: the ordinary words, and the
group of each surrogate. It knows the policy and the public language model :math:`Q`,
and no text of the same domain. Its posterior of the word :math:`v` at the place
:math:`i` is

.. math:: P(x_i = v \mid y) \propto
    \sum_{x : x_i = v} Q(x_1 \dots x_n) \prod_j 1[x_j \in y_j]

over the words of the model, by forward-backward. An attacker who knows texts of the
same domain, or the person, recovers more.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Final, final

import numpy as np

from mondegreen.arrays import Floats, Ids
from mondegreen.decode.decoder import Decoder
from mondegreen.decode.released import Released
from mondegreen.language.store import load_language
from mondegreen.mechanisms.channel import Channel, rank
from mondegreen.policy.policy import Policy, find_form
from mondegreen.space.store import load_space
from mondegreen.text.sentences import find_ends
from mondegreen.text.tokenizer import TokenizedBatch, canonical

GIVEN_AWAY: Final = 0.5
"""A place is given away where the posterior of the true word is above this."""

_CANDIDATES: Final = 48
_BEAM: Final = 12
_CAPITAL: Final = 0.02
"""P(capital | word) of an ordinary word such as "will", which is a name with one."""


@final
class PublicReader:
    """Reads hidden texts of one policy with the embedded language model.

    Parameters
    ----------
    policy : Policy
        The policy of the hidden texts.

    Examples
    --------
    >>> from mondegreen.policy.lookup import PolicyLookup
    >>> from mondegreen.policy.policy import load_policy
    >>> from mondegreen.text.tokenizer import tokenize
    >>> policy = load_policy("names")
    >>> batch = tokenize(["He was born in New York and is the father of Zyxqo."])
    >>> beliefs = PublicReader(policy).find_beliefs(
    ...     batch, PolicyLookup(policy).codes(batch)
    ... )
    >>> float(beliefs[-1])
    0.0
    """

    def __init__(self, policy: Policy) -> None:
        space = load_space()
        self._index = space.index
        self._unknown = len(space.words)
        language = load_language()
        language.check_space(space)
        channel = self._make_channel(policy, language.frequencies())
        every = np.ones(self._unknown + 1, dtype=np.bool_)
        self._decoder = Decoder(channel, language, printable=every, beam=_BEAM)

    def find_beliefs(self, batch: TokenizedBatch, released: Ids) -> Floats:
        """Return the posterior of each original word.

        Parameters
        ----------
        batch : TokenizedBatch
            The original texts: the reader sees where their sentences end, and the
            answer is about their words.
        released : int32 array, shape (words,)
            The symbols that are seen.

        Returns
        -------
        float64 array, shape (words,)
            In [0, 1]. 0 for words that the language model does not know. Of ordinary
            words it is 1 or nearly: they are seen.
        """
        if not len(released):
            return np.zeros(0)
        truth = np.array(
            [self._index.get(canonical(word), self._unknown) for word in batch.words()]
        )
        ids, shares = self._decoder.marginals(Released(released, find_ends(batch)))
        mine = np.where(ids == truth[:, None], shares, 0.0).sum(axis=1)
        return np.asarray(np.where(truth == self._unknown, 0.0, mine))

    def _make_channel(self, policy: Policy, prior: Floats) -> Channel:
        """List the most frequent words of each symbol."""
        found: dict[int, list[tuple[int, float]]] = {}
        for word, place in self._index.items():
            for symbol, share in _list_symbols(policy, word):
                found.setdefault(symbol, []).append((place, share))
        shape = (policy.alphabet.size, _CANDIDATES)
        candidates = np.full(shape, self._unknown, dtype=np.int32)
        law = np.zeros(shape)
        law[:, 0] = 1e-9  # a symbol of no known word is some unknown one
        for symbol, rows in found.items():
            rows.sort(key=lambda row: (-prior[row[0]] * row[1], row[0]))
            some = rows[:_CANDIDATES]
            candidates[symbol, : len(some)] = [place for place, _ in some]
            law[symbol, : len(some)] = [share for _, share in some]
        observation = np.arange(policy.alphabet.size, dtype=np.int32)
        return rank(observation, candidates, law, prior, _CANDIDATES, "exact")

    def __repr__(self) -> str:
        return f"PublicReader(words={self._unknown})"


@functools.lru_cache(maxsize=4)
def load_reader(policy: Policy) -> PublicReader:
    """Make the reader of a policy once: it takes seconds, and some 50 MB."""
    return PublicReader(policy)


def _list_symbols(policy: Policy, word: str) -> Iterator[tuple[int, float]]:
    """List the symbols that a word may have, each with P(symbol | word)."""
    known = policy.symbols.get(word)
    if known is None:
        yield policy.find_group("rest", find_form(word)), 1 - _CAPITAL
        yield policy.find_group("other_name", "s"), _CAPITAL
        return
    capital = policy.capitals.get(word)
    if capital is None or capital == known:
        yield known, 1.0
    else:
        yield known, 1 - _CAPITAL
        yield capital, _CAPITAL
