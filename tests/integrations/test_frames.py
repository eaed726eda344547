"""Frames of pandas, polars and Modin, and Arrow tables: only text is released."""

from __future__ import annotations

import io
import json
import pickle

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import mondegreen as mg
from mondegreen.cli.main import cli
from mondegreen.errors import (
    ConfigurationError,
    InvalidParameterError,
    MissingColumnError,
    OptionalDependencyError,
)

pytest.importorskip("narwhals")
from mondegreen import frames
from mondegreen.passes import from_json

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

SPACE = mg.Space.from_arrays("three", ["aa", "bb", "cc"], [[0.0], [1.0], [2.0]])
PRIVATIZER = mg.Privatizer(mg.mechanism("tem", epsilon=1.0), SPACE)
KEYED = PRIVATIZER.with_noise(mg.KeyedNoise(bytes(range(32))))
CANARY = "zyxwoldemorth"
LONG = "aa bb cc " * 60
"""Chance gives two such texts one release less often than once in 10^50 times."""

INDEXES = {
    "range": pd.RangeIndex(10, 16, 2),
    "equal": pd.Index([1, 1, 1]),
    "strings with a null": pd.Index(["a", None, "a"]),
    "dates": pd.date_range("2020", periods=3, name="day"),
    "categories": pd.CategoricalIndex(["a", "b", "a"]),
    "intervals": pd.interval_range(0, 3),
    "several": pd.MultiIndex.from_tuples([(1, 1), (1, 1), (2, 3)], names=["x", "y"]),
}
DTYPES = [
    *("object", "str", "string", "string[pyarrow]", "string[python]", "category"),
    pd.ArrowDtype(pa.string()),
    pd.ArrowDtype(pa.large_string()),
]


def columns_of(text):
    return [each.column for each in from_json(text)]


def is_released(texts):
    """Whether texts are of words of the space, and none of another."""
    return set(" ".join(texts).split()) <= set(SPACE.words)


# pandas


@pytest.mark.parametrize("index", INDEXES.values(), ids=INDEXES)
def test_an_index_of_pandas_is_kept(index):
    given = pd.DataFrame({"n": [1.5, 2.5, 3.5], "text": [CANARY, None, LONG]}, index)
    safe = frames.privatize(given, ["text"], PRIVATIZER)
    pd.testing.assert_index_equal(safe.index, index, exact=True)
    pd.testing.assert_frame_equal(safe[["n"]], given[["n"]], check_flags=False)
    assert list(safe.columns) == ["n", "text"]
    assert is_released(safe["text"].dropna())
    assert given["text"].iloc[0] == CANARY


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_dtype_of_pandas_and_its_nulls_are_kept(dtype):
    given = pd.DataFrame({"text": pd.Series(["aa bb", None, CANARY], dtype=dtype)})
    safe = frames.privatize(given, ["text"], PRIVATIZER)["text"]
    if dtype == "category":
        assert isinstance(safe.dtype, pd.CategoricalDtype)
        assert is_released(safe.cat.categories)
    else:
        assert safe.dtype == given["text"].dtype
    assert safe.isna().tolist() == [False, True, False]
    assert type(safe[1]) is type(given["text"][1])
    assert is_released(safe.dropna())


def test_values_of_removed_rows_do_not_stay_in_categories_of_pandas():
    cases = ["low", CANARY, "high", "low"]
    kind = pd.CategoricalDtype(["low", "high", CANARY], ordered=True)
    arrow = pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))
    given = pd.DataFrame(
        {
            "text": ["aa"] * 4,
            "case": pd.Categorical(cases, dtype=kind),
            "coded": pd.Series(pa.array(cases).cast(arrow.pyarrow_dtype), dtype=arrow),
        }
    )
    indexes = [
        pd.CategoricalIndex(cases),
        pd.MultiIndex.from_arrays([pd.Categorical(cases), cases], names=["x", "y"]),
    ]
    for index in indexes:
        rest = given.set_axis(index).iloc[[0, 2, 3]]
        safe = frames.privatize(rest, ["text"], PRIVATIZER)
        assert CANARY.encode() not in pickle.dumps(safe)
        assert safe["case"].cat.categories.tolist() == ["low", "high"]
        assert safe["case"].cat.ordered
        assert safe["coded"].dtype == arrow
        columns = ["case", "coded"]
        assert safe[columns].values.tolist() == rest[columns].values.tolist()
        assert safe.index.tolist() == rest.index.tolist()
        assert CANARY.encode() in pickle.dumps(rest)
        series = mg.privatize(
            rest["text"], epsilon=1.0, mechanism="tem", policy="all", space=SPACE
        )
        assert CANARY.encode() not in pickle.dumps(series)


