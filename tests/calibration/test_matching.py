"""Matching: as private as a reference, in the sense that is named."""

from dataclasses import replace

import numpy as np
import pytest

import mondegreen as mg
from mondegreen.calibration.evaluate import Evaluator, Setting
from mondegreen.calibration.plan import Plan
from mondegreen.calibration.score_bounds import ScoreBounds
from mondegreen.calibration.targets import MATCHES, match_target
from mondegreen.errors import ConfigurationError, UnknownNameError
from mondegreen.scores.risk import uniform_prior
from mondegreen.space.binarize import with_codes

ZEROS = (0.0,) * 101


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("MONDEGREEN_HOME", str(tmp_path))


@pytest.fixture(scope="module")
def evaluator():
    vectors = np.random.default_rng(0).normal(size=(120, 3))
    space = mg.Space.from_arrays("cloud", [f"w{i}" for i in range(120)], vectors)
    return Evaluator(space, {"sample": uniform_prior(120)}, quick=True)


def reference(**scores):
    return ScoreBounds("laplace", {}, 8.0, "d", False, scores, ZEROS, None, ())


def matched(evaluator, by, to="exponential", epsilon=4.0, name="calibrated"):
    plan = Plan(evaluator, [Setting(name)], [])
    plan.match(by, Setting(to), epsilon, "P95", plan.evaluator)
    (row,) = plan.rows()
    return plan.reference, row.chosen


@pytest.mark.slow("other axes", but="n_w")
@pytest.mark.parametrize("by", ["certified_epsilon", "bayes_risk", "n_w"])
def test_two_names_of_one_law_meet(evaluator, by):
    """Laws alike but for their names: matching must find the same rate."""
    first, second = matched(evaluator, by)
    rates = [
        mg.mechanism(each.mechanism, epsilon=each.epsilon)
        .prepare(evaluator.space)
        .law.rate
        for each in (first, second)
    ]
    # the rate of calibrated comes from a grid in steps of epsilon / 288
    assert 0.98 * rates[0] < rates[1] <= rates[0] * (1 + 1e-3)


# What a reader recovers is not measured without one.
@pytest.mark.parametrize("by", sorted(MATCHES.keys() - {"reader"}))
def test_a_match_is_no_less_private_than_its_reference(evaluator, by):
    first, second = matched(evaluator, by, "exponential", 4.0, "tem")
    score = match_target(first, by).score
    low, high = first.scores[score]
    if by == "bayes_risk":
        assert second.scores[score][0] >= high
    else:
        assert second.scores[score][1] <= low


def test_the_privacy_ratio_gives_the_epsilon_of_the_paper(evaluator):
    """Means over all pairs, equal words among them: the ratio is the same."""
    _, second = matched(evaluator, "privacy_ratio", "laplace", 6.0, "mahalanobis")
    space = evaluator.space
    scale = mg.mechanism("mahalanobis", epsilon=1.0).prepare(space).guarantee.scale
    x = space.vectors.astype(float)
    euclidean = np.linalg.norm(x[:, None] - x[None], axis=2).mean()
    mahalanobis = scale["mean"] * (len(x) - 1) / len(x)
    epsilon = 6.0 * euclidean / mahalanobis
    assert second.epsilon == pytest.approx(epsilon, rel=0.01)
    assert second.epsilon <= epsilon * (1 + 1e-6)


def test_a_match_of_worst_losses_makes_the_upper_bounds_equal(evaluator):
    coded = with_codes(evaluator.space, bits=64)
    there = replace(evaluator, space=coded)
    first, second = matched(there, "worst_loss", "laplace", 6.0, "brr")
    bound = second.epsilon * coded.codes.geometry.diameter
    assert bound <= 6.0 * coded.geometry.diameter
    assert bound == pytest.approx(6.0 * coded.geometry.diameter, rel=0.05)
    assert first.scores["worst_loss"][1] >= second.scores["worst_loss"][1]


@pytest.mark.parametrize(
    ("by", "ends", "value"),
    [
        ("n_w", {"n_w_95": (0.3, 0.5)}, 0.3),
        ("bayes_risk", {"bayes_risk_sample": (0.4, 0.7)}, 0.7),
        ("certified_epsilon", {"certified_epsilon": (2.0, 2.0)}, 2.0),
    ],
)
def test_an_interval_is_matched_at_its_private_end(by, ends, value):
    assert match_target(reference(**ends), by).value == value


def test_what_is_not_known_cannot_be_matched():
    with pytest.raises(ConfigurationError, match="not known"):
        match_target(reference(), "certified_epsilon")
    with pytest.raises(ConfigurationError, match="larger epsilon"):
        match_target(reference(n_w_95=(0.0, 0.1)), "n_w")
    with pytest.raises(UnknownNameError):
        match_target(reference(), "epsilon")


def test_every_match_says_what_it_is():
    assert "no equal privacy" in MATCHES["privacy_ratio"]
    assert "one metric only" in MATCHES["certified_epsilon"]
