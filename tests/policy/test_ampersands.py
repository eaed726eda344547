"""Capitals beside an ampersand are those of an organization, as in AT&T."""

from __future__ import annotations

import pytest

from policy.lookups import classes


@pytest.mark.parametrize("sign", ["&", "&amp;", "&#38;"])
def test_all_of_an_organization_hides(sign, lookup):
    found = classes(lookup, f"Then AT{sign}T spoke")
    if sign != "&#38;":  # that reference is none of those that pass
        assert found["AT"] == ("other_name", "singular")
        assert found["T"] == ("shape", "letter")
    assert found["Then"][0] == found["spoke"][0] == "ordinary"


@pytest.mark.parametrize("text", ["Q&A", "I&O", "A&I"])
def test_a_letter_beside_one_is_a_letter(text, lookup):
    assert set(classes(lookup, text).values()) == {("shape", "letter")}


@pytest.mark.parametrize(
    "text", ["at&by", "At&By", "AT & BY", "THESE&THOSE", "so AT, BY &"]
)
def test_other_words_beside_one_stay(text, lookup):
    assert {kind for kind, _ in classes(lookup, text).values()} == {"ordinary"}


def test_a_part_of_an_address_stays_one(lookup):
    found = classes(lookup, "www.site.com/?q=AT&BY=so")
    assert found["AT"] == ("shape", "part of an address")


def test_the_word_on_the_other_side_decides_nothing(lookup):
    for other in ("T", "t", "Jones", "7", "so"):
        assert classes(lookup, f"AT&{other}")["AT"] == ("other_name", "singular")


def test_the_texts_beside_it_do_not_matter(lookup):
    known = len(lookup.policy.ordinary)
    codes = lookup.codes(lookup.cut(["so BY&", "AT last", "", "&"]))
    assert (codes >= known).tolist() == [False, True, False, False]
