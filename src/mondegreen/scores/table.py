"""The exact scores of one law, added up block by block from several threads."""

from __future__ import annotations

import threading
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids
from mondegreen.mechanisms.base import State
from mondegreen.scores.deniability import ORDERS, effective_support
from mondegreen.scores.law import LawScores, Risk

_ROUNDING: Final = 2.0**-22
"""Relative, above the error of a sum of probabilities rounded to float32."""

_SUMMED: Final = 256
"""Probabilities of a row that are summed as one, to find where a sum is reached."""

Floats = NDArray[np.float64]


@final
class Columns:
    """What the inputs so far say about each output, under one prior."""

    def __init__(self, vocab_size: int) -> None:
        self.best = np.zeros(vocab_size)
        self.total = np.zeros(vocab_size)
        self.squares = np.zeros(vocab_size)

    def add(self, weights: Floats, law: Floats, squared: Floats) -> None:
        """Add inputs of so much prior probability."""
        self.total += weights @ law
        self.squares += weights**2 @ squared
        if (weights == weights[0]).all():  # one pass over the rows less
            peaks = law.max(axis=0) * weights[0]
        else:
            peaks = (law * weights[:, None]).max(axis=0)
        np.maximum(self.best, peaks, out=self.best)

    def merge(self, other: Columns) -> None:
        """Add what another thread has found."""
        self.total += other.total
        self.squares += other.squares
        np.maximum(self.best, other.best, out=self.best)


@final
class ScoreTable:
    """The scores of one law, filled block by block from several threads."""

    def __init__(
        self, state: State, priors: dict[str, Floats], eta: float | None
    ) -> None:
        self.state, self.priors, self.eta = state, priors, eta
        self.vocab_size = state.space.vocab_size
        count = self.vocab_size + 1
        self.stay = np.zeros(count)
        self.support = np.zeros(count, dtype=np.int64)
        self.entropies = {order: np.zeros(count) for order in ORDERS}
        self.distance = np.zeros(count)
        self.rank = np.zeros(count)
        self.has_distances = True
        self.columns = self.columns_like()
        self.merging = threading.Lock()

    def columns_like(self) -> dict[str, Columns]:
        """Return empty columns, for a thread to fill."""
        return {name: Columns(self.vocab_size) for name in self.priors}

    def merge(self, found: dict[str, Columns]) -> None:
        """Add the columns that a thread has filled."""
        with self.merging:
            for name, columns in found.items():
                self.columns[name].merge(columns)

    def add(self, ids: Ids, gaps: Floats | None, found: dict[str, Columns]) -> None:
        """Account for some inputs at these distances from all words."""
        self.has_distances = gaps is not None
        logs, law = self.state.log_rows(ids, gaps)
        squared = law * law
        self._entropies(ids, logs, law, squared)
        self._outputs(ids, law, gaps)
        for name, prior in self.priors.items():
            found[name].add(prior[ids], law, squared)

    def _entropies(self, ids: Ids, logs: Floats, law: Floats, squared: Floats) -> None:
        """Fill in the entropies of some inputs."""
        mean_log = np.einsum("ij,ij->i", law, logs)
        possible = np.full(len(ids), self.vocab_size)
        if self.state.has_zeros:
            possible = np.count_nonzero(law, axis=1)
        self.entropies[0.0][ids] = np.log(possible)
        self.entropies[1.0][ids] = np.maximum(-mean_log, 0.0)
        self.entropies[2.0][ids] = -np.log(np.minimum(squared.sum(axis=1), 1.0))
        self.entropies[np.inf][ids] = -np.log(np.minimum(law.max(axis=1), 1.0))

    def _outputs(self, ids: Ids, law: Floats, gaps: Floats | None) -> None:
        """Fill in N_w and the distance of some inputs, and what sorting tells."""
        words = np.flatnonzero(ids < self.vocab_size)
        self.stay[ids[words]] = law[words, ids[words]]
        if gaps is not None:
            self.distance[ids] = np.einsum("ij,ij->i", law, gaps)
        if self.eta is not None:
            self._sorted(ids, law, gaps, self.eta)

    def _sorted(self, ids: Ids, law: Floats, gaps: Floats | None, eta: float) -> None:
        """Fill in S_w and rank of some inputs, for which rows are sorted."""
        rising = np.sort(law.astype(np.float32), axis=1).astype(np.float64)
        for row, (word, sizes) in enumerate(zip(ids.tolist(), rising, strict=True)):
            self.support[word] = _support(law[row], sizes, eta)
        if gaps is None:
            return
        if not self.state.falls_with_distance:
            rising = _by_falling_distance(law, gaps)
        # A word at place j, in rising order of probability or falling order of
        # distance, has V - 1 - j closer ones.
        self.rank[ids] = rising @ np.arange(self.vocab_size - 1, -1, -1.0)

    def scores(self) -> LawScores:
        """Return what was found."""
        known = self.has_distances
        return LawScores(
            eta=self.eta,
            stay=self.stay[:-1],
            support=None if self.eta is None else self.support,
            entropies=self.entropies,
            distance=self.distance if known else None,
            rank=self.rank if known and self.eta is not None else None,
            risks={
                name: self._risk(name, prior) for name, prior in self.priors.items()
            },
        )

    def _risk(self, name: str, prior: Floats) -> Risk:
        """Return the risks under one prior."""
        found = self.columns[name]
        shares = np.divide(
            found.squares,
            found.total,
            out=np.zeros(self.vocab_size),
            where=found.total > 0,
        )
        return Risk(
            prior_risk=float(1 - prior.max()),
            bayes_risk=float(max(0.0, (found.total - found.best).sum())),
            inference_error=float(max(0.0, (found.total - shares).sum())),
            stay=float(prior @ self.stay),
            utility_loss=float(prior @ self.distance) if self.has_distances else None,
        )


def _support(law: Floats, rising: Floats, eta: float) -> int:
    """Return S_w of one row from its probabilities in rising order."""
    if eta:
        allowed = eta * rising.sum()
        low = _count_within(rising, allowed * (1 - _ROUNDING))
        if low == _count_within(rising, allowed * (1 + _ROUNDING)):
            return len(law) - low
    return int(effective_support(law[None], eta)[0])


def _count_within(rising: Floats, allowed: float) -> int:
    """Return how many of the smallest have a sum of at most that, but for the last."""
    # Sums of blocks find the block: one sum of all, word by word, takes thrice as long.
    starts = np.arange(0, len(rising), _SUMMED)
    sums = np.cumsum(np.add.reduceat(rising, starts))
    block = int(np.searchsorted(sums, allowed, side="right"))
    before = float(sums[block - 1]) if block else 0.0
    start = block * _SUMMED
    inside = before + np.cumsum(rising[start : start + _SUMMED])
    return min(start + int(np.searchsorted(inside, allowed, "right")), len(rising) - 1)


def _by_falling_distance(law: Floats, gaps: Floats) -> Floats:
    """Return the probabilities of each row, that of the farthest word first.

    Distances are at least 0, so that their bits, read as integers, are in the same
    order. The last bits make room for the place of the word, so that a sort of
    integers, much faster than an indirect one, carries it along; distances that agree
    to ten digits count as equal.
    """
    places = max(1, (law.shape[1] - 1).bit_length())
    keys = gaps.view(np.int64) >> places << places
    keys |= np.arange(law.shape[1])
    keys.sort(axis=1)
    order = keys & ((1 << places) - 1)
    return np.take_along_axis(law, order[:, ::-1], axis=1)
