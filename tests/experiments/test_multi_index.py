"""Multi-index hashing: exact on every code of a small space; bounded, still private.

Laws are enumerated over all noisy codes, with none of the code that draws.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from mechanisms.laws import table_violation
from mondegreen.space.search.hamming import HammingSearch
from mondegreen_experiments.measures.multi_index import MultiIndex
from mondegreen_experiments.papers import recipe_named

BITS, PARTS, EPSILON = 8, 2, 0.9
EVERY = np.arange(1 << BITS, dtype=np.uint8)[:, None]
FLIP = 1 / (1 + math.exp(EPSILON))


def some_codes(count, size):
    """Codes of which some are the same, so that words tie."""
    rows = np.random.default_rng(5).integers(0, 256, (count, size), dtype=np.uint8)
    return np.concatenate([rows, rows[:3], rows[:1]])


@pytest.fixture(scope="module")
def table():
    return some_codes(9, 1)


def hamming(first, second):
    return np.bitwise_count(first[:, None] ^ second[None]).sum(axis=2, dtype=np.int64)


def noise(table):
    """P(v | w) for all noisy codes."""
    far = hamming(table, EVERY)
    return FLIP**far * (1 - FLIP) ** (BITS - far)


def law_of(table, ties):
    """P(y | w) where each noisy code becomes one of its words by equal chances."""
    chances = np.zeros((len(EVERY), len(table)))
    for row, words in zip(chances, ties, strict=True):
        row[words] = 1 / len(words)
    return noise(table) @ chances


def violation(table, law):
    with np.errstate(divide="ignore"):
        return table_violation(np.log(law), hamming(table, table), EPSILON)


def whole_ties(table, codes=EVERY):
    return [np.sort(words) for words in HammingSearch(table).ties(codes)]


@pytest.mark.slow("all codes")
@pytest.mark.parametrize("parts", [2, 4])
def test_the_exact_search_finds_what_exhaustive_search_finds_for_every_code(parts):
    table = some_codes(24, 2)
    every = np.arange(1 << 16, dtype=">u2").view(np.uint8).reshape(-1, 2)
    exact = MultiIndex(table, parts).ties(every)
    assert all(map(np.array_equal, exact, whole_ties(table, every)))


@pytest.mark.parametrize("flips", [0, 1])
def test_a_bounded_search_keeps_the_bound_and_has_another_law(table, flips):
    bounded = law_of(table, MultiIndex(table, PARTS, flips).ties(EVERY))
    exact = law_of(table, whole_ties(table))
    assert bounded.sum(axis=1) == pytest.approx(1)
    assert violation(table, bounded) <= 1e-9
    assert violation(table, exact) <= 1e-9
    apart = np.abs(bounded - exact).sum(axis=1).max() / 2
    assert apart > (0.001 if flips else 0.1)


def test_laws_are_no_farther_apart_than_the_searches_disagree(table):
    ties, whole = MultiIndex(table, PARTS, 0).ties(EVERY), whole_ties(table)
    both = zip(ties, whole, strict=True)
    differs = np.array([not np.array_equal(*each) for each in both])
    apart = np.abs(law_of(table, ties) - law_of(table, whole)).sum(axis=1) / 2
    assert (apart <= noise(table) @ differs + 1e-12).all()


def test_a_search_that_falls_back_on_the_input_breaks_the_bound(table):
    """The twin that must fail: what it finds depends on the word beside its noise."""
    ties = MultiIndex(table, PARTS, 0).ties(EVERY)
    law = np.empty((len(table), len(table)))
    for word in range(len(table)):
        own = [[word] if len(words) == len(table) else words for words in ties]
        law[word] = law_of(table, own)[word]
    assert violation(table, law_of(table, ties)) <= 1e-9
    assert violation(table, law) > 0.1


@pytest.mark.parametrize("flips", [None, 0])
def test_words_are_drawn_uniformly_among_those_found(table, flips):
    search = MultiIndex(table, PARTS, flips)
    one = [i for i, words in enumerate(search.ties(EVERY)) if len(words) > 1][:4]
    for place in one:
        words = search.ties(EVERY[[place]])[0]
        codes = np.repeat(EVERY[[place]], 4000, axis=0)
        seen = np.bincount(
            search.pick(codes, np.random.default_rng(0)), minlength=len(table)
        )
        assert set(np.flatnonzero(seen)) == set(words)
        assert seen[words] / 4000 == pytest.approx(1 / len(words), abs=0.04)


@pytest.mark.slow("many draws")
def test_words_of_the_default_space_stay_less_often_with_few_probes():
    from mondegreen_experiments.bench import Bench

    recipe = recipe_named("brr-search")
    point = {"epsilon": 2, "words": 40}
    exact, bounded = (
        recipe.measure(Bench(), {**point, "flips": flips}, 0)
        for flips in ("exact", "0")
    )
    assert exact["agrees"] == 1
    assert exact["unchanged"] == exact["unchanged_exhaustive"] > 0.9
    assert bounded["agrees"] < 1
    assert bounded["unchanged_exhaustive"] == exact["unchanged_exhaustive"]
    assert bounded["time_ratio"] < exact["time_ratio"]