@pytest.mark.parametrize("make", [pl.DataFrame, pl.LazyFrame])
def test_values_of_removed_rows_do_not_stay_in_an_enum_of_polars(make):
    kind = pl.Enum(["low", "high", CANARY])
    columns = {
        "text": ["aa", "bb"],
        "case": pl.Series(["low", None], dtype=kind),
        "inner": pl.Series(
            [[{"a": ["low"]}], None], dtype=pl.List(pl.Struct({"a": pl.Array(kind, 1)}))
        ),
        "n": [1, 2],
    }
    given = make(columns)
    safe = (
        frames.privatize(
            given,
            ["text"],
            PRIVATIZER,
            **({"unkeyed": "write-once"} if make is pl.LazyFrame else {}),
        )
        .lazy()
        .collect()
    )
    assert CANARY not in str(safe.schema)
    assert safe.drop("text").to_dicts() == pl.DataFrame(columns).drop("text").to_dicts()
    assert safe["n"].dtype == pl.Int64


def test_batches_of_a_table_share_a_dictionary_without_unused_values():
    cases = pa.DictionaryArray.from_arrays(
        pa.array([0, 2] * 3000 + [1] * 3000, pa.int8()),
        ["low", "middle", "high", CANARY],
        ordered=True,
    )
    given = pa.table({"text": ["aa"] * 9000, "case": cases})
    safe = frames.privatize(given, ["text"], PRIVATIZER)
    assert safe["case"].to_pylist() == given["case"].to_pylist()
    assert safe["case"].type == cases.type
    found = safe.to_pandas()["case"].cat.categories.tolist()
    assert found == ["low", "middle", "high"]


def test_every_null_of_an_object_column_comes_back_as_it_is():
    nulls = [None, float("nan"), pd.NA, pd.NaT]
    given = pd.DataFrame({"text": pd.Series([*nulls, "aa"], dtype=object)})
    safe = frames.privatize(given, ["text"], PRIVATIZER)["text"].tolist()
    assert safe[0] is None
    assert safe[1] != safe[1]
    assert safe[2] is pd.NA
    assert safe[3] is pd.NaT


def test_a_dictionary_of_8_bits_has_room_for_the_release():
    texts = pa.array([LONG] * 500).dictionary_encode()
    small = pa.dictionary(pa.int8(), pa.string())
    given = pd.DataFrame({"text": pd.Series(pd.array(texts.cast(small).to_pylist()))})
    given["text"] = given["text"].astype(pd.ArrowDtype(small))
    safe = frames.privatize(given, ["text"], PRIVATIZER)["text"]
    assert safe.nunique() == 500


def test_columns_whose_names_are_no_strings_need_logical_names():
    given = pd.DataFrame([[CANARY, "bb"]], columns=[0, ("x", "y")])
    safe = frames.privatize(given, {0: "note", ("x", "y"): "title"}, PRIVATIZER)
    assert is_released(safe.iloc[0])
    assert columns_of(safe.attrs["mondegreen"]) == ["note", "title"]
    with pytest.raises(InvalidParameterError, match="column"):
        frames.privatize(given, [0], PRIVATIZER)


@pytest.mark.parametrize(
    ("given", "drop"),
    [
        (pd.DataFrame({"text": [CANARY]}).set_index("text", drop=False), []),
        (
            pd.DataFrame({"o": [1], "text": [CANARY]}).set_index(
                ["o", "text"], drop=False
            ),
            [],
        ),
        (
            pd.DataFrame({"text": [CANARY], "o": [1]})
            .groupby("text")
            .first()
            .assign(text="aa"),
            [],
        ),
        (
            pd.DataFrame({"name": [CANARY], "text": ["aa"]}).set_index(
                "name", drop=False
            ),
            ["name"],
        ),
    ],
    ids=["one", "several", "groupby", "dropped"],
)
def test_an_index_of_the_name_of_a_column_would_pass_in_clear(given, drop):
    with pytest.raises(ConfigurationError, match="reset_index") as caught:
        frames.privatize(given, ["text"], PRIVATIZER, drop=drop)
    assert CANARY not in str(caught.value)
    safe = frames.privatize(
        given.reset_index(drop=True), ["text"], PRIVATIZER, drop=drop
    )
    assert CANARY not in safe.to_csv()


