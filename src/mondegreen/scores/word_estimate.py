r"""What runs of one input bound, with intervals that hold at every number of runs.

What runs can show about a score depends on the score. :math:`N_w` and means have
two-sided intervals around an unbiased estimate. Scores that look for the best
(:math:`S_w`, the largest probability) are biased if one set of runs both finds and
measures it; so one half of the runs finds, the other measures, and the bias of the
plug-in value, whose sign is known, bounds the other side. Below, ``first`` and
``second`` (V,) count each output in the half that finds and in the half that measures.

McDiarmid, "On the Method of Bounded Differences", 1989. The change of an entropy with
one run: Antos, Kontoyiannis, "Convergence Properties of Functional Estimates for
Discrete Distributions", 2001.
"""

from __future__ import annotations

import math

import numpy as np

from mondegreen.arrays import Weights
from mondegreen.scores.interval import (
    Interval,
    check_confidence,
    deviation,
    lower_bound,
    proportion,
)


def least_support(counts: Weights, eta: float, alpha: float) -> int:
    r"""Bound :math:`S_w` from below by counts of outputs, wrong with chance alpha.

    With the shares :math:`p_1 \ge p_2 \ge \dots` of all :math:`R` runs,

    .. math::

        S_w \ge 1 + \max \Big\{ k : \sum_{i \le k} p_i
            + \sqrt{\frac{\ln(1/\alpha)}{2 R}} < 1 - \eta \Big\},

    since the k most frequent outputs of any runs hold, on average, at least the mass of
    the k most likely: what they lack, beyond the deviation, is lacking.
    """
    runs = int(counts.sum())
    shares = np.cumsum(np.sort(counts)[::-1]) / runs
    return 1 + int((shares + deviation(1 / runs, runs, alpha) < 1 - eta).sum())


def bound_support(
    first: Weights, second: Weights, eta: float, confidence: float
) -> Interval:
    r"""Bound :math:`S_w`, without an estimate.

    From above by the first k such that the k most frequent outputs of one half hold
    :math:`1 - \eta` of the other half, by its Clopper-Pearson bound.
    """
    alpha = check_confidence(confidence) / 2
    low = least_support(first + second, eta, alpha)
    found = np.flatnonzero(first)
    ranked = found[np.argsort(-first[found], kind="stable")]
    held, runs = np.cumsum(second[ranked]), int(second.sum())
    # The first of all places is where the bound, which rises, is high enough.
    few, many = 0, len(held)
    while few < many:
        middle = (few + many) // 2
        if lower_bound(int(held[middle]), runs, alpha) >= 1 - eta:
            many = middle
        else:
            few = middle + 1
    high = few + 1 if few < len(held) else len(first)
    return Interval(None, float(min(low, high)), float(high), confidence)


def bound_entropies(
    first: Weights, second: Weights, confidence: float
) -> dict[str, Interval]:
    """Bound the entropies, by name, in nats.

    Those of order 0 and 1 have bounds alone: no number of runs below the size of the
    vocabulary bounds them from above.
    """
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

    def entropy(probability: float) -> float:
        if probability <= 0:
            return largest
        return min(largest, max(0.0, -math.log(probability)))

    def interval(middle: float, low: float, high: float) -> Interval:
        estimate = entropy(middle) if middle > 0 else None
        return Interval(estimate, entropy(high), entropy(low), confidence)

    least = max(0.0, plug_in - deviation(change, runs, alpha))
    return {
        "entropy_0": Interval(None, math.log(len(shares)), largest, confidence),
        "entropy_1": Interval(None, least, largest, confidence),
        "entropy_2": interval(collisions, collisions - slack, collisions + slack),
        "entropy_inf": interval(best.estimate or 0.0, best.low, peak),
    }
