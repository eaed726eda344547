"""Estimates with confidence intervals that hold at every sample size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from mondegreen.errors import InvalidParameterError
from mondegreen.scores.bounds import lower_bound, upper_bound


@final
@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate, and an interval that holds the true value.

    Parameters
    ----------
    estimate : float or None
        The point estimate; None where there are only bounds.
    low, high : float
        The interval, ends included.
    confidence : float in (0, 1)
        The interval covers the true value in at least this share of experiments,
        whatever the law and however few the runs.

    Examples
    --------
    >>> print(Interval(0.5, 0.25, 0.75, 0.95))
    0.5 (0.25 to 0.75)
    """

    estimate: float | None
    low: float
    high: float
    confidence: float

    def scaled(self, factor: float) -> Interval:
        """Return the same interval in another unit; ``factor`` is positive."""
        middle = None if self.estimate is None else self.estimate * factor
        return Interval(middle, self.low * factor, self.high * factor, self.confidence)

    def complement(self) -> Interval:
        """Return the interval of one minus the value."""
        middle = None if self.estimate is None else 1 - self.estimate
        return Interval(middle, 1 - self.high, 1 - self.low, self.confidence)

    def to_dict(self) -> dict[str, float | None]:
        """Return JSON values."""
        return {
            "estimate": self.estimate,
            "low": self.low,
            "high": self.high,
            "confidence": self.confidence,
        }

    def __str__(self) -> str:
        bounds = f"{self.low:.4g} to {self.high:.4g}"
        return bounds if self.estimate is None else f"{self.estimate:.4g} ({bounds})"


def proportion(hits: int, runs: int, confidence: float = 0.95) -> Interval:
    r"""Return the share of runs in which an event happened, with exact bounds.

    .. math:: h / R

    Parameters
    ----------
    hits : int in 0 .. runs
        How often it happened.
    runs : int, at least 1
        Independent runs.
    confidence : float in (0, 1)
        Two-sided.

    References
    ----------
    .. [1] Clopper, Pearson. "The Use of Confidence or Fiducial Limits Illustrated in
       the Case of the Binomial." Biometrika 1934.

    Examples
    --------
    >>> print(proportion(0, 100))
    0 (0 to 0.03622)
    """
    alpha = check_confidence(confidence)
    low, high = (
        lower_bound(hits, runs, alpha / 2),
        upper_bound(hits, runs, alpha / 2),
    )
    return Interval(hits / runs, low, high, confidence)


def bounded_mean(
    values: Sequence[float] | NDArray[np.float64],
    least: float,
    largest: float,
    confidence: float = 0.95,
) -> Interval:
    r"""Return the mean of independent values of a known range, with bounds.

    .. math::

        |m - \mu| \le \sqrt{\frac{2 s^2 \ln(4 / \alpha)}{n}}
            + \frac{7 (b - a) \ln(4 / \alpha)}{3 (n - 1)}

    with the sample mean :math:`m` and variance :math:`s^2`, for values in
    :math:`[a, b]`: the empirical Bernstein bound, which holds for every law and every
    :math:`n \ge 2`.

    Parameters
    ----------
    values : sequence of float
        At least two.
    least, largest : float
        :math:`a` and :math:`b`, known beforehand, not taken from the values.
    confidence : float in (0, 1)
        :math:`1 - \alpha`, two-sided.

    References
    ----------
    .. [1] Maurer, Pontil. "Empirical Bernstein Bounds and Sample Variance
       Penalization." COLT 2009, Theorem 4.

    Examples
    --------
    >>> print(bounded_mean([0.5] * 1000, 0.0, 1.0))
    0.5 (0.4898 to 0.5102)
    """
    alpha = check_confidence(confidence)
    array = np.asarray(values, dtype=np.float64)
    if array.size < 2:
        raise InvalidParameterError("values", f"{array.size} of them", "at least two")
    log = math.log(4 / alpha)
    half = math.sqrt(2 * float(array.var(ddof=1)) * log / array.size)
    half += 7 * (largest - least) * log / (3 * (array.size - 1))
    mean = float(array.mean())
    return Interval(
        mean, max(least, mean - half), min(largest, mean + half), confidence
    )


def deviation(change: float, runs: int, alpha: float) -> float:
    r"""Return how far a statistic of independent runs may be from its expectation.

    .. math:: t = \Delta \sqrt{n \ln(1 / \alpha) / 2}

    One-sided, where one run changes the statistic by at most :math:`\Delta`.

    Parameters
    ----------
    change : float
        :math:`\Delta`.
    runs : int
        :math:`n`.
    alpha : float in (0, 1)
        Chance of being farther, on one side.

    References
    ----------
    .. [1] McDiarmid. "On the Method of Bounded Differences." Surveys in
       Combinatorics 1989.
    """
    return change * math.sqrt(runs * math.log(1 / alpha) / 2)


def check_confidence(confidence: float) -> float:
    """Return alpha, the chance that an interval is wrong."""
    if not 0 < confidence < 1:
        raise InvalidParameterError("confidence", confidence, "in (0, 1)")
    return 1 - confidence
