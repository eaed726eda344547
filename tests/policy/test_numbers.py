"""Numbers near the true one: the integers of the law, and where amounts are found."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import mondegreen as mg
from mondegreen.errors import InvalidParameterError
from mondegreen.mechanisms.symbols.response import Response
from mondegreen.policy.alphabet import Alphabet
from mondegreen.policy.numbers import (
    AmountLookup,
    Grid,
    Near,
    merge_amounts,
    open_amounts,
)
from mondegreen.sampling.integers import TOTAL
from mondegreen.settings import list_options
from mondegreen.text.tokenizer import tokenize

SMALL = Grid(0, 1, per_decade=3)
GRIDS = [Grid(0, 1, per_decade=1), SMALL, Grid(-1, 3, per_decade=5), Grid()]
LAWS = [(grid, c) for grid in GRIDS for c in (0.01, 0.3, 0.6)]
LAWS += [(SMALL, 8.0), (GRIDS[0], 36.0), (Grid(0, 3, per_decade=5), 2.0)]


def log_ratio(a, b):
    """ln(a / b) of integers, good to 1e-15 near 1 too; inf if one alone is 0."""
    if not a and not b:
        return 0.0
    return math.log1p(float(Fraction(a, b) - 1)) if a >= b > 0 else math.inf


def loss(table, i, k):
    pairs = zip(table[i].tolist(), table[k].tolist(), strict=True)
    return max(log_ratio(max(pair), min(pair)) for pair in pairs)


def keeps(table, nats):
    """Whether inputs lose at most so many nats for each cell between them."""
    cells = range(len(table))
    return all(
        loss(table, i, k) <= nats * abs(i - k) + 1e-12 for i in cells for k in cells
    )


@pytest.mark.parametrize(
    ("grid", "nats"),
    [
        pytest.param(
            grid, c, marks=[pytest.mark.slow("a large grid")] * (grid == Grid())
        )
        for grid, c in LAWS
    ],
)
def test_two_amounts_lose_c_for_each_cell_between_them(grid, nats):
    near = Near(grid, nats)
    table = near.weights.astype(object)
    assert all(sum(row) == TOTAL and min(row) > 0 for row in table)
    assert keeps(table, nats)
    # The bound is attained, at neighbors and over the whole grid: there is no factor 2.
    last = grid.cells - 1
    exact = max(loss(table, i, i + 1) for i in range(last))
    assert exact <= near.certified <= nats
    assert near.certified == pytest.approx(exact, abs=1e-12)
    # Where weights at the far end are few units, rounding down costs some of the rate.
    slack = 1e-9 + 3 / int(table.min())
    assert near.certified >= nats * (1 - slack) or table.min() < 10


@pytest.mark.parametrize("nats", [0.05, 0.3, 0.5])
def test_the_law_is_the_clamped_two_sided_geometric(nats):
    grid = Grid(0, 2, per_decade=5)
    alpha, cells = math.exp(-nats), range(grid.cells)
    expected = np.empty((grid.cells, grid.cells))
    for i, j in product(cells, cells):
        is_end = j in (0, grid.cells - 1)
        expected[i, j] = (
            alpha ** abs(i - j) * (1 if is_end else 1 - alpha) / (1 + alpha)
        )
    found = Near(grid, nats).weights / TOTAL
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_a_range_chosen_by_the_true_value_is_rejected():
    """50 among 10 to 100, 5,000 among 1,000 to 10,000: disjoint outputs, no privacy."""
    near = Near(Grid(0, 1, per_decade=3), nats=0.5)
    size = near.grid.cells
    by_value = np.zeros((2 * size, 2 * size), dtype=object)
    for decade in range(2):
        mine = slice(decade * size, (decade + 1) * size)
        by_value[mine, mine] = near.weights
    fixed = Near(Grid(0, 3, per_decade=3), nats=0.5).weights.astype(object)
    assert keeps(fixed, 0.5)
    assert not keeps(by_value, 0.5)
    assert not keeps(by_value, 1e6)


@pytest.mark.parametrize("nats", [0.5, 1.5])
def test_a_louder_law_under_the_same_claim_is_rejected(nats):
    table = Near(SMALL, 1.01 * nats).weights.astype(object)
    assert not keeps(table, nats)


@pytest.mark.slow("exact arithmetic")
def test_weights_that_are_rounded_to_the_nearest_integer_are_rejected():
    """At the far end weights are few units, and half a unit is too much."""
    grid, nats = Grid(), 0.6
    alpha, last = math.exp(-nats), grid.cells - 1
    tails = [round(TOTAL * alpha**k / (1 + alpha)) for k in range(last + 1)]
    table = np.empty((last + 1, last + 1), dtype=object)
    for i, j in product(range(last + 1), repeat=2):
        k = abs(i - j)
        table[i, j] = tails[k] if j in (0, last) else tails[k] - tails[k + 1]
    assert keeps(Near(grid, nats).weights.astype(object), nats)
    assert not keeps(table, nats)


@pytest.mark.parametrize(
    ("grid", "nats"), [(Grid(), 0.61), (Grid(), 1.0), (Grid(), 0.0), (SMALL, math.inf)]
)
def test_a_rate_that_integers_cannot_keep_is_refused(grid, nats):
    allowed = f"at most {36 / (grid.cells - 1):g} nats per cell"
    with pytest.raises(InvalidParameterError, match=allowed):
        Near(grid, nats)


@pytest.mark.parametrize("nats", [0.083, 0.085])
def test_a_rate_is_refused_where_one_step_leaves_too_little_at_the_center(nats):
    with pytest.raises(InvalidParameterError, match="can keep on this grid"):
        Near(Grid(-6, 15, per_decade=20), nats)
    assert Near(Grid(-6, 15, per_decade=20), 0.082).certified <= 0.082


def test_help_names_the_largest_rate():
    assert Near(Grid(), 0.6).certified <= 0.6
    assert "Maximum: 0.6." in list_options()["near"].help


@pytest.mark.parametrize("cell", range(SMALL.cells))
def test_draws_at_the_edges_of_the_integers(cell):
    class Edges:
        def __init__(self, draws):
            self.draws = draws

        def integers(self, low, high, size, dtype):
            assert (low, high, size) == (0, TOTAL, len(self.draws))
            return np.array(self.draws, dtype=dtype)

    near = Near(SMALL, 2.0)
    ends = np.cumsum(near.weights[cell]).tolist()
    draws = [0, *(edge for end in ends[:-1] for edge in (end - 1, end)), TOTAL - 1]
    expected = np.repeat(np.arange(SMALL.cells), 2).tolist()
    cells = np.full(len(draws), cell, dtype=np.int32)
    assert near.sample(cells, Edges(draws)).tolist() == expected


# --- inside krr and urr


def mixed(epsilon, first, count, others):
    """Laws of all symbols as fractions: ordinary words and groups, then cells."""
    near = Near(SMALL, 0.7)
    m = others + SMALL.cells
    response = Response.within(epsilon, first, count)
    table = np.full((m, m), Fraction(0))
    for x in range(m):
        targets = [z for z in range(first, first + count) if z != x]
        table[x, targets] = Fraction(response.stray, TOTAL)
        table[x, x] = 1 - len(targets) * Fraction(response.stray, TOTAL)
    inner = np.full((m, m), Fraction(0))
    for x in range(others):
        inner[x, x] = Fraction(1)
    for i, j in product(range(SMALL.cells), repeat=2):
        inner[others + i, others + j] = Fraction(int(near.weights[i, j]), TOTAL)
    return inner.dot(table), response.loss, near.certified


def test_before_krr_amounts_lose_at_most_both_bounds():
    law, epsilon, nats = mixed(2.0, 0, 3 + SMALL.cells, 3)
    for x, y in product(range(len(law)), repeat=2):
        worst = max(max(a / b, b / a) for a, b in zip(law[x], law[y], strict=True))
        bound = nats * abs(x - y) if min(x, y) >= 3 else epsilon
        assert math.log(worst) <= min(bound, epsilon) + 1e-12


def test_before_urr_amounts_have_the_cover_of_sensitive_words():
    law, epsilon, _ = mixed(2.0, 2, 1 + SMALL.cells, 3)
    for z in range(2, len(law)):
        column = law[:, z]
        assert math.log(column.max() / column.min()) <= epsilon + 1e-12
    assert not law[3:, :2].any()


def test_cells_inside_one_symbol_would_lose_more():
    """The alternative: numbers as one symbol that prints a cell; strays print any."""
    epsilon, m = 2.0, 4
    near = Near(SMALL, 0.7)
    kept = math.exp(epsilon) / (math.exp(epsilon) + m - 1)
    stray = (1 - kept) / (m - 1)
    inner = near.weights / TOTAL
    worst = math.log(kept * inner.max() / (stray / SMALL.cells))
    assert worst == pytest.approx(epsilon + math.log(SMALL.cells * inner.max()))
    law, bound, _ = mixed(epsilon, 0, 3 + SMALL.cells, 3)
    assert worst > bound
    assert (
        max(math.log(column.max() / column.min()) for column in law.T) <= bound + 1e-12
    )


def test_blurred_symbols_have_the_law_and_others_are_untouched():
    """Chi-square over 20,000 draws; false alarms: 1e-6."""
    near = Near(SMALL, 0.7)
    state = mg.mechanism("krr", epsilon=2.0).prepare(
        Alphabet("tiny", "0" * 64, 2, 1 + SMALL.cells)
    )
    rng = np.random.default_rng(3)
    blurred = near.blur(np.array([0, 1, 2, 4] * 20_000, dtype=np.int32), 3, rng)
    assert (blurred.reshape(-1, 4)[:, :3] == [0, 1, 2]).all()
    cells = blurred[3::4]
    found = np.bincount(state.sample(cells, rng), minlength=7)
    law, _, _ = mixed(2.0, 0, 3 + SMALL.cells, 3)
    expected = 20_000 * law[4].astype(float)
    assert stats.chisquare(found, expected * found.sum() / expected.sum()).pvalue > 1e-6


# --- cells


@given(st.integers(1, 10**8), st.integers(0, 3))
def test_a_cell_is_the_one_of_the_formula(number, places):
    grid = Grid(-1, 6, per_decade=7)
    value = number / 10**places
    whole, fraction = divmod(number, 10**places)
    word = f"{whole:,}" + (f".{fraction:0{places}d}" if places else "")
    exact = math.log(value / 0.1) * 7 / math.log(10)
    cell = grid.find_cell(word)
    if cell is None:
        assert 1900 <= number < 2100
    elif abs(exact % 1 - 0.5) > 1e-6:
        assert cell == min(max(round(exact), 0), grid.cells - 1)


@pytest.mark.parametrize("word", ["0", "0.0", "0.001", "1"])
def test_amounts_up_to_the_lowest_cell_are_alike(word):
    assert Grid().find_cell(word) == 0


@pytest.mark.parametrize("word", ["1,000,000", "98765432", "1" + "0" * 300, "9" * 5000])
def test_amounts_beyond_the_highest_cell_are_alike(word):
    assert Grid().find_cell(word) == 60


@pytest.mark.parametrize(
    "word", ["07", "1999", "12,00", "1,2", "٣", "3a", "", "1.", ".5", "-3"]
)
def test_other_words_have_no_cell(word):
    assert Grid().find_cell(word) is None


@pytest.mark.parametrize("per_decade", range(1, 21))
@pytest.mark.parametrize("low", [-6, -2, 0, 3])
def test_each_cell_prints_an_amount_of_its_own(low, per_decade):
    grid = Grid(low, low + 6, per_decade=per_decade)
    printed = [grid.print(cell) for cell in range(grid.cells)]
    assert len(set(printed)) == grid.cells
    assert [shape.print(0) for shape in grid.shapes()] == printed
    values = [float(word.replace(",", "")) for word in printed]
    assert values == sorted(values)
    for cell, value in enumerate(values):
        assert value == pytest.approx(10 ** (low + cell / per_decade), rel=0.051)
        word = printed[cell]
        if grid.find_cell(word) is not None:  # 1,900 to 2,099 may be years
            assert grid.find_cell(word) == cell


@pytest.mark.parametrize(
    "given", [(3, 3, 5), (-7, 2, 5), (0, 16, 5), (0, 3, 0), (0, 3, 21)]
)
def test_a_grid_out_of_range_is_refused(given):
    with pytest.raises(InvalidParameterError):
        Grid(*given)


# --- amounts in texts

TEXTS = {
    "I earn 4,200.50 a month.": ["4,200.50"],
    "30": ["30"],
    "It cost $1,000,000, or €3.": ["1,000,000", "3"],
    '(12) -5% and "7"': ["12", "5", "7"],
    "born in 1985, at 10:30, on 07/05, 555-1234": [],
    "192.168.0.1 v2 user@12.5 1.2.3 1,2,3 a_12 x/12": [],
    "12,34 and 0123 and 3rd": [],
    "30-year-old, 12's, A/4": [],
    "10\n20\n": ["10", "20"],
    "from 5.": ["5"],
}


@pytest.mark.parametrize(("text", "amounts"), TEXTS.items())
def test_amounts_are_those_that_stand_alone(text, amounts):
    batch = merge_amounts(tokenize([None, text]))
    assert "".join(batch.parts[1]) == text
    words = batch.words()
    symbols = np.zeros(len(words), dtype=np.int32)
    found = AmountLookup(Grid(), 100).recode(batch, symbols)
    places = np.flatnonzero(found).tolist()
    assert [words[i] for i in places] == amounts
    assert [found[i] - 100 for i in places] == [Grid().find_cell(w) for w in amounts]


PLAIN = {
    "I earn 4,200.50 a month.": ["I", "earn", "a", "month"],
    "30": [],
    "It cost $1,000,000, or €3 or $52000.": ["It", "cost", "or", "or"],
    "a 4711 is 0.25% of it": ["a", "is", "of", "it"],
    "born in 1985, at 10:30, on 07/05, 555-1234": (
        "born in 1985 at 10 30 on 07 05 555 1234"
    ),
    "call +49 170 5551234 or (0170) 555 12 34": "call 49 170 5551234 or 0170 555 12 34",
    "call 5551234 or 170\n5551": "call 5551234 or 170 5551",
    "card 4111 1111 1111 1111": "card 4111 1111 1111 1111",
    "card 4111111111111111, zip 90210, id 123456": (
        "card 4111111111111111 zip 90210 id 123456"
    ),
    "IBAN DE89 3704 0044 0532": "IBAN DE89 3704 0044 0532",
    "mail a30@b.org, x12, #12, A/4, 192.168.0.1": (
        "mail a30 b org x12 12 A 4 192 168 0 1"
    ),
}


@pytest.mark.parametrize(("text", "left"), PLAIN.items())
def test_plain_amounts_pass_and_phones_cards_and_ids_never(text, left):
    opened = open_amounts(tokenize([None, text]))
    assert "".join(opened.parts[1]) == text
    assert opened.words() == (left.split() if isinstance(left, str) else left)


@given(st.text(alphabet="0123456789,.$-% a\n:/@", max_size=30))
def test_texts_are_merged_and_opened_without_loss(text):
    for change in (merge_amounts, open_amounts):
        (parts,) = change(tokenize([text])).parts
        assert "".join(parts) == text
        assert len(parts) % 2 == 1


def test_the_magnitude_of_an_amount_is_not_in_the_structure():
    """Commas of thousands would tell it, if they passed."""
    structures = set()
    for amount in ("7", "950", "12,000", "1,250,000.75"):
        (parts,) = merge_amounts(tokenize([f"I earn {amount} a year"])).parts
        structures.add(tuple(parts[::2]))
    assert len(structures) == 1


def test_the_statements_name_the_grid_and_what_passes():
    near = Near(Grid(), 0.5)
    (line,) = near.equivalents
    assert "61 cells, 1 to 1,000,000" in line
    assert 0.4999999999990001 <= near.certified <= 0.5
    stated = f"0.5 nats for a factor of 1.259 (certified: {near.certified!r})"
    assert stated in line
    assert "at most 30 nats" in line
    assert near.disclosed[0].startswith("magnitude of amounts:")
    assert "million" in near.disclosed[1]


@pytest.mark.parametrize("per_decade", [3, 10, 14])
def test_no_rate_that_is_taken_loses_more_than_it_says(per_decade):
    grid = Grid(0, 6, per_decade)
    most = 36 / (grid.cells - 1)
    for nats in (0.01, 0.1, 0.3, most):
        if nats <= most:
            assert Near(grid, nats).certified <= nats
