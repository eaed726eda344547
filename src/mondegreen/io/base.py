"""The two ends of a stream of batches: readers of files, and writers of releases."""

from __future__ import annotations

import difflib
import itertools
import shlex
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, final

import pyarrow as pa

from mondegreen.errors import DataError, InvalidParameterError, MissingColumnError
from mondegreen.io.guess import Format
from mondegreen.io.stream import ByteStream
from mondegreen.io.target import Target
from mondegreen.text.columns import is_list

Missing = Literal["stop", "pass"]
"""What a record of JSON Lines that lacks a column does: stop the work, or pass as it
is and be counted."""

Metadata = Literal["drop", "keep"]
"""What happens to the metadata of a Parquet file and its fields."""


@final
@dataclass(frozen=True, slots=True)
class Request:
    """What is to be read of a file, whatever its format."""

    path: str  # as given; "-" is standard input
    format: Format
    columns: tuple[str, ...]
    id_column: str | None
    raw_field: str | None = None  # of JSON: a column of what is written there
    drop: tuple[str, ...] = ()  # columns that the release lacks


class AbstractSource(ABC):
    """Record batches of a file, once and in order, and which columns hold text."""

    # While a batch is in hand, its first row has the number
    # rows_read - batch.num_rows + 1, counted from 1, header excluded.
    rows_read: int = 0
    may_lack: bool = False  # whether a record may lack a column
    missing_rows: int = 0  # records that do
    total: int | None = None  # bytes of the file; None for a pipe
    # What the file says of our earlier passes over it; only Parquet has a place for it.
    earlier: str | bytes | None = None
    raw_field: str | None = None
    notes: Sequence[str] = ()  # what was taken for granted on opening
    # What two words must have in common, because of how the file is read.
    conditions: tuple[str, ...] = ()

    def __init__(self, request: Request, name: str, file: Any) -> None:
        self.path = request.path
        self.format = request.format  # also that of the sink
        # Columns of a batch that hold text to privatize, of type string or
        # list<string>. Every other column passes through.
        self.text_columns = request.columns
        self.id_name = request.id_column  # what the file calls the column of ids
        # What a batch calls it: there it is a column of strings, never null.
        self.id_column = request.id_column
        # Columns that no sink writes. A batch may still have them, such as the id.
        self.drop = request.drop
        # Columns whose formulas are left out of the release, and so empty there.
        self.emptied: dict[str, None] = {}
        self.raw_field = request.raw_field  # of --spans: written anew, not passed
        self.name = name  # what error messages call it
        self.file = file

    @property
    def disclosed(self) -> tuple[str, ...]:
        """What passes unchanged because of how the file is read, as far as is known."""
        return ()

    @property
    @abstractmethod
    def position(self) -> int:
        """How many bytes of ``total`` have been read."""

    @abstractmethod
    def read(self) -> Iterator[pa.RecordBatch]:
        """Yield the batches; the part a format defines."""

    @abstractmethod
    def sink(self, target: Target) -> AbstractSink:
        """Make the sink for the batches of this source."""

    def close(self) -> None:
        """Close the file; standard input stays open."""
        self.file.close()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the batches once, counting their rows, and close the file."""
        try:
            for batch in self.read():
                self.rows_read += batch.num_rows
                yield batch
        finally:
            self.close()

    def texts(self, batch: pa.RecordBatch) -> list[str]:
        """List the texts of a batch: of all text columns, and of lists each item."""
        found: list[str] = []
        for column in self.text_columns:
            cells = batch.column(column).to_pylist()
            lists = (cell if isinstance(cell, list) else [cell] for cell in cells)
            found += [text for some in lists for text in some if isinstance(text, str)]
        return found

    def others(self, batch: pa.RecordBatch, most: int) -> dict[str, list[Any]]:
        """The first ``most`` values of each column that passes unchanged.

        A struct that holds a text is such a column too: its other fields pass. Columns
        of one name are one, with lists of values.
        """
        chosen = {*self.text_columns, self.id_name, self.id_column, *self.drop}
        found: dict[str, list[list[Any]]] = {}
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            if name not in chosen:
                found.setdefault(name, []).append(column.slice(0, most).to_pylist())
        return {
            name: cells if not more else [*map(list, zip(cells, *more, strict=True))]
            for name, (cells, *more) in found.items()
        }

    def iterate_other_values(
        self, batch: pa.RecordBatch, most: int
    ) -> Iterator[tuple[str, Any]]:
        """Yield the values that pass in the first ``most`` rows, by dotted paths.

        Fields within fields are found at any depth. The id and text columns are left
        out.
        """
        chosen = {*self.text_columns, self.id_name, self.id_column, *self.drop}
        for name, values in self.others(batch, most).items():
            for path, value in itertools.chain.from_iterable(
                _find_values(each, name) for each in values
            ):
                if path not in chosen:
                    yield path, value

    def list_unchanged(self, batch: pa.RecordBatch) -> list[str]:
        """List the columns that pass unchanged, by dotted paths; of JSON, of a batch.

        The column of the id is one of them, unless the release lacks it.
        """
        chosen = {*self.text_columns, *self.drop}
        if self.id_column is not None and self.id_column != self.id_name:
            chosen.add(self.id_column)  # the file has no such column
        fields = (field for field in batch.schema if field.name not in chosen)
        paths = (_list_paths(field.type, field.name) for field in fields)
        every = dict.fromkeys(itertools.chain.from_iterable(paths))
        return [path for path in every if path not in chosen]

    def iterate_other_texts(self, batch: pa.RecordBatch) -> Iterator[dict[str, str]]:
        """Yield, for each row, every text outside of the text columns, by its path."""
        yield from map(self.join_texts, self.iterate_other_records(batch))

    def iterate_other_records(self, batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
        """Yield, for each row, what is outside of the text columns, by its name."""
        others = self.others(batch, batch.num_rows)
        for row in range(batch.num_rows):
            yield {name: cells[row] for name, cells in others.items()}

    def join_texts(self, record: Mapping[str, Any]) -> dict[str, str]:
        """Join the texts at each path of a record, but for those of text columns."""
        found: dict[str, list[str]] = {}
        for path, value in _find_values(record, None):
            text = _decode(value) if isinstance(value, bytes) else value
            if isinstance(text, str) and path not in self.text_columns:
                found.setdefault(path, []).append(text)
        return {path: " ".join(texts) for path, texts in found.items()}

    def list_values(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """List what is no text in a record, such as numbers, where a path has one."""
        return {
            path: values[0]
            for path, values in self.group_values(record).items()
            if len(values) == 1 and not isinstance(values[0], str | bytes | bool | None)
        }

    def group_values(self, record: Mapping[str, Any]) -> dict[str, list[Any]]:
        """List all values at each path of a record, but for those of text columns."""
        found: dict[str, list[Any]] = {}
        for path, value in _find_values(record, None):
            if path not in self.text_columns:
                found.setdefault(path, []).append(value)
        return found

    def __enter__(self) -> AbstractSource:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AbstractByteSource(AbstractSource):
    """A source of bytes, whose batches can be turned back into bytes."""

    header: bytes = b""  # what precedes the first record, but for a byte order mark
    epilogue: bytes = b""  # what follows the last record; known at the end

    def __init__(self, request: Request, stream: ByteStream) -> None:
        super().__init__(request, stream.name, stream)
        self.stream = stream
        self.total, self.notes = stream.total, stream.notes

    @property
    def position(self) -> int:
        return self.stream.position

    @property
    def prologue(self) -> bytes:
        """What precedes the first record; known once the first batch is read."""
        return self.stream.bom + self.header

    @abstractmethod
    def encode(self, batch: pa.RecordBatch) -> bytes | memoryview:
        """Turn a batch of this source, privatized or not, into bytes."""

    def sink(self, target: Target) -> AbstractSink:
        return ByteSink(target, self)


class AbstractSink(ABC):
    """Takes the batches of a source, privatized; a context manager.

    Leaving the ``with`` block without ``commit``, by whatever exception, removes what
    was written and leaves an old file untouched.
    """

    rows_written = 0
    _is_ended = False

    def __init__(self, target: Target, source: AbstractSource) -> None:
        self.target, self.source = target, source

    @abstractmethod
    def put(self, batch: pa.RecordBatch) -> None:
        """Write one batch; the part a format defines."""

    @abstractmethod
    def finish(self, metadata: Mapping[str, str]) -> None:
        """Write what follows the last batch."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Write a batch of the source whose text columns have been replaced."""
        self.put(batch)
        self.rows_written += batch.num_rows

    def commit(self, metadata: Mapping[str, str] | None = None) -> None:
        """Finish the file and give it its name; only Parquet has room for metadata."""
        if not self._is_ended:
            self.end(metadata)
        self.target.commit()

    def end(self, metadata: Mapping[str, str] | None = None) -> str:
        """Finish the file without its name; return its SHA-256 if it is hashed."""
        if self.rows_written != self.source.rows_read:
            raise DataError(
                f"{self.target.name}: {self.rows_written} rows were released of "
                f"{self.source.rows_read} read; nothing is kept"
            )
        self.finish(metadata or {})
        self._is_ended = True
        return self.target.end()

    def __enter__(self) -> AbstractSink:
        try:
            self.target.open()
        except BaseException:
            self.target.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.target.close()


