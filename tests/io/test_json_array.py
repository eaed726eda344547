"""JSON files: arrays of objects, whole or piece by piece, and objects in a row."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mondegreen.errors import DecodeError, MissingColumnError, SourceError
from mondegreen.io import stream
from mondegreen.io.json_array import ObjectCutter
from mondegreen.io.open import open_source

texts = st.text(st.sampled_from('a"\\{}[],: \n\té😥'), max_size=12)
records = st.lists(
    st.fixed_dictionaries(
        {"text": texts, "other": st.lists(st.dictionaries(texts, texts), max_size=2)}
    ),
    max_size=4,
)


@given(records=records, indent=st.sampled_from([None, 0, 2, "\t"]))
def test_an_array_comes_back_byte_for_byte(copied, records, indent):
    data = json.dumps(records, indent=indent, ensure_ascii=False).encode() + b"\n"
    assert copied(data, ".json") == data


@given(records=records, indent=st.sampled_from([None, 1]), size=st.integers(1, 7))
def test_pieces_of_any_size_give_the_same_objects(records, indent, size):
    data = json.dumps(records, indent=indent)
    cutter = ObjectCutter("x.json")
    found = []
    for start in range(0, len(data), size):
        found += cutter.cut(data[start : start + size])
    assert [json.loads(each) for _, each in found] == records
    assert "".join(gap + each for gap, each in found) + cutter.finish() == data


@pytest.mark.parametrize("size", [1, 2, 5])
def test_reads_may_end_within_a_character(copied, monkeypatch, size):
    data = b"\xef\xbb\xbf" + '[{"text": "é😥", "n": 1}]'.encode()
    monkeypatch.setattr(stream, "CHUNK_BYTES", size)
    assert copied(data, ".json") == data


def test_the_selected_strings_alone_change(copied, capitals):
    data = b'[ {"n": 1.10, "text": "a"},\n\t{"text":["b",null], "text2": "c"} ]\n'
    wanted = data.replace(b'"a"', b'"A"').replace(b'"b"', b'"B"')
    made = copied(data, ".json", change=capitals)
    assert json.loads(made) == json.loads(wanted)
    assert made.startswith(b'[ {"n": 1.10, "text": "A"},\n\t{"text":["B",null]')


@pytest.mark.parametrize(
    "data",
    [
        b'{"text": "a"}\n{"text": "b"}\n',
        b'{"text": "a"}',
        b'{\n  "text": "a"\n}\n{\n  "text": "b"\n}\n',
        b"[]",
        b" [\n]\n",
        b"",
    ],
)
def test_objects_in_a_row_and_empty_files_come_back(copied, capitals, data):
    made = copied(data, ".json", change=capitals)
    assert made == data.replace(b'"a"', b'"A"').replace(b'"b"', b'"B"')


SECRET = "xylophone"


@pytest.mark.parametrize(
    ("data", "row"),
    [
        (f'[{{"text": "a"}}, "{SECRET}"]', 2),
        (f'[{{"text": "a"}} {{"text": "{SECRET}"}}]', 2),
        (f'[{{"text": "a"}},, {{"text": "{SECRET}"}}]', 2),
        (f'[{{"text": "{SECRET}"}}', 2),
        (f'[{{"text": "{SECRET}', 1),
        (f'[{{"text": "{SECRET}"}}]]', 2),
        (f'[{{"text": "{SECRET}"}}] {SECRET}', 2),
        (f'[{{"text": "{SECRET}"]]', 1),
        (f'[{{"text": "{SECRET}",}}]', 1),
        (f'[[{{"text": "{SECRET}"}}]]', 1),
        (f'{{"text": "a"}}, {{"text": "{SECRET}"}}', 2),
        (f'"{SECRET}"', 1),
        ("[", 1),
        ("[,]", 1),
        (f'[{{"text": {{"{SECRET}": 1}}}}]', 1),
    ],
)
def test_other_json_is_refused_by_its_row(tmp_path, data, row):
    path = tmp_path / "in.json"
    path.write_text(data)
    with pytest.raises(SourceError) as caught, open_source(path) as source:
        list(source.batches())
    assert f"row {row}" in str(caught.value)
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_bytes_that_are_no_utf_8_are_refused(tmp_path):
    path = tmp_path / "in.json"
    path.write_bytes(b'[{"text": "a"}, {"text": "\xff"}]')
    with pytest.raises(DecodeError), open_source(path) as source:
        list(source.batches())
    path.write_bytes(b'[{"text": "a"}]\xe2')
    with pytest.raises(DecodeError), open_source(path) as source:
        list(source.batches())


def test_a_record_that_lacks_a_column_is_refused(tmp_path):
    path = tmp_path / "in.json"
    path.write_text('[{"text": "a"}, {"n": 1}]')
    with pytest.raises(MissingColumnError, match="row 2"), open_source(path) as source:
        list(source.batches())
    with open_source(path, missing="pass") as source:
        assert sum(batch.num_rows for batch in source.batches()) == 2
        assert source.missing_rows == 1


def test_an_object_that_never_ends_does_not_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("mondegreen.io.json_array.MAX_RECORD_BYTES", 1 << 20)
    path = tmp_path / "in.json"
    path.write_text('[{"text": "' + "a" * (3 << 20))
    with pytest.raises(SourceError, match="longer than 1 MiB"):
        list(open_source(path).batches())
