import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mondegreen.errors import (
    DataError,
    DecodeError,
    InvalidParameterError,
    MissingColumnError,
    SourceError,
)
from mondegreen.io.open import open_source

encodable = st.text()
scalar = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), encodable
)
anything = st.recursive(
    scalar,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(encodable, inner, max_size=3)
    ),
    max_leaves=8,
)
selected = st.one_of(
    st.none(), encodable, st.lists(st.one_of(st.none(), encodable), max_size=3)
)
record = st.builds(
    lambda rest, text: {**rest, "text": text},
    st.dictionaries(encodable, anything, max_size=4),
    selected,
)


@given(
    records=st.lists(record, max_size=5),
    end=st.sampled_from(["\n", "\r\n"]),
    closed=st.booleans(),
    indent=st.sampled_from([(",", ":"), (" ,\t", "  :\r "), (", ", ": ")]),
)
def test_any_lines_come_back_byte_for_byte(copied, records, end, closed, indent):
    lines = [json.dumps(r, ensure_ascii=False, separators=indent) for r in records]
    data = (end.join(lines) + (end if closed and lines else "")).encode()
    assert copied(data, ".jsonl") == data


@given(record=record, text=encodable)
def test_a_release_is_valid_json_whatever_the_text(copied, record, text):
    def change(array):
        inner = pa.array([text] * len(array.flatten()), pa.string())
        return pa.ListArray.from_arrays(array.offsets, inner)

    data = json.dumps(record).encode()  # with escapes
    (line,) = copied(data, ".jsonl", change=change).decode().split("\n")
    made = json.loads(line)
    old = made.pop("text")
    assert old == ([text] * len(old) if isinstance(old, list) else text)
    assert made == {key: value for key, value in record.items() if key != "text"}


REST = (
    '"a": 1.10, "b" :1e400,"c":  ' + "9" * 5000 + ', "d":"\\u00e9\\/\u2028", '
    '"z": {"text": "untouched", "z": [NaN, -Infinity, -0.0, 1E+2]}, "m": [ ], "e":{ }'
)


def test_all_but_the_selected_value_stays_as_it_is_written(copied, capitals):
    line = "\t{" + REST + ', "text"\t: "caf\\u00e9\\n",  "y": 1.0 } \r\n'
    made = copied(line.encode(), ".jsonl", change=capitals).decode()
    assert made == line.replace("caf\\u00e9\\n", "CAFÉ\\n")


PLACES = {
    "msg.body": [
        ('{"msg": {"body": "a", "x": "b"}}', '{"msg": {"body": "A", "x": "b"}}'),
        (
            '{"msg.body": "a", "msg": {"body": "b"}}',
            '{"msg.body": "A", "msg": {"body": "B"}}',
        ),
    ],
    "a.b.c": [
        (
            '{"a.b": {"c": "x"}, "a": {"b.c": "y", "b": {"c": null}}}',
            '{"a.b": {"c": "X"}, "a": {"b.c": "Y", "b": {"c": null}}}',
        ),
    ],
    "m.c": [
        (
            '{"m": [{"c": "a"}, {"r": "b", "c": ""}, {"c": ["d", null]}, null]}',
            '{"m": [{"c": "A"}, {"r": "b", "c": ""}, {"c": ["D", null]}, null]}',
        ),
    ],
    "t": [
        ('{"t": "a", "t": "b", "t": ["c"]}', '{"t": "A", "t": "B", "t": ["C"]}'),
        ('{"\\u0074": "a"}', '{"\\u0074": "A"}'),
        ('{"t": ""}', '{"t": ""}'),
        ('{"t": [["c"], []], "T": "b"}', '{"t": [["C"], []], "T": "b"}'),
    ],
}


@pytest.mark.parametrize(
    ("column", "line", "made"),
    [(column, *case) for column, cases in PLACES.items() for case in cases],
)
def test_paths_reach_every_place_they_name(copied, capitals, column, line, made):
    result = copied(line.encode(), ".jsonl", columns=[column], change=capitals)
    assert result.decode() == made


def test_several_paths_are_taken_in_the_order_of_the_text(copied, capitals):
    data = b'{"u": "a", "v": "b", "t": ["c"]}'
    made = copied(data, ".jsonl", columns=["t", "u"], change=capitals)
    assert made == b'{"u": "A", "v": "b", "t": ["C"]}'


