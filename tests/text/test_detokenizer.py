import doctest
import importlib
import itertools
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mondegreen.errors import InvalidParameterError
from mondegreen.space.space import Space
from mondegreen.text.detokenizer import Case, Detokenizer, Span, copy_shape
from mondegreen.text.lookup import DROP, KEEP, MASK, Lookup, Unknown
from mondegreen.text.structure import LISTED
from mondegreen.text.tokenizer import TokenizedBatch, canonical, tokenize

WORDS = ["alpha", "beta", "do", "not", "it", "can", "1"]
SPACE = Space.from_arrays("words", WORDS, np.arange(len(WORDS))[:, None])

hostile = st.text(
    alphabet=st.sampled_from("ntTscaCA do'’ .\n\té\u200d\u0301\ud800😀🏽1-(\ufeff"),
    max_size=16,
)
anything = st.text(alphabet=st.characters(codec=None, categories=None)) | hostile


def beside(batch: TokenizedBatch) -> Iterator[tuple[str, str]]:
    """Yield each word with what follows it directly."""
    for parts in batch.parts:
        for i in range(1, len(parts or ()), 2):
            assert parts is not None
            yield parts[i], parts[i + 2] if i + 2 < len(parts) else ""


def printed(
    text: str,
    codes: Sequence[int] | None = None,
    *,
    case: Case = "lower",
    unknown: Unknown = "word",
    keep: Sequence[str] = (),
) -> str:
    """Print given codes, or else the identity with `alpha` for the unknown word."""
    batch = tokenize([text])
    lookup = Lookup(SPACE, unknown, keep)
    found = lookup.codes(batch)
    found[found == len(WORDS)] = 0
    array = found if codes is None else np.array(codes, dtype=np.int32)
    detokenizer = Detokenizer(WORDS, case, lookup.keep)
    (joined,) = detokenizer.join(batch, array)
    parts = batch.parts[0]
    assert parts is not None
    assert joined == detokenizer.spans(parts, array)[0]
    assert joined is not None
    return joined


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["", " ", ", ", "\n\n", "\t(", " $ - ", "\xa0«"]),
            st.sampled_from(WORDS),
        )
    )
)
def test_the_identity_reprints_a_text_of_known_lower_case_words(
    pieces: list[tuple[str, str]],
) -> None:
    text = "".join((gap or " ") + word for gap, word in pieces) + ".\r\n"
    assert printed(text) == text
    assert printed(text, case="restore") == text


@pytest.mark.slow("many texts")
@settings(max_examples=300)
@given(anything, st.data(), st.sampled_from(["lower", "restore"]))
def test_join_and_spans_print_the_same_text(
    text: str, data: st.DataObject, case: str
) -> None:
    batch = tokenize([text, None, text])
    count = batch.counts()[0]
    code = st.integers(DROP, len(WORDS) - 1)
    kept = {canonical(word, after): "oSLo" for word, after in beside(batch)}
    one = data.draw(st.lists(code, min_size=count, max_size=count))
    two = data.draw(st.lists(st.integers(0, 6), min_size=count, max_size=count))
    detokenizer = Detokenizer(WORDS, cast(Case, case), kept)
    joined = detokenizer.join(batch, np.array(one + two, dtype=np.int32))
    assert joined[1] is None
    parts = batch.parts[0]
    assert parts is not None
    for codes, whole in ((one, joined[0]), (two, joined[2])):
        again, spans = detokenizer.spans(parts, np.array(codes, dtype=np.int32))
        assert again == whole
        assert len(spans) == count
        assert all(a.end <= b.start for a, b in itertools.pairwise(spans))
        for span, chosen in zip(spans, codes, strict=True):
            shown = again[span.start : span.end]
            if chosen >= 0:
                assert shown.lower() == WORDS[chosen]
                assert span.status == "replaced"
            if chosen == MASK:
                assert (shown, span.status) == ("[unk]", "masked")
            if chosen == DROP:
                assert (shown, span.status) == ("", "dropped")
            if chosen == KEEP:
                assert shown in {"oSLo", "OSLo", "OSLO"}
                assert span.status == "kept"


