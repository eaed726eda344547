r"""The law of one input as integers of sum 2**62: floors, and what is above them.

All words beyond the cutoff of a law weigh the same, so a law is stored as what every
word weighs at least, the *floors*, and a list of the words that weigh more: a handful
where privacy is weak, all where it is strong, and no word is ever impossible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids, Weights
from mondegreen.sampling.integers import TOTAL


@final
@dataclass(frozen=True, slots=True)
class EqualFloors:
    """Floors of some inputs, each the same for all ``count`` words."""

    floor: Weights
    count: int

    @property
    def total(self) -> Weights:
        """Sum of the floors of all words, for each input."""
        return self.floor * self.count

    def words(self, draws: Weights, inputs: NDArray[np.intp] | int) -> Weights:
        """Turn draws below the total into words."""
        found: Weights = draws // self.floor[inputs]
        return found

    def weights(self) -> Weights:
        """The floors of all words, for the first input."""
        return np.full(self.count, self.floor[0], dtype=np.int64)


@final
@dataclass(frozen=True, slots=True)
class OwnFloors:
    """A floor for each word, the same for all inputs, and their running sums."""

    floor: Weights
    running: Weights

    @property
    def total(self) -> Weights:
        """Sum of the floors of all words."""
        return self.running[-1:]

    def words(self, draws: Weights, inputs: NDArray[np.intp] | int) -> Weights:
        """Turn draws below the total into words."""
        inside = np.minimum(draws, self.running[-1] - 1)
        found: Weights = np.searchsorted(self.running, inside, side="right")
        return found

    def weights(self) -> Weights:
        """The floors of all words."""
        return self.floor.copy()


@final
@dataclass(frozen=True, slots=True)
class Row:
    """The law of one input: ``2**62 * P(y) = floor(y) + excess(y)``, all integers.

    ``words`` weigh more than their floors, ``cumulative`` are the running sums of their
    excess. From a ``block_cdf``, where there is one,
    :class:`mondegreen.mechanisms.laws.integer.BlockLaws` makes any part of the law
    again; all rows then share ``words``.
    """

    floors: EqualFloors | OwnFloors
    words: Ids
    cumulative: Weights
    block_cdf: Weights | None = None

    @property
    def nbytes(self) -> int:
        """Memory held, roughly; what all rows share is not counted."""
        own = self.words if self.block_cdf is None else self.block_cdf
        return self.cumulative.nbytes + own.nbytes + 400

    def outputs(self, draws: Weights) -> Ids:
        """Turn integers uniform on ``0 .. 2**62 - 1`` into words, exactly."""
        # A draw i below the floors' sum F, here 2^62 less all excess, is decided by the
        # floors. Any other belongs to the first word whose running sum passes i - F.
        excess = draws - (TOTAL - int(self.cumulative[-1]))  # less all floors
        out: Ids = self.words[self.cumulative.searchsorted(excess, side="right")]
        if excess.min() < 0:  # seldom, where words beyond the cutoff weigh little
            common = excess < 0
            out[common] = self.floors.words(draws[common], 0)
        return out

    def weights(self) -> Weights:
        """The weights of all words, which sum to ``2**62``."""
        weights = self.floors.weights()
        np.add.at(weights, self.words, np.diff(self.cumulative, prepend=0))
        return weights

    def pack(self, most: int) -> Weights | None:
        """The numbers by which the law is shared; None where that were more than so."""
        if self.block_cdf is not None:
            return self.block_cdf
        if isinstance(self.floors, OwnFloors) or 2 + 2 * len(self.words) > most:
            return None
        head = np.array([len(self.words), self.floors.floor[0]])
        return np.concatenate([head, self.cumulative, self.words])

    @classmethod
    def unpack(cls, numbers: Weights, vocab_size: int) -> Row:
        """The law that :meth:`pack` has turned into numbers, but for a block cdf."""
        count = int(numbers[0])
        floors = EqualFloors(numbers[1:2].copy(), vocab_size)
        words = numbers[2 + count : 2 + 2 * count].astype(np.int32)
        return cls(floors, words, numbers[2 : 2 + count].copy())