def test_batches_hold_a_column_of_values_for_each_path_and_the_frame_around(
    tmp_path,
):
    path = tmp_path / "in.jsonl"
    path.write_text(
        '{"text": "a", "id": 7, "b": {"c": "d"}}\n'
        '{"id": "x", "b": null, "text": []}\n'
        '{"b": {"c": null}, "text":[null,"b"],"id":-15}\n'
    )
    source = open_source(path, columns=["text", "b.c"], id_column="id")
    assert (source.text_columns, source.id_column) == (("text", "b.c"), "id")
    (batch,) = source.batches()
    assert batch.to_pydict() == {
        "text": [["a"], [], [None, "b"]],
        "b.c": [["d"], [], [None]],
        "frame": [
            '{"text": \x000\x00, "id": 7, "b": {"c": \x001\x00}}\n',
            '{"id": "x", "b": null, "text": []}\n',
            '{"b": {"c": \x001\x00}, "text":[\x000\x00,\x000\x00],"id":-15}\n',
        ],
        "id": ["7", "x", "-15"],
    }


def test_paths_that_are_named_like_the_frame_are_columns_all_the_same(copied, capitals):
    data = b'{"frame": "a", "order": "b", "frame\'": "c", "order\'": 7}\n'
    columns = ["order", "frame", "frame'"]
    made = copied(data, ".jsonl", columns=columns, id_column="order'", change=capitals)
    assert made == b'{"frame": "A", "order": "B", "frame\'": "C", "order\'": 7}\n'


@pytest.mark.parametrize("id", ["7.0", "1e3", "-0", "1.5", "true", "null", "[7]"])
def test_an_id_that_is_neither_a_string_nor_an_integer_is_refused(tmp_path, id):
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "a", "id": %s}\n' % id)  # noqa: UP031
    with pytest.raises(SourceError, match=r"row 1: .* a string or an integer"):
        list(open_source(path, id_column="id").batches())


@pytest.mark.parametrize("data", [b"", b"\n", b"\r\n \n", b'{"text":"a"}\n\n \n'])
def test_blank_lines_at_the_end_come_back(copied, data):
    assert copied(data, ".jsonl") == data


def test_a_byte_order_mark_is_kept(copied, capitals):
    data = '\ufeff{"text":"a"}\n'.encode()
    assert copied(data, ".jsonl", change=capitals) == data.replace(b'"a"', b'"A"')


@pytest.mark.slow("a large file")
def test_long_files_and_long_lines_pass(copied):
    line = json.dumps({"n": 1, "text": "word " * 10})
    data = ((line + "\n") * 60_000).encode() + json.dumps(
        {"text": "w " * 5_000_000}
    ).encode()
    assert copied(data, ".jsonl") == data


@pytest.mark.parametrize(
    "line",
    [
        '{"text": "xylophone"',
        '{"text": "xylophone}',
        '{"text": "xylophone",}',
        '{"text": "xylophone"} xylophone',
        '{"text": "xylophone"}{"text": "xylophone"}',
        "{'text': 'xylophone'}",
        '{"text" "xylophone"}',
        '{"text": xylophone}',
        '{"text": ["xylophone" "b"]}',
        '{"text": ["xylophone",]}',
        '{"text": "xylophone\tx"}',
        '{"n": 01, "text": "xylophone"}',
        '{"text": "\\xylophone"}',
        '["xylophone"]',
        '"xylophone"',
        "xylophone",
        '\x0b{"text": "xylophone"}',
        '{"text":',
        '{"text"',
        "{",
    ],
)
def test_invalid_json_is_refused_with_its_row(refused, line):
    data = '{"text": "a"}\n' * 2 + line + '\n{"text": "b"}\n'
    error = refused(data.encode(), ".jsonl", SourceError)
    assert error.row == 3
    assert "not a valid JSON object" in str(error)


def test_json_that_is_too_deep_is_refused(refused):
    for deep in ('{"text": ' + "[" * 100_000, '{"a": ' + "[" * 100_000):
        error = refused(deep.encode(), ".jsonl", SourceError)
        assert (error.row, "deep" in str(error)) == (1, True)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("12", "a number"),
        ("-1", "a number"),
        ("NaN", "a number"),
        ("true", "a boolean"),
        ("false", "a boolean"),
        ('{"xylophone": "xylophone"}', "an object"),
        ('["a", 1]', "a number"),
        ('[{"xylophone": 1}]', "an object"),
    ],
)
def test_a_selected_value_that_is_no_text_is_refused(refused, value, kind):
    data = f'{{"text": "a"}}\n{{"text": {value}}}\n'.encode()
    error = refused(data, ".jsonl", SourceError)
    assert error.row == 2
    assert f"{kind} at 'text', where text is expected" in str(error)


@pytest.mark.parametrize("value", ['"xylophone"', "1", '["xylophone"]', "true"])
def test_a_value_on_the_way_that_is_no_object_is_refused(refused, value):
    data = f'{{"msg": {{"body": "a"}}}}\n{{"msg": {value}}}\n'.encode()
    error = refused(data, ".jsonl", SourceError, columns=["msg.body"])
    assert (error.row, "'msg.body'" in str(error)) == (2, True)


