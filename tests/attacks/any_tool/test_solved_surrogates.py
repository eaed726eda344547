"""Consistent surrogates: what stands beside a word, and how it was made, tell it."""

import hashlib
import random
import re
import zlib

import pytest
from tests.attacks.people import FIRST, ILLNESSES, LAST, PLACES, make_texts_of_people

import mondegreen as mg
from mondegreen.attacks.any_tool.hashes import find_hashed
from mondegreen.attacks.any_tool.ranks import match_ranks
from mondegreen.attacks.any_tool.rows import Given
from mondegreen.attacks.any_tool.run import attack_release
from mondegreen.language.store import load_language

HIDDEN = {*FIRST, *LAST, *PLACES, *ILLNESSES}
FRAMES = ("We told {} that the parcel never came.", "The order of {} was late.")


def solve(texts, change):
    """Solve the surrogates that ``change`` makes of the words of people."""
    rows = [
        Given(
            i + 1,
            text,
            re.sub(r"\w+", lambda w: change(w[0]) if w[0] in HIDDEN else w[0], text),
        )
        for i, text in enumerate(texts)
    ]
    found = attack_release(rows, load_language(), mg.load_space())
    return found.attacks["surrogates"]


def make_texts_with_a_name(count=400):
    rng = random.Random(3)
    return [rng.choice(FRAMES).format(rng.choice(FIRST)) for _ in range(count)]


def salt(word):
    return hashlib.sha256(f"secret {word}".encode()).hexdigest()[:10]


def test_words_of_the_same_rows_tell_what_a_surrogate_stands_for():
    """All people have as many texts: frequency and context alone tell little."""
    found = solve(make_texts_of_people(), lambda word: f"x{salt(word)}")
    assert found.details["consistent_in"] == "all rows"
    assert found.value > 0.9


@pytest.mark.parametrize(
    "compute",
    [
        lambda word: "u" + hashlib.md5(word.lower().encode()).hexdigest()[:8],
        lambda word: "PERSON_" + hashlib.sha1(word.encode()).hexdigest()[:6],
        lambda word: hashlib.sha256(word.upper().encode()).hexdigest(),
        lambda word: f"face{zlib.crc32(word.encode()):08x}",
    ],
)
def test_hashes_without_a_secret_are_computed_again(compute):
    assert solve(make_texts_with_a_name(), compute).value == 1.0
    name = compute("Anna").lower()
    assert find_hashed([name, "rome"], ["oslo", "anna"]) == {name: "anna"}


def test_hashes_with_a_secret_are_not_found():
    found = solve(make_texts_with_a_name(), lambda word: f"u{salt(word)}")
    assert found.value < 0.3


def test_numbers_in_the_order_of_the_alphabet_are_counted_again():
    order = sorted(FIRST)
    texts = make_texts_with_a_name()
    found = solve(texts, lambda word: f"PERSON_{order.index(word) + 1}")
    assert found.value == 1.0
    mixed = sorted(FIRST, key=salt)
    found = solve(texts, lambda word: f"PERSON_{mixed.index(word) + 1}")
    assert found.value < 0.3


def test_numbers_of_unknown_words_move_no_other_word():
    words = {word: 9.0 + 5 * (i % 3) for i, word in enumerate("abcdefghij")}
    numbers = {i: int(count) for i, count in enumerate(words.values())}
    assert match_ranks(numbers, words) == [*words]
    del words["d"]
    assert match_ranks(numbers, words) == ["a", "b", "c", "", *"efghij"]
    assert match_ranks(numbers, {}) == [""] * 10
    assert match_ranks({0: 1, 5000: 1}, words) == ["", ""]
