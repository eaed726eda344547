"""Estimates from runs against the exact scores of the same law."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exact_scores
import mondegreen as mg
from mondegreen.calibration.monte_carlo import prior_scores, sample_outputs
from mondegreen.errors import InvalidParameterError, LawUnknownError
from mondegreen.scores import deniability, risk
from mondegreen.scores.deniability import ORDERS
from mondegreen.scores.risk import frequency_prior, uniform_prior
from mondegreen.scores.word import score_word
from mondegreen.space.metric import distances

COUNT = 25
EXPERIMENTS = 120
MISSES = 34
"""A share of 10 % gives more misses of 120 with a chance below 1e-6."""


@pytest.fixture(scope="module")
def space():
    vectors = np.random.default_rng(0).normal(size=(COUNT, 3))
    return mg.Space.from_arrays("cloud", [f"w{i}" for i in range(COUNT)], vectors)


def table(state):
    ids = np.arange(COUNT + 1, dtype=np.int32)
    return np.exp(state.log_prob(ids))


def no_closed_form(state, ids):
    raise LawUnknownError("exponential")


def inside(bounds, value):
    low, high = getattr(bounds, "ends", bounds)
    return low - 1e-12 <= value <= high + 1e-12


@pytest.mark.parametrize("epsilon", [0.5, 4.0, 12.0])
def test_intervals_of_a_word_cover_its_exact_scores(space, epsilon, monkeypatch):
    state = mg.mechanism("exponential", epsilon=epsilon).prepare(space)
    law = table(state)[3:4]
    monkeypatch.setattr(type(state), "log_prob", no_closed_form)
    ids = np.array([3], dtype=np.int32)
    gaps = distances("euclidean", space.points(ids), space.vectors)
    truth = {
        "stay": float(law[0, 3]),
        "support": float(deniability.effective_support(law, 0.1)[0]),
        "distance": float(exact_scores.expected_distance(law, gaps)[0]),
        "rank": float(deniability.compute_expected_rank(law, gaps)[0]),
    }
    entropies = {
        f"entropy_{order:g}": float(deniability.renyi_entropy(law, order)[0])
        for order in ORDERS
    }
    missed = dict.fromkeys([*truth, *entropies], 0)
    for seed in range(EXPERIMENTS):
        rng = np.random.default_rng(seed)
        found = score_word(state, 3, rng, runs=400, eta=0.1, confidence=0.9)
        assert found.runs == 400
        for name, value in truth.items():
            missed[name] += not inside(getattr(found, name), value)
        for name, value in entropies.items():
            missed[name] += not inside(found.entropies[name], value)
        rng = np.random.default_rng(seed)
        assert found.distinct == len(set(state.sample(np.full(400, 3, np.int32), rng)))
    assert max(missed.values()) <= MISSES, missed


@pytest.mark.parametrize("epsilon", [0.5, 4.0, 12.0])
def test_intervals_of_a_mechanism_cover_its_exact_scores(space, epsilon):
    state = mg.mechanism("exponential", epsilon=epsilon).prepare(space)
    law = table(state)
    prior = frequency_prior(np.arange(COUNT + 1))
    ids = np.arange(COUNT + 1, dtype=np.int32)
    gaps = distances("euclidean", space.points(ids), space.vectors)
    stays = exact_scores.stay_probability(law, ids)
    truth = {
        "n_w": float(prior @ stays),
        "utility_loss": risk.utility_loss(law, prior, gaps),
        "bayes_risk": risk.bayes_risk(law, prior),
        "inference_error": risk.inference_error(law, prior),
    }
    missed = dict.fromkeys(truth, 0)
    for seed in range(EXPERIMENTS):
        rng = np.random.default_rng(seed)
        found = prior_scores(state, prior, 2000, rng, confidence=0.9)
        for name, value in truth.items():
            missed[name] += not inside(found[name], value)
    assert max(missed.values()) <= MISSES, missed


@pytest.mark.slow("an estimate by simulation")
def test_the_collision_estimate_is_unbiased_between_its_bounds(space):
    """The middle of the bounds, without the slack, brackets E_M on average."""
    state = mg.mechanism("exponential", epsilon=3.0).prepare(space)
    law, prior = table(state), uniform_prior(COUNT)
    truth = risk.inference_error(law, prior)
    draws, lows, highs = 60, [], []
    slack = 3 * math.sqrt(math.log(2 / 0.1) / (2 * draws))
    for seed in range(4000):
        rng = np.random.default_rng(seed)
        inputs = rng.integers(0, COUNT, draws)
        outputs = np.array([0])
        running = np.cumsum(law[inputs], axis=1)
        outputs = (running < rng.random((draws, 1))).sum(axis=1)
        low, high = brackets(inputs, outputs)
        lows.append(low)
        highs.append(high)
    error = 5 * np.std(highs) / math.sqrt(len(highs))
    assert np.mean(lows) - error <= truth <= np.mean(highs) + error
    # and not by being wide: what was seen once is a small share
    assert np.mean(highs) - np.mean(lows) < 0.2 < slack


def brackets(inputs, outputs):
    """The formula of the docstring, by loops."""
    agreeing, once = 0.0, 0
    for y in np.unique(outputs):
        mine = inputs[outputs == y]
        once += len(mine) == 1
        if len(mine) > 1:
            pairs = sum(
                int((mine == w).sum()) * (int((mine == w).sum()) - 1) for w in set(mine)
            )
            agreeing += pairs / (len(mine) - 1)
    share = agreeing / len(inputs)
    return 1 - share - once / len(inputs), 1 - share


@given(st.integers(0, 2**32))
def test_one_draw_changes_the_statistics_as_little_as_is_claimed(seed):
    """3 for collisions, with and without what was seen once; 1 for best guesses."""
    rng = np.random.default_rng(seed)
    draws, words = int(rng.integers(2, 12)), int(rng.integers(1, 4))
    inputs, outputs = rng.integers(0, words, (2, draws))
    changed = [inputs.copy(), outputs.copy()]
    place = rng.integers(draws)
    changed[0][place], changed[1][place] = rng.integers(0, words, 2)
    before, after = brackets(inputs, outputs), brackets(*changed)
    for one, other in zip(before, after, strict=True):
        assert abs(one - other) * draws <= 3 + 1e-9
    best = [
        sum(np.bincount(w[y == k]).max(initial=0) for k in range(words))
        for w, y in ((inputs, outputs), changed)
    ]
    assert abs(int(best[0]) - int(best[1])) <= 1


def test_bounds_of_the_inference_error_are_its_formula(space):
    state = mg.mechanism("laplace", epsilon=3.0).prepare(space)
    prior = uniform_prior(COUNT)
    scores = prior_scores(state, prior, 500, np.random.default_rng(7))
    found = scores["inference_error"]
    rng = np.random.default_rng(7)
    places = rng.random(500) * np.cumsum(prior)[-1]
    inputs = np.searchsorted(np.cumsum(prior), places, side="right").astype(np.int32)
    low, high = brackets(inputs, state.sample(inputs, rng))
    slack = 3 * math.sqrt(math.log(2 / 0.05) / (2 * 500))
    assert found[0] == pytest.approx(max(0.0, low - slack))
    assert found[1] == pytest.approx(min(1.0, high + slack))


def test_laplace_on_two_words_matches_its_closed_form():
    """P(flip) = exp(-epsilon d / 2) / 2 on a line."""
    line = mg.Space.from_arrays("ab", ["a", "b"], [[0.0], [1.0]])
    state = mg.mechanism("laplace", epsilon=2.0).prepare(line)
    flip = math.exp(-1.0) / 2
    found = prior_scores(
        state,
        uniform_prior(2),
        40_000,
        np.random.default_rng(0),
        confidence=1 - 1e-6,
    )
    assert inside(found["n_w"], 1 - flip)
    assert inside(found["bayes_risk"], flip)
    assert inside(found["inference_error"], 2 * flip * (1 - flip))
    assert found["bayes_risk"][1] - found["bayes_risk"][0] < 0.1


def test_a_weaker_mechanism_is_told_apart():
    """Intervals that always cover must still be narrow enough to see a difference."""
    line = mg.Space.from_arrays("ab", ["a", "b"], [[0.0], [1.0]])
    stays = [
        prior_scores(
            mg.mechanism("laplace", epsilon=epsilon).prepare(line),
            uniform_prior(2),
            20_000,
            np.random.default_rng(0),
        )
        for epsilon in (1.0, 2.0)
    ]
    assert stays[0]["n_w"][1] < stays[1]["n_w"][0]
    assert stays[0]["bayes_risk"][0] > stays[1]["bayes_risk"][1]


def test_shares_of_each_word_are_estimates_of_n_w(space):
    state = mg.mechanism("exponential", epsilon=4.0).prepare(space)
    words = np.arange(COUNT, dtype=np.int32)
    shares, inputs = [], np.repeat(words, 2000)
    outputs = sample_outputs(state, inputs, np.random.default_rng(0), shares.append)
    found = (outputs == inputs).reshape(COUNT, 2000).mean(axis=1)
    truth = exact_scores.stay_probability(table(state)[:-1], words)
    assert np.abs(found - truth).max() < 5.5 * 0.5 / math.sqrt(2000)
    assert shares[-1] == 1.0


def test_one_run_cannot_be_split(space):
    state = mg.mechanism("laplace", epsilon=3.0).prepare(space)
    with pytest.raises(InvalidParameterError):
        score_word(state, 0, np.random.default_rng(0), runs=1)
