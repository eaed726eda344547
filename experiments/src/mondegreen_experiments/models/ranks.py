"""How high right answers rank: MAP and MRR, and what chance gives."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import label_ranking_average_precision_score

from mondegreen.arrays import Floats


def average_precision(scores: Floats, is_right: NDArray[np.bool_]) -> float:
    r"""Mean average precision (MAP) of lists, in (0, 1]; larger is better.

    .. math:: \frac{1}{r} \sum_{i=1}^{r} \frac{i}{k_i}

    of each list, its r right candidates being at the ranks :math:`k_1 < k_2 < \dots`
    by descending score; then the mean over lists. Of equal scores wrong candidates
    come first. Both arrays are (lists, candidates); each list has a right one.

    >>> average_precision(np.array([[0.9, 0.8, 0.1]]), np.array([[True, False, True]]))
    0.833...
    """
    return float(label_ranking_average_precision_score(is_right, scores))


def reciprocal_rank(scores: Floats, is_right: NDArray[np.bool_]) -> float:
    r"""Mean of :math:`1 / k_1` over lists (MRR), in (0, 1]; larger is better.

    :math:`k_1` is the rank of the best right candidate; of equal scores wrong ones
    come first.

    >>> reciprocal_rank(np.array([[0.9, 0.8, 0.1]]), np.array([[False, False, True]]))
    0.333...
    """
    best = np.where(is_right, scores, -np.inf).max(axis=1, keepdims=True)
    before = ((scores >= best) & ~is_right).sum(axis=1)
    return float((1 / (1 + before)).mean())


def chance_precision(right: int, wrong: int) -> float:
    r"""Average precision that random scores have in the mean.

    .. math:: \frac{1}{n} \left( H_n + \frac{(r - 1)(n - H_n)}{n - 1} \right)

    for r of n candidates, :math:`H_n` being the sum of 1 / k up to n.

    >>> round(chance_precision(1, 3), 4)  # (1 + 1/2 + 1/3 + 1/4) / 4
    0.5208
    """
    count = right + wrong
    harmonic = math.fsum(1 / k for k in range(1, count + 1))
    if count == 1:
        return 1.0
    return (harmonic + (right - 1) * (count - harmonic) / (count - 1)) / count


def chance_rank(right: int, wrong: int) -> float:
    r"""Reciprocal rank that random scores have in the mean.

    .. math:: \sum_k \frac{1}{k} \binom{n - k}{r - 1} / \binom{n}{r}

    >>> round(chance_rank(1, 3), 4), round(chance_rank(5, 95), 4)
    (0.5208, 0.1617)
    """
    count = right + wrong
    ways = math.comb(count, right)
    return math.fsum(
        math.comb(count - k, right - 1) / (k * ways) for k in range(1, wrong + 2)
    )