@settings(max_examples=300)
@given(anything, st.data(), st.sampled_from(["word", "mask", "drop"]))
def test_output_depends_on_unknown_words_through_nothing_but_the_policy(
    text: str, data: st.DataObject, unknown: str
) -> None:
    # Two texts of one structure whose words are all unknown print the same.
    parts = tokenize([text]).parts[0]
    assert parts is not None
    other = parts.copy()
    other[1::2] = ["Zq" + "x" * data.draw(st.integers(1, 3)) for _ in parts[1::2]]
    empty = Space.from_arrays("no-word-of-a-text", ["$%&"], [[0.0]])
    outputs = []
    for some in (parts, other):
        batch = tokenize([])
        batch.parts.append(some)
        codes = Lookup(empty, cast(Unknown, unknown)).codes(batch)
        codes[codes == 1] = 0
        outputs.append(Detokenizer(["out"]).join(batch, codes))
    assert outputs[0] == outputs[1]


@settings(max_examples=500)
@given(
    anything | st.text(alphabet=st.sampled_from([*LISTED, *"a1₳∀\0\u2028\u3000é"])),
    st.sampled_from(["word", "mask", "drop"]),
    st.sampled_from(["lower", "restore"]),
)
def test_whatever_is_given_only_the_list_and_the_vocabulary_come_out(
    text: str, unknown: str, case: str
) -> None:
    output = printed(text, unknown=cast(Unknown, unknown), case=cast(Case, case))
    words = "".join([*WORDS, "[unk]", "s"])
    assert set(output) <= {*LISTED, *words, *words.upper()}
    assert output.count("\n") <= text.count("\n")


@pytest.mark.parametrize("unknown", ["word", "mask", "drop"])
@pytest.mark.parametrize("case", ["lower", "restore"])
def test_no_unknown_word_reaches_the_output(unknown: Unknown, case: Case) -> None:
    words = [
        *("Xyzzy", "plugh", "\ud800", "😀", "🇳🇴", "👍🏽", "4111", "é\u0301", "ＱＵＸ"),
        *("ann", "secret", "\ue000", "\u202equx", "中文", "N’T"),
    ]
    output = printed(" ".join(words), case=case, unknown=unknown)
    for word in words:
        assert word.lower() not in output.lower()


def test_words_that_touched_are_kept_apart() -> None:
    assert printed("don't") == "do not"
    assert printed("can't!") == "can not!"
    assert printed("it😀1", [0, 1, 0]) == "alpha beta alpha"
    assert printed("it's", [0]) == "alpha's"
    assert printed("😀it", [MASK, KEEP], keep=["it"]) == "[unk] it"


def test_what_touches_a_genitive_is_kept_apart() -> None:
    assert printed("it's$ 1", [0, 1, 0]) == "alpha's beta alpha"
    assert printed("it’S€ 1", [0, 1, 0]) == "alpha’S beta alpha"
    assert printed("it's$ 1", [0, 1, 0], case="truecase") == "Alpha's beta alpha"
    assert printed("it's$ 1", [0, MASK, 0]) == "alpha's [unk] alpha"
    assert printed("it's$😀1", [0, DROP, 0, 0]) == "alpha's alpha alpha"
    assert printed("it's 1", [0, 1]) == "alpha's beta"


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("it Xyzzy 1", "it 1"),
        ("it Xyzzy Plugh 1", "it 1"),
        ("Xyzzy Plugh it", "it"),
        ("it Xyzzy", "it"),
        ("Xyzzy", ""),
        ("it Xyzzy, 1", "it, 1"),
        ("it (Xyzzy 1)", "it (1)"),
        ("it\nXyzzy 1", "it\n1"),
        ("it😀1", "it 1"),
        ("it😀 1", "it 1"),
        ("it 😀1", "it 1"),
        ("it Xyzzy😀Plugh 1", "it 1"),
        ("it Xyzzy's 1", "it's 1"),
        ("Xyzzy\nPlugh\n", "\n\n"),
    ],
)
def test_a_dropped_word_takes_one_space_with_it(text: str, output: str) -> None:
    assert printed(text, unknown="drop") == output


