"""How released words are written: of ids, kept structure and public lists alone."""

import doctest
import importlib
import inspect
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mondegreen as mg
from mondegreen.errors import ConfigurationError, InvalidParameterError
from mondegreen.text import print_forms
from mondegreen.text.detokenizer import Detokenizer
from mondegreen.text.lookup import DROP, KEEP, MASK
from mondegreen.text.plain import last_alone
from mondegreen.text.print_forms import MENDED, PrintForms, as_released, public_cases
from mondegreen.text.sentences import sentence_ends
from mondegreen.text.tokenizer import TokenizedBatch, tokenize

WORDS = ["cat", "doesn", "didn", "i", "london", "hers", "nasa", "iPhone", "1", "ß"]
CAT, DOESN, DIDN, SELF, LONDON, HERS, NASA, PHONE, ONE, SHARP = range(10)
GAPS = [" ", ". ", "! ", ", ", "'s ", "’S", "'s", "", "\n", ".", "? ", "'s. "]

# All ways to print that look at nothing of the input but its kept structure.
WAYS = [
    {"case": case, "structure": structure}
    for case in ("lower", "truecase")
    for structure in ("keep", "plain")
]

texts_in_parts = st.lists(st.tuples(st.sampled_from(GAPS), st.integers(0, 9)))


def cut(pieces, word):
    """Parts of a text with these gaps, and a word of an input in each place."""
    parts = [""]
    for gap, _ in pieces:
        parts += [word(), gap]
    return parts


def put(text, codes, **how):
    """Print codes into a text, in both ways that there are."""
    batch = tokenize([text])
    array = np.array(codes, dtype=np.int32)
    detokenizer = Detokenizer(WORDS, **how)
    (joined,) = detokenizer.join(batch, array)
    assert joined == detokenizer.spans(batch.parts[0], array)[0]
    return joined


@pytest.fixture(scope="module")
def default():
    return mg.load_space()


def test_no_piece_of_a_contraction_is_ever_printed(default):
    forms = PrintForms(default.words, truecase=True)
    printed = {word.lower() for word in (*forms.inside, *forms.first)}
    assert not printed & set(MENDED)
    index = default.index
    shown = {w: forms.inside[index[w]] for w in ("doesn", "ll", "ve", "don", "im", "i")}
    assert shown == {
        "doesn": "doesn't",
        "ll": "will",
        "ve": "have",
        "don": "don't",
        "im": "I'm",
        "i": "I",
    }
    # Nothing that is left has the vectors of one: whatever ends so is a word.
    ends = re.compile(r"(ould|did|does|is|was|are|were|has|had|ai)nt?")
    assert [w for w in forms.inside if ends.fullmatch(w)] == []


def test_names_have_their_capitals_and_a_name_is_not_changed_at_a_start():
    forms = PrintForms(WORDS, truecase=True)
    assert forms.inside == (
        *("cat", "doesn't", "didn't", "I", "London", "hers", "NASA", "iPhone", "1"),
        "ß",
    )
    assert forms.first == (
        *("Cat", "Doesn't", "Didn't", "I", "London", "Hers", "NASA", "iPhone", "1"),
        "ß",
    )


def test_pieces_are_names_in_a_space_that_was_not_cut_at_apostrophes():
    assert PrintForms(["don", "ai", "didn"], truecase=True).inside[0] != "don't"
    assert PrintForms(["don", "doesn", "didn"], truecase=True).inside[0] == "don't"


def test_the_table_has_no_room_for_a_word_of_an_input():
    given_to = inspect.signature(PrintForms).parameters
    assert list(given_to) == ["words", "truecase", "replaced"]
    assert list(inspect.signature(last_alone).parameters) == ["ids", "counts"]


def test_public_cases_are_of_the_words_themselves():
    for word, shown in public_cases().items():
        assert word == word.lower() == shown.lower() != shown, word


def test_a_sentence_begins_at_the_start_after_its_end_and_on_a_line():
    text = 'a b. a! (a) "a?" a\na, a 3.5 a'
    assert put(text, [CAT] * 11, case="truecase") == (
        'Cat cat. Cat! (Cat) "cat?" Cat\nCat, cat cat.cat cat'
    )


@settings(max_examples=200)
@given(texts_in_parts, st.sampled_from(["a", "Zq", "DON"]))
def test_capitals_stand_where_sentences_begin_and_nowhere_else(pieces, word):
    parts = cut(pieces, lambda: word)
    codes = np.zeros(len(pieces), dtype=np.int32)
    (text,) = Detokenizer(WORDS, "truecase").join(TokenizedBatch([parts]), codes)
    begins = [True, *sentence_ends([gap for gap, _ in pieces])][: len(pieces)]
    shown = re.findall("[Cc]at", text)
    assert [cat == "Cat" for cat in shown] == begins


