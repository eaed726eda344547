"""Laws as integers: nothing is lost, nothing is negative, errors are as documented."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mondegreen.sampling.integers import TOTAL, TOTAL_BITS, draw_uniform, quantize
from mondegreen.sampling.noise import chacha20

excesses = arrays(
    np.float64,
    st.integers(1, 40),
    elements=st.one_of(st.just(0.0), st.floats(1e-300, 1.0), st.floats(1e-9, 1.0)),
)
floors = st.one_of(st.floats(1e-13, 1.0), st.just(1.0))


@settings(max_examples=400)
@given(excess=excesses, floor=floors, more=st.integers(0, 10**6))
def test_weights_sum_to_2_62_and_are_never_negative(excess, floor, more):
    count = len(excess) + more
    base, weights = quantize(excess, floor, count)
    assert count * base + sum(int(w) for w in weights) == TOTAL
    assert weights.dtype == np.int64
    assert (weights >= 0).all()
    assert base > 0


@settings(max_examples=400)
@given(excess=excesses, floor=floors, more=st.integers(0, 10**5))
def test_weights_are_as_close_as_documented(excess, floor, more):
    # Against exact rational arithmetic: at most 2 too low (and the share 2**-46 that
    # keeps the remainder positive); what is left goes to one of the largest alone.
    count = len(excess) + more
    base, weights = quantize(excess, floor, count)
    total = count * Fraction(floor) + sum(Fraction(float(x)) for x in excess)
    share = Fraction(1, 2**45)
    receiver = int(np.argmax(weights))  # after rounding, the largest excess
    spread = 2 * count + TOTAL * Fraction(1, 2**45)
    for i, x in enumerate(excess):
        true = TOTAL * (Fraction(floor) + Fraction(float(x))) / total
        error = base + int(weights[i]) - true
        if i == receiver:
            assert -2 - true * share <= error <= spread
        else:
            assert -2 - true * share <= error <= true * share
    floor_true = TOTAL * Fraction(floor) / total
    assert -1 - floor_true * share <= base - floor_true <= floor_true * share


def test_one_outcome_has_all_the_weight():
    for excess in (0.0, 1e-300, 1.0, 1e9):
        base, weights = quantize(np.array([excess]), 1.0, 1)
        assert base + int(weights[0]) == TOTAL


def test_equal_outcomes_get_equal_weights_up_to_the_remainder():
    base, weights = quantize(np.zeros(1), 1.0, 7)
    assert abs(base - TOTAL // 7) <= TOTAL >> 47
    assert base * 7 + int(weights[0]) == TOTAL


def test_huge_ratios_keep_every_outcome_possible():
    # The largest ratio that the laws use: 2**62 / V / 2**14.
    base, weights = quantize(np.array([1.0]), 2.0**-47, 2)
    assert base >= 2**14
    assert int(weights[0]) + 2 * base == TOTAL


def test_many_outcomes_sum_exactly():
    rng = np.random.default_rng(0)
    excess = np.exp(-rng.exponential(8, size=200_000))
    base, weights = quantize(excess, 1e-9, 400_000)
    assert 400_000 * base + int(weights.sum()) == TOTAL
    assert (weights >= 0).all()


@pytest.mark.parametrize(
    "make", [lambda: np.random.default_rng(5), lambda: chacha20(bytes(range(32)))]
)
def test_a_draw_is_the_top_of_one_64_bit_word(make):
    words = make().bit_generator.random_raw(1000)
    assert (draw_uniform(make(), 1000) == words >> (64 - TOTAL_BITS)).all()


def test_draws_do_not_depend_on_how_they_are_split():
    whole = draw_uniform(np.random.default_rng(1), 100)
    rng = np.random.default_rng(1)
    parts = [draw_uniform(rng, size) for size in (1, 0, 9, 90)]
    assert (np.concatenate(parts) == whole).all()


def test_draws_lie_in_their_range_and_fill_it():
    draws = draw_uniform(np.random.default_rng(2), 100_000)
    assert draws.dtype == np.int64
    assert draws.min() >= 0
    assert draws.max() < TOTAL
    # Each of the 62 bits is fair: 6.2 standard deviations is 1e-6 / 62, two-sided.
    bits = (draws[:, None] >> np.arange(TOTAL_BITS)) & 1
    z = (bits.mean(axis=0) - 0.5) * 2 * np.sqrt(len(draws))
    assert np.abs(z).max() < 6.2
