"""Fields that are no text to privatize: nothing of a file is left out silently."""

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
