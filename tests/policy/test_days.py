"""Days: numbers beside a printed month are valid, by outputs alone."""

from __future__ import annotations

import calendar
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mondegreen.attacks.printed import PolicyRows
from mondegreen.policy.days import DAYS, MONTHS, count_outcomes
from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.policy import load_policy
from mondegreen.policy.printing import PolicyPrinter
from mondegreen.policy.shapes import PLACES, SHAPES
from mondegreen.privatizer.build import build_privatizer
from mondegreen.settings import Settings
from mondegreen.text.tokenizer import TokenizedBatch

POLICY = load_policy("sensitive")
PRINTER = PolicyPrinter(POLICY)
CODES = {word: code for code, word in reversed(list(enumerate(POLICY.words)))}
FEBRUARY = 28


def code_of(word):
    """The output that prints a word, a number or an ordinal."""
    for name in ("1 digits", "0 and 1 digits", "2 digits", "3 digits", "ordinal"):
        place = PLACES[name]
        for member in range(min(SHAPES[place].size, 900)):
            if SHAPES[place].print(member) == word:
                return int(POLICY.first[POLICY.shape_symbol(place)]) + member
    return CODES[word]


def show(words, gaps, printer=PRINTER):
    """Print outputs, given as what each is printed as by itself, in this structure."""
    parts = [gaps[0]]
    for gap in gaps[1:]:
        parts += ["x", gap]
    codes = np.array(list(map(code_of, words)), dtype=np.int64)
    (text,) = printer.join(TokenizedBatch([parts]), codes)
    return text


@pytest.mark.parametrize(
    ("words", "gaps", "printed"),
    [
        (["82", "January"], ["", " ", ""], "16 January"),
        (["January", "82"], ["", " ", ""], "January 16"),
        (["January", "82"], ["", " ", ", "], "January 16, "),
        (["0", "June"], ["", " ", ""], "1 June"),
        (["9", "Jun"], ["", " ", "."], "1 Jun."),
        (["00", "June"], ["", " ", ""], "01 June"),
        (["31st", "June"], ["", " ", ""], "3rd June"),
        (["June", "30th"], ["", " ", ""], "June 2nd"),
        (["82", "June", "83"], ["", " ", " ", ""], "16 June 17"),
        (["June", "82", "June"], ["", " ", " ", ""], "June 16 June"),
        (["May", "82"], ["", " ", ""], "May 16"),
        (["an", "82", "June"], ["", " ", " ", ""], "A 16 June"),
        # Not directly beside.
        (["82", "January"], ["", ", ", ""], "82, January"),
        (["82", "January"], ["", "-", ""], "82-January"),
        (["82", "January"], ["", "  ", ""], "82  January"),
        (["82", "of", "January"], ["", " ", " ", ""], "82 of January"),
        (["82"], [" ", " "], " 82 "),
        # Other formats, other words.
        (["820", "January"], ["", " ", ""], "820 January"),
        (["82", "Sunday"], ["", " ", ""], "82 Sunday"),
        (["82", "pm"], ["", " ", ""], "82 pm"),
    ],
)
def test_what_is_printed(words, gaps, printed):
    words = ["may" if word == "May" else word for word in words]
    assert show(words, gaps) == printed


def test_plain_structure_decides_by_the_spaces_that_it_prints():
    printer = PolicyPrinter(POLICY, "plain")
    assert show(["82", "January"], ["", ", ", "?"], printer) == "16 January."


def test_no_month_of_the_next_text_is_beside():
    batch = TokenizedBatch([["", "x", " "], [" ", "x", ""]])
    codes = np.array([code_of("82"), code_of("June")])
    assert PRINTER.join(batch, codes) == ["82 ", " June"]


def test_all_months_that_the_policies_print_are_known():
    for name in ("sensitive", "names"):
        policy = load_policy(name)
        groups = [g for g in policy.groups if g.class_name == "time"]
        for group in groups:
            is_month = [word.lower() in MONTHS for word in group.words]
            assert all(is_month) if group.form in ("h", "f") else not any(is_month)
    assert {each.lower() for each in calendar.month_name[1:]} < MONTHS
    assert {each.lower() for each in calendar.month_abbr[1:]} < MONTHS


