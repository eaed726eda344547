"""Randomized response over symbols: its integers, its bound, its draws."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import mondegreen as mg
from mondegreen.errors import InvalidParameterError, SpaceError
from mondegreen.mechanisms.symbols.response import Response
from mondegreen.policy.alphabet import Alphabet
from mondegreen.sampling.integers import TOTAL

SIZES = [(0, 1), (0, 2), (3, 1), (3, 4), (50, 7)]
EPSILONS = [1e-9, 0.3, 2.0, 12.0, 40.0, 1e9]


@pytest.fixture
def rng():
    return np.random.default_rng(24)


def alphabet(ordinary, groups):
    return Alphabet("tiny", "0" * 64, ordinary, groups)


def weights(response, size):
    """The law as integers, by enumerating what the sampler does with each draw."""
    table = np.zeros((size, size), dtype=object)
    targets = range(response.first, response.first + response.count)
    for x in range(size):
        others = [z for z in targets if z != x]
        table[x, others] = response.stray
        table[x, x] = TOTAL - len(others) * response.stray
    return table


def largest_ratio(table, outputs):
    """The largest ratio of two inputs over some outputs, exactly; None if infinite."""
    worst = Fraction(1)
    for z in outputs:
        column = table[:, z]
        if column.min() == 0:
            return None
        worst = max(worst, Fraction(int(column.max()), int(column.min())))
    return worst


def keeps(table, outputs, inputs, epsilon):
    ratio = largest_ratio(table[inputs], outputs)
    return ratio is not None and nats(ratio) <= epsilon


def nats(ratio):
    """The logarithm of a ratio; exact near 1, where epsilon is tiny."""
    return math.log1p(float(ratio - 1))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("ordinary", "groups"), SIZES[1:])
def test_krr_keeps_epsilon_for_all_pairs_and_attains_its_certificate(
    ordinary, groups, epsilon
):
    m = ordinary + groups
    state = mg.mechanism("krr", epsilon=epsilon).prepare(alphabet(ordinary, groups))
    table = weights(state.response, m)
    assert all(sum(row) == TOTAL for row in table)
    exact = nats(largest_ratio(table, range(m)))
    assert exact <= state.guarantee.certified <= epsilon
    assert state.guarantee.certified == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("ordinary", "groups"), SIZES)
def test_urr_keeps_epsilon_on_sensitive_outputs_for_all_inputs(
    ordinary, groups, epsilon
):
    m = ordinary + groups
    state = mg.mechanism("urr", epsilon=epsilon).prepare(alphabet(ordinary, groups))
    table = weights(state.response, m)
    assert all(sum(row) == TOTAL for row in table)
    # Cover: whatever sensitive word is printed, any word may have been there.
    assert keeps(table, range(ordinary, m), range(m), epsilon)
    # Sensitive words never come out as ordinary ones, so all outputs are covered.
    assert not table[ordinary:, :ordinary].any()


@pytest.mark.parametrize("name", ["krr", "urr"])
def test_twice_the_epsilon_under_the_same_claim_is_rejected(name):
    loud = mg.mechanism(name, epsilon=4.0).prepare(alphabet(3, 4)).response
    assert not keeps(weights(loud, 7), range(3, 7), range(7), 2.0)


@pytest.mark.parametrize("name", ["krr", "urr"])
def test_words_of_one_group_have_one_law(name):
    """They are one symbol: whatever they are, the mechanism sees the same integer."""
    state = mg.mechanism(name, epsilon=3.0).prepare(alphabet(3, 4))
    rows = state.log_prob(np.array([5, 5], dtype=np.int32))
    assert (rows[0] == rows[1]).all()


@pytest.mark.parametrize("name", ["krr", "urr"])
def test_log_prob_is_the_law_of_the_integers(name):
    state = mg.mechanism(name, epsilon=1.5).prepare(alphabet(3, 4))
    with np.errstate(divide="ignore"):
        expected = np.log(weights(state.response, 7).astype(float) / TOTAL)
    np.testing.assert_allclose(state.log_prob(np.arange(7, dtype=np.int32)), expected)


@pytest.mark.parametrize("name", ["krr", "urr"])
@pytest.mark.parametrize("symbol", [0, 2, 3, 6])
def test_draws_have_the_law(name, symbol, rng):
    """Chi-square over 40,000 draws; false alarms: 1e-6 a test."""
    state = mg.mechanism(name, epsilon=1.5).prepare(alphabet(3, 4))
    runs = 40_000
    drawn = state.sample(np.full(runs, symbol, dtype=np.int32), rng)
    found = np.bincount(drawn, minlength=7)
    law = np.exp(state.log_prob(np.array([symbol], dtype=np.int32)))[0]
    assert not found[law == 0].any()
    some = law > 0
    p = stats.chisquare(found[some], runs * law[some] / law.sum()).pvalue
    assert p > 1e-6


@pytest.mark.parametrize("name", ["krr", "urr"])
def test_draws_that_come_at_the_edges_of_the_integers(name):
    """Every edge of the law: the first and the last draw of each output."""

    class Given:
        def __init__(self, draws):
            self.draws = draws

        def integers(self, low, high, size, dtype):
            assert (low, high, size) == (0, TOTAL, len(self.draws))
            return np.array(self.draws, dtype=dtype)

    state = mg.mechanism(name, epsilon=2.0).prepare(alphabet(2, 3))
    response = state.response
    for x in range(5):
        row = weights(response, 5)[x]
        others = [z for z in range(5) if z != x and row[z]]
        draws, expected = [0, row[x] - 1], [x, x]
        for k, z in enumerate(others):
            low = row[x] + k * response.stray
            draws += [low, low + response.stray - 1]
            expected += [z, z]
        assert draws[-1] == TOTAL - 1
        ids = np.full(len(draws), x, dtype=np.int32)
        assert response.sample(ids, Given(draws)).tolist() == expected


@pytest.mark.parametrize("name", ["krr", "urr"])
def test_a_batch_draws_what_its_symbols_draw_one_by_one(name):
    state = mg.mechanism(name, epsilon=1.0).prepare(alphabet(3, 4))
    ids = np.arange(7, dtype=np.int32).repeat(5)
    whole = state.sample(ids, np.random.default_rng(1))
    rng = np.random.default_rng(1)
    alone = [state.sample(ids[i : i + 1], rng)[0] for i in range(len(ids))]
    assert whole.tolist() == alone


def test_an_epsilon_that_integers_cannot_keep_is_refused():
    with pytest.raises(InvalidParameterError, match="epsilon"):
        mg.mechanism("krr", epsilon=1e-9).prepare(alphabet(1_000_000, 1_000_000))


@pytest.mark.parametrize("name", ["krr", "urr"])
def test_a_space_is_refused_with_what_to_do(name):
    space = mg.Space.from_arrays("s", ["a", "b"], [[0], [1]])
    with pytest.raises(SpaceError, match="--policy"):
        mg.mechanism(name, epsilon=1.0).prepare(space)


def test_strays_are_rounded_up():
    """Rounding down would lose more than epsilon; a ratio shows it for m = 3."""
    response = Response.within(1.0, 0, 3)
    smaller = Response(0, 3, response.stray - TOTAL // 10**6)
    assert response.loss <= 1.0 < smaller.loss
