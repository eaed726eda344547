"""Words that a release shows in masks, or in the forms of HTML, are left."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mondegreen.attacks.alignment import read_tokens
from mondegreen.attacks.any_tool.readings import decode_signs
from mondegreen.attacks.any_tool.rows import MASKED, STANDS, Given, read_rows
from mondegreen.attacks.any_tool.run import attack_release
from mondegreen.attacks.any_tool.spans import Annotation
from mondegreen.language.store import load_language
from mondegreen.space.store import load_space

TEXT = "I rang Anna from Oslo about diabetes."


def read(text, release, spans=None):
    (row,) = read_rows([Given(1, text, release, spans)])
    return row


@pytest.mark.parametrize(
    "mask",
    [
        *("[NAME: {}]", "{{{{{}}}}}", "{{{{name:{}}}}}", "[REDACTED {}]", "[unk {}]"),
        *("[PERSON {}]", "<PERSON:{}>", "<unk-{}>", "⟨{}⟩", "[FIRST_NAME: {}]"),
        *("[REDACTED: NAME {}]", "[person_{}]", "[DATE {} DATE]", "[NAME_1 {}]"),
    ],
)
@pytest.mark.parametrize("change", [str, str.upper, str.lower])
def test_a_word_between_the_brackets_of_a_mask_is_left(mask, change):
    release = TEXT
    for word in ("Anna", "Oslo", "diabetes"):
        release = release.replace(word, mask.format(change(word)))
    for spans in (None, [Annotation(7, 11, "P"), Annotation(17, 21, "G")]):
        row = read(TEXT, release, spans)
        assert row.left_count() == len(row.units) >= 2
        # Every word is in its place, so the row counts as one that nothing changed.
        assert set(row.fate) == {STANDS}
        assert row.is_unchanged
        assert row.released.keys == row.words


def test_letters_that_are_set_apart_in_a_mask_are_a_word():
    for mask in ("[NAME: {}]", "{{{{{}}}}}", "<PERSON:{}>", "[REDACTED: NAME {}]"):
        release = TEXT.replace("Anna", mask.format("A n n a"))
        assert read(TEXT, release).left_count() == 3, mask


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("My name is Anna.", "My name is [NAME]."),
        ("The Person is Anna of the City.", "The *** is [PERSON] of the [CITY]."),
        ("The hospital of Anna", "The *** of [HOSPITAL_1]"),
        ("Illness: Anna", "***: [ILLNESS]"),
        ("The date of birth of Anna", "The *** of *** of [DATE OF BIRTH]"),
        ("We 2 met Anna at 4.", "We 2 met [PERSON 4] at 4."),
        ("We met Anna at 12.", "We met [PERSON_12] at ***."),
        ("Will she, Anna?", "*** she, <WILL>?"),
    ],
)
def test_a_tag_and_its_number_release_nothing(text, release):
    row = read(text, release)
    assert row.left_count() == 0
    assert row.fate[row.words.index("anna")] == MASKED


def test_an_annotated_word_in_a_mask_is_left_even_if_it_is_an_ordinary_one():
    text, spans = "I met Will and Street today", [Annotation(6, 10, "P")]
    spans.append(Annotation(15, 21, "P"))
    for release, left in (
        ("I met <WILL> and [NAME] today", 1),
        ("I met [NAME] and [NAME: STREET] today", 1),
        ("I met [NAME] and [NAME Street] today", 1),
        ("I met [NAME] and [STREET] today", 0),
        ("I met [AGE 42] and [NAME] today", 0),
    ):
        assert read(text, release, spans).left_count() == left, release
    text, spans = (
        "Call 555 1 of Anna",
        [Annotation(5, 10, "N"), Annotation(14, 18, "P")],
    )
    row = read(text, "Call [PHONE 1] of [PERSON 2]", spans)
    assert row.fate == [STANDS, MASKED, MASKED, STANDS, MASKED]
    row = read("She is 42 now", "She is [AGE 42] now", [Annotation(7, 9, "A")])
    assert row.left_count() == 1


def test_other_words_of_such_a_mask_take_no_place():
    """A surrogate beside the word would stand for one that is hidden."""
    row = read(TEXT, "I rang {{Anna Berg}} from [CITY] about [ILLNESS].")
    assert row.released.keys == "i rang anna from [CITY] about [ILLNESS]".split()
    assert row.left_count() == 1


def test_the_other_attacks_see_these_words():
    names = ["Anna", "Peter", "Maria", "Kevin"]
    texts = [f"I rang {name} about it." for name in names]
    rows = [
        Given(i, text, text.replace(name, f"[NAME: {name}]"))
        for i, (text, name) in enumerate(zip(texts, names, strict=True), start=1)
    ]
    found = attack_release(rows, load_language(), load_space()).attacks
    for name in ("survivors", "reader", "linkage"):
        assert found[name].value == 1, name
    assert found["unchanged_rows"].value == 4


@pytest.mark.parametrize(
    "printed",
    [
        *("Ok&shy;onkwo", "Ok&#8203;onkwo", "&#79;konkwo", "&#x4f;konkwo"),
        *("<b>O</b>konkwo", 'Okon<span class="x">kwo</span>', "O\u0301konkwo"),
        *(
            "&amp;#79;konkwo",
            "%4fkonkwo",
            "[NAME: &#79;konkwo]",
            "Okonkwo&nbsp;Okonkwo",
        ),
    ],
)
def test_a_word_that_a_browser_shows_is_left(printed):
    row = read(
        "The doctor said that Okonkwo came", f"The doctor said that {printed} came"
    )
    assert row.left_count() == len(row.units) > 0


PIECES = "Anna Oslo &amp; &#65; <b> </b> <br> %41 [NAME] lt \u0301 & ;".split()


@given(
    st.lists(st.sampled_from([*PIECES, " "]), max_size=12).map("".join),
    st.sampled_from([TEXT, "Anna &amp; Oslo", "Oslo <b>Anna</b> amp lt"]),
)
def test_no_reading_hides_a_word_that_is_there(release, text):
    row, shown = read(text, release), read_tokens(release, original=text).keys
    decoded = read(text, decode_signs(release))
    for unit in row.units:
        is_there = row.words[unit.first] in shown or decoded.is_left(unit)
        assert row.is_left(unit) == is_there
