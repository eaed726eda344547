"""Laws that leave some words impossible, as integers: for comparison only.

A zero that depends on the input is an infinite loss, so sound mechanisms give every
word some weight. The published mechanisms whose laws these are do not.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, final

import numpy as np

from mondegreen.arrays import Floats, Ids, LogProbs, Weights
from mondegreen.guarantee import Guarantee
from mondegreen.mechanisms import base
from mondegreen.sampling.integers import TOTAL, TOTAL_BITS, draw_uniform, quantize
from mondegreen.space.space import Space

RESTRICTED_ASSUMPTIONS: Final = (
    "every probability is a product of two integers over 2^62, drawn exactly",
    "the order of the words in the space is public",
)

_KEPT_BYTES: Final = 256 << 20


@final
@dataclass(frozen=True, slots=True)
class RestrictedRow:
    """The law of one input: with ``stay / 2**62`` the word itself, else one of some.

    ``cumulative`` are running sums, up to ``2**62``, of the weights of ``ids``; all
    other words are impossible.
    """

    word: int
    stay: int
    ids: Ids
    cumulative: Weights

    @classmethod
    def of(cls, word: int, stay: int, ids: Ids, weights: Floats) -> RestrictedRow:
        """Round weights to integers that sum to ``2**62``."""
        return cls(word, stay, ids, np.cumsum(quantize(weights, 0.0, 0)[1]))

    def outputs(self, draws: Weights) -> Ids:
        """Turn pairs of integers uniform on ``0 .. 2**62 - 1`` into words, exactly."""
        drawn = self.ids[np.searchsorted(self.cumulative, draws[:, 1], side="right")]
        out: Ids = np.where(draws[:, 0] < self.stay, self.word, drawn).astype(np.int32)
        return out

    def log_prob(self, vocab_size: int) -> LogProbs:
        """The logarithms of the law of all words, -inf for the impossible."""
        weights = np.zeros(vocab_size)
        weights[self.ids] = np.diff(self.cumulative, prepend=0)
        with np.errstate(divide="ignore"):
            log = np.log(weights) - TOTAL_BITS * math.log(2)
            if self.stay:
                log += np.log((TOTAL - self.stay) / TOTAL)
                log[self.word] = np.logaddexp(log[self.word], np.log(self.stay / TOTAL))
        return log


@dataclass(frozen=True, slots=True)
class RestrictedState(base.State):
    """A mechanism with a restricted law prepared for one space.

    Laws belong to words, not to points: two words at one point may have two laws.
    """

    space: Space
    guarantee: Guarantee
    _kept: dict[int, RestrictedRow] = field(
        default_factory=dict, repr=False, kw_only=True
    )

    @abstractmethod
    def rows(self, words: Sequence[int]) -> Iterator[RestrictedRow]:
        """Yield the law of each input, in order, in bounded memory."""

    def sample(self, ids: Ids, rng: np.random.Generator) -> Ids:
        """Draw outputs; every token consumes two 64-bit words of ``rng``, in order."""
        base.check_ids(ids, self.space.vocab_size)
        draws = draw_uniform(rng, 2 * len(ids)).reshape(-1, 2)
        order = np.argsort(ids, kind="stable")
        distinct, starts = np.unique(ids[order], return_index=True)
        out = np.empty(len(ids), dtype=np.int32)
        parts = np.split(order, starts[1:])
        for part, row in zip(parts, self._rows(distinct.tolist()), strict=False):
            out[part] = row.outputs(draws[part])
        return out

    def log_prob(self, ids: Ids) -> LogProbs:
        base.check_ids(ids, self.space.vocab_size)
        distinct, inverse = np.unique(ids, return_inverse=True)
        table = np.empty((len(distinct), self.space.vocab_size))
        for i, row in enumerate(self.rows(distinct.tolist())):
            table[i] = row.log_prob(self.space.vocab_size)
        return table[inverse]

    def _rows(self, words: Sequence[int]) -> Iterator[RestrictedRow]:
        """The law of each input; those computed first are kept, up to 256 MB."""
        known = dict(self._kept)
        missing = self.rows([word for word in words if word not in known])
        left = _KEPT_BYTES - sum(map(_nbytes, known.values()))
        for word in words:
            if word in known:
                yield known[word]
                continue
            row = next(missing)
            left -= _nbytes(row)
            if left >= 0:
                self._kept[word] = row
            yield row


def _nbytes(row: RestrictedRow) -> int:
    """Memory held, roughly."""
    return row.ids.nbytes + row.cumulative.nbytes + 400