@pytest.mark.parametrize("month", ["January", "February", "may", "Sep"])
@pytest.mark.parametrize("is_behind", [False, True])
def test_all_numbers_of_two_digits_become_valid_days_as_often_as_documented(
    month, is_behind
):
    found = Counter()
    for number in map(str, range(10, 100)):
        words = [month, number] if is_behind else [number, month]
        printed = show(words, ["", " ", ""]).split()
        found[int(printed[is_behind])] += 1
    often = dict.fromkeys([*range(10, 15), *range(20, 29)], 5)
    assert found == often | dict.fromkeys(range(15, 20), 4)


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("1 digits", {1: 2} | dict.fromkeys(range(2, 10), 1)),
        ("0 and 1 digits", {1: 2} | dict.fromkeys(range(2, 10), 1)),
        ("ordinal", {1: 2, 2: 2, 3: 2} | dict.fromkeys(range(4, 29), 1)),
    ],
)
def test_days_have_the_documented_counts_and_formats(name, counts):
    shape = SHAPES[PLACES[name]]
    assert len(DAYS[name]) == shape.size
    printed = [shape.print(member) for member in DAYS[name]]
    assert Counter(int(p.rstrip("sthndr")) for p in printed) == counts
    assert max(counts) <= FEBRUARY
    assert set(printed) <= {shape.print(member) for member in range(shape.size)}
    assert count_outcomes(DAYS[name]) == shape.size // max(counts.values())


@pytest.mark.parametrize("settings", [{"numbers": "near"}, {"numbers": "plain"}])
def test_amounts_that_are_shown_or_near_are_not_changed(settings):
    policy = load_policy("sensitive", **settings)
    printer = PolicyPrinter(policy)
    june = policy.words.index("June")
    for cell in policy.alphabet.cells:
        batch = TokenizedBatch([["", "x", " ", "x", ""]])
        code = int(policy.first[cell])
        (printed,) = printer.join(batch, np.array([code, june]))
        assert printed == f"{policy.print(code)} June"
    if settings["numbers"] == "plain":
        law = Settings(mechanism="urr", epsilon=30.0, policy="sensitive", **settings)
        assert build_privatizer(law)("I met 82 June").text.startswith("I met 82 ")


# --- post-processing

PLAIN = tuple(
    code
    for word, code in CODES.items()
    if word.lower() not in MONTHS and word not in ("a", "an", "A", "An")
)
NUMBERS = tuple(
    int(POLICY.first[POLICY.shape_symbol(PLACES[name])]) + member
    for name, members in DAYS.items()
    for member in range(len(members))
)
DATED = tuple(code for word, code in CODES.items() if word.lower() in MONTHS)
GAPS = st.sampled_from([" ", " ", " ", ", ", ". ", "\n", "-", ""])


@st.composite
def texts(draw, *pools):
    codes = draw(st.lists(st.one_of(*map(st.sampled_from, pools)), min_size=1))
    gaps = draw(st.lists(GAPS, min_size=len(codes), max_size=len(codes)))
    return codes, gaps


def parts_of(words, gaps):
    parts = [""]
    for word, gap in zip(words, gaps, strict=True):
        parts += [word, gap]
    return parts


@given(texts(NUMBERS, DATED, PLAIN[:200], PLAIN[-200:]), st.data())
def test_prints_do_not_depend_on_the_originals(text, data):
    codes, gaps = text
    words = st.sampled_from(["14", "June", "82", "x", "31st", "Anna", "May"])
    sizes = {"min_size": len(codes), "max_size": len(codes)}
    one, other = (data.draw(st.lists(words, **sizes)) for _ in range(2))
    codes = np.array(codes, dtype=np.int64)
    printed = [
        PRINTER.join(TokenizedBatch([parts_of(some, gaps)]), codes)
        for some in (one, other)
    ]
    assert printed[0] == printed[1]
    assert PRINTER.spans(parts_of(one, gaps), codes)[0] == printed[0][0]


@given(texts(NUMBERS, PLAIN))
def test_without_a_month_nothing_changes(text):
    codes, gaps = text
    batch = TokenizedBatch([parts_of(["x"] * len(codes), gaps)])
    as_drawn = PolicyPrinter(POLICY, same="record")
    codes = np.array(codes, dtype=np.int64)
    assert PRINTER.join(batch, codes) == as_drawn.join(batch, codes)


