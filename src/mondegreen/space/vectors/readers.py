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
        *,
        line: int | None = None,
        row: int | None = None,
        detail: str = "",
        hint: str = "--skip-bad drops and counts such rows",
    ) -> None:
        """Stop with an error that names the place, or count the problem."""
        if not self.skip:
            where = f"row {row}: " if row is not None else ""
            raise EmbeddingFormatError(
                path, where + problem + detail, line=line, hint=hint
            )
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
    rows = 0
    for lines in _filled_lines(path, stream, bad):
        drop = int(lines[0][0] <= header)
        words, tails, numbers = _split_rows(path, lines[drop:], dim, bad)
        rows = lines[-1][0] - header
        if promised is not None and rows > promised and not bad.counts[_WRONG_HEADER]:
            bad.found(
                path,
                _WRONG_HEADER,
                line=promised + 2,
                detail=f": it promises {promised} rows, and here is one more",
                hint="--skip-bad reads them all",
            )
        if words:
            yield _block(path, words, tails, numbers, dim, bad)
    if promised is not None and rows < promised:
        bad.found(
            path,
            _WRONG_HEADER,
            line=1,
            detail=f": it promises {promised} rows, the file has {rows}",
            hint="the file may be cut off; --skip-bad reads what there is",
        )


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


class _RaggedError(ValueError):
    """A row has too few or too many numbers."""


def _split_rows(
    path: Path | str, lines: list[tuple[int, bytes]], dim: int, bad: BadRows
) -> tuple[list[str], list[bytes], list[int]]:
    """Words, texts of the numbers, and line numbers of the rows that have both."""
    words: list[str] = []
    tails: list[bytes] = []
    numbers: list[int] = []
    for number, line in lines:
        try:
            word, tail = _split_row(line, dim)
            words.append(word.decode())
        except _RaggedError as error:
            bad.found(path, "the row is ragged", line=number, detail=f": {error}")
        except UnicodeDecodeError:
            bad.found(path, _NO_TEXT, line=number)
        else:
            tails.append(tail)
            numbers.append(number)
    return words, tails, numbers


def _split_row(line: bytes, dim: int) -> tuple[bytes, bytes]:
    """The word of a row, and the text of its numbers."""
    spaces = line.count(b" ")
    if spaces < dim:
        raise _RaggedError(f"{spaces} numbers where {dim} belong")
    if spaces == dim:
        word, _, tail = line.partition(b" ")
        return word, tail
    *words, tail = line.split(b" ", spaces - dim + 1)
    if _is_number(words[-1]):
        raise _RaggedError(f"more than the {dim} numbers that belong there")
    return b" ".join(words), tail


def _filled_lines(
    path: Path | str, stream: BinaryIO, bad: BadRows
) -> Iterator[list[tuple[int, bytes]]]:
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


def _block(
    path: Path | str,
    words: list[str],
    tails: list[bytes],
    numbers: list[int],
    dim: int,
    bad: BadRows,
) -> Block:
    """Parse the numbers of some rows; find the culprits one by one where that fails."""
    values = _parse(tails, dim)
    if values is not None:
        return Block(words, values, numbers)
    parsed = [_parse([tail], dim) for tail in tails]
    for number, row in zip(numbers, parsed, strict=True):
        if row is None:
            bad.found(path, "a coordinate is not a number", line=number)
    good = [i for i, row in enumerate(parsed) if row is not None]
    rows = [row for row in parsed if row is not None]
    values = np.concatenate([np.empty((0, dim), np.float32), *rows])
    return Block([words[i] for i in good], values, [numbers[i] for i in good])


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
        words: list[str] = []
        rows: list[int] = []
        numbers: list[bytes] = []
        for row, word, vector in some:
            try:
                words.append(word.decode())
            except UnicodeDecodeError:
                bad.found(path, _NO_TEXT, row=row)
                continue
            rows.append(row)
            numbers.append(vector)
        vectors = np.frombuffer(b"".join(numbers), dtype="<f4").reshape(-1, dim)
        yield Block(words, vectors, rows)


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
            bad.found(
                path,
                "the file is cut off",
                row=row + 1,
                detail=f"; its header promises {promised} rows",
                hint="--skip-bad reads the rows before it",
            )
            return
        row += 1
        yield row, buffer[position:cut].lstrip(b"\n"), buffer[cut + 1 : end]
        position = end
    if (buffer[position:] + stream.read(64)).strip(b"\r\n"):
        bad.found(
            path,
            _WRONG_HEADER,
            line=1,
            detail=f": it promises {promised} rows, and more bytes follow them",
            hint="--skip-bad reads the promised rows",
        )
