"""The certificate of SynTF: exact for its integers, and below what is promised."""

import math
from fractions import Fraction

import numpy as np
import pytest

import mondegreen as mg
from mondegreen.mechanisms.laws.certificate import discrete_epsilons


def make_space(seed, size=25, dim=4):
    rng = np.random.default_rng(seed)
    words = ["".join(rng.choice(list("abcd"), 5)) + str(i) for i in range(size)]
    return mg.Space.from_arrays("s", words, rng.normal(size=(size, dim)))


def brute_force(state, size):
    """All pairs of inputs and all outputs, as fractions of integers."""
    rows = [row.weights().tolist() for _, row in state.law.rows(range(size + 1))]
    return max(
        Fraction(a, b)
        for one in rows
        for other in rows
        for a, b in zip(one, other, strict=True)
    )


@pytest.mark.parametrize("epsilon", [0.5, 4.0, 30.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_it_is_the_largest_ratio_of_all_integers_rounded_up(seed, epsilon):
    space = make_space(seed)
    state = mg.mechanism("syntf", epsilon=epsilon).prepare(space)
    exact = math.log(brute_force(state, space.vocab_size))
    (found,) = discrete_epsilons([state.law])
    assert exact <= found <= exact * (1 + 1e-9) + 1e-9
    assert found <= epsilon


def test_a_law_that_spends_twice_as_much_is_seen():
    space = make_space(2)
    weak = mg.mechanism("syntf", epsilon=8.0).prepare(space)
    assert discrete_epsilons([weak.law])[0] > 4.0


def test_the_guarantee_carries_it():
    space = make_space(3)
    state = mg.mechanism("syntf", epsilon=4.0).prepare(space)
    certified = state.guarantee.certified
    assert certified == discrete_epsilons([state.law])[0]
    assert "certificate" in state.guarantee.certified_how
