"""One pass over all pairs gives what the whole table gives, for every known law."""

import os
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import exact_scores
import mondegreen as mg
from mondegreen.errors import ConfigurationError, InvalidParameterError, LawUnknownError
from mondegreen.scores import deniability, risk
from mondegreen.scores import law as one_pass
from mondegreen.scores.law import law_scores
from mondegreen.scores.risk import frequency_prior, uniform_prior
from mondegreen.space.binarize import with_codes
from mondegreen.space.metric import distances
from strategies import epsilons, spaces

CASES = [
    ("exponential", 2.0, {}),
    ("tem", 4.0, {}),
    ("tem", 9.0, {"gamma": 1.0}),
    ("calibrated", 3.0, {}),
    ("tight", 9.0, {}),
    ("syntf", 9.0, {}),
    ("brr", 1.0, {}),
    ("santext_plus", 5.0, {}),
    ("custext", 5.0, {}),
]
COUNT = 150


@pytest.fixture(scope="module")
def space():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(COUNT, 5))
    vectors[7] = vectors[3]  # two words at one point
    return mg.Space.from_arrays("cloud", [f"w{i}" for i in range(COUNT)], vectors)


def prepared(name, epsilon, parameters, space):
    if name == "brr":
        space = with_codes(space, bits=8, method="hyperplane")
    return mg.mechanism(name, epsilon=epsilon, **parameters).prepare(space)


@pytest.mark.parametrize("eta", [0.0, 0.05, 0.3])
@pytest.mark.parametrize(("name", "epsilon", "parameters"), CASES)
def test_scores_are_those_of_the_integer_law(
    name, epsilon, parameters, eta, space, monkeypatch
):
    # several blocks, of which the last is not full
    monkeypatch.setattr(one_pass, "_BLOCK_BYTES", 8 * (COUNT + 1) * 40)
    state = prepared(name, epsilon, parameters, space)
    rng = np.random.default_rng(1)
    priors = {
        "uniform": uniform_prior(COUNT),
        "frequency": frequency_prior(rng.integers(0, 50, COUNT + 1)),
    }
    (found,) = law_scores([state], priors, eta=eta)
    ids = np.arange(COUNT + 1, dtype=np.int32)
    law = np.exp(state.log_prob(ids))
    gaps = distances("euclidean", space.points(ids), space.vectors)
    near = {"abs": 1e-9, "rel": 1e-6}
    assert found.stay == pytest.approx(
        exact_scores.stay_probability(law, ids)[:-1], **near
    )
    assert (found.support == deniability.effective_support(law, eta)).all()
    for order, values in found.entropies.items():
        assert values == pytest.approx(deniability.renyi_entropy(law, order), **near)
    assert found.distance == pytest.approx(
        exact_scores.expected_distance(law, gaps), **near
    )
    assert found.rank == pytest.approx(
        deniability.compute_expected_rank(law, gaps), **near
    )
    for prior, risks in found.risks.items():
        pi = priors[prior]
        assert risks.bayes_risk == pytest.approx(risk.bayes_risk(law, pi), **near)
        assert risks.inference_error == pytest.approx(
            risk.inference_error(law, pi), **near
        )
        assert risks.utility_loss == pytest.approx(
            risk.utility_loss(law, pi, gaps), **near
        )
        assert risks.prior_risk == pytest.approx(1 - pi.max())


@settings(max_examples=40)
@given(spaces(max_words=20), epsilons(0.1, 20.0), st.sampled_from([0.01, 0.05, 0.5]))
def test_awkward_spaces_give_the_same_sizes_and_risks(space, epsilon, eta):
    try:
        state = mg.mechanism("exponential", epsilon=epsilon).prepare(space)
    except mg.errors.SpaceError:  # rounding could tell near duplicates apart
        return
    (found,) = law_scores([state], eta=eta)
    ids = np.arange(space.vocab_size + 1, dtype=np.int32)
    law = np.exp(state.log_prob(ids))
    # The law in real numbers and the integers agree to 1e-4 at worst.
    low = deniability.effective_support(law, min(0.999, eta * (1 + 2e-4)))
    high = deniability.effective_support(law, eta * (1 - 2e-4))
    assert (low <= found.support).all()
    assert (found.support <= high).all()
    expected = risk.bayes_risk(law, uniform_prior(space.vocab_size))
    assert found.risks["uniform"].bayes_risk == pytest.approx(expected, abs=1e-3)


def test_two_words_have_closed_forms():
    line = mg.Space.from_arrays("ab", ["a", "b"], [[0.0], [1.0]])
    states = [mg.mechanism("exponential", epsilon=e).prepare(line) for e in (1.0, 3.0)]
    for epsilon, found in zip((1.0, 3.0), law_scores(states), strict=True):
        stay = 1 / (1 + np.exp(-epsilon / 2))
        assert found.stay == pytest.approx([stay, stay])
        assert found.distance[:2] == pytest.approx([1 - stay] * 2)
        assert found.rank[:2] == pytest.approx([1 - stay] * 2)
        risks = found.risks["uniform"]
        assert risks.bayes_risk == pytest.approx(1 - stay)
        assert risks.inference_error == pytest.approx(2 * stay * (1 - stay))
        assert found.summary()["n_w_mean"] == pytest.approx(stay)


