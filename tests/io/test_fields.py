"""Fields that are no text to privatize: nothing of a file is left out silently."""

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mondegreen.errors import DecodeError, MissingColumnError, SourceError
from mondegreen.io.fields import read_field
from mondegreen.io.open import open_source


def test_a_byte_that_is_no_utf8_does_not_end_a_field_early(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_bytes(b'{"label": 1}\n{"label": 2}\n{"label": "caf\xe9"}\n')
    values = read_field(path, "label")
    assert [next(values), next(values)] == [1, 2]
    with pytest.raises(DecodeError, match="row 3: not valid UTF-8 at byte 40"):
        next(values)


def test_a_field_that_no_line_has_is_named_wrongly(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text('{"label": null}\n{"secretname": 2}\n{"x": {"y": 1}}\n')
    assert list(read_field(path, "label")) == [None, None, None]
    with pytest.raises(MissingColumnError, match=r"did you mean 'label'\?") as caught:
        list(read_field(path, "lable"))
    assert "secretname" not in str(caught.value)
    with pytest.raises(SourceError, match="row 1: not a JSON object"):
        list(read_field(path, "label.y"))
    path.write_text("\n")
    assert list(read_field(path, "label")) == []


@pytest.mark.parametrize("count", [3, 20, 21, 300])
def test_few_columns_of_a_schema_are_listed_and_of_many_the_nearest(tmp_path, count):
    path = tmp_path / "in.parquet"
    names = ["review", *(f"c{i}" for i in range(1, count))]
    pq.write_table(pa.table({name: ["a"] for name in names}), path)
    for read in (
        lambda: list(read_field(path, "reviews")),
        lambda: open_source(path, columns=("reviews",)),
    ):
        with pytest.raises(MissingColumnError) as caught:
            read()
        told = str(caught.value)
        if count <= 20:
            assert "Columns: " + ", ".join(map(repr, names)) in told
        else:
            assert f"There are {count} columns; the nearest are 'review'" in told
            assert "c1" not in told
        assert caught.value.available == names


def _list_others(path, **options):
    with open_source(path, columns=("note",), **options) as source:
        found, unchanged, values = [], {}, {}
        for batch in source.batches():
            found += source.iterate_other_texts(batch)
            unchanged |= dict.fromkeys(source.list_unchanged(batch))
            values |= source.iterate_other_values(batch, 5)
    return found, list(unchanged), values


def test_texts_behind_empty_keys_pass_and_are_seen(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text(
        '{"note": "a", "": {"note": "b", "": ["c"]}}\n{"note": "", "": "d"}'
    )
    found, unchanged, values = _list_others(path)
    assert found == [{".note": "b", ".": "c"}, {"": "d"}]
    assert unchanged == [".note", ".", ""]
    assert values == {".note": "b", ".": "c", "": "d"}


def test_columns_of_one_name_are_all_seen(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("note,a,a,,\nx,b,c,d,e\ny,f,,,g\n")
    found, unchanged, _ = _list_others(path)
    assert found == [{"a": "b c", "": "d e"}, {"a": "f ", "": " g"}]
    assert unchanged == ["a", ""]
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["note", "a", "a"], ["x", "b", "c"]):
        book.active.append(row)
    book.save(tmp_path / "in.xlsx")
    assert _list_others(tmp_path / "in.xlsx")[0] == [{"a": "b", "column 3": "c"}]


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary(4)])
def test_bytes_of_parquet_are_read_as_text(tmp_path, kind):
    path = tmp_path / "in.parquet"
    cells = pa.array([b"Anna", b"\xff\xfe\x00\x01", None], kind)
    pq.write_table(pa.table({"note": ["a", "b", "c"], "raw": cells}), path)
    found, _, _ = _list_others(path)
    assert [each.get("raw") for each in found] == ["Anna", "\ufffd\ufffd\x00\x01", None]


def test_a_field_is_read_from_a_workbook_and_in_another_encoding(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["text", "label"])
    book.create_sheet("second")
    for row in (["text", "label"], ["a", "x"], ["b", None]):
        book["second"].append(row)
    book.save(tmp_path / "in.xlsx")
    found = read_field(tmp_path / "in.xlsx", "label", sheet="second")
    assert list(found) == ["x", None]
    rows = {"in.csv": "text,label\na,é’\n", "in.jsonl": '{"label": "é’"}\n'}
    for name, text in rows.items():
        (tmp_path / name).write_bytes(text.encode("cp1252"))
        found = read_field(tmp_path / name, "label", encoding="cp1252")
        assert list(found) == ["é’"]


@pytest.mark.parametrize("mark", [";", "\t"])
def test_names_behind_another_delimiter_are_counted(tmp_path, mark):
    path = tmp_path / "in.csv"
    path.write_text(mark.join(["id", "Nachricht", "stars"]) + "\n")
    with pytest.raises(MissingColumnError, match=r"3 columns.*mean 'Nachricht'"):
        open_source(path, columns=("Nachrichten",))
    with pytest.raises(MissingColumnError, match="3 columns"):
        open_source(path, columns=("text",))
    path.write_text("sep=;\nid;text\n")
    with pytest.raises(MissingColumnError, match="first line names a delimiter"):
        open_source(path, columns=("text",))
