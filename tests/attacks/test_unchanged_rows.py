"""Rows that stay: what chance explains, and what it does not."""

import math

import numpy as np
import pytest

from mondegreen.attacks.printed import PolicyRows
from mondegreen.attacks.unchanged import UnchangedRows, is_chance
from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.policy import load_policy


def count(chances, stays, *, are_independent=True):
    rows = UnchangedRows(are_independent=are_independent)
    numbers = np.arange(1, len(chances) + 1)
    with np.errstate(divide="ignore"):
        rows.add(numbers, np.log(np.asarray(chances)), np.asarray(stays))
    return rows.make_attack()


def test_rows_that_stay_by_chance_are_not_counted():
    rng = np.random.default_rng(1)
    for _ in range(50):
        chances = 10.0 ** rng.uniform(-9, 0, 5000)
        found = count(chances, rng.random(5000) < chances)
        assert found.value == 0
        assert found.details["expected"] >= chances.sum() * 0.999


def test_one_row_of_many_hidden_words_is_enough():
    chances = np.full(100_000, 1e-2)
    stays = np.zeros(100_000, dtype=bool)
    stays[:1000] = True  # as many as chance explains
    assert count(chances, stays).value == 0
    chances[77_777], stays[77_777] = 1e-9, True
    found = count(chances, stays)
    assert (found.value, found.details["rows"]) == (1, [77_778])
    assert found.details["found"] == 1001


def test_too_many_rows_of_few_words_are_counted():
    chances, stays = np.full(1000, 1e-2), np.zeros(1000, dtype=bool)
    stays[:40] = True
    assert count(chances, stays).value == 40
    # Under a key they may be one draw, which is no proof of anything.
    assert count(chances, stays, are_independent=False).value == 0
    chances[3] = 1e-8
    assert count(chances, stays, are_independent=False).value == 1


def test_what_cannot_happen_is_found_and_what_is_not_known_is_not():
    assert count([0.0, 0.5], [True, False]).value == 1
    assert count([0.0, 0.5], [False, True]).value == 0
    assert count([math.nan, 0.5], [True, False]).value is None
    assert UnchangedRows(are_independent=True).make_attack().value is None
    assert is_chance(0, 0.0)
    assert not is_chance(1, 0.0)


def rows_of(pairs, same="place"):
    rows = PolicyRows(PolicyLookup(load_policy("sensitive")), same)
    texts, releases = zip(*pairs, strict=True)
    rows.add(range(1, len(texts) + 1), texts, releases)
    return rows


TEXT = "Maria and Peter have diabetes and moved from Boston to Oslo in July."


@pytest.mark.parametrize("same", ["place", "record", "key"])
@pytest.mark.parametrize(
    "shown",
    [
        TEXT,
        TEXT.upper().replace(" ", "\n"),
        f"Well then, {TEXT}",
        TEXT.replace(" and ", " or "),
    ],
)
def test_a_row_whose_hidden_words_stay_is_raw(shown, same):
    plain = ("It rained all day.", "It rained all day.")
    found = rows_of([plain, (TEXT, shown)], same).make_attack()
    assert (found.value, found.n, found.details["rows"]) == (1, 1, [2])


def test_a_row_that_lost_a_hidden_word_is_not_raw():
    found = rows_of([(TEXT, TEXT.replace("Maria", "Laura"))]).make_attack()
    assert found.value == 0


def test_equal_words_of_a_row_count_once():
    """A wider scope prints them alike, so they are one draw."""
    text = "Maria met Maria, and Maria saw Maria."
    assert rows_of([(text, text)]).make_attack().value == 0


def test_words_that_share_a_group_are_drawn_without_each_other():
    """Of n members, k stay with a chance of 1 / (n (n - 1) ...) at most."""
    policy = load_policy("sensitive")
    text = "Maria met Laura."
    symbol = policy.symbols["maria"]
    assert policy.symbols["laura"] == symbol
    size = int(policy.sizes[symbol])
    found = rows_of([(text, text)]).make_attack()
    assert found.details["expected"] == pytest.approx(1 / (size * (size - 1)))


def test_a_word_that_no_group_prints_is_foreign():
    rows = rows_of([(TEXT, TEXT.replace("Boston", "Zyxwolde"))])
    assert (rows.foreign, rows.foreign_rows, rows.looks_drawn) == (1, [1], False)
    assert "Zyx" not in repr(rows)


def test_a_code_that_is_never_printed_is_foreign():
    """Letters that became digits: the row is another tool's, or none's."""
    text = "Hello, my order is A12345 there."
    for shown, foreign in (("Hell0", 1), ("Hello", 0)):
        rows = rows_of([(text, f"{shown}, my order is BX4711 there.")])
        assert (rows.foreign, rows.looks_drawn) == (foreign, not foreign)


@pytest.mark.parametrize("printed", ["XX4711", "nutanix"])
def test_what_the_policy_prints_is_not_foreign(printed):
    """A code that ends like a later lap, and a part of an address that is a name."""
    lookup = PolicyLookup(load_policy("sensitive"))
    rows = rows_of([("Order A12345 it is", f"Order {printed} it is")])
    assert lookup.policy.describe(lookup.find_symbol("A12345"))[1] == "code"
    assert rows.foreign == 0
