r"""Scores of closed laws from the laws of some inputs, with intervals for the rest.

For scores of a word this is a survey of the vocabulary. The Bayes risk asks more: it
depends on all inputs. A genie helps the adversary: he says that the input is one of
m inputs, all drawn from the prior. The adversary then errs no more often, and his risk

.. math:: 1 - \frac{1}{m} \sum_y \max_w m_w P(y \mid w)

(:math:`m_w` says how often w was drawn) needs the laws of these m alone; its mean over
draws is a lower bound of the risk. One draw changes the sum by at most 1, so McDiarmid
bounds how far it is from that mean. From above, the risk is at most that of whoever
takes the output itself for the input.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids
from mondegreen.calibration.found import (
    ETA,
    PERCENTILES,
    Effort,
    Ends,
    Found,
    Progress,
    hundred,
    worst_words,
)
from mondegreen.calibration.tail import exceeded
from mondegreen.mechanisms.base import State
from mondegreen.scores.deniability import effective_support
from mondegreen.scores.interval import Interval, bounded_mean, deviation
from mondegreen.scores.kernel import Gaps
from mondegreen.space.space import Space

_BLOCK: Final = 32

Floats = NDArray[np.float64]


def survey(
    states: Sequence[State],
    priors: Mapping[str, Floats],
    effort: Effort,
    rng: np.random.Generator,
    *,
    confidence: float = 0.95,
    progress: Progress = lambda share: None,
) -> list[Found]:
    """Return scores of closed laws on one space from the laws of some inputs.

    Parameters
    ----------
    states : sequence of State
        Prepared on one space, with known laws.
    priors : mapping of str to float64 array, shape (V + 1,)
        What the adversary expects, by name.
    effort : Effort
        ``rows`` inputs are drawn from each prior, and as many words of the vocabulary.
    rng : numpy.random.Generator
        Consumed.
    confidence : float in (0, 1)
        Of each interval by itself.
    progress : callable
        Called with the share that is done.
    """
    space = states[0].space
    gaps = gaps_of(space)
    words = rng.integers(space.vocab_size, size=effort.rows).astype(np.int32)
    parts = len(priors) + 1
    looked = _looked(states, gaps, words, lambda s: progress(s / parts), supports=True)
    found = [_of_words(space, words, each, confidence) for each in looked]
    for turn, (name, prior) in enumerate(priors.items(), start=1):
        ids = draw_inputs(prior, effort.rows, rng)
        start = turn / parts
        looked = _looked(
            states,
            gaps,
            ids,
            lambda s, at=start: progress(at + s / parts),  # type: ignore[misc]
        )
        for each, rows in zip(found, looked, strict=True):
            each.scores.update(_of_prior(space, name, prior, rows, confidence))
    return found


@functools.lru_cache(maxsize=1)
def gaps_of(space: Space) -> Gaps:
    """Return the distances of a space, whose preparation takes some milliseconds."""
    return Gaps(space)


def draw_inputs(prior: Floats, count: int, rng: np.random.Generator) -> Ids:
    """Return independent inputs from a prior, shape (count,)."""
    running = np.cumsum(prior)
    places = rng.random(count) * running[-1]
    inputs = np.searchsorted(running, places, side="right").astype(np.int32)
    return np.asarray(np.minimum(inputs, len(prior) - 1), dtype=np.int32)


def supports_of(state: State, words: Ids) -> Floats:
    """Return :math:`S_w` of some words from their laws."""
    gaps = gaps_of(state.space)
    return _looked([state], gaps, words, supports=True)[0].support


@final
@dataclass(frozen=True, slots=True)
class _Rows:
    """What the laws of some inputs say, and what they leave for each output."""

    stay: Floats
    support: Floats
    distance: Floats | None
    success: float


def _looked(
    states: Sequence[State],
    gaps: Gaps,
    ids: Ids,
    progress: Progress = lambda share: None,
    *,
    supports: bool = False,
) -> list[_Rows]:
    """Return what the laws of inputs say, an input once however often it occurs."""
    distinct, inverse, counts = np.unique(ids, return_inverse=True, return_counts=True)
    laws, vocab_size = len(states), gaps.space.vocab_size
    stay, support = np.zeros((laws, len(distinct))), np.zeros((laws, len(distinct)))
    distance = np.zeros((laws, len(distinct)))
    best = np.zeros((laws, vocab_size))
    has_distances = True

    def work(start: int) -> tuple[Floats, bool]:
        part = slice(start, start + _BLOCK)
        inputs = distinct[part].astype(np.int32)
        near = gaps.rows(inputs)
        weights = counts[part, None]
        peaks = np.empty((laws, vocab_size))
        own = np.flatnonzero(inputs < vocab_size)
        for i, state in enumerate(states):
            _, law = state.log_rows(inputs, near)
            stay[i, start + own] = law[own, inputs[own]]
            if near is not None:
                distance[i, part] = np.einsum("ij,ij->i", law, near)
            if supports:
                support[i, part] = effective_support(law, ETA)
            peaks[i] = (law * weights).max(axis=0)
        return peaks, near is not None

    starts = range(0, len(distinct), _BLOCK)
    pool = ThreadPoolExecutor(os.cpu_count())
    try:
        for done, (peaks, near) in enumerate(pool.map(work, starts), start=1):
            np.maximum(best, peaks, out=best)
            has_distances = near
            progress(done / len(starts))
    finally:  # an interrupt must not wait for blocks that have not begun
        pool.shutdown(cancel_futures=True)
    return [
        _Rows(
            stay[i][inverse],
            support[i][inverse],
            distance[i][inverse] if has_distances else None,
            float(best[i].sum()) / len(ids),
        )
        for i in range(laws)
    ]


def _of_words(space: Space, words: Ids, rows: _Rows, confidence: float) -> Found:
    """Return the scores of a random word."""
    alpha = (1 - confidence) / 2
    mean = bounded_mean(rows.stay, 0.0, 1.0, confidence)
    scores: dict[str, Ends] = {"n_w_mean": ends_of(mean)}
    for percent in PERCENTILES:
        low, high = exceeded(rows.stay, 1 - percent / 100, alpha)
        scores[f"n_w_{percent}"] = max(low, 0.0), min(high, 1.0)
    scores["n_w_max"] = float(rows.stay.max()), 1.0
    scores.update(support_scores(rows.support, space.vocab_size, confidence))
    if rows.distance is not None:
        diameter = space.geometry.diameter
        moved = bounded_mean(rows.distance, 0.0, diameter, confidence)
        scores["distance_mean"] = ends_of(moved)
    return Found(
        is_exact=False,
        scores=scores,
        n_w=hundred(rows.stay, round_up=True),
        s_w=hundred(rows.support, round_up=False),
        worst=worst_words(space.words, words, rows.stay),
    )


def support_scores(
    support: Floats, vocab_size: int, confidence: float
) -> dict[str, Ends]:
    """Return bounds of the percentiles of :math:`S_w` from words that were drawn."""
    alpha = (1 - confidence) / 2
    mean = bounded_mean(support, 1.0, float(vocab_size), confidence)
    scores: dict[str, Ends] = {"s_w_mean": ends_of(mean)}
    for percent in PERCENTILES:
        low, high = exceeded(-support, 1 - percent / 100, alpha)
        name = f"s_w_{100 - percent:02d}"
        scores[name] = max(-high, 1.0), min(-low, float(vocab_size))
    scores["s_w_min"] = 1.0, float(support.min())
    return scores


def _of_prior(
    space: Space, name: str, prior: Floats, rows: _Rows, confidence: float
) -> dict[str, Ends]:
    """Return what holds under one prior."""
    count, alpha = len(rows.stay), (1 - confidence) / 2
    stay = bounded_mean(rows.stay, 0.0, 1.0, confidence)
    before = float(1 - prior.max())
    low = 1 - rows.success - deviation(1 / count, count, alpha)
    high = min(before, 1 - stay.low)
    low = min(max(low, 0.0), high)
    scores = {
        f"n_w_{name}": ends_of(stay),
        f"prior_risk_{name}": (before, before),
        f"bayes_risk_{name}": (low, high),
        # E* <= E_M <= 2 E* for a loss of 0 or 1
        f"inference_error_{name}": (low, min(1.0, 2 * high)),
    }
    if rows.distance is not None:
        diameter = space.geometry.diameter
        moved = bounded_mean(rows.distance, 0.0, diameter, confidence)
        scores[f"utility_loss_{name}"] = ends_of(moved)
    return scores


def ends_of(interval: Interval) -> Ends:
    """Return the ends of an interval."""
    return interval.low, interval.high
