"""How far a random word lies from an input: what a utility loss is compared with."""

from __future__ import annotations

import functools
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mondegreen.calibration.cache import keep_array, kept_array
from mondegreen.calibration.found import Effort, Ends
from mondegreen.calibration.rows import draw_inputs, ends_of, gaps_of
from mondegreen.scores.interval import bounded_mean
from mondegreen.space.space import Space

_BLOCK: Final = 256
_NAME: Final = "mean-distances"

Floats = NDArray[np.float64]


def random_loss(
    space: Space,
    prior: Floats,
    effort: Effort | None = None,
    *,
    confidence: float = 0.95,
) -> Ends | None:
    r"""Return the utility loss of an output drawn uniformly among the words.

    .. math:: \sum_w \pi(w) \frac{1}{V} \sum_y d(w, y)

    Parameters
    ----------
    space : Space
        With distances; None is returned where there are none.
    prior : float64 array, shape (V + 1,)
        Of the input.
    effort : Effort or None
        How many inputs to draw, always the same; None computes it for all, once for
        each space, and keeps their mean distances in the cache folder.
    confidence : float in (0, 1)
        Of the interval where inputs are drawn.

    Examples
    --------
    >>> space = Space.from_arrays("ab", ["a", "b"], [[0.0], [3.0]])
    >>> random_loss(space, np.array([1.0, 0.0, 0.0]))
    (1.5, 1.5)
    """
    if gaps_of(space).rows(np.zeros(1, dtype=np.int32)) is None:
        return None
    if effort is not None and space.vocab_size > _BLOCK:
        means = _sampled(space, prior.tobytes(), effort.rows)
        diameter = space.geometry.diameter
        return ends_of(bounded_mean(means, 0.0, diameter, confidence))
    everyone = np.arange(space.vocab_size + 1, dtype=np.int32)
    found = kept_array(space, _NAME, len(everyone))
    if found is None:
        found = _means(space, everyone)
        if space.vocab_size > _BLOCK:
            keep_array(space, _NAME, found)
    value = float(prior @ found)
    return value, value


@functools.lru_cache(maxsize=8)
def _sampled(space: Space, prior: bytes, count: int) -> Floats:
    """Return the mean distances of inputs from a prior, drawn once for all."""
    rng = np.random.default_rng(0)
    return _means(space, draw_inputs(np.frombuffer(prior), count, rng))


def _means(space: Space, ids: NDArray[np.int32]) -> Floats:
    """Return the mean distance of each input to all words."""
    gaps = gaps_of(space)

    def work(start: int) -> Floats:
        rows = gaps.rows(ids[start : start + _BLOCK])
        assert rows is not None  # noqa: S101 - checked by the caller
        return np.asarray(rows.mean(axis=1))

    pool = ThreadPoolExecutor(os.cpu_count())
    try:
        parts = list(pool.map(work, range(0, len(ids), _BLOCK)))
    finally:  # an interrupt must not wait for blocks that have not begun
        pool.shutdown(cancel_futures=True)
    return np.concatenate(parts)
