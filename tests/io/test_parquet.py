import base64
import datetime
import decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mondegreen.errors import (
    DecodeError,
    InvalidParameterError,
    MissingColumnError,
    SourceError,
)
from mondegreen.io import parquet as module
from mondegreen.io.open import open_source

MESSAGE = pa.struct([("role", pa.string()), ("body", pa.large_string())])

FIELD_ID = b"PARQUET:field_id"


def message(role, body):
    return {"role": role, "body": body}


@pytest.fixture
def passed(tmp_path, copy, capitals):
    """Return a function that copies a table, its text in capitals."""

    def run(table, columns=("text",), id_column=None, read=None, **options):
        path, made = tmp_path / "in.parquet", tmp_path / "out.parquet"
        pq.write_table(table, path, **options)
        reading = {"columns": columns, "id_column": id_column, **(read or {})}
        copy(path, made, change=capitals, **reading)
        return pq.read_table(made)

    return run


TEXTS = ["a", None, "", "é😀\0\n"]
CAPITALS = ["A", None, "", "É😀\0\n"]


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int32(), pa.string()),
        pa.dictionary(pa.int32(), pa.string(), ordered=True),
    ],
    ids=str,
)
def test_every_type_of_string_is_kept(passed, kind):
    made = passed(pa.table({"n": range(4), "text": pa.array(TEXTS).cast(kind)}))
    assert made.schema.field("text").type == kind
    assert made.to_pydict() == {"n": [0, 1, 2, 3], "text": CAPITALS}


@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.string()),
        pa.large_list(pa.large_string()),
        pa.list_(pa.dictionary(pa.int32(), pa.string())),
    ],
    ids=str,
)
def test_lists_of_strings_are_kept(passed, kind):
    lists = [["a", None], [], None, ["b"]]
    made = passed(pa.table({"text": pa.array(lists, kind)}))
    assert made.column("text").to_pylist() == [["A", None], [], None, ["B"]]
    assert pa.types.is_large_list(made.schema.field(0).type) == pa.types.is_large_list(
        kind
    )


def test_a_small_dictionary_has_room_for_new_words(tmp_path, copy):
    count = [0]

    def fresh(array):
        start = count[0]
        count[0] += len(array)
        return pa.array([f"w{start + i}" for i in range(len(array))])

    kind = pa.dictionary(pa.int8(), pa.string())
    pq.write_table(
        pa.table({"text": pa.array(["a", "b"] * 500).cast(kind)}),
        tmp_path / "in.parquet",
    )
    copy(tmp_path / "in.parquet", tmp_path / "out.parquet", change=fresh)
    made = pq.read_table(tmp_path / "out.parquet")
    assert made.column("text").to_pylist() == [f"w{i}" for i in range(1000)]


def filtered(indices, ordered=False):
    """Make a dictionary whose last value no row has."""
    values = ["low", "middle", "high", "zyxwoldemorth"]
    indices = pa.array(indices, pa.int8())
    return pa.DictionaryArray.from_arrays(indices, values, ordered=ordered)


def test_dictionaries_keep_no_value_that_no_row_has(passed, tmp_path):
    inner = filtered([0, 1, 1])
    lists = pa.ListArray.from_arrays([0, 1, 3], inner)
    table = pa.table({"text": ["a", "b"], "case": filtered([2, None]), "l": lists})
    made = passed(table)
    assert made.schema.equals(table.schema)
    assert made.drop(["text"]).to_pydict() == table.drop(["text"]).to_pydict()
    assert b"zyxwoldemorth" in (tmp_path / "in.parquet").read_bytes()
    assert b"zyxwoldemorth" not in (tmp_path / "out.parquet").read_bytes()


def test_row_groups_share_an_ordered_dictionary_without_unused_values(tmp_path, copy):
    column = filtered([2, 0] * 2 + [1, 0] * 2, ordered=True)
    table = pa.table({"text": ["a"] * 8, "case": column})
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=4)
    for size in (module.ROW_GROUP_BYTES, 1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "ROW_GROUP_BYTES", size)
            copy(tmp_path / "in.parquet", tmp_path / "out.parquet", force=True)
        made = pq.read_table(tmp_path / "out.parquet")
        found = [each.dictionary.to_pylist() for each in made.column("case").chunks]
        assert found == [["low", "middle", "high"]] * (1 if size > 1 else 2)
        assert made.column("case").to_pylist() == column.to_pylist()
        assert made.column("case").type == column.type


