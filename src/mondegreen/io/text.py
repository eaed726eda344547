"""Plain text: a record is a line, with its line end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mondegreen import errors
from mondegreen.io.base import AbstractByteSource, Request
from mondegreen.io.guess import refuse_unlike_text
from mondegreen.io.stream import BATCH_ROWS, ByteStream, decode_prefix
from mondegreen.settings import Structure


@final
class TextSource(AbstractByteSource):
    r"""Lines of a text file as one column, ``text``.

    Only ``\n`` ends a record, and belongs to it, as white space is public structure:
    ``\r\n`` and a last line without an end come back as they were. Plain releases hold
    no line end, and every line gets one; a byte order mark is dropped, since it would
    tell how the file was written. Where nobody named the format, what is plainly
    no text is refused.
    """

    def __init__(
        self,
        request: Request,
        stream: ByteStream,
        is_guess: bool,
        structure: Structure = "keep",
    ) -> None:
        if request.id_column is not None:
            raise errors.ConfigurationError(
                f"{stream.name}: --id needs a format with columns, and lines of text "
                "have none, so a key cannot tell them apart. Convert this file to "
                "CSV with a column of ids, or privatize it by itself, without --id and "
                "without a key"
            )
        for column in request.columns:
            if column != "text":
                raise errors.MissingColumnError(stream.name, column, ["text"])
        super().__init__(request, stream)
        self._open_end = False
        self._is_guess = is_guess
        self._structure = structure

    @property
    def prologue(self) -> bytes:
        return b"" if self._structure == "plain" else super().prologue

    def read(self) -> Iterator[pa.RecordBatch]:
        """Yield the lines of each block; the strings share the memory of the block."""
        for block in self.stream.blocks():
            if self._is_guess and self.rows_read == 0:
                refuse_unlike_text(block, self.name)
            good = decode_prefix(block)[1]
            if good < len(block):
                row = self.rows_read + block.count(b"\n", 0, good) + 1
                offset = self.stream.start + good
                raise errors.DecodeError(self.name, row=row, offset=offset)
            ends = _line_ends(block)
            if len(ends) == 0 or ends[-1] != len(block):
                ends = np.append(ends, len(block))
            offsets = np.concatenate([[0], ends]).astype(np.int32)
            buffers = [None, pa.py_buffer(offsets), pa.py_buffer(block)]
            lines = pa.Array.from_buffers(pa.string(), len(ends), buffers)
            for first in range(0, len(lines), BATCH_ROWS):
                part = lines.slice(first, BATCH_ROWS)
                yield pa.RecordBatch.from_arrays([part], names=["text"])

    def encode(self, batch: pa.RecordBatch) -> memoryview:
        """Join the lines; refuse those that would not be as many lines again."""
        lines = batch.column("text")
        if self._structure == "plain":
            lines = pc.binary_join_element_wise(lines.fill_null(""), "\n", "")
        lines = lines.fill_null("\n")
        data = string_bytes(lines)
        if len(lines) == 0:
            return data
        newlines = _line_ends(data)
        ends = _offsets(lines)[1:].astype(np.int64) - int(_offsets(lines)[0])
        closed = len(newlines) == len(ends)
        # The last line of the file, and no other, may lack its end.
        expected = ends if closed else ends[:-1]
        if self._open_end or not np.array_equal(newlines, expected):
            problem = "a released line has lost or gained a line end"
            raise errors.DataError(f"{self.name}: {problem}")
        self._open_end = not closed
        return data


def string_bytes(strings: pa.StringArray) -> memoryview:
    """View the bytes of all strings in a row, without copying; none may be null."""
    data = strings.buffers()[2]
    if len(strings) == 0 or data is None:
        return memoryview(b"")
    offsets = _offsets(strings)
    return memoryview(data)[int(offsets[0]) : int(offsets[-1])]


def _offsets(strings: pa.StringArray) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """Where each string starts and the last one ends."""
    every = np.frombuffer(strings.buffers()[1], np.int32)
    return every[strings.offset : strings.offset + len(strings) + 1]


def _line_ends(data: bytes | memoryview) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")) + 1