@given(st.lists(st.sampled_from(["it", "Xyzzy", "1", "😀", "(Qux)", "do,"])))
def test_dropping_leaves_no_double_spaces_and_joins_no_words(words: list[str]) -> None:
    output = printed(" ".join(words), unknown="drop")
    assert "  " not in output
    survivors = [word for word in words if word in ("it", "1", "do,")]
    bare = output.replace("(", " ").replace(")", " ").replace("do ,", "do,")
    assert bare.split() == survivors


@pytest.mark.parametrize("unit", ["Xyzzy . ", "Xyzzy ", "Xyzzy😀", "\nXyzzy😀"])
@pytest.mark.slow("texts of megabytes")
def test_dropping_many_words_takes_linear_time(unit: str) -> None:
    start = time.process_time()
    output = printed("it " + unit * 100_000 + "it", unknown="drop")
    assert time.process_time() - start < 5
    assert output.split()[0] == output.split()[-1] == "it"
    assert not set(output) - set("it. \n")


def test_restore_copies_the_shape_of_each_word() -> None:
    assert printed("It ALPHA beta CAN'T", [1, 1, 1, 1, 3], case="restore") == (
        "Beta BETA beta BETA NOT"
    )
    assert printed("It ALPHA", [1, 1]) == "beta beta"
    assert printed("IT ALPHA Qux", [MASK, 1, DROP], case="restore") == "[unk] BETA"


@pytest.mark.parametrize("model", ["Éa", "ǅ", "😀", "\ud800", "1A", "ß", "İ", "\u0301"])
def test_any_word_can_be_a_model_of_shape(model: str) -> None:
    assert copy_shape(model, "warm").lower() == "warm"
    assert copy_shape(model, "") == ""


def test_kept_words_are_printed_as_the_list_has_them() -> None:
    keep = ["Oslo", "do", "not", "can", "iPhone"]
    text = "OSLO oSLo Oslo don’t CAN'T iphone IPHONE"
    assert printed(text, keep=keep) == "Oslo Oslo Oslo do not can not iPhone iPhone"
    assert printed(text, keep=keep, case="restore") == (
        "OSLO Oslo Oslo do not CAN NOT iPhone IPHONE"
    )
    # Nothing of how they were typed may show in the spaces either.
    for case in ("lower", "restore"):
        outputs = {
            printed(text, [KEEP, KEEP], case=cast(Case, case), keep=["it", "😀"])
            for text in ("it😀", "it\u200b😀", "iT😀", "it 😀")
        }
        assert outputs == {"it 😀"}


@given(
    st.text(alphabet=st.sampled_from("oOsSlL\xad\u200bｏＯﬁſ"), max_size=8),
    st.booleans(),
)
def test_of_a_kept_word_no_more_shows_than_one_of_three_cases(
    typed: str, restore: bool
) -> None:
    case: Case = "restore" if restore else "lower"
    batch = tokenize([f"a {typed} b"])
    lookup = Lookup(SPACE, keep=["oSlo"])
    codes = lookup.codes(batch)
    codes[codes >= 0] = 0
    (output,) = Detokenizer(["x"], case, lookup.keep).join(batch, codes)
    if KEEP in codes:
        shapes = {"oSlo", "OSlo", "OSLO"} if restore else {"oSlo"}
        assert output in {f"x {shape} x" for shape in shapes}


