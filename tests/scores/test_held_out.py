"""Errors of adversaries who learn a law from runs, against the law itself."""

import numpy as np
import pytest

from mondegreen.errors import InvalidParameterError
from mondegreen.scores.held_out import (
    measure_crossed_errors,
    measure_held_out_errors,
    table_of_runs,
)
from mondegreen.scores.risk import bayes_risk, inference_error

LAW = np.array([[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.0, 0.25, 0.75]])
PRIOR = np.array([0.5, 0.3, 0.2])


def sampled(rng, runs, prior=PRIOR, law=LAW):
    inputs = rng.choice(3, runs, p=prior)
    chance = rng.random(runs)[:, None]
    outputs = (chance > np.cumsum(law, axis=1)[inputs]).sum(axis=1)
    return table_of_runs(inputs, outputs, np.ones(runs), 3)


def exact(prior=PRIOR, law=LAW):
    inputs, outputs = np.indices(law.shape)
    joint = (prior[:, None] * law).ravel()
    return table_of_runs(inputs.ravel(), outputs.ravel(), joint, 3)


def test_of_the_law_itself_they_are_the_errors_of_the_law():
    found = measure_held_out_errors(exact(), exact())
    assert found == pytest.approx(
        (inference_error(LAW, PRIOR), bayes_risk(LAW, PRIOR)), rel=1e-9
    )


@pytest.mark.slow("many runs")
def test_few_runs_give_the_inference_error_without_bias_and_never_flatter():
    rng = np.random.default_rng(0)
    found = np.array(
        [measure_crossed_errors(sampled(rng, 60), sampled(rng, 60)) for _ in range(225)]
    )
    spread = found.std(axis=0) / 15
    error, bayes = found.mean(axis=0)
    assert abs(error - inference_error(LAW, PRIOR)) < 4 * spread[0]
    assert bayes > bayes_risk(LAW, PRIOR) - 4 * spread[1]


def test_runs_that_taught_the_adversary_flatter_him():
    rng = np.random.default_rng(1)
    own = np.mean(
        [measure_held_out_errors(*(sampled(rng, 12),) * 2)[0] for _ in range(300)]
    )
    assert own < inference_error(LAW, PRIOR) - 0.02


def test_an_output_that_was_never_seen_leaves_the_prior():
    learned = table_of_runs(np.array([0, 0, 1]), np.array([0, 0, 0]), np.ones(3), 3)
    asked = table_of_runs(np.array([0, 1]), np.array([2, 2]), np.ones(2), 3)
    error, bayes = measure_held_out_errors(learned, asked)
    assert error == pytest.approx(0.5)  # drawn from two thirds and one third
    assert bayes == pytest.approx(0.5)  # always says the first


def test_without_noise_nothing_is_missed_and_with_one_output_all_but_the_guess():
    every = np.arange(3)
    clear = table_of_runs(every, every, np.ones(3), 3)
    assert measure_held_out_errors(clear, clear) == (0, 0)
    lost = table_of_runs(every, np.zeros(3, int), np.ones(3), 3)
    assert measure_held_out_errors(lost, lost) == pytest.approx((2 / 3, 2 / 3))


def test_weights_are_shares_of_their_sum_and_cannot_all_be_zero():
    table = table_of_runs(np.array([0, 1]), np.array([1, 1]), np.array([1.0, 3.0]), 2)
    assert table.toarray().tolist() == [[0, 0.25], [0, 0.75]]
    with pytest.raises(InvalidParameterError):
        table_of_runs(np.array([0]), np.array([0]), np.zeros(1), 1)
