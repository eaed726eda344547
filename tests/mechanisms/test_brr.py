"""Binary randomised response: its law, its flips, its ties, and twins that fail.

Laws are enumerated here from the definition, with none of the code of ``src``.
"""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import mondegreen as mg
from mechanisms.laws import ALPHA, all_inputs, g_test, table_violation
from mondegreen.errors import LawUnknownError, SpaceError
from mondegreen.mechanisms.binary import Brr
from mondegreen.sampling.bits import (
    compute_realized_epsilon,
    draw_flips,
    flip_threshold,
)
from mondegreen.sampling.noise import Batch, OSNoise
from mondegreen.space.binarize import with_codes
from mondegreen.space.codes import Codes
from mondegreen.space.search.hamming import HammingSearch
from mondegreen.space.space import Space


def rng_of(seed=0):
    return np.random.default_rng(seed)


def coded(table, unknown=None):
    """A space whose vectors mean nothing and whose codes are given."""
    table = np.asarray(table, dtype=np.uint8)
    words = [f"w{i}" for i in range(len(table))]
    space = Space.from_arrays("s", words, np.arange(len(table))[:, None])
    unknown = table[0] ^ 0xFF if unknown is None else np.array(unknown, dtype=np.uint8)
    return dataclasses.replace(space, codes=Codes.of(table, unknown, "by hand"))


def random_codes(count, size=1, seed=0):
    return rng_of(seed).integers(0, 256, size=(count, size), dtype=np.uint8)


# A line of Gray codes (neighbours one bit apart), duplicates, and ties all over.
TABLES = {
    "gray": [[i ^ (i >> 1)] for i in range(12)],
    "duplicates": [[0], [0], [0], [255], [255], [3]],
    "one word": [[7]],
    "random 8": random_codes(20).tolist(),
    "random 16": random_codes(9, 2).tolist(),
}
on_tables = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
EPSILONS = [1e-9, 0.3, 1.0, 5.0, 40.0, 700.0, 1e9]
# Of 16 bits, 65,536 noisy codes are summed.
BY_DEFAULT = [
    f"{e}-{t}" for e in EPSILONS for t in TABLES if (e == 1.0 or "16" not in t)
]


def unpacked(space):
    """Bits of all inputs, the unknown word last."""
    both = np.concatenate([space.codes.table, space.codes.unknown[None]])
    return np.unpackbits(both, axis=1).astype(np.int64)


def hamming(space):
    bits = unpacked(space)
    return (bits[:, None] != bits[None]).sum(axis=2)


def enumerated_law(space, q):
    """P(y | w) for all inputs, uniform among ties, by all 2**n noisy codes."""
    bits = unpacked(space)
    n = bits.shape[1]
    every = (np.arange(2**n)[:, None] >> np.arange(n)[::-1]) & 1
    far = (every[:, None] != bits[None]).sum(axis=2)
    nearest = far[:, :-1] == far[:, :-1].min(axis=1, keepdims=True)
    kernel = nearest / nearest.sum(axis=1, keepdims=True)
    noisy = q**far * (1 - q) ** (n - far)  # (2**n, V + 1)
    return noisy.T @ kernel


def flip(epsilon):
    return 1 / (1 + math.exp(epsilon))


# The law


@pytest.mark.slow(
    "all codes",
    seconds=0.1,
    but=(
        "0.5-random 16",
        "0.01-gray",
        "0.01-duplicates",
        "2.0-random 8",
        "2.0-duplicates",
        "2.0-one word",
    ),
)
@on_tables
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 2.0])
def test_the_law_is_that_of_the_definition(table, epsilon):
    space = coded(table)
    state = Brr(epsilon=epsilon).prepare(space)
    law = np.exp(state.log_prob(all_inputs(space)))
    np.testing.assert_allclose(law, enumerated_law(space, flip(epsilon)), rtol=1e-11)
    np.testing.assert_allclose(law.sum(axis=1), 1, rtol=1e-12)


