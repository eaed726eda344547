"""Bounds of percentiles over words, against laws whose percentiles are known."""

import numpy as np
import pytest

from mondegreen.calibration.monte_carlo import bound_by_runs, undercut_by_bounds
from mondegreen.calibration.subsample import bound_exceeding

EXPERIMENTS = 150
ALPHA = 0.05
MISSES = 20
"""More misses of 150 at a share of 5 % have a chance below 1e-4."""


@pytest.mark.parametrize("share", [0.05, 0.25, 0.5])
def test_bounds_of_a_percentile_cover_it(share):
    rng = np.random.default_rng(1)
    low = high = 0
    for _ in range(EXPERIMENTS):
        ends = bound_exceeding(rng.random(200), share, ALPHA)
        low += ends[0] > 1 - share
        high += ends[1] < 1 - share
    assert 0 < low <= MISSES
    assert 0 < high <= MISSES


def test_a_law_with_steps_is_covered_too():
    rng = np.random.default_rng(2)
    for _ in range(100):
        low, high = bound_exceeding((rng.random(100) < 0.5).astype(float), 0.25, 1e-6)
        assert low <= 1.0 <= high


def test_few_words_say_nothing_of_a_far_percentile():
    low, high = bound_exceeding(np.arange(20.0), 0.05, 0.025)
    assert high == np.inf
    assert 0 <= low < 20


@pytest.mark.parametrize("share", [0.05, 0.25])
def test_runs_bound_the_percentile_of_the_chance(share):
    rng = np.random.default_rng(3)
    runs, truth = 20, 1 - share  # the chances of words are uniform
    low = high = 0
    for _ in range(EXPERIMENTS):
        chances = rng.random(300)
        hits = rng.binomial(runs, chances)
        ends = bound_by_runs(hits, runs, share, ALPHA)
        assert 0 <= ends[0] <= ends[1] <= 1
        low += ends[0] > truth
        high += ends[1] < truth
    assert low <= MISSES
    assert high <= MISSES


def test_runs_tell_more_the_more_there_are():
    rng = np.random.default_rng(4)
    widths = []
    for runs in (10, 100, 1000):
        hits = rng.binomial(runs, 0.5, size=1000)
        low, high = bound_by_runs(hits, runs, 0.05, 0.025)
        assert low <= 0.5 <= high
        widths.append(high - low)
    assert widths[0] > 2 * widths[1] > 4 * widths[2]


def test_wrong_bounds_are_paid_for():
    rng = np.random.default_rng(5)
    missed = 0
    for _ in range(EXPERIMENTS):
        values = rng.random(400)  # the score of a word: 5 % undercut 0.05
        wrong = rng.random(400) < 0.005
        bounds = np.where(wrong, 1.0, values * 0.999)
        missed += undercut_by_bounds(bounds, 0.05, 0.005, ALPHA) > 0.05
    assert missed <= MISSES
