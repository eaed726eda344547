r"""The reader: who guesses each word from its output and those around it.

With a public language model :math:`Q` of sentences, and outputs drawn word by word, the
posterior is that of a hidden Markov model,

.. math:: P(x \mid y) \propto Q(x) \prod_i P(y_i \mid x_i)

and the best guess of one word is the likeliest in its marginal (forward-backward). With
any other model than the true one this is a lower bound of what a better informed reader
recovers, so the strongest of those at hand counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats, Ids
from mondegreen.attacks.attack import Attack
from mondegreen.attacks.bayes import blind_success
from mondegreen.attacks.pairs import Pairs


class Reader(Protocol):
    """Guesses words from released ids and public knowledge alone."""

    def guesses(self, released: Ids, ends: NDArray[np.bool_]) -> Ids:
        """Guess each word; ``ends`` tells after which one a sentence ends."""


@final
@dataclass(frozen=True, slots=True)
class TableReader:
    """Guesses each word from its own output: a word for each, shape (V,)."""

    guess: Ids

    def guesses(self, released: Ids, ends: NDArray[np.bool_]) -> Ids:
        return self.guess[released]


def reader(pairs: Pairs, readers: Mapping[str, Reader], prior: Floats) -> Attack:
    """Measure how many words the strongest of some readers recovers.

    Parameters
    ----------
    pairs : Pairs
        Originals and released words.
    readers : mapping of str to Reader
        By what they know, for people.
    prior : float64 array, shape (V + 1,)
        For the guess that looks at no output.
    """
    hits = {
        knows: (each.guesses(pairs.outputs, pairs.ends) == pairs.inputs).astype(float)
        for knows, each in readers.items()
    }
    shares = {knows: float(found.mean()) for knows, found in hits.items()}
    strongest = max(shares, key=lambda knows: shares[knows])
    low, high = pairs.interval(hits[strongest])
    return Attack(
        "reader",
        f"reads whole sentences; knows the mechanism and {strongest}",
        shares[strongest],
        low,
        high,
        blind_success(pairs, prior),
        len(pairs.inputs),
        details={"readers": shares},
    )
