r"""Exact scores of known laws over a whole vocabulary, in one pass over its pairs.

A block of inputs at a time: distances to all words, once for all laws; the law; what
one row tells (:math:`N_w, S_w`, entropies, distance, rank); and, for each output, what
the inputs before it left of :math:`\max_w \pi P`, :math:`\sum_w \pi P` and
:math:`\sum_w (\pi P)^2`, which is all that the risks under a prior need.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final, final

import numpy as np

from mondegreen.arrays import Floats, Ids, Weights, in_blocks
from mondegreen.errors import ConfigurationError
from mondegreen.mechanisms.base import Progress, State, no_progress
from mondegreen.scores.definitions import N_W, S_W
from mondegreen.scores.deniability import ORDERS, check_eta, effective_support
from mondegreen.scores.risk import over_inputs, uniform_prior
from mondegreen.space.distances import Distances
from mondegreen.space.metric import one_minus_norm2
from mondegreen.space.space import Space

# Distances computed together by a thread: large products are the quickest. Then some
# inputs are worked on together, so that their rows stay in the cache.
_BLOCK_BYTES: Final = 96 << 20
_STRIPE: Final = 8

# Relative, above the error of a sum of probabilities rounded to float32; and how many
# of a row are summed as one, to find where a sum is reached.
_ROUNDING: Final = 2.0**-22
_SUMMED: Final = 256


@final
@dataclass(frozen=True, slots=True)
class Risk:
    """What the best adversary and a reader may expect under one prior.

    ``prior_risk`` is that of the best guess before any output is seen; no law can do
    better. The loss is 0 or 1 for a guess, and the distance of the space for a reader:
    ``utility_loss`` is None where the space has none.
    """

    prior_risk: float
    bayes_risk: float
    inference_error: float
    n_w: float
    utility_loss: float | None


@final
@dataclass(frozen=True, slots=True)
class LawScores:
    """Exact scores of one law: for each input, and by the names of priors.

    ``stay`` is :math:`N_w` of each word, shape (V,). The others have the shape
    (V + 1,), the unknown word last: ``support``, :math:`S_w` with all but eta of the
    mass; ``entropies`` in nats, by order; ``distance`` and ``rank`` of the output,
    expected, None where the space has no distances. Without an eta rows are not sorted,
    and there is neither support nor rank.
    """

    stay: Floats
    support: Weights | None
    entropies: Mapping[float, Floats]
    distance: Floats | None
    rank: Floats | None
    risks: Mapping[str, Risk]

    def summary(self) -> dict[str, float]:
        """Sum up the words (not the unknown one), as ``ScoreBounds.scores`` names it.

        Percentiles of ``n_w`` and ``s_w`` are values that occur, on the side where
        words are less private.

        Returns
        -------
        dict of str to float
            Scores by name.
        """
        found = {"n_w_mean": self.stay.mean(), "n_w_max": self.stay.max()}
        for name, share in N_W.items():
            found[name] = np.quantile(self.stay, share, method="higher")
        if self.support is not None:
            sizes = self.support[:-1]
            found.update(s_w_mean=sizes.mean(), s_w_min=sizes.min())
            for name, share in S_W.items():
                found[name] = np.quantile(sizes, share, method="lower")
        for order, values in self.entropies.items():
            found[f"entropy_{order:g}_mean"] = values[:-1].mean()
            found[f"entropy_{order:g}_min"] = values[:-1].min()
        for name, scores in (("distance", self.distance), ("rank", self.rank)):
            if scores is not None:
                found[f"{name}_mean"] = scores[:-1].mean()
                found[f"{name}_05"] = np.quantile(scores[:-1], 0.05)
        for prior, risk in self.risks.items():
            found |= {f"{name}_{prior}": each for name, each in asdict(risk).items()}
        return {name: float(each) for name, each in found.items() if each is not None}


def law_scores(
    states: Sequence[State],
    priors: Mapping[str, Floats] | None = None,
    *,
    eta: float | None = 0.05,
    progress: Progress = no_progress,
) -> list[LawScores]:
    """Score laws on one space exactly, all in one pass over its pairs of words.

    Laws in a distance share their distances and are fast; others are asked for their
    law row by row, which takes minutes for 33,860 words. Without priors, the adversary
    expects every word alike. Without ``eta``, rows are not sorted: half of the time.

    Distances, laws and sums are in float64, for the laws in real numbers; the integers
    that are sampled differ from them by at most ``kappa`` nats, some 1e-4. Sizes of
    sets are exact for these float64 laws: rows are sorted in float32, and once more in
    float64 where that leaves a doubt.

    Parameters
    ----------
    states : sequence of State
        All on one space.
    priors : mapping of str to float64 array, optional
        Shape (V,) or (V + 1,), by name.
    eta : float, optional
        Mass that the set of likely outputs may leave out.
    progress : callable
        Told the share that is done.

    Returns
    -------
    list of LawScores

    Raises
    ------
    LawUnknownError
        If a law has no closed form.
    ConfigurationError
        If the laws are on several spaces.

    Examples
    --------
    >>> import mondegreen as mg
    >>> space = mg.Space.from_arrays("ab", ["a", "b"], [[0], [1]])
    >>> state = mg.mechanism("exponential", epsilon=2.0).prepare(space)
    >>> (scores,) = law_scores([state])
    >>> scores.stay.round(3).tolist()
    [0.731, 0.731]
    """
    if not states:
        return []
    space = states[0].space
    if any(state.space.digest != space.digest for state in states):
        raise ConfigurationError("all laws must be on one space")
    count = space.vocab_size + 1
    named = {"uniform": uniform_prior(count - 1)} if priors is None else priors
    full = {name: over_inputs(prior, count - 1) for name, prior in named.items()}
    distances = compute_distances(space)
    tables = [_Table(state, full, eta) for state in states]

    def work(ids: Ids) -> None:
        found = [table.columns_like() for table in tables]
        for stripe, near in distances.stripes(ids, _STRIPE):
            for table, columns in zip(tables, found, strict=True):
                table.add(stripe, near, columns)
        for table, columns in zip(tables, found, strict=True):
            table.merge(columns)

    size = max(_STRIPE, _BLOCK_BYTES // (8 * count))
    for _ in in_blocks(work, np.arange(count, dtype=np.int32), size, progress):
        pass
    return [table.scores() for table in tables]


@functools.lru_cache(maxsize=1)
def compute_distances(space: Space) -> Distances:
    """Prepare the distances of a space once, and before threads would each do it."""
    distances = Distances(space)
    distances.rows(np.zeros(1, dtype=np.int32))
    return distances


def to_words(space: Space, ids: Ids) -> Floats | None:
    """Distances of inputs (rows) to all words; None where a space has none."""
    return compute_distances(space).rows(ids)


def pair_distances(space: Space, first: Ids, second: Ids) -> Floats | None:
    """The distance of each input to its partner, in the metric of the space.

    ``V`` is the unknown word. None where the space has codes and no vectors.
    """
    if not space.has_vectors:
        return None
    left, right = space.points(first), space.points(second)
    gaps: Floats = np.linalg.norm(left - right, axis=1)
    if space.metric == "euclidean":
        return gaps
    scale = np.sqrt(one_minus_norm2(left) * one_minus_norm2(right))
    return np.asarray(2 * np.arcsinh(gaps / scale))


@final
class _Columns:
    """What the inputs so far say about each output, under one prior."""

    def __init__(self, vocab_size: int) -> None:
        self.best = np.zeros(vocab_size)
        self.total = np.zeros(vocab_size)
        self.squares = np.zeros(vocab_size)

    def add(self, weights: Floats, law: Floats, squared: Floats) -> None:
        # Of each output y, shape (V,): sum_w pi_w P(y | w) = P(y), sum_w (pi_w P(y |
        # w))^2, and max_w pi_w P(y | w).
        self.total += weights @ law
        self.squares += weights**2 @ squared
        if (weights == weights[0]).all():  # one pass over the rows less
            peaks = law.max(axis=0) * weights[0]
        else:
            peaks = (law * weights[:, None]).max(axis=0)
        np.maximum(self.best, peaks, out=self.best)

    def merge(self, other: _Columns) -> None:
        self.total += other.total
        self.squares += other.squares
        np.maximum(self.best, other.best, out=self.best)


@final
class _Table:
    """The scores of one law, filled block by block from several threads."""

    def __init__(
        self, state: State, priors: dict[str, Floats], eta: float | None
    ) -> None:
        if eta is not None:
            check_eta(eta)
        self.state, self.priors, self.eta = state, priors, eta
        self.vocab_size = state.space.vocab_size
        self.has_distances = state.space.has_vectors
        count = self.vocab_size + 1
        self.stay, self.distance, self.rank = np.zeros((3, count))
        self.support = np.zeros(count, dtype=np.int64)
        self.entropies = {order: np.zeros(count) for order in ORDERS}
        self.columns = self.columns_like()
        self.merging = threading.Lock()

    def columns_like(self) -> dict[str, _Columns]:
        """Make empty columns, for a thread to fill."""
        return {name: _Columns(self.vocab_size) for name in self.priors}

    def merge(self, found: dict[str, _Columns]) -> None:
        with self.merging:
            for name, columns in found.items():
                self.columns[name].merge(columns)

    def add(self, ids: Ids, near: Floats | None, found: dict[str, _Columns]) -> None:
        """Account for some inputs at these distances from all words."""
        logs, law = self.state.log_rows(ids, near)
        squared = law * law
        possible = np.full(len(ids), self.vocab_size)
        if self.state.has_zeros:
            possible = np.count_nonzero(law, axis=1)
        mean_log = np.einsum("ij,ij->i", law, logs)
        # Of orders 0, 1, 2 and infinity: the size of the support, -sum P ln P, -ln sum
        # P^2 and -ln max P. Rounding must take none of them below 0.
        self.entropies[0.0][ids] = np.log(possible)
        self.entropies[1.0][ids] = np.maximum(-mean_log, 0.0)
        self.entropies[2.0][ids] = -np.log(np.minimum(squared.sum(axis=1), 1.0))
        self.entropies[np.inf][ids] = -np.log(np.minimum(law.max(axis=1), 1.0))
        words = np.flatnonzero(ids < self.vocab_size)
        self.stay[ids[words]] = law[words, ids[words]]
        if near is not None:
            self.distance[ids] = np.einsum("ij,ij->i", law, near)
        if self.eta is not None:
            self._add_sorted(ids, law, near, self.eta)
        for name, prior in self.priors.items():
            found[name].add(prior[ids], law, squared)

    def _add_sorted(
        self, ids: Ids, law: Floats, near: Floats | None, eta: float
    ) -> None:
        """Fill in S_w and rank, for which rows are sorted."""
        rising = np.sort(law.astype(np.float32), axis=1).astype(np.float64)
        for row, (word, sizes) in enumerate(zip(ids.tolist(), rising, strict=True)):
            self.support[word] = _support(law[row], sizes, eta)
        if near is None:
            return
        if not self.state.falls_with_distance:
            rising = _by_falling_distance(law, near)
        # A word at place j, in rising order of probability or falling order of
        # distance, has V - 1 - j closer ones.
        self.rank[ids] = rising @ np.arange(self.vocab_size - 1, -1, -1.0)

    def scores(self) -> LawScores:
        is_sorted = self.eta is not None
        return LawScores(
            stay=self.stay[:-1],
            support=self.support if is_sorted else None,
            entropies=self.entropies,
            distance=self.distance if self.has_distances else None,
            rank=self.rank if self.has_distances and is_sorted else None,
            risks={name: self._risk(name) for name in self.priors},
        )

    def _risk(self, name: str) -> Risk:
        prior, found = self.priors[name], self.columns[name]
        loss = float(prior @ self.distance) if self.has_distances else None
        total, shares = found.total, np.zeros(self.vocab_size)
        # Bayes risk: sum_y [P(y) - max_w pi_w P(y | w)]. An attacker who draws his
        # guess from the posterior is right with chance sum_y sum_w (pi_w P(y | w))^2 /
        # P(y).
        np.divide(found.squares, total, out=shares, where=total > 0)
        return Risk(
            prior_risk=float(1 - prior.max()),
            bayes_risk=float(max(0.0, (total - found.best).sum())),
            inference_error=float(max(0.0, (total - shares).sum())),
            n_w=float(prior @ self.stay),
            utility_loss=loss,
        )


def _support(law: Floats, rising: Floats, eta: float) -> int:
    """Find S_w of one row from its probabilities, rounded and in rising order."""
    if eta:
        allowed = eta * rising.sum()
        # Rounding to float32 moves a sum by a share: where both ends give one count, so
        # does the sum in float64.
        low = _count_within(rising, allowed * (1 - _ROUNDING))
        if low == _count_within(rising, allowed * (1 + _ROUNDING)):
            return len(law) - low
    return int(effective_support(law[None], eta)[0])


def _count_within(rising: Floats, allowed: float) -> int:
    """Count the smallest that have a sum of at most that, but for the last."""
    # Sums of blocks find the block: one sum of all, word by word, takes thrice as long.
    starts = np.arange(0, len(rising), _SUMMED)
    sums = np.cumsum(np.add.reduceat(rising, starts))
    block = int(np.searchsorted(sums, allowed, side="right"))
    before = float(sums[block - 1]) if block else 0.0
    start = block * _SUMMED
    inside = before + np.cumsum(rising[start : start + _SUMMED])
    return min(start + int(np.searchsorted(inside, allowed, "right")), len(rising) - 1)


def _by_falling_distance(law: Floats, distances: Floats) -> Floats:
    """Order the probabilities of each row, that of the farthest word first.

    Distances are at least 0, so that their bits, read as integers, are in the same
    order. The last bits make room for the place of the word, so that a sort of
    integers, much faster than an indirect one, carries it along; distances that agree
    to ten digits count as equal.
    """
    places = max(1, (law.shape[1] - 1).bit_length())
    keys = distances.view(np.int64) >> places << places
    keys |= np.arange(law.shape[1])
    keys.sort(axis=1)
    order = keys & ((1 << places) - 1)
    return np.take_along_axis(law, order[:, ::-1], axis=1)