def test_row_groups_with_other_dictionaries_can_be_read(tmp_path, copy):
    """Together they have more values than their index counts."""
    kind = pa.dictionary(pa.int8(), pa.string(), ordered=True)
    groups = [[f"{group} {i}" for i in range(100)] for group in "ab"]
    tables = [pa.table({"text": group, "n": pa.array(group, kind)}) for group in groups]
    with pq.ParquetWriter(tmp_path / "in.parquet", tables[0].schema) as writer:
        for table in tables:
            writer.write_table(table)
    copy(tmp_path / "in.parquet", tmp_path / "out.parquet")
    made = pq.ParquetFile(tmp_path / "out.parquet")
    read = [made.read_row_group(i).column("n") for i in range(made.num_row_groups)]
    assert {each.type for each in read} == {kind}
    assert [each.to_pylist() for each in read] == groups


def test_text_in_a_struct_is_reached_and_nowhere_else_in_a_batch(passed, tmp_path):
    rows = [message("u", "a"), None, message(None, None), message("v", "b")]
    table = pa.table({"msg": pa.array(rows, MESSAGE), "text": ["x"] * 4})
    made = passed(table, columns=("msg.body", "text"))
    assert made.schema.equals(table.schema)
    assert made.to_pydict() == {
        "msg": [message("u", "A"), None, message(None, None), message("v", "B")],
        "text": ["X"] * 4,
    }
    source = open_source(tmp_path / "in.parquet", columns=("msg.body",))
    (batch,) = source.batches()
    assert batch.column("msg.body").to_pylist() == ["a", None, None, "b"]
    assert {m["body"] for m in batch.column("msg").to_pylist() if m} == {None}


def test_text_in_a_list_of_structs_is_reached(passed):
    rows = [
        [message("u", "a"), message("v", None), None],
        [],
        None,
        [message("u", "b")],
    ]
    deep = pa.struct([("list", pa.list_(MESSAGE)), ("n", pa.int64())])
    table = pa.table(
        {
            "msgs": pa.array(rows, pa.list_(MESSAGE)),
            "deep": pa.array([{"list": r, "n": 1} for r in rows], deep),
        }
    )
    made = passed(table, columns=("msgs.body", "msgs.role", "deep.list.body"))
    body = [
        [message("U", "A"), message("V", None), None],
        [],
        None,
        [message("U", "B")],
    ]
    assert made.column("msgs").to_pylist() == body
    deeps = [
        {
            "list": [m and message(m["role"].lower(), m["body"]) for m in r]
            if r
            else r,
            "n": 1,
        }
        for r in body
    ]
    assert made.column("deep").to_pylist() == deeps


def test_a_refused_row_keeps_nothing(tmp_path, copy):
    rows = pa.array([[message("u", "a")], [message("v", "b")]], pa.list_(MESSAGE))
    pq.write_table(pa.table({"msgs": rows}), tmp_path / "in.parquet")

    def change(array):
        return pa.array([None, ["c"]], pa.list_(pa.string()))

    copy(
        tmp_path / "in.parquet",
        tmp_path / "out.parquet",
        change=change,
        columns=("msgs.body",),
    )
    made = pq.read_table(tmp_path / "out.parquet")
    assert made.column("msgs").to_pylist() == [None, [message("v", "c")]]


@pytest.mark.parametrize("metadata", ["keep", "drop"])
def test_all_else_is_kept_but_metadata_that_is_not_asked_for(
    passed, tmp_path, metadata
):
    field = pa.field("text", pa.string(), nullable=False, metadata={"unit": "word"})
    schema = pa.schema(
        [
            pa.field("n", pa.int8(), metadata={"k": "v"}),
            field,
            ("when", pa.timestamp("ns", "Europe/Oslo")),
            ("price", pa.decimal128(9, 2)),
            ("blob", pa.binary()),
            ("kind", pa.dictionary(pa.int8(), pa.string())),
            ("map", pa.map_(pa.string(), pa.int32())),
        ],
        metadata={"pandas": "{}", "mondegreen": "an earlier promise"},
    )
    row = [1, "a", datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)]
    row += [decimal.Decimal("1.10"), b"\xff", "x", [("k", 1)]]
    table = pa.Table.from_arrays(
        [
            pa.array([value] * 10, field.type)
            for value, field in zip(row, schema, strict=True)
        ],
        schema=schema,
    )
    codecs = {"text": "zstd", "n": "none"}
    made = passed(table, read={"metadata": metadata}, compression=codecs)
    for_pandas = {b"PANDAS_ATTRS": b'{"mondegreen": "promise"}'}
    stated = {b"mondegreen": b"promise", **for_pandas}
    assert made.drop(["text"]).equals(table.drop(["text"]))
    if metadata == "keep":
        assert made.schema.field("n").metadata[b"k"] == b"v"
        assert made.schema.metadata == {b"pandas": b"{}", **stated}
    else:
        assert {key for f in made.schema for key in f.metadata or ()} <= {FIELD_ID}
        assert made.schema.metadata == stated
    group = pq.ParquetFile(tmp_path / "out.parquet").metadata.row_group(0)
    codecs = [group.column(i).compression for i in (0, 1, 2)]
    assert codecs == ["UNCOMPRESSED", "ZSTD", "UNCOMPRESSED"]


