"""JSON Lines: one object a line; all but the selected strings stays byte for byte."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from json.encoder import encode_basestring
from typing import final

import numpy as np
import pyarrow as pa

from mondegreen.errors import DataError, DecodeError, SourceError
from mondegreen.io.json_spans import Found, SpanScanner, UnfitValueError
from mondegreen.io.source import AbstractByteSource, missing_column
from mondegreen.io.stream import BATCH_ROWS, ByteStream, LineBlocks, decode_prefix

__all__ = ["JsonLinesSource"]


@final
class JsonLinesSource(AbstractByteSource):
    """Lines as the constant pieces of their text and the values between them.

    A batch has ``parts: list<string>``, n + 1 pieces a row, and ``values:
    list<string>``, the n selected values; with an ``id_column`` also ``id: string``.
    A line is written as ``parts[0] values[0] parts[1] ...``. A row without a
    selected key has no values. Blank lines are allowed at the end only.
    """

    def __init__(
        self,
        stream: ByteStream,
        path: str,
        columns: tuple[str, ...],
        id_column: str | None,
    ) -> None:
        super().__init__(stream, path, "jsonl", ("values",))
        self.id_column = None if id_column is None else "id"
        self._columns, self._id_path = columns, id_column
        self._scanner = SpanScanner(columns, id_column)
        self._blocks = LineBlocks(stream)
        self._first_keys: list[str] = []
        self._rows = 0

    @property
    def prologue(self) -> bytes:
        """The byte order mark, where there is one."""
        return self._blocks.bom

    def read(self) -> Iterator[pa.RecordBatch]:
        """Yield the lines of each block; at the end, check that each path was met."""
        for block in self._blocks:
            text, good = decode_prefix(block)
            if good < len(block):  # whole lines before the break still count as rows
                text = text[: text.rfind("\n") + 1]
            lines = list(io.StringIO(text, newline="\n"))
            for first in range(0, len(lines), BATCH_ROWS):
                batch = self._batch(lines[first : first + BATCH_ROWS])
                if batch.num_rows:
                    yield batch
            if good < len(block):
                raise DecodeError(
                    self.name, row=self._rows + 1, offset=self._blocks.start + good
                )
        for column in self._columns:
            if self._rows and column not in self._scanner.seen:
                raise missing_column(
                    self.name, column, self._first_keys, is_schema=False
                )

    def _batch(self, lines: list[str]) -> pa.RecordBatch:
        first = self._rows + 1
        parts: list[str] = []
        values: list[str | None] = []
        ids: list[str] = []
        counts: list[int] = []
        for line in lines:
            if line.isspace() or self.epilogue:
                self._check_blank(line)
                continue
            found = self._scan(line)
            self._rows += 1
            start = 0
            for begin, end, value in found.spans:
                parts.append(line[start:begin])
                values.append(value)
                start = end
            parts.append(line[start:])
            counts.append(len(found.spans))
            ids += found.ids
        ends = np.cumsum([0, *counts], dtype=np.int32)
        columns = {
            "parts": _lists(ends + np.arange(len(ends), dtype=np.int32), parts),
            "values": _lists(ends, self._strings(values, ends, first)),
        }
        if self.id_column is not None:
            rows = np.arange(len(ids) + 1, dtype=np.int32)
            columns["id"] = self._strings(ids, rows, first)
        return pa.RecordBatch.from_pydict(columns)

    def _check_blank(self, line: str) -> None:
        """Let blank lines pass until something follows them."""
        if not line.isspace():
            raise SourceError(
                self.name, "a blank line between records", row=self._rows + 1
            )
        self.epilogue += line.encode()

    def _scan(self, line: str) -> Found:
        """Find the values of a line; errors are raised anew, free of its text."""
        row = self._rows + 1
        try:
            found = self._scanner.scan(line)
        except UnfitValueError as error:
            problem = str(error)
        except (ValueError, StopIteration):
            problem = "not a valid JSON object"
        except RecursionError:
            problem = "nested too deeply"
        else:
            if row == 1:
                self._first_keys = list(json.loads(line, parse_int=str))
            if self._id_path is None or len(found.ids) == 1:
                return found
            problem = (
                f"{len(found.ids) or 'no'} values at {self._id_path!r}, "
                "where one is needed as the id of the record"
            )
        raise SourceError(self.name, problem, row=row)

    def _strings(
        self, strings: list[str] | list[str | None], ends: np.ndarray, first: int
    ) -> pa.StringArray:
        """Return strings as a column; half a surrogate pair does not fit in UTF-8."""
        try:
            return pa.array(strings, pa.string())
        except UnicodeEncodeError:
            pass  # the error holds the text, so that it must not be the context
        for index, string in enumerate(strings):
            if string is not None and any("\ud800" <= c <= "\udfff" for c in string):
                row = first + int(np.searchsorted(ends, index, side="right")) - 1
                raise SourceError(
                    self.name, "half of a surrogate pair in a selected value", row=row
                )
        raise SourceError(self.name, "a selected value does not fit in UTF-8")

    def encode(self, batch: pa.RecordBatch) -> bytes:
        """Return the lines with the values in their places."""
        parts, values = batch.column("parts"), batch.column("values")
        if values.null_count:
            raise DataError(f"{self.name}: a released row has lost its values")
        counts = np.asarray(values.value_lengths())
        if not np.array_equal(np.asarray(parts.value_lengths()), counts + 1):
            raise DataError(f"{self.name}: a released row has too many or few values")
        # Piece j of row r follows j - r values, so it is text number 2 j - r; value k
        # of row r follows piece k + r, so it is text number 2 k + r + 1.
        rows = np.arange(len(counts))
        part_rows, value_rows = np.repeat(rows, counts + 1), np.repeat(rows, counts)
        texts = np.empty(len(part_rows) + len(value_rows), dtype=object)
        texts[2 * np.arange(len(part_rows)) - part_rows] = parts.flatten().to_pylist()
        texts[2 * np.arange(len(value_rows)) + value_rows + 1] = [
            "null" if value is None else encode_basestring(value)
            for value in values.flatten().to_pylist()
        ]
        return "".join(texts.tolist()).encode()


def _lists(offsets: np.ndarray, strings: list[str] | pa.StringArray) -> pa.ListArray:
    """Return the column of lists that end at the offsets."""
    if isinstance(strings, list):
        strings = pa.array(strings, pa.string())
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), strings)
