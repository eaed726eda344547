"""Decades hide as decades, however they are written."""

from __future__ import annotations

import pytest

from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.policy import load_policy
from policy.lookups import classes

DECADES = ["1980s", "80s", "1890s", "2020s", "1980S"]
OWNING = ["1980's", "80's", "1980’s", "1980'S", "1990's"]


@pytest.fixture(scope="module", params=["hide", "near", "plain"])
def lookup(request):
    return PolicyLookup(load_policy("sensitive", numbers=request.param))


@pytest.mark.parametrize("decade", DECADES + OWNING)
@pytest.mark.parametrize(
    "text", ["{}", "the {} were", "the '{} were", "mid-{}, ({})", "{}."]
)
def test_a_decade_is_one(decade, text, lookup):
    assert classes(lookup, text.format(decade, decade))[decade] == ("shape", "decade")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        *(("1985's best", "1985"), ("85's best", "85"), ("5's best", "5")),
        *(("100's best", "100"), ("80'sx", "80"), ("v1.80's best", "80")),
    ],
)
def test_another_number_with_an_ending_is_none(text, word):
    lookup = PolicyLookup(load_policy("sensitive"))
    found = classes(lookup, text)
    assert found[word][1] != "decade"


def test_where_decades_stand_is_disclosed():
    lookup = PolicyLookup(load_policy("sensitive"))
    line = next(
        each for each in lookup.list_disclosed("keep") if each.startswith("dates and")
    )
    assert "1980's" in line
