"""Confidence bounds that hold at every sample size, whatever the law."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from mondegreen.arrays import Floats
from mondegreen.errors import InvalidParameterError

Ends = tuple[float, float]
"""The lower and the upper end of what is known of a score."""

# Relative, far above the error of scipy's quantiles; bounds are wider by it.
_ROUNDING: Final = 1e-11


@final
@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate, if there is one, and the two ends of what is known.

    The interval, ends included, covers the truth in at least a share ``confidence`` of
    experiments, however few the runs.
    """

    estimate: float | None
    low: float
    high: float
    confidence: float

    @property
    def ends(self) -> Ends:
        return self.low, self.high


def lower_bound(hits: int, runs: int, alpha: float) -> float:
    r"""Bound a probability from below: :math:`P(p_L > p) \le \alpha` for every true p.

    Clopper and Pearson (Biometrika 1934): :math:`P(X \ge h \mid p) = I_p(h, R - h + 1)`
    rises with p, and :math:`p_L` is where it is :math:`\alpha`; one-sided.

    >>> lower_bound(0, 100, 0.05), round(lower_bound(100, 100, 0.05), 4)
    (0.0, 0.9705)
    """
    from scipy.special import betaincinv

    _check_counts(hits, runs, alpha)
    if hits == 0:
        return 0.0
    if hits == runs:  # p**runs = alpha
        return math.exp(math.log(alpha) / runs)
    found = float(betaincinv(hits, runs - hits + 1, alpha))
    return math.nextafter(found - _ROUNDING * min(found, 1 - found), 0)


def upper_bound(hits: int, runs: int, alpha: float) -> float:
    r"""Bound a probability from above: :math:`P(p_U < p) \le \alpha` for every true p.

    :math:`P(X \le h \mid p) = 1 - I_p(h + 1, R - h)` is :math:`\alpha` at :math:`p_U`.

    >>> round(upper_bound(0, 100, 0.05), 4), upper_bound(100, 100, 0.05)
    (0.0295, 1.0)
    """
    from scipy.special import betainccinv

    _check_counts(hits, runs, alpha)
    if hits == runs:
        return 1.0
    if hits == 0:
        return -math.expm1(math.log(alpha) / runs)
    found = float(betainccinv(hits + 1, runs - hits, alpha))
    return math.nextafter(found + _ROUNDING * min(found, 1 - found), 1)


def _check_counts(hits: int, runs: int, alpha: float) -> None:
    if runs < 1 or not 0 <= hits <= runs:
        raise InvalidParameterError("hits", hits, f"in 0..{runs}, runs at least 1")
    if not 0 < alpha < 1:
        raise InvalidParameterError("alpha", alpha, "in (0, 1)")


def proportion(hits: int, runs: int, confidence: float = 0.95) -> Interval:
    """Estimate the chance of an event by its share of runs, with exact bounds.

    >>> round(proportion(0, 100).high, 5)
    0.03622
    """
    half = check_confidence(confidence) / 2
    low, high = lower_bound(hits, runs, half), upper_bound(hits, runs, half)
    return Interval(hits / runs, low, high, confidence)


def bound_mean(
    values: Floats, least: float, largest: float, confidence: float = 0.95
) -> Interval:
    r"""Estimate the mean of independent values whose range is known beforehand.

    .. math::

        |m - \mu| \le \sqrt{\frac{2 s^2 \ln(4 / \alpha)}{n}}
            + \frac{7 (b - a) \ln(4 / \alpha)}{3 (n - 1)}

    with the sample mean :math:`m` and variance :math:`s^2`, for values in
    :math:`[a, b]`: the empirical Bernstein bound of Maurer and Pontil (COLT 2009,
    Theorem 4), which holds for every law and every :math:`n \ge 2`.

    >>> round(bound_mean([0.5] * 1000, 0.0, 1.0).high, 4)
    0.5102
    """
    alpha = check_confidence(confidence)
    array = np.asarray(values, dtype=np.float64)
    if array.size < 2:
        raise InvalidParameterError("values", f"{array.size} of them", "at least two")
    mean, log = float(array.mean()), math.log(4 / alpha)
    half = math.sqrt(2 * float(array.var(ddof=1)) * log / array.size)
    half += 7 * (largest - least) * log / (3 * (array.size - 1))
    low, high = max(least, mean - half), min(largest, mean + half)
    return Interval(mean, low, high, confidence)


def deviation(change: float, runs: int, alpha: float) -> float:
    r"""Tell how far a statistic of independent runs may be from its expectation.

    .. math:: t = \Delta \sqrt{n \ln(1 / \alpha) / 2}

    One-sided, where one of n runs changes the statistic by at most :math:`\Delta`:
    McDiarmid, "On the Method of Bounded Differences", Surveys in Combinatorics 1989.
    """
    return change * math.sqrt(runs * math.log(1 / alpha) / 2)


def check_confidence(confidence: float) -> float:
    """Turn a confidence into alpha, the chance that an interval is wrong."""
    if not 0 < confidence < 1:
        raise InvalidParameterError("confidence", confidence, "in (0, 1)")
    return 1 - confidence
