"""Files of word vectors: which format one is in, and its rows as a stream."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from mondegreen.arrays import Vectors
from mondegreen.errors import EmbeddingFormatError, InvalidParameterError, SpaceError
from mondegreen.space.vectors.readers import (
    BadRows,
    Block,
    Reader,
    numbers_at_end,
    read_words,
)

FORMATS: Final = ("glove", "word2vec", "word2vec-binary", "fasttext", "npy")

HEAD_BYTES: Final = 1 << 20
_MAX_DIM: Final = 65_536
"""No embedding has more dimensions; a header that says so is not a header."""
_HEADER = re.compile(rb"(\d{1,12}) (\d{1,12})[ \r]*\n")
_ONLY_HEADER = re.compile(rb"\d{1,12} \d{1,12}[ \r\n]*")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_NOT_VECTORS: Final = {
    b"\x1f\x8b": ("a gzip file", "unpack it first"),
    b"PK\x03\x04": ("a zip file", "unpack it first"),
    b"BZh": ("a bzip2 file", "unpack it first"),
    b"\xfd7zXZ": ("an xz file", "unpack it first"),
    b"\xba\x16\x4f\x2f": ("a fastText model", "take the .vec file instead"),
    b"\xff\xfe": ("UTF-16 text", "convert it with iconv -t UTF-8"),
    b"\xfe\xff": ("UTF-16 text", "convert it with iconv -t UTF-8"),
}


@final
@dataclass(frozen=True, slots=True)
class VectorSource:
    """An opened file of word vectors: what it is, and its rows as a stream."""

    path: Path | str  # of the numbers, as errors name it
    format: str
    dim: int
    dtype: np.dtype[np.floating]  # of the numbers in the file; float32 for text
    words_path: Path | str  # of the words: another one for npy alone
    blocks: Iterator[Block]  # each of bounded size, in the order of the file


@contextmanager
def open_vectors(
    path: Path, bad: BadRows, *, form: str | None = None, word_list: Path | None = None
) -> Iterator[VectorSource]:
    """Open GloVe or fastText text, word2vec text or binary, or ``.npy``.

    The format is found from the first bytes where none is given. The words of an array
    stand one per line in ``word_list``, or in the sibling ``X.words.txt`` of ``X.npy``
    or ``X.f16.npy``. Rows are read as they are asked for, and refused there if bad.
    """
    if form is not None and form not in FORMATS:
        raise InvalidParameterError("format", form, "one of " + ", ".join(FORMATS))
    try:
        stream = io.BufferedReader(io.FileIO(path), HEAD_BYTES)
    except OSError as error:
        raise SpaceError(f"{path}: cannot be read: {error.strerror}") from error
    with stream:
        if form == "npy" or (form is None and stream.peek(6)[:6] == b"\x93NUMPY"):
            yield _open_npy(path, word_list, bad)
            return
        if word_list is not None:
            raise EmbeddingFormatError(path, "has its own words, so it needs no list")
        yield open_stream(path, stream, bad, form)


def open_stream(
    name: Path | str, stream: io.BufferedReader[Any], bad: BadRows, form: str | None
) -> VectorSource:
    """Read text or word2vec binary from a stream; ``name`` stands in errors.

    The buffer of the stream should be :data:`HEAD_BYTES` long: the format and the
    number of dimensions are told from what one buffer holds.
    """
    head = stream.peek(1)
    if not head.strip():
        raise EmbeddingFormatError(name, "the file is empty")
    for magic, (what, hint) in _NOT_VECTORS.items() if form is None else ():
        if head.startswith(magic):
            raise EmbeddingFormatError(name, f"this is {what}", hint=hint)
    head = head.removeprefix(b"\xef\xbb\xbf")
    form = form or _sniff(name, head)
    promised, dim = (
        (None, _usual_dim(name, head)) if form == "glove" else _read_header(name, head)
    )
    reader = Reader(name, stream, bad, dim, promised)
    if form == "word2vec-binary":
        stream.readline()
    blocks = reader.binary() if form == "word2vec-binary" else reader.text()
    return VectorSource(name, form, dim, np.dtype(np.float32), name, blocks)


def sibling_word_list(path: Path) -> Path | None:
    """``X.words.txt`` beside ``X.npy`` or ``X.f16.npy`` if it exists."""
    stem = path.name.removesuffix(".npy")
    names = [stem, re.sub(r"\.(f|float)(16|32|64)$", "", stem)]
    candidates = [path.with_name(f"{name}.words.txt") for name in names]
    return next((each for each in candidates if each.is_file()), None)


def _sniff(name: Path | str, head: bytes) -> str:
    """Tell the format from the first bytes; refuse to guess where two fit."""
    header = _HEADER.match(head)
    if header is None and _ONLY_HEADER.fullmatch(head) is None:
        return "glove"
    rest = head[header.end() :] if header else b""
    dim = int(header[2]) if header else 0
    row = rest.partition(b"\n")[0].rstrip(b" \r")
    if _CONTROL.search(rest[: 4 * min(dim, _MAX_DIM) + 256]) and (
        numbers_at_end(row) != dim
    ):
        return "word2vec-binary"
    if row.count(b" ") == 1 and dim > 1:
        return "glove"  # one number per row: the first line is a word like any other
    if not row or row.count(b" ") == 1:
        problem = "two numbers may be a header, or a word and its only coordinate"
        hint = "say which with --format word2vec or --format glove"
        raise EmbeddingFormatError(name, problem, line=1, hint=hint)
    return "word2vec"


def _read_header(name: Path | str, head: bytes) -> tuple[int, int]:
    """The number of rows and of dimensions that the first line promises."""
    header = _HEADER.match(head) or _HEADER.match(head + b"\n")
    if header is None or not 0 < int(header[2]) <= _MAX_DIM or int(header[1]) == 0:
        problem = "the header must be two positive numbers, rows and dimensions"
        hint = "a file without a header is --format glove"
        raise EmbeddingFormatError(name, problem, line=1, hint=hint)
    return int(header[1]), int(header[2])


def _usual_dim(name: Path | str, head: bytes) -> int:
    """How many numbers most of the first lines end with."""
    lines = head.split(b"\n")
    if len(lines) > 1:
        lines.pop()  # cut off, or empty
    found = Counter(numbers_at_end(line) for line in lines[:20] if line.strip())
    dim = found.most_common(1)[0][0] if found else 0
    if not 0 < dim <= _MAX_DIM:
        problem = "a row must be a word and its numbers, separated by spaces"
        hint = "known formats: " + ", ".join(FORMATS)
        raise EmbeddingFormatError(name, problem, line=1, hint=hint)
    return dim


def _open_npy(path: Path, word_list: Path | None, bad: BadRows) -> VectorSource:
    """Map the array, and pair its rows with the lines of the word list."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        problem = "not a whole .npy file of numbers"
        raise EmbeddingFormatError(path, problem, hint=str(error)) from error
    if array.ndim != 2 or array.dtype.kind != "f" or not array.size:
        raise EmbeddingFormatError(
            path,
            "the array must have two dimensions, rows, and floating point numbers; "
            f"got shape {array.shape} of {array.dtype}",
        )
    list_path = word_list or sibling_word_list(path)
    if list_path is None:
        hint = "give them with --word-list FILE, or as X.words.txt beside X.npy"
        raise EmbeddingFormatError(path, "an array holds no words", hint=hint)
    words = read_words(list_path, bad)
    if len(words) != len(array):
        problem = f"{len(words)} words for the {len(array)} rows of {path}"
        hint = "give the list as --word-list and a filter as --words"
        raise EmbeddingFormatError(list_path, problem, hint=hint)
    blocks, dim = _npy_blocks(array, words), int(array.shape[1])
    return VectorSource(path, "npy", dim, array.dtype, list_path, blocks)


def _npy_blocks(array: Vectors, words: list[str | None]) -> Iterator[Block]:
    """Yield slices of the array without the rows whose words could not be read."""
    step = max(1, (8 << 20) // (array.dtype.itemsize * array.shape[1]))
    for start in range(0, len(words), step):
        some = range(start, min(start + step, len(words)))
        rows = [i for i in some if words[i] is not None]
        vectors = array[start : start + step] if len(rows) == len(some) else array[rows]
        kept = [word for word in words[start : start + step] if word is not None]
        yield Block(kept, vectors, [i + 1 for i in rows])
