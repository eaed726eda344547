"""What a statistical audit draws from: outputs of inputs, counted."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, Protocol, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.mechanisms.base import State

Counts = NDArray[np.int64]
"""``(outputs,)``; outputs that were seen for the first time later are further back."""

_BLOCK: Final = 1 << 17


class Sampler(Protocol):
    """Draws outputs of inputs, and counts them."""

    def counts(self, key: Hashable, runs: int) -> Counts:
        """Return how often each output came out of fresh runs of one input."""

    def name(self, output: int) -> str:
        """Return the output of that index."""


@final
class StateSampler:
    """Counts outputs of a mechanism of this package.

    Parameters
    ----------
    state : State
        Prepared.
    rng : numpy.random.Generator
        Consumed.
    """

    def __init__(self, state: State, rng: np.random.Generator) -> None:
        self._state, self._rng = state, rng

    def counts(self, key: Hashable, runs: int) -> Counts:
        """Return how often each word came out for an input."""
        size = self._state.space.vocab_size
        found = np.zeros(size, dtype=np.int64)
        for start in range(0, runs, _BLOCK):
            ids = np.full(min(_BLOCK, runs - start), key, dtype=np.int32)
            found += np.bincount(self._state.sample(ids, self._rng), minlength=size)
        return found

    def name(self, output: int) -> str:
        """Return a word."""
        return self._state.space.words[output]
