"""Where records come from: files of five formats, or standard input."""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, get_args

import pyarrow as pa

from mondegreen.errors import InvalidParameterError, MissingColumnError, SourceError
from mondegreen.io.guess import advice_on_name
from mondegreen.io.stream import ByteStream

Format = Literal["csv", "jsonl", "parquet", "tsv", "txt"]

Missing = Literal["stop", "pass"]
Metadata = Literal["drop", "keep"]

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
    missing_rows : int
        Records read so far that lack one of the columns, where that is allowed.
    notes : list of str
        What was taken for granted on opening, to be said to whoever asked.
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
    missing_rows: int = 0
    rows_read: int = 0
    total: int | None = None
    unit: Literal["bytes", "rows"] = "bytes"
    earlier: bytes | None = None
    notes: list[str]

    @property
    def disclosed(self) -> tuple[str, ...]:
        """What passes in clear because of how the file is read, as far as is known."""
        return ()

    @property
    def conditions(self) -> tuple[str, ...]:
        """What two words must have in common, because of how the file is read."""
        return ()

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
        self.notes = list(stream.notes)

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
    name: str,
    column: str,
    available: Sequence[str],
    *,
    is_schema: bool = True,
    row: int | None = None,
    advice: str = "",
) -> Exception:
    """Return the error for an absent column.

    Names of a schema are shown. The first line of a CSV is one only by convention, and
    the keys of a JSON object may be data: there only a name much like the one asked
    for is shown, which tells nothing that was not typed.
    """
    if is_schema:
        return MissingColumnError(name, column, available)
    near = difflib.get_close_matches(column, available, n=1, cutoff=0.75)
    hint = f"did you mean {near[0]!r}?" if near else advice or "see its first line"
    if near and advice:
        hint += f" {advice}"
    return MissingColumnError(
        name, column, [], count=len(available), row=row, hint=hint
    )


def open_source(
    path: str | Path,
    *,
    format: Format | None = None,
    columns: Sequence[str] = ("text",),
    id_column: str | None = None,
    missing: Missing = "stop",
    metadata: Metadata = "drop",
    delimiter: str | None = None,
    encoding: str | None = None,
) -> AbstractSource:
    """Open a file, or standard input, as a stream of record batches.

    Parameters
    ----------
    path : str or Path
        A file, or ``-`` for standard input.
    format : {"csv", "jsonl", "parquet", "tsv", "txt"}, optional
        By default what the name of the file tells; ``txt`` for standard input, unless
        it is plainly something else.
    columns : sequence of str
        Columns with text. In JSON Lines and Parquet a dotted path (``msg.body``),
        which goes through lists.
    id_column : str, optional
        Column, or dotted path, that names each record.
    missing : {"stop", "pass"}
        What becomes of a record of JSON Lines that lacks a column: it stops the work,
        or passes as it is and is counted in ``missing_rows``.
    metadata : {"drop", "keep"}
        What becomes of the metadata of a Parquet file and its fields.
    delimiter : str, optional
        One character between the values of CSV. By default a comma; or a semicolon or
        a tab, where the header has a column only then.
    encoding : str, optional
        Of text formats; UTF-8 by default. A release is UTF-8 always: to fail on a
        drawn word that does not fit would be to choose among draws.

    Raises
    ------
    InvalidParameterError
        If the format is unknown, or does not allow what is asked.
    SourceError, MissingColumnError
        If the file cannot be opened, or lacks a column; for JSON Lines an absent
        path is known, and raised, when the batches are read.
    """
    path = str(path)
    chosen = format or ("txt" if path == "-" else format_of(path))
    if path != "-" and Path(path).is_dir():
        raise SourceError(
            path, "is a folder", hint="name its files one by one, in a loop"
        )
    if chosen is None or chosen not in get_args(Format):
        raise _unknown_format(path, format)
    columns = tuple(dict.fromkeys(columns))
    if not columns:
        raise InvalidParameterError("columns", [], "at least one name")
    _check_options(chosen, columns, id_column, delimiter, encoding)
    if chosen == "parquet":
        from mondegreen.io.tables import ParquetSource

        return ParquetSource(path, columns, id_column, metadata)
    from mondegreen.io.delimited import DelimitedSource
    from mondegreen.io.jsonl import JsonLinesSource
    from mondegreen.io.text import TextSource

    stream = ByteStream(path, encoding)
    try:
        if chosen == "txt":
            return TextSource(stream, path, columns, id_column, is_guess=format is None)
        if chosen == "jsonl":
            return JsonLinesSource(stream, path, columns, id_column, missing)
        return DelimitedSource(stream, path, chosen, columns, id_column, delimiter)
    except BaseException:
        stream.close()
        raise


def _unknown_format(path: str, format: str | None) -> Exception:
    """Return the error for a format that is unknown, or told by nothing."""
    if format is None and not Path(path).exists():
        return SourceError(path, "cannot be opened: No such file or directory")
    allowed = f"one of {', '.join(get_args(Format))}"
    if format is None:
        advice = advice_on_name(path)
        told = f" (the name {Path(path).name!r} does not tell it"
        allowed += f"{told}: {advice})" if advice else f"{told})"
    return InvalidParameterError("format", format, allowed)


def _check_options(
    chosen: Format,
    columns: tuple[str, ...],
    id_column: str | None,
    delimiter: str | None,
    encoding: str | None,
) -> None:
    """Refuse what this format does not allow."""
    for column in columns if id_column is not None else ():
        if column == id_column or (chosen == "jsonl" and _meet(column, id_column)):
            raise id_in_text(id_column, column)
    if delimiter is not None and chosen not in ("csv", "tsv"):
        raise InvalidParameterError("delimiter", delimiter, f"absent for {chosen}")
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n\0'):
        raise InvalidParameterError("delimiter", delimiter, "one character, or \\t")
    if encoding is not None and chosen == "parquet":
        raise InvalidParameterError("encoding", encoding, "absent for parquet")


def _meet(one: str, other: str | None) -> bool:
    """Whether one dotted path leads through the other."""
    return f"{other}.".startswith(f"{one}.") or f"{one}.".startswith(f"{other}.")


def id_in_text(id_column: str | None, column: str) -> InvalidParameterError:
    """Return the error for an id that would be privatized, or that holds text."""
    allowed = f"no column of text, nor in one, nor around one, as {column!r} is one"
    return InvalidParameterError("id_column", id_column, allowed)
