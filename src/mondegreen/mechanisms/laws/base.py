"""The law of one input as integers, and the protocol of all laws of a mechanism."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids, Weights
from mondegreen.sampling.integers import quantize

if TYPE_CHECKING:
    from mondegreen.mechanisms.laws.dense import DenseLaws


class IntegerRow(Protocol):
    """The law of one input, whose probabilities are integers over ``2**62``."""

    @property
    def nbytes(self) -> int:
        """Memory held, roughly."""

    def outputs(self, draws: Weights) -> Ids:
        """Turn integers uniform on ``0 .. 2**62 - 1`` into words, exactly."""

    def weights(self, vocab_size: int) -> Weights:
        """Return the weights of all words, which sum to ``2**62``."""


class SelectionLaw(Protocol):
    """The laws of all inputs of one mechanism on one space."""

    takes_distances: ClassVar[bool]
    """Whether it is a law in the distance of the space; see :meth:`log_rows`."""

    falls_with_distance: ClassVar[bool]
    """Whether a closer word is never less likely."""

    def log_rows(
        self, ids: Ids, distances: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return log-probabilities and probabilities from distances."""

    @property
    def dense(self) -> DenseLaws | None:
        """The same laws by blocks of words, where they list most words."""

    def rows(self, points: Sequence[int]) -> Iterator[tuple[int, IntegerRow]]:
        """Yield the law of each canonical input, in order, in bounded memory."""


@final
@dataclass(frozen=True, slots=True)
class Row:
    """The law of one input: ``2**62 * P(y) = floor + excess(y)``, all integers.

    Parameters
    ----------
    floor : int
        Weight that each of the ``V`` words has.
    ids : int32 array, shape (listed,)
        Words with more weight than that.
    cumulative : int64 array, shape (listed,)
        Running sums of their excess.
    base : int
        ``V * floor``, the weight of the uniform part.
    """

    floor: int
    ids: Ids
    cumulative: Weights
    base: int

    @property
    def nbytes(self) -> int:
        """Memory held, roughly."""
        return self.ids.nbytes + self.cumulative.nbytes + 400

    def outputs(self, draws: Weights) -> Ids:
        """Turn integers uniform on ``0 .. 2**62 - 1`` into words, exactly."""
        excess = draws - self.base
        listed = self.ids[
            np.searchsorted(self.cumulative, np.maximum(excess, 0), side="right")
        ]
        out: Ids = np.where(excess < 0, draws // self.floor, listed).astype(np.int32)
        return out

    def weights(self, vocab_size: int) -> Weights:
        """Return the weights of all words, which sum to ``2**62``."""
        dense = np.full(vocab_size, self.floor, dtype=np.int64)
        dense[self.ids] += np.diff(self.cumulative, prepend=0)
        return dense


def row_of(ids: Ids, excess: NDArray[np.float64], floor: float, vocab_size: int) -> Row:
    """Quantise weights: ``floor`` for every word, ``excess`` besides for ``ids``.

    Parameters
    ----------
    ids : int32 array, shape (listed,), at least one entry
        Distinct words.
    excess : float64 array, shape (listed,), entries at least 0
        What their weight has above the floor.
    floor : float in (0, inf)
        Weight of every other word.
    vocab_size : int
        Number of all words.
    """
    base, weights = quantize(excess, floor, vocab_size)
    return Row(base, ids, np.cumsum(weights), base * vocab_size)
