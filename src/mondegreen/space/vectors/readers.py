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

_Line = tuple[int, bytes]
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

    def found(
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


def read_text(
    path: Path | str,
    stream: BinaryIO,
    bad: BadRows,
    dim: int,
    promised: int | None = None,
) -> Iterator[Block]:
    """Yield the rows of a text file, ``word number ... number`` on every line.

    Fields are separated by one ASCII space. The last ``dim`` fields are the numbers
    and what stands before them is the word, which may itself hold spaces. A header
    promises so many rows; without it there is no header line.
    """
    header = 0 if promised is None else 1
    count = 0
    for lines in _filled_lines(path, stream, bad):
        found = [_row(path, bad, line, dim) for line in lines if line[0] > header]
        count = lines[-1][0] - header
        if promised is not None and count > promised and not bad.counts[_WRONG_HEADER]:
            detail = f": it promises {promised} rows, and here is one more"
            hint = "--skip-bad reads them all"
            bad.found(path, _WRONG_HEADER, detail, line=promised + 2, hint=hint)
        if rows := [row for row in found if row is not None]:
            yield _block(path, bad, rows, dim)
    if promised is not None and count < promised:
        detail = f": it promises {promised} rows, the file has {count}"
        hint = "the file may be cut off; --skip-bad reads what there is"
        bad.found(path, _WRONG_HEADER, detail, line=1, hint=hint)


def split_lines(path: Path | str, stream: BinaryIO) -> Iterator[list[bytes]]:
    r"""Yield the lines of a stream in batches, split at ``\n`` and nowhere else.

    A byte order mark at the start is left out; a last line needs no line break.
    """
    rest = b""
    chunk = stream.read(_CHUNK_BYTES).removeprefix(b"\xef\xbb\xbf")
    number = 0
    while chunk:
        lines = (rest + chunk).split(b"\n")
        rest = lines.pop()
        if len(rest) > _LONGEST_LINE:
            raise EmbeddingFormatError(
                path,
                f"longer than {_LONGEST_LINE >> 20} MiB",
                line=number + len(lines) + 1,
                hint="this is not a text file of word vectors",
            )
        number += len(lines)
        if lines:
            yield lines
        chunk = stream.read(_CHUNK_BYTES)
    if rest:
        yield [rest]


def read_words(path: Path | str, bad: BadRows) -> list[str | None]:
    """Read one word per line; None stands for a line that is not valid UTF-8."""
    words: list[str | None] = []
    try:
        with Path(path).open("rb") as stream:
            for raw in chain.from_iterable(split_lines(path, stream)):
                try:
                    words.append(raw.removesuffix(b"\r").decode())
                except UnicodeDecodeError:
                    bad.found(path, _NO_TEXT, line=len(words) + 1)
                    words.append(None)
    except OSError as error:
        raise SpaceError(f"{path}: cannot be read: {error.strerror}") from error
    return words


def numbers_at_end(line: bytes) -> int:
    """Count the numbers at the end of a line; its first field is never one of them."""
    count = 0
    for field_ in reversed(line.rstrip(b" \r").split(b" ")[1:]):
        if not _is_number(field_):
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


def _row(path: Path | str, bad: BadRows, line: _Line, dim: int) -> _Row | None:
    """Number, word and text of the numbers of a line; None where it is bad."""
    number, text = line
    spaces = text.count(b" ")
    *words, tail = text.split(b" ", max(spaces - dim, 0) + 1)
    if spaces < dim:
        detail = f": {spaces} numbers where {dim} belong"
        bad.found(path, "the row is ragged", detail, line=number)
    elif spaces > dim and _is_number(words[-1]):
        detail = f": more than the {dim} numbers that belong there"
        bad.found(path, "the row is ragged", detail, line=number)
    else:
        try:
            return number, b" ".join(words).decode(), tail
        except UnicodeDecodeError:
            bad.found(path, _NO_TEXT, line=number)
    return None


def _filled_lines(
    path: Path | str, stream: BinaryIO, bad: BadRows
) -> Iterator[list[_Line]]:
    """Yield the lines with their numbers; report blank ones between them."""
    number, blank = 0, 0
    for lines in split_lines(path, stream):
        filled = []
        for raw in lines:
            number += 1
            line = raw.rstrip(b" \r")
            if not line:  # harmless at the end of the file, an error before it
                blank = blank or number
                continue
            if blank:
                bad.found(path, "a line is blank", line=blank)
                blank = 0
            filled.append((number, line))
        if filled:
            yield filled


def _block(path: Path | str, bad: BadRows, rows: list[_Row], dim: int) -> Block:
    """Parse the numbers of some rows; find the culprits one by one where that fails."""
    values = _parse([tail for _, _, tail in rows], dim)
    if values is None:
        parsed = [(row, _parse([row[2]], dim)) for row in rows]
        for row, value in parsed:
            if value is None:
                bad.found(path, "a coordinate is not a number", line=row[0])
        rows = [row for row, value in parsed if value is not None]
        good = [value for _, value in parsed if value is not None]
        values = np.concatenate([np.empty((0, dim), np.float32), *good])
    return Block([word for _, word, _ in rows], values, [row[0] for row in rows])


def _parse(tails: list[bytes], dim: int) -> NDArray[np.float32] | None:
    """The numbers of some rows as an array, or None if one is not a number."""
    import pyarrow as pa
    from pyarrow import csv

    text = b"\n".join(tails).replace(b" ", b"\n") + b"\n"
    if b"\r" in text:  # the parser would take it for the end of a line
        return None
    parse = csv.ParseOptions(delimiter="\t", quote_char=False, ignore_empty_lines=False)
    convert = csv.ConvertOptions(
        column_types={"x": pa.float32()}, null_values=[], strings_can_be_null=False
    )
    try:
        table = csv.read_csv(
            pa.BufferReader(text), csv.ReadOptions(column_names=["x"]), parse, convert
        )
    except pa.ArrowInvalid:
        return None
    values: NDArray[np.float32] = table.column(0).to_numpy()
    return values.reshape(-1, dim)


def read_binary(
    path: Path | str, stream: BinaryIO, bad: BadRows, dim: int, promised: int
) -> Iterator[Block]:
    r"""Yield the rows of a binary file: a word, a space, ``dim`` little-endian floats.

    The stream is placed just after the header line. Some writers put a line break after
    each vector and some do not; both are read.
    """
    raw_rows = _raw_rows(path, stream, bad, 4 * dim, promised)
    per_block = max(1, _CHUNK_BYTES // (4 * dim))
    while some := list(islice(raw_rows, per_block)):
        good: list[_Row] = []
        for row, word, vector in some:
            try:
                good.append((row, word.decode(), vector))
            except UnicodeDecodeError:
                bad.found(path, _NO_TEXT, row=row)
        vectors = np.frombuffer(b"".join(v for *_, v in good), "<f4").reshape(-1, dim)
        yield Block([word for _, word, _ in good], vectors, [row[0] for row in good])


def _raw_rows(
    path: Path | str, stream: BinaryIO, bad: BadRows, size: int, promised: int
) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield the number, the word and the bytes of the vector of every row."""
    buffer, position, row, more = b"", 0, 0, True
    while row < promised:
        if more and len(buffer) - position < size + _LONGEST_WORD:
            chunk = stream.read(_CHUNK_BYTES)
            buffer, position, more = buffer[position:] + chunk, 0, bool(chunk)
            continue
        cut = buffer.find(b" ", position, position + _LONGEST_WORD)
        end = cut + 1 + size
        if cut < 0 and len(buffer) - position >= _LONGEST_WORD:
            hint = "the header may promise a wrong number of dimensions"
            bad.found(path, "no word is found", row=row + 1, hint=hint)
            return
        if cut < 0 or end > len(buffer):
            detail = f"; its header promises {promised} rows"
            hint = "--skip-bad reads the rows before it"
            bad.found(path, "the file is cut off", detail, row=row + 1, hint=hint)
            return
        row += 1
        yield row, buffer[position:cut].lstrip(b"\n"), buffer[cut + 1 : end]
        position = end
    if (buffer[position:] + stream.read(64)).strip(b"\r\n"):
        detail = f": it promises {promised} rows, and more bytes follow them"
        hint = "--skip-bad reads the promised rows"
        bad.found(path, _WRONG_HEADER, detail, line=1, hint=hint)
