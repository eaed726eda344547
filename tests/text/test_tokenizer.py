import hashlib
import math
import pickle
import random
import sys
import time
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mondegreen.text import structure, tokenizer
from mondegreen.text.structure import GAP
from mondegreen.text.tokenizer import TokenizedBatch, canonical, tokenize

# What passes in clear, written apart from the package on purpose.
CURRENCY = set(map(chr, (0x24, 0xA2, 0xA3, 0xA5, 0x20A9, 0x20AC, 0x20B9, 0x20BD)))
SIGNS = {chr(i) for i in range(0x21, 0x7F) if not chr(i).isalnum()} - {"$"} | set(
    map(
        chr,
        [
            *(0xA1, 0xAB, 0xB7, 0xBB, 0xBF, 0x60C, 0x61B, 0x61F, 0x964),
            *(0x2013, 0x2014, 0x2018, 0x2019, 0x201A, 0x201C, 0x201D, 0x201E),
            *(0x2022, 0x2026, 0x2039, 0x203A, 0x3001, 0x3002),
            *(0x300C, 0x300D, 0x300E, 0x300F),
            *(0xFF01, 0xFF08, 0xFF09, 0xFF0C, 0xFF1A, 0xFF1B, 0xFF1F),
        ],
    )
)
BLANKS = set(map(chr, (0x20, 0x09, 0x0A, 0x0D, 0xA0)))
LISTED = SIGNS | CURRENCY | BLANKS
EVERY = list(map(chr, range(sys.maxunicode + 1)))
VERSION_FREE = (97269, "7f4e855345a46532", "0f3a6722c6570ac4")
MANY = EVERY[:0x20000] + EVERY[0x20000::101]
"""Planes 0 and 1, and some of each other: nearly all that is assigned."""

everything = st.text(alphabet=st.characters(codec=None, categories=None))
hostile = st.text(
    alphabet=st.sampled_from(
        "nNtTsSdDmlLrReEvVacwoO '’＇ʼ.\n\0é\u0301\u200d\u200c\ufeff\u202e\ud800\udc00ſK"
        "😀🏽\ufe0f🇳🇴\ue000´`^$€+1²½_\xad\x85\u2028\r\t\xa0"
    ),
    max_size=12,
)
signs = st.text(alphabet=st.sampled_from([*sorted(LISTED), *"   \n\n\ta1s"]))
texts = everything | hostile | signs


def parts_of(text: str) -> list[str]:
    parts = tokenize([text]).parts[0]
    assert parts is not None
    return parts


def without_endings(parts: list[str]) -> list[str]:
    """Structure with the s of 's taken away where a word stands before it."""
    out = parts[0::2]
    for k in range(1, len(out)):
        while out[k][:1] and out[k][0] in "'’" and out[k][1:2] in ("s", "S"):
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
    assert set("".join(without_endings(parts))) <= LISTED
    for word in parts[1::2]:
        if not set(word) & LISTED:
            continue
        is_ending = word.replace("’", "'").lower() in {
            *("n't", "'ll", "'re", "'ve", "'d", "'m")
        }
        is_long = set(word.replace("s", "").replace("S", "")) <= LISTED and (
            len(word) > GAP - 4
        )
        assert is_ending or is_long or set(word) <= CURRENCY


def passing(pattern: str, chars: list[str]) -> set[str]:
    """Return the code points that are structure where they stand in the pattern."""
    parts = parts_of(" a ".join(pattern.replace("_", char) for char in chars))
    assert set("".join(parts[1::2])) >= set(chars) - LISTED
    return set("".join(parts[::2]))


@pytest.mark.slow("all 1,114,112 code points")
def test_of_all_code_points_those_of_the_list_pass_in_clear_and_no_other() -> None:
    assert passing(" _ ", EVERY) == LISTED
    others = [char for char in MANY if char not in CURRENCY]
    assert passing("x_y é_ 1_2 __", others) == LISTED - CURRENCY


