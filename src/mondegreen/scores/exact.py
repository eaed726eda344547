r"""Exact scores of known laws over a whole vocabulary, in one pass over its pairs.

A block of inputs at a time: distances to all words, once for all laws; the law; what
one row tells (:math:`N_w, S_w`, entropies, distance, rank); and, for each output, what
the inputs before it left of :math:`\max_w \pi P`, :math:`\sum_w \pi P` and
:math:`\sum_w (\pi P)^2`, which is all that the risks under a prior need.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mondegreen.errors import ConfigurationError
from mondegreen.mechanisms.base import State
from mondegreen.scores.deniability import check_eta
from mondegreen.scores.kernel import Gaps
from mondegreen.scores.law import LawScores
from mondegreen.scores.risk import check_prior, uniform_prior
from mondegreen.scores.table import ScoreTable
from mondegreen.space.space import Space

_BLOCK_BYTES: Final = 96 << 20
"""Distances computed together by a thread: large products are the quickest."""

_STRIPE: Final = 8
"""Inputs worked on together, so that their rows stay in the cache."""

Floats = NDArray[np.float64]
Progress = Callable[[float], object]


def law_scores(
    states: Sequence[State],
    priors: Mapping[str, Floats] | None = None,
    *,
    eta: float | None = 0.05,
    progress: Progress = lambda share: None,
) -> list[LawScores]:
    """Return the exact scores of laws on one space, all in one pass over its pairs.

    Parameters
    ----------
    states : sequence of State
        Prepared on one space, with known laws. Those in a distance (``exponential``,
        ``tem``, ``calibrated``, ``tight``) share their distances and are fast; others
        are asked for their law row by row, which takes minutes for 33,860 words.
    priors : mapping of str to float64 array, shape (V,) or (V + 1,), optional
        What the adversary expects, by name; a uniform prior if not given.
    eta : float in [0, 1), or None
        The mass that :math:`S_w` leaves out. None leaves out :math:`S_w` and ranks,
        for which rows are sorted: half of the time.
    progress : callable
        Called with the share that is done, from 0 to 1.

    Returns
    -------
    list of LawScores
        One for each state, in order.

    Raises
    ------
    LawUnknownError
        If a law has no closed form: see :mod:`mondegreen.scores.mechanism_estimate`.

    Notes
    -----
    *Numerics.* Distances, laws and sums are in float64, for the laws in real numbers;
    the integers that are sampled differ from them by at most ``kappa`` nats, some
    :math:`10^{-4}`. Sizes of sets are exact for these float64 laws: rows are sorted in
    float32, and once more in float64 where that leaves a doubt.

    Examples
    --------
    >>> import mondegreen as mg
    >>> space = mg.Space.from_arrays("ab", ["a", "b"], [[0], [1]])
    >>> state = mg.mechanism("exponential", epsilon=2.0).prepare(space)
    >>> (scores,) = law_scores([state])
    >>> scores.stay.round(3).tolist(), round(scores.risks["uniform"].bayes_risk, 3)
    ([0.731, 0.731], 0.269)
    """
    if not states:
        return []
    space = _one_space(states)
    if eta is not None:
        check_eta(eta)
    count = space.vocab_size + 1
    named = {"uniform": uniform_prior(count - 1)} if priors is None else priors
    full = {name: _with_unknown(prior, count) for name, prior in named.items()}
    gaps = Gaps(space)
    tables = [ScoreTable(state, full, eta) for state in states]
    size = max(_STRIPE, _BLOCK_BYTES // (8 * count))

    def work(start: int) -> None:
        ids = np.arange(start, min(start + size, count), dtype=np.int32)
        found = [table.columns_like() for table in tables]
        for stripe, near in gaps.stripes(ids, _STRIPE):
            for table, columns in zip(tables, found, strict=True):
                table.add(stripe, near, columns)
        for table, columns in zip(tables, found, strict=True):
            table.merge(columns)

    starts = range(0, count, size)
    pool = ThreadPoolExecutor(os.cpu_count())
    try:
        for done, _ in enumerate(pool.map(work, starts), start=1):
            progress(done / len(starts))
    finally:  # an interrupt must not wait for blocks that have not begun
        pool.shutdown(cancel_futures=True)
    return [table.scores() for table in tables]


def _one_space(states: Sequence[State]) -> Space:
    """Return the space that all states share."""
    space = states[0].space
    if any(state.space.digest != space.digest for state in states):
        raise ConfigurationError("all laws must be on one space")
    return space


def _with_unknown(prior: Floats, count: int) -> Floats:
    """Return a prior over all inputs; one over the words leaves the unknown out."""
    given = np.asarray(prior, dtype=np.float64)
    if given.shape == (count - 1,):
        given = np.append(given, 0.0)
    return check_prior(given, count)