def test_a_word_that_takes_no_genitive_leaves_a_kept_one_out():
    for code in (HERS, DOESN, SELF):
        shown = {DOESN: "doesn't", SELF: "I", HERS: "hers"}[code]
        assert put("a b's c", [CAT, code, CAT], case="truecase") == f"Cat {shown} cat"
        assert put("a b's", [CAT, code], case="truecase") == f"Cat {shown}"
        assert put("a b's. C", [CAT, code, CAT], case="truecase") == (
            f"Cat {shown}. Cat"
        )
        assert put("a b’S😀", [CAT, code, CAT], case="truecase").endswith(" cat")
    assert put("a b's c", [CAT, LONDON, CAT], case="truecase") == "Cat London's cat"
    assert put("a b's c", [CAT, HERS, CAT]) == "cat hers's cat"


def test_what_is_dropped_leaves_no_trace_in_capitals_and_genitives():
    how = {"case": "truecase"}
    assert put("it. Xy was", [CAT, DROP, CAT], **how) == "Cat. Cat"
    assert put("Xy was", [DROP, CAT], **how) == "Cat"
    assert put("a Xy's 1", [HERS, DROP, CAT], **how) == "Hers cat"
    assert put("a Xy's", [HERS, DROP], **how) == "Hers"
    assert put("a's Xy 1", [HERS, DROP, CAT], **how) == "Hers cat"
    assert put("a's😀", [HERS, MASK], **how) == "Hers [unk]"


@settings(max_examples=300)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([" ", ". ", ", ", "! ", ".", "\n", '."']),
            st.sampled_from([CAT, HERS, DROP]),
        ),
        max_size=4,
    )
)
def test_capitals_are_a_function_of_the_text_that_is_left(pieces):
    """Print with words dropped, or drop them first and print what is left: the same."""
    parts = cut(pieces, lambda: "word")
    codes = np.array([code for _, code in pieces], dtype=np.int32)
    (shown,) = Detokenizer(WORDS, "truecase").join(TokenizedBatch([parts]), codes)
    (left,) = Detokenizer(WORDS).join(TokenizedBatch([parts]), codes)
    batch = tokenize([left])
    again = np.array([WORDS.index(w) for w in batch.words()], dtype=np.int32)
    assert Detokenizer(WORDS, "truecase").join(batch, again) == [shown]


@pytest.mark.slow("many texts")
@settings(max_examples=400)
@given(
    st.lists(
        st.tuples(st.sampled_from(GAPS), st.sampled_from([DROP, MASK, *range(10)]))
    ),
    st.sampled_from(WAYS),
    st.data(),
)
def test_what_is_printed_hangs_on_codes_and_structure_alone(pieces, way, data):
    """Other words of the input, in any case, with the same codes: the same bytes."""
    word = st.sampled_from(["a", "London", "DOESN", "ı", "x" * 300, "😀", "\ud800"])
    codes = np.array([code for _, code in pieces], dtype=np.int32)
    one, two = (cut(pieces, lambda: data.draw(word)) for _ in range(2))
    detokenizer = Detokenizer(WORDS, **way)
    batch = TokenizedBatch([one, None, two])
    first, null, second = detokenizer.join(batch, np.concatenate([codes, codes]))
    assert first == second
    assert null is None
    text, spans = detokenizer.spans(one, codes)
    assert (text, len(spans)) == (first, len(codes))
    shown = [text[span.start : span.end] for span in spans]
    for code, printed in zip(codes.tolist(), shown, strict=True):
        allowed = {MASK: {"[unk]"}, DROP: {""}}.get(code) or {
            detokenizer.forms.inside[code],
            detokenizer.forms.first[code],
        }
        assert printed in allowed


@settings(max_examples=200)
@given(texts_in_parts, st.sampled_from(["lower", "truecase"]), st.data())
def test_plain_texts_of_the_same_words_are_the_same_whatever_was_between(
    pieces, case, data
):
    gap = st.sampled_from([*GAPS, " (", "\n\n", "...", "$"])
    codes = [code for _, code in pieces]
    sometimes = st.sampled_from([0, 0, DROP, MASK, KEEP])
    codes = np.array([data.draw(sometimes) or code for code in codes], dtype=np.int32)
    others = [(data.draw(gap), code) for code in codes]
    detokenizer = Detokenizer(WORDS, case, {"oslo": "Oslo"}, structure="plain")
    one, two = cut(pieces, lambda: "oslo"), cut(others, lambda: "OSLO")
    one[0], two[0] = data.draw(gap), data.draw(gap)
    both = detokenizer.join(TokenizedBatch([one, two]), np.concatenate([codes, codes]))
    assert both[0] == both[1]
    text = both[0]
    assert "  " not in text
    assert len(text.split()) == int((codes != DROP).sum())
    assert text == "" or (text.endswith(".") and "\n" not in text)
    assert text == detokenizer.spans(one, codes)[0]