@pytest.mark.parametrize(
    ("pattern", "is_structure"),
    [
        *((p, True) for p in ("_", "1_2", "1_ x", "x _1", "_ _", "(_)", "x _", "1_x")),
        *((p, False) for p in ("x_y", "x_ 1", "1 _x", "é_", "_é", "😀_", "\x1b_")),
        *((p, False) for p in ("__", "1__1", "x __ y", "£_", "_$ 1")),
    ],
)
def test_a_currency_sign_is_structure_beside_a_digit_or_alone(
    pattern: str, is_structure: bool
) -> None:
    assert passing(pattern, sorted(CURRENCY)) & CURRENCY == (
        CURRENCY if is_structure else set()
    )


@pytest.mark.slow("all code points")
def test_a_character_in_any_number_and_alone_in_a_text_is_on_the_declared_side() -> (
    None
):
    for char in MANY:
        for count in (1, 3):
            words = tokenize([char * count]).words()
            is_word = char not in LISTED or (char in CURRENCY and count > 1)
            assert words == ([char * count] if is_word else [])


@pytest.mark.parametrize(
    "text",
    [
        "₳₦₦₳ met ₱₳₮",
        "∀∩∩∀ met ∂∀∨",
        "\x01\x0e\x0e\x01 met \x10\x01\x14",
        "\u2000\u2001\u2002 met \u2028\u2029",
        "〔〕〖〗 met ⸨⸩⸪",
        "€¥¥€ met $£$",
        "€n¥¥€ met ₽a£",
        "\u0378\u0379 met \ue000\U000f0000",
        "´¨¯ met ＄＋＜",
    ],
)
def test_a_name_spelled_in_signs_is_a_word(text: str) -> None:
    words = tokenize([text]).words()
    assert "".join(words) == text.replace(" ", "")
    assert text.split()[0] not in "".join(parts_of(text)[::2])


def test_a_name_spelled_in_ordinary_punctuation_does_not_pass() -> None:
    words = tokenize(["met /\\ |\\| |\\| /\\ on"]).words()
    assert words == ["met", "\\ |\\| |\\| /", "on"]


def units_of(gap: str) -> list[str]:
    """Cut a gap into what counts as one; written apart from the package."""
    units, rest = [], gap
    while rest:
        one = "\r\n" if rest.startswith("\r\n") else rest[0]
        if rest[0] in "'’" and rest[1:2] in ("s", "S"):
            one = rest[:2]
        count = 1
        while (
            one[0] in BLANKS and count < 32 and rest.startswith(one, count * len(one))
        ):
            count += 1
        units.append(one * count)
        rest = rest[len(one) * count :]
    return units


def kinds() -> set[str]:
    """Return all that may count as one unit of a gap."""
    blanks = [*BLANKS, "\r\n"]
    endings = {a + s for a in "'’" for s in "sS"}
    return SIGNS | CURRENCY | endings | {b * n for b in blanks for n in range(1, 33)}


@settings(max_examples=1000)
@given(signs.flatmap(lambda text: st.sampled_from([text, text * 3, f"a'S{text}b"])))
@example("- " * 5)
@example("'s-------")
@example("a's-------")
@example("a's--------")
@example(" " * 257)
@example("\n\r" * 5)
@example("a" + "'s" * 9)
@example("a" + "'S'S's" * 9 + " b")
@example("a's'S.......")
def test_no_gap_carries_more_than_is_stated(text: str) -> None:
    for gap in parts_of(text)[::2]:
        units = units_of(gap)
        assert len(units) <= 8
        assert set(units) <= kinds()


def test_the_stated_bits_count_all_gaps() -> None:
    gaps = sum(len(kinds()) ** length for length in range(9))
    assert math.log2(gaps) == pytest.approx(structure.GAP_BITS)
    assert (structure.GAP, structure.SAME) == (8, 32)
    assert set(structure.LISTED) == LISTED
    assert len(structure.LISTED) == len(LISTED)