@pytest.mark.usefixtures("registered")
def test_an_index_of_the_name_of_a_series_would_pass_in_clear():
    series = pd.DataFrame({"text": [CANARY]}).set_index("text", drop=False)["text"]
    with pytest.raises(ConfigurationError, match="reset_index"):
        series.mondegreen.privatize(PRIVATIZER)
    with pytest.raises(ConfigurationError, match="reset_index"):
        mg.privatize(series, epsilon=1.0, mechanism="tem", space=SPACE)


@pytest.mark.parametrize("place", ["text", "other", "logical"])
def test_a_name_that_nothing_can_write_is_refused(place):
    broken = "a\ud800"
    names = [broken if name == place else name for name in ("text", "other")]
    names = pd.Index(names, dtype=object)
    given = pd.DataFrame([[CANARY, CANARY]], columns=names)
    columns = {names[0]: broken if place == "logical" else "text"}
    with pytest.raises(InvalidParameterError, match="UTF-8") as caught:
        frames.privatize(given, columns, PRIVATIZER)
    assert CANARY not in str(caught.value)


def test_two_other_columns_of_one_name_are_refused_as_such():
    given = pd.DataFrame([[CANARY, 1, 2]], columns=["text", "n", "n"])
    with pytest.raises(InvalidParameterError, match="names of their own"):
        frames.privatize(given, ["text"], PRIVATIZER)


def test_attrs_hold_the_guarantee_of_every_pass_and_nothing_else():
    given = pd.DataFrame({"a": [CANARY], "b": [CANARY]})
    given.attrs["note"] = CANARY
    once = frames.privatize(given, ["a"], PRIVATIZER)
    again = frames.privatize(once, ["b", "a"], PRIVATIZER)
    assert columns_of(again.attrs["mondegreen"]) == ["a", "b", "a"]
    assert CANARY not in str(again.attrs)
    assert given.attrs == {"note": CANARY}
    once.attrs["mondegreen"] = {"no": "list"}
    (unread, _) = from_json(
        frames.privatize(once, ["b"], PRIVATIZER).attrs["mondegreen"]
    )
    assert unread.is_void


@pytest.mark.filterwarnings("ignore:The 'lsuffix' and 'rsuffix'")
def test_what_the_page_says_of_attrs_is_so():
    """They pass on, and are in Parquet; ``concat`` keeps them where all are equal."""
    given = pd.DataFrame({"a": ["aa"], "b": ["bb"]})
    safe = frames.privatize(given, ["a"], PRIVATIZER)
    file = io.BytesIO()
    safe.to_parquet(file)
    kept = [
        *(safe.copy(), safe[safe["b"] == "bb"], safe[["a"]], safe["a"]),
        *(safe.assign(a=CANARY), safe.sort_values("a"), safe.groupby("b").first()),
        *(pd.concat([safe, safe]), pickle.loads(pickle.dumps(safe))),
        *(pd.read_parquet(file), pa.Table.from_pandas(safe).to_pandas()),
    ]
    assert all(each.attrs == safe.attrs for each in kept)
    assert not any(
        each.attrs
        for each in (
            pd.concat([safe, given]),
            safe.merge(given, on="b"),
            safe.join(given, rsuffix="2"),
        )
    )
    text = io.StringIO()
    safe.to_csv(text)
    assert "epsilon" not in text.getvalue()


# Arrow