@final
class ByteSink(AbstractSink):
    """Writes the bytes that the source makes of batches."""

    source: AbstractByteSource
    _has_begun = False

    def _begin(self) -> None:
        # Not on entering: what precedes the first record is not read yet.
        if not self._has_begun:
            self._has_begun = True
            if prologue := self.source.prologue:
                self.target.write(prologue)

    def put(self, batch: pa.RecordBatch) -> None:
        self._begin()
        self.target.write(self.source.encode(batch))

    def finish(self, metadata: Mapping[str, str]) -> None:
        self._begin()
        if epilogue := self.source.epilogue:
            self.target.write(epilogue)


def _find_values(value: Any, path: str | None) -> Iterator[tuple[str, Any]]:
    """Find what is no list or object in a value of JSON or Arrow, with dotted paths.

    The path of a record is None. A key of JSON may be empty, and so may a path.
    """
    if isinstance(value, Mapping):
        for key, each in value.items():
            at = str(key) if path is None else f"{path}.{key}"
            yield from _find_values(each, at)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _find_values(each, path)
    else:
        yield path or "", value


def _decode(value: bytes) -> str:
    """Read bytes as text; what is none is replaced."""
    return value.decode(errors="replace")


def find_keys(value: Any) -> Iterator[str]:
    """Find the names of all fields, at any depth of a value of JSON or Arrow."""
    if isinstance(value, Mapping):
        yield from map(str, value)
        value = list(value.values())
    if isinstance(value, list | tuple):
        for each in value:
            yield from find_keys(each)


