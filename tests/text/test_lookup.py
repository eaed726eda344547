import hashlib
import pickle
import re
import time
from collections.abc import Iterable
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mondegreen.errors import (
    DecodeError,
    InvalidParameterError,
    OutOfVocabularyError,
    SourceError,
)
from mondegreen.space.space import Space
from mondegreen.text.lookup import (
    DROP,
    KEEP,
    MASK,
    Lookup,
    Unknown,
    read_keep_list,
)
from mondegreen.text.structure import GAP, GAP_BITS, LISTED, SAME
from mondegreen.text.tokenizer import canonical, tokenize

WORDS = ["ca", "can", "do", "is", "not", "will", "wo", "are", "café", "film", "1"]
UNKNOWN = len(WORDS)


@pytest.fixture(scope="module")
def space() -> Space:
    return Space.from_arrays("words", WORDS, np.arange(len(WORDS))[:, None])


def named(
    space: Space, text: str, unknown: Unknown = "word", keep: Iterable[str] = ()
) -> list[str | int]:
    codes = Lookup(space, unknown, keep).codes(tokenize([text])).tolist()
    return [WORDS[code] if 0 <= code < UNKNOWN else code for code in codes]


def test_words_are_found_in_any_case_and_any_compatible_form(space: Space) -> None:
    text = "FILM ﬁlm ｆｉｌｍ cafe\u0301 CAFÉ fi\xadlm \ufefffilm ①"
    assert named(space, text) == [*["film"] * 3, *["café"] * 2, *["film"] * 2, "1"]


def test_endings_and_their_irregular_hosts_are_looked_up_by_the_table(
    space: Space,
) -> None:
    assert named(space, "don't CAN’T Won't ain't") == [
        *("do", "not", "can", "not", "will", "not", "is", "not")
    ]
    assert named(space, "they'll you're") == [UNKNOWN, "will", UNKNOWN, "are"]


def test_hosts_are_themselves_where_no_negation_touches_them(space: Space) -> None:
    assert named(space, "ca not wo ca's ca n't") == [
        *("ca", "not", "wo", "ca", "ca", UNKNOWN, UNKNOWN)
    ]


def test_a_host_is_found_though_the_negation_is_not_in_the_space() -> None:
    space = Space.from_arrays("words", ["can", "x"], [[0.0], [1.0]])
    batch = tokenize(["x can't y", "can't"])
    assert Lookup(space).codes(batch).tolist() == [1, 0, 2, 2, 0, 2]


def test_a_cased_space_finds_the_word_as_written_first() -> None:
    space = Space.from_arrays("cased", ["us", "US", "n't", "not"], np.eye(4))
    batch = tokenize(["US us Us don't"])
    assert Lookup(space).codes(batch).tolist() == [1, 0, 0, 4, 3]


@pytest.mark.parametrize(
    ("unknown", "code"), [("word", UNKNOWN), ("mask", MASK), ("drop", DROP)]
)
def test_each_policy_gives_unknown_words_its_code(
    space: Space, unknown: Unknown, code: int
) -> None:
    assert named(space, "film Xyzzy 😀 4111 \ud800", unknown) == ["film", *[code] * 4]


def test_fail_says_neither_which_word_nor_where_nor_how_many(space: Space) -> None:
    told = set()
    for texts in (["Xyzzy"], ["film", None, "", "do Xyzzy film Plugh"], ["a b c"] * 9):
        with pytest.raises(OutOfVocabularyError, match="outside the voc") as caught:
            Lookup(space, "fail").codes(tokenize(texts))
        told.add(str(caught.value))
    (message,) = told
    assert not any(char.isdigit() for char in message)
    assert 'unknown="word"' in message
    assert Lookup(space, "fail").codes(tokenize(["Film can't"])).tolist() == [9, 1, 4]


