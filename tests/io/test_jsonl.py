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
from mondegreen.io.source import open_source

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
            '{"m": [{"c": "a"}, {"r": "b"}, {"c": ["d", null]}, null]}',
            '{"m": [{"c": "A"}, {"r": "b"}, {"c": ["D", null]}, null]}',
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


def test_batches_hold_pieces_and_values(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text(
        '{"text": "a", "id": 7}\n{"id": "x"}\n{"text":[null,"b"],"id":-15}\n'
    )
    source = open_source(path, id_column="id")
    assert (source.text_columns, source.id_column) == (("values",), "id")
    (batch,) = source.batches()
    assert batch.to_pydict() == {
        "parts": [
            ['{"text": ', ', "id": 7}\n'],
            ['{"id": "x"}\n'],
            ['{"text":[', ",", '],"id":-15}\n'],
        ],
        "values": [["a"], [], [None, "b"]],
        "id": ["7", "x", "-15"],
    }


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


def test_a_path_absent_from_some_rows_is_fine(copied):
    data = b'{"body": "a"}\n{"text": null}\n{}\n'
    assert copied(data, ".jsonl") == data


def test_a_blank_line_between_records_is_refused(refused):
    error = refused(b'{"text":"a"}\n\n{"text":"xylophone"}\n', ".jsonl", SourceError)
    assert error.row == 2


@pytest.mark.parametrize("value", ['"xylophone \\ud800"', '["a", "\\udfff xylophone"]'])
def test_half_a_surrogate_pair_is_refused_with_its_row(refused, value):
    data = '{"text": "a"}\n{}\n{"text": ["b", "c"]}\n{"text": ' + value + "}\n"
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


def test_the_id_is_no_text_column(tmp_path):
    with pytest.raises(InvalidParameterError, match="no column of text"):
        open_source(tmp_path / "in.jsonl", id_column="text")


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
