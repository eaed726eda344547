"""JSON Lines: one object a line; all but the selected strings stays byte for byte."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from json.encoder import encode_basestring
from typing import Any, Final

import pyarrow as pa

from mondegreen.errors import DataError, DecodeError, SourceError
from mondegreen.io.base import AbstractByteSource, Missing, Request, missing_column
from mondegreen.io.json_spans import Found, SpanScanner, UnfitValueError
from mondegreen.io.stream import BATCH_ROWS, ByteStream

_HELD_BYTES = 32 << 20
"""What ``missing="pass"`` holds back at most until each column has been met."""

# A control character, which JSON allows nowhere: the scanner has refused lines with it.
_MARK: Final = "\0"
_END: Final[Any] = object()

_cut_out = re.compile(f"{_MARK}[0-9]+{_MARK}").sub


def _keep_all(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object. A name that occurs twice has a list of all of its values."""
    found = dict(pairs)
    if len(found) < len(pairs):
        values: dict[str, list[Any]] = {}
        for name, value in pairs:
            values.setdefault(name, []).append(value)
        found = {name: v if len(v) > 1 else v[0] for name, v in values.items()}
    return found


# Numbers may have more digits than an int takes.
_read_record = json.JSONDecoder(parse_int=float, object_pairs_hook=_keep_all).decode