@pytest.mark.slow("all pairs of codes", seconds=0.3, but=BY_DEFAULT)
@on_tables
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_pair_and_no_output_breaks_the_bound(table, epsilon):
    space = coded(table)
    state = Brr(epsilon=epsilon).prepare(space)
    law = state.log_prob(all_inputs(space))
    assert table_violation(law, hamming(space), epsilon) <= 0
    assert table_violation(law, hamming(space), state.guarantee.certified) <= 1e-9


@settings(deadline=None, max_examples=40)
@given(
    codes=st.lists(st.integers(0, 255), min_size=1, max_size=20),
    unknown=st.integers(0, 255),
    epsilon=st.floats(-7, 3).map(math.exp),
)
def test_the_bound_holds_for_any_codes(codes, unknown, epsilon):
    space = coded([[code] for code in codes], [unknown])
    state = Brr(epsilon=epsilon).prepare(space)
    law = state.log_prob(all_inputs(space))
    assert table_violation(law, hamming(space), epsilon) <= 0
    rows = np.append(codes, unknown)
    first, second = np.nonzero(rows[:, None] == rows)
    assert (law[first] == law[second]).all()


def test_the_bound_is_reached_where_codes_differ_in_one_bit():
    state = Brr(epsilon=0.7).prepare(coded(TABLES["gray"]))
    law = state.log_prob(all_inputs(state.space))
    assert np.abs(law[0] - law[1]).max() == pytest.approx(0.7, rel=1e-9)


