"""One call, whatever holds the text: the same kind comes back, and nothing else."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

import mondegreen as mg
from mondegreen.errors import ConfigurationError, InvalidParameterError

SPACE = mg.Space.from_arrays("three", ["aa", "bb", "cc"], [[0.0], [1.0], [2.0]])
CANARY = "zyxwoldemorth"


def released(texts, **options):
    options = {"epsilon": 1.0, "mechanism": "tem", "space": SPACE, **options}
    return mg.privatize(texts, **options)


def test_a_string_gives_a_string_and_a_list_a_list():
    assert set(released("aa bb").split()) <= set(SPACE.words)
    assert [len(t.split()) for t in released(["aa", "", f"{CANARY} bb"])] == [1, 0, 2]
    assert isinstance(released(("aa",)), list)
    assert released([]) == []
    assert released(np.str_("aa")) in SPACE.words


def test_nulls_come_back_as_they_are():
    nan = float("nan")
    texts = ["aa", None, nan, np.float32("nan"), "bb"]
    found = released(texts)
    assert found[1] is None
    assert found[2] is nan
    assert math.isnan(found[3])
    assert {found[0], found[4]} <= set(SPACE.words)
    assert released(None) is None
    assert released(nan) is nan


def test_nulls_of_a_batch_and_a_stream_are_nulls():
    p = mg.Privatizer(mg.mechanism("tem", epsilon=1.0), SPACE)
    texts = ["aa", float("nan"), None, np.float64("nan")]
    for found in (p.batch(texts), list(p.stream(texts))):
        assert [release is None for release in found] == [False, True, True, True]
    with pytest.raises(InvalidParameterError):
        p(float("nan"))


@pytest.mark.parametrize(
    "texts",
    [
        *(b"aa", 7, 7.5, True, {"aa"}, {CANARY: CANARY}, object(), (t for t in "ab")),
        *(np.array(["aa"]), ["aa", 7], ["aa", b"bb"], [["aa"]], [CANARY, {CANARY}]),
    ],
    ids=lambda texts: type(texts).__name__,
)
def test_what_is_no_text_is_refused_by_its_type(texts):
    with pytest.raises(InvalidParameterError) as caught:
        released(texts)
    assert CANARY not in str(caught.value)


def test_epsilon_has_no_default_and_settings_go_to_the_mechanism():
    with pytest.raises(TypeError, match="epsilon"):
        mg.privatize("aa")
    with pytest.raises(ConfigurationError, match="no parameter spam"):
        released("aa", spam=3)
    assert released("aa", gamma=0.5, unknown="mask") in SPACE.words
    assert released(f"{CANARY} aa", unknown="mask").startswith("[unk] ")
    assert released("aa Oslo", keep=["oslo"]).endswith(" oslo")
    for keep in ("oslo", ["two words"]):
        with pytest.raises(InvalidParameterError, match="keep"):
            released("aa", keep=keep)


def test_a_key_repeats_what_the_library_repeats():
    noise = mg.KeyedNoise(bytes(range(32)))
    p = mg.Privatizer(mg.mechanism("tem", epsilon=1.0), SPACE, noise=noise)
    text = "aa bb cc " * 20
    expected = p(text, id=7, column="body").text
    options = {"noise": noise, "column": "body"}
    assert released(text, ids=7, **options) == expected
    assert released([None, text], ids=["x", "7"], **options)[1] == expected
    array = pa.array([text])
    assert released(array, ids=[7], **options).to_pylist() == [expected]
    with pytest.raises(ConfigurationError, match="id"):
        released(text, noise=noise)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_name_of_a_series_is_its_logical_column(library):
    made = pytest.importorskip(library).Series
    data = "data" if library == "pandas" else "values"
    noise = mg.KeyedNoise(bytes(range(32)))
    p = mg.Privatizer(mg.mechanism("tem", epsilon=1.0), SPACE, noise=noise)
    text = "aa bb cc " * 20
    for name, column in (("message", "message"), ("", "text")):
        series = made(name=name, **{data: [text]})
        expected = p(text, id=7, column=column).text
        assert released(series, ids=[7], noise=noise)[0] == expected
        named = released(series, ids=[7], noise=noise, column="other")[0]
        assert named == p(text, id=7, column="other").text
    for name in (None, 3) if library == "pandas" else ():
        found = released(made([text], name=name), ids=[7], noise=noise)[0]
        assert found == p(text, id=7).text


def test_a_value_that_is_no_text_is_named_by_row_and_column():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for texts, where in (
        (pandas.Series(["aa", None, 7], name="message"), "column 'message', row 3"),
        (pandas.Series([7]), "row 1"),
        (["aa"] * 5_000 + [7], "text 5001"),
        (polars.Series("message", [7]), "array of column 'message'"),
    ):
        with pytest.raises(InvalidParameterError, match=where):
            released(texts)


def test_it_is_prepared_once(monkeypatch):
    made = []
    prepare = type(mg.mechanism("tem", epsilon=1.0)).prepare

    def counted(self, space):
        made.append(self)
        return prepare(self, space)

    monkeypatch.setattr(type(mg.mechanism("tem", epsilon=1.0)), "prepare", counted)
    for _ in range(5):
        released("aa", epsilon=1.234)
    assert len(made) == 1


def test_arrow_arrays_keep_kind_type_and_chunks():
    chunks = pa.chunked_array([["aa", None], [], ["bb"]], pa.large_string())
    found = released(chunks)
    assert (found.type, [len(c) for c in found.chunks]) == (chunks.type, [2, 0, 1])
    assert found.null_count == 1
    assert isinstance(released(pa.array(["aa"])), pa.StringArray)


@pytest.mark.parametrize("dtype", ["object", "str", "string", "category"])
def test_a_pandas_series_keeps_index_name_type_and_nulls(dtype):
    pandas = pytest.importorskip("pandas")
    texts = pandas.Series(["aa bb", None, "cc"], index=[3, 1, 2], name="n", dtype=dtype)
    texts.attrs["note"] = CANARY
    found = released(texts)
    assert isinstance(found, pandas.Series)
    assert (found.name, found.index.tolist()) == ("n", [3, 1, 2])
    assert dtype == "category" or found.dtype == texts.dtype
    assert (str(found.dtype) == "category") == (dtype == "category")
    assert found.isna().tolist() == [False, True, False]
    assert set(" ".join(found.dropna()).split()) <= set(SPACE.words)
    assert not found.attrs


def test_nulls_of_pandas_are_nulls():
    pandas = pytest.importorskip("pandas")
    nulls = [pandas.NA, pandas.NaT, None, float("nan")]
    found = released([*nulls, "aa"])
    assert found[0] is pandas.NA
    assert found[1] is pandas.NaT
    for bad in (pandas.Series([1]), pandas.DataFrame({"a": ["aa"]})):
        with pytest.raises(InvalidParameterError):
            released(bad)
    series = pandas.Series(nulls, dtype=object)
    assert released(series).isna().all()


def test_a_polars_series_keeps_name_type_and_nulls():
    polars = pytest.importorskip("polars")
    for kind in (polars.String, polars.Categorical):
        found = released(polars.Series("n", ["aa bb", None, "cc"], dtype=kind))
        assert isinstance(found, polars.Series)
        assert (found.name, found.dtype) == ("n", kind)
        assert found.is_null().to_list() == [False, True, False]
    lists = released(polars.Series("n", [["aa", "bb"], None, []]))
    assert [row and len(row) for row in lists.to_list()] == [2, None, []]
    assert released(polars.Series("n", [None])).to_list() == [None]
    for bad in (polars.Series([1]), polars.DataFrame({"a": ["aa"]})):
        with pytest.raises(InvalidParameterError):
            released(bad)
