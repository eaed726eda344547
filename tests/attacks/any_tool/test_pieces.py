"""Words that a release shows in part, and numbers that it writes otherwise."""

from __future__ import annotations

import time

import pytest

from mondegreen.attacks.any_tool.pieces import (
    count_written,
    find_shown_in_part,
    is_joined,
    is_written,
)
from mondegreen.attacks.any_tool.rows import Given, read_rows
from mondegreen.attacks.any_tool.spans import Annotation
from mondegreen.attacks.readings import squeeze


def read_one(original, release, *spans):
    found = [
        Annotation(at := original.index(each), at + len(each), "UNIT") for each in spans
    ]
    (row,) = read_rows([Given(1, original, release, found)])
    return row


@pytest.mark.parametrize(
    "shown",
    [
        "diabete*", "diabet**", "diab****", "****etes", "d**betes", "d*ab*t*s",
        "DIABET##",
        "diabet██", "dia***tes", "diabet_", "diabet…", "d•i•a•b•e•t•e•", "**diabet**",
    ],
)  # fmt: skip
@pytest.mark.parametrize("has_spans", [True, False])
def test_half_of_the_letters_of_a_word_tell_it(shown, has_spans):
    text = "She has diabetes now."
    spans = ["diabetes"] if has_spans else []
    if has_spans:
        row = read_one(text, f"She has {shown} now.", *spans)
    else:
        (row,) = read_rows([Given(1, text, f"She has {shown} now.")])
    assert [row.is_left(unit) for unit in row.units] == [True]


@pytest.mark.parametrize(
    "shown",
    ["d*******", "dia*****", "*", "********", "[ILLNESS]", "diets*", "*diax*s*"],
)
def test_less_than_half_and_other_letters_tell_nothing(shown):
    row = read_one("She has diabetes now.", f"She has {shown} now.", "diabetes")
    assert row.left_count() == 0


def test_each_mask_shows_one_word():
    row = read_one("Anna met Anna.", "Ann* met [NAME].", "Anna")
    assert row.left_count() == 1
    hidden = {0: "diabetes", 1: "diabetes", 2: "diabetic"}
    assert list(find_shown_in_part(hidden, "diabet* x diab***s", "")) == [0, 1]


def test_what_the_original_has_too_is_no_mask():
    assert not list(find_shown_in_part({0: "diabetes"}, "see diabet_ x", "a diabet_ b"))


@pytest.mark.parametrize(
    ("number", "written"),
    [
        ("555-099-1942", "5550991942"),
        ("555-099-1942", "+1 (555)0991942"),
        ("GB29 NWBK 6016 1331", "GB29NWBK60161331"),
        ("GB29 NWBK 6016 1331", "gb29-nwbk60161331"),
        ("03/18/2011", "20110318"),
        ("03/18/2011", "2011-03-18T00:00:00"),
        ("03/18/2011", "18032011"),
        ("2073", "2,073"),
        ("2,073", "2073"),
        ("52000", "$52\u00a0000.00"),
        ("52'000.00", "52000"),
        ("16 October 1987", "16/10/87"),
        ("16/10/1987", "16.10.87"),
        ("1987-10-16", "Oct. 16th, 1987"),
        ("5:07 pm", "17:07"),
        ("5:07 pm", "5.07 p.m."),
        ("17:00", "5pm"),
        ("42", "forty-two"),
        ("42", "forty two"),
        ("Forty-two", "42"),
        ("$12,500", "12.5k"),
        ("12.5k", "$12,500.00"),
        ("2,500,000", "2.5 million"),
        ("2.5 million", "2500000"),
        ("2345", "two thousand three hundred and forty five"),
        ("March 13th", "13 March"),
        ("13 March", "13th of March"),
        ("March 13th", "Mar. 13"),
        ("March 13th", "13.03.1995"),
        ("2073", "２０７３"),
        ("5550991942", "５５５-099-1942"),
        ("16 October 1987", "１６.10.87"),
        ("16 October 1987", "19871016"),
        ("16 October 1987", "1987_10_16"),
        ("88,390", "eighty-eight thousand, three hundred and ninety"),
        ("42", "forty\u2011two"),
        ("42", "forty\u2013two"),
    ],
)
def test_a_number_with_other_signs_is_left(number, written):
    row = read_one(f"It is {number} now.", f"It is {written} now.", number)
    assert row.left_count() == 1


