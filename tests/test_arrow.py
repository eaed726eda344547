"""Arrow batches and arrays: types, paths, ids, and the promise in the schema."""

from __future__ import annotations

import datetime
import decimal
import json

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pytest

import mondegreen as mg
from mondegreen.errors import (
    DataError,
    InvalidParameterError,
    MissingColumnError,
    MondegreenError,
)
from mondegreen.privatizer.parallel import privatize_batches

CANARY = "zyxwoldemorth"
WORDS = [f"{a}{b}{c}" for a in "bdfgk" for b in "aeiou" for c in "dgkm"]
LONG = " ".join(WORDS)
SPACE = mg.Space.from_arrays(
    "hundred", WORDS, np.random.default_rng(2).normal(size=(len(WORDS), 4))
)
PLAIN = mg.Privatizer(mg.mechanism("tem", epsilon=0.1), SPACE)
KEYED = PLAIN.with_noise(mg.KeyedNoise(bytes(range(32))))


def batch_of(**columns):
    return pa.RecordBatch.from_pydict(columns)


# --- types ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int8(), pa.string()),
        pa.dictionary(pa.uint32(), pa.large_string()),
        pa.list_(pa.string()),
        pa.large_list(pa.large_string()),
        pa.list_view(pa.string()),
        pa.list_(pa.field("element", pa.string(), nullable=False)),
        pa.list_(pa.dictionary(pa.int16(), pa.string())),
    ],
    ids=str,
)
def test_an_array_comes_back_in_its_type_with_its_nulls(kind):
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    is_list |= pa.types.is_list_view(kind)
    texts = [["bad bag", ""], None, [], ["dad"]] if is_list else ["bad", None, "", "x"]
    array = pa.array(texts, kind)
    for given in (array, array.slice(1), array[:0], pa.chunked_array([array, array])):
        found = PLAIN.column(given)
        found.validate(full=True)
        assert type(found) is type(given)
        assert found.type == given.type
        assert found.is_null().to_pylist() == given.is_null().to_pylist()
        assert CANARY not in str(found)
    if is_list:
        lengths = pa.compute.list_value_length(PLAIN.column(array)).to_pylist()
        assert lengths == [2, None, 0, 1]


@pytest.mark.parametrize(
    "array",
    [
        pa.array([1, 2]),
        pa.array([b"bad"]),
        pa.array([{"a": "bad"}]),
        pa.array([["bad"]], pa.list_(pa.string(), 1)),
        pa.array([[["bad"]]]),
        pa.nulls(2),
        pa.chunked_array([[1.5]]),
        [CANARY],
        CANARY,
    ],
    ids=lambda a: str(getattr(a, "type", type(a))),
)
def test_an_array_that_holds_no_text_is_refused(array):
    with pytest.raises(InvalidParameterError) as caught:
        PLAIN.column(array)
    assert CANARY not in str(caught.value)


def test_chunks_do_not_share_noise_and_keep_their_lengths():
    chunks = pa.chunked_array([[LONG], [], [LONG, None]])
    for p in (PLAIN, PLAIN.with_noise(mg.Seeded(1))):
        found = p.column(chunks)
        assert [len(chunk) for chunk in found.chunks] == [1, 0, 2]
        assert len(set(found.to_pylist())) == 3


@pytest.mark.parametrize("pieces", [1, 3])
def test_a_dictionary_that_overflows_is_widened_in_all_chunks_alike(pieces):
    texts = pa.array([LONG] * 100, pa.dictionary(pa.int8(), pa.string()))
    found = PLAIN.column(pa.chunked_array([texts] * pieces))
    wide = pa.dictionary(pa.int32() if pieces > 1 else pa.int8(), pa.string())
    assert found.type == wide
    assert len(set(found.to_pylist())) == 100 * pieces


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_dictionary_that_overflows_in_a_worker_is_widened(jobs):
    texts = pa.array([LONG] * 200, pa.dictionary(pa.int8(), pa.string()))
    found = privatize_batches(PLAIN, [batch_of(text=texts)] * 2, ["text"], jobs=jobs)
    kinds = {batch.column("text").type.index_type for batch, _ in found}
    assert kinds == {pa.int32()}


def test_text_that_is_not_utf8_is_refused_and_the_error_does_not_hold_it():
    offsets = pa.array([0, 14], pa.int32()).buffers()[1]
    data = pa.py_buffer(b"zyxwoldemorth\xff")
    broken = pa.Array.from_buffers(pa.string(), 1, [None, offsets, data])
    for run in (
        lambda: PLAIN.column(broken),
        lambda: PLAIN.arrow(batch_of(text=broken)),
        lambda: KEYED.column(pa.array(["bad"]), broken),
    ):
        with pytest.raises(DataError, match="UTF-8") as caught:
            run()
        error = caught.value
        assert error.__cause__ is error.__context__ is None


# --- paths ----------------------------------------------------------------------------


