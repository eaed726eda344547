"""Names that are ordinary words hide in lines in title case, and as full names."""

from __future__ import annotations

import pytest

from policy.lookups import hidden

NAMES = "Will May Best Mark Rose Hope Grace Bill Frank Jack Art Young".split()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "line", ["{} Is Here Now", "We Saw {} Here", "See: {} Is Here"]
)
def test_a_name_hides_in_a_line_in_title_case(name, line, lookup):
    assert hidden(lookup, line.format(name)) == [name]


def test_all_of_a_list_of_names_hides(lookup):
    text = "Will Smith, May Jones\nMark Brown, Rose Hill"
    assert hidden(lookup, text) == text.replace(",", "").split()


def test_words_that_name_no_person_stay_in_title_case(lookup):
    line = "In The New Good Can Does Fall Spring This There We Is"
    assert hidden(lookup, line) == []


def test_lines_in_capitals_are_as_before(lookup):
    assert hidden(lookup, "THIS WILL BE THE BEST, MAY IT BE SO") == []


def test_the_other_lines_do_not_matter(lookup):
    text = "Will it be so?\nWe Saw Will Here\nMay I see it here?"
    assert hidden(lookup, text) == ["Will"]


@pytest.mark.parametrize("name", ["Will", "May", "Hope", "Art", "Bill", "Grant"])
@pytest.mark.parametrize("line", ["{} Smith", "{} Hope", "it is so\r\n{} Young \nthis"])
def test_nothing_is_left_of_a_full_name_that_is_all_of_a_line(name, line, lookup):
    text = line.format(name)
    found = hidden(lookup, text)
    assert found == [word for word in text.split() if word[0].isupper()]
    assert hidden(lookup, text.upper())[0] in ("IT", name.upper())


@pytest.mark.parametrize(
    "text",
    [
        *("Will it", "Hope so", "Bill paid"),  # of two words: one may be a name
    ],
)
def test_the_word_beside_it_decides_nothing(text, lookup):
    assert hidden(lookup, text) == [text.split()[0]]


@pytest.mark.parametrize(
    "text",
    [
        *("Will it be", "Hope so.", "Hope so, thanks", "will it", "hope so"),
        *("Best wishes", "New shoes", "Good day", "Price list", "Read more"),
    ],
)
def test_lines_of_more_words_or_with_signs_show_it(text, lookup):
    assert hidden(lookup, text) == []
    assert hidden(lookup, "so\n" + text + "\nso") == []


def test_the_texts_beside_it_do_not_matter(lookup):
    assert hidden(lookup, "Will", "it is", "Hope", "so it is") == ["Will", "Hope"]
    assert hidden(lookup, "Will it be", "so", "", "so") == []
    assert hidden(lookup, "so it is", "Will do", "so") == ["Will"]
