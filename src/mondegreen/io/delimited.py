"""Comma- and tab-separated values (RFC 4180), every value a string."""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Iterator, Sequence
from typing import final

import pyarrow as pa
import pyarrow.compute as pc

from mondegreen.errors import DecodeError, SourceError
from mondegreen.io.source import AbstractByteSource, Format, missing_column
from mondegreen.io.stream import (
    BATCH_ROWS,
    MAX_RECORD_BYTES,
    ByteStream,
    LineBlocks,
    decode_prefix,
)
from mondegreen.io.text import string_bytes

# The csv module has one limit for the whole process, of 131,072 characters, which a
# long text passes. It is raised here once, on import, and never lowered. A limit is
# kept, since a quote that is never closed would else read the rest into memory.
csv.field_size_limit(max(csv.field_size_limit(), MAX_RECORD_BYTES))

_PROBLEMS = {
    "unexpected end of data": "a quote is opened and never closed",
    "field larger than field limit": "a value is too long; is a quote never closed?",
    "new-line character seen": "a lone carriage return outside quotes",
    "expected after": "text follows a closing quote",
}


@final
class DelimitedSource(AbstractByteSource):
    """Rows of a CSV or TSV file with a header; all columns are strings.

    The header comes back byte for byte, and so do the values; quotes are written
    where they are needed. Blank lines are allowed at the end of the file only.
    """

    def __init__(
        self,
        stream: ByteStream,
        path: str,
        format: Format,
        columns: tuple[str, ...],
        id_column: str | None,
        delimiter: str | None = None,
    ) -> None:
        super().__init__(stream, path, format, columns)
        self.id_column = id_column
        wanted = (*columns, *([] if id_column is None else [id_column]))
        self._delimiter = delimiter or ("\t" if format == "tsv" else ",")
        self._lines = _Lines(stream)
        self._iterator = iter(self._lines)
        self._rows = 0
        is_open = format == "csv" and delimiter is None
        raw, self._header = self._read_header(wanted if is_open else ())
        self._raw_header = "".join(raw).encode()
        self._terminator = "\r\n" if raw[-1].endswith("\r\n") else "\n"
        for column in wanted:
            self._check_column(column)

    @property
    def prologue(self) -> bytes:
        """The header as it was, byte order mark and line end included."""
        return self._lines.bom + self._raw_header

    def _reader(self, lines: Iterator[str]) -> Iterator[list[str]]:
        return csv.reader(
            lines, delimiter=self._delimiter, doublequote=True, strict=True
        )

    def _read_header(self, wanted: Sequence[str]) -> tuple[list[str], list[str]]:
        """Return the raw lines of the header and the names in it.

        Where there are columns ``wanted``, and it has none of them, another delimiter
        is looked for.
        """
        raw: list[str] = []

        def taken() -> Iterator[str]:
            for line in self._iterator:
                raw.append(line)
                yield line

        problem = ""
        try:
            header = next(self._reader(taken()), None)
        except csv.Error as error:
            problem, header = f"in the header, {_problem(error)}", None
        if len(raw) == 1 and not set(wanted) & set(header or ()):
            header = self._guessed(raw[0], wanted) or header
        if header is None:
            raise SourceError(
                self.name, problem or "empty; a header with column names is needed"
            )
        if not header:
            raise SourceError(self.name, "the first line is blank; a header is needed")
        return raw, header

    def _guessed(self, line: str, wanted: Sequence[str]) -> list[str] | None:
        """Return the header by the one other delimiter that finds a wanted column."""
        found: dict[str, list[str]] = {}
        for delimiter in ";\t":
            with contextlib.suppress(csv.Error):
                header = next(csv.reader([line], delimiter=delimiter, strict=True))
                if set(wanted) & set(header):
                    found[delimiter] = header
        if len(found) != 1:
            return None
        ((self._delimiter, header),) = found.items()
        shown = "a tab" if self._delimiter == "\t" else repr(self._delimiter)
        self.notes.append(
            f"{self.name}: the delimiter is taken to be {shown}, by the header; "
            "--delimiter says it."
        )
        return header

    def _check_column(self, column: str) -> None:
        count = self._header.count(column)
        if count == 0:
            raise missing_column(self.name, column, self._header, is_schema=False)
        if count > 1:
            raise SourceError(self.name, f"there are {count} columns named {column!r}")

    def read(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows that one read brought, so a pipe is followed row by row."""
        lines, width = self._lines, len(self._header)
        rows: list[list[str]] = []
        block = lines.blocks
        blank = 0
        for row in self._records():
            self._rows += 1
            if len(row) != width or blank:
                blank += self._check_blank(row, width, blank)
                continue
            if not rows:
                block = lines.blocks
            rows.append(row)
            # `pending` is empty when the last block is used up. A row that began in
            # one block and ended in the next does not leave it empty.
            if not lines.pending or lines.blocks != block or len(rows) == BATCH_ROWS:
                yield self._batch(rows)
                rows = []
        if rows:
            yield self._batch(rows)
        self.epilogue = self._terminator.encode() * blank

    def _records(self) -> Iterator[list[str]]:
        """Yield rows; errors of parser and decoder get the number of the row."""
        offset: int | None = None
        problem = ""
        try:
            yield from self._reader(self._iterator)
        except csv.Error as error:
            problem = _problem(error)
        except DecodeError as error:
            offset = error.offset
        if problem:
            raise SourceError(self.name, problem, row=self._rows + 1)
        if offset is not None:
            raise DecodeError(self.name, row=self._rows + 1, offset=offset)

    def _check_blank(self, row: list[str], width: int, blank: int) -> int:
        """Let blank lines pass until something follows them."""
        if not row:
            return 1
        if blank:
            raise SourceError(
                self.name,
                "a blank line between rows",
                row=self._rows - blank,
                hint='remove it, or write "" for an empty value',
            )
        raise SourceError(
            self.name,
            f"{len(row)} values where the header has {width}",
            row=self._rows,
        )

    def _batch(self, rows: list[list[str]]) -> pa.RecordBatch:
        arrays = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
        if self.id_column is not None:
            ids = arrays[self._header.index(self.id_column)]
            empty = pc.index(ids, "").as_py()
            if empty >= 0:
                first = self._rows - len(rows) + 1
                raise SourceError(
                    self.name,
                    f"no value in the id column {self.id_column!r}",
                    row=first + empty,
                )
        return pa.RecordBatch.from_arrays(arrays, names=self._header)

    def encode(self, batch: pa.RecordBatch) -> memoryview:
        """Return the rows, quoted where a value would be misread; null is empty."""
        alone = batch.num_columns == 1
        columns = [self._quoted(column, alone) for column in batch.columns]
        rows = pc.binary_join_element_wise(*columns, self._delimiter)
        return string_bytes(pc.binary_join_element_wise(rows, self._terminator, ""))

    def _quoted(self, column: pa.StringArray, alone: bool) -> pa.StringArray:
        column = column.fill_null("")
        mark = f"\\x{{{ord(self._delimiter):x}}}"
        special = pc.match_substring_regex(column, f'["\r\n{mark}]')
        if alone:  # the only value of a row, if empty, would make a blank line
            special = pc.or_(special, pc.equal(column, ""))
        if special.true_count == 0:
            return column
        doubled = pc.replace_substring(column, '"', '""')
        return pc.if_else(
            special, pc.binary_join_element_wise('"', doubled, '"', ""), column
        )


def _problem(error: csv.Error) -> str:
    """Say what the parser met; its own messages hold no text, but are terse."""
    message = str(error)
    for part, problem in _PROBLEMS.items():
        if part in message:
            return problem
    return "cannot be parsed"


class _Lines:
    """Lines of the file one by one, as the csv module takes them.

    Attributes
    ----------
    pending : list of str
        Lines of the current block that are still to come, last first.
    blocks : int
        How many blocks have been read.
    """

    def __init__(self, stream: ByteStream) -> None:
        self._blocks = LineBlocks(stream)
        self._name = stream.name
        self.pending: list[str] = []
        self.blocks = 0

    @property
    def bom(self) -> bytes:
        """The byte order mark, where there is one."""
        return self._blocks.bom

    def __iter__(self) -> Iterator[str]:
        for block in self._blocks:
            self.blocks += 1
            text, good = decode_prefix(block)
            broken = good < len(block)
            if broken:  # whole lines before the break still count as rows
                text = text[: text.rfind("\n") + 1]
            # newline="\n" splits there only; str.splitlines would split on U+2028 too
            pending = self.pending = list(io.StringIO(text, newline="\n"))
            pending.reverse()
            while pending:
                yield pending.pop()
            if broken:
                raise DecodeError(self._name, offset=self._blocks.start + good)
