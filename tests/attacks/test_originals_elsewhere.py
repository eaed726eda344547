"""Originals in other columns are found in every simple form, and nothing else is."""

from urllib.parse import quote

import pytest

from mondegreen.attacks.other_columns import FIELD_NAMES, OtherColumns

TEXT = "The doctor in Prague said that Yusuf Okonkwo has diabetes & asthma again."
RELEASE = "The doctor in [X] said that [X] [X] has [X] & [X] again."


def count(column, text=TEXT, release=RELEASE, keys=()):
    columns = OtherColumns()
    columns.add([text], [release], {"x": column}, keys)
    found = columns.make_attack()
    name = FIELD_NAMES if keys else "x"
    details = found.details["columns"].get(name, {"originals": 0})
    assert found.value == details["originals"]
    return details["originals"]


@pytest.mark.parametrize(
    "form",
    [
        *(str, str.upper, quote, ".".join, lambda text: text.replace(" ", "")),
        *(lambda text: text[: len(text) // 2], lambda text: text[len(text) // 3 :]),
        lambda text: "".join(f"&#{ord(c)};" for c in text),
        lambda text: "\u200b".join(text.title().split()),
        lambda text: f"a note: {text[5:-20]} and more",
    ],
)
def test_an_original_in_another_form_is_found(form):
    assert count(form(TEXT)) == 1
    assert count("", keys=["id", form(TEXT)]) == 1


@pytest.mark.parametrize(
    "column",
    [
        *(RELEASE, RELEASE.replace(" ", ""), ".".join(RELEASE), quote(RELEASE), ""),
        *("Prague", "the doctor in", TEXT[:20], "Yusuf Okonkwo", "100 % & more"),
        "The doctor in Lyon said that Ann Smith has a cold again.",
    ],
)
def test_what_is_no_original_raises_no_alarm(column):
    assert count(column) == 0
    assert count("", keys=["id", "date_of_last_visit", column]) == 0


def test_the_shared_words_of_two_texts_are_no_original():
    """Half of the text stands in the column, and none of its hidden words."""
    text = "Thank you for your call about the bill of the last month, Anna."
    release = text.replace("Anna", "[X]")
    for end in ("the last month", "the last month was planned"):
        column = f"Thank you for your call about the bill of {end}"
        assert count(column, text, release) == 0


def test_short_texts_are_not_found_inside_words():
    assert count("manna from above", "Anna", "[X]") == 0
    assert count("anna", "Anna", "[X]") == 1


def test_the_name_of_a_field_is_counted_and_not_printed():
    columns = OtherColumns()
    columns.add([TEXT], [RELEASE], {TEXT: "Prague"}, [TEXT])
    found = columns.make_attack()
    assert found.details["columns"] == {
        FIELD_NAMES: {"originals": 1, "hidden_words": 1}
    }
    columns = OtherColumns()
    columns.add([TEXT], [RELEASE], {}, ["id", "text"])
    assert not columns.has_columns
