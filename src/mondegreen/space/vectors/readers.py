"""Rows of GloVe and word2vec text, and of word2vec binary, block by block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Vectors
from mondegreen.errors import EmbeddingFormatError, SpaceError

_CHUNK_BYTES = 8 << 20
_LONGEST_LINE = 16 << 20
_LONGEST_WORD = 4096
_WRONG_HEADER = "the header is wrong"
_NO_TEXT = "the word is not valid UTF-8"

_Row = tuple[int, str, bytes]
"""Its number, its word, and its numbers as they stand in the file."""


@final
@dataclass(frozen=True, slots=True)
class Block:
    """Some rows of a file: words, their vectors, and their line or row numbers."""

    words: list[str]
    vectors: Vectors
    rows: list[int]


@final
@dataclass(slots=True)
class BadRows:
    """What a row that breaks its format becomes: an error, or dropped and counted."""

    skip: bool = False
    counts: Counter[str] = field(default_factory=Counter)

    def note(
        self,
        path: Path | str,
        problem: str,
        detail: str = "",
        *,
        line: int | None = None,
        row: int | None = None,
        hint: str = "--skip-bad drops and counts such rows",
    ) -> None:
        """Stop with an error that names the place, or count the problem."""
        if not self.skip:
            where = f"row {row}: " if row is not None else ""
            problem = where + problem + detail
            raise EmbeddingFormatError(path, problem, line=line, hint=hint)
        self.counts[problem] += 1


@final
@dataclass(slots=True)
class Reader:
    """Reads an opened file of ``dim`` numbers a word; ``path`` is for errors.

    A header line promises so many rows; ``promised`` is None where there is none.
    """

    path: Path | str
    stream: BinaryIO
    bad: BadRows
    dim: int
    promised: int | None = None

    def text(self) -> Iterator[Block]:
        """Yield the rows of a text file, ``word number ... number`` on every line.

        Fields are separated by one ASCII space. The last ``dim`` fields are the numbers
        and what stands before them is the word, which may itself hold spaces.
        """
        promised, count = self.promised, 0
        header = 0 if promised is None else 1
        for lines in self._iterate_filled_lines():
            found = [self._row(*line) for line in lines if line[0] > header]
            count = lines[-1][0] - header
            if promised is not None and count > promised:
                if not self.bad.counts[_WRONG_HEADER]:
                    detail = f": it promises {promised} rows, and here is one more"
                    hint = "--skip-bad reads them all"
                    self._wrong_header(detail, hint, line=promised + 2)
            if rows := [row for row in found if row is not None]:
                yield self._block(rows)
        if promised is not None and count < promised:
            detail = f": it promises {promised} rows, the file has {count}"
            hint = "the file may be cut off; --skip-bad reads what there is"
            self._wrong_header(detail, hint)

    def binary(self) -> Iterator[Block]:
        """Yield the rows of a file: a word, a space, ``dim`` little-endian floats.

        The stream is placed just after the header line. Some writers put a line break
        after each vector and some do not; both are read.
        """
        raw_rows = self._raw_rows(self.promised or 0, 4 * self.dim)
        while some := list(islice(raw_rows, max(1, _CHUNK_BYTES // (4 * self.dim)))):
            good: list[_Row] = []
            for row, word, vector in some:
                try:
                    good.append((row, word.decode(), vector))
                except UnicodeDecodeError:
                    self.bad.note(self.path, _NO_TEXT, row=row)
            values = np.frombuffer(b"".join(row[2] for row in good), "<f4")
            vectors = values.reshape(-1, self.dim)
            yield Block([row[1] for row in good], vectors, [row[0] for row in good])

    def _wrong_header(self, detail: str, hint: str, line: int = 1) -> None:
        self.bad.note(self.path, _WRONG_HEADER, detail, line=line, hint=hint)

    def _iterate_filled_lines(self) -> Iterator[list[tuple[int, bytes]]]:
        """Yield the lines with their numbers; report blank ones between them."""
        number, blank = 0, 0
        for lines in _lines(self.path, self.stream):
            filled = []
            for raw in lines:
                number += 1
                line = raw.rstrip(b" \r")
                if not line:  # harmless at the end of the file, an error before it
                    blank = blank or number
                    continue
                if blank:
                    self.bad.note(self.path, "a line is blank", line=blank)
                    blank = 0
                filled.append((number, line))
            if filled:
                yield filled

    def _row(self, number: int, text: bytes) -> _Row | None:
        """The row that stands in a line; None where it is bad."""
        spaces, dim = text.count(b" "), self.dim
        *words, tail = text.split(b" ", max(spaces - dim, 0) + 1)
        if spaces < dim or (spaces > dim and _is_number(words[-1])):
            detail = f": more than the {dim} numbers that belong there"
            if spaces < dim:
                detail = f": {spaces} numbers where {dim} belong"
            self.bad.note(self.path, "the row is ragged", detail, line=number)
            return None
        try:
            return number, b" ".join(words).decode(), tail
        except UnicodeDecodeError:
            self.bad.note(self.path, _NO_TEXT, line=number)
        return None

    def _block(self, rows: list[_Row]) -> Block:
        """Parse the numbers of rows; find culprits one by one where that fails."""
        values = _parse([row[2] for row in rows], self.dim)
        if values is None:
            parsed = [(row, _parse([row[2]], self.dim)) for row in rows]
            for row, value in parsed:
                if value is None:
                    problem = "a coordinate is not a number"
                    self.bad.note(self.path, problem, line=row[0])
            rows = [row for row, value in parsed if value is not None]
            good = [value for _, value in parsed if value is not None]
            values = np.concatenate([np.empty((0, self.dim), np.float32), *good])
        return Block([row[1] for row in rows], values, [row[0] for row in rows])

    def _raw_rows(self, promised: int, size: int) -> Iterator[tuple[int, bytes, bytes]]:
        """Yield the number, the word and the bytes of the vector of every row."""
        buffer, position, row, more = b"", 0, 0, True
        while row < promised:
            if more and len(buffer) - position < size + _LONGEST_WORD:
                chunk = self.stream.read(_CHUNK_BYTES)
                buffer, position, more = buffer[position:] + chunk, 0, bool(chunk)
                continue
            cut = buffer.find(b" ", position, position + _LONGEST_WORD)
            end = cut + 1 + size
            if cut < 0 or end > len(buffer):
                problem = "the file is cut off"
                detail = f"; its header promises {promised} rows"
                hint = "--skip-bad reads the rows before it"
                if cut < 0 and len(buffer) - position >= _LONGEST_WORD:
                    problem, detail = "no word is found", ""
                    hint = "the header may promise a wrong number of dimensions"
                self.bad.note(self.path, problem, detail, row=row + 1, hint=hint)
                return
            row += 1
            yield row, buffer[position:cut].lstrip(b"\n"), buffer[cut + 1 : end]
            position = end
        if (buffer[position:] + self.stream.read(64)).strip(b"\r\n"):
            detail = f": it promises {promised} rows, and more bytes follow them"
            self._wrong_header(detail, "--skip-bad reads the promised rows")


def read_words(path: Path | str, bad: BadRows) -> list[str | None]:
    """Read one word per line; None stands for a line that is not valid UTF-8."""
    words: list[str | None] = []
    try:
        with Path(path).open("rb") as stream:
            for raw in chain.from_iterable(_lines(path, stream)):
                try:
                    words.append(raw.removesuffix(b"\r").decode())
                except UnicodeDecodeError:
                    bad.note(path, _NO_TEXT, line=len(words) + 1)
                    words.append(None)
    except OSError as error:
        raise SpaceError(f"{path}: cannot be read: {error.strerror}") from error
    return words


def _lines(path: Path | str, stream: BinaryIO) -> Iterator[list[bytes]]:
    r"""Yield the lines of a stream in batches, split at ``\n`` and nowhere else.

    A byte order mark at the start is left out; a last line needs no line break.
    """
    rest, number = b"", 0
    chunk = stream.read(_CHUNK_BYTES).removeprefix(b"\xef\xbb\xbf")
    while chunk:
        lines = (rest + chunk).split(b"\n")
        rest = lines.pop()
        number += len(lines)
        if len(rest) > _LONGEST_LINE:
            problem = f"longer than {_LONGEST_LINE >> 20} MiB"
            hint = "this is not a text file of word vectors"
            raise EmbeddingFormatError(path, problem, line=number + 1, hint=hint)
        if lines:
            yield lines
        chunk = stream.read(_CHUNK_BYTES)
    if rest:
        yield [rest]


def numbers_at_end(line: bytes) -> int:
    """Count the numbers at the end of a line; its first field is never one of them."""
    count = 0
    for text in reversed(line.rstrip(b" \r").split(b" ")[1:]):
        if not _is_number(text):
            break
        count += 1
    return count


def _is_number(text: bytes) -> bool:
    """Whether a field reads as a decimal number; ``nan`` and ``inf`` are some."""
    try:
        float(text)
    except ValueError:
        return False
    return b"_" not in text


def _parse(tails: list[bytes], dim: int) -> NDArray[np.float32] | None:
    """The numbers of some rows as an array, or None if one is not a number."""
    import pyarrow as pa
    from pyarrow import csv

    text = b"\n".join(tails).replace(b" ", b"\n") + b"\n"
    if b"\r" in text:  # the parser would take it for the end of a line
        return None
    read = csv.ReadOptions(column_names=["x"])
    parse = csv.ParseOptions(delimiter="\t", quote_char=False, ignore_empty_lines=False)
    convert = csv.ConvertOptions(
        column_types={"x": pa.float32()}, null_values=[], strings_can_be_null=False
    )
    try:
        table = csv.read_csv(pa.BufferReader(text), read, parse, convert)
    except pa.ArrowInvalid:
        return None
    values: NDArray[np.float32] = table.column(0).to_numpy()
    return values.reshape(-1, dim)
