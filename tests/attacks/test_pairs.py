"""Which words of two files belong together, and when that is refused."""

import numpy as np
import pytest
from tests.attacks import small

import mondegreen as mg
from mondegreen.attacks.attack import by_texts, wilson
from mondegreen.attacks.pairs import build_pairs, looks_drawn
from mondegreen.attacks.reader import TableReader, reader
from mondegreen.errors import ConfigurationError
from mondegreen.text.lookup import Lookup

A, B, C = small.WORDS[:3]


def read(texts, releases=None):
    return build_pairs(texts, Lookup(small.space()), releases)


def test_released_words_are_read_back():
    releases = [f"{B.title()}, {A}.", "", f"{C} {C}"]
    found = read([f"{A}, unheard.", "", f"{B} {A}"], releases)
    assert found.inputs.tolist() == [0, small.SIZE, 1, 0]
    assert found.outputs.tolist() == [1, 0, 2, 2]
    assert found.starts.tolist() == [0, 2, 2, 4]
    assert found.ends[[1, 3]].all()
    assert found.left_out == 0


def test_what_was_mended_for_print_is_one_word_again():
    words = [A, B, "doesn", "does", "not"]
    points = np.arange(5.0)[:, None]
    lookup = Lookup(mg.Space.from_arrays("line", words, points))
    texts, releases = [f"{A}'s don't {B}"], [f"{B} doesn't {A} {A}"]
    assert build_pairs(texts, lookup, releases).outputs.tolist() == [1, 2, 0, 0]


def test_texts_that_do_not_align_are_left_out():
    texts = [f"{A} {B}"] * 3
    found = read(texts, [f"{B} {C}", f"{B}, {C}", f"{C} {C}"])
    assert (found.texts, found.left_out) == (2, 1)
    assert found.outputs.tolist() == [1, 2, 2, 2]


def test_a_text_with_a_contraction_is_aligned_with_its_release():
    found = read([f"{A}n't {B}", f"{A} {B}"], [f"{B} {C} {A}", f"{C} {C}"])
    assert found.left_out == 0
    assert found.outputs.tolist() == [1, 2, 0, 2, 2]


@pytest.mark.parametrize("release", [f"{A}. {B}", f"{A} unheard", A])
def test_a_release_of_other_texts_has_no_words_to_compare(release):
    found = read([f"{A} {B}"] * 3, [release] * 3)
    assert found.released is None
    with pytest.raises(
        ConfigurationError, match="do not match the words of SAMPLE"
    ) as error:
        _ = found.outputs
    assert A not in str(error.value)


def test_no_text_is_shown():
    assert A not in repr(read([f"{A} {B}"]))


STATES = small.states() | {"spread": small.tree_state([0.1, 0.2, 0.3, 0.4])}


@pytest.mark.parametrize("name", list(STATES))
def test_what_a_setting_drew_looks_drawn_and_nothing_else_does(name):
    state, pairs = STATES[name], small.pairs(200)
    rng = np.random.default_rng(0)
    drawn = pairs.sample(state, rng)
    assert looks_drawn(state, drawn)
    assert not looks_drawn(state, pairs.sample(small.tree_state(small.EXACT), rng))
    assert not looks_drawn(state, pairs.sample(small.tree_state(small.NOTHING), rng))


def test_intervals_are_wider_where_texts_differ():
    words = np.full(100, 20.0)
    alike, apart = np.full(100, 10.0), np.repeat([0.0, 20.0], 50)
    near, far = by_texts(alike, words), by_texts(apart, words)
    assert near[0] < 0.5 < near[1]
    assert far[1] - far[0] > 3 * (near[1] - near[0])


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_without_a_miss_or_a_hit_words_of_one_text_count_as_one(share):
    """Five texts of 1,000 words each, where one in ten texts is the other way."""
    words = np.full(5, 1000.0)
    low, high = by_texts(share * words, words)
    assert low <= abs(share - 0.1) <= high
    assert (low, high) == wilson(5 * share, 5)


@pytest.mark.slow("many intervals")
def test_intervals_cover_the_truth():
    rng, hits = np.random.default_rng(0), 0
    for _ in range(200):
        shares = rng.beta(2, 4, size=40)
        counts = rng.integers(1, 30, size=40)
        low, high = by_texts(rng.binomial(counts, shares).astype(float), counts)
        hits += low <= 1 / 3 <= high
    assert hits >= 180


@pytest.mark.parametrize("runs", [1, 7, 49, 500, 1000, 5808])
def test_an_interval_holds_the_share_at_both_ends(runs):
    for hits in (0, runs):
        low, high = wilson(hits, runs)
        assert 0 <= low <= hits / runs <= high <= 1


def test_the_strongest_reader_counts():
    state, pairs = small.tree_state(small.EXACT), small.pairs()
    drawn = pairs.sample(state, np.random.default_rng(0))
    every, none = np.arange(small.SIZE), np.full(small.SIZE, small.SIZE - 1)
    readers = {"nothing": TableReader(none), "the words": TableReader(every)}
    prior = small.prior_of()
    found = reader(drawn, readers, prior)
    assert found.value == 1.0
    assert found.adversary.endswith("the words")
    assert found.details["readers"]["nothing"] < 0.2
    blind = pairs.sample(small.tree_state(small.NOTHING), np.random.default_rng(0))
    guess = np.full(small.SIZE, int(prior.argmax()))
    at_chance = reader(blind, {"frequencies": TableReader(guess)}, prior)
    assert at_chance.value == at_chance.chance
