"""JSON Lines: one object a line; all but the selected strings stays byte for byte."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from json.encoder import encode_basestring
from typing import final

import numpy as np
import pyarrow as pa

from mondegreen.errors import DataError, DecodeError, SourceError
from mondegreen.io.json_spans import Found, SpanScanner, UnfitValueError
from mondegreen.io.source import AbstractByteSource, Missing, missing_column
from mondegreen.io.stream import BATCH_ROWS, ByteStream, LineBlocks, decode_prefix

_HELD_BYTES = 32 << 20
"""What ``missing="pass"`` holds back at most until each column has been met."""


@final
class JsonLinesSource(AbstractByteSource):
    """Lines as the constant pieces of their text and the values between them.

    A batch has a ``list<string>`` for each column, named by its path, with its values
    in the order of the text. Three columns more, whose names no path has, say how a
    line is put together: ``parts: list<string>``, ``order: list<int32>`` (the place of
    the column that each value belongs to), and the id of the record. A line is
    ``parts[0] value parts[1] value ...``. Blank lines are allowed at the end only.

    Nothing is yielded before each column has been met in some record.
    """

    def __init__(
        self,
        stream: ByteStream,
        path: str,
        columns: tuple[str, ...],
        id_column: str | None,
        missing: Missing = "stop",
    ) -> None:
        super().__init__(stream, path, "jsonl", columns)
        self.id_column, self._missing = id_column, missing
        taken = {*columns, id_column}
        self._parts, self._order = _free("parts", taken), _free("order", taken)
        self._scanner = SpanScanner(columns, id_column)
        self._unmet = (1 << len(columns)) - 1
        self._blocks = LineBlocks(stream)
        self._keys: list[str] = []
        self._rows = 0

    @property
    def prologue(self) -> bytes:
        """The byte order mark, where there is one."""
        return self._blocks.bom

    @property
    def disclosed(self) -> tuple[str, ...]:
        """The records that pass, and how many they were so far."""
        if self._missing == "stop":
            return ()
        many = (
            f", {self.missing_rows:,} of {self.rows_read:,}" if self.rows_read else ""
        )
        return (f"records that lack a column: they pass as they are{many}",)

    @property
    def conditions(self) -> tuple[str, ...]:
        """Words of records that pass have no promise."""
        if self._missing == "stop":
            return ()
        return ("are in records that have every column",)

    def read(self) -> Iterator[pa.RecordBatch]:
        """Yield the lines of each block, from when each column has been met."""
        held: list[pa.RecordBatch] = []
        size = 0
        for batch in self._batches():
            held.append(batch)
            if self._unmet:
                size += batch.nbytes
                if size > _HELD_BYTES:
                    break
                continue
            while held:
                yield held.pop(0)
        if held:
            raise self._missing_column(self._unmet)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the lines of each block."""
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

    def _batch(self, lines: list[str]) -> pa.RecordBatch:
        first = self._rows + 1
        parts: list[str] = []
        order: list[int] = []
        ids: list[str] = []
        ends = [0]
        values: list[list[str | None]] = [[] for _ in self.text_columns]
        value_ends = [[0] for _ in values]
        for line in lines:
            if line.isspace() or self.epilogue:
                self._check_blank(line)
                continue
            found = self._scan(line)
            start = 0
            for begin, end, value, place in found.spans:
                parts.append(line[start:begin])
                values[place].append(value)
                order.append(place)
                start = end
            parts.append(line[start:])
            ends.append(len(order))
            for each, stops in zip(values, value_ends, strict=True):
                stops.append(len(each))
            ids += found.ids
        columns = {
            name: _lists(stops, self._strings(each, stops, first))
            for name, each, stops in zip(
                self.text_columns, values, value_ends, strict=True
            )
        }
        pieces = np.array(ends) + np.arange(len(ends))
        columns[self._parts] = _lists(pieces, pa.array(parts, pa.string()))
        columns[self._order] = _lists(ends, pa.array(order, pa.int32()))
        if self.id_column is not None:
            rows = range(len(ids) + 1)
            columns[self.id_column] = self._strings(ids, rows, first)
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
        self._rows += 1
        try:
            found = self._scanner.scan(line)
        except UnfitValueError as error:
            problem = str(error)
        except (ValueError, StopIteration):
            problem = "not a valid JSON object"
        except RecursionError:
            problem = "nested too deeply"
        else:
            self._unmet &= found.lacking
            if found.lacking:
                self._pass_missing(line, found.lacking)
            if self.id_column is None or len(found.ids) == 1:
                return found
            problem = (
                f"{len(found.ids) or 'no'} values at {self.id_column!r}, "
                "where one is needed as the id of the record"
            )
        raise SourceError(self.name, problem, row=self._rows)

    def _pass_missing(self, line: str, lacking: int) -> None:
        """Count a record that lacks a column, or refuse it."""
        self.missing_rows += 1
        self._keys = self._keys or list(json.loads(line, parse_int=str))
        if self._missing == "stop":
            raise self._missing_column(lacking, row=self._rows)

    def _missing_column(self, lacking: int, row: int | None = None) -> Exception:
        """Return the error for the first of the columns that are lacking."""
        column = self.text_columns[(lacking & -lacking).bit_length() - 1]
        advice = "--missing pass lets such records through in clear" if row else ""
        return missing_column(
            self.name, column, self._keys, is_schema=False, row=row, advice=advice
        )

    def _strings(
        self, strings: list[str] | list[str | None], ends: Sequence[int], first: int
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
        parts, order = batch.column(self._parts), batch.column(self._order)
        counts = np.asarray(order.value_lengths())
        places = np.asarray(order.flatten())
        # Piece j of row r follows j - r values, so it is text number 2 j - r; value k
        # of row r follows piece k + r, so it is text number 2 k + r + 1.
        rows = np.arange(len(counts))
        part_rows, value_rows = np.repeat(rows, counts + 1), np.repeat(rows, counts)
        texts = np.empty(len(part_rows) + len(value_rows), dtype=object)
        texts[2 * np.arange(len(part_rows)) - part_rows] = parts.flatten().to_pylist()
        slots = 2 * np.arange(len(value_rows)) + value_rows + 1
        for place, name in enumerate(self.text_columns):
            mine, values = places == place, batch.column(name)
            expected = np.bincount(value_rows[mine], minlength=len(counts))
            if values.null_count:
                raise DataError(f"{self.name}: a released row has lost its values")
            if not np.array_equal(np.asarray(values.value_lengths()), expected):
                raise DataError(
                    f"{self.name}: a released row has too many or few values"
                )
            texts[slots[mine]] = [
                "null" if value is None else encode_basestring(value)
                for value in values.flatten().to_pylist()
            ]
        return "".join(texts.tolist()).encode()


def _lists(ends: Sequence[int] | np.ndarray, values: pa.Array) -> pa.ListArray:
    """Return the column of lists that end there."""
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), values)


def _free(name: str, taken: set[str | None]) -> str:
    """Return the name, or one like it that is not taken."""
    while name in taken:
        name += "'"
    return name