class JsonLinesSource(AbstractByteSource):
    r"""Lines as a frame of constant text, and the values that stand in it.

    A batch has a ``list<string>`` for each column, named by its path, with its values
    in the order of the text, and the id of the record. One column more, whose name no
    path has, is the frame: the line in which each value is replaced by the place of
    its column between two marks, as in ``{"text": \00\0, "n": 1}``. Blank lines are
    allowed at the end only. Nothing is yielded before each column has been met in some
    record.
    """

    def __init__(self, request: Request, stream: ByteStream, missing: Missing) -> None:
        super().__init__(request, stream)
        columns, id_column = request.columns, request.id_column
        self._missing, self.may_lack = missing, missing == "pass"
        if missing == "pass":  # words of records that pass have no promise
            self.conditions = ("are in records that have every column",)
        self._frame = "frame"
        while self._frame in (*columns, id_column, request.raw_field):
            self._frame += "'"
        raw = request.raw_field
        self._scanner = SpanScanner(columns, id_column, raw, request.drop)
        self._undropped = {*request.drop}  # those that no record has had
        # Columns of a batch whose values stand in the frame, by their places there.
        self._cut = columns if raw is None else (*columns, raw)
        self._unmet = (1 << len(columns)) - 1  # a bit for each column
        self._keys: list[str] = []
        self._rows = 0

    @property
    def disclosed(self) -> tuple[str, ...]:
        """The records that pass, and how many they were so far."""
        if self._missing == "stop":
            return ()
        known = f", {self.missing_rows:,} of {self.rows_read:,}"
        many = known if self.rows_read else ""
        return (f"records that lack a column: they pass as they are{many}",)

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
        if self._undropped and self._rows:  # a record may lack one, but not all
            raise missing_column(self.name, min(self._undropped), self._keys)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for lines, broken in self.stream.lines():
            for first in range(0, len(lines), BATCH_ROWS):
                batch = self._batch(lines[first : first + BATCH_ROWS])
                if batch.num_rows:
                    yield batch
            if broken is not None:
                raise DecodeError(self.name, row=self._rows + 1, offset=broken)

    def _batch(
        self, lines: Sequence[str], gaps: Iterable[str] = repeat("")
    ) -> pa.RecordBatch:
        """Take lines apart; what stands before each goes into its frame."""
        first = self._rows + 1
        frames: list[str] = []
        ids: list[str] = []
        columns: list[list[list[str | None]]] = [[] for _ in self._cut]
        for gap, line in zip(gaps, lines, strict=False):
            if line.isspace() or self.epilogue:
                self._check_blank(line)
                continue
            found = self._scan(line)
            pieces = [gap]
            start = 0
            for column in columns:
                column.append([])
            for begin, end, value, place in found.spans:
                pieces.append(line[start:begin])
                if place is not None:
                    pieces += (_MARK, str(place), _MARK)
                    columns[place][-1].append(value)
                start = max(start, end)
            frames.append("".join([*pieces, line[start:]]))
            ids += found.ids
        arrays = {
            name: self._array(column, pa.list_(pa.string()), first)
            for name, column in zip(self._cut, columns, strict=True)
        }
        arrays[self._frame] = pa.array(frames, pa.string())
        if self.id_column is not None:
            arrays[self.id_column] = self._array(ids, pa.string(), first)
        return pa.RecordBatch.from_pydict(arrays)

    def _check_blank(self, line: str) -> None:
        """Let blank lines pass until something follows them."""
        if not line.isspace():
            problem = "a blank line between records"
            raise SourceError(self.name, problem, row=self._rows + 1)
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
            if self._undropped:
                self._undropped -= found.dropped
                self._keys = self._keys or list(json.loads(line, parse_int=str))
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
        """Make the error for the first of the columns that are lacking."""
        column = self.text_columns[(lacking & -lacking).bit_length() - 1]
        advice = (
            "--missing pass copies such records as they are, with all of their text"
            if row
            else ""
        )
        return missing_column(self.name, column, self._keys, row=row, advice=advice)

    def _array(self, cells: list[Any], kind: pa.DataType, first: int) -> pa.Array:
        """Make a column; half a surrogate pair does not fit in UTF-8."""
        try:
            return pa.array(cells, kind)
        except UnicodeEncodeError:
            pass  # the error holds the text, so that it must not be the context
        for row, cell in enumerate(cells, start=first):
            for text in [cell] if isinstance(cell, str) else cell:
                if text is not None and any("\ud800" <= c <= "\udfff" for c in text):
                    problem = "half of a surrogate pair in a selected value"
                    raise SourceError(self.name, problem, row=row)
        raise SourceError(self.name, "a selected value does not fit in UTF-8")

    def others(self, batch: pa.RecordBatch, most: int) -> dict[str, list[Any]]:
        """The first values of the fields at the top of the records."""
        chosen = {*self.text_columns, self.id_column, *self.drop}
        found: dict[str, list[Any]] = {}
        for record in self.iterate_other_records(batch.slice(0, most)):
            for name, value in record.items():
                if name not in chosen:
                    found.setdefault(name, []).append(value)
        return found

    def list_unchanged(self, batch: pa.RecordBatch) -> list[str]:
        """List the paths of all values of a batch that pass unchanged."""
        passing = self.iterate_other_values(batch, batch.num_rows)
        every = dict.fromkeys(path for path, _ in passing)
        if self.id_column is not None and self.id_column not in self.drop:
            every = {self.id_column: None, **every}
        return list(every)

    def iterate_other_records(self, batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
        """Read the records of a batch, without what was cut out of them."""
        for frame in batch.column(self._frame).to_pylist():
            # What stands before a record of an array has no brace.
            record = _cut_out("null", frame[frame.index("{") :])
            yield _read_record(record)

    def encode(self, batch: pa.RecordBatch) -> bytes:
        columns = [batch.column(name) for name in self._cut]
        if any(column.null_count for column in columns):
            raise DataError(f"{self.name}: a released row lost its values")
        rows = zip(*(column.to_pylist() for column in columns), strict=True)
        lines: list[str] = []
        frames = batch.column(self._frame).to_pylist()
        for frame, cells in zip(frames, rows, strict=True):
            pieces = frame.split(_MARK)
            values = list(map(iter, cells))
            places = list(map(int, pieces[1::2]))
            found = [next(values[place], _END) for place in places]
            if _END in found or any(next(rest, _END) is not _END for rest in values):
                problem = "a released row has too many or few values"
                raise DataError(f"{self.name}: {problem}")
            texts = len(self.text_columns)
            pieces[1::2] = (
                "null"
                if each is None
                # A place behind those of the texts has what is written already.
                else each
                if place >= texts
                else encode_basestring(each)
                for place, each in zip(places, found, strict=True)
            )
            lines += pieces
        return "".join(lines).encode()