def test_a_kept_word_carries_no_hidden_characters() -> None:
    text = "Os\u200blo \u2060OSLO ｏslo no\u200dt \u200bcan't"
    output = printed(text, keep=["oslo", "not", "can"], case="restore")
    assert output == "Oslo OSLO oslo not can not"


def test_a_word_that_is_not_on_the_list_is_never_printed_as_kept() -> None:
    for case in ("lower", "restore"):
        with pytest.raises(InvalidParameterError, match="keep-list") as caught:
            printed("it Xyzzy", [KEEP, KEEP], case=cast(Case, case), keep=["it"])
        assert "xyzzy" not in str(caught.value).lower()


@pytest.mark.parametrize(
    "model",
    ["cold", "Cold", "COLD", "cOLD", "ǅ", "ǆ", "ß", "İ", "I", "7", "\xadA", "ʼN"],
)
def test_a_case_is_one_of_three(model: str) -> None:
    assert copy_shape(model, "warm") in {"warm", "Warm", "WARM"}
    assert copy_shape(model, "iPhone") in {"iPhone", "IPhone", "IPHONE"}


def test_spans_hold_originals_only_when_asked_and_never_show_them() -> None:
    parts = tokenize(["It is Xyzzy."]).parts[0]
    assert parts is not None
    codes = np.array([0, KEEP, MASK], dtype=np.int32)
    detokenizer = Detokenizer(WORDS, kept={"is": "is"})
    text, spans = detokenizer.spans(parts, codes)
    assert text == "alpha is [unk]."
    assert spans == (
        Span(0, 5, "replaced"),
        Span(6, 8, "kept"),
        Span(9, 14, "masked"),
    )
    _, spans = detokenizer.spans(parts, codes, include_originals=True)
    assert [span.original for span in spans] == ["It", "is", "Xyzzy"]
    assert "Xyzzy" not in repr(spans)


def test_unknown_and_known_words_have_equal_spans() -> None:
    def spans(text: str) -> tuple[Span, ...]:
        parts = tokenize([text]).parts[0]
        assert parts is not None
        return Detokenizer(WORDS).spans(parts, np.array([1], dtype=np.int32))[1]

    assert spans("Xyzzy") == spans("it")


@pytest.mark.parametrize("codes", [[0], [0, 0, 0], [0, len(WORDS)], [0, -4]])
def test_codes_that_cannot_be_printed_are_refused(codes: list[int]) -> None:
    batch = tokenize(["it Xyzzy", None])
    with pytest.raises(InvalidParameterError, match="codes") as caught:
        Detokenizer(WORDS).join(batch, np.array(codes, dtype=np.int32))
    assert "Xyzzy" not in str(caught.value)


def test_a_case_must_be_one_of_two_and_is_a_stratum() -> None:
    with pytest.raises(InvalidParameterError, match="lower or restore"):
        Detokenizer(WORDS, cast(Case, "upper"))
    assert Detokenizer(WORDS).disclosed == ()
    assert "case" in Detokenizer(WORDS, "restore").disclosed[0]


def test_empty_batches_print_nothing() -> None:
    detokenizer = Detokenizer(WORDS)
    none = np.array([], dtype=np.int32)
    assert detokenizer.join(tokenize([]), none) == []
    assert detokenizer.join(tokenize(["", None, " \n"]), none) == ["", None, " \n"]
    assert detokenizer.spans([""], none) == ("", ())


@pytest.mark.parametrize("module", ["tokenizer", "lookup", "detokenizer"])
def test_examples_in_docstrings_hold(module: str) -> None:
    loaded = importlib.import_module(f"mondegreen.text.{module}")
    failures, tried = doctest.testmod(loaded)
    assert tried > 0
    assert failures == 0


def test_examples_in_the_explanation_hold() -> None:
    page = Path(__file__).parents[2] / "docs" / "explanation" / "text.md"
    failures, tried = doctest.testfile(str(page), module_relative=False)
    assert tried > 5
    assert failures == 0