@given(texts(NUMBERS, DATED, PLAIN[:200]))
def test_only_numbers_change_and_each_keeps_its_symbol(text):
    codes, gaps = text
    gaps = [gap if gap.strip(".,\n") else " " for gap in gaps]
    batch = TokenizedBatch([parts_of(["x"] * len(codes), gaps)])
    codes = np.array(codes, dtype=np.int64)
    (found,) = PRINTER.join(batch, codes)
    (drawn,) = PolicyPrinter(POLICY, same="record").join(batch, codes)
    lookup = PolicyLookup(POLICY)
    one, other = lookup.cut([found]), lookup.cut([drawn])
    assert one.parts[0][::2] == other.parts[0][::2]
    assert lookup.print_codes(one).tolist() == lookup.print_codes(other).tolist()
    for new, old in zip(one.words(), other.words(), strict=True):
        is_number = len(new) == len(old) if new.isdigit() else new[-1] in "tdh"
        assert new == old or (new[0].isdigit() and is_number)


@pytest.mark.parametrize("same", ["record", "key"])
def test_wider_scopes_print_what_was_drawn(same):
    printer = PolicyPrinter(POLICY, same=same)
    assert show(["82", "January"], ["", " ", ""], printer) == "82 January"


def test_a_number_of_a_record_is_the_same_beside_a_month_and_elsewhere():
    settings = Settings(
        mechanism="urr", epsilon=30.0, policy="sensitive", same="record"
    )
    privatizer = build_privatizer(settings)
    for _ in range(20):
        words = privatizer("We met on 14 June and on the 14 again.").text.split()
        assert words[3] == words[8]


@pytest.mark.parametrize("before", [0, 1, 2])
def test_every_original_of_a_date_gives_the_same_print(before):
    """All pairs of these originals, at each place, for one release."""
    some = ("14", "June", "82", "31st", "pm", "Anna", "May", "the", "7")
    codes = [code_of("the")] * before + [code_of("82"), code_of("June")]
    printed = {
        PRINTER.join(
            TokenizedBatch([parts_of([*["x"] * before, one, other], [" "] * n)]),
            np.array(codes),
        )[0]
        for n in [before + 2]
        for one in some
        for other in some
    }
    assert len(printed) == 1
    assert printed.pop().endswith("16 June ")


# --- what an attack reads

DATES = [
    f"{text} {i}"
    for i, text in enumerate(
        ["on 14 June", "June 14, at noon", "14th Jun", "on 5 May", "05 Jul"] * 400
    )
]


@pytest.mark.parametrize("epsilon", [2.0, 12.0])
@pytest.mark.parametrize("structure", ["keep", "plain"])
def test_an_attack_finds_that_the_setting_may_have_drawn_a_release_of_dates(
    epsilon, structure
):
    texts = [text.rsplit(" ", 1)[0] for text in DATES]
    settings = Settings(
        mechanism="urr", epsilon=epsilon, policy="sensitive", structure=structure
    )
    released = [each.text for each in build_privatizer(settings).batch(texts)]
    rows = PolicyRows(PolicyLookup(POLICY))
    rows.add(range(1, len(texts) + 1), texts, released)
    assert rows.looks_drawn
    assert (rows.unpaired, rows.make_attack().value) == (0, 0)


def test_days_that_stay_by_chance_are_expected_and_more_of_them_are_found():
    """Without the counts of days, "14 May" would stay too often: 5 of 90 times."""
    texts = ["at 14 may"] * 3000
    rng = np.random.default_rng(6)
    stays = rng.random(len(texts)) < 5 / 90
    released = [t if s else "at 11 may" for t, s in zip(texts, stays, strict=True)]
    rows = PolicyRows(PolicyLookup(POLICY))
    rows.add(range(1, len(texts) + 1), texts, released)
    assert rows.make_attack().value == 0
    rows = PolicyRows(PolicyLookup(POLICY))
    rows.add(range(1, len(texts) + 1), texts, texts)
    assert rows.make_attack().value == len(texts)
    # Without a month a number stays once in 90 times.
    texts, released = ["at 10 now"] * 3000, ["at 11 now"] * 3000
    released[:300] = texts[:300]
    rows = PolicyRows(PolicyLookup(POLICY))
    rows.add(range(1, len(texts) + 1), texts, released)
    assert rows.make_attack().value == 300
