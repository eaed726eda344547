"""Names and places with marks hide among their kind; nothing else shows for it."""

from __future__ import annotations

import unicodedata

import pytest

from mondegreen.policy.accents import ACCENTED, without_marks

KINDS = {
    "Zürich": "place",
    "ZÜRICH": "place",
    "zürich": "place",
    "Łódź": "place",
    "José": "first_name",
    "François": "first_name",
    "Zu\u0308rich": "place",
}


def find(lookup, word):
    """The symbol of a word inside a sentence."""
    return int(lookup.codes(lookup.cut([f"and {word} is"]))[1])


def describe(lookup, word):
    return lookup.policy.describe(find(lookup, word))[0]


@pytest.mark.parametrize(("word", "kind"), KINDS.items())
def test_names_and_places_hide_among_their_kind(word, kind, lookup):
    assert describe(lookup, word) == kind


def test_a_word_with_marks_has_the_symbol_of_the_word_without(lookup):
    for word, plain in {"Müller": "Muller", "Málaga": "Malaga", "Rosé": "Rose"}.items():
        assert find(lookup, word) == find(lookup, plain)


@pytest.mark.slow("all ordinary words", seconds=2, but="sensitive")
def test_no_mark_makes_a_word_ordinary(lookup):
    """All ordinary words with marks on their vowels hide, whatever their case."""
    marked = str.maketrans({"a": "á", "e": "ê", "i": "ï", "o": "ö", "u": "ũ"})
    shown = lookup.policy.ordinary
    for spell in (str.lower, str.capitalize, str.upper):
        words = [spell(word.translate(marked)) for word in shown if word.isalpha()]
        words = [word for word in words if not word.isascii()]
        symbols = lookup.codes(lookup.cut([f"and {w} is" for w in words]))[1::3]
        seen = {
            unicodedata.normalize("NFC", word.lower())
            for word, symbol in zip(words, symbols, strict=True)
            if symbol < len(shown)
        }
        assert not seen - ACCENTED
        assert len(words) > 5000


def test_a_closed_list_shows_in_small_letters_alone(lookup):
    assert describe(lookup, "café") == "ordinary"
    assert {describe(lookup, word) for word in ("Café", "CAFÉ")} != {"ordinary"}
    assert "ordinary" not in {describe(lookup, w) for w in ("Café", "CAFÉ", "cafè")}
    for word in ACCENTED:
        assert without_marks(word).isascii()
        assert without_marks(word) != word


@pytest.mark.parametrize(
    "word", ["東京", "Мюллер", "x\u0301", "é", "zorblé", "i̇" * 300]
)
def test_other_words_are_what_they_were(word, lookup):
    assert describe(lookup, word) in ("rest", "other_name", "shape")