def test_kept_words_are_compared_in_canonical_form(space: Space) -> None:
    keep = {"Oslo", "ＦＩＬＭ", "can"}
    assert named(space, "OSLO film do can't can ca", keep=keep) == [
        *(KEEP, KEEP, "do", KEEP, "not", KEEP, "ca")
    ]
    assert named(space, "oslo bergen", "mask", keep) == [KEEP, MASK]


@pytest.mark.parametrize("entry", ["", " ", "New York", "don't", "ann's", "!", "a-b"])
def test_a_kept_entry_must_be_one_word(space: Space, entry: str) -> None:
    with pytest.raises(InvalidParameterError, match="keep"):
        Lookup(space, keep={entry})


def test_an_unknown_policy_must_be_one_of_four(space: Space) -> None:
    with pytest.raises(InvalidParameterError, match="word, mask, drop, fail"):
        Lookup(space, cast(Unknown, "pass"))


@given(st.text(alphabet=st.characters(codec=None, categories=None), min_size=1))
def test_any_text_gets_one_code_per_word(text: str) -> None:
    space = Space.from_arrays("words", WORDS, np.arange(len(WORDS))[:, None])
    batch = tokenize([text, None, text])
    codes = Lookup(space).codes(batch)
    assert codes.dtype == np.int32
    assert codes.shape == (sum(batch.counts()),)
    assert codes[: len(codes) // 2].tolist() == codes[len(codes) // 2 :].tolist()
    assert ((codes >= 0) & (codes <= UNKNOWN)).all()


@pytest.mark.parametrize("unit", ["\u0301\u0323", "a", "\u1100", "\ufdfa", "\xad"])
def test_one_huge_word_is_looked_up_at_once_and_not_remembered(
    space: Space, unit: str
) -> None:
    lookup = Lookup(space)
    batch = tokenize([unit * 200_000])
    start = time.process_time()
    assert lookup.codes(batch).tolist() == [UNKNOWN]
    assert time.process_time() - start < 1
    assert max(map(len, lookup._memo)) < 10


@pytest.mark.parametrize("letter", ["é", "a", "각"])
def test_a_long_word_is_looked_up_anew_so_that_time_does_not_show_it(
    space: Space, letter: str
) -> None:
    lookup = Lookup(space)
    short, long = letter * 32, letter * 33
    for _ in range(2):
        assert lookup.codes(tokenize([f"{short} {long}"])).tolist() == [UNKNOWN] * 2
        assert short in lookup._memo
        assert long not in lookup._memo


def test_the_memo_is_bounded(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mondegreen.text.lookup._MEMO_ENTRIES", 8)
    lookup = Lookup(space)
    for _ in range(2):
        text = " ".join(["film", *map(str, range(2, 50)), "don't can't"])
        codes = lookup.codes(tokenize([text])).tolist()
        assert codes == [9, *[UNKNOWN] * 48, 2, 4, 1, 4]
        assert len(lookup._memo) <= 8


def test_pickling_keeps_the_policy_and_leaves_private_words_behind(
    space: Space,
) -> None:
    lookup = Lookup(space, "mask", {"oslo"})
    batch = tokenize(["Xyzzy film Oslo can't"])
    codes = lookup.codes(batch)
    data = pickle.dumps(lookup)
    assert b"Xyzzy" not in data
    again = pickle.loads(data)
    assert len(again._memo) == 0
    assert again.codes(batch).tolist() == codes.tolist()
    assert again.disclosed == lookup.disclosed


def test_nothing_shows_words_of_a_text_or_of_the_list(space: Space) -> None:
    lookup = Lookup(space, keep={"oslo"})
    lookup.codes(tokenize(["Xyzzy"]))
    for shown in (repr(lookup), str(lookup), repr(lookup._memo), *lookup.disclosed):
        assert "xyzzy" not in shown.lower()
        assert "oslo" not in shown.lower()


def test_strata_name_what_each_policy_lets_pass(space: Space) -> None:
    plain = Lookup(space).disclosed
    assert len(plain) == 3
    for name in ("number and positions", "punctuation", "currency", "line ends", "'s"):
        assert any(name in sentence for sentence in plain)
    assert "[unk]" in Lookup(space, "mask").disclosed[-1]
    assert "removed" in Lookup(space, "drop").disclosed[-1]
    assert "no word is unknown" in Lookup(space, "fail").disclosed[-1]
    for number in (len(LISTED), GAP, SAME, f"{GAP_BITS:.1f}"):
        assert re.search(rf"\b{number}\b", plain[1])
    digest = hashlib.sha256(b"Oslo\nfilm").hexdigest()
    kept = Lookup(space, keep=["film", "Oslo", "film"])
    assert kept.keep_digest == digest
    assert "2 entries" in kept.disclosed[-1]
    assert digest[:16] in kept.disclosed[-1]


def test_the_digest_of_a_list_tells_spellings_apart_and_not_orders(
    space: Space,
) -> None:
    lists = (["Oslo", "film"], ["film", "Oslo"], ["oslo", "film"], ["OSLO", "film"])
    digests = [Lookup(space, keep=keep).keep_digest for keep in lists]
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3


@pytest.mark.parametrize("pair", [("Oslo", "OSLO"), ("ﬁlm", "film"), ("a\u0301", "á")])
def test_two_spellings_of_one_word_are_refused(
    space: Space, tmp_path: Path, pair: tuple[str, str]
) -> None:
    with pytest.raises(InvalidParameterError, match="one spelling of each word"):
        Lookup(space, keep=pair)
    path = tmp_path / "keep.txt"
    path.write_text("\n".join(["# list", pair[0], "x", *pair]), encoding="utf-8")
    with pytest.raises(SourceError, match="another spelling") as caught:
        read_keep_list(path)
    assert caught.value.row == 5
    assert pair[1] not in str(caught.value)


def test_canonical_is_idempotent_on_hard_cases() -> None:
    for word in ("İ", "ẞ", "ﬃ", "Å", "ǆ", "ͅ", "𝔘", "ca", "n't", "½"):
        assert canonical(canonical(word)) == canonical(word)


def test_a_keep_list_has_comments_blank_lines_and_any_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "keep.txt"
    path.write_bytes("\ufeff# public\r\nOslo # city\r\n\r\n Æther\rfilm".encode())
    assert read_keep_list(path) == {"Oslo", "Æther", "film"}
    path.write_bytes(b"")
    assert read_keep_list(str(path)) == frozenset()


@pytest.mark.parametrize(
    ("line", "problem"), [("New York", "2 words"), ("(x)", "signs"), ("--", "0 words")]
)
def test_a_bad_entry_names_its_file_and_line(
    tmp_path: Path, line: str, problem: str
) -> None:
    path = tmp_path / "keep.txt"
    path.write_text(f"# list\nfilm\n{line}\n")
    with pytest.raises(SourceError, match=problem) as caught:
        read_keep_list(path)
    assert caught.value.row == 3
    assert "keep.txt, row 3" in str(caught.value)
    assert line not in str(caught.value)


@pytest.mark.parametrize("entry", ["½", "²", "Ⅷ", "x²", "㎏", "ﬁlm"])
def test_a_word_whose_canonical_form_is_another_can_be_kept(
    tmp_path: Path, entry: str
) -> None:
    path = tmp_path / "keep.txt"
    path.write_text(f"{entry}\n", encoding="utf-8")
    space = Space.from_arrays("line", ["cold", "warm"], [[0], [3]])
    lookup = Lookup(space, keep=read_keep_list(path))
    assert lookup.codes(tokenize([f"cold {entry}!"])).tolist() == [0, KEEP]


def test_a_keep_list_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot be read"):
        read_keep_list(tmp_path / "absent.txt")
    path = tmp_path / "latin.txt"
    path.write_bytes(b"film\ncaf\xe9\n")
    with pytest.raises(DecodeError, match=r"row 2.*save the list as UTF-8") as caught:
        read_keep_list(path)
    assert caught.value.offset == 8
