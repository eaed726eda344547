import csv
import io
import re

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mondegreen.errors import DecodeError, MissingColumnError, SourceError
from mondegreen.io.open import open_source
from mondegreen.io.stream import BATCH_ROWS

PIECES = [",", "\t", '"', "\n", "\r", "\r\n", "\0", "\u2028", "\ufeff", " ", "é", "x"]
value = st.lists(st.one_of(st.sampled_from(PIECES), st.text()), max_size=8).map("".join)


def written(rows, delimiter=",", end="\n") -> bytes:
    file = io.StringIO(newline="")
    csv.writer(
        file, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL
    ).writerows(rows)
    return file.getvalue().encode()


def rows_of(data: bytes, delimiter=",") -> list[list[str]]:
    file = io.StringIO(data.decode("utf-8-sig"), newline="")
    return list(csv.reader(file, delimiter=delimiter, strict=True))


@given(
    rows=st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(value, min_size=n, max_size=n), max_size=6)
    ),
    end=st.sampled_from(["\n", "\r\n"]),
    suffix=st.sampled_from([".csv", ".tsv"]),
)
def test_every_value_comes_back(copied, rows, end, suffix):
    delimiter = "," if suffix == ".csv" else "\t"
    width = len(rows[0]) if rows else 1
    header = ["text", "b", "c", "d"][:width]
    data = written([header, *rows], delimiter, end)
    assert rows_of(copied(data, suffix), delimiter) == [header, *rows]


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_plain_files_come_back_byte_for_byte(copied, suffix):
    data = b'id,text\r\n1,"a, b"\r\n2,"two\nlines and ""quotes"""\r\n3,\r\n'
    if suffix == ".tsv":
        data = data.replace(b",", b"\t")
    assert copied(data, suffix) == data


def test_only_text_columns_change(copied, capitals):
    data = b"id,text,note\n007,hello,hello\n1.10,x,\n"
    assert (
        copied(data, ".csv", change=capitals)
        == b"id,text,note\n007,HELLO,hello\n1.10,X,\n"
    )


def test_a_byte_order_mark_is_kept_and_not_part_of_the_name(copied):
    data = '\ufeff"text",b\n1,2\n'.encode()
    assert copied(data, ".csv") == data


@pytest.mark.parametrize("data", [b"text", b"text\n", b"a,text\r\n", b'"te""xt",text'])
def test_a_header_alone_comes_back(copied, data):
    assert copied(data, ".csv") == data


@pytest.mark.parametrize("data", [b"text\na\n\n\n", b"a,text\r\n1,b\r\n\r\n"])
def test_blank_lines_at_the_end_come_back(copied, data):
    assert copied(data, ".csv") == data


def test_a_long_value_passes(copied):
    data = b"text,b\n" + b"word " * 2_000_000 + b",1\n"
    assert copied(data, ".csv") == data


def test_nul_bytes_pass(copied):
    data = b"text,b\na\0b,\0\n"
    assert copied(data, ".csv") == data


def test_null_is_an_empty_value(copied):
    def change(array):
        return pa.nulls(len(array), pa.string())

    assert copied(b"text,b\na,1\n", ".csv", change=change) == b"text,b\n,1\n"
    assert copied(b"text\na\n", ".csv", change=change) == b'text\n""\n'


@pytest.mark.slow("a large file")
def test_a_batch_is_a_block_and_no_row_is_left_alone(copy, tmp_path):
    path = tmp_path / "in.csv"
    path.write_bytes(b"text,b\n" + b"one two three four,1\n" * 400_000)
    batches = copy(path, tmp_path / "out.csv")
    assert min(batch.num_rows for batch in batches[:-1]) > 1000
    assert (tmp_path / "out.csv").read_bytes() == path.read_bytes()


@pytest.mark.slow("a large file")
def test_text_of_many_lines_is_batched(copy, tmp_path):
    path = tmp_path / "in.csv"
    path.write_bytes(b"text,b\n" + b'"one\ntwo\nthree\nfour\n",1\n' * 400_000)
    batches = copy(path, tmp_path / "out.csv")
    assert max(batch.num_rows for batch in batches) <= BATCH_ROWS
    assert sum(batch.num_rows for batch in batches) == 400_000
    assert (tmp_path / "out.csv").read_bytes() == path.read_bytes()


def test_ids_are_a_column(tmp_path):
    (tmp_path / "in.csv").write_text("text,key\na,k1\nb,k2\n")
    source = open_source(tmp_path / "in.csv", id_column="key")
    assert source.id_column == "key"
    (batch,) = source.batches()
    assert batch.column("key").to_pylist() == ["k1", "k2"]


@pytest.mark.parametrize(
    ("data", "row", "problem"),
    [
        (b"text,b\nxylophone,1\nxylophone\n", 2, "1 value where the header has 2"),
        (b"text,b\nxylophone,1,2\n", 1, "3 values where the header has 2"),
        (b'text,b\na,1\nb,2\n"xylophone,3\n', 3, "never closed"),
        (b'text,b\n"xylophone"xylophone,3\n', 1, "text follows a closing quote"),
        (b"text,b\nxylophone\rxylophone,3\n", 1, "carriage return"),
        (b"text,b\na,1\n\nxylophone,3\n", 2, "a blank line"),
        (b"", None, "empty; a header"),
        (b"\ntext\n", None, "first line is blank"),
        (b'"xylophone', None, "in the header, a quote is opened and never closed"),
        (b"text,text\nxylophone,a\n", None, "2 columns named 'text'"),
    ],
)
def test_what_breaks_the_format_is_refused_with_its_row(refused, data, row, problem):
    error = refused(data, ".csv", SourceError)
    assert error.row == row
    assert problem in str(error)


def test_a_missing_id_is_refused_with_its_row(refused):
    data = b"text,key\nxylophone,1\nxylophone,\n"
    error = refused(data, ".csv", SourceError, id_column="key")
    assert error.row == 2


@pytest.mark.slow("a large file", but=("0", "3"))
@pytest.mark.parametrize("rows", [0, 3, 400_000])
def test_broken_utf8_names_row_and_byte(refused, rows):
    good = b"text,b\n" + b'"two\nlines",1\n' * rows
    error = refused(good + b"xylophone,xylo\xffphone\n", ".csv", DecodeError)
    assert (error.row, error.offset) == (rows + 1, len(good) + 14)


def test_broken_utf8_in_the_header_is_refused(refused):
    assert refused(b"te\xffxt\n", ".csv", DecodeError).offset == 2


def test_a_missing_column_suggests_a_name_much_like_it(refused):
    error = refused(b"texts,id\na,1\n", ".csv", MissingColumnError)
    assert "2 columns (did you mean 'texts'?)" in str(error)
    assert isinstance(
        refused(b"text\na\n", ".csv", MissingColumnError, id_column="n"), LookupError
    )


def test_a_missing_column_says_where_the_names_are(refused):
    error = refused(b"id,stars,review\n1,2,a\n", ".csv", MissingColumnError)
    assert re.search(r"3 columns \(its first line names them: head -1 ", str(error))


def test_a_file_without_header_does_not_show_its_first_record(refused):
    for data in (b"1,I heard the xylophone yesterday in Oslo\n", b"1,Xylo\n2,b\n"):
        error = refused(data, ".csv", MissingColumnError)
        assert "xylo" not in str(error).lower()
        assert error.available == []