def nested():
    inner = {"body": "bad bag", "n": 1, "tags": ["dad", None]}
    rows = [inner, None, {"body": None, "n": 2, "tags": None}]
    kind = pa.struct(
        [("body", pa.string()), ("n", pa.int64()), ("tags", pa.list_(pa.string()))]
    )
    lists = [[inner, None], None, []]
    return batch_of(
        id=[1, 2, 3],
        msg=pa.array(rows, kind),
        msgs=pa.array(lists, pa.list_(kind)),
    )


@pytest.mark.parametrize(
    ("path", "at"),
    [
        ("msg.body", lambda row: row["msg"]["body"]),
        ("msg.tags", lambda row: row["msg"]["tags"][0]),
        ("msgs.body", lambda row: row["msgs"][0]["body"]),
    ],
)
def test_text_in_structs_is_reached_and_the_rest_stays(path, at):
    given = nested()
    before = given.to_pylist()
    # What is drawn may stand elsewhere in the row by chance: then it is drawn again.
    draws = (PLAIN.arrow(given, [path]) for _ in range(100))
    elsewhere = json.dumps(before[0])
    released = next(r for r in draws if at(r.to_pylist()[0]) not in elsewhere)
    released.validate(full=True)
    assert released.schema == given.schema
    after = released.to_pylist()
    assert at(after[0]).split()[0] in WORDS
    found = {at(PLAIN.arrow(given, [path]).to_pylist()[0]) for _ in range(40)}
    assert len(found) > 1
    text = at(before[0])
    blank = json.dumps(after[0]).replace(at(after[0]), "?")
    assert blank.count("?") in (1, 2)
    assert after[1:] == before[1:]
    assert after[0]["msg"]["n"] == 1
    assert json.dumps(before[0]).count(text) == 2


def test_lists_of_lists_are_refused():
    with pytest.raises(InvalidParameterError, match="strings or lists of strings"):
        PLAIN.arrow(nested(), ["msgs.tags"])


def test_a_path_with_two_readings_is_refused():
    both = batch_of(**{"msg.body": ["bad"], "msg": [{"body": CANARY}]})
    for options in ({"columns": ["msg.body"]}, {"id_column": "msg.body"}):
        columns = options.get("columns", ["text"])
        batch = both.append_column("text", pa.array(["bad"]))
        with pytest.raises(InvalidParameterError, match="one column"):
            KEYED.arrow(batch, columns, id_column=options.get("id_column"))


def test_a_name_that_two_columns_have_is_refused():
    twice = pa.RecordBatch.from_arrays([pa.array(["bad"])] * 2, names=["text"] * 2)
    for call in (PLAIN.arrow, PLAIN.arrow_with_count):
        with pytest.raises(InvalidParameterError, match="one column"):
            call(twice, ["text"])


def test_a_dictionary_in_a_struct_that_overflows_is_widened():
    kind = pa.struct(
        [("body", pa.dictionary(pa.int8(), pa.string())), ("n", pa.int8())]
    )
    given = batch_of(msg=pa.array([{"body": LONG, "n": 1}] * 200, kind))
    released = PLAIN.arrow(given, ["msg.body"])
    released.validate(full=True)
    assert released.schema.field("msg").type.field("body").type.index_type == pa.int32()
    assert released.schema.field("msg").type.field("n").type == pa.int8()


# --- names and ids --------------------------------------------------------------------


def test_a_mapping_gives_logical_names():
    given = batch_of(a=[LONG], b=[LONG], id=[7])
    plain = KEYED.arrow(given, ["a", "b"], id_column="id").to_pydict()
    turned = KEYED.arrow(given, {"a": "b", "b": "a"}, id_column="id").to_pydict()
    assert plain["a"] == turned["b"] != turned["a"] == plain["b"]
    with pytest.raises(InvalidParameterError, match="different logical names"):
        KEYED.arrow(given, {"a": "x", "b": "x"}, id_column="id")


@pytest.mark.parametrize(
    "ids",
    [
        pa.array([7], pa.int8()),
        pa.array([7], pa.uint64()),
        pa.array(["7"], pa.large_string()),
        pa.array(["7"], pa.string_view()),
        pa.array(["7"]).dictionary_encode(),
        pa.array([7]).dictionary_encode(),
        pa.chunked_array([[], [7]], pa.int32()),
        [7],
        ["7"],
        [np.int16(7)],
        np.array([7]),
        (np.uint8(7),),
    ],
    ids=lambda ids: str(getattr(ids, "type", type(ids[0]))),
)
def test_strings_and_integers_name_one_record(ids):
    expected = KEYED(LONG, id=7).text
    assert KEYED.column(pa.array([LONG]), ids).to_pylist() == [expected]
    if isinstance(ids, pa.Array):
        given = batch_of(text=[LONG], id=ids)
        found = KEYED.arrow(given, id_column="id").column("text").to_pylist()
        assert found == [expected]


