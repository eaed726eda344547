"""Where records come from: files of five formats, or standard input."""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, get_args

import pyarrow as pa

from mondegreen.errors import InvalidParameterError, MissingColumnError
from mondegreen.io.stream import ByteStream

__all__ = ["AbstractSource", "Format", "format_of", "open_source"]

Format = Literal["csv", "jsonl", "parquet", "tsv", "txt"]

_SUFFIXES: dict[str, Format] = {
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".tsv": "tsv",
    ".txt": "txt",
}


class AbstractSource(ABC):
    """Record batches of a file, once, in order, with the names of their text columns.

    Attributes
    ----------
    path : str
        The path as given, ``-`` for standard input.
    name : str
        What error messages call it.
    format : {"csv", "jsonl", "parquet", "tsv", "txt"}
        Its format, which is also that of the sink.
    text_columns : tuple of str
        Columns of a batch that hold text to privatize, of type ``string`` or
        ``list<string>``. Every other column passes through.
    id_column : str or None
        Column of a batch with record ids, of type ``string``, never null.
    rows_read : int
        Rows of all batches yielded so far. While a batch is in hand, its first row
        is number ``rows_read - batch.num_rows + 1``, counted from 1, header excluded.
    total : int or None
        How much there is, in ``unit``; None for a pipe.
    unit : {"bytes", "rows"}
        Unit of ``total`` and ``position``.
    earlier : bytes or None
        What the file says of earlier passes of ours over it
        (:func:`mondegreen.passes.from_json`); only Parquet has a place for it.
    """

    path: str
    name: str
    format: Format
    text_columns: tuple[str, ...]
    id_column: str | None = None
    rows_read: int = 0
    total: int | None = None
    unit: Literal["bytes", "rows"] = "bytes"
    earlier: bytes | None = None

    @property
    @abstractmethod
    def position(self) -> int:
        """How much of ``total`` has been read."""

    @abstractmethod
    def read(self) -> Iterator[pa.RecordBatch]:
        """Yield the batches; the part a format defines."""

    @abstractmethod
    def close(self) -> None:
        """Release the file."""

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the batches once, counting their rows, and close the file."""
        try:
            for batch in self.read():
                self.rows_read += batch.num_rows
                yield batch
        finally:
            self.close()

    def __enter__(self) -> AbstractSource:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AbstractByteSource(AbstractSource):
    """A source of bytes, whose batches can be turned back into bytes.

    Attributes
    ----------
    epilogue : bytes
        What follows the last record; known when the batches are exhausted.
    """

    epilogue: bytes = b""

    def __init__(
        self, stream: ByteStream, path: str, name: Format, text: tuple[str, ...]
    ) -> None:
        self.stream = stream
        self.path, self.name, self.format = path, stream.name, name
        self.text_columns = text
        self.total = stream.total

    @property
    def position(self) -> int:
        """Bytes read so far."""
        return self.stream.position

    def close(self) -> None:
        """Close the file; standard input stays open."""
        self.stream.close()

    @property
    @abstractmethod
    def prologue(self) -> bytes:
        """What precedes the first record; known once the first batch is read."""

    @abstractmethod
    def encode(self, batch: pa.RecordBatch) -> bytes | memoryview:
        """Return the bytes of a batch of this source, privatized or not."""


def format_of(path: str) -> Format | None:
    """Return the format that the name of a file tells, ``.gz`` taken off.

    Examples
    --------
    >>> format_of("notes.CSV"), format_of("log.jsonl.gz"), format_of("notes.doc")
    ('csv', 'jsonl', None)
    """
    name = Path(path).name.lower()
    packed = name.endswith(".gz")
    found = _SUFFIXES.get(Path(name.removesuffix(".gz")).suffix)
    return None if packed and found == "parquet" else found


def missing_column(
    name: str, column: str, available: Sequence[str], *, is_schema: bool = True
) -> Exception:
    """Return the error for an absent column.

    Names of a schema are shown. The first line of a CSV is one only by convention, and
    the keys of a JSON object may be data: there only a name much like the one asked
    for is shown, which tells nothing that was not typed.
    """
    if is_schema:
        return MissingColumnError(name, column, available)
    near = difflib.get_close_matches(column, available, n=1, cutoff=0.75)
    hint = f"did you mean {near[0]!r}?" if near else "see its first line"
    return MissingColumnError(name, column, [], count=len(available), hint=hint)


def open_source(
    path: str | Path,
    *,
    format: Format | None = None,
    columns: Sequence[str] = ("text",),
    id_column: str | None = None,
) -> AbstractSource:
    """Open a file, or standard input, as a stream of record batches.

    Parameters
    ----------
    path : str or Path
        A file, or ``-`` for standard input.
    format : {"csv", "jsonl", "parquet", "tsv", "txt"}, optional
        By default what the name of the file tells; ``txt`` for standard input.
    columns : sequence of str
        Columns with text. In JSON Lines and Parquet a dotted path (``msg.body``),
        which goes through lists.
    id_column : str, optional
        Column, or dotted path, that names each record.

    Raises
    ------
    InvalidParameterError
        If the format is unknown, or does not allow what is asked.
    SourceError, MissingColumnError
        If the file cannot be opened, or lacks a column; for JSON Lines an absent
        path is known, and raised, when the batches are exhausted.
    """
    path = str(path)
    chosen = format or ("txt" if path == "-" else format_of(path))
    if chosen is None or chosen not in get_args(Format):
        raise InvalidParameterError(
            "format",
            chosen,
            f"one of {', '.join(get_args(Format))}"
            + ("" if format else f" (the name {Path(path).name!r} does not tell it)"),
        )
    columns = tuple(dict.fromkeys(columns))
    if not columns:
        raise InvalidParameterError("columns", [], "at least one name")
    if id_column in columns:
        raise InvalidParameterError("id_column", id_column, "no column of text")
    if chosen == "parquet":
        from mondegreen.io.tables import ParquetSource

        return ParquetSource(path, columns, id_column)
    return _open_bytes(path, chosen, columns, id_column)


def _open_bytes(
    path: str, chosen: Format, columns: tuple[str, ...], id_column: str | None
) -> AbstractSource:
    """Open a format that is lines of text; each lives in its own module."""
    from mondegreen.io.delimited import DelimitedSource
    from mondegreen.io.jsonl import JsonLinesSource
    from mondegreen.io.text import TextSource

    stream = ByteStream(path)
    try:
        if chosen == "txt":
            return TextSource(stream, path, columns, id_column)
        if chosen == "jsonl":
            return JsonLinesSource(stream, path, columns, id_column)
        return DelimitedSource(stream, path, chosen, columns, id_column)
    except BaseException:
        stream.close()
        raise
