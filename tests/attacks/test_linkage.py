"""Linkage and repeated releases: at both ends, and against brute force."""

import numpy as np
import pytest
from tests.attacks import small

import mondegreen as mg
from mondegreen.attacks.averaging import RELEASES, averaging
from mondegreen.attacks.linkage import linkage
from mondegreen.attacks.pairs import build_pairs
from mondegreen.text.lookup import Lookup


def ways(attack):
    return {each["by"]: each for each in attack.details["by"]}


def drawn(state, texts, seed=0):
    lookup = Lookup(state.space)
    return build_pairs(texts, lookup).sample(state, np.random.default_rng(seed))


def by_brute_force(state, pairs, first):
    law = np.log(small.law_of(state))
    texts = [slice(*ends) for ends in zip(pairs.starts, pairs.starts[1:], strict=False)]
    texts = [each for each in texts if each.stop - each.start >= first]
    hits = []
    for own, mine in enumerate(texts):
        scores = [
            law[pairs.inputs[each][:first], pairs.outputs[mine][:first]].sum()
            for each in texts
        ]
        hits.append(int(np.argmax(scores)) == own)
    return np.mean(hits), len(hits)


@pytest.mark.parametrize("name", list(small.states()))
def test_the_first_words_link_as_brute_force_does(name):
    state = small.states()[name]
    texts = small.texts_of(40, 7) + small.texts_of(10, 3, seed=4)
    pairs = drawn(state, texts)
    found = linkage(state, pairs)
    assert (found.value, found.n) == by_brute_force(state, pairs, 5)
    assert found.chance == pytest.approx(1 / found.n)
    assert found.low <= found.value <= found.high
    assert "first 20 words" not in ways(found)


def test_all_words_link_among_texts_of_one_length():
    state = small.states()["tree"]
    pairs = drawn(state, small.texts_of(30, 6) + small.texts_of(20, 9, seed=4))
    first = drawn(state, small.texts_of(30, 6))
    assert ways(linkage(state, pairs))["all words"]["n"] == 50
    found = ways(linkage(state, first))["all words"]
    assert found["value"] == by_brute_force(state, first, 6)[0]


def test_without_noise_all_is_linked_and_without_information_nothing():
    texts = [
        f"{text} {' '.join(small.texts_of(1, 14, seed=i))}"
        for i, text in enumerate(small.texts_of(80, 8))
    ]
    clear = small.tree_state(small.EXACT)
    found = ways(linkage(clear, drawn(clear, texts)))
    assert found["first 5 words"]["value"] > 0.95
    assert found["first 20 words"]["value"] == 1.0
    assert found["all words"]["value"] == 1.0
    blind = small.tree_state(small.NOTHING)
    for way in linkage(blind, drawn(blind, texts)).details["by"]:
        assert way["value"] == pytest.approx(1 / 80, abs=0.03)


def test_groups_in_any_order_link():
    state = small.tree_state([0.0, 0.98, 0.0, 0.02])
    texts = [
        " ".join([small.WORDS[3 * (i % 8)]] * 4 + [small.WORDS[3 * (i // 8)]] * 6)
        for i in range(64)
    ]
    assert (
        ways(linkage(state, drawn(state, texts)))["groups in any order"]["value"] > 0.8
    )


def test_structure_links_and_so_does_the_number_of_words():
    state = small.states()["tree"]
    a, b = small.WORDS[:2]
    texts = [f"{a} {b}", f"{a}, {b}", f"{a}, {b}", f"{a} {b} {a}"]
    found = ways(linkage(state, drawn(state, texts)))
    assert found["structure"]["value"] == pytest.approx((1 + 0.5 + 0.5 + 1) / 4)
    assert found["number of words"]["value"] == pytest.approx((3 / 3 + 1) / 4)


def test_distances_stand_for_a_law_that_is_not_known():
    state = mg.mechanism("laplace", epsilon=1000.0).prepare(small.space())
    found = ways(linkage(state, drawn(state, small.texts_of(50, 8))))
    assert found["first 5 words"]["value"] > 0.9
    assert "groups in any order" not in found


def repeated_by_brute_force(law, outputs, prior, count):
    logs = np.log(prior) + np.log(law)[:, outputs[:, :count]].sum(axis=2).T
    return logs.argmax(axis=1)


@pytest.mark.parametrize("name", list(small.states()))
def test_repeated_releases_are_guessed_as_by_brute_force(name):
    state, prior, pairs = small.states()[name], small.prior_of(), small.pairs()
    found = averaging(state, pairs, prior, np.random.default_rng(3))
    rng = np.random.default_rng(3)
    words = rng.choice(pairs.inputs, min(500, len(pairs.inputs)), replace=False)
    outputs = state.sample(np.repeat(words, 20), rng).reshape(len(words), 20)
    for way, count in zip(found.details["by"], RELEASES, strict=True):
        guess = repeated_by_brute_force(small.law_of(state), outputs, prior, count)
        assert way["value"] == pytest.approx((guess == words).mean())
    assert found.value > found.details["by"][0]["value"]


def test_repetition_without_information_stays_at_chance():
    state, prior = small.tree_state(small.NOTHING), small.prior_of()
    found = averaging(state, small.pairs(), prior, np.random.default_rng(0))
    assert found.value == found.chance
    clear = small.tree_state(small.EXACT)
    assert averaging(clear, small.pairs(), prior, np.random.default_rng(0)).value == 1.0
