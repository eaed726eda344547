"""Confidence bounds, against scipy and against their promise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from mondegreen.errors import InvalidParameterError
from mondegreen.scores.interval import lower_bound, upper_bound


@pytest.mark.parametrize("alpha", [0.3, 0.05, 1e-3, 1e-9])
@pytest.mark.parametrize(
    ("hits", "runs"),
    [
        *((0, 1), (1, 1), (1, 10), (5, 10), (9, 10), (3, 1000), (997, 1000)),
        *((1, 10**6), (500_000, 10**6), (999_999, 10**6), (0, 10**6), (10**6, 10**6)),
    ],
)
def test_bounds_are_the_quantiles_of_scipy(hits, runs, alpha):
    low = stats.beta.ppf(alpha, hits, runs - hits + 1) if hits else 0.0
    high = stats.beta.isf(alpha, hits + 1, runs - hits) if hits < runs else 1.0
    assert lower_bound(hits, runs, alpha) == pytest.approx(low, rel=1e-7)
    assert upper_bound(hits, runs, alpha) == pytest.approx(high, rel=1e-7)
    assert 1 - upper_bound(hits, runs, alpha) == pytest.approx(1 - high, rel=1e-5)


@pytest.mark.parametrize("alpha", [0.3, 0.025, 1e-6, 1e-9])
@pytest.mark.parametrize("runs", [2, 7, 64, 300])
@pytest.mark.slow("fractions of hundreds of digits")
def test_bounds_are_on_the_safe_side_of_exact_arithmetic(runs, alpha):
    def at_least(hits, p):
        p = Fraction(p)
        return sum(
            math.comb(runs, k) * p**k * (1 - p) ** (runs - k)
            for k in range(hits, runs + 1)
        )

    for hits in {1, 2, runs // 3, runs // 2, runs - 1} - {0, runs}:
        low, high = lower_bound(hits, runs, alpha), upper_bound(hits, runs, alpha)
        assert (1 - 1e-3) * alpha < at_least(hits, low) <= Fraction(alpha)
        assert (1 - 1e-3) * alpha < 1 - at_least(hits + 1, high) <= Fraction(alpha)


@pytest.mark.parametrize("p", [0.001, 0.03, 0.5, 0.9])
@pytest.mark.parametrize("runs", [20, 300])
def test_bounds_miss_the_truth_at_most_as_often_as_they_say(p, runs):
    # Exactly, over all counts: no simulation, no tolerance.
    alpha = 0.05
    law = stats.binom(runs, p).pmf(np.arange(runs + 1))
    hits = range(runs + 1)
    missed_low = sum(law[k] for k in hits if lower_bound(k, runs, alpha) > p)
    missed_high = sum(law[k] for k in hits if upper_bound(k, runs, alpha) < p)
    assert missed_low <= alpha
    assert missed_high <= alpha


@pytest.mark.parametrize(("hits", "runs"), [(-1, 5), (6, 5), (0, 0)])
def test_impossible_counts_are_refused(hits, runs):
    with pytest.raises(InvalidParameterError, match="hits"):
        lower_bound(hits, runs, 0.05)
    with pytest.raises(InvalidParameterError, match="alpha"):
        upper_bound(1, 5, 0.0)
