"""Words that a release shows in masks, or in the forms of HTML, are left."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mondegreen.attacks.alignment import read_tokens
from mondegreen.attacks.any_tool.rows import MASKED, STANDS, Given, read_rows
from mondegreen.attacks.any_tool.run import attack_release
from mondegreen.attacks.any_tool.spans import Annotation
from mondegreen.attacks.readings import decode_signs, list_readings, plain
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
    row = read(text, release)
    shown = {
        plain(key)
        for each in list_readings(release)
        for key in read_tokens(each, original=text).keys
    }
    for unit in row.units:
        assert row.is_left(unit) == (row.words[unit.first] in shown)


DATE = "She came on {} to see us."


@pytest.mark.parametrize(
    "value",
    ["3/4/95", "03-04-95", "14:30", "01 42 68 53 00", "10.0.0.1", "5.50", "12/80"],
)
@pytest.mark.parametrize(
    "mask", ["[DATE: {}]", "[PHONE {}]", "{{{{{}}}}}", "<IP: {}>", "⟨{}⟩"]
)
def test_a_unit_of_short_numbers_tells_as_a_whole(value, mask):
    text = DATE.format(value)
    spans = [Annotation(12, 12 + len(value), "X")]
    assert read(text, DATE.format(mask.format(value)), spans).left_count() == 1
    assert read(text, DATE.format("[DATE_3]"), spans).left_count() == 0
    assert read(text, DATE.format("[DATE 1]"), spans).left_count() == 0


def test_accents_that_the_release_drops_or_adds_hide_no_word():
    text = "Mail from Jos\u00e9 Garc\u00eda and Zo\u00eb M\u00fcller."
    spans = [
        Annotation(text.index(name), text.index(name) + len(name), "P")
        for name in ("Jos\u00e9 Garc\u00eda", "Zo\u00eb M\u00fcller")
    ]
    for release in (
        "Mail from Jose Garcia and Zoe Muller.",
        "Mail from J\u00f3se Garci\u00e1 and Zo\u00e8 M\u00fc\u0301ller.",
        "Mail from [NAME: Jose Garcia] and {{Zoe Muller}}.",
        "Mail from Jos&eacute; Garc&iacute;a and Zo&euml; M&uuml;ller.",
    ):
        row = read(text, release, spans)
        assert row.left_count() == 2, release
        assert row.words == read_tokens(text).keys
    assert read(text, "Mail from Joan Garner and Zora Miller.", spans).left_count() == 0


@pytest.mark.parametrize(
    ("name", "forms"),
    [
        ("Łukasz Wójcik", ["Lukasz Wojcik", "ŁUKASZ WÓJCIK", "[NAME: Lukasz] Wojcik"]),
        ("Søren Åkesson", ["Soren Akesson", "SØREN ÅKESSON", "S&oslash;ren Akesson"]),
        ("Nguyễn Đức", ["Nguyen Duc", "NGUYỄN ĐỨC"]),
        ("Jörg Weiß", ["JÖRG WEISS", "Jorg Weiss", "JÖRG WEIẞ", "Jörg W e i s s"]),
        ("Joerg Weiss", ["Joerg Weiß"]),
        ("İsmail Yıldız", ["ismail yildiz", "İSMAİL YILDIZ", "ISMAIL YILDIZ"]),
        ("Æsa Þórðardóttir", ["Aesa Thordardottir", "ÆSA ÞÓRÐARDÓTTIR"]),
    ],
)
def test_letters_that_unicode_does_not_take_apart_hide_no_word(name, forms):
    text = f"Yesterday {name} called."
    spans = [Annotation(10, 10 + len(name), "P")]
    for form in forms:
        assert read(text, f"Yesterday {form} called.", spans).left_count() == 1, form
    assert read(text, "Yesterday Lars Olsen called.", spans).left_count() == 0


def test_words_of_an_original_in_the_forms_of_html_are_left_if_they_are_shown():
    text = "Frau M&uuml;ller&nbsp;Okonkwo aus K%C3%B6ln rief an."
    spans = [Annotation(5, 29, "P"), Annotation(34, 43, "L")]
    assert text[34:43] == "K%C3%B6ln"
    for release, left in (
        ("Frau M\u00fcller Okonkwo aus K\u00f6ln rief an.", 2),
        ("Frau Muller Okonkwo aus [ORT] rief an.", 1),
        ("Frau [NAME: M\u00fcller Okonkwo] aus [ORT: K\u00f6ln] rief an.", 2),
        ("Frau [NAME] aus [ORT] rief an.", 0),
    ):
        assert read(text, release, spans).left_count() == left, release


@pytest.mark.parametrize("word", ["doctor", "hospital", "illness", "religion"])
def test_a_sensitive_word_that_is_also_a_tag_is_left_in_small_letters(word):
    text = f"The {word} of Anna"
    for form, left in (("{{{{{}}}}}", 1), ("[{}]", 1), ("⟨{}⟩", 1)):
        row = read(text, f"The {form.format(word)} of [NAME]")
        assert row.left_count() == left, form
        row = read(text, f"The {form.format(word.upper())} of [NAME]")
        assert row.left_count() == 0, form


def test_a_name_of_words_that_are_tags_is_left_in_small_letters():
    text = "I met Per Street today"
    for mask in ("{{Per Street}}", "[name per street]", "[NAME: Per Street]"):
        row = read(text, f"I met {mask} today", [Annotation(6, 16, "P")])
        assert row.left_count() == 1, mask


@pytest.mark.parametrize(
    "tag",
    "NAME SSN US_SSN DOB MRN UK_NHS US_ITIN PII IMEI MARITAL_STATUS ETHNIC_GROUP VOTER "
    "DIAGNOSIS MEDICATION DRUG SCHOOL UNIVERSITY COURT JUDGE MEDICAL_RECORD_NUMBER "
    "DATE_TIME US_DRIVER_LICENSE IBAN_CODE AU_MEDICARE".split(),
)
def test_tags_of_common_tools_release_nothing(tag):
    words = tag.replace("_", " ").lower()
    text = f"The {words} of Anna"
    spans = [
        Annotation(4, 4 + len(words), "X"),
        Annotation(len(text) - 4, len(text), "P"),
    ]
    for mask in ("[{}]", "<{}>", "{{{{{}}}}}", "⟨{}⟩", "[{}_1]"):
        release = f"The *** of {mask.format(tag)}"
        assert read(text, release, spans).left_count() == 0, mask


@pytest.mark.parametrize(
    "printed",
    [
        *("Ok<!-- x -->onkwo", "Ok<!---->onkwo", "Ok<!-->onkwo", "Ok<my-tag>onkwo"),
        *("Ok<x:y>onkwo", "Ok<b title='>'>onkwo", "Ok<b it's>onkwo", "Ok<br />onkwo"),
        *(
            "Ok<b/><!-- > --></b>onkwo",
            "Ok</>onkwo",
            "Ok<?x y?>onkwo",
            "O&shy;<b>konkwo",
        ),
        *('Ok<b style="' + "x: y; " * 50 + '">onkwo', "x%3cOkonkwo%3ey"),
        *("&#" + "0" * 5000 + "79;konkwo", "&#" + "9" * 5000 + ";Okonkwo"),
    ],
)
def test_a_word_that_html_splits_is_left(printed):
    text = "The doctor said that Okonkwo came"
    row = read(text, f"The doctor said that {printed} came")
    assert row.left_count() == len(row.units) > 0


@pytest.mark.parametrize(
    "piece",
    [
        *("<br />", "a<br />", "&", "&#", "&#0", "%", "%4", "<", "<a ", "<!--", "a<!"),
        *(
            "<a '",
            '<a "',
            "<a '\"",
            "a<!-->",
            "\u0301",
            "\u0301\u0323",
            "\u302e\U0001d165",
        ),
        *("\u0f73\u0f71", "&#9", "x ", "a.", "{{", "[A", "⟨", "\xad", "&amp;", "%25"),
    ],
)
def test_hostile_text_takes_no_long_time(piece):
    long = piece * (200_000 // len(piece))
    start = time.process_time()
    for text in (long, f"word{long} next", f"a{long}>b", f"{long}-->"):
        decode_signs(text)
    assert time.process_time() - start < 4  # each takes less than a second
    start = time.process_time()
    read("The doctor came", f"word{long[:50_000]} next")
    assert time.process_time() - start < 2


def test_letters_set_apart_beside_a_letter_are_words():
    text = "She has a diabetes problem, Anna Okonkwo"
    release = "She has a d i a b e t e s problem, A n n a O k o n k w o"
    assert read(text, release).left_count() == len(read(text, text).units) > 1
    row = read(text, "She has [ILLNESS: a d i a b e t e s] problem, [NAME]")
    assert row.left_count() == 1
    long = "She has " + "a " * 300 + "d i a b e t e s " + "b " * 50_000
    assert read(text, long).left_count() == 1
