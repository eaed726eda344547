"""Risks: cases by hand, brute force over all adversaries, known inequalities."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mondegreen.errors import InvalidParameterError
from mondegreen.scores.risk import (
    bayes_risk,
    frequency_prior,
    inference_error,
    over_inputs,
    posterior,
    posterior_support,
    uniform_prior,
    utility_loss,
)


@st.composite
def problems(draw):
    """A law, a prior and a loss, of three inputs and three outputs."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    law = rng.dirichlet(np.full(3, draw(st.sampled_from([0.1, 1.0, 10.0]))), size=3)
    prior = rng.dirichlet(np.ones(3))
    loss = rng.random((3, 3))
    np.fill_diagonal(loss, 0.0)
    return law, prior, loss


WRONG = 1 - np.eye(3)


def test_k_ary_randomised_response_has_closed_forms():
    """It stays with e^a / (e^a + k - 1), else is uniform over the others."""
    for k, a in itertools.product((2, 3, 10), (0.1, 1.0, 4.0)):
        stay = math.exp(a) / (math.exp(a) + k - 1)
        law = np.full((k, k), (1 - stay) / (k - 1))
        np.fill_diagonal(law, stay)
        prior = np.full(k, 1 / k)
        assert bayes_risk(law, prior) == pytest.approx(1 - stay)
        squares = stay**2 + (1 - stay) ** 2 / (k - 1)
        assert inference_error(law, prior) == pytest.approx(1 - squares)
        assert utility_loss(law, prior, 1 - np.eye(k)) == pytest.approx(1 - stay)


def test_the_posterior_is_the_rule_of_bayes():
    law = np.array([[0.9, 0.1], [0.2, 0.8]])
    found = posterior(law, np.array([0.25, 0.75]))
    assert found[:, 0] == pytest.approx([0.225 / 0.375, 0.15 / 0.375])
    assert found.sum(axis=0) == pytest.approx([1.0, 1.0])


def test_an_output_that_never_happens_leaves_the_prior():
    law = np.array([[1.0, 0.0], [1.0, 0.0]])
    assert posterior(law, np.array([0.25, 0.75]))[:, 1].tolist() == [0.25, 0.75]


@given(problems())
def test_the_bayes_risk_is_the_least_over_all_adversaries(problem):
    law, prior, loss = problem
    for table, given_loss in ((WRONG, None), (loss, loss)):
        risks = [
            sum(
                prior[w] * law[w, y] * table[guesses[y], w]
                for w in range(3)
                for y in range(3)
            )
            for guesses in itertools.product(range(3), repeat=3)
        ]
        assert bayes_risk(law, prior, given_loss) == pytest.approx(min(risks))


@given(problems())
def test_the_inference_error_is_its_triple_sum(problem):
    law, prior, loss = problem
    g = posterior(law, prior)
    for table, given_loss in ((WRONG, None), (loss, loss)):
        total = sum(
            prior[w] * law[w, y] * g[v, y] * table[v, w]
            for w, y, v in itertools.product(range(3), repeat=3)
        )
        assert inference_error(law, prior, given_loss) == pytest.approx(total)


@given(problems())
def test_the_best_adversary_errs_at_least_half_as_often_as_one_who_draws(problem):
    law, prior, _ = problem
    best, drawn = bayes_risk(law, prior), inference_error(law, prior)
    assert best - 1e-12 <= drawn <= 2 * best + 1e-12
    assert best <= 1 - prior.max() + 1e-12


def test_a_law_that_tells_nothing_leaves_the_risk_of_the_prior():
    law = np.full((4, 4), 0.25)
    prior = np.array([0.4, 0.3, 0.2, 0.1])
    assert bayes_risk(law, prior) == pytest.approx(0.6)
    assert inference_error(law, prior) == pytest.approx(1 - (prior**2).sum())
    assert posterior_support(law, prior, eta=0.25).tolist() == [3] * 4


def test_the_identity_tells_everything():
    assert bayes_risk(np.eye(5), np.full(5, 0.2)) == 0.0
    assert inference_error(np.eye(5), np.full(5, 0.2)) == pytest.approx(0.0)
    assert posterior_support(np.eye(5), np.full(5, 0.2)).tolist() == [1] * 5


def test_priors_are_distributions():
    assert uniform_prior(3).tolist() == pytest.approx([1 / 3] * 3 + [0])
    assert frequency_prior([2, 0, 0]).tolist() == [0.6, 0.2, 0.2]
    for counts in ([-1, 2], [[1]], [0.0]):
        with pytest.raises(InvalidParameterError):
            frequency_prior(counts, smoothing=0.0)


@pytest.mark.parametrize("prior", [[0.5, 0.6], [1.5, -0.5], [1.0], [np.nan, 1.0]])
def test_what_is_no_prior_is_refused(prior):
    with pytest.raises(InvalidParameterError):
        over_inputs(np.array(prior), 2)
