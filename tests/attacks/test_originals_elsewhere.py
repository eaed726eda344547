"""Originals in other columns are found in every simple form, and nothing else is."""

import time
from urllib.parse import quote

import pytest

from mondegreen.attacks.other_columns import FIELD_NAMES, OTHER_TEXTS, OtherColumns

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
        lambda text: "".join(f"<i>{c}</i>" if c.isalpha() else c for c in text),
        lambda text: " ".join(
            f"{word[:2]}<!-- x -->{word[2:]}" for word in text.split()
        ),
        lambda text: "".join(f"&amp;#{ord(c)};" for c in text),
        lambda text: "".join(f"%25{ord(c):02x}" for c in text),
        lambda text: text.replace("a", "\u00e1").replace("o", "o\u0301"),
        lambda text: "".join(chr(ord(c) + 0xFEE0) if c.isalnum() else c for c in text),
        lambda text: "\xad".join(text),
        lambda text: f"&#{'9' * 5000}; {text}",
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


def test_an_original_with_accents_or_entities_is_found_without_them():
    text = "Jos&eacute; Garc\u00eda lives with Zo\u00eb in M\u00e1laga and has asthma."
    release = "[X] [X] lives with [X] in [X] and has [X]."
    plainly = "Jose Garcia lives with Zoe in Malaga and has asthma."
    for column in (
        text,
        plainly,
        plainly.replace("Jose", "Jos\u00e9"),
        plainly.upper(),
    ):
        assert count(column, text, release) == 1
        assert count(column, text, text) == 0


def test_a_name_of_a_column_with_hidden_words_is_printed_only_if_most_rows_have_it():
    columns = OtherColumns()
    for name in ("Anna Okonkwo", "Yusuf Berg"):
        columns.add(
            [f"{name} has asthma."],
            ["[X] [X] has [X]."],
            {f"patients.{name}": "asthma", "asthma": "no asthma", "city": "Oslo"},
            ["patients", name, "asthma", "city"],
        )
    found = columns.make_attack().details["columns"]
    assert found == {
        FIELD_NAMES: {"originals": 0, "hidden_words": 2},
        "asthma": {"originals": 0, "hidden_words": 2},
    }


def test_many_texts_and_fields_take_no_long_time():
    names = [f"the_average_response_time_in_milliseconds_{i % 5}" for i in range(400)]
    columns = OtherColumns()
    start = time.process_time()
    columns.add([TEXT] * 400, [RELEASE] * 400, {}, names)
    for piece in ("<br />", "&", "\u0301\u0323", "\u302e\U0001d165", "&#9", "<!--"):
        long = piece * (200_000 // len(piece))
        columns.add([TEXT], [RELEASE], {"x": f"word{long} next"})
    assert time.process_time() - start < 5
    assert columns.make_attack().value == 0


def find(rows):
    columns = OtherColumns()
    for texts, releases, others in rows:
        columns.add(texts, releases, others)
    return columns.make_attack()


def test_an_original_in_the_release_of_another_text_of_its_row_is_found():
    rows = [(["A", TEXT], [other, RELEASE], {}) for other in ("A", TEXT)]
    found = find(rows)
    assert (found.value, found.n) == (1, 2)
    assert found.details["columns"][OTHER_TEXTS]["originals"] == 1
    assert find(rows[:1]).value == 0
    words = ["The visit is on Friday in Leeds", "We write on Friday and not in Leeds"]
    shown = ["The visit is on Monday in Leeds", "We write on Friday and not in Oslo"]
    assert find([(words, shown, {})]).value == 0  # one word of another text
    quoted = [RELEASE, f"> {TEXT}"]
    assert find([([TEXT, "> x"], quoted, {})]).value == 1


def test_originals_of_other_rows_in_a_column_are_found():
    texts = [TEXT.replace("Okonkwo", name) for name in ("Ada", "Bo", "Cem", "Dan")]
    for step in (1, -1, 2):
        rows = [
            ([text], [RELEASE], {"previous": texts[(i + step) % 4].upper()})
            for i, text in enumerate(texts)
        ]
        assert find(rows).details["columns"]["previous"]["originals"] == 4
    shown = [
        ([text], [text], {"previous": texts[i - 1]}) for i, text in enumerate(texts)
    ]
    assert find(shown).value == 0  # nothing is hidden


def test_very_many_rows_keep_a_part_of_their_hashes():
    columns, texts = OtherColumns(), [f"{i} knows Ann{i:06}" for i in range(50_000)]
    for i, text in enumerate(texts):
        columns.add([text], ["x"], {"b": texts[i - 7]})
    assert len(columns._anywhere._originals) + len(columns._anywhere._cells) <= 1 << 16
    found = columns.make_attack().details["columns"]["b"]["originals"]
    assert 10_000 < found < 50_000
