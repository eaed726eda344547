import pickle
import sys
import time
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mondegreen.text import tokenizer
from mondegreen.text.tokenizer import TokenizedBatch, tokenize

STRUCTURE_CATEGORIES = {
    *("Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po"),
    *("Zs", "Zl", "Zp", "Cc", "Sc", "Sm"),
}
NONCHARACTERS = "\uffff\ufdd0\U0010ffff"

everything = st.text(alphabet=st.characters(codec=None, categories=None))
hostile = st.text(
    alphabet=st.sampled_from(
        "nNtTsSdDmlLrReEvVacwoO '’＇ʼ.\n\0é\u0301\u200d\u200c\ufeff\u202e\ud800\udc00ſK"
        "😀🏽\ufe0f🇳🇴\ue000´`^$+1²½_\xad\x85\u2028"
    ),
    max_size=12,
)
texts = everything | hostile


def parts_of(text: str) -> list[str]:
    parts = tokenize([text]).parts[0]
    assert parts is not None
    return parts


def is_structure(char: str) -> bool:
    """Say what passes in clear; written apart from the pattern on purpose."""
    return unicodedata.category(char) in STRUCTURE_CATEGORIES or char in "^`¨¯´¸"


def without_endings(parts: list[str]) -> list[str]:
    """Structure with the s of 's taken away where a word stands before it."""
    out = parts[0::2]
    for k in range(1, len(out)):
        while out[k][:1] and out[k][0] in "'’＇" and out[k][1:2] in ("s", "S"):
            out[k] = out[k][2:]
    return out


@settings(max_examples=500)
@given(texts)
@example("\ud800")
@example("don't\0\ufeff😀's")
def test_parts_joined_are_the_text(text: str) -> None:
    parts = parts_of(text)
    assert "".join(parts) == text
    assert len(parts) % 2 == 1
    assert all(parts[1::2])


@settings(max_examples=500)
@given(texts)
def test_structure_never_holds_content_and_words_never_structure(text: str) -> None:
    parts = parts_of(text)
    structure = "".join(without_endings(parts))
    assert [c for c in structure if not is_structure(c)] == []
    for word in parts[1::2]:
        if any(c in "'’＇" for c in word):
            assert word.translate({0x2019: "'", 0xFF07: "'"}).lower() in {
                *("n't", "'ll", "'re", "'ve", "'d", "'m")
            }
        else:
            assert [c for c in word if is_structure(c)] == []


def test_every_assigned_code_point_is_on_the_declared_side() -> None:
    chars = [
        c
        for c in map(chr, range(sys.maxunicode + 1))
        if unicodedata.category(c) != "Cn" and c != " "
    ] + list(NONCHARACTERS)
    parts = parts_of(" ".join(chars))
    assert set(parts[1::2]) == {c for c in chars if not is_structure(c)}


@settings(max_examples=500)
@given(st.text(alphabet=st.sampled_from("nNtTsSdmlrevacwoi1 ''.,\n"), max_size=16))
def test_the_ascii_and_the_unicode_pattern_agree(text: str) -> None:
    assert tokenizer._ASCII(text) == tokenizer._UNICODE(text)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", [""]),
        (" ", [" "]),
        ("don't", ["", "do", "", "n't", ""]),
        ("CAN’T", ["", "CA", "", "N’T", ""]),
        ("mustn't've", ["", "must", "", "n't", "", "'ve", ""]),
        ("I'd we'll you're", None),
        ("film's!", ["", "film", "'s!"]),
        ("ANN＇S", ["", "ANN", "＇S"]),
        ("'s", ["'", "s", ""]),
        ("a 's", ["", "a", " '", "s", ""]),
        ("it'san", ["", "it", "'", "san", ""]),
        ("it'ſ", ["", "it", "'", "ſ", ""]),
        ("n't", ["", "n", "'", "t", ""]),
        ("O'Brien", ["", "O", "'", "Brien", ""]),
        ("rock'n'roll", ["", "rock", "'", "n", "'", "roll", ""]),
        ("'tis y'all", ["'", "tis", " ", "y", "'", "all", ""]),
        ("ann_lee@x.org", ["", "ann", "_", "lee", "@", "x", ".", "org", ""]),
        ("4111 1111-2²", ["", "4111", " ", "1111", "-", "2²", ""]),
        ("ok👍🏽!", ["", "ok", "", "👍🏽", "!"]),
        ("👩\u200d👩\u200d👧x", ["", "👩\u200d👩\u200d👧", "", "x", ""]),
        ("🏳️\u200d🌈 🇳🇴", ["", "🏳️\u200d🌈", " ", "🇳🇴", ""]),
        ("😀's", ["", "😀", "'", "s", ""]),
        ("\ufeffan\xadna", ["", "\ufeffan\xadna", ""]),
        ("\u0301\u0302", ["", "\u0301\u0302", ""]),
        ("\ud800a\udc00", ["", "\ud800", "", "a", "", "\udc00", ""]),
    ],
)
def test_known_texts_are_cut_as_documented(text: str, parts: list[str] | None) -> None:
    if parts is None:
        parts = ["", "I", "", "'d", " ", "we", "", "'ll", " ", "you", "", "'re", ""]
    assert parts_of(text) == parts


@pytest.mark.parametrize(
    "unit",
    [
        *("a", "a ", "a'", "an't", "a's", "n", "'", "\u200d", "\u200d'", "\u200d."),
        *("\u0301", "é'", "😀\u200d", "\ud800", "\0", "\u200d\u200ds'"),
    ],
)
def test_time_is_linear_in_the_text(unit: str) -> None:
    # A quadratic pattern needs hours for a million characters; linear, a third of a
    # second, so that a busy machine does not fail this.
    text = unit * (1_000_000 // len(unit))
    start = time.process_time()
    parts = parts_of(text)
    assert time.process_time() - start < 5
    assert "".join(parts) == text


@pytest.mark.parametrize("line", ["a" * 10_000_000, "word " * 2_000_000])
def test_a_line_of_ten_megabytes_is_read_in_seconds(line: str) -> None:
    start = time.process_time()
    parts = parts_of(line)
    assert time.process_time() - start < 5
    assert len(parts) // 2 == (1 if " " not in line else 2_000_000)


def test_nulls_and_empty_texts_keep_their_places() -> None:
    batch = tokenize(["a b", None, "", "don't"])
    assert batch.parts[1] is None
    assert batch.counts() == [2, 0, 0, 2]
    assert batch.words() == ["a", "b", "do", "n't"]
    assert tokenize([]).counts() == []


def test_a_batch_shows_no_text_and_survives_pickling() -> None:
    batch = tokenize(["Secret"])
    assert "Secret" not in repr(batch)
    assert "Secret" not in str(batch)
    assert isinstance(batch, TokenizedBatch)
    assert pickle.loads(pickle.dumps(batch)) == batch
