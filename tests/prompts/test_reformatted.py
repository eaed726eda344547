"""Dates, times and numbers that an answer writes in another form than it was given."""

from __future__ import annotations

import pytest
from restored import assert_restored as assert_arrives

import mondegreen as mg
from mondegreen.prompts.times import list_times
from mondegreen.prompts.units import Units

DAY, NUMBER = ("time", "weekday"), ("shape", "2 digits")
CLOCK, YEAR = ("shape", "clock 9:30"), ("shape", "year")
KEY = bytes(range(32))
CARD = "4111 1111 1111 1112"


def opened(*texts, **options):
    """A conversation in which these texts were hidden: parts, sent parts and kinds."""
    c = mg.conversation(**options)
    c._units = Units()
    for parts, sent, kinds in texts:
        c._units.learn(parts, sent, kinds)
    return c


def word(own, sent, kind=DAY, before="", after=""):
    return [before, own, after], [before, sent, after], [kind]


def date(own, sent, year=()):
    """A day and the name of a month, in any order, and a year."""
    found = [["", *" ".join(each).split(" "), ""] for each in (own, sent)]
    parts, hidden = ([x for w in each[1:-1] for x in (" ", w)] + [""] for each in found)
    parts[0] = hidden[0] = ""
    kinds = [NUMBER if w[0].isdigit() else ("time", "month") for w in hidden[1::2]]
    if year:
        kinds[-1] = YEAR
    return parts, hidden, kinds


def assert_restored(c, answer, wanted):
    """An answer comes back so, however it arrives, and from a file."""
    assert_arrives(c, answer, wanted)
    again = mg.Conversation.from_bytes(c.to_bytes(KEY), KEY)
    assert again.restore(answer) == wanted


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        ("See you Thu. at noon, or Thurs.", "See you Tue. at noon, or Tues."),
        ("THU: closed. Thur, 5 pm.", "TUE: closed. Tues, 5 pm."),
        ("In Aug. or Aug, AUG", "In Sep. or Sep, SEP"),
        ("On Sun at 3, next Sun. (Sun)", "On Fri at 3, next Fri. (Fri)"),
        ("| Sun | Sat-Sun |", "| Fri | Sat-Fri |"),
        # These may be other words.
        ("The Sun shines. SUN. Sun works", "The Sun shines. SUN. Sun works"),
        ("thu, xThu, Thux, Thursdayx", "thu, xThu, Thux, Thursdayx"),
        ("https://x.example/Thu", "https://x.example/Thu"),
    ],
)
def test_weekdays_and_months_come_back_short(answer, wanted):
    c = opened(word("Tuesday", "Thursday"), word("Friday", "Sunday"),
               word("September", "August"))  # fmt: skip
    assert_restored(c, answer, wanted)


def test_a_short_form_comes_back_in_full():
    c = opened(word("Tue", "Fri"), word("Sept", "Dec"))
    answer = "On Friday, FRIDAY, in December."
    assert_restored(c, answer, "On Tuesday, TUESDAY, in September.")


def test_an_original_without_short_form_comes_back_as_it_was_written():
    c = opened(word("Easter", "Thursday"), word("march", "August"))
    assert_restored(c, "Thu, THU, Aug.", "Easter, EASTER, march.")


def test_french_mon_and_names_are_no_days():
    c = opened(word("Friday", "Monday"), word("June", "January"), word("May", "March"))
    answer = "Mon ami, Jan Novak, Del Mar"
    assert_restored(c, answer, answer)
    assert_restored(c, "Mon. or on Mon, in Jan", "Fri. or on Fri, in Jun")


@pytest.mark.parametrize(
    ("own", "sent", "answer", "wanted"),
    [
        (
            "7:00 am",
            "5:00 am",
            "5am, 5 AM, 5 a.m., 5:00am",
            "7am, 7 AM, 7 a.m., 7:00am",
        ),
        ("7:15 am", "5:00 am", "at 5am.", "at 7:15am."),
        ("7:00 pm", "5:41 pm", "5:41PM or 17:41", "7:00PM or 19:00"),
        ("8:00 am", "0:14 am", "12:14 AM, 00:14", "8:00 AM, 08:00"),
        ("10:30 am", "13:20 am", "1:20 am, 1:20PM", "10:30 am, 10:30AM"),
        ("07:00", "12:11", "12:11 p.m., 12:11 am", "7:00 a.m., 07:00"),
        ("19:00", "22:21", "10:21 pm (10:21PM)", "7:00 pm (7:00PM)"),
        ("14:45", "11:20", "11:20 am, 11:20 pm", "2:45 pm, 14:45"),
        ("8:15", "9:30", "9:30am, 9:30 pm, 09:30", "8:15am, 8:15 pm, 08:15"),
        ("7:00 am", "5:41 am", "5:4, 5am, 15:41, 5:41x", "5:4, 5am, 15:41, 5:41x"),
    ],
)
def test_times_come_back_in_the_form_of_the_answer(own, sent, answer, wanted):
    (mine, *half), (theirs, *_) = own.split(), sent.split()
    behind = [" ", *half, ""] if half else [""]
    given = ["", mine, *behind], ["", theirs, *behind]
    c = opened((*given, [CLOCK, *[None] * len(half)]))
    assert_restored(c, answer, wanted)


