import json
import os
import threading

import pytest

from mondegreen.errors import ConfigurationError, SourceError
from mondegreen.io.open import open_source

RECORDS = {
    "txt": (b"", b"one\n"),
    "csv": (b"text,b\n", b'"one\nline",2\n'),
    "tsv": (b"text\tb\n", b"one\t2\n"),
    "jsonl": (b"", b'{"text": "one"}\n'),
}


@pytest.mark.parametrize("form", RECORDS)
def test_a_pipe_is_followed_record_by_record(form):
    head, record = RECORDS[form]
    reading, writing = os.pipe()
    try:
        os.write(writing, head + record * 2)
        with open_source(f"/dev/fd/{reading}", format=form) as source:
            assert source.total is None
            batches = source.batches()
            assert next(batches).num_rows == 2
            os.write(writing, record + record[:2])  # a part of a record follows
            assert next(batches).num_rows == 1
            os.write(writing, record[2:])
            assert next(batches).num_rows == 1
            os.close(writing)
            writing = -1
            assert list(batches) == []
            assert source.rows_read == 4
    finally:
        os.close(reading)
        if writing >= 0:
            os.close(writing)


def test_a_slow_pipe_with_a_long_record_is_read_whole(tmp_path):
    path = tmp_path / "pipe.jsonl"
    os.mkfifo(path)
    text = "word " * 1_000_000
    line = json.dumps({"text": text}).encode() + b"\n"
    writer = threading.Thread(target=path.write_bytes, args=(line * 3,))
    writer.start()
    values = [v for b in open_source(path).batches() for v in b["text"].to_pylist()]
    writer.join()
    assert values == [[text]] * 3


@pytest.mark.parametrize("form", [*RECORDS, "parquet"])
def test_progress_reaches_its_total(tmp_path, form):
    path = tmp_path / f"in.{form}"
    if form == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({"text": ["a"] * 10}), path)
    else:
        head, record = RECORDS[form]
        path.write_bytes(head + record * 10)
    source = open_source(path)
    assert sum(batch.num_rows for batch in source.batches()) == 10
    assert (source.position, source.rows_read) == (source.total, 10)
    assert source.total == path.stat().st_size


@pytest.mark.parametrize(
    ("name", "form"),
    [("a.TXT", "txt"), ("a.ndjson", "jsonl"), ("a.b.tsv", "tsv"), ("a.csv.gz", "csv")],
)
def test_the_name_tells_the_format(tmp_path, name, form):
    import gzip

    data = b'{"text":"a"}\n' if form == "jsonl" else b"text\na\n"
    (tmp_path / name).write_bytes(gzip.compress(data) if "gz" in name else data)
    with open_source(tmp_path / name) as source:
        assert source.format == form


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a.doc", {}),
        ("a", {}),
        ("a.parquet.gz", {}),
        ("a.csv", {"format": "xml"}),
        ("a.csv", {"columns": ()}),
        ("a.csv", {"columns": ("t",), "id_column": "t"}),
    ],
)
def test_what_no_source_can_do_is_refused(tmp_path, name, options):
    (tmp_path / name).write_text("t\n")
    with pytest.raises(ConfigurationError):
        open_source(tmp_path / name, **options)


@pytest.mark.parametrize("suffix", [*RECORDS, "parquet"])
def test_a_file_that_is_not_there_is_refused(tmp_path, suffix):
    with pytest.raises(SourceError, match="No such file"):
        open_source(tmp_path / f"in.{suffix}")
    (tmp_path / f"folder.{suffix}").mkdir()
    with pytest.raises(SourceError, match=r"is a folder \(name its files one by one"):
        list(open_source(tmp_path / f"folder.{suffix}").batches())


def test_a_column_named_twice_counts_once(tmp_path):
    (tmp_path / "in.csv").write_text("text\na\n")
    with open_source(tmp_path / "in.csv", columns=["text", "text"]) as source:
        assert source.text_columns == ("text",)
