"""Dates and amounts that a model writes in another notation than the user."""

from __future__ import annotations

import calendar

import pytest

import mondegreen as mg
from mondegreen.prompts.calendar import read_names
from mondegreen.prompts.dates import list_notations

SENT, OWN = "07/05/1961", "12/03/1985"
"""What is sent, and what it stands for."""


def restore(text, *, sent=SENT, own=OWN, size=None, is_json=False):
    """Restore a text in a conversation that sent one date or number for another."""
    c = mg.conversation()
    c.hide("Okonkwo")
    parts, hidden = ["".join(p) for p in _cut(own)], ["".join(p) for p in _cut(sent)]
    kinds = []
    for word in parts[1::2]:
        shape = "year" if len(word) == 4 and "/" in own else f"{len(word)} digits"
        kinds.append(("shape", shape))
    c._units.learn(parts, hidden, kinds)
    pieces = [text] if size is None else _pieces(text, size)
    return "".join(c.restore_stream(pieces, is_json=is_json))


def _cut(text):
    """Cut a text as the tokenizer does: structure and words in turn."""
    from mondegreen.text.tokenizer import tokenize

    return tokenize([text]).parts[0]


@pytest.mark.parametrize("size", [None, 1, 2, 3, 7])
@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("On July 5, 1961 it began.", "On December 3, 1985 it began."),
        ("July 5th, 1961", "December 3rd, 1985"),
        ("the 5th of July 1961.", "the 3rd of December 1985."),
        ("Jul. 5, 1961, at noon", "Dec. 3, 1985, at noon"),
        ("JULY 5, 1961", "DECEMBER 3, 1985"),
        ("Each July 5 we meet.", "Each December 3 we meet."),
        ("On July 5, we meet.", "On December 3, we meet."),
        ("In July 1961 it began.", "In December 1985 it began."),
        ("1961-07-05", "1985-12-03"),
        ("7/5/1961", "12/3/1985"),
        ("05.07.1961", "03.12.1985"),
        # A reader of day and month, in this order.
        ("On 7 May 1961.", "On 12 March 1985."),
        ("It was 5 July 1961", "It was 3 December 1985"),
        # Others than this one.
        ("On July 5, 1962.", "On July 5, 1962."),
        ("On July 5 1962.", "On July 5 1962."),
        ("On 15 July 1961", "On 15 July 1961"),  # a true year would make a false date
        ("On 9 July 1961", "On 9 July 1961"),
        ("On July 15, 2001", "On July 15, 2001"),
        ("On July 55", "On July 55"),
        ("7 Mayors", "7 Mayors"),
        ("It is 5 Julys ago", "It is 5 Julys ago"),
        ("1961-07-051", "1961-07-051"),
        ("July, 5 people", "July, 5 people"),
    ],
)
def test_a_date_comes_back_in_the_notation_of_the_answer(answer, shown, size):
    assert restore(answer, size=size) == shown


@pytest.mark.parametrize("size", [None, 1, 4])
def test_where_it_cannot_be_told_the_date_comes_back_as_it_was_written(size):
    given = {"sent": "05/05/1961", "size": size}
    assert restore("On May 5, 1961.", **given) == "On 12/03/1985."
    assert restore("In May 1961.", **given) == "In 12/03/1985."


def test_every_reading_of_every_date_is_that_of_the_calendar():
    for month in range(1, 13):
        for day in range(1, 29):
            sent, own = f"{month}/{day}/1961", "12/31/1985" if day > 12 else "2/4/1985"
            found = {n.sent: n.original for n in list_notations(sent, own)}
            text = f"{calendar.month_name[month]} {day}, 1961"
            right = "December 31, 1985" if day > 12 else "February 4, 1985"
            assert found[text] == (own if month == day else right)
            assert sent not in found


@pytest.mark.parametrize(
    ("sent", "own"),
    [("1/2", "12/03/1985"), ("7-5-61", "1-2-85"), ("a", "b"), ("", "")],
)
def test_what_is_no_date_has_no_notations(sent, own):
    assert list_notations(sent, own) == []


