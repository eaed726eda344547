r"""Plausible deniability of a word: what a known law says of its outputs.

Every function takes the probabilities :math:`P(y \mid w)` of all outputs, float64 of
shape (T, V), one row for each input. Feyisetan et al., "Privacy- and Utility-Preserving
Textual Analysis via Calibrated Multivariate Perturbations", WSDM 2020, Section 4.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from mondegreen.arrays import Floats, Weights
from mondegreen.errors import InvalidParameterError

ORDERS: Final = (0.0, 1.0, 2.0, math.inf)  # of the entropies that are reported

# Relative: the float64 error of a sum must not make a set one word larger.
_SLACK: Final = 1e-12


def effective_support(law: Floats, eta: float = 0.05) -> Weights:
    r"""Count the smallest set of outputs that holds most of the probability.

    .. math:: S_w = \min \{ |S| : \sum_{y \in S} P(y \mid w) \ge 1 - \eta \}

    Larger is more private. Always state :math:`\eta`: :math:`S_w` means nothing without
    it. The experiments of the paper, and of later ones, count the different outputs of
    R runs instead, which is another number, censored at R. The mass left out may exceed
    :math:`\eta` by one part in :math:`10^{12}`, the error of sums in double precision.

    >>> law = np.array([[0.5, 0.3, 0.15, 0.05], [0.97, 0.01, 0.01, 0.01]])
    >>> effective_support(law, eta=0.05).tolist()
    [3, 1]
    """
    check_eta(eta)
    # From the small end: the sums stay small, and so does their error.
    left_out = np.cumsum(np.sort(law, axis=1), axis=1)
    allowed = eta * left_out[:, -1:] * (1 + _SLACK)
    dropped = (left_out[:, :-1] <= allowed).sum(axis=1)
    return np.asarray(law.shape[1] - dropped, dtype=np.int64)


def compute_expected_distinct(law: Floats, runs: int) -> Floats:
    r"""Count the different outputs of R independent runs, on average: from 1 to R.

    .. math:: \sum_y 1 - (1 - P(y \mid w))^R

    This is what experiments call :math:`S_w`, without running them. It is censored at R
    and grows with R, so it is another number than :func:`effective_support`.

    >>> compute_expected_distinct(np.array([[0.5, 0.5], [1.0, 0.0]]), runs=2).tolist()
    [1.5, 1.0]
    """
    if runs < 1:
        raise InvalidParameterError("runs", runs, "at least 1")
    with np.errstate(divide="ignore"):  # an output that is certain is never missed
        missed = np.log1p(-np.minimum(law, 1.0))
    return np.asarray(-np.expm1(runs * missed).sum(axis=1))


def renyi_entropy(law: Floats, order: float) -> Floats:
    r"""Compute the Rényi entropy of each row, in nats: 0 to ln V, falling with order.

    .. math::

        H_a = \frac{\ln \sum_y P(y)^a}{1 - a}, \quad
        H_0 = \ln |\{y : P(y) > 0\}|, \quad
        H_1 = -\sum_y P(y) \ln P(y), \quad
        H_\infty = -\ln \max_y P(y)

    Larger is more private. :math:`H_0` is :math:`\ln V` where no word is impossible;
    :math:`H_\infty` is the worst case.

    >>> renyi_entropy(np.array([[0.5, 0.5, 0.0]]), 2.0).round(3)
    array([0.693])
    """
    if not order >= 0:
        raise InvalidParameterError("order", order, "in [0, inf]")
    if order == 0:
        return np.asarray(np.log((law > 0).sum(axis=1)))
    if order == math.inf:
        return np.asarray(-np.log(law.max(axis=1)))
    if order == 1:
        logs = np.log(law, out=np.zeros_like(law), where=law > 0)
        # The sum is at least 0; -0.0 reads as an error
        return np.asarray(np.maximum(-(law * logs).sum(axis=1), 0.0))
    # Scaled by the largest, so that no power underflows.
    largest = law.max(axis=1, keepdims=True)
    powers = ((law / largest) ** order).sum(axis=1)
    sums: Floats = np.log(powers) + order * np.log(largest[:, 0])
    return np.asarray(sums / (1 - order))


def compute_expected_rank(law: Floats, distances: Floats) -> Floats:
    r"""Count the words that are closer to the input than the output, on average.

    .. math:: \sum_y P(y \mid w)\, |\{v : d(w, v) < d(w, y)\}|

    Larger is more private and less useful. Of words at one distance that with the
    lower id counts as closer, so that all ranks are different.

    >>> distances = np.array([[0.0, 3.0, 1.0]])
    >>> compute_expected_rank(np.array([[0.5, 0.25, 0.25]]), distances)
    array([0.75])
    """
    order = np.argsort(distances, axis=1, kind="stable")
    places = np.arange(law.shape[1], dtype=np.float64)
    return np.asarray(np.take_along_axis(law, order, axis=1) @ places)


def check_eta(eta: float) -> None:
    """Refuse a mass to leave out that is not in [0, 1)."""
    if not 0 <= eta < 1:
        raise InvalidParameterError("eta", eta, "in [0, 1)")
