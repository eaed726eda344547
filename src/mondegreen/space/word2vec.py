"""The binary format of word2vec."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import numpy as np

from mondegreen.space.rows import BadRows, Block

_CHUNK_BYTES = 8 << 20
_LONGEST_WORD = 4096


def read_binary(
    path: Path | str, stream: BinaryIO, bad: BadRows, dim: int, promised: int
) -> Iterator[Block]:
    r"""Yield the rows of a binary file: a word, a space, ``dim`` little-endian floats.

    Some writers put a line break after each vector and some do not; both are read.

    Parameters
    ----------
    path : Path or str
        The name of the file in errors.
    stream : binary stream
        Placed just after the header line.
    bad : BadRows
        Told of every row that is not as described.
    dim : int
        Numbers per row.
    promised : int
        Number of rows according to the header.

    Raises
    ------
    EmbeddingFormatError
        If a row is bad and is not skipped.
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
                bad.found(path, "the word is not valid UTF-8", row=row)
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
        if cut < 0 or end > len(buffer):
            is_cut_off = cut >= 0 or len(buffer) - position < _LONGEST_WORD
            _stop_in_row(path, bad, row, promised, is_cut_off)
            return
        row += 1
        yield row, buffer[position:cut].lstrip(b"\n"), buffer[cut + 1 : end]
        position = end
    if (buffer[position:] + stream.read(64)).strip(b"\r\n"):
        bad.found(
            path,
            "the header is wrong",
            line=1,
            detail=f": it promises {promised} rows, and more bytes follow them",
            hint="--skip-bad reads the promised rows",
        )


def _stop_in_row(
    path: Path | str, bad: BadRows, row: int, promised: int, is_cut_off: bool
) -> None:
    """Report the row at which the file cannot be read on."""
    if is_cut_off:
        bad.found(
            path,
            "the file is cut off",
            row=row + 1,
            detail=f"; its header promises {promised} rows",
            hint="--skip-bad reads the rows before it",
        )
    else:
        bad.found(
            path,
            "no word is found",
            row=row + 1,
            hint="the header may promise a wrong number of dimensions",
        )
