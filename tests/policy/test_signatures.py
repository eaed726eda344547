"""A name that is an ordinary word hides where it is all of a line: signatures."""

from __future__ import annotations

import pytest

from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.policy import load_policy
from policy.lookups import hidden


@pytest.mark.parametrize("name", ["Will", "Art", "Bill", "Hope", "Young", "WILL"])
@pytest.mark.parametrize(
    "text",
    ["Please help.\nRegards,\n{}", "Thanks,\r\n{}\r\n", "{}\nplease", "{}", "{} "],
)
def test_a_name_that_is_all_of_a_line_hides(name, text, lookup):
    assert hidden(lookup, text.format(name)) == [name]


@pytest.mark.parametrize(
    "text", ["Best,\nthanks", "Great!", "Will it work\nnow", "thanks\nwill", "Nice.\n"]
)
def test_elsewhere_it_stays_as_the_first_word_of_a_sentence(text, lookup):
    assert hidden(lookup, text) == []


def test_the_text_beside_it_does_not_matter(lookup):
    texts = "Will it be", "Will", "", "Hope so, yes", "Art"
    assert hidden(lookup, *texts) == ["Will", "Art"]


@pytest.mark.parametrize("name", ["Iris", "Jade", "Violet", "Rob"])
@pytest.mark.parametrize("text", ["{} has cancer", "{} Miller", "well.\n{} said so"])
def test_names_whose_class_a_policy_shows_hide_first_and_in_capitals(name, text):
    lookup = PolicyLookup(load_policy("names"))
    assert hidden(lookup, text.format(name))[0] == name
    assert hidden(lookup, f"we call {name.upper()} now") == [name.upper()]
    assert hidden(lookup, f"we call {name.lower()} now") == []
