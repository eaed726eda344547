r"""Scores of closed laws from the laws of some inputs, with intervals for the rest.

Scores of a word are a survey of the vocabulary: words are drawn independently, with
replacement, and a percentile over all words is one of the law of the score of a random
word, so that how many draws lie above it is binomial (:func:`bound_exceeding`).

The Bayes risk asks more, since it depends on all inputs. A genie helps the adversary:
he says that the input is one of m inputs, all drawn from the prior. The adversary then
errs no more often, and his risk

.. math:: 1 - \frac{1}{m} \sum_y \max_w m_w P(y \mid w)

(:math:`m_w` says how often w was drawn) needs the laws of these m alone; its mean over
draws is a lower bound of the risk. One draw changes the sum by at most 1, so McDiarmid
bounds how far it is from that mean. From above, the risk is at most the error rate of
the guess that the output is the input.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from mondegreen.arrays import Floats, Ids, in_blocks
from mondegreen.calibration import score_bounds as bounds
from mondegreen.calibration.score_bounds import ETA, Question, ScoreBounds
from mondegreen.mechanisms.base import Progress, State, no_progress
from mondegreen.scores.definitions import N_W, S_W
from mondegreen.scores.deniability import effective_support
from mondegreen.scores.interval import Ends, bound_mean, deviation
from mondegreen.scores.law import to_words
from mondegreen.space.space import Space

_BLOCK: Final = 32
_BLIND_BLOCK: Final = 256


def subsample(
    states: Sequence[State], asked: Question, progress: Progress = no_progress
) -> list[ScoreBounds]:
    """Score closed laws on one space by some words, and by some inputs of a prior."""
    space, rng, count = states[0].space, asked.rng(), asked.effort.rows
    parts = len(asked.priors) + 1
    words = rng.integers(space.vocab_size, size=count).astype(np.int32)
    looked = _look(states, words, bounds.within(progress, 0, 1 / parts), supports=True)
    found = [_of_words(space, rows, asked) for rows in looked]
    for turn, (name, prior) in enumerate(asked.priors.items(), start=1):
        ids = draw_inputs(prior, count, rng)
        part = bounds.within(progress, turn / parts, 1 / parts)
        for scores, rows in zip(found, _look(states, ids, part), strict=True):
            under = _of_prior(space, prior, rows, asked)
            scores.update(bounds.under(name, prior, under))
    return [
        ScoreBounds.of(state, scores, words, rows.stay, rows.support)
        for state, scores, rows in zip(states, found, looked, strict=True)
    ]


def draw_inputs(prior: Floats, count: int, rng: np.random.Generator) -> Ids:
    """Draw independent inputs from a prior."""
    running = np.cumsum(prior)
    places = rng.random(count) * running[-1]
    inputs = np.searchsorted(running, places, side="right").astype(np.int32)
    return np.asarray(np.minimum(inputs, len(prior) - 1), dtype=np.int32)


def estimate_supports(
    state: State, words: Ids, asked: Question
) -> tuple[Floats, dict[str, Ends]]:
    """Compute :math:`S_w` of some words from their laws, and bound it for the rest."""
    support = _look([state], words, supports=True)[0].support
    return support, _support_bounds(state.space, support, asked)


def _support_bounds(space: Space, support: Floats, asked: Question) -> dict[str, Ends]:
    largest = float(space.vocab_size)
    mean = asked.mean(support, 1.0, largest)
    scores = {"s_w_mean": mean, "s_w_min": (1.0, float(support.min()))}
    for name, quantile in S_W.items():
        low, high = bound_exceeding(-support, quantile, asked.alpha)
        scores[name] = max(-high, 1.0), min(-low, largest)
    return scores


def bound_exceeding(values: Floats, share: float, alpha: float) -> Ends:
    r"""Bound the value that a share p of all words exceeds, by independent words.

    .. math:: q = \inf \{ v : P(X > v) \le p \}

    The ends are order statistics of m draws, each wrong with chance at most ``alpha``;
    infinite where there are too few words. Proof: the upper end is the (k + 1)-th
    largest draw. If it is below q, at most k draws are at least q, although each is
    with a chance of at least p, and k is such that
    :math:`P(\mathrm{Bin}(m, p) \le k) \le \alpha`. The lower end, with another k, is
    above q only if more than k draws exceed q, although each does with a chance of at
    most p, and :math:`P(\mathrm{Bin}(m, p) > k) \le \alpha`.

    >>> bound_exceeding(np.arange(100.0), 0.5, 0.025)
    (39.0, 60.0)
    """
    falling, count = np.sort(values)[::-1], len(values)
    above, below = _order_statistics(count, share, alpha)
    high = float(falling[above]) if above >= 0 else math.inf
    low = float(falling[below]) if below < count else -math.inf
    return low, high


@functools.lru_cache(maxsize=4096)
def _order_statistics(count: int, share: float, alpha: float) -> tuple[int, int]:
    """Find the largest k with P(Bin <= k) <= alpha, and the least with P(Bin > k)."""
    from scipy.special import bdtr, bdtrc

    counts = np.arange(count)
    allowed = alpha * (1 - 1e-9)  # far above the error of scipy's tails
    few = int(np.count_nonzero(bdtr(counts, count, share) <= allowed))
    many = int(np.count_nonzero(bdtrc(counts, count, share) <= allowed))
    return few - 1, count - many


class _Rows(NamedTuple):
    """What the laws of some inputs say of each, and of the success of a guess."""

    stay: Floats
    support: Floats
    distance: Floats | None
    success: float


def _look(
    states: Sequence[State],
    ids: Ids,
    progress: Progress = no_progress,
    *,
    supports: bool = False,
) -> list[_Rows]:
    """Look at the laws of inputs, of each once however often it occurs."""
    space = states[0].space
    distinct, inverse, counts = np.unique(ids, return_inverse=True, return_counts=True)
    laws, vocab_size = len(states), space.vocab_size
    stay, support, distance = np.zeros((3, laws, len(distinct)))
    best = np.zeros((laws, vocab_size))

    def work(places: Ids) -> Floats:
        inputs = distinct[places].astype(np.int32)
        near = to_words(space, inputs)
        weights = counts[places, None]
        peaks = np.empty((laws, vocab_size))
        own = np.flatnonzero(inputs < vocab_size)
        for i, state in enumerate(states):
            _, law = state.log_rows(inputs, near)
            stay[i, places[own]] = law[own, inputs[own]]
            if near is not None:
                distance[i, places] = np.einsum("ij,ij->i", law, near)
            if supports:
                support[i, places] = effective_support(law, ETA)
            peaks[i] = (law * weights).max(axis=0)
        return peaks

    places = np.arange(len(distinct), dtype=np.int32)
    for peaks in in_blocks(work, places, _BLOCK, progress):
        np.maximum(best, peaks, out=best)
    return [
        _Rows(
            stay[i][inverse],
            support[i][inverse],
            distance[i][inverse] if space.has_vectors else None,
            float(best[i].sum()) / len(ids),
        )
        for i in range(laws)
    ]


def _of_words(space: Space, rows: _Rows, asked: Question) -> dict[str, Ends]:
    """Bound the scores of a random word."""
    scores = _support_bounds(space, rows.support, asked)
    scores["n_w_mean"] = asked.mean(rows.stay, 0.0, 1.0)
    scores["n_w_max"] = float(rows.stay.max()), 1.0
    for name, quantile in N_W.items():
        low, high = bound_exceeding(rows.stay, 1 - quantile, asked.alpha)
        scores[name] = max(low, 0.0), min(high, 1.0)
    if rows.distance is not None:
        diameter = space.geometry.diameter
        scores["distance_mean"] = asked.mean(rows.distance, 0.0, diameter)
    return scores


def _of_prior(
    space: Space, prior: Floats, rows: _Rows, asked: Question
) -> dict[str, Ends]:
    """Bound what holds under the prior that inputs were drawn from."""
    count, stay = len(rows.stay), asked.mean(rows.stay, 0.0, 1.0)
    high = min(float(1 - prior.max()), 1 - stay[0])
    low = 1 - rows.success - deviation(1 / count, count, asked.alpha)
    low = min(max(low, 0.0), high)
    # For a loss of 0 or 1, E* <= E_M <= 2 E*.
    error = low, min(1.0, 2 * high)
    scores = {"n_w": stay, "bayes_risk": (low, high), "inference_error": error}
    if rows.distance is not None:
        diameter = space.geometry.diameter
        scores["utility_loss"] = asked.mean(rows.distance, 0.0, diameter)
    return scores


def blind_loss(
    space: Space, prior: Floats, rows: int | None, confidence: float = 0.95
) -> Ends:
    r"""Compute the utility loss of an output drawn uniformly among the words.

    .. math:: \sum_w \pi(w) \frac{1}{V} \sum_y d(w, y)

    The space has vectors. In a large one ``rows`` inputs are drawn, always the same;
    without ``rows`` it is computed for all, once for each space, and their mean
    distances are kept in the cache folder.
    """
    is_large = space.vocab_size > _BLIND_BLOCK
    if is_large and rows is not None:
        means = _sample_means(space, prior.tobytes(), rows)
        return bound_mean(means, 0.0, space.geometry.diameter, confidence).ends
    everyone = np.arange(space.vocab_size + 1, dtype=np.int32)
    found = bounds.get_kept(space, "mean-distances") if is_large else None
    if found is None or len(found) != len(everyone):
        found = _mean_distances(space, everyone)
        if is_large:
            bounds.keep(space, "mean-distances", found.tolist())
    value = float(prior @ found)
    return value, value


@functools.lru_cache(maxsize=8)
def _sample_means(space: Space, prior: bytes, count: int) -> Floats:
    """Take the mean distances of inputs from a prior, drawn once for all."""
    rng = np.random.default_rng(0)
    return _mean_distances(space, draw_inputs(np.frombuffer(prior), count, rng))


def _mean_distances(space: Space, ids: Ids) -> Floats:
    """Compute the mean distance of each input to all words."""

    def work(some: Ids) -> Floats:
        near = to_words(space, some)
        assert near is not None  # noqa: S101 - checked by the caller
        return np.asarray(near.mean(axis=1))

    return np.concatenate(list(in_blocks(work, ids, _BLIND_BLOCK)))
