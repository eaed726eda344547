r"""What runs of one input tell, with intervals that hold at every number of runs.

What runs can tell of a score depends on the score. :math:`N_w` and means have two-sided
intervals around an unbiased estimate. Scores that look for the best (:math:`S_w`, the
largest probability) are biased if one set of runs both finds and measures it; so one
half of the runs finds, the other measures, and the bias of the plug-in value, whose
sign is known, bounds the other side.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids
from mondegreen.errors import InvalidParameterError
from mondegreen.mechanisms.base import State
from mondegreen.scores.deniability import check_eta, distinct_outputs
from mondegreen.scores.interval import (
    Interval,
    bounded_mean,
    check_confidence,
    deviation,
    proportion,
)
from mondegreen.scores.law import to_words
from mondegreen.space.space import Space

Counts = NDArray[np.int64]


@final
@dataclass(frozen=True, slots=True)
class WordEstimate:
    """What runs of one input tell: :math:`N_w`, :math:`S_w`, entropies in nats.

    ``support`` has bounds alone, and so have the entropies of order 0 and 1: no number
    of runs below the size of the vocabulary bounds them from above. ``found`` and
    ``measured`` (V,) count each output in the half of the runs that finds what is
    likely, and in the half that measures it.
    """

    runs: int
    eta: float
    stay: Interval
    support: Interval
    distinct: int
    entropies: Mapping[float, Interval]
    distance: Interval | None
    rank: Interval | None
    found: Counts
    measured: Counts


def estimate_word(
    state: State,
    word: int,
    runs: int,
    rng: np.random.Generator,
    *,
    eta: float = 0.05,
    confidence: float = 0.95,
) -> WordEstimate:
    r"""Estimate the scores of one input from independent runs.

    With the shares :math:`p_1 \ge p_2 \ge \dots` of all :math:`R` runs,

    .. math::

        S_w \ge 1 + \max \Big\{ k : \sum_{i \le k} p_i
            + \sqrt{\frac{\ln(2/\alpha)}{2 R}} < 1 - \eta \Big\},

    since the k most frequent outputs of any runs hold, on average, at least the mass
    of the k likeliest; and :math:`S_w \le k` for the first k of which the outputs most
    frequent in one half hold :math:`1 - \eta` of the other half, by its Clopper-Pearson
    bound.

    Confidence is that of each interval by itself. Sums of shares, collisions and
    entropies: McDiarmid, "On the Method of Bounded Differences", 1989. The change of an
    entropy with one run: Antos, Kontoyiannis, "Convergence Properties of Functional
    Estimates for Discrete Distributions", 2001.

    >>> import mondegreen as mg
    >>> space = mg.Space.from_arrays("ab", ["a", "b"], [[0], [2]])
    >>> state = mg.mechanism("laplace", epsilon=1.0).prepare(space)
    >>> found = estimate_word(state, 0, 10_000, np.random.default_rng(0))
    >>> bool(found.stay.low < 1 - 0.5 * np.exp(-1.0) < found.stay.high)
    True
    """
    check_runs(runs)
    check_eta(eta)
    vocab_size = state.space.vocab_size
    outputs = state.sample(np.full(runs, word, dtype=np.int32), rng)
    half = runs // 2
    parts = [
        np.bincount(part, minlength=vocab_size).astype(np.int64)
        for part in (outputs[:half], outputs[half:])
    ]
    hits = int((outputs == word).sum())
    distance, rank = _places(state.space, word, outputs, confidence)
    return WordEstimate(
        runs=runs,
        eta=eta,
        stay=proportion(hits, runs, confidence),
        support=_support(parts[0], parts[1], eta, confidence),
        distinct=distinct_outputs(outputs),
        entropies=_entropies(parts[0], parts[1], confidence),
        distance=distance,
        rank=rank,
        found=parts[0],
        measured=parts[1],
    )


def _support(first: Counts, second: Counts, eta: float, confidence: float) -> Interval:
    """Bounds of S_w from the counts of two halves."""
    alpha = check_confidence(confidence) / 2
    counts = np.sort(first + second)[::-1]
    runs = int(counts.sum())
    shares = np.cumsum(counts) / runs
    low = 1 + int((shares + deviation(1 / runs, runs, alpha) < 1 - eta).sum())
    found = np.flatnonzero(first)
    ranked = found[np.argsort(-first[found], kind="stable")]
    held, measured = np.cumsum(second[ranked]), int(second.sum())
    needed = _least_hits(measured, 1 - eta, alpha)
    enough = np.flatnonzero(held >= needed)
    high = int(enough[0]) + 1 if len(enough) else len(first)
    return Interval(None, float(min(low, high)), float(high), confidence)


def _least_hits(runs: int, share: float, alpha: float) -> int:
    """The fewest hits that show a share; more than ``runs`` if none do."""
    low, high = 0, runs + 1
    while low < high:
        middle = (low + high) // 2
        if proportion(middle, runs, 1 - 2 * alpha).low >= share:
            high = middle
        else:
            low = middle + 1
    return low


def _entropies(
    first: Counts, second: Counts, confidence: float
) -> dict[float, Interval]:
    alpha = check_confidence(confidence)
    counts, largest = first + second, math.log(len(first))
    runs = int(counts.sum())
    shares = counts[counts > 0] / runs
    plug_in = -float(shares @ np.log(shares))
    change = 2 * math.log(runs) / runs
    collisions = float((counts * (counts - 1)).sum()) / (runs * (runs - 1))
    slack = deviation(2 / runs, runs, alpha / 2)
    best = proportion(int(second[first.argmax()]), int(second.sum()), confidence)
    peak = float(shares.max()) + deviation(1 / runs, runs, alpha / 2)
    low = max(0.0, plug_in - deviation(change, runs, alpha))
    return {
        0.0: Interval(None, math.log(len(shares)), largest, confidence),
        1.0: Interval(None, low, largest, confidence),
        2.0: _negative_log(
            collisions, collisions - slack, collisions + slack, largest, confidence
        ),
        math.inf: _negative_log(
            best.estimate or 0.0, best.low, peak, largest, confidence
        ),
    }


def _negative_log(
    middle: float, low: float, high: float, largest: float, confidence: float
) -> Interval:
    """The interval of -ln of a probability, within 0 and the largest."""

    def clipped(value: float) -> float:
        return min(largest, max(0.0, -math.log(value))) if value > 0 else largest

    estimate = clipped(middle) if middle > 0 else None
    return Interval(estimate, clipped(high), clipped(low), confidence)


def _places(
    space: Space, word: int, outputs: Ids, confidence: float
) -> tuple[Interval | None, Interval | None]:
    """The mean distance and rank of the outputs of one input."""
    row = to_words(space, np.array([word], dtype=np.int32))
    if row is None:
        return None, None
    gaps = row[0]
    ranks = np.empty(len(gaps))
    ranks[np.argsort(gaps, kind="stable")] = np.arange(len(gaps))
    return (
        bounded_mean(gaps[outputs], 0.0, space.geometry.diameter, confidence),
        bounded_mean(ranks[outputs], 0.0, len(gaps) - 1.0, confidence),
    )


def check_runs(runs: int) -> None:
    """Refuse fewer runs than a split needs."""
    if runs < 2:
        raise InvalidParameterError("runs", runs, "at least 2")