CANARY = b"xylophone"


def test_no_text_of_metadata_reaches_the_release_by_any_way(tmp_path, copy):
    note = {"note": CANARY.decode()}
    inner = pa.field("item", pa.string(), metadata=note)
    struct = pa.struct([pa.field("body", pa.string(), metadata=note)])
    fields = [
        pa.field("text", pa.list_(inner), metadata=note),
        pa.field("msg", struct, metadata=note),
        pa.field("map", pa.map_(pa.string(), pa.field("value", pa.int8(), True, note))),
        pa.field("pair", pa.list_(pa.field("item", pa.int8(), metadata=note), 2)),
        pa.field("tagged", pa.string(), metadata={"ARROW:extension:name": CANARY}),
        pa.field("big", pa.large_list(pa.field("item", pa.int8(), metadata=note))),
    ]
    schema = pa.schema(fields, metadata={"pandas": CANARY, "x": CANARY, CANARY: "y"})
    row = [["a"], {"body": "b"}, [("k", 1)], [1, 2], "c", [1]]
    arrays = [pa.array([v], f.type) for v, f in zip(row, fields, strict=True)]
    path, made = tmp_path / "in.parquet", tmp_path / "out.parquet"
    with pq.ParquetWriter(path, schema) as writer:
        writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
        writer.add_key_value_metadata({"attrs": CANARY.decode()})
    copy(path, made, columns=("text", "msg.body"))
    stored = pq.ParquetFile(made).metadata.metadata
    decoded = base64.b64decode(stored[b"ARROW:schema"])
    assert CANARY not in made.read_bytes() + decoded
    assert set(stored) == {b"ARROW:schema", b"mondegreen", b"PANDAS_ATTRS"}
    released = pq.read_table(made)
    assert released.to_pylist() == pq.read_table(path).to_pylist()
    assert released.schema.equals(schema)


def test_types_that_arrow_knows_and_the_numbers_of_fields_need_no_option(
    tmp_path, copy
):
    ids = pa.array([bytes(16)], pa.uuid())
    fields = [
        pa.field("text", pa.string(), metadata={FIELD_ID: "7"}),
        pa.field("id", ids.type, metadata={"note": "x"}),
    ]
    table = pa.Table.from_arrays([pa.array(["a"]), ids], schema=pa.schema(fields))
    pq.write_table(table, tmp_path / "in.parquet")
    copy(tmp_path / "in.parquet", tmp_path / "out.parquet")
    made = pq.read_schema(tmp_path / "out.parquet")
    assert made.field("id").type == pa.uuid()
    assert made.field("text").metadata[FIELD_ID] == b"7"


def test_what_is_said_of_a_column_is_said_of_the_release(tmp_path, copy, capitals):
    table = pa.table({"text": ["xylophone", "yacht"], "kind": ["a", "b"]})
    path, made = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pq.write_table(
        table, path, write_page_index=True, bloom_filter_options={"text": {}}
    )
    assert CANARY in path.read_bytes()
    copy(path, made, change=capitals)
    statistics = pq.ParquetFile(made).metadata.row_group(0).column(0).statistics
    assert (statistics.min, statistics.max) == ("XYLOPHONE", "YACHT")
    assert CANARY not in made.read_bytes()


def test_what_an_earlier_pass_promised_is_at_hand(tmp_path):
    schema = pa.schema([("text", pa.string())], metadata={"mondegreen": "[1]"})
    pq.write_table(schema.empty_table(), tmp_path / "in.parquet")
    for metadata in ("drop", "keep"):
        with open_source(tmp_path / "in.parquet", metadata=metadata) as source:
            assert source.earlier == b"[1]"
    pq.write_table(pa.table({"text": ["a"]}), tmp_path / "in.parquet")
    with open_source(tmp_path / "in.parquet") as source:
        assert source.earlier is None


