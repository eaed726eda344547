"""Exact draws from laws whose probabilities are integers over 2**62."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Weights

TOTAL_BITS: Final = 62
TOTAL: Final = 1 << TOTAL_BITS
"""The sum of the integer weights of every law."""

SHRINK: Final = 1 - 2.0**-46
"""Outweighs the error of float sums, so that integers never sum to too much."""


def draw_uniform(rng: np.random.Generator, size: int) -> NDArray[np.int64]:
    """Draw integers uniform on ``0 .. 2**62 - 1``, one 64-bit word each.

    The range divides the range of the generator, so no draw is rejected and a batch
    consumes the same stream as its items one by one.
    """
    return rng.integers(0, TOTAL, size=size, dtype=np.int64)


def log_above(ratio: Fraction) -> float:
    """The natural logarithm of a ratio of at least 1, rounded up."""
    if ratio == 1:
        return 0.0
    return math.nextafter(math.log1p(float(ratio - 1)) * (1 + 2.0**-50), math.inf)


def quantize(
    excess: NDArray[np.float64], floor: float, count: int
) -> tuple[int, Weights]:
    r"""Turn weights ``floor + excess`` into integers that sum to ``2**62``.

    The weights of all ``count`` outcomes are :math:`f + x_y`, where the floor
    :math:`f \ge 0` is common to all and the excess :math:`x_y \ge 0` is given for some
    and 0 for the others. Only a floor above 0 leaves no outcome impossible.

    Both parts are rounded down, so each weight is at most 2 below its real value; what
    is left of :math:`2^{62}` goes to the largest excess, where it is smallest in
    proportion. The factor :math:`1 - 2^{-46}` outweighs the error of the float sums, so
    that what is left is never negative. The mechanisms count all of this in their
    promise. Returned are the integer floor and the integer excess, with
    ``count * floor + excess.sum() == 2**62`` exactly.

    >>> floor, excess = quantize(np.array([3.0, 0.0]), 1.0, 5)
    >>> floor * 5 + int(excess.sum()) == TOTAL
    True
    """
    scale = TOTAL / (count * floor + float(excess.sum())) * SHRINK
    base = int(scale * floor)
    weights = (scale * excess).astype(np.int64)
    weights[np.argmax(weights)] += TOTAL - count * base - int(weights.sum())
    return base, weights
