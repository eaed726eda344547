r"""Bounds of a percentile over a vocabulary, from words that were drawn from it.

A percentile of a score over all words is a percentile of the law of the score of a
random word. Words are drawn independently, with replacement, so that how many of them
lie above it is binomial.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray

from mondegreen.calibration.found import Ends
from mondegreen.scores.interval import lower_bound, upper_bound

_MISSED = 0.1
"""Share of a tail that runs may overlook; what is searched is that much smaller."""

Floats = NDArray[np.float64]

# Searches ask for the same bounds again and again.
lower_end = functools.lru_cache(maxsize=4096)(lower_bound)
upper_end = functools.lru_cache(maxsize=4096)(upper_bound)


def exceeded(values: Floats, share: float, alpha: float) -> Ends:
    r"""Return bounds of the value that a share of all words exceeds.

    .. math:: q = \inf \{ v : P(X > v) \le p \}

    Parameters
    ----------
    values : float64 array, shape (m,)
        The score of words drawn independently.
    share : float in (0, 1)
        :math:`p`.
    alpha : float in (0, 1)
        Chance that an end is wrong, for each end.

    Returns
    -------
    (float, float)
        Order statistics; infinite where there are too few words.

    Examples
    --------
    >>> exceeded(np.arange(100.0), 0.5, 0.025)
    (39.0, 60.0)
    """
    falling, count = np.sort(values)[::-1], len(values)
    above = _most(count, share, alpha)
    below = _least(count, share, alpha)
    high = float(falling[above]) if above >= 0 else math.inf
    low = float(falling[below]) if below < count else -math.inf
    return low, high


def exceeded_by_runs(
    hits: NDArray[np.integer], runs: int, share: float, alpha: float
) -> Ends:
    r"""Return bounds of the chance that a share of all words exceeds, from runs.

    With :math:`h` hits of a random word in R runs and its chance N,

    .. math:: P(h \ge k) \ge P(N > q)\, P(\mathrm{Bin}(R, q) \ge k)

    so a bound of the left side, which is counted, bounds the first factor for every
    q at which the second is at least 0.9. The lower end is found alike.

    Parameters
    ----------
    hits : int array, shape (m,)
        Of words drawn independently.
    runs : int
        R, of each word.
    share : float in (0, 1)
        :math:`p`.
    alpha : float in (0, 1)
        Chance that an end is wrong, for each end.

    Returns
    -------
    (float, float), in [0, 1]

    Examples
    --------
    >>> exceeded_by_runs(np.full(1000, 5), 10, 0.05, 0.025)  # as if N = 0.5
    (0.267..., 0.732...)
    """
    values = hits.astype(np.float64)
    _, most = exceeded(values, share * (1 - _MISSED), alpha)
    least, _ = exceeded(values, share + _MISSED * (1 - share), alpha)
    high = upper_end(int(most), runs, _MISSED) if math.isfinite(most) else 1.0
    low = lower_end(int(least), runs, _MISSED) if math.isfinite(least) else 0.0
    return low, high


def undercut_by_bounds(
    bounds: Floats, share: float, missed: float, alpha: float
) -> float:
    r"""Return a lower bound of the value that a share of all words undercuts.

    Parameters
    ----------
    bounds : float64 array, shape (m,)
        For words drawn independently, a lower bound of the score of each, which is
        wrong with chance at most ``missed``.
    share : float in (0, 1)
        :math:`p`; larger than ``missed``.
    missed : float in (0, 1)
        :math:`P(S < s) \le P(L < s) + P(S < L)`: that much less may be searched.
    alpha : float in (0, 1)
        Chance that the result is wrong.

    Returns
    -------
    float
        Minus infinity where there are too few words.
    """
    return -exceeded(-bounds, share - missed, alpha)[1]


@functools.lru_cache(maxsize=4096)
def _most(count: int, share: float, alpha: float) -> int:
    """Return the largest k with P(Bin <= k) <= alpha, or -1."""
    low, high = -1, count - 1
    while low < high:
        middle = (low + high + 1) // 2
        if upper_end(middle, count, alpha) <= share:
            low = middle
        else:
            high = middle - 1
    return low


@functools.lru_cache(maxsize=4096)
def _least(count: int, share: float, alpha: float) -> int:
    """Return the least k with P(Bin > k) <= alpha, or count."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if lower_end(middle + 1, count, alpha) >= share:
            high = middle
        else:
            low = middle + 1
    return low