@pytest.mark.parametrize(
    ("number", "written"),
    [
        ("555-099-1942", "5550991943"),
        ("555-099-1942", "1942099555"[::-1]),
        ("03/18/2011", "[DATE] 2012-03-18T00:00:00"),
        ("5-1", "51"),
        ("555-099-1942", "[PHONE]"),
        ("2073", "2074"),
        ("16 October 1987", "17/10/87"),
        ("16 October 1987", "16/10/88"),
        ("5:07 pm", "5:07 am"),
        ("7 Main Street 90210", "[STREET] 90210"),
        ("020 7946 0958", "7946"),
        ("42", "forty"),
        ("42", "four two"),
        ("42", "twenty-four and forty-three"),
        ("Forty-two", "[AGE_42]"),
        ("Forty-two", "7:42"),
        ("12,345", "12.5k"),
        ("2,500,000", "a million"),
        ("March 13th", "13 May"),
        ("March 13th", "March 14th"),
        ("March 13th", "in March"),
    ],
)
def test_another_number_is_not(number, written):
    row = read_one(f"It is {number} now.", f"It is {written} now.", number)
    assert row.left_count() == 0


@pytest.mark.parametrize("day", range(1, 29))
@pytest.mark.parametrize("year", [1919, 1975, 2020])
def test_every_day_of_a_month_is_read_with_its_year(day, year):
    iso = f"{year}-03-{day:02d}"
    for date in (f"{day} March {year}", f"March {day}, {year}"):
        assert read_one(f"On {date} now.", f"On {iso} now.", date).left_count() == 1
        other = f"On {year}-04-{day:02d}, in April {year}."
        assert read_one(f"On {date} now.", other, date).left_count() == 0


def test_a_number_that_the_original_has_elsewhere_is_left_only_if_both_are():
    texts = "Paid 2,019 in 2019.", "Paid [AMOUNT] in 2019.", "Paid 2019 in 2019."
    original, hidden, left = texts
    assert read_one(original, hidden, "2,019").left_count() == 0
    assert read_one(original, left, "2,019").left_count() == 1


def test_a_number_in_words_that_the_original_has_too_tells_nothing():
    text = "At 7, one of seven, forty-two of us."
    assert (
        read_one(text, "At [AGE], one of seven, forty-two of us.", "7").left_count()
        == 0
    )
    assert read_one(text, "At seven, one of seven, forty-two.", "7").left_count() == 1
    assert read_one("He is 1.", "He is [AGE], one hears.", "1").left_count() == 0


@pytest.mark.parametrize(
    ("span", "shown", "is_partly"),
    [
        ("Dr. Megan Castillo", "Megan Castillo", True),
        ("Dr. Megan Castillo", "Dr. Castillo", True),
        ("Dr. Megan Castillo", "Dr. [NAME]", False),
        ("Megan Castillo", "[FIRST] Castillo", True),
        ("Megan Castillo", "[NAME]", False),
        ("12 Castillo Road", "[NUM] Castillo Road", True),
        ("555-010-2211", "***-***-2211", True),
        ("3/4/1995", "3/*/****", False),
        ("the good one", "the [X] one", False),
        ("the good one", "the good one", True),
    ],
)
def test_a_sensitive_word_of_a_span_leaves_it_in_part(span, shown, is_partly):
    row = read_one(f"Seen by {span} now.", f"Seen by {shown} now.", span)
    assert [row.is_partly_left(unit) for unit in row.units] == [is_partly]


@pytest.mark.parametrize(
    "text",
    [
        *("a" * 200_000, "*" * 200_000, "a*" * 100_000, "_a " * 9, "one " * 50_000),
        *("one" + " " * 200_000, "9" * 200_000, "1 " * 100_000, "1." * 100_000),
        *("mar " * 50_000, "1,000" * 40_000),
    ],
)
def test_hostile_texts_take_no_time(text):
    start = time.process_time()
    list(find_shown_in_part({0: "diabetes", 1: "a" * 40, 2: "12"}, text, "x"))
    is_joined(["555", "099", "1942"], [squeeze(text)])
    is_written("7", count_written([text]), count_written([text]))
    assert time.process_time() - start < 2
