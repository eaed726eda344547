import gzip

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mondegreen.errors import (
    ConfigurationError,
    DataError,
    DecodeError,
    MissingColumnError,
)
from mondegreen.io.open import open_source
from mondegreen.io.stream import BATCH_ROWS

HOSTILE = ["\u2028", "\x0b", "\x85", "\r", "\r\n", "\n", "\0", "\ufeff", '"', "😀", "a"]
hostile = st.lists(st.one_of(st.sampled_from(HOSTILE), st.text()), max_size=30).map(
    "".join
)


def lines_of(tmp_path, data: bytes) -> list[str]:
    path = tmp_path / "in.txt"
    path.write_bytes(data)
    batches = open_source(path).batches()
    return [line for batch in batches for line in batch.column("text").to_pylist()]


@given(text=hostile)
def test_any_text_comes_back_byte_for_byte(copied, text):
    assert copied(text.encode(), ".txt", format="txt") == text.encode()


def test_only_a_newline_ends_a_record_and_belongs_to_it(tmp_path):
    data = "a\u2028b\x0bc\x85d\re\r\n\nlast"
    assert lines_of(tmp_path, data.encode()) == [
        "a\u2028b\x0bc\x85d\re\r\n",
        "\n",
        "last",
    ]


def test_an_empty_file_has_no_records(copied, tmp_path):
    assert copied(b"", ".txt") == b""
    assert lines_of(tmp_path, b"") == []


def test_a_byte_order_mark_is_kept_out_of_the_text(copied, tmp_path):
    data = "\ufeffone\ntwo".encode()
    assert lines_of(tmp_path, data) == ["one\n", "two"]
    assert copied(data, ".txt") == data
    assert copied(b"\xef\xbb\xbf", ".txt") == b"\xef\xbb\xbf"


def test_lines_of_ten_megabytes_pass(copied):
    data = (b"word " * 2_000_000 + b"\n") * 2 + b"x" * 10_000_000
    assert copied(data, ".txt") == data


def test_batches_have_a_limit_in_rows_and_bytes(copied, copy, tmp_path):
    path = tmp_path / "in.txt"
    path.write_bytes(b"a\n" * 20_000 + b"b" * 3_000_000 + b"\n" + b"c\n")
    batches = copy(path, tmp_path / "out.txt")
    assert max(batch.num_rows for batch in batches) == BATCH_ROWS
    assert sum(batch.num_rows for batch in batches) == 20_002
    assert (tmp_path / "out.txt").read_bytes() == path.read_bytes()


def test_packed_files_come_back_packed(copied):
    data = "Grüße\n".encode() * 1000
    assert gzip.decompress(copied(gzip.compress(data), ".txt.gz")) == data


def test_a_cut_packed_file_is_refused(refused):
    packed = gzip.compress(b"xylophone\n" * 1000)[:-10]
    assert "not a complete gzip file" in str(refused(packed, ".txt.gz"))


@pytest.mark.parametrize("bad", [b"\xff", b"\xed\xa0\x80", b"\xc0\xaf", b"\xe2\x82"])
def test_broken_utf8_names_row_and_byte(refused, bad):
    data = b"fine\nxylophone " + bad + b" xylophone\n"
    error = refused(data, ".txt", DecodeError)
    assert (error.row, error.offset) == (2, 15)


def test_broken_utf8_far_into_a_file_names_the_row(refused):
    data = b"xylophone\n" * 500_000 + b"\xff"
    error = refused(data, ".txt", DecodeError)
    assert (error.row, error.offset) == (500_001, 5_000_000)


def test_the_byte_offset_counts_the_byte_order_mark(refused):
    error = refused(b"\xef\xbb\xbfab\xff", ".txt", DecodeError)
    assert (error.row, error.offset) == (1, 5)


def test_lines_have_no_id(tmp_path):
    (tmp_path / "in.txt").write_text("a\n")
    with pytest.raises(ConfigurationError, match="needs a format with columns"):
        open_source(tmp_path / "in.txt", id_column="n")


def test_lines_have_one_column(tmp_path):
    (tmp_path / "in.txt").write_text("a\n")
    with pytest.raises(MissingColumnError, match="Columns: 'text'"):
        open_source(tmp_path / "in.txt", columns=("body",))


@pytest.mark.parametrize("wrong", ["a", "a\n\n", "a\nb\n", ""])
def test_a_release_with_other_lines_than_the_input_is_refused(refused, wrong):
    def change(array):
        return pa.array([wrong] * len(array), pa.string())

    error = refused(b"one\ntwo\nthree\n", ".txt", DataError, change=change)
    assert "line end" in str(error)


def test_a_refused_row_is_an_empty_line(copied):
    def change(array):
        return pa.array([None, *array.to_pylist()[1:]], pa.string())

    assert copied(b"one\ntwo\n", ".txt", change=change) == b"\ntwo\n"


@pytest.mark.parametrize(
    ("structure", "kept"), [("keep", b"\xef\xbb\xbf"), ("plain", b"")]
)
def test_a_byte_order_mark_is_structure_that_a_plain_release_drops(
    tmp_path, structure, kept
):
    path = tmp_path / "in.txt"
    path.write_bytes(b"\xef\xbb\xbfa text\n")
    with open_source(path, structure=structure) as source:
        (batch,) = source.batches()
        assert batch.column("text").to_pylist() == ["a text\n"]
        assert source.prologue == kept