def test_a_path_absent_from_the_whole_file_is_refused(refused):
    data = b'{"body": "xylophone", "n": 1}\n{"more": 2}\n'
    error = refused(data, ".jsonl", MissingColumnError)
    assert error.column == "text"
    assert "2 columns" in str(error)


PARTS = ["msgs.content", "msgs.content.text"]


@pytest.mark.parametrize(
    ("content", "first", "second"),
    [
        ('"a"', ["a"], []),
        ('[{"text": "b"}, {"text": "c"}]', [], ["b", "c"]),
        ('["a", {"type": "t", "text": "b"}, null]', ["a", None], ["b"]),
        ('{"text": "b"}', [], ["b"]),
        ('{"text": ["b", null]}', [], ["b", None]),
        ("null", [None], []),
        ("[]", [], []),
    ],
)
def test_text_in_some_records_and_parts_in_others(tmp_path, content, first, second):
    """As chats have it: two columns find both, and all else stays as it is."""
    path = tmp_path / "in.jsonl"
    lines = [
        f'{{"msgs": [{{"content": {c}}}]}}' for c in (content, '"a"', '[{"text": "b"}]')
    ]
    path.write_text("\n".join(lines) + "\n")
    source = open_source(path, columns=PARTS)
    (batch,) = source.batches()
    assert [batch.column(name)[0].as_py() for name in PARTS] == [first, second]
    assert source.encode(batch) == path.read_bytes()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("7", "a number at 'msgs.content'"),
        ('["a", true]', "a boolean at 'msgs.content'"),
        ('{"text": {"x": "xylophone"}}', "an object at 'msgs.content.text'"),
        ('{"url": "xylophone"}', "column 'msgs.content.text' not found"),
        (
            '[{"text": "b"}, {"url": "xylophone"}]',
            "column 'msgs.content.text' not found",
        ),
    ],
)
def test_what_is_neither_text_nor_a_part_is_refused(refused, content, problem):
    data = f'{{"msgs": [{{"content": {content}}}]}}\n'.encode()
    error = refused(data, ".jsonl", (SourceError, MissingColumnError), columns=PARTS)
    assert problem in str(error)


@pytest.mark.parametrize(("column", "other"), [PARTS, PARTS[::-1]])
def test_one_column_of_two_forms_says_to_name_the_other(refused, column, other):
    form = {PARTS[0]: '[{"text": "xylophone"}]', PARTS[1]: '"xylophone"'}[column]
    data = f'{{"msgs": {{"content": {form}}}}}\n'.encode()
    error = refused(data, ".jsonl", SourceError, columns=[column])
    named = {PARTS[0]: other, PARTS[1]: "the column that this text is at"}[column]
    assert f"where records differ, name also {named}" in str(error)


LACKING = [
    ("text", "{}"),
    ("text", '{"Text": "xylophone"}'),
    ("a.b", '{"a": {}}'),
    ("a.b", '{"a": {"x": "xylophone"}, "b": "xylophone"}'),
    ("a.b", '{"a": [{"b": "x"}, {"x": "xylophone"}]}'),
    ("a.b", '{"a": {"b": "x"}, "a": {"x": "xylophone"}}'),
    ("a.b.c", '{"a": {"b": [{"c": "x"}]}, "a": {"b": [{}]}}'),
]


@pytest.mark.parametrize(("column", "line"), LACKING)
def test_a_record_that_lacks_a_column_is_refused_with_its_row(refused, column, line):
    whole = f'{{"{column}": "a"}}\n'
    data = (whole * 2 + line + "\n" + whole).encode()
    error = refused(data, ".jsonl", MissingColumnError, columns=[column])
    assert (error.column, error.row) == (column, 3)
    assert "--missing pass" in str(error)


@pytest.mark.parametrize(("column", "line"), LACKING)
def test_a_record_that_lacks_a_column_may_pass_and_is_counted(tmp_path, column, line):
    whole = f'{{"{column}": "a"}}\n'
    path = tmp_path / "in.jsonl"
    path.write_text(line + "\n" + whole + line + "\n")
    source = open_source(path, columns=[column], missing="pass")
    assert sum(source.encode(b).count(b"\n") for b in source.batches()) == 3
    assert source.missing_rows == 2
    assert source.disclosed == (
        "records that lack a column: they pass as they are, 2 of 3",
    )


