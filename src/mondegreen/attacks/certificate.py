r"""Which places of a release an attacker guesses: the posterior of each hidden word.

An attacker with the law P(y | x) and a language model Q believes that the word v stood
at the place i with the probability

.. math:: P(x_i = v \mid y) \propto
    \sum_{x : x_i = v} Q(x_1 \dots x_n) \prod_j P(y_j \mid x_j)

which forward-backward sums over the candidates that the decoder keeps.

The list is for the owner of the texts. It advises on a setting: a larger group, a
smaller epsilon. It must not choose single places to be hidden better: such a choice
depends on private words, and is a release of its own without a guarantee
(docs/explanation/broken-promises.md).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from mondegreen.attacks.pairs import Pairs
from mondegreen.decode.channel import load_channel
from mondegreen.decode.decoder import CANDIDATES, Decoder
from mondegreen.decode.released import Released
from mondegreen.errors import InvalidParameterError
from mondegreen.language.ngrams import NGrams
from mondegreen.mechanisms.base import State

_BEAM: Final = 12


class Place(NamedTuple):
    """A word of the release that an attacker is sure of.

    ``text`` and ``word`` count from 0; ``belief`` is the posterior of the best guess,
    and ``is_right`` tells whether that is the original word.
    """

    text: int
    word: int
    belief: float
    is_right: bool


def find_guessed_places(
    state: State, pairs: Pairs, language: NGrams, *, above: float = 0.5
) -> list[Place]:
    """List the places whose best guess has a posterior above a bound.

    Parameters
    ----------
    state : State
        The mechanism that released, over the words of a space.
    pairs : Pairs
        Originals and released words.
    language : NGrams
        The PUBLIC model that the attacker knows, over the words of the same space.
    above : float, in [0, 1)
        The bound on the posterior.

    Returns
    -------
    list of Place
        The most certain place first. It is private: it tells about the originals.

    Raises
    ------
    InvalidParameterError
        If the bound is no probability below 1.
    ConfigurationError
        If the released words are not at hand.
    LanguageError
        If the model is over other words.

    Examples
    --------
    >>> import mondegreen as mg
    >>> from mondegreen.attacks.pairs import build_pairs
    >>> from mondegreen.language.store import load_language
    >>> from mondegreen.text.lookup import Lookup
    >>> space = mg.load_space()
    >>> state = mg.mechanism("tree", epsilon=30.0).prepare(space)
    >>> pairs = build_pairs(["The rest of the day was cold."], Lookup(space))
    >>> pairs = pairs.sample(state, np.random.default_rng(0))
    >>> places = find_guessed_places(state, pairs, load_language())
    >>> all(place.belief > 0.5 for place in places)
    True
    """
    if not 0 <= above < 1:
        raise InvalidParameterError("above", above, "in [0, 1)")
    language.check_space(state.space)
    decoder = Decoder(load_channel(state, language, CANDIDATES), language, beam=_BEAM)
    ids, shares = decoder.marginals(Released(pairs.outputs, pairs.ends))
    best = shares.argmax(axis=1)
    rows = np.arange(len(best))
    guesses, beliefs = ids[rows, best], shares[rows, best]
    owners = np.repeat(np.arange(pairs.texts), pairs.counts)
    found = [
        Place(
            int(owners[i]),
            int(i - pairs.starts[owners[i]]),
            float(beliefs[i]),
            bool(guesses[i] == pairs.inputs[i]),
        )
        for i in np.flatnonzero(beliefs > above)
    ]
    return sorted(found, key=lambda place: (-place.belief, place.text, place.word))
