"""Linkage and repeated releases: at both ends, and against brute force."""

from dataclasses import replace

import numpy as np
import pytest
from tests.attacks import small

import mondegreen as mg
from mondegreen.attacks.averaging import RELEASES, averaging
from mondegreen.attacks.linkage import OF_ROW, build_linkage, link_rows, linkage
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
    found = ways(linkage(state, pairs))
    first = found["first 5 words"]
    assert (first["value"], first["n"]) == by_brute_force(state, pairs, 5)
    assert first["chance"] == pytest.approx(1 / first["n"])
    assert first["low"] <= first["value"] <= first["high"]
    assert "first 20 words" not in found


def test_a_limit_is_compared_with_the_strongest_way():
    """The first five words stay below this limit; all words do not."""
    state = small.states()["tree"]
    pairs = drawn(state, small.texts_of(60, 30))
    attack = linkage(state, pairs)
    found = ways(attack)
    first, best = found["first 5 words"], found[attack.details["strongest"]]
    assert attack.value == best["value"] == max(way["value"] for way in found.values())
    assert first["high"] < best["value"]
    limit = (first["high"] + best["value"]) / 2
    assert attack.say_excess(limit) == f"is {best['value']:.4g} by {best['by']}"
    assert f"Best way: {best['by']}" in attack.adversary
    assert attack.say_excess(1.0) is None


def test_the_end_of_a_wider_interval_counts_too():
    ways = [
        {"by": "structure", "value": 0.5, "low": 0.45, "high": 0.55, "n": 900},
        {"by": "first 20 words", "value": 0.3, "low": 0.1, "high": 0.8, "n": 6},
    ]
    ways = [{**way, "chance": 0.0} for way in ways]
    found = build_linkage(ways, 900)
    assert found.value == 0.5
    wanted = "is 0.3 and may be up to 0.8 by first 20 words"
    assert found.say_excess(0.6) == wanted
    assert found.say_excess(0.81) is None


def test_structure_alone_is_no_result_where_words_are_not_known():
    state = small.states()["tree"]
    pairs = replace(drawn(state, small.texts_of(9, 4)), released=None)
    found = linkage(state, pairs)
    assert found.value is None
    assert found.say_excess(1.0) == "is not known"


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
    texts = [f"{a} {a}", f"{a}, {b}", f"{b}, {b}", f"{a} {b} {a}"]
    found = ways(linkage(state, drawn(state, texts)))
    assert found["structure"]["value"] == pytest.approx((1 + 0.5 + 0.5 + 1) / 4)
    assert found["number of words"]["value"] == pytest.approx((3 / 3 + 1) / 4)


def test_a_text_that_several_people_wrote_is_found_by_any_of_them():
    state = small.states()["tree"]
    a, b = small.WORDS[:2]
    texts = [f"{a} {b}", f"{a}, {b}", f"{a}, {b}", f"{a} {b} {a}"]
    found = ways(linkage(state, drawn(state, texts)))
    assert found["structure"]["value"] == 1.0
    # Words are equal where only a comma is not: two words are those of all three texts.
    assert found["number of words"]["value"] == 1.0
    assert found["structure"]["chance"] == pytest.approx((3 + 3 + 3 + 1) / 16)


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


def test_texts_of_a_row_are_linked_as_one_text():
    state = small.states()["tree"]
    texts = small.texts_of(80, 6)
    pairs = drawn(state, texts)
    rows = [i // 2 for i in range(len(texts))]
    whole = replace(
        drawn(
            state, [f"{a} {b}" for a, b in zip(texts[::2], texts[1::2], strict=True)]
        ),
        released=pairs.released,
    )
    alone = linkage(state, pairs)
    found, wanted = (
        ways(link_rows(alone, state, pairs, rows)),
        ways(linkage(state, whole)),
    )
    for name in ("first 5 words", "all words"):
        together = found[name + OF_ROW]
        assert together["value"] == wanted[name]["value"]
        assert together["n"] == wanted[name]["n"] == 40
    assert link_rows(alone, state, pairs, range(len(texts))) is alone
