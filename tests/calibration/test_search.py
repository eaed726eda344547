"""The search: what it returns was measured there and keeps its targets."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mondegreen.calibration.score_bounds import ScoreBounds
from mondegreen.calibration.search import calibrate, round_epsilon
from mondegreen.calibration.targets import Target, parse_target
from mondegreen.errors import InvalidParameterError, UnknownNameError


def record(epsilon, is_exact=True, **scores):
    ends = {
        name: value if isinstance(value, tuple) else (value, value)
        for name, value in scores.items()
    }
    zeros = (0.0,) * 101
    return ScoreBounds("m", {}, epsilon, "metric", is_exact, ends, zeros, None, ())


def closed(function, name="n_w_95"):
    """Return what measures a score that is a known function of epsilon."""

    def measure(epsilon, attempt):
        return record(epsilon, **{name: function(epsilon)})

    return measure


def logistic(centre, slope=4.0):
    return lambda e: 1 / (1 + (centre / e) ** slope)


@pytest.mark.slow("many searches")
@given(
    st.floats(0.05, 500), st.floats(0.02, 0.98), st.floats(0.5, 12), st.floats(0.1, 10)
)
def test_the_largest_epsilon_is_found_to_the_tolerance(centre, value, slope, off):
    law = logistic(centre, slope)
    found = calibrate(closed(law), [Target("n_w", value)], start=centre * off)
    truth = centre * (value / (1 - value)) ** (1 / slope)
    if found.chosen is None or not found.is_binding:
        assert not 1 / 200 < truth / (centre * off) < 200
        return
    assert law(found.chosen.epsilon) <= value
    assert 0.98 * truth < found.chosen.epsilon <= truth


@given(st.floats(0.1, 50), st.floats(0.05, 0.9))
def test_a_budget_of_utility_gives_the_smallest_epsilon(centre, value):
    law = logistic(centre)
    measure = closed(lambda e: 1 - law(e), "utility_loss_share_sample")
    found = calibrate(measure, [Target("utility_loss", value)], start=centre)
    truth = centre * ((1 - value) / value) ** 0.25
    assert truth <= found.chosen.epsilon < 1.02 * truth
    assert found.chosen.scores["utility_loss_share_sample"][1] <= value


def test_what_is_returned_was_measured_there():
    seen = []

    def measure(epsilon, attempt):
        found = record(epsilon, n_w_95=logistic(3.0)(epsilon))
        seen.extend([] if attempt.is_rough else [found])
        return found

    found = calibrate(measure, [Target("n_w", 0.4)], start=1.0)
    assert any(found.chosen is each for each in seen)


@pytest.mark.parametrize("value", [0.3, 0.5, 0.7])
def test_steps_that_are_not_monotone_do_not_fool_it(value):
    def law(e):  # falls back at every whole epsilon, as a rate from a grid does
        return logistic(5.0)(e) + 0.05 * (math.ceil(e * 3) / 3 - e)

    found = calibrate(closed(law), [Target("n_w", value)], start=2.0)
    assert law(found.chosen.epsilon) <= value


@pytest.mark.parametrize("seed", range(40))
def test_a_noisy_estimate_does_not_pass_by_luck(seed):
    """The best of many estimates looks better than the truth: here 0.52 at least.

    A search that believed what it looked at, or drew until an estimate passed, would
    return an epsilon in nearly every run. Each of 40 runs may err with probability
    0.05: more than 9 do so with probability 1e-5.
    """
    rng = np.random.default_rng(seed)

    def measure(epsilon, attempt):
        spread = 0.05 if attempt.is_rough else 0.02
        estimate = 0.52 + spread * rng.standard_normal()
        half = spread * abs(_quantile((1 - attempt.confidence) / 2))
        ends = estimate - half, estimate + half
        return record(epsilon, is_exact=False, n_w_95=ends)

    found = calibrate(measure, [Target("n_w", 0.5)], start=1.0)
    passes.append(found.chosen is not None)
    if len(passes) == 40:
        assert sum(passes) <= 9


passes: list[bool] = []


def _quantile(alpha):
    """Return the quantile of the normal law, by bisection."""
    low, high = -40.0, 0.0
    for _ in range(200):
        middle = (low + high) / 2
        if math.erfc(-middle / math.sqrt(2)) / 2 < alpha:
            low = middle
        else:
            high = middle
    return low


def test_attempts_share_the_chance_of_error():
    confidences = []

    def measure(epsilon, attempt):
        if not attempt.is_rough:
            confidences.append(attempt.confidence)
        likely = 0.4 if attempt.is_rough else 0.9
        return record(epsilon, is_exact=False, n_w_95=likely)

    found = calibrate(measure, [Target("n_w", 0.5), Target("n_w", 0.6)], start=1.0)
    assert found.chosen is None
    # one end of two intervals in each attempt
    assert sum(2 * (1 - each) / 2 for each in confidences) <= 0.05
    assert len(confidences) > 5


def test_each_attempt_draws_anew():
    numbers = []

    def measure(epsilon, attempt):
        if not attempt.is_rough:
            numbers.append(attempt.number)
        value = 0.4 if attempt.is_rough else 0.9
        return record(epsilon, is_exact=False, n_w_95=value)

    calibrate(measure, [Target("n_w", 0.5)], start=1.0)
    assert 0 not in numbers
    assert len(set(numbers)) == len(numbers)


def test_the_wrong_end_of_an_interval_decides():
    def measure(epsilon, attempt):
        ends = (0.7 - 0.1 * epsilon, 0.7 - 0.02 * epsilon)
        return record(epsilon, False, bayes_risk_sample=ends)

    found = calibrate(measure, [Target("bayes_risk", 0.6)], start=4.0)
    assert found.chosen.epsilon <= 1.0


def test_all_targets_must_hold():
    def measure(epsilon, attempt):
        stay = logistic(3.0)(epsilon)
        return record(epsilon, n_w_95=stay, certified_epsilon=epsilon)

    both = [Target("n_w", 0.5), Target("certified_epsilon", 1.5)]
    assert calibrate(measure, both, start=3.0).chosen.epsilon == pytest.approx(1.5)
    both = [Target("n_w", 0.5), Target("certified_epsilon", 7.0)]
    assert 2.9 < calibrate(measure, both, start=3.0).chosen.epsilon <= 3.0


def test_a_budget_that_breaks_a_promise_is_refused():
    def measure(epsilon, attempt):
        stay, loss = logistic(3.0)(epsilon), 1 / (1 + epsilon)
        return record(epsilon, n_w_95=stay, utility_loss_share_sample=loss)

    both = [Target("n_w", 0.5), Target("utility_loss", 0.1)]
    found = calibrate(measure, both, start=3.0)
    assert found.chosen is None
    assert found.problem.startswith("utility_loss=0.1 needs epsilon ")
    assert found.problem.endswith("Your target is at most 0.5")
    easy = [Target("n_w", 0.5), Target("utility_loss", 0.4)]
    assert 1.5 <= calibrate(measure, easy, start=3.0).chosen.epsilon < 1.53


def test_a_target_out_of_reach_names_the_best():
    found = calibrate(
        closed(lambda e: 0.6 + 0.1 * e / (1 + e)), [Target("n_w", 0.5)], 1.0
    )
    assert found.chosen is None
    assert (
        "the lowest value of n_w_95 that the search can show is 0.60" in found.problem
    )
    assert found.problem.endswith("Your target is at most 0.5")


def test_a_floor_of_the_loss_ends_the_doubling():
    measure = closed(lambda e: 0.3 + 0.5 / (1 + e), "utility_loss_share_sample")
    found = calibrate(measure, [Target("utility_loss", 0.2)], start=1.0)
    assert found.chosen is None
    assert len(found.tried) < 20


def test_a_target_that_always_holds_is_said_not_to_bind():
    found = calibrate(closed(lambda e: 0.2), [Target("n_w", 0.5)], start=1.0)
    assert found.chosen is not None
    assert not found.is_binding


def test_a_mechanism_without_settings_is_a_problem_and_no_error():
    found = calibrate(
        lambda epsilon, attempt: None,
        [Target("certified_epsilon", 2.0)],
        start=1.0,
    )
    assert (found.chosen, found.tried) == (None, [])
    assert "no setting" in found.problem


@given(st.floats(1e-6, 1e6))
def test_rounding_takes_the_side_it_is_told(epsilon):
    low, high = round_epsilon(epsilon, up=False), round_epsilon(epsilon, up=True)
    assert low <= epsilon * (1 + 1e-8)
    assert high >= epsilon * (1 - 1e-8)
    assert high - low <= 1.1e-3 * epsilon


@pytest.mark.parametrize(
    ("key", "over", "score"),
    [
        ("n_w", "worst", "n_w_max"),
        ("n_w", "P99", "n_w_99"),
        ("n_w", "mean", "n_w_mean"),
        ("s_w", "worst", "s_w_min"),
        ("s_w", "P99", "s_w_01"),
        ("s_w", "P95", "s_w_05"),
        ("s_w", "mean", "s_w_mean"),
        ("bayes_risk", "P95", "bayes_risk_uniform"),
        ("utility_loss", "P95", "utility_loss_share_uniform"),
        ("certified_epsilon", "P95", "certified_epsilon"),
    ],
)
def test_a_target_names_its_score(key, over, score):
    value = 1.0 if key == "s_w" else 0.5
    assert Target(key, value, over, "uniform").score == score


@pytest.mark.parametrize(
    "text",
    (
        "n_w n_w= n_w=x n_w=0 n_w=1.5 s_w=0.5 bayes_risk=-1 certified_epsilon=nan "
        "certified_epsilon=inf utility_loss=2"
    ).split(),
)
def test_a_target_that_makes_no_sense_is_refused(text):
    with pytest.raises(InvalidParameterError):
        parse_target(text)


def test_an_unknown_target_lists_what_there_is():
    with pytest.raises(UnknownNameError, match="n_w"):
        parse_target("nw=0.5")


def test_a_score_that_is_not_known_holds_no_target():
    assert not Target("n_w", 1.0).holds(record(1.0))
    assert not Target("n_w", 1.0).holds(record(1.0, n_w_95=(0.1, math.nan)))
