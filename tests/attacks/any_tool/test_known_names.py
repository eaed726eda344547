"""Names that are ordinary words count where another column of the row states them."""

import pytest

from mondegreen.attacks.any_tool.known_names import KNOWN_NAME, find_known_names
from mondegreen.attacks.any_tool.rows import Given, read_rows
from mondegreen.attacks.any_tool.spans import Annotation


def kinds(text, *names, annotations=None):
    (row,) = read_rows([Given(1, text, text, annotations, names=names)])
    return [(unit.kind, row.words[unit.first]) for unit in row.units]


@pytest.mark.parametrize(
    ("text", "name", "places"),
    [
        ("Regards Will", "Will Hope", [1]),
        ("WILL HOPE wrote", "Will Hope", [0, 1]),
        ("my name is hope banks", "Hope Banks", [3, 4]),
        ("I will call", "Will Hope", []),  # an ordinary word
        ("we hope so", "Will Hope", []),
        ("Bill's garden", "Dr. Bill House", [0]),
        ("Dr Best saw me", "Dr. Best", [1]),  # a title is no name
        ("Mary-Jane wrote", "Mary-Jane O'Neil", [0]),
        ("It is 4 We Will", "It is 4", []),  # the value is no name
        ("Young", "A long comment in which Young is a word", []),
        ("Hope met May today", "Hope; May", [0, 2]),
        ("i met hope banks", "Banks, Hope", [2, 3]),
        ("i met ann may banks", "Banks Ann May", [2, 3, 4]),
        ("may hope and banks met", "Banks, Hope", []),
        ("Hope met May today", "Hope;May;", [0, 2]),
        ("Hope met May today", "Hope / May", [0, 2]),
        ("Hope met May today", "Hope & May", [0, 2]),
        ("Hope met May today", "Hope, May", [0, 2]),
        ("Hope met May today", "Dr. Hope Banks\nMay Hill", [0, 2]),
        ("i met hope banks", "Will May, Hope Banks", [2, 3]),
        ("i met hope banks", "Will May and Hope Banks", [2, 3]),
        ("Hope met May", "Ann Lee, Hope Banks, May Hill", [0, 2]),
        ("i met hope banks", "hope.banks@example.org", [2, 3]),
        ("i met Hope or BANKS", "hope-banks2@example.org", [2, 4]),
        ("we hope so", "hope@example.org", []),
        ("Support called", "support@example.org", []),
        ("Banks wrote", "H. Banks", [0]),
        ("It May rain", "He said yes; May was a long month in the north", []),
        ("Will", "", []),
        ("", "Will", []),
    ],
)
def test_a_word_is_a_name_where_its_row_states_it(text, name, places):
    assert list(find_known_names(text.split(), [name])) == places


def test_names_without_a_list_become_units():
    text = "Thanks for the help.\nWill from support"
    assert kinds(text) == []
    assert kinds(text, "Will Hope") == [(KNOWN_NAME, "will")]
    # A name on a list keeps its class, and counts once.
    text = "I met Ann Smith.\nWill from here"
    listed = kinds(text)
    assert ("first_name", "ann") in listed
    assert kinds(text, "Will Smith", "Ann") == [*listed, (KNOWN_NAME, "will")]


def test_annotations_alone_are_units_where_there_are_some():
    some = [Annotation(0, 3, "code")]
    assert kinds("abc Will", "Will", annotations=some) == [("code", "abc")]


def test_first_and_last_names_in_two_columns_are_one_name():
    words = "i met hope banks".split()
    assert list(find_known_names(words, ["Hope", "Banks"])) == [2, 3]
    assert list(find_known_names(words, ["Hope", "Ann"])) == []
