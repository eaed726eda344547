"""Names that are ordinary words hide in capitals, in any line, and behind titles."""

from __future__ import annotations

import pytest

from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.policy import load_policy

POLICIES = ("sensitive", "names")


def shown(text, name):
    """The words that a policy shows as they are, folded."""
    policy = load_policy(name)
    lookup = PolicyLookup(policy)
    batch = lookup.cut([text])
    codes = lookup.codes(batch).tolist()
    pairs = zip(batch.words(), codes, strict=True)
    return {word.lower() for word, code in pairs if code < len(policy.ordinary)}


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize(
    "text",
    [
        "I spoke to HOPE BANKS",
        "My name is GRACE YOUNG.",
        "I called ANNA PRICE. She is well",
        "I SAW WILL HOPE.",
        "WILL HOPE",
        "HOPE banks on it",
    ],
)
def test_a_name_in_capitals_hides_in_every_line(text, name):
    left = shown(text, name)
    assert not left & {"hope", "grace", "young", "price"}
    assert "BANKS" not in text or "banks" not in left


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize(
    "surname", "Banks Bear Battle Boss Pool Wild Gore Duck Villa Tower Sheets".split()
)
@pytest.mark.parametrize(
    "text", ["I saw Dr. {} here", "I saw ({})", "Name: {}", "We met {} today", "{}"]
)
def test_a_frequent_surname_hides_behind_titles_and_signs(text, surname, name):
    assert surname.lower() not in shown(text.format(surname), name)


@pytest.mark.parametrize("name", POLICIES)
def test_capitals_that_only_stress_a_word_stay(name):
    text = "It is NOT the BEST and we WILL see, VERY bad, NEVER AGAIN at ALL"
    assert shown(text, name) >= {"not", "best", "will", "very", "never", "again", "all"}


def test_what_hides_in_a_group_stays_in_it():
    """IV is a Roman number, though a list has it as a name."""
    lookup = PolicyLookup(load_policy("sensitive"))
    numbers = {lookup.find_symbol(word) for word in ("II", "III", "IV", "VII")}
    assert len(numbers) == 1
    assert lookup.codes(lookup.cut(["part IV of it"])).tolist()[1] in numbers


@pytest.mark.parametrize("name", POLICIES)
def test_the_same_words_stay_in_small_letters(name):
    words = "the banks of the pool, a wild bear and hope for a battle"
    assert shown(words, name) >= {"banks", "pool", "wild", "bear", "hope", "battle"}