@pytest.mark.parametrize(
    "ids",
    [
        pa.array([7.0]),
        pa.array([7.0], pa.float16()),
        pa.array([decimal.Decimal(7)]),
        pa.array([datetime.datetime(2020, 1, 1)]),
        pa.array([datetime.date(2020, 1, 1)]),
        pa.array([True]),
        pa.array([b"7"]),
        pa.array([["7"]]),
        pa.array([{"a": 7}]),
        pa.array([None], pa.int64()),
        pa.array([None], pa.string()).dictionary_encode(),
        pa.nulls(1),
        [7.0],
        [np.float64(7)],
        [True],
        [np.True_],
        [None],
        [b"7"],
        [decimal.Decimal(7)],
        ["1", "2"],
        [],
        "7",
    ],
    ids=str,
)
def test_what_names_no_record_is_refused(ids):
    with pytest.raises(InvalidParameterError, match="id"):
        KEYED.column(pa.array([LONG]), ids)
    if isinstance(ids, pa.Array):
        with pytest.raises(InvalidParameterError, match="ids"):
            KEYED.arrow(batch_of(text=[LONG], id=ids), id_column="id")


def test_an_id_may_lie_in_a_struct_but_in_no_list():
    given = batch_of(
        text=[LONG, LONG],
        key=[{"id": 7, "ids": [7]}, {"id": 8, "ids": [8]}],
        keys=[[{"id": 7}], [{"id": 8}]],
    )
    found = KEYED.arrow(given, id_column="key.id").column("text").to_pylist()
    assert found == [KEYED(LONG, id=i).text for i in (7, 8)]
    for path in ("key.ids", "keys.id", "key", "keys"):
        with pytest.raises(InvalidParameterError, match="ids"):
            KEYED.arrow(given, id_column=path)
    with pytest.raises(MissingColumnError):
        KEYED.arrow(given, id_column="key.absent")
    holes = batch_of(text=["bad"] * 2, key=[{"id": 7}, None])
    with pytest.raises(InvalidParameterError, match="every row"):
        KEYED.arrow(holes, id_column="key.id")


def test_ids_that_occur_twice_are_refused_where_they_are_to_be_unique():
    given = batch_of(text=["bad"] * 3, id=["x", "y", "x"])
    assert KEYED.arrow(given, id_column="id").num_rows == 3
    calls = [
        lambda: KEYED.arrow(given, id_column="id", unique_ids=True),
        lambda: KEYED.column(given["text"], given["id"], unique_ids=True),
        lambda: KEYED.batch(["bad"] * 3, ["x", "y", "x"], unique_ids=True),
        lambda: list(KEYED.stream(["bad"] * 3, iter("xyx"), unique_ids=True)),
        lambda: list(
            privatize_batches(
                KEYED,
                [given.slice(0, 2), given.slice(2)],
                ["text"],
                id_column="id",
                unique_ids=True,
            )
        ),
    ]
    for call in calls:
        with pytest.raises(DataError, match="record 3 has the id"):
            call()
    with pytest.raises(MondegreenError, match="unique"):
        PLAIN.arrow(given, unique_ids=True)


def test_a_stream_finds_an_id_that_occurred_chunks_ago():
    ids = [*range(3000), 5]
    releases = KEYED.stream(["" for _ in ids], ids, unique_ids=True)
    with pytest.raises(DataError, match="record 3001 "):
        list(releases)


def test_other_columns_keep_no_value_of_rows_that_were_filtered_out():
    cases = pa.array([CANARY, "open", None, "open"]).dictionary_encode()
    given = batch_of(text=["bad"] * 4, case=cases, n=[{"case": each} for each in cases])
    given = given.filter(pa.array([False, True, True, True]))
    assert CANARY in str(given["case"].dictionary)
    for made in (PLAIN.arrow(given), PLAIN.arrow_with_count(given, ["text"])[0]):
        assert made["case"].dictionary.to_pylist() == ["open"]
        assert made.select(["case", "n"]).to_pydict() == (
            given.select(["case", "n"]).to_pydict()
        )
        assert made.schema.equals(given.schema)


# --- the promise ----------------------------------------------------------------------


def test_no_text_of_the_metadata_of_a_schema_is_passed_on():
    inner = pa.field("body", pa.string(), metadata={"by": CANARY})
    fields = [
        pa.field("a", pa.string(), metadata={"by": CANARY}),
        pa.field("n", pa.struct([inner]), metadata={"by": CANARY}),
    ]
    schema = pa.schema(fields, metadata={"pandas": CANARY})
    given = pa.record_batch([["bad"], [{"body": "bad"}]], schema=schema)
    for stated in (False, True):
        made = PLAIN.arrow(given, ["a", "n.body"], metadata=stated)
        assert CANARY.encode() not in made.schema.serialize().to_pybytes()
        assert made.schema.equals(schema)  # but for metadata


def test_the_schema_carries_a_guarantee_for_each_column_of_each_pass():
    given = batch_of(a=["bad"], b=["bad"], id=["1"])
    assert PLAIN.arrow(given, ["a"]).schema.metadata is None
    once = PLAIN.arrow(given, ["a"], metadata=True)
    seeded = PLAIN.with_noise(mg.Seeded(1))
    twice = seeded.arrow(once, ["a", "b"], metadata=True)
    found = json.loads(twice.schema.metadata[b"mondegreen"])
    assert [entry["column"] for entry in found] == ["a", "a", "b"]
    promises = [mg.Guarantee.from_dict(entry["guarantee"]) for entry in found]
    assert promises == [PLAIN.guarantee, seeded.guarantee, seeded.guarantee]