def test_a_table_keeps_types_and_rows_in_constant_memory():
    rows = 10_000
    small = pa.dictionary(pa.int8(), pa.string())
    given = pa.table(
        {
            "id": pa.array(range(rows), pa.int32()),
            "text": pa.chunked_array([[LONG] * 99, [None] * (rows - 99)]),
            "kind": pa.array(["aa", "bb"] * (rows // 2))
            .dictionary_encode()
            .cast(small),
            "words": pa.array([["aa", None], None] * (rows // 2)),
        }
    )
    safe = frames.privatize(given, ["text", "kind", "words"], PRIVATIZER)
    assert safe.schema == given.schema
    assert safe["id"] == given["id"]
    assert safe["text"].null_count == rows - 99
    assert len(set(safe["text"].to_pylist())) == 100
    assert safe["words"].slice(0, 2).to_pylist()[1] is None


def test_a_full_dictionary_is_widened_in_all_chunks():
    small = pa.dictionary(pa.int8(), pa.string())
    texts = pa.array(["aa"] * 5000 + [LONG] * 5000).dictionary_encode().cast(small)
    safe = frames.privatize(pa.table({"text": texts}), ["text"], PRIVATIZER)
    assert safe.schema.field("text").type == pa.dictionary(pa.int32(), pa.string())
    assert safe["text"].combine_chunks().unique().__len__() > 5000


def test_a_field_of_a_struct_and_an_empty_table():
    given = pa.table({"msg": [{"body": CANARY, "stars": 4}]})
    safe = frames.privatize(given, ["msg.body"], PRIVATIZER)
    assert safe["msg"][0]["stars"].as_py() == 4
    assert safe["msg"][0]["body"].as_py() in SPACE.words
    empty = frames.privatize(given.slice(1), ["msg.body"], PRIVATIZER)
    assert empty.schema == given.schema
    assert columns_of(empty.schema.metadata[b"mondegreen"]) == ["msg.body"]


def test_a_schema_holds_the_guarantee_of_every_pass_and_nothing_else():
    given = pa.table({"a": [CANARY], "b": [CANARY]})
    given = given.replace_schema_metadata({"note": CANARY})
    for kind in (given, given.to_batches()[0]):
        once = frames.privatize(kind, ["a"], PRIVATIZER)
        again = frames.privatize(once, ["b"], PRIVATIZER)
        assert type(again) is type(kind)
        assert list(again.schema.metadata) == [b"mondegreen"]
        assert columns_of(again.schema.metadata[b"mondegreen"]) == ["a", "b"]


# polars


def test_a_polars_frame_keeps_types_nulls_and_order():
    kinds = {"s": pl.String, "c": pl.Categorical, "e": pl.Enum([CANARY])}
    given = pl.DataFrame(
        {name: pl.Series([CANARY, None], dtype=kind) for name, kind in kinds.items()}
        | {"n": [1, 2], "l": [["aa", "bb"], None]}
    )
    safe = frames.privatize(given, ["s", "c", "e", "l"], PRIVATIZER)
    expected = {**given.schema, "e": pl.String}
    assert dict(safe.schema) == expected
    for name in kinds:
        assert safe[name][0] in SPACE.words
        assert safe[name][1] is None
    assert len(safe["l"][0]) == 2
    assert safe["n"].to_list() == [1, 2]
    assert (
        dict(frames.privatize(given.clear(), [*kinds], PRIVATIZER).schema) == expected
    )


def test_no_word_stays_in_the_categories_that_polars_keeps():
    given = pl.DataFrame({"c": pl.Series([CANARY, "aa"], dtype=pl.Categorical)})
    safe = frames.privatize(given, ["c"], PRIVATIZER)
    written = io.BytesIO(), io.BytesIO()
    safe.write_ipc(written[0])
    safe.write_parquet(written[1])
    stored = [file.getvalue() for file in written] + [pickle.dumps(safe)]
    assert not any(CANARY.encode() in each for each in stored)


@pytest.mark.slow("many rows, so that each is one of several batches")
def test_a_frame_of_many_rows_has_noise_of_its_own_in_each():
    given = pl.DataFrame({"text": [LONG] * 9_000})
    assert frames.privatize(given, ["text"], PRIVATIZER)["text"].n_unique() == 9_000
    found = frames.privatize(given.to_pandas(), ["text"], PRIVATIZER)
    assert found["text"].nunique() == 9_000


@pytest.fixture
def lazy():
    return pl.LazyFrame({"id": range(2_000), "text": [LONG, *["aa"] * 1_999]})


def long_of(frame, engine="auto"):
    found = frame.collect(engine=engine)
    assert found["id"].is_sorted()
    return found.row(0)[1]


def test_a_lazy_frame_without_a_key_is_refused(lazy):
    with pytest.raises(ConfigurationError, match="with other noise each time"):
        frames.privatize(lazy, ["text"], PRIVATIZER)
    with pytest.raises(ConfigurationError, match="with other noise each time"):
        frames.privatize(lazy, ["text"], PRIVATIZER, "id")
    with pytest.raises(ConfigurationError, match="id_column="):
        frames.privatize(lazy, ["text"], KEYED)
    with pytest.raises(ConfigurationError, match="unique_ids="):
        frames.privatize(lazy, ["text"], KEYED, "id", unique_ids=True)


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_why_it_is_refused_each_collect_draws_again(lazy, engine):
    safe = frames.privatize(lazy, ["text"], PRIVATIZER, unkeyed="write-once")
    assert safe.collect_schema() == lazy.collect_schema()
    assert long_of(safe, engine) != long_of(safe, engine)


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_a_key_repeats_what_the_library_gives(lazy, engine):
    safe = frames.privatize(lazy, ["text"], KEYED, "id")
    expected = KEYED(LONG, id=0).text
    assert long_of(safe, engine) == long_of(safe, engine) == expected
    eager = frames.privatize(lazy.collect(), ["text"], KEYED, "id")
    assert safe.collect(engine=engine).equals(eager)


def test_a_lazy_frame_that_streams_is_released_some_rows_at_a_time(monkeypatch):
    from mondegreen.integrations import frames as adapter

    def counted(privatizer, series, *_):
        heights.append(len(series))
        return series

    heights = []
    monkeypatch.setattr(adapter, "wrap_like", counted)
    many = pl.LazyFrame({"id": range(60_000), "text": ["aa"] * 60_000})
    safe = frames.privatize(many, ["text"], KEYED, "id")
    assert safe.collect(engine="streaming").height == sum(heights) == 60_000
    assert max(heights) < 60_000


def test_polars_does_not_merge_two_releases_or_share_one_with_a_constant(lazy):
    some = lazy.with_columns(text=pl.lit(LONG)).head(20)
    one, two = (
        frames.privatize(some, ["text"], PRIVATIZER, unkeyed="write-once")
        for _ in range(2)
    )
    both = pl.concat([one, two]).collect()
    assert both["text"].n_unique() == 40
    joined = one.join(two, on="id").collect()
    assert not (joined["text"] == joined["text_right"]).any()


def test_polars_does_not_move_what_looks_at_the_release_before_it(lazy):
    """A filter on the column is one on the release, never on the text."""
    some = lazy.head(1).with_columns(text=pl.lit(f"{CANARY} aa"))
    safe = frames.privatize(some, ["text"], PRIVATIZER, unkeyed="write-once")
    sees_text = pl.col("text").str.contains(CANARY)
    assert safe.filter(sees_text).collect().is_empty()
    assert safe.filter(~sees_text).collect().height == 1
    plan = safe.filter(sees_text).explain()
    assert plan.index("FILTER") < plan.index("PYTHON")


def test_a_lazy_frame_is_written_once_without_its_columns(lazy, tmp_path):
    path = tmp_path / "safe.parquet"
    p, notes = PRIVATIZER, frames.promises(["text"], PRIVATIZER)
    safe = frames.privatize(lazy, ["text"], p, unkeyed="write-once", drop=["id"])
    safe.sink_parquet(path, metadata={"mondegreen": notes})
    assert pl.read_parquet(path).columns == ["text"]
    assert columns_of(pq.read_metadata(path).metadata[b"mondegreen"]) == ["text"]


# Modin


@pytest.mark.filterwarnings("ignore")  # Modin tells what it leaves to pandas
def test_a_frame_of_modin():
    """Needs an environment of its own: Modin holds pandas back."""
    mpd = pytest.importorskip("modin.pandas", reason="Modin is not installed")
    index = [7, 7, 2]
    texts = {"text": [CANARY, None, "aa"], "c": pd.Categorical(["aa", "bb", "aa"])}
    given = mpd.DataFrame({"id": [1, 2, 3], **texts}, index=index)
    safe = frames.privatize(given, ["text", "c"], KEYED, "id", drop=["id"])
    assert isinstance(safe, mpd.DataFrame)
    assert safe.index.tolist() == index
    assert list(safe.columns) == ["text", "c"]
    assert safe["text"].isna().tolist() == [False, True, False]
    assert str(safe["c"].dtype) == "category"
    assert safe["text"].iloc[0] == KEYED(CANARY, id=1).text
    series = mg.privatize(given["text"], epsilon=1.0, mechanism="tem", space=SPACE)
    assert isinstance(series, mpd.Series)


# All of them

KINDS = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "lazy": pl.LazyFrame,
    "table": pa.table,
    "batch": pa.record_batch,
}


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def made(request):
    return request.param


def test_a_key_gives_every_kind_the_same_release(made):
    given = made({"id": [7, 8], "note": [LONG, "aa"]})
    safe = frames.privatize(given, {"note": "text"}, KEYED, "id")
    safe = safe.collect() if made is pl.LazyFrame else safe
    found = safe["note"][0]
    shown = found.as_py() if isinstance(found, pa.Scalar) else found
    assert shown == KEYED(LONG, id=7).text


def test_ids_without_a_key_are_refused(made):
    given = made({"id": [7], "note": [CANARY]})
    some = {"unkeyed": "write-once"} if made is pl.LazyFrame else {}
    with pytest.raises(ConfigurationError, match="ids need keyed noise"):
        frames.privatize(given, ["note"], PRIVATIZER, "id", **some)


@pytest.mark.usefixtures("registered")
def test_ids_of_a_series_without_a_key_are_refused():
    for library in (pd, pl):
        series = library.Series("note", ["aa"]) if library is pl else pd.Series(["aa"])
        with pytest.raises(ConfigurationError, match="ids need keyed noise"):
            series.mondegreen.privatize(PRIVATIZER, [7])


def test_columns_are_dropped_and_missing_ones_are_named(made):
    given = made({"id": [7], "note": [CANARY], "raw": [CANARY]})
    safe = frames.privatize(given, ["note"], KEYED, "id", drop=["raw", "id"])
    names = safe.collect_schema().names() if made is pl.LazyFrame else None
    assert list(names or getattr(safe, "column_names", safe.columns)) == ["note"]
    for columns, id_column, drop in (
        (["absent"], "id", []),
        (["note"], "absent", []),
        (["note"], "id", ["absent"]),
    ):
        with pytest.raises(MissingColumnError, match="absent") as caught:
            frames.privatize(given, columns, KEYED, id_column, drop=drop)
        assert CANARY not in str(caught.value)


def test_what_cannot_be_asked_for_is_refused(made):
    given = made({"id": [7], "note": [CANARY]})
    for columns, drop in (
        ("note", []),
        (["note", "note"], []),
        ({"note": "a", "id": "a"}, []),
        (["note"], ["note"]),
        (["note"], "id"),
        (["id"], []),
    ):
        with pytest.raises(InvalidParameterError) as caught:
            frames.privatize(given, columns, KEYED, "id", drop=drop)
        assert CANARY not in str(caught.value)


def test_ids_that_occur_twice_are_a_warning_or_an_error():
    given = {"id": [*range(5_000), 0], "note": [None] * 5_001}  # of two slices
    given["note"][0] = "aa"
    for kind in (pd.DataFrame, pl.DataFrame, pa.table, pa.record_batch):
        with pytest.warns(UserWarning, match="5,000 values in 5,001 rows"):
            frames.privatize(kind(given), ["note"], KEYED, "id")
        with pytest.raises(mg.errors.DataError, match="record 5001"):
            frames.privatize(kind(given), ["note"], KEYED, "id", unique_ids=True)


@pytest.mark.parametrize(
    "frame",
    [
        *(7, None, CANARY, {"note": [CANARY]}, [CANARY], pd.Series([CANARY])),
        pd.DataFrame([[CANARY, CANARY]], columns=["note", "note"]),
        pl.Series([CANARY]),
    ],
    ids=lambda frame: type(frame).__name__,
)
def test_what_is_no_frame_is_refused_by_its_type(frame):
    with pytest.raises(InvalidParameterError) as caught:
        frames.privatize(frame, ["note"], PRIVATIZER)
    assert CANARY not in str(caught.value)


def test_a_lazy_frame_of_another_library_is_refused():
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql(f"SELECT '{CANARY}' AS note")
    with pytest.raises(InvalidParameterError, match="pandas, polars or Modin"):
        frames.privatize(relation, ["note"], PRIVATIZER, unkeyed="write-once")


def test_without_narwhals_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "narwhals", None)
    with pytest.raises(OptionalDependencyError, match=r"'\.\[frames\]'"):
        frames.privatize(pd.DataFrame({"a": ["aa"]}), ["a"], PRIVATIZER)


# The accessors


@pytest.fixture
def registered():
    frames.register("pandas", "polars")


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("library", [pd, pl])
def test_accessors_do_what_the_function_does(library):
    frames.register()  # a second time is no warning
    given = library.DataFrame({"id": [7], "note": [LONG]})
    expected = KEYED(LONG, id=7, column="note").text
    assert given.mondegreen.privatize(["note"], KEYED, "id")["note"][0] == expected
    series = given["note"].mondegreen.privatize(KEYED, given["id"])
    assert series[0] == expected
    assert series.name == "note"
    named = given["note"].mondegreen.privatize(KEYED, [7], column="text")
    assert named[0] == KEYED(LONG, id=7).text
    if library is pd:
        assert columns_of(series.attrs["mondegreen"]) == ["note"]
    else:
        with pytest.raises(ConfigurationError, match="lazy"):
            given.lazy().mondegreen.privatize(["note"], PRIVATIZER)


def test_libraries_that_have_no_accessors_are_refused():
    with pytest.raises(InvalidParameterError, match="pandas or polars"):
        frames.register("numpy")


def test_an_import_adds_no_accessor_and_loads_no_library():
    import subprocess
    import sys

    code = (
        "import sys, mondegreen.frames as f\n"
        "assert not {'pandas', 'polars', 'narwhals'} & set(sys.modules)\n"
        "try: f.register()\n"
        "except f.privatize.__globals__['ConfigurationError']: pass\n"
        "else: raise SystemExit('nothing is loaded')\n"
        "import polars\n"
        "assert not hasattr(polars.DataFrame, 'mondegreen')\n"
        "f.register()\n"
        "assert hasattr(polars.DataFrame, 'mondegreen')\n"
        "assert 'pandas' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow", "from pandas"])
def test_the_command_reads_what_a_frame_was_written_with(library, tmp_path, space_file):
    """And pandas, polars and Arrow read what the command has written."""
    path, out = tmp_path / "a.parquet", tmp_path / "b.parquet"
    given, p = {"a": ["aa"], "b": ["bb"]}, PRIVATIZER
    if library == "polars":
        notes = {"mondegreen": frames.promises(["a"], p)}
        frames.privatize(pl.DataFrame(given), ["a"], p).write_parquet(
            path, metadata=notes
        )
    elif library == "arrow":
        pq.write_table(frames.privatize(pa.table(given), ["a"], p), path)
    else:
        safe = frames.privatize(pd.DataFrame(given), ["a"], p)
        if library == "pandas":
            safe.to_parquet(path)
        else:
            pq.write_table(pa.Table.from_pandas(safe), path)
    asked = ["privatize", str(path), "-o", str(out), "-c", "b", "-e", "1", "-m", "tem"]
    done = CliRunner().invoke(cli, [*asked, "--space", space_file, "--read", "none"])
    assert done.exit_code == 0, done.stderr
    stated = [
        pd.read_parquet(out).attrs["mondegreen"],
        pl.read_parquet_metadata(out)["mondegreen"],
        pq.read_schema(out).metadata[b"mondegreen"],
    ]
    assert [columns_of(text) for text in stated] == [["a", "b"]] * 3
    if library == "polars":  # Arrow does not read what is beside the schema
        return
    table = frames.privatize(pq.read_table(path), ["b"], p)
    assert columns_of(table.schema.metadata[b"mondegreen"]) == ["a", "b"]


def test_promises_are_a_list_that_grows():
    once = frames.promises(["a"], PRIVATIZER)
    again = frames.promises(["b"], PRIVATIZER.with_noise(mg.Seeded(1)), once)
    assert [each["protection"] == "none" for each in json.loads(again)] == [False, True]
    with pytest.raises(InvalidParameterError, match="columns"):
        frames.promises("a", PRIVATIZER)
