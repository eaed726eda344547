"""Lines in capitals: abbreviations are words there, and names hide as elsewhere."""

from __future__ import annotations

import pytest

import mondegreen as mg
from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.policy import load_policy
from policy.lookups import hidden

LOUD = "THIS IS FOR US OR ME IN HERE"


def test_abbreviations_of_a_line_in_capitals_are_words(lookup):
    assert hidden(lookup, LOUD) == []
    assert hidden(lookup, f"We met.\n{LOUD}\r\nIt was in the US.") == ["US"]


@pytest.mark.parametrize(
    "text",
    [
        "He is in the US OR ME",  # too few of them
        "US OR ME",  # too short
        "This Is For US OR ME In Here",  # in title case
        "THIS IS FOR\nUS OR",
    ],
)
def test_abbreviations_of_other_lines_hide(text, lookup):
    expected = [word for word in text.split() if word in ("US", "OR", "ME")]
    assert hidden(lookup, text) == expected


@pytest.mark.parametrize("name", ["HOPE", "YOUNG", "ROSE", "UK", "UN", "OKAFOR"])
def test_names_hide_in_lines_in_capitals(name, lookup):
    assert hidden(lookup, f"{LOUD} AND {name} TOO") == [name]


def test_behind_a_sign_an_abbreviation_hides_in_every_line(lookup):
    assert hidden(lookup, f"{LOUD}: US") == ["US"]


def test_one_small_word_of_ten_makes_no_other_line(lookup):
    line = "THIS IS FOR US OR ME AND FOR THE town"
    assert hidden(lookup, line) == []
    assert hidden(lookup, f"{line} as") == ["US", "OR", "ME"]


def test_illnesses_hide_in_lines_in_capitals():
    lookup = PolicyLookup(load_policy("sensitive"))
    assert hidden(lookup, "SHE IS HERE AND HAS AIDS") == ["AIDS"]


def test_the_guarantee_says_that_lines_in_capitals_are_disclosed():
    made = mg.Privatizer(mg.mechanism("urr", epsilon=12.0), policy="sensitive")
    names = [line.partition(":")[0] for line in made.guarantee.disclosed]
    assert "lines in capitals" in names


@pytest.mark.parametrize("state", ["OH", "PA", "CO", "CA", "ST"])
def test_codes_of_states_hide_in_lines_in_capitals(state, lookup):
    assert hidden(lookup, f"{LOUD} AND {state} SO") == [state]
