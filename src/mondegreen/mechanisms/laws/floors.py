"""Weights that every word has at least; a law lists what words have above them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Weights


@final
@dataclass(frozen=True, slots=True)
class EqualFloors:
    """Floors of some inputs, each the same for all words."""

    floor: Weights
    count: int

    @property
    def total(self) -> Weights:
        """Sum of the floors of all words, for each input."""
        total: Weights = self.floor * self.count
        return total

    def words(self, draws: Weights, inputs: NDArray[np.intp] | int) -> Weights:
        """Return the words of draws below the total."""
        found: Weights = draws // self.floor[inputs]
        return found

    def weights(self, vocab_size: int) -> Weights:
        """Return the floors of all words for the first input."""
        return np.full(vocab_size, self.floor[0], dtype=np.int64)


@final
@dataclass(frozen=True, slots=True)
class OwnFloors:
    """Floors of words that are the same for all inputs.

    Parameters
    ----------
    floors : int64 array, shape (V,)
    running : int64 array, shape (V,)
        Their running sums.
    """

    floors: Weights
    running: Weights

    @property
    def total(self) -> Weights:
        """Sum of the floors of all words."""
        return self.running[-1:]

    def words(self, draws: Weights, inputs: NDArray[np.intp] | int) -> Weights:
        """Return the words of draws below the total."""
        inside = np.minimum(draws, self.running[-1] - 1)
        found: Weights = np.searchsorted(self.running, inside, side="right")
        return found

    def weights(self, vocab_size: int) -> Weights:
        """Return the floors of all words."""
        return self.floors.copy()