@on_tables
@pytest.mark.slow("many draws by exhaustive search")
def test_samples_follow_the_law(table):
    space = coded(table)
    state = Brr(epsilon=0.8).prepare(space)
    law = np.exp(state.log_prob(all_inputs(space)))
    inputs = sorted({0, space.vocab_size // 2, space.vocab_size})
    for word in inputs:
        out = state.sample(np.full(1_000_000 // len(inputs), word), rng_of(word))
        seen = np.bincount(out, minlength=space.vocab_size)
        assert g_test(seen, law[word]) > ALPHA


def test_the_law_of_long_codes_is_said_to_be_unknown():
    state = Brr(epsilon=1.0).prepare(coded(random_codes(5, 3)))
    with pytest.raises(LawUnknownError, match=r"brr is enumerated .* at most 16 bits"):
        state.log_prob(all_inputs(state.space))


# The probability of a flip


@pytest.mark.parametrize(
    "epsilon", [1e-9, 1e-3, 0.1, 1.0, 2.0, 10.0, 36.0, 44.0, 44.4, 50.0, 700.0, 1e9]
)
def test_the_flip_probability_is_rounded_up_by_less_than_one_part_in_2_64(epsilon):
    t = flip_threshold(epsilon)
    assert 1 <= t <= 2**63
    exact = 2**64 / (1 + _exp(min(epsilon, 100.0)))
    assert exact <= t < exact + 1 + Fraction(1, 10**9)
    assert compute_realized_epsilon(t) <= math.nextafter(epsilon, math.inf)
    assert compute_realized_epsilon(t) >= 0


def _exp(x):
    """e**x as a fraction, right to 40 digits: halved until its series is short."""
    halvings = max(0, math.ceil(math.log2(x)) + 4) if x > 0.01 else 0
    small, term, total = Fraction(x) / 2**halvings, Fraction(1), Fraction(1)
    for k in range(1, 30):
        term *= small / k
        total += term
    for _ in range(halvings):
        total = (total * total).limit_denominator(10**70)
    return total


def test_rounding_down_to_zero_would_break_every_bound():
    # The naive float has no noise at all where the integer keeps the promise.
    assert 1 / (1 + math.exp(700.0)) < 2.0**-64
    assert int(2**64 / (1 + math.exp(45.0))) == 0  # rounded down: never flips
    space = coded(TABLES["gray"])
    law = enumerated_law(space, 0.0)
    with np.errstate(divide="ignore"):
        assert table_violation(np.log(law), hamming(space), 45.0) == math.inf
    sound = Brr(epsilon=45.0).prepare(space).log_prob(all_inputs(space))
    assert table_violation(sound, hamming(space), 45.0) <= 0


@pytest.mark.slow("many draws", seconds=0.2, but=("0.2-8", "1.0-24", "3.0-24"))
@pytest.mark.parametrize("bits", [8, 24, 256])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_the_number_of_flips_is_binomial(bits, epsilon):
    flips = drawn_flips(flip_threshold(epsilon), bits, 40_000, rng_of(bits))
    assert flips_p_value(flips, flip(epsilon)) > ALPHA


def drawn_flips(threshold, bits, size, rng):
    words = rng.integers(0, 2**64, size=(size, bits // 2), dtype=np.uint64)
    return np.unpackbits(draw_flips(words, threshold, rng), axis=1).astype(np.int64)


def flips_p_value(flips, q):
    """Counts binomial, every bit with probability q, no two bits or tokens related."""
    size, n = flips.shape
    counts = np.bincount(flips.sum(axis=1), minlength=n + 1)
    found = [g_test(counts, stats.binom(n, q).pmf(np.arange(n + 1)))]
    per_bit = [stats.binomtest(int(s), size, q).pvalue for s in flips.sum(axis=0)[:16]]
    found.append(min(1.0, len(per_bit) * min(per_bit)))
    for shift, other in ((0, np.roll(flips, 1, axis=1)), (1, np.roll(flips, 1, 0))):
        both = (flips * other)[shift:]
        # pairs overlap: the variance of a sum of products of neighbours
        spread = both.size * q * q * (1 - q) * (1 + 3 * q)
        z = (both.sum() - both.size * q * q) / math.sqrt(spread)
        found.append(2 * float(stats.norm.sf(abs(z))))
    return min(1.0, len(found) * min(found))


@pytest.mark.parametrize("threshold", [1 << 40, (1 << 63) - 1, 1, (5 << 32) + 7])
def test_bits_are_decided_by_all_64_bits_of_the_threshold(threshold):
    upper, lower = divmod(threshold, 2**32)

    class Fixed:
        """Gives chosen lower halves to the undecided bits."""

        def integers(self, low, high, size, dtype):
            assert (low, high, dtype) == (0, 2**32, np.uint32)
            assert size == 2
            return np.array([max(lower - 1, 0), lower], dtype=np.uint32)

    below = upper - 1 if upper else upper + 2
    halves = [upper, upper, upper + 1, below, *[upper + 3] * 4]
    words = np.array([halves], dtype="<u4").view("<u8")
    bits = np.unpackbits(draw_flips(words, threshold, Fixed()), axis=1)
    assert bits[0].tolist() == [lower > 0, 0, 0, upper > 0, 0, 0, 0, 0]


def test_flips_are_shared_by_no_two_tokens_batches_or_sources():
    space = with_codes(cloud(200, 20), bits=64, method="hyperplane")
    state = Brr(epsilon=0.4).prepare(space)
    ids = np.zeros(500, dtype=np.int32)
    assert len(set(state.sample(ids, rng_of()).tolist())) > 20
    drawn = []
    for _ in range(2):
        ((_, rng),) = OSNoise().streams(Batch(0, b"", ["x"]))
        drawn.append(state.sample(ids, rng).tolist())
    assert drawn[0] != drawn[1]


def cloud(count, dim):
    vectors = rng_of(3).normal(size=(count, dim))
    return Space.from_arrays("c", [f"w{i}" for i in range(count)], vectors)


# Decoding and ties


@given(
    table=st.lists(st.tuples(st.integers(0, 15)), min_size=1, max_size=40),
    noisy=st.integers(0, 255),
)
def test_all_nearest_words_are_found(table, noisy):
    table = np.array(table, dtype=np.uint8)
    (tied,) = HammingSearch(table).ties(np.array([[noisy]], dtype=np.uint8))
    far = np.bitwise_count(table[:, 0] ^ np.uint8(noisy))
    assert sorted(tied.tolist()) == np.flatnonzero(far == far.min()).tolist()


def test_a_tie_goes_to_each_word_for_an_equal_share_of_the_draws():
    table = np.array([[1], [2], [4], [4], [255]], dtype=np.uint8)
    search = HammingSearch(table)
    zero = np.zeros((4, 1), dtype=np.uint8)
    (tied,) = search.ties(zero[:1])
    assert sorted(tied.tolist()) == [0, 1, 2, 3]
    edges = np.array([0, 1 << 62, 1 << 63, 3 << 62], dtype=np.uint64)
    assert search.pick(zero, edges).tolist() == tied.tolist()
    last = edges[1:] - np.uint64(1)
    assert search.pick(zero[1:], last).tolist() == tied[:3].tolist()
    top = np.array([2**64 - 1], dtype=np.uint64)
    assert search.pick(zero[:1], top).tolist() == [tied[3]]


def test_ties_do_not_depend_on_the_input_nor_on_the_order_of_the_index():
    # Given the noisy code, the output must have one law whatever the input was.
    table = np.array([[0], [3], [255]], dtype=np.uint8)
    search = HammingSearch(table)
    draws = rng_of().integers(0, 2**64, size=4000, dtype=np.uint64)
    noisy = np.ones((4000, 1), dtype=np.uint8)
    seen = np.bincount(search.pick(noisy, draws), minlength=3)
    assert g_test(seen, np.array([0.5, 0.5, 0.0])) > ALPHA
    backwards = HammingSearch(table[::-1].copy())
    assert (2 - backwards.pick(noisy, draws) == search.pick(noisy, draws)).all()


@pytest.mark.slow("a large space")
def test_many_ties_are_all_found():
    # 256 codes at distance 1 from zero, and a thousand words on one code
    one_bit = np.packbits(np.eye(256, dtype=np.uint8), axis=1)
    table = np.concatenate([one_bit, np.repeat(one_bit[:1], 1000, axis=0)])
    search = HammingSearch(table)
    (tied,) = search.ties(np.zeros((1, 32), dtype=np.uint8))
    assert len(tied) == 1256
    draws = rng_of().integers(0, 2**64, size=50_000, dtype=np.uint64)
    out = search.pick(np.zeros((50_000, 32), dtype=np.uint8), draws)
    assert g_test(np.bincount(out, minlength=1256), np.full(1256, 1 / 1256)) > ALPHA


def test_words_with_one_code_have_one_law():
    state = Brr(epsilon=1.0).prepare(coded(TABLES["duplicates"]))
    law = state.log_prob(all_inputs(state.space))
    assert (law[0] == law[1]).all()
    assert (law[3] == law[4]).all()
    assert (law[:, 0] == law[:, 1]).all()  # and are equally likely outputs


# The guarantee


def test_the_guarantee_names_the_metric_and_its_scale():
    space = coded(random_codes(40, 4, seed=2))
    guarantee = Brr(epsilon=1.5).prepare(space).guarantee
    far = hamming(space)
    assert guarantee.metric == "Hamming distance of 32-bit codes"
    assert guarantee.scale["diameter"] == far.max()
    assert guarantee.scale["closest"] == far[far > 0].min()
    words = far[:-1, :-1] + 1000 * np.eye(40, dtype=int)
    assert guarantee.scale["nearest"] == np.median(words.min(axis=1))
    assert guarantee.scale["mean"] == pytest.approx(far[:-1, :-1].sum() / (40 * 39))
    assert "epsilon 48 whatever" in guarantee.equivalents[0]
    assert guarantee.certified <= 1.5
    assert guarantee.certified == pytest.approx(1.5)
    assert space.codes.digest[:12] in " ".join(guarantee.assumptions)
    far_off = Brr(epsilon=1e9).prepare(space).guarantee
    assert far_off.certified == pytest.approx(64 * math.log(2))


def test_a_space_without_codes_is_refused_with_the_command_that_makes_them():
    with pytest.raises(SpaceError, match="mondegreen space binarize c -o"):
        Brr(epsilon=1.0).prepare(cloud(5, 2))


def test_the_default_space_has_codes_in_the_package():
    space = mg.load_space()
    state = Brr(epsilon=3.0).prepare(space)
    assert state.codes.bits == 256
    assert state.guarantee.space_digest == space.digest
    ids = np.arange(0, 33_861, 33, dtype=np.int32)
    out = state.sample(ids, rng_of())
    assert (out == ids)[:-1].mean() > 0.95


# Twins and mutants: the checkers above must reject them


@pytest.mark.slow("many draws", seconds=2, but="2.0")
@pytest.mark.parametrize("factor", [2.0, 1.05])
def test_more_epsilon_than_claimed_is_rejected(factor):
    space = coded(TABLES["gray"])
    twin = Brr(epsilon=0.7 * factor).prepare(space)
    assert table_violation(twin.log_prob(all_inputs(space)), hamming(space), 0.7) > 0
    out = twin.sample(np.zeros(1_000_000, dtype=np.int32), rng_of())
    law = enumerated_law(space, flip(0.7))[0]
    assert g_test(np.bincount(out, minlength=space.vocab_size), law) < ALPHA
    flips = drawn_flips(flip_threshold(0.7 * factor), 256, 40_000, rng_of())
    assert flips_p_value(flips, flip(0.7)) < ALPHA


def test_ties_broken_towards_the_input_are_rejected():
    space, q = coded(TABLES["random 8"]), flip(0.5)
    law = enumerated_law(space, q)
    bits = unpacked(space)
    every = (np.arange(256)[:, None] >> np.arange(8)[::-1]) & 1
    far = (every[:, None] != bits[None]).sum(axis=2)
    nearest = far[:, :-1] == far[:, :-1].min(axis=1, keepdims=True)
    for word in range(space.vocab_size):
        kernel = nearest / nearest.sum(axis=1, keepdims=True)
        kernel[nearest[:, word]] = np.eye(space.vocab_size)[word]
        law[word] = (q ** far[:, word] * (1 - q) ** (8 - far[:, word])) @ kernel
    with np.errstate(divide="ignore"):
        assert table_violation(np.log(law), hamming(space), 0.5) > 0.1
    draws = rng_of().choice(space.vocab_size, size=1_000_000, p=law[3] / law[3].sum())
    seen = np.bincount(draws, minlength=space.vocab_size)
    assert g_test(seen, enumerated_law(space, q)[3]) < ALPHA


def test_flips_shared_across_tokens_are_rejected():
    one = drawn_flips(flip_threshold(1.0), 256, 1, rng_of())
    assert flips_p_value(np.repeat(one, 40_000, axis=0), flip(1.0)) < ALPHA
    pairs = np.repeat(drawn_flips(flip_threshold(1.0), 256, 20_000, rng_of()), 2, 0)
    assert flips_p_value(pairs, flip(1.0)) < ALPHA


def test_flips_shared_across_bits_are_rejected():
    half = drawn_flips(flip_threshold(1.0), 128, 40_000, rng_of())
    assert flips_p_value(np.repeat(half, 2, axis=1), flip(1.0)) < ALPHA


def test_an_unknown_code_that_depends_on_nothing_is_an_input_like_any_other():
    for i, j in combinations(range(3), 2):
        space = coded(random_codes(6), random_codes(3, seed=9)[i])
        other = coded(random_codes(6), random_codes(3, seed=9)[j])
        laws = [
            Brr(epsilon=1.0).prepare(s).log_prob(np.array([6])) for s in (space, other)
        ]
        gap = int(np.bitwise_count(space.codes.unknown ^ other.codes.unknown).sum())
        assert np.abs(laws[0] - laws[1]).max() <= gap + 1e-9