def test_hours_with_their_half_come_back():
    c = opened(word("7am", "11pm", ("shape", "time of day")))
    answer = "11 PM, 11 p.m., 11:00pm, 23:00, 11pm"
    assert_restored(c, answer, "7 AM, 7 a.m., 7:00am, 07:00, 7am")
    assert_restored(c, "11 pmx, 11 days, 111 pm", "11 pmx, 11 days, 111 pm")


def test_every_time_has_one_original_of_its_own_hour():
    """A reader of the answer's form and of the user's knows the same hour."""
    for hour in range(24):
        for own in range(24):
            found = list_times(f"{hour:02}:17", f"{own:02}:43")
            half = "am" if hour < 12 else "pm"
            shown = found.get(f"{(hour - 1) % 12 + 1}:17 {half}")
            right = f"{(own - 1) % 12 + 1}:43 {'am' if own < 12 else 'pm'}"
            # Where both may be of twelve hours, the answer decides.
            is_open = 10 <= own <= 12 and 1 <= hour <= 12
            assert shown == (f"{own}:43 {half}" if is_open else right)


@pytest.mark.parametrize(
    ("own", "sent", "answer", "wanted"),
    [
        (
            "14 June",
            "9 May",
            "May 9, May 9th, 9th of May",
            "June 14, June 14th, 14th of June",
        ),
        ("June 14th", "March 30th", "30 March; Mar. 30", "14 June; Jun. 14"),
        ("3rd of May", "9th of July", "July 9th, Jul 9.", "May 3rd, May 3."),
        ("14 June", "9 May", "May 95, 19 May, May 9x", "May 95, 19 May, May 9x"),
    ],
)
def test_days_come_back_beside_their_month(own, sent, answer, wanted):
    assert_restored(opened(date([own], [sent])), answer, wanted)


def test_a_date_in_words_comes_back_in_digits():
    given = date(["14 June 2024"], ["9 May 1961"], year=True)
    c = opened(given)
    assert_restored(c, "1961-05-09, May 9, 1961", "2024-06-14, June 14, 2024")
    assert_restored(c, "5/9/1961 or 09.05.1961", "6/14/2024 or 14.06.2024")


def test_a_day_that_is_none_comes_back_with_its_month():
    """Ninety numbers of two digits are one format: a day may become 82."""
    c = opened(date(["14 June"], ["82 May"]))
    assert_restored(c, "82nd of May, May 82nd", "14th of June, June 14th")


def test_what_two_originals_may_be_is_not_restored():
    both = word("Tue", "Thu"), word("Friday", "Thursday")
    assert_restored(opened(*both), "Thurs or Thur", "Thurs or Thur")
    amounts = [word(own, sent, ("shape", "4 digits"), "$")
               for own, sent in (("1200", "3545"), ("1700", "3545"))]  # fmt: skip
    assert_restored(opened(*amounts), "3,545", "3,545")
    assert_restored(opened(amounts[0]), "3,545", "1,200")


def test_what_was_sent_is_restored_though_something_else_is_rewritten_to_it():
    days = date(["June 14th"], ["May 9th"]), date(["June 20"], ["May 9"])
    assert_restored(opened(*days), "May 9 and May 9th", "June 20 and June 14th")


@pytest.mark.parametrize(
    ("own", "sent", "answer", "wanted"),
    [
        ("1,200", "3,545", "3545 3,545.00 3545.0", "1200 1,200.00 1200.0"),
        ("1,200.50", "3,545.70", "3 545,70 or 3545.70", "1 200,50 or 1200.50"),
        ("1,200.50", "3,545.77", "3545.77", "1200.50"),
        ("1,200.57", "3,545.70", "3545.7, 3545.70", "1200.57, 1200.57"),
        ("415-555-0142", "632-764-0843", "6327640843!", "4155550142!"),
        ("415-555-0142", "632-764-0843", "632 764 0843", "415 555 0142"),
        ("415-555-0142", "632-764-0843", "(632) 764-0843", "(415) 555-0142"),
        ("415.555.0142", "632.764.0843", "632-764-0843", "415-555-0142"),
        ("4155550142", "6327640843", "632-764-0843", "415-555-0142"),
        ("1 415 555 0142", "3 632 764 0843", "(632) 764-0843", "(415) 555-0142"),
        ("4111111111111112", "6327640843632764", "6327 6408 4363 2764", CARD),
        ("4111-1111-1111-1112", "6327-6408-4363-2764", "6327 6408 4363 2764", CARD),
    ],
)
def test_numbers_come_back_with_other_signs(own, sent, answer, wanted):
    from mondegreen.text.tokenizer import tokenize

    parts, hidden = (tokenize([each]).parts[0] for each in (own, sent))
    kinds = [("shape", f"{len(each)} digits") for each in parts[1::2]]
    assert_restored(opened((parts, hidden, kinds)), answer, wanted)


def test_an_amount_of_two_digits_comes_back_with_cents():
    c = opened(word("45", "82", before="$", kind=NUMBER))
    assert_restored(c, "$82.00, 82.0, $82", "$45.00, 45.0, $45")


def test_what_hide_gives_out_comes_back_in_other_forms():
    for _ in range(10):
        with mg.conversation() as c:
            sent = c.hide("Call 415-555-0142 on Tuesday.")
            phone, day = sent.split()[1], sent.split()[3][:-1]
            answer = f"On {day[:3]} call {phone.replace('-', '')}."
            assert c.restore(answer) == "On Tue call 4155550142."
