"""Comma- and tab-separated values (RFC 4180), every value a string."""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Iterator, Sequence
from typing import final

import pyarrow as pa
import pyarrow.compute as pc

from mondegreen.errors import DecodeError, SourceError
from mondegreen.io.base import AbstractByteSource, Request, missing_column
from mondegreen.io.stream import BATCH_ROWS, MAX_RECORD_BYTES, ByteStream
from mondegreen.io.text import string_bytes
from mondegreen.wording import amount

# The csv module has one limit for the whole process, of 131,072 characters, which a
# long text passes. It is raised here once, on import, and never lowered. A limit is
# kept, since a quote that is never closed would else read the rest into memory.
csv.field_size_limit(max(csv.field_size_limit(), MAX_RECORD_BYTES))

# The parser's own messages hold no text, but are terse.
_PROBLEMS = {
    "unexpected end of data": "a quote is opened and never closed",
    "field larger than field limit": "a value is too long; is a quote never closed?",
    "new-line character seen": "a lone carriage return outside quotes",
    "expected after": "text follows a closing quote",
}


@final
class CsvSource(AbstractByteSource):
    """Rows of a CSV or TSV file with a header; all columns are strings.

    The header comes back byte for byte, and so do the values; quotes are written
    where they are needed. Blank lines are allowed at the end of the file only.
    """

    def __init__(
        self, request: Request, stream: ByteStream, delimiter: str | None
    ) -> None:
        super().__init__(request, stream)
        ids = [] if request.id_column is None else [request.id_column]
        wanted = [*request.columns, *ids]
        is_tsv = request.format == "tsv"
        self._delimiter = delimiter or ("\t" if is_tsv else ",")
        # Lines of the block in hand that are still to come, last first; its number.
        self._pending: list[str] = []
        self._block = 0
        self._lines = self._split()
        self._rows = 0
        self._names: list[str] = []
        is_open = delimiter is None and not is_tsv
        raw, self._names = self._read_header(wanted if is_open else ())
        self.header = "".join(raw).encode()
        self._terminator = "\r\n" if raw[-1].endswith("\r\n") else "\n"
        for column in (*wanted, *request.drop):
            count = self._names.count(column)
            if count == 0:
                raise self._missing(column, raw[0], is_open=is_open)
            if count > 1:
                problem = f"there are {count} columns named {column!r}"
                raise SourceError(self.name, problem)
        # The header stays byte for byte as it was if nothing is dropped.
        names = enumerate(self._names)
        self._kept = [place for place, name in names if name not in request.drop]
        if request.drop:
            kept = [pa.array([self._names[place]]) for place in self._kept]
            self.header = bytes(self._join(kept))

    def _split(self) -> Iterator[str]:
        """Yield the lines of the file one by one, as the csv module takes them."""
        for lines, broken in self.stream.lines():
            self._block += 1
            lines.reverse()
            self._pending = lines
            while lines:
                yield lines.pop()
            if broken is not None:
                row = self._rows + 1 if self._names else None
                raise DecodeError(self.name, row=row, offset=broken)

    def _read_header(self, wanted: Sequence[str]) -> tuple[list[str], list[str]]:
        """Read the raw lines of the header and the names in it.

        Where there are columns ``wanted``, and it has none of them, another delimiter
        is looked for.
        """
        raw: list[str] = []

        def take() -> Iterator[str]:
            for line in self._lines:
                raw.append(line)
                yield line

        problem = ""
        try:
            rows = csv.reader(take(), delimiter=self._delimiter, strict=True)
            header = next(rows, None)
        except csv.Error as error:
            problem, header = f"in the header, {_problem(error)}", None
        if len(raw) == 1 and not set(wanted) & set(header or ()):
            header = self._guess(raw[0], wanted) or header
        if header is None:
            problem = problem or "empty; a header with column names is needed"
            raise SourceError(self.name, problem)
        if not header:
            raise SourceError(self.name, "the first line is blank; a header is needed")
        return raw, header

    def _missing(self, column: str, line: str, *, is_open: bool) -> Exception:
        """Make the error for an absent column, by the delimiter that the header has."""
        names, advice = self._names, ""
        if line.lower().startswith("sep="):
            advice = "the first line names a delimiter: remove it, and name --delimiter"
        elif is_open and len(names) == 1:
            names = max(names, *_split_otherwise(line).values(), key=len)
        return missing_column(self.name, column, names, advice=advice)

    def _guess(self, line: str, wanted: Sequence[str]) -> list[str] | None:
        """Read the header by the one other delimiter that finds a wanted column."""
        found = {
            delimiter: header
            for delimiter, header in _split_otherwise(line).items()
            if set(wanted) & set(header)
        }
        if len(found) != 1:
            return None
        ((self._delimiter, header),) = found.items()
        shown = "a tab" if self._delimiter == "\t" else repr(self._delimiter)
        taken = f"using the delimiter {shown}, as in the header"
        note = f"{self.name}: {taken}. Set another with --delimiter."
        self.notes = (*self.notes, note)
        return header

    def read(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows that one read brought, so a pipe is followed row by row."""
        width = len(self._names)
        rows: list[list[str]] = []
        first_block = blank = 0
        for row in self._records():
            self._rows += 1
            if len(row) != width or blank:
                blank += self._check_blank(row, blank)
                continue
            if not rows:
                first_block = self._block
            rows.append(row)
            # Nothing is pending when the last block is used up. A row that began in
            # one block and ended in the next does not leave it empty.
            is_used_up = not self._pending or self._block != first_block
            if is_used_up or len(rows) == BATCH_ROWS:
                yield self._batch(rows)
                rows = []
        if rows:
            yield self._batch(rows)
        self.epilogue = self._terminator.encode() * blank

    def _records(self) -> Iterator[list[str]]:
        """Yield rows; an error of the parser gets the number of the row."""
        try:
            yield from csv.reader(self._lines, delimiter=self._delimiter, strict=True)
            return
        except csv.Error as error:
            problem = _problem(error)
        # outside the handler: what the error holds is not passed on
        raise SourceError(self.name, problem, row=self._rows + 1)

    def _check_blank(self, row: list[str], blank: int) -> int:
        """Let blank lines pass until something follows them."""
        if not row:
            return 1
        if blank:
            problem = "a blank line between rows"
            hint = 'remove it, or write "" for an empty value'
            raise SourceError(self.name, problem, row=self._rows - blank, hint=hint)
        values = amount(len(row), "value")
        problem = f"{values} where the header has {len(self._names)}"
        raise SourceError(self.name, problem, row=self._rows)

    def _batch(self, rows: list[list[str]]) -> pa.RecordBatch:
        arrays = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
        if self.id_column is not None:
            ids = arrays[self._names.index(self.id_column)]
            empty = pc.index(ids, "").as_py()
            if empty >= 0:
                problem = f"no value in the id column {self.id_column!r}"
                row = self._rows - len(rows) + 1 + empty
                raise SourceError(self.name, problem, row=row)
        return pa.RecordBatch.from_arrays(arrays, names=self._names)

    def encode(self, batch: pa.RecordBatch) -> memoryview:
        """Write rows, quoted where a value would be misread; null is empty."""
        return self._join([batch.column(place) for place in self._kept])

    def _join(self, values: Sequence[pa.StringArray]) -> memoryview:
        alone = len(values) == 1
        columns = [self._quote(column, alone) for column in values]
        rows = pc.binary_join_element_wise(*columns, self._delimiter)
        return string_bytes(pc.binary_join_element_wise(rows, self._terminator, ""))

    def _quote(self, column: pa.StringArray, alone: bool) -> pa.StringArray:
        column = column.fill_null("")
        mark = f"\\x{{{ord(self._delimiter):x}}}"
        special = pc.match_substring_regex(column, f'["\r\n{mark}]')
        if alone:  # the only value of a row, if empty, would make a blank line
            special = pc.or_(special, pc.equal(column, ""))
        if special.true_count == 0:
            return column
        doubled = pc.replace_substring(column, '"', '""')
        quoted = pc.binary_join_element_wise('"', doubled, '"', "")
        return pc.if_else(special, quoted, column)


def _split_otherwise(line: str) -> dict[str, list[str]]:
    """Split a header at the delimiters that are tried beside the comma."""
    found: dict[str, list[str]] = {}
    for delimiter in ";\t":
        with contextlib.suppress(csv.Error):
            found[delimiter] = next(
                csv.reader([line], delimiter=delimiter, strict=True)
            )
    return found


def _problem(error: csv.Error) -> str:
    found = (problem for part, problem in _PROBLEMS.items() if part in str(error))
    return next(found, "cannot be parsed")
