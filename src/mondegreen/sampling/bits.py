"""Independent bits with a probability that is an integer over 2**64."""

from __future__ import annotations

import decimal
import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

_ONE: Final = 1 << 64
_HALF_WORD: Final = 32
_EXACT: Final = decimal.Context(
    prec=60, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[]
)


def flip_threshold(epsilon: float) -> int:
    r"""The least :math:`t` with :math:`t / 2^{64} \ge 1 / (1 + e^\epsilon)`.

    Flipping a bit with probability ``t / 2**64`` loses at most epsilon nats: rounding
    is upwards, towards more noise, and never to zero.

    >>> flip_threshold(1.0) / 2**64
    0.2689414213699951
    >>> flip_threshold(700.0), flip_threshold(1e-300) == 2**63
    (1, True)
    """
    # The exponential is rounded correctly; the number below it is a lower bound.
    power = _EXACT.next_minus(_EXACT.exp(decimal.Decimal(min(epsilon, 50.0))))
    ratio = _EXACT.divide(decimal.Decimal(_ONE), _EXACT.add(power, 1))
    upper = _EXACT.next_plus(_EXACT.next_plus(ratio))
    return min(int(upper.to_integral_value(decimal.ROUND_CEILING)), _ONE // 2)


def compute_realized_epsilon(threshold: int) -> float:
    """``ln((2**64 - t) / t)``, what one bit really loses, rounded up."""
    ratio = _EXACT.divide(decimal.Decimal(_ONE - threshold), decimal.Decimal(threshold))
    loss = float(_EXACT.ln(ratio))
    return math.nextafter(loss, math.inf) if loss else 0.0


def draw_flips(
    words: NDArray[np.uint64], threshold: int, rng: np.random.Generator
) -> NDArray[np.uint8]:
    """Turn uniform words into bits that are 1 with probability ``threshold / 2**64``.

    Every 32 bits of ``words``, shape (T, bits / 2), decide one bit, unless they equal
    the upper half of the threshold; then, for one bit in 2**32, 32 more are drawn. The
    comparison with all 64 bits is exact. The bits come packed, shape (T, bits / 8).
    """
    halves = words.astype("<u8", copy=False).view("<u4")
    upper, lower = divmod(threshold, 1 << _HALF_WORD)
    flips = halves < np.uint32(upper)
    undecided = np.flatnonzero(halves.ravel() == np.uint32(upper))
    if len(undecided):
        more = rng.integers(0, 1 << _HALF_WORD, size=len(undecided), dtype=np.uint32)
        flips.reshape(-1)[undecided] = more < lower
    return np.packbits(flips, axis=1)
