r"""Errors of adversaries who know a law from runs, counted on other runs.

For mechanisms that can only be sampled. Runs that taught an adversary flatter him, so
what he learned on some is asked on others. A table of runs is a sparse matrix of inputs
(rows) and outputs (columns) that sums to 1: what the runs say of
:math:`\pi(w) P(y \mid w)`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mondegreen.arrays import Floats, Ids
from mondegreen.errors import InvalidParameterError


def table_of_runs(inputs: Ids, outputs: Ids, weights: Floats, size: int) -> Any:
    """Sum up runs: a sparse matrix, (size, size), whose entries sum to 1.

    Parameters
    ----------
    inputs, outputs : int32 arrays, shape (runs,)
    weights : float64 array, shape (runs,)
        How much each counts, such as the chance of that output, or of that input.
    size : int
        How many inputs there are, and outputs.
    """
    from scipy import sparse

    total = float(weights.sum())
    if not total > 0:
        raise InvalidParameterError("weights", total, "a sum above 0")
    cells = sparse.coo_matrix((weights / total, (inputs, outputs)), shape=(size, size))
    table = cells.tocsc()
    table.eliminate_zeros()
    return table


def measure_held_out_errors(learned: Any, asked: Any) -> tuple[float, float]:
    r"""Compute :math:`E_M` and the error of the best guess, by others' posterior.

    With the posterior :math:`\hat g(v \mid y)` of the learned runs and the joint
    :math:`J(w, y)` of those asked,

    .. math::

        E_M = 1 - \sum_{w, y} J(w, y)\, \hat g(w \mid y), \qquad
        E^* = 1 - \sum_y J(\arg\max_v \hat g(v \mid y), y).

    An output that was never seen leaves the prior, which is that of the learned runs.

    Returns
    -------
    inference_error : float in [0, 1]
        Of who draws a guess from the posterior. Unbiased but for outputs never seen,
        where inputs are drawn from the prior: those of an output are then draws from
        its posterior. Where each input has as many runs, a little too small.
    bayes_risk : float in [0, 1]
        Error rate of an attacker who takes the most likely input. Runs that are few
        make this adversary weaker than the best one: it is too large on average.

    Examples
    --------
    >>> runs = np.array([0, 0, 0, 1], dtype=np.int32)
    >>> out = np.array([0, 0, 1, 1], dtype=np.int32)
    >>> table = table_of_runs(runs, out, np.ones(4), 2)
    >>> measure_held_out_errors(table, table)
    (0.25, 0.25)
    """
    prior = np.asarray(learned.sum(axis=1)).ravel()
    seen = np.asarray(learned.sum(axis=0)).ravel()
    # Rounding alone would make a posterior of an output that has no mass.
    known = seen > 0
    scale = np.divide(1.0, seen, out=np.zeros_like(seen), where=known)
    drawn = float(np.asarray(learned.multiply(asked).sum(axis=0)).ravel() @ scale)
    best = np.asarray(learned.argmax(axis=0)).ravel()
    outputs = np.flatnonzero(known)
    named = float(np.asarray(asked.tocsr()[best[outputs], outputs]).sum())
    blind = np.asarray(asked[:, ~known].sum(axis=1)).ravel()
    drawn += float(prior @ blind)
    named += float(blind[prior.argmax()])
    return round(1.0 - drawn, 12), round(1.0 - named, 12)  # sums are off by less


def measure_crossed_errors(first: Any, second: Any) -> tuple[float, float]:
    """Average the errors of an adversary who learned from each half on the other."""
    pairs = (
        measure_held_out_errors(first, second),
        measure_held_out_errors(second, first),
    )
    inference, bayes = (float(np.mean(each)) for each in zip(*pairs, strict=True))
    return inference, bayes
