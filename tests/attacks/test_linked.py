"""Scopes: places that are printed alike are read together."""

import numpy as np
import pytest
from tests.attacks.people import make_texts_of_people

import mondegreen as mg
from mondegreen.attacks.linked import (
    combine_places,
    draw_linked,
    find_scope,
    link_printed,
    solve_cipher,
)
from mondegreen.attacks.policies import strongest_reader
from mondegreen.attacks.sensitive import (
    BEST,
    TOGETHER,
    InDomainReader,
    guess_hidden_words,
    sensitive_words,
)
from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.policy import load_policy
from mondegreen.policy.printing import PolicyPrinter
from mondegreen.policy.scope import make_scope
from mondegreen.privatizer.build import build_privatizer
from mondegreen.sampling.noise import KeyedNoise, Seeded
from mondegreen.settings import Settings
from mondegreen.text.tokenizer import tokenize

ENDS = {
    "diabetes": "since then",
    "asthma": "for long",
    "cancer": "at last",
    "influenza": "once again",
}
TEXTS = [f"We know {word}. I have {word} {end}." for word, end in ENDS.items()] * 10


def attacked(same):
    """What the reader recovers; one place of each text tells the word, one does not."""
    policy, rng = load_policy("sensitive"), np.random.default_rng(4)
    state = mg.mechanism("urr", epsilon=30.0).prepare(policy.alphabet)
    reader = InDomainReader(policy, TEXTS, state.response)
    batch = tokenize(TEXTS)
    symbols = reader.lookup.codes(batch)
    if same == "place":
        released, links = state.sample(symbols, rng), None
    else:
        released, links = draw_linked(policy, state, batch, symbols, same, rng)
    guesses = guess_hidden_words(reader, batch, released, links=links)
    return sensitive_words(batch, guesses).value


def test_a_record_gives_the_word_back_at_all_its_places():
    assert attacked("place") == pytest.approx(0.5 + 0.5 / len(ENDS))
    assert attacked("record") == 1.0


def test_a_key_links_texts():
    assert attacked("key") == 1.0


def test_linked_places_get_the_word_with_the_largest_product():
    ids = np.array([[0, 1], [1, 2], [0, 2], [0, 1]], dtype=np.int32)
    shares = np.array([[0.6, 0.4], [0.9, 0.1], [0.3, 0.7], [0.6, 0.4]])
    links = np.array([0, 0, 2, 3])
    assert combine_places(ids, shares, links).tolist() == [1, 1, 2, 0]


def test_equal_words_of_all_texts_are_read_as_a_cipher():
    """Names without any context: the key alone hides them, and their counts tell."""
    names = ("Anna", "Maria", "Julia", "Laura", "Sarah", "Helen")
    texts = [f"{n} came." for i, n in enumerate(names) for _ in range(2 ** (7 - i))]
    policy, rng = load_policy("sensitive"), np.random.default_rng(4)
    state = mg.mechanism("urr", epsilon=30.0).prepare(policy.alphabet)
    reader = InDomainReader(policy, texts, state.response)
    batch = tokenize(texts)
    symbols = reader.lookup.codes(batch)
    released, links = draw_linked(policy, state, batch, symbols, "key", rng)
    guesses = guess_hidden_words(reader, batch, released, links=links)
    found = strongest_reader(sensitive_words(batch, guesses))
    ways = {way["by"]: way["value"] for way in found.details["by"]}
    assert ways["whole sentences"] == pytest.approx(128 / 252)
    assert ways["how often each word is printed"] == 1.0
    assert found.value == 1.0


def test_words_of_the_same_texts_give_names_back_that_are_alike_in_number():
    """Each person has four words of four groups, and all people as many texts."""
    texts = make_texts_of_people()
    policy, rng = load_policy("sensitive"), np.random.default_rng(4)
    state = mg.mechanism("urr", epsilon=30.0).prepare(policy.alphabet)
    reader = InDomainReader(policy, texts[::2], state.response)
    batch = tokenize(texts[1::2])
    symbols = reader.lookup.codes(batch)
    released, links = draw_linked(policy, state, batch, symbols, "key", rng)
    guesses = guess_hidden_words(reader, batch, released, links=links)
    found = strongest_reader(sensitive_words(batch, guesses))
    ways = {way["by"]: way["value"] for way in found.details["by"]}
    together, best = ways.pop(TOGETHER), ways.pop(BEST)
    assert max(ways.values()) < 0.3
    assert together > 0.9
    assert found.value == max(together, best)
    # Nothing is told where nothing is known, or nothing is hidden.
    nobody = InDomainReader(policy, ["It is late."], state.response)
    guesses = guess_hidden_words(nobody, batch, released, links=links)
    assert sensitive_words(batch, guesses).value == 0.0


def test_a_printed_word_that_no_known_text_has_takes_no_other_word():
    ids = np.zeros((9, 1), dtype=np.int32)
    links = np.array([0, 0, 0, 0, 0, 0, 6, 6, 6])
    symbols = np.full(9, 5, dtype=np.int32)
    found = solve_cipher(ids, np.ones((9, 1)), links, symbols, {5: {1: 60, 2: 30}})
    assert found.tolist() == [1] * 6 + [2] * 3
    # One word is known, and printed most: the other output is left to the reader.
    found = solve_cipher(ids, np.ones((9, 1)), links, symbols, {5: {1: 60}})
    assert found.tolist() == [1] * 6 + [0] * 3


@pytest.mark.parametrize("same", ["record", "key"])
def test_a_printed_release_has_the_links_of_what_was_drawn(same):
    policy = load_policy("sensitive")
    state = mg.mechanism("urr", epsilon=30.0).prepare(policy.alphabet)
    reader = InDomainReader(policy, TEXTS, state.response)
    batch, texts = tokenize(TEXTS), len(TEXTS)
    symbols = reader.lookup.codes(batch)
    scope = make_scope(same, policy, key=bytes(32))
    codes = scope.draw(batch, symbols, state.sample, np.random.default_rng(0))
    printed = tokenize(PolicyPrinter(policy).join(batch, codes))
    released = reader.lookup.print_codes(printed)
    links = link_printed(reader.lookup, printed, released, same)
    assert len(links) == len(symbols)
    hidden = policy.alphabet.is_group(released)
    counts = np.unique(links[hidden], return_counts=True)[1]
    assert len(counts) == (texts if same == "record" else len(ENDS))
    assert (counts == (2 if same == "record" else 2 * texts / len(ENDS))).all()
    assert len(np.unique(links[~hidden])) == (~hidden).sum()


@pytest.mark.parametrize("same", ["place", "record", "key"])
@pytest.mark.parametrize("name", ["urr", "krr"])
def test_the_scope_of_a_release_is_found(same, name):
    policy = load_policy("sensitive")
    text = "Ann met Bob in Oslo. Bob has asthma, and Ann has lupus, in Oslo."
    batch = tokenize([text] * 40)
    symbols = PolicyLookup(policy).codes(batch)
    hidden = policy.alphabet.is_group(symbols)
    settings = Settings(mechanism=name, epsilon=12.0, policy="sensitive", same=same)
    noise = KeyedNoise(bytes(range(32))) if same == "key" else Seeded(3)
    privatizer = build_privatizer(settings, noise)
    ids = [str(i) for i in range(40)] if same == "key" else None
    shown = tokenize([str(each) for each in privatizer.stream([text] * 40, ids)])
    assert find_scope(batch, shown, hidden) == same