@pytest.mark.parametrize(
    ("column", "id_column"),
    [("msg.body", "msg"), ("msg.body", "msg.body"), ("msgs.body", "msgs")],
)
def test_an_id_around_the_text_is_refused(refused, column, id_column):
    body = {"body": "xylophone", "id": 1}
    data = parquet(pa.table({"msg": [body], "msgs": [[body]]}))
    options = {"columns": (column,), "id_column": id_column}
    refused(data, ".parquet", InvalidParameterError, **options)


def test_columns_whose_names_share_a_start_are_two(passed):
    table = pa.table({"text": ["a"], "text.id": ["b"]})
    made = passed(table, id_column="text.id")
    assert made.to_pydict() == {"text": ["A"], "text.id": ["b"]}


@pytest.mark.parametrize("groups", [0, 1])
def test_no_rows_are_fine(tmp_path, copy, groups):
    schema = pa.schema([("text", pa.string()), ("m", MESSAGE)])
    with pq.ParquetWriter(tmp_path / "in.parquet", schema) as writer:
        for _ in range(groups):
            writer.write_table(schema.empty_table())
    copy(tmp_path / "in.parquet", tmp_path / "o.parquet", columns=("text", "m.body"))
    assert pq.read_table(tmp_path / "o.parquet").schema.equals(schema)


def test_batches_are_small_whatever_the_row_group(tmp_path, copy):
    texts = ["word " * 2000] * 3000 + ["a"] * 3000  # a dictionary packs the first
    pq.write_table(pa.table({"text": texts}), tmp_path / "in.parquet")
    batches = copy(tmp_path / "in.parquet", tmp_path / "out.parquet")
    assert max(batch.nbytes for batch in batches) < 6 << 20
    made = pq.read_table(tmp_path / "out.parquet")
    assert made.column("text").to_pylist() == texts


@pytest.mark.parametrize(
    ("ids", "strings"),
    [
        (pa.array([10, 2], pa.int16()), ["10", "2"]),
        (pa.array(["x", "y"]), ["x", "y"]),
        (pa.array(["x", "y"]).dictionary_encode(), ["x", "y"]),
        (pa.array([{"key": 1}, {"key": 2}]), ["1", "2"]),
    ],
)
def test_ids_are_strings_in_a_batch_and_themselves_in_the_file(
    passed, tmp_path, ids, strings
):
    path = "id.key" if pa.types.is_struct(ids.type) else "id"
    table = pa.table({"id": ids, "text": ["a", "b"]})
    made = passed(table, id_column=path)
    assert made.drop(["text"]).equals(table.drop(["text"]))
    source = open_source(tmp_path / "in.parquet", id_column=path)
    (batch,) = source.batches()
    assert batch.column(source.id_column).to_pylist() == strings


def parquet(table) -> bytes:
    file = pa.BufferOutputStream()
    pq.write_table(table, file, compression="none", use_dictionary=False)
    return file.getvalue().to_pybytes()


@pytest.mark.parametrize(
    ("ids", "row"),
    [([1, None], 2), ([b"\xff", b"x"], None), ([[1], [2]], None)],
)
def test_ids_that_name_no_record_are_refused(refused, ids, row):
    data = parquet(pa.table({"id": ids, "text": ["xylophone"] * 2}))
    error = refused(data, ".parquet", SourceError, id_column="id")
    assert error.row == row


@pytest.mark.parametrize(
    ("values", "columns", "kind"),
    [
        ([1, 2], ("text",), "int64"),
        ([b"xylophone"], ("text",), "binary"),
        ([{"a": "xylophone"}], ("text",), "struct"),
        ([{"a": 1}], ("text.a",), "int64"),
        ([[["xylophone"]]], ("text",), "list"),
        ([None], ("text",), "null"),
    ],
)
def test_columns_of_other_types_are_refused(refused, values, columns, kind):
    data = parquet(pa.table({"text": values}))
    error = refused(data, ".parquet", SourceError, columns=columns)
    assert kind in str(error)
    assert repr(columns[0]) in str(error)


def test_missing_and_ambiguous_columns_are_refused(refused):
    table = pa.table({"m": [{"a": "xylophone"}], "m.a": ["xylophone"]})
    error = refused(parquet(table), ".parquet", MissingColumnError)
    assert error.available == ["m", "m.a"]
    error = refused(parquet(table), ".parquet", SourceError, columns=("m.a",))
    assert "2 columns named 'm.a'" in str(error)
    refused(parquet(table), ".parquet", MissingColumnError, columns=("m.b",))