@pytest.mark.parametrize("size", [None, 1, 5])
@pytest.mark.parametrize(
    ("sent", "own", "answer", "shown"),
    [
        ("4711", "1200", "4,711 parts, or 4711", "1,200 parts, or 1200"),
        ("38,215.60", "12,345.67", "38.215,60 Euro", "12.345,67 Euro"),
        ("38,215.60", "12,345.67", "38215.60 or 38,215", "12345.67 or 12,345"),
        ("4711.50", "1200.25", "$4,711.50", "$1,200.25"),
        ("0,211.50", "1,200.25", "0.211,50", "1.200,25"),
        ("4711", "1200", "14,711 and 4,711,000", "14,711 and 4,711,000"),
    ],
)
def test_amounts_come_back_with_the_signs_of_the_answer(sent, own, answer, shown, size):
    assert restore(answer, sent=sent, own=own, size=size) == shown


def test_dates_in_json_and_after_a_restart_come_back_too():
    said = "Okonkwo, born 12/31/1985"
    key = bytes(range(32))
    with mg.conversation() as c:
        sent = c.hide(said)
        data = c.to_bytes(key)
    month, day, year = sent.rpartition(" ")[2].split("/")
    words = f'{{"born": "{calendar.month_name[int(month)]} {int(day)}, {year}"}}'
    again = mg.Conversation.from_bytes(data, key)
    assert again.restore(words, is_json=True) == '{"born": "December 31, 1985"}'
    other = words.replace(f", {year}", ", 1666")
    assert again.restore(other, is_json=True) == other


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        ("08 February 2021", "27 May 2024"),
        ("February 08, 2021", "May 27, 2024"),
        ("08-Feb-2021", "27-May-2024"),
        ("2021/02/08", "2024/05/27"),
        ("in 2021", "in 2024"),
        # A year alone is no part of a date in a notation that is not known.
        ("am 8. Februar 2021", "am 8. Februar 2021"),
        ("le 8 février 2021", "le 8 février 2021"),
        ("em Fevereiro de 2021", "em Fevereiro de 2021"),
        ("the 8th Xember 2021", "the 8th Xember 2021"),
    ],
)
@pytest.mark.parametrize("size", [None, 1, 3])
def test_a_date_comes_back_as_a_whole_or_not_at_all(answer, wanted, size):
    found = restore(answer, sent="08/02/2021", own="27/05/2024", size=size)
    assert found == wanted


@pytest.mark.parametrize(
    ("sent", "answer", "wanted"),
    [
        ("2021-02-08", "08.02.2021", "27.05.2024"),
        ("2021-02-08", "02/08/2021", "05/27/2024"),
        ("2021-02-08", "08/02/2021", "27/05/2024"),
        ("2021-05-05", "05/05/2021", "2024-05-27"),  # two readings
    ],
)
def test_a_date_with_the_year_first_is_read_in_other_orders(sent, answer, wanted):
    found = {n.sent: n.original for n in list_notations(sent, "2024-05-27")}
    assert found[answer] == wanted


@pytest.mark.parametrize("blank", ["\u00a0", "\u202f", "\u2009", " ", "'"])
@pytest.mark.parametrize("size", [None, 1, 4])
def test_an_amount_comes_back_as_a_whole_whatever_its_blanks(blank, size):
    shown = "'" if blank == "'" else " "
    found = restore(f"9{blank}146 €", sent="9,146", own="1,200", size=size)
    assert found == f"1{shown}200 €"


@pytest.mark.parametrize("sign", [" ", "\u00a0", "\u202f", "\u2011", "’"])
def test_a_part_of_a_number_is_none_beside_other_digits(sign):
    """Else half of the surrogate would stand beside half of the original."""
    for answer in (f"5{sign}146", f"146{sign}5"):
        assert restore(answer, sent="9,146", own="1,200") == answer
    assert restore("the last 146", sent="9,146", own="1,200") == "the last 200"