def _list_paths(kind: pa.DataType, path: str) -> Iterator[str]:
    """List the dotted paths of a type of Arrow; a map has one, whatever its keys."""
    while is_list(kind):
        kind = kind.value_type
    if not pa.types.is_struct(kind):
        yield path
        return
    for place in range(kind.num_fields):
        field = kind.field(place)
        yield from _list_paths(field.type, f"{path}.{field.name}")


def _say_where(name: str) -> str:
    """Say where a file has the names of its columns, which are not shown here."""
    if Path(name).suffix in (".csv", ".tsv", ".jsonl", ".ndjson"):
        return f"its first line names them: head -1 {shlex.quote(name)}"
    return "its first record names them"


def missing_column(
    name: str,
    column: str,
    available: Sequence[str],
    *,
    row: int | None = None,
    advice: str = "",
) -> Exception:
    """Make the error for a column that is absent where names may be data.

    The first line of a CSV is a header only by convention, and the keys of a JSON
    object may be private: only a name much like the one asked for is shown, which
    tells nothing that was not typed.
    """
    near = difflib.get_close_matches(column, available, n=1, cutoff=0.75)
    hint = f"did you mean {near[0]!r}?" if near else advice or _say_where(name)
    if near and advice:
        hint += f" {advice}"
    count = len(available)
    return MissingColumnError(name, column, [], count=count, row=row, hint=hint)


def id_in_text(id_column: str | None, column: str) -> InvalidParameterError:
    """Make the error for an id that would be privatized, or that holds text."""
    allowed = f"no column of text, nor in one, nor around one, as {column!r} is one"
    return InvalidParameterError("id_column", id_column, allowed)
