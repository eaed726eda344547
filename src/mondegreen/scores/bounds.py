r"""Confidence bounds of a probability from counts (Clopper-Pearson).

The bounds are quantiles of beta laws. A beta tail is a regularised incomplete beta
function, computed here by its continued fraction; the quantile by bisection, which
needs no derivative and always brackets the answer on the safe side.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mondegreen.errors import InvalidParameterError

_HALVINGS: Final = 200
_PRECISION: Final = 1e-11
"""Relative; what is returned is on the safe side of the rest."""

_TERMS: Final = 20_000


def lower_bound(hits: int, runs: int, alpha: float) -> float:
    r"""Return :math:`p_L` with :math:`P(p_L > p) \le \alpha` for every true :math:`p`.

    Parameters
    ----------
    hits : int in 0 .. runs
        How often the event was seen.
    runs : int, at least 1
        Independent runs.
    alpha : float in (0, 1)
        Chance that the bound is wrong; one-sided.

    References
    ----------
    .. [1] Clopper, Pearson. "The Use of Confidence or Fiducial Limits Illustrated in
       the Case of the Binomial." Biometrika 1934.

    Examples
    --------
    >>> lower_bound(0, 100, 0.05), round(lower_bound(100, 100, 0.05), 4)
    (0.0, 0.9705)
    """
    _check(hits, runs, alpha)
    if hits == 0:
        return 0.0
    if hits == runs:  # p**runs = alpha
        return math.exp(math.log(alpha) / runs)
    # P(X >= hits | p) = I_p(hits, runs - hits + 1) = alpha; it rises with p.
    return _solve(hits, runs - hits + 1, alpha)[0]


def upper_bound(hits: int, runs: int, alpha: float) -> float:
    r"""Return :math:`p_U` with :math:`P(p_U < p) \le \alpha` for every true :math:`p`.

    Parameters
    ----------
    hits : int in 0 .. runs
        How often the event was seen.
    runs : int, at least 1
        Independent runs.
    alpha : float in (0, 1)
        Chance that the bound is wrong; one-sided.

    Examples
    --------
    >>> round(upper_bound(0, 100, 0.05), 4), upper_bound(100, 100, 0.05)
    (0.0295, 1.0)
    """
    _check(hits, runs, alpha)
    if hits == runs:
        return 1.0
    if hits == 0:
        return -math.expm1(math.log(alpha) / runs)
    # The complement fails runs - hits times: the mirror of the lower bound.
    return 1.0 - _solve(runs - hits, hits + 1, alpha)[0]


def largest_loss(runs: int, alpha: float) -> float:
    r"""Return the largest log-ratio that two counts can certify, in nats.

    That is the case of an event which always happens for one input and never for the
    other; each bound is at level ``alpha``.

    Examples
    --------
    >>> round(largest_loss(1_000_000, 0.025), 1)
    12.5
    """
    return math.log(lower_bound(runs, runs, alpha) / upper_bound(0, runs, alpha))


def rarest_event(runs: int, alpha: float) -> float:
    """Return the least share of runs that certifies an event impossible elsewhere."""
    low, high = 1, runs
    zero = upper_bound(0, runs, alpha)
    while low < high:
        middle = (low + high) // 2
        if lower_bound(middle, runs, alpha) > zero:
            high = middle
        else:
            low = middle + 1
    return low / runs


def incomplete_beta(a: float, b: float, x: float) -> float:
    r"""Return :math:`I_x(a, b)`, the probability that a beta variable is below x."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    front = math.exp(
        math.lgamma(a + b)
        - math.lgamma(a)
        - math.lgamma(b)
        + a * math.log(x)
        + b * math.log1p(-x)
    )
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1.0 - front * _fraction(b, a, 1.0 - x) / b


def _solve(a: float, b: float, alpha: float) -> tuple[float, float]:
    """Return an interval around the x with I_x(a, b) = alpha, by bisection."""
    # Wilson's interval is close; it is widened until it surely holds the answer.
    z = 1 + math.sqrt(-2 * math.log(alpha))
    low, high = _bracket(a, b, alpha, z)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        near = min(low, 1 - high)
        if high - low <= _PRECISION * near or not low < middle < high:
            break
        if incomplete_beta(a, b, middle) < alpha:
            low = middle
        else:
            high = middle
    return low, high


def _bracket(a: float, b: float, alpha: float, z: float) -> tuple[float, float]:
    """Return numbers on both sides of the x with I_x(a, b) = alpha."""
    runs, share = a + b - 1, a / (a + b - 1)
    spread = z * math.sqrt(share * (1 - share) / runs + z * z / (4 * runs * runs))
    centre, scale = share + z * z / (2 * runs), 1 + z * z / runs
    low = max(0.0, (centre - spread) / scale)
    high = min(1.0, (centre + spread) / scale)
    if low > 0 and incomplete_beta(a, b, low) >= alpha:
        low = 0.0
    if incomplete_beta(a, b, high) <= alpha:
        high = 1.0
    return low, high


def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function (Lentz)."""
    tiny = 1e-300
    c, d = 1.0, 1.0 / _away(1.0 - (a + b) * x / (a + 1), tiny)
    value = d
    for m in range(1, _TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1.0 / _away(1.0 + even * d, tiny)
        c = _away(1.0 + even / c, tiny)
        value *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1.0 / _away(1.0 + odd * d, tiny)
        c = _away(1.0 + odd / c, tiny)
        value *= d * c
        if abs(d * c - 1.0) < 1e-15:
            break
    return value


def _away(value: float, tiny: float) -> float:
    """Return a value that can be divided by."""
    return value if abs(value) > tiny else tiny


def wilson(
    hits: NDArray[np.int64], runs: int, z: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return rough bounds of many probabilities at once, to choose events by."""
    share = hits / runs
    centre = share + z * z / (2 * runs)
    spread = z * np.sqrt(share * (1 - share) / runs + z * z / (4.0 * runs * runs))
    scale = 1 + z * z / runs
    return np.maximum(centre - spread, 0.0) / scale, (centre + spread) / scale


def _check(hits: int, runs: int, alpha: float) -> None:
    if runs < 1 or not 0 <= hits <= runs:
        raise InvalidParameterError("hits", hits, f"in 0..{runs}, runs at least 1")
    if not 0 < alpha < 1:
        raise InvalidParameterError("alpha", alpha, "in (0, 1)")