def test_plain_prints_spaces_and_one_full_stop():
    how = {"structure": "plain"}
    assert put('"Oh -- a\nb!"  (c, d)', [0, 3, 4, 1, 8], **how) == (
        "cat i london doesn 1."
    )
    assert put("a, b's?", [0, 5], case="truecase", **how) == "Cat hers."
    assert put("", [], **how) == put("...\n", [], **how) == ""
    assert put("a b", [DROP, DROP], **how) == ""
    assert put("a. b, c", [DROP, 0, DROP], case="truecase", **how) == "Cat."


def test_sentence_ends_come_from_a_function_of_released_words():
    seen = []

    def after_london(ids, counts):
        seen.append((ids.tolist(), counts.tolist()))
        return ids == LONDON

    how = {"case": "truecase", "structure": "plain", "ends": after_london}
    detokenizer = Detokenizer(WORDS, **how)
    batch = tokenize(["a, b c", None, "", "A. b"])
    texts = detokenizer.join(batch, np.array([LONDON, DROP, CAT, CAT, LONDON]))
    assert texts == ["London. Cat.", None, "", "Cat London."]
    assert seen == [([LONDON, CAT, CAT, LONDON], [2, 0, 0, 2])]


@pytest.mark.parametrize(
    "wrong", [lambda ids, counts: ids[:-1] > 0, lambda ids, counts: ids]
)
def test_a_function_of_ends_that_returns_something_else_is_refused(wrong):
    detokenizer = Detokenizer(WORDS, structure="plain", ends=wrong)
    with pytest.raises(InvalidParameterError, match="one boolean for each of 2"):
        detokenizer.join(tokenize(["a b"]), np.array([0, 1], dtype=np.int32))


def test_the_case_of_the_input_is_no_plain_structure():
    with pytest.raises(ConfigurationError, match="restore"):
        Detokenizer(WORDS, "restore", structure="plain")
    with pytest.raises(InvalidParameterError, match="keep or plain"):
        Detokenizer(WORDS, structure="none")


def test_a_kept_word_stays_as_the_list_has_it():
    how = {"case": "truecase", "kept": {"oslo": "oSlo"}}
    assert put("Oslo. OSLO a", [KEEP, KEEP, CAT], **how) == "oSlo. oSlo cat"
    plain = {**how, "structure": "plain"}
    assert put("Oslo. OSLO a", [KEEP, KEEP, CAT], **plain) == "oSlo oSlo cat."


def test_a_release_is_read_back_word_for_word(default):
    forms = PrintForms(default.words, truecase=True)
    for word in MENDED.keys() & default.index.keys():
        for shown in (forms.inside, forms.first):
            text = shown[default.index[word]]
            (parts,) = tokenize([f"a {text} b"]).parts
            assert len(as_released(parts)) == 7, text
    plain = ["", "do", "", "n't", " ", "ca", "", "n't", ""]
    assert as_released(plain) == ["", "don", " ", "cant", ""]
    for text in ("Ann's cat", "ok👍", "it 's", "", "I am"):
        (parts,) = tokenize([text]).parts
        assert as_released(parts) == parts


def test_the_flags_of_gaps_do_not_fill_the_memory():
    flags = print_forms.GapFlags()
    for i in range(20_000):
        flags[f" {i}"]
    assert len(flags) <= 4096
    assert "4" not in repr(print_forms.GapFlags({" 4": 0}))


def test_printing_travels_in_a_pickle_of_its_settings(default):
    p = mg.Privatizer(
        mg.mechanism("tree", epsilon=10.0),
        default,
        case="truecase",
        structure="plain",
        print_all=True,
    )
    assert pickle.loads(pickle.dumps(p)).to_dict() == p.to_dict()


@pytest.mark.parametrize("module", ["plain", "print_forms", "never_printed"])
def test_examples_in_docstrings_hold(module):
    loaded = importlib.import_module(f"mondegreen.text.{module}")
    failures, tried = doctest.testmod(loaded)
    assert tried > 0
    assert failures == 0


def test_the_list_is_named_in_the_notice():
    notice = (Path(__file__).parents[2] / "NOTICE").read_text()
    for name in ("never_printed.txt", "LDNOOBW", "Attribution 4.0"):
        assert name in notice, name