def test_an_encoder_gets_eight_units_through_and_not_nine() -> None:
    rng = random.Random(4711)
    for _ in range(300):
        message = [rng.choice(sorted(SIGNS - {"'", "’"})) for _ in range(40)]
        for length in (8, 9, 20, 40):
            sent = "".join(message[:length])
            seen = parts_of(f"a{sent}b")[2::2][:-1]
            if length == 8:
                assert seen == [sent]
            else:
                assert seen == [sent[:2], sent[-2:]]


@given(st.text(alphabet=st.sampled_from([*sorted(LISTED - {"\n"}), *"as1é\0"])))
@example("- " * 9)
@example("\t \t \t \t \t \t ")
def test_a_line_stays_a_line(text: str) -> None:
    for end in ("\n", "\r\n"):
        parts = parts_of(text + end)
        assert parts[-1].endswith(end)
        assert "\n" not in "".join(parts[:-1])


def test_layout_that_people_write_passes() -> None:
    layouts = ["\n\n" + " " * 24, "\n\t\t\t", '."\n\n    (', " :-) ", "....", "-----"]
    for layout in (*layouts, "| --- |", '"},\n    {"', "\r\n\r\n> > ", "!!!!!!!!"):
        assert parts_of(f"a{layout}b") == ["", "a", layout, "b", ""]
    separator = "_" * 32
    assert parts_of(f"a\n\n{separator}\n\nb")[3] == separator


@settings(max_examples=500)
@given(
    st.text(alphabet=st.sampled_from("nNtTsSdmlrevacwoi1 ''.,\n$$\0\x1f"), max_size=16)
)
@example("a's'S's's'S's's's's's")
def test_the_ascii_and_the_unicode_pattern_agree(text: str) -> None:
    assert tokenizer._ASCII(text) == tokenizer._UNICODE(text)
    assert parts_of(text) == structure.cut_gaps(tokenizer._UNICODE(text))


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
        ("ANN＇S", ["", "ANN", "", "＇", "", "S", ""]),
        ("$20 20€ US$20", ["$", "20", " ", "20", "€ ", "US", "$", "20", ""]),
        ("A$AP $ $$", ["", "A", "", "$", "", "AP", " $ ", "$$", ""]),
        ("a\0b\u2028", ["", "a", "", "\0", "", "b", "", "\u2028", ""]),
        ("a×b±", ["", "a", "", "×", "", "b", "", "±", ""]),
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
        *(
            "-",
            "- ",
            "é-",
            "$",
            "$a",
            "$1",
            "€a",
            " ",
            "é ",
            " \t",
            "\r\n",
            "'s ",
            "é's-",
        ),
        *("a---------", "- - - - - -é", f"{' ' * 40}\t"),
    ],
)
@pytest.mark.slow("texts of megabytes")
def test_time_is_linear_in_the_text(unit: str) -> None:
    # A quadratic pattern needs hours for a million characters; linear, a third of a
    # second, so that a busy machine does not fail this.
    text = unit * (1_000_000 // len(unit))
    start = time.process_time()
    parts = parts_of(text)
    assert time.process_time() - start < 5
    assert "".join(parts) == text


@pytest.mark.slow("ten megabytes", but="line0")
@pytest.mark.parametrize("line", ["a" * 10_000_000, "word " * 2_000_000])
def test_a_line_of_ten_megabytes_is_read_in_seconds(line: str) -> None:
    start = time.process_time()
    parts = parts_of(line)
    assert time.process_time() - start < 5
    assert len(parts) // 2 == (1 if " " not in line else 2_000_000)


def test_cutting_and_canonical_forms_are_the_same_under_every_version() -> None:
    # Characters of Unicode 3.2, which every Python knows; later ones may differ.
    chars = [c for c in EVERY if unicodedata.ucd_3_2_0.category(c) not in ("Cn", "Co")]
    digest = hashlib.sha256()
    for part in parts_of(" ".join(f"a{char}b" for char in chars)):
        digest.update(part.encode("utf-8", "surrogatepass") + b"\0")
    cut = digest.hexdigest()[:16]
    for char in chars:
        digest.update(canonical(char).encode("utf-8", "surrogatepass") + b"\0")
    assert (len(chars), cut, digest.hexdigest()[:16]) == VERSION_FREE


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
