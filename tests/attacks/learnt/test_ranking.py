"""The area under the curve, its interval, and what is found at few false alarms."""

import numpy as np
import pytest

from mondegreen.attacks.learnt.ranking import Ranking
from mondegreen.errors import InvalidParameterError


def test_the_area_is_the_share_of_pairs_in_order():
    rng = np.random.default_rng(0)
    members, others = rng.integers(0, 9, 50) / 3, rng.integers(0, 7, 70) / 3
    pairs = members[:, None] - others
    wanted = (pairs > 0).mean() + (pairs == 0).mean() / 2
    assert Ranking.of(members, others).auc == pytest.approx(wanted)


def test_the_interval_holds_the_truth_nineteen_times_in_twenty():
    rng = np.random.default_rng(1)
    truth, runs = 0.76025, 1000  # P(N(1, 1) > N(0, 1)) = Phi(1 / sqrt 2)
    inside = 0
    for _ in range(runs):
        found = Ranking.of(rng.normal(1, 1, 60), rng.normal(0, 1, 80))
        inside += found.low <= truth <= found.high
    assert 0.925 <= inside / runs <= 0.985


@pytest.mark.parametrize("shift", [0.0, 5.0])
def test_no_more_others_than_allowed_are_accused(shift):
    rng = np.random.default_rng(2)
    members, others = rng.normal(shift, 1, 4000), rng.normal(0, 1, 5000)
    found = Ranking.of(members, others).found
    assert set(found) == {0.001, 0.01, 0.1}
    for share, (value, low, high) in found.items():
        threshold = np.sort(others)[len(others) - int(share * len(others)) - 1]
        assert (others > threshold).mean() <= share
        assert value == (members > threshold).mean()
        assert low <= value <= high
        if not shift:
            assert low <= share <= high * 1.5  # chance level
        else:
            assert value > 0.9


def test_a_share_of_less_than_one_text_is_left_out():
    found = Ranking.of(np.arange(5.0), np.arange(99.0)).found
    assert set(found) == {0.1}


def test_ties_tell_nothing():
    found = Ranking.of(np.ones(30), np.ones(40))
    assert found.auc == 0.5
    assert found.low < 0.5 < found.high


def test_scores_of_nobody_are_refused():
    with pytest.raises(InvalidParameterError):
        Ranking.of(np.ones(3), np.ones(0))
