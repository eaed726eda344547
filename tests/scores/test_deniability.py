"""Scores of one word from its law: closed forms and cases worked out by hand."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exact_scores import expected_distance, stay_probability
from mondegreen.errors import InvalidParameterError
from mondegreen.scores.deniability import (
    ORDERS,
    compute_expected_rank,
    effective_support,
    renyi_entropy,
)


@st.composite
def laws(draw, size=6):
    weights = draw(st.lists(st.integers(0, 20), min_size=size, max_size=size))
    weights[draw(st.integers(0, size - 1))] += 1
    return np.array([weights], dtype=np.float64) / sum(weights)


def test_the_unknown_word_never_stays():
    law = np.array([[0.2, 0.8], [0.3, 0.7], [0.5, 0.5]])
    ids = np.array([0, 1, 2], dtype=np.int32)
    assert stay_probability(law, ids).tolist() == [0.2, 0.7, 0.0]


@pytest.mark.parametrize("size", [1, 2, 20, 100, 1000, 33_860])
def test_the_support_of_a_uniform_law_is_its_share_rounded_up(size):
    law = np.full((1, size), 1 / size)
    # ceil(0.95 n), in integers: the sums of 1/n are not exact
    assert effective_support(law, 0.05)[0] == -(-95 * size // 100)


@pytest.mark.parametrize("ratio", [0.5, 0.9, 0.99])
def test_the_support_of_a_geometric_law_has_a_closed_form(ratio):
    law = ratio ** np.arange(6000.0)
    law /= law.sum()
    expected = math.ceil(math.log(0.05) / math.log(ratio))
    assert effective_support(law[None, ::-1], 0.05)[0] == expected


@given(laws(), st.sampled_from([0.0, 0.01, 0.05, 0.1, 0.25, 0.5]))
def test_the_support_is_the_smallest_of_all_sets(law, eta):
    sizes = [
        len(chosen)
        for count in range(1, law.shape[1] + 1)
        for chosen in itertools.combinations(range(law.shape[1]), count)
        if law[0, list(chosen)].sum() >= 1 - eta - 1e-9
    ]
    assert effective_support(law, eta)[0] == min(sizes)


def test_eta_must_be_a_share_below_one():
    for eta in (-0.1, 1.0, math.nan):
        with pytest.raises(InvalidParameterError):
            effective_support(np.ones((1, 1)), eta)


@pytest.mark.parametrize("order", [*ORDERS, 0.5, 3.0])
def test_all_entropies_of_a_uniform_law_are_the_logarithm_of_its_size(order):
    law = np.zeros((1, 12))
    law[0, :8] = 1 / 8
    assert renyi_entropy(law, order)[0] == pytest.approx(math.log(8))


def test_entropies_of_a_coin_by_hand():
    law = np.array([[0.25, 0.75]])
    assert renyi_entropy(law, 1.0)[0] == pytest.approx(
        -0.25 * math.log(0.25) - 0.75 * math.log(0.75)
    )
    assert renyi_entropy(law, 2.0)[0] == pytest.approx(-math.log(10 / 16))
    assert renyi_entropy(law, math.inf)[0] == pytest.approx(-math.log(0.75))


def test_a_large_order_does_not_underflow():
    law = np.full((1, 1000), 1e-3)
    assert renyi_entropy(law, 500.0)[0] == pytest.approx(math.log(1000))


@pytest.mark.slow("all words")
@given(laws())
def test_an_entropy_falls_with_its_order_and_stays_in_range(law):
    values = [
        float(renyi_entropy(law, order)[0]) for order in (0, 0.5, 1, 2, 9, np.inf)
    ]
    assert all(a >= b - 1e-9 for a, b in itertools.pairwise(values))
    assert -1e-9 <= values[-1]
    assert values[0] <= math.log(law.shape[1]) + 1e-9


def test_an_order_below_zero_is_refused():
    with pytest.raises(InvalidParameterError):
        renyi_entropy(np.ones((1, 1)), -1.0)


def test_distance_and_rank_by_hand():
    law = np.array([[0.5, 0.25, 0.125, 0.125]])
    gaps = np.array([[0.0, 4.0, 1.0, 9.0]])
    assert expected_distance(law, gaps)[0] == 0.25 * 4 + 0.125 + 0.125 * 9
    assert compute_expected_rank(law, gaps)[0] == 0.25 * 2 + 0.125 * 1 + 0.125 * 3


def test_equally_distant_words_have_different_ranks():
    law = np.array([[0.0, 0.5, 0.5]])
    assert compute_expected_rank(law, np.array([[0.0, 2.0, 2.0]]))[0] == 1.5