def test_a_record_that_lacks_one_of_several_columns_lacks_a_column(refused):
    data = b'{"text": "a", "b": "c"}\n{"text": "xylophone"}\n'
    error = refused(data, ".jsonl", MissingColumnError, columns=["text", "b"])
    assert (error.column, error.row) == ("b", 2)


@pytest.mark.parametrize(
    "line",
    [
        '{"a": null}',
        '{"a": []}',
        '{"a": [null, {"b": null}, {"b": []}]}',
        '{"a": {"x": 1}, "a.b": "c"}',
        '{"a": {"b": null}, "a.b": "c"}',
    ],
)
def test_null_and_an_empty_list_on_the_way_are_no_lack(copied, line):
    assert copied(line.encode(), ".jsonl", columns=["a.b"]) == line.encode()


@pytest.mark.parametrize("missing", ["stop", "pass"])
def test_nothing_is_yielded_before_each_column_has_been_met(tmp_path, missing):
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "xylophone"}\n' * 5000 + '{"b": "xylophone"}\n')
    for columns in (["text", "c"], ["txet"]):
        source = open_source(path, columns=columns, missing=missing)
        with pytest.raises(MissingColumnError):
            next(source.batches())
    source = open_source(path, columns=["text", "b"], missing="pass")
    assert sum(batch.num_rows for batch in source.batches()) == 5001


def test_what_is_held_until_a_column_is_met_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr("mondegreen.io.jsonl._HELD_BYTES", 1 << 20)
    path = tmp_path / "in.jsonl"
    path.write_text(('{"b": "' + "x" * 1000 + '"}\n') * 5000 + '{"text": "a"}\n')
    source = open_source(path, missing="pass")
    with pytest.raises(MissingColumnError):
        next(source.batches())
    assert source.position < source.total


def test_a_blank_line_between_records_is_refused(refused):
    error = refused(b'{"text":"a"}\n\n{"text":"xylophone"}\n', ".jsonl", SourceError)
    assert error.row == 2


@pytest.mark.parametrize("value", ['"xylophone \\ud800"', '["a", "\\udfff xylophone"]'])
def test_half_a_surrogate_pair_is_refused_with_its_row(refused, value):
    data = '{"text": "a"}\n{"text": []}\n{"text": ["b", "c"]}\n{"text": ' + value
    data += "}\n"
    error = refused(data.encode(), ".jsonl", SourceError)
    assert (error.row, "surrogate" in str(error)) == (4, True)


def test_surrogates_elsewhere_and_in_pairs_pass(copied):
    data = b'{"o": "\\ud800", "text": "\\ud83d\\ude00"}\n'
    assert copied(data, ".jsonl") == '{"o": "\\ud800", "text": "😀"}\n'.encode()


def test_broken_utf8_names_row_and_byte(refused):
    data = b'{"text": "a"}\n' * 2 + b'{"text": "xylophone\xff"}\n'
    error = refused(data, ".jsonl", DecodeError)
    assert (error.row, error.offset) == (3, 28 + 19)


@pytest.mark.parametrize(
    "id_part",
    ["", ', "k": null', ', "k": ["xylophone"]', ', "k": true', ', "k": 1, "k": 2'],
)
def test_a_record_without_one_scalar_id_is_refused(refused, id_part):
    data = '{"text": "a", "k": 1}\n{"text": "xylophone"' + id_part + "}\n"
    error = refused(data.encode(), ".jsonl", SourceError, id_column="k")
    assert (error.row, "'k'" in str(error)) == (2, True)


@pytest.mark.parametrize(
    ("column", "id_column"),
    [("text", "text"), ("msg", "msg.id"), ("msg.text", "msg"), ("a.b", "a.b.c.d")],
)
def test_the_id_is_no_text_column_nor_in_one_nor_around_one(
    tmp_path, column, id_column
):
    with pytest.raises(InvalidParameterError, match="no column of text"):
        open_source(tmp_path / "in.jsonl", columns=[column], id_column=id_column)


def test_an_id_beside_the_text_is_fine(copied):
    data = b'{"msg": {"text": "a", "text2": 7}}\n'
    options = {"columns": ["msg.text"], "id_column": "msg.text2"}
    assert copied(data, ".jsonl", **options) == data


def test_a_release_with_other_values_is_refused(refused):
    def fewer(array):
        return pa.array([[]] * len(array), pa.list_(pa.string()))

    def none(array):
        return pa.nulls(len(array), pa.list_(pa.string()))

    for change in (fewer, none):
        refused(b'{"text":"xylophone"}', ".jsonl", DataError, change=change)


def test_a_refused_value_is_null(copied):
    def change(array):
        return pa.array([[None]], pa.list_(pa.string()))

    made = copied(b'{"text":"a"}\n', ".jsonl", change=change)
    assert made == b'{"text":null}\n'
