r"""The exact epsilon of integer laws that treat any two inputs alike.

For the discrete metric, where two different inputs are 1 apart, the largest log-ratio
is found column by column:

.. math:: \max_y \bigl( \ln \max_w k_y(w) - \ln \min_w k_y(w) \bigr)

with :math:`k_y(w)` the integer weight of the output :math:`y` for the input :math:`w`,
all of one total. So one pass over the inputs is enough, not one over their pairs, and
nothing is bounded: these are the integers that are sampled.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import numpy as np

from mondegreen.arrays import Weights
from mondegreen.mechanisms.laws.base import SelectionLaw

_STRIPE: Final = 256
_MARGIN: Final = 1e-12
"""Relative rounding up, above the error of two logarithms."""

Progress = Callable[[float], object]


def discrete_epsilon(
    law: SelectionLaw,
    vocab_size: int,
    progress: Progress = lambda share: None,
    *,
    step: int = 1,
) -> float:
    r"""Return the largest log-ratio of any two inputs and any output, rounded up.

    Parameters
    ----------
    law : SelectionLaw
        With a law for each of the inputs ``0 .. vocab_size``, the unknown word last.
    vocab_size : int
        :math:`V`.
    progress : callable
        Called with the share that is done, from 0 to 1.
    step : int
        Ask every so many inputs alone, which gives a lower bound.

    Returns
    -------
    float
        Nats; infinite where an output is possible for some inputs only.

    Notes
    -----
    Memory: two integers a word for each of the threads, and a block of laws each.

    Examples
    --------
    >>> import mondegreen as mg
    >>> words, points = ["cat", "cats", "hot"], [[1, 0], [1, 0.1], [0, 1]]
    >>> space = mg.Space.from_arrays("s", words, points)
    >>> state = mg.mechanism("syntf", epsilon=2.0).prepare(space)
    >>> 1.0 < discrete_epsilon(state.law, 3) < 2.0
    True
    """
    asked = range(vocab_size, -1, -step)[::-1]
    starts = range(0, len(asked), _STRIPE)

    def extremes(start: int) -> tuple[Weights, Weights]:
        most = np.zeros(vocab_size, dtype=np.int64)
        least = np.full(vocab_size, np.iinfo(np.int64).max)
        inputs = asked[start : start + _STRIPE]
        for _, row in law.rows(inputs):
            weights = row.weights(vocab_size)
            np.maximum(most, weights, out=most)
            np.minimum(least, weights, out=least)
        return most, least

    most = np.zeros(vocab_size, dtype=np.int64)
    least = np.full(vocab_size, np.iinfo(np.int64).max)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for done, (above, below) in enumerate(pool.map(extremes, starts), start=1):
            np.maximum(most, above, out=most)
            np.minimum(least, below, out=least)
            progress(done / len(starts))
    if (least == 0).any():
        return math.inf
    ratios = most.astype(np.float64) / least
    return math.log(float(ratios.max())) * (1 + _MARGIN) + _MARGIN