def test_many_laws_in_one_pass_are_each_as_alone(space):
    states = [prepared(*case, space) for case in CASES if case[0] != "brr"]
    together = law_scores(states)
    for state, found in zip(states, together, strict=True):
        (alone,) = law_scores([state])
        assert alone.summary() == pytest.approx(found.summary(), rel=1e-12)


def test_hyperbolic_distances_are_those_of_the_space():
    points = np.random.default_rng(0).uniform(-0.6, 0.6, size=(30, 2))
    ball = mg.Space.from_arrays(
        "ball", [f"w{i}" for i in range(30)], points, metric="poincare"
    )
    state = mg.mechanism("exponential", epsilon=2.0).prepare(ball)
    (found,) = law_scores([state])
    ids = np.arange(31, dtype=np.int32)
    law = np.exp(state.log_prob(ids))
    gaps = distances("poincare", ball.points(ids), ball.vectors)
    expected = exact_scores.expected_distance(law, gaps)
    assert found.distance == pytest.approx(expected, rel=1e-6)


def test_a_space_of_codes_alone_has_no_distances(space):
    coded = with_codes(space, bits=8, method="hyperplane")
    alone = mg.Space.from_codes("codes", coded.words, coded.codes)
    (found,) = law_scores([mg.mechanism("brr", epsilon=1.0).prepare(alone)])
    assert found.distance is None
    assert found.rank is None
    assert found.risks["uniform"].utility_loss is None
    assert "distance_mean" not in found.summary()


def test_an_unknown_law_is_refused(space):
    with pytest.raises(LawUnknownError):
        law_scores([mg.mechanism("laplace", epsilon=2.0).prepare(space)])


def test_what_does_not_fit_is_refused(space):
    state = mg.mechanism("tem", epsilon=2.0).prepare(space)
    other = mg.Space.from_arrays("ab", ["a", "b"], [[0.0], [1.0]])
    with pytest.raises(ConfigurationError):
        law_scores([state, mg.mechanism("tem", epsilon=2.0).prepare(other)])
    with pytest.raises(InvalidParameterError):
        law_scores([state], {"short": np.ones(3) / 3})
    with pytest.raises(InvalidParameterError):
        law_scores([state], eta=1.0)
    assert law_scores([]) == []


def test_without_eta_nothing_is_sorted_and_the_rest_is_the_same(space):
    state = mg.mechanism("tem", epsilon=4.0).prepare(space)
    (all_of_it,), (less,) = law_scores([state]), law_scores([state], eta=None)
    assert less.support is None
    assert less.rank is None
    rest = {k: v for k, v in all_of_it.summary().items() if k in less.summary()}
    assert less.summary() == rest
    assert set(all_of_it.summary()) - set(rest) == {
        *("s_w_mean", "s_w_50", "s_w_25", "s_w_10", "s_w_05", "s_w_01", "s_w_min"),
        *("rank_mean", "rank_05"),
    }


def test_progress_ends_at_one_and_an_interrupt_stops_soon(space, monkeypatch):
    monkeypatch.setattr(one_pass, "_BLOCK_BYTES", 1)
    state = mg.mechanism("tem", epsilon=2.0).prepare(space)
    shares = []
    law_scores([state], progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0

    interrupted = threading.Event()

    def interrupt(share):
        interrupted.set()
        raise KeyboardInterrupt

    started = []
    rows = one_pass.Distances.stripes

    def slowly(self, ids, size):
        started.append(1)
        if len(started) > 1:  # else all might be done before the first is reported
            interrupted.wait(10)
            time.sleep(0.05)
        return rows(self, ids, size)

    monkeypatch.setattr(one_pass.Distances, "stripes", slowly)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    blocks = len(shares)
    with pytest.raises(KeyboardInterrupt):
        law_scores([state], progress=interrupt)
    assert len(started) < blocks


def test_larger_epsilon_is_less_private_in_every_direction(space):
    """The direction of each score, as docs/explanation/scores.md states it."""
    states = [mg.mechanism("exponential", epsilon=e).prepare(space) for e in (0.5, 5.0)]
    private, exposed = (found.summary() for found in law_scores(states))
    assert private["n_w_mean"] < exposed["n_w_mean"]
    for name in (
        "s_w_mean",
        "entropy_1_mean",
        "entropy_2_mean",
        "entropy_inf_mean",
        "distance_mean",
        "rank_mean",
        "bayes_risk_uniform",
        "inference_error_uniform",
    ):
        assert private[name] > exposed[name], name
