"""The two ends of a stream of batches: readers of files, and writers of releases."""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, final

import pyarrow as pa

from mondegreen.errors import DataError, InvalidParameterError, MissingColumnError
from mondegreen.io.guess import Format
from mondegreen.io.stream import ByteStream
from mondegreen.io.target import Target

Missing = Literal["stop", "pass"]
"""What a record of JSON Lines that lacks a column does: stop the work, or pass as it
is and be counted."""

Metadata = Literal["drop", "keep"]
"""What becomes of the metadata of a Parquet file and its fields."""


class AbstractSource(ABC):
    """Record batches of a file, once and in order, and which columns hold text."""

    path: str  # as given; "-" is standard input
    name: str  # what error messages call it
    format: Format  # also that of the sink
    # Columns of a batch that hold text to privatize, of type string or list<string>.
    # Every other column passes through.
    text_columns: tuple[str, ...]
    id_column: str | None = None  # a column of strings, never null
    # While a batch is in hand, its first row has the number
    # rows_read - batch.num_rows + 1, counted from 1, header excluded.
    rows_read: int = 0
    missing_rows: int = 0  # records that lack a column, where they may
    total: int | None = None  # how much there is, in `unit`; None for a pipe
    unit: Literal["bytes", "rows"] = "bytes"
    # What the file says of our earlier passes over it; only Parquet has a place for it.
    earlier: bytes | None = None
    notes: Sequence[str] = ()  # what was taken for granted on opening

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
    """A source of bytes, whose batches can be turned back into bytes."""

    epilogue: bytes = b""  # what follows the last record; known at the end

    def __init__(
        self, stream: ByteStream, path: str, form: Format, columns: tuple[str, ...]
    ) -> None:
        self.stream = stream
        self.path, self.name, self.format = path, stream.name, form
        self.text_columns = columns
        self.total = stream.total
        self.notes = stream.notes

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
        """Turn a batch of this source, privatized or not, into bytes."""


class AbstractSink(ABC):
    """Takes the batches of a source, privatized; a context manager.

    Leaving the ``with`` block without ``commit``, by whatever exception, removes what
    was written and leaves an old file untouched.
    """

    def __init__(self, target: Target, source: AbstractSource) -> None:
        self.target, self.source = target, source
        self.rows_written = 0

    @abstractmethod
    def put(self, batch: pa.RecordBatch) -> None:
        """Write one batch; the part a format defines."""

    @abstractmethod
    def finish(self, metadata: Mapping[str, str]) -> None:
        """Write what follows the last batch."""

    @abstractmethod
    def abandon(self) -> None:
        """Let go of a file that will not be committed; raises nothing."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Write a batch of the source whose text columns have been replaced."""
        self.put(batch)
        self.rows_written += batch.num_rows

    def commit(self, metadata: Mapping[str, str] | None = None) -> None:
        """Finish the file and give it its name; only Parquet has room for metadata."""
        if self.rows_written != self.source.rows_read:
            raise DataError(
                f"{self.target.name}: {self.rows_written} rows were released of "
                f"{self.source.rows_read} read; nothing is kept"
            )
        self.finish(metadata or {})
        self.target.commit()

    def __enter__(self) -> AbstractSink:
        try:
            self.target.open()
        except BaseException:
            self.target.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.abandon()
        finally:
            self.target.close()


@final
class ByteSink(AbstractSink):
    """Writes the bytes that the source makes of batches."""

    def __init__(self, target: Target, source: AbstractByteSource) -> None:
        super().__init__(target, source)
        self._encoder = source
        self._has_begun = False

    def _begin(self) -> None:
        # Not on entering: what precedes the first record is not read yet.
        if not self._has_begun:
            self._has_begun = True
            if prologue := self._encoder.prologue:
                self.target.write(prologue)

    def put(self, batch: pa.RecordBatch) -> None:
        self._begin()
        self.target.write(self._encoder.encode(batch))

    def finish(self, metadata: Mapping[str, str]) -> None:
        self._begin()
        if epilogue := self._encoder.epilogue:
            self.target.write(epilogue)

    def abandon(self) -> None:
        """Do nothing: bytes are held by the target only."""


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
    hint = f"did you mean {near[0]!r}?" if near else advice or "see its first line"
    if near and advice:
        hint += f" {advice}"
    return MissingColumnError(
        name, column, [], count=len(available), row=row, hint=hint
    )


def id_in_text(id_column: str | None, column: str) -> InvalidParameterError:
    """Make the error for an id that would be privatized, or that holds text."""
    allowed = f"no column of text, nor in one, nor around one, as {column!r} is one"
    return InvalidParameterError("id_column", id_column, allowed)
