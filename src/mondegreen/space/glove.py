"""GloVe text, and the same lines under a header as word2vec and fastText write them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from mondegreen.errors import EmbeddingFormatError
from mondegreen.space.rows import BadRows, Block

_CHUNK_BYTES = 8 << 20
_LONGEST_LINE = 16 << 20
_WRONG_HEADER = "the header is wrong"

_Numbered = list[tuple[int, bytes]]


def read_text(
    path: Path | str,
    stream: BinaryIO,
    bad: BadRows,
    dim: int,
    promised: int | None = None,
) -> Iterator[Block]:
    """Yield the rows of a text file, ``word number ... number`` on every line.

    Fields are separated by one ASCII space. The last ``dim`` fields are the numbers
    and what stands before them is the word, which may itself hold spaces.

    Parameters
    ----------
    path : Path or str
        The name of the file in errors.
    stream : binary stream
        Placed at the start of the file.
    bad : BadRows
        Told of every row that is not as described.
    dim : int
        Numbers per row.
    promised : int, optional
        Number of rows according to the header; without it there is no header line.

    Raises
    ------
    EmbeddingFormatError
        If a row is bad and is not skipped.
    """
    header = 0 if promised is None else 1
    rows = 0
    for lines in _filled_lines(path, stream, bad, header):
        good: _Numbered = []
        tails: list[bytes] = []
        for number, line in lines:
            word, tail, problem = _split_row(line, dim)
            if problem:
                bad.found(path, "the row is ragged", line=number, detail=problem)
            else:
                good.append((number, word))
                tails.append(tail)
        rows = lines[-1][0] - header
        if promised is not None and rows > promised:
            _report_promise(path, bad, promised, header + promised + 1)
        if good:
            yield _block(path, good, tails, dim, bad)
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


def is_number(field: bytes) -> bool:
    """Say whether a field reads as a decimal number; ``nan`` and ``inf`` are some."""
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field


def numbers_at_end(line: bytes) -> int:
    """Count the numbers at the end of a line; its first field is never one of them."""
    fields = line.rstrip(b" \r").split(b" ")[1:]
    count = 0
    for field in reversed(fields):
        if not is_number(field):
            break
        count += 1
    return count


def _split_row(line: bytes, dim: int) -> tuple[bytes, bytes, str]:
    """Return the word, the text of the numbers, and what is wrong with the row."""
    spaces = line.count(b" ")
    if spaces < dim:
        return b"", b"", f": {spaces} numbers where {dim} belong"
    word, _, tail = line.partition(b" ")
    if spaces > dim:
        *words, tail = line.split(b" ", spaces - dim + 1)
        if is_number(words[-1]):
            return b"", b"", f": more than the {dim} numbers that belong there"
        word = b" ".join(words)
    return word, tail, ""


def _filled_lines(
    path: Path | str, stream: BinaryIO, bad: BadRows, header: int
) -> Iterator[_Numbered]:
    """Yield the numbered lines after the header; report blank ones between them."""
    number, blank = 0, 0
    for lines in split_lines(path, stream):
        filled: _Numbered = []
        for raw in lines:
            number += 1
            line = raw.rstrip(b" \r")
            if not line:  # harmless at the end of the file, an error before it
                blank = blank or number
                continue
            if blank:
                bad.found(path, "a line is blank", line=blank)
                blank = 0
            if number > header:
                filled.append((number, line))
        if filled:
            yield filled


def _report_promise(path: Path | str, bad: BadRows, promised: int, line: int) -> None:
    """Report a header that promises fewer rows than there are; once."""
    if not bad.counts[_WRONG_HEADER]:
        bad.found(
            path,
            _WRONG_HEADER,
            line=line,
            detail=f": it promises {promised} rows, and here is one more",
            hint="--skip-bad reads them all",
        )


def _block(
    path: Path | str, good: _Numbered, tails: list[bytes], dim: int, bad: BadRows
) -> Block:
    """Parse the rows of a chunk; find the culprits one by one where that fails."""
    values = _parse(tails, dim)
    if values is None:
        parsed = [_parse([tail], dim) for tail in tails]
        for (number, _), row in zip(good, parsed, strict=True):
            if row is None:
                bad.found(path, "a coordinate is not a number", line=number)
        good = [g for g, row in zip(good, parsed, strict=True) if row is not None]
        rows = [row for row in parsed if row is not None]
        values = np.concatenate(rows) if rows else np.empty((0, dim), np.float32)
    words: list[str] = []
    kept: list[int] = []
    numbers: list[int] = []
    for i, (number, raw) in enumerate(good):
        try:
            words.append(raw.decode())
        except UnicodeDecodeError:
            bad.found(path, "the word is not valid UTF-8", line=number)
            continue
        kept.append(i)
        numbers.append(number)
    return Block(words, values if len(kept) == len(values) else values[kept], numbers)


def _parse(tails: list[bytes], dim: int) -> NDArray[np.float32] | None:
    """Return the numbers of some rows as an array, or None if one is not a number."""
    import pyarrow as pa
    from pyarrow import csv

    text = b"\n".join(tails).replace(b" ", b"\n") + b"\n"
    if b"\r" in text:  # the parser would take it for the end of a line
        return None
    try:
        table = csv.read_csv(
            pa.BufferReader(text),
            csv.ReadOptions(column_names=["x"]),
            csv.ParseOptions(
                delimiter="\t", quote_char=False, ignore_empty_lines=False
            ),
            csv.ConvertOptions(
                column_types={"x": pa.float32()},
                null_values=[],
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid:
        return None
    values: NDArray[np.float32] = table.column(0).to_numpy()
    return values.reshape(-1, dim)
