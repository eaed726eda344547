"""Confidence intervals: closed forms, and coverage of what they promise."""

import math

import numpy as np
import pytest

from mondegreen.errors import InvalidParameterError
from mondegreen.scores.interval import Interval, bound_mean, deviation, proportion


def test_a_proportion_without_hits_has_its_closed_form():
    found = proportion(0, 50, 0.9)
    assert (found.estimate, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(1 - 0.05 ** (1 / 50))


def test_bounded_means_follow_their_formula():
    values = np.array([0.0, 1.0] * 50)
    found = bound_mean(values, 0.0, 2.0, 0.9)
    log = math.log(4 / 0.1)
    half = math.sqrt(2 * values.var(ddof=1) * log / 100) + 7 * 2 * log / (3 * 99)
    assert found.low == pytest.approx(max(0.0, 0.5 - half))
    assert found.high == pytest.approx(min(2.0, 0.5 + half))


def test_deviation_is_that_of_hoeffding_for_shares():
    # P(share - p >= t) <= exp(-2 n t^2), at t for alpha
    n, alpha = 200, 0.01
    t = deviation(1 / n, n, alpha)
    assert math.exp(-2 * n * t**2) == pytest.approx(alpha)


@pytest.mark.parametrize("p", [0.002, 0.1, 0.5, 0.97])
def test_proportions_cover_at_least_as_often_as_they_say(p):
    """False alarm below 1e-6: 400 experiments at 90 % miss at most 75 times."""
    rng = np.random.default_rng(0)
    hits = rng.binomial(60, p, size=400)
    missed = sum(
        not f.low <= p <= f.high for f in (proportion(h, 60, 0.9) for h in hits)
    )
    assert missed <= 75


def test_bounded_means_cover_at_least_as_often_as_they_say():
    rng = np.random.default_rng(0)
    missed = 0
    for _ in range(400):
        found = bound_mean(rng.beta(0.2, 2.0, size=80), 0.0, 1.0, 0.9)
        missed += not found.low <= 0.2 / 2.2 <= found.high
    assert missed <= 75


def test_an_interval_has_ends():
    found = Interval(0.25, 0.2, 0.4, 0.95)
    assert found.ends == (0.2, 0.4)


def test_nonsense_is_refused():
    with pytest.raises(InvalidParameterError):
        proportion(1, 2, 1.0)
    with pytest.raises(InvalidParameterError):
        bound_mean([0.5], 0.0, 1.0)