_IN_PART = (
    "{d}. {German} {y}: Geburt der Mutter", "- {d}. {German} {y}", "{d}) {m} {y}",
    "- {d}. {m} {y}", "[{d}] {m} {y}", "[{d}](x) {m} {y}", "[{d} {m}](x) {y}",
    "day: [{d}], {m} {y}", "evil.com/{d} {m} {y}", "{d} {m} [{y}]", "{m} [{d}], {y}",
    "{d}. {French} [{y}]", "evil.com/{m} {d}, {y}", "{d}st\u00a0{m}\u00a0{y}",
    "On {other} {m} {y}.", "On {m} {other}, {y}.",
    "> {d}. {m} [{y}]", "in {m} [{y}]", "**{d}** {m} [{y}]", "({d}) [{m}] {y}",
    "**{m}** [{d}], {y}", "{m} {d} of [{y}]",
)  # fmt: skip
"""Dates with a part that keeps its surrogate."""
_WHOLE = (
    "On {d} {m} {y}.", "**{d}** {m} {y}", "{m} {d}, {y}", "am {d}. {German} {y}",
    "le {d} {French} {y}.", "| {d}. | {m} | {y} |", "{d}\n{m}\n{y}", "({d}) {m} ({y})",
    "[1] {d} {m} {y}", "2. {d} {m} {y}", "see [3] of {d} {m} {y}",
)  # fmt: skip


@pytest.fixture(scope="module")
def dates():
    """Return a conversation, and what it sends for a date and its parts."""
    while True:
        c = mg.conversation(policy="names")
        d, m, y = c.hide("14 March 1961").split()
        if (
            len(d) == 2
            and m not in ("March", "May")
            and y != "1961"
            and d not in "1415"
        ):
            break
    names = read_names()
    theirs = names["en"].index(m)
    mine = names["en"].index("March")
    given = {"German": "de", "French": "fr"}
    sent = {each: names[code][theirs] for each, code in given.items()}
    sent["German"], sent["other"] = sent["German"].capitalize(), 15
    shown = {each: names[code][mine] for each, code in given.items()}
    return c, {"d": d, "m": m, "y": y, **sent}, {**shown, "other": 15}


@pytest.mark.parametrize("size", [None, 1, 4])
@pytest.mark.parametrize("form", _IN_PART)
def test_a_date_that_names_its_month_comes_back_in_no_part(form, size, dates):
    c, sent, _ = dates
    text = form.format(**sent)
    assert read_in_pieces(c, text, size) == text


@pytest.mark.parametrize("size", [None, 1, 4])
@pytest.mark.parametrize("form", _WHOLE)
def test_a_date_that_names_its_month_comes_back_in_running_text(form, size, dates):
    c, sent, names = dates
    found = read_in_pieces(c, form.format(**sent), size)
    texts = [
        form.format(
            d=14, m="March", y=1961, **names | {"German": name, "French": other}
        )
        for name in ("März", "March")
        for other in ("mars", "March")  # where one form is of two months
    ]
    assert found in texts


@pytest.mark.parametrize("size", [None, 1, 4])
@pytest.mark.parametrize(
    "form",
    ["1. {m} {y}", "In {m} {y} [1]", "{m} [2] {y}", "at 5: {m} {y}", "3\n{m} {y}"],
)
def test_a_month_and_a_year_come_back_beside_numbers_that_are_no_day(form, size, dates):
    c, sent, _ = dates
    found = read_in_pieces(c, form.format(**sent), size)
    assert found == form.format(m="March", y="1961")


def read_in_pieces(conversation, text, size):
    pieces = [text] if size is None else _pieces(text, size)
    return "".join(conversation.restore_stream(pieces))


def _pieces(text, size):
    return [text[i : i + size] for i in range(0, len(text), size)]