def test_broken_files_are_refused(refused):
    data = parquet(pa.table({"text": ["xylophone"] * 1000}))
    for broken in (data[: len(data) // 2], b"", b"xylophone", data[:-6] + b"xylop1"):
        assert "not a Parquet file" in str(refused(broken, ".parquet", SourceError))


def test_a_damaged_page_is_refused(refused):
    data = parquet(pa.table({"text": ["xylophone"] * 1000}))
    broken = data[:4] + b"\xff" * 200 + data[204:]
    error = refused(broken, ".parquet", SourceError)
    assert (error.row, "damaged" in str(error)) == (1, True)


def test_a_wild_index_of_a_dictionary_is_damage(tmp_path, monkeypatch):
    wild = pa.DictionaryArray.from_arrays(
        pa.array([0, 9], pa.int32()), ["xylophone"], safe=False
    )
    for text, other in ((wild, ["a", "b"]), (["a", "b"], wild)):
        batch = pa.RecordBatch.from_arrays(
            [pa.array(text), pa.array(other)], names=["text", "other"]
        )
        kinds = pa.table({"text": ["a"], "other": ["b"]}).cast(batch.schema)
        pq.write_table(kinds, tmp_path / "in.parquet")
        source = open_source(tmp_path / "in.parquet")
        monkeypatch.setattr(source, "_batches", lambda one=batch: iter([one]))
        with pytest.raises(SourceError, match="damaged here"):
            list(source.batches())


def test_broken_utf8_names_the_row(refused):
    data = parquet(pa.table({"text": ["fine", "fine", "xylophone-Q"]}))
    error = refused(data.replace(b"-Q", b"-\xff"), ".parquet", DecodeError)
    assert error.row == 3


def test_a_stream_cannot_be_parquet():
    with pytest.raises(InvalidParameterError, match="for standard input"):
        open_source("-", format="parquet")


ANSWERS = [
    [("dialect", "a"), ("mood", None), ("dialect", "b")],
    None,
    [],
    [("x", "é😀")],
]
CAPITAL_ANSWERS = [
    [("dialect", "A"), ("mood", None), ("dialect", "B")],
    None,
    [],
    [("x", "É😀")],
]


@pytest.mark.parametrize(
    "item",
    [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())],
    ids=str,
)
def test_values_of_maps_change_and_keys_stay(passed, item):
    kind = pa.map_(pa.string(), item)
    column = pa.array(ANSWERS, pa.map_(pa.string(), pa.string())).cast(kind)
    table = pa.table({"n": [1, 2, 3, 4], "answers": column, "text": ["a"] * 4})
    made = passed(table, columns=("answers",))
    assert made.column("answers").to_pylist() == CAPITAL_ANSWERS
    assert made.drop(["answers"]) == table.drop(["answers"])
    assert pa.types.is_map(made.schema.field("answers").type)
    if not pa.types.is_dictionary(item):
        assert made.schema.field("answers").type == kind


def test_maps_of_structs_and_structs_of_maps(passed):
    inner = pa.struct([("body", pa.string()), ("n", pa.int8())])
    held = pa.struct([("by", pa.map_(pa.int32(), pa.string())), ("n", pa.int8())])
    rows = [[("k", {"body": "a", "n": 1}), ("l", None)], None, []]
    table = pa.table(
        {
            "deep": pa.array(rows, pa.map_(pa.string(), inner)),
            "held": pa.array([{"by": [(1, "b")], "n": 2}, None, {"by": None}], held),
            "by": pa.array([[("k", "c")], None, []], pa.map_("string", "string")),
            "by (keys)": ["u", "v", "w"],
        }
    )
    made = passed(table, columns=("deep.body", "held.by", "by"))
    assert made.schema.types == table.schema.types
    assert made.to_pydict() == {
        "deep": [[("k", {"body": "A", "n": 1}), ("l", None)], None, []],
        "held": [{"by": [(1, "B")], "n": 2}, None, {"by": None, "n": None}],
        "by": [[("k", "C")], None, []],
        "by (keys)": ["u", "v", "w"],
    }


def test_a_key_of_a_map_is_no_id_and_other_maps_are_refused(passed):
    table = pa.table(
        {"text": ["a"], "m": pa.array([[("k", 1)]], pa.map_("string", "int8"))}
    )
    with pytest.raises(SourceError, match="or a map to strings"):
        passed(table, columns=("m",))
    with pytest.raises(SourceError, match="id column"):
        passed(table, id_column="m")
