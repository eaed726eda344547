"""Scopes: places that are printed alike are read together."""

import numpy as np
import pytest

import mondegreen as mg
from mondegreen.attacks.linked import combine_places, draw_linked, link_printed
from mondegreen.attacks.sensitive import (
    InDomainReader,
    guess_hidden_words,
    sensitive_words,
)
from mondegreen.policy.policy import load_policy
from mondegreen.policy.printing import PolicyPrinter
from mondegreen.policy.scope import make_scope
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
