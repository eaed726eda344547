"""Bytes of a file or a pipe, as they come, cut at line ends."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from mondegreen.errors import DecodeError, InvalidParameterError, SourceError

CHUNK_BYTES = 2 << 20
"""Bytes asked for at once, and so about the text of one batch."""

BATCH_ROWS = 2048
"""Rows in a batch at most: a few thousand tweets are then work for several jobs."""

MAX_RECORD_BYTES = 1 << 28
"""A longer record is refused: it is a file that was misread, and would fill memory."""

_BOM = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")

# Ways to write text in names and programs, in which a line end is something else.
_NO_FILES = ("idna", "punycode", "raw-unicode-escape", "unicode-escape")


class ByteStream:
    """Bytes of a file (``.gz`` is unpacked) or of standard input (``-``), as UTF-8."""

    def __init__(self, path: str, encoding: str | None = None) -> None:
        self._decoder = None if encoding is None else _decoder(encoding)
        self._encoding = None if encoding is None else _name(encoding)
        self.notes: tuple[str, ...] = ()  # what may surprise
        if self._decoder is not None:
            read_as = f"The input is read as {self._encoding}; the output is UTF-8."
            self.notes = (read_as,)
        self.name = "standard input" if path == "-" else path
        self.total: int | None = None  # bytes on disk; None for a pipe
        self.bom = b""  # the byte order mark; known once the first block is read
        self.start = 0  # offset in the unpacked file of the block yielded last
        self._unpacked = 0
        self._files: list[Any] = []  # to close, in this order
        if path == "-":
            # it is buffered, and read1() waits for no more than one read brings
            self._read_some = cast(io.BufferedReader, sys.stdin.buffer).read1
            return
        try:
            # Unbuffered: read() then returns what a pipe holds and waits for no more.
            raw: Any = Path(path).open("rb", buffering=0)
        except OSError as error:
            raise _unreadable(path, "opened", error) from None
        status = os.fstat(raw.fileno())
        if stat.S_ISREG(status.st_mode):
            self.total = status.st_size
        self._files = [raw]
        if path.endswith(".gz"):
            self._files.insert(0, gzip.GzipFile(fileobj=raw, mode="rb"))
        self._read_some = self._files[0].read

    @property
    def position(self) -> int:
        """How much of ``total`` has been read, in bytes of the packed file."""
        if len(self._files) < 2:
            return self._unpacked
        raw = self._files[1]
        return (self.total or 0) if raw.closed else raw.tell()

    def read(self) -> bytes:
        """Read the bytes that are there, at most a chunk; empty at the end."""
        while True:
            chunk = self._check()
            if self._decoder is None:
                return chunk
            decoded = self._decode(chunk, self._decoder)
            if decoded or not chunk:  # a part of a character is no end
                return decoded

    def _decode(self, chunk: bytes, decoder: codecs.IncrementalDecoder) -> bytes:
        """Turn a chunk into UTF-8. An error of the codec carries the text with it."""
        start = self._unpacked - len(chunk) - len(decoder.getstate()[0])
        try:
            return decoder.decode(chunk, final=not chunk).encode()
        except UnicodeDecodeError as error:
            start += error.start
        except UnicodeError:
            pass  # half of a surrogate pair, or no byte order mark where one must be
        raise DecodeError(self.name, offset=start, encoding=self._encoding)

    def _check(self) -> bytes:
        try:
            chunk: bytes = self._read_some(CHUNK_BYTES)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise SourceError(self.name, "not a complete gzip file") from None
        except OSError as error:
            raise _unreadable(self.name, "read", error) from None
        self._unpacked += len(chunk)
        return chunk

    def close(self) -> None:
        """Close the file; standard input stays open."""
        for file in self._files:
            file.close()

    def blocks(self) -> Iterator[bytes]:
        r"""Yield blocks of whole lines: each ends in ``\n``, save perhaps the last.

        A block goes out as soon as one read has brought the end of a line, so that a
        pipe is followed line by line. A byte order mark at the start is taken off.
        """
        # Pieces of an unfinished line are joined once: adding them up as they come
        # would take time quadratic in the length of the line.
        pieces: list[bytes] = []
        offset = 0
        while chunk := self.read():
            end = chunk.rfind(b"\n") + 1
            if end:
                self.start = offset
                block = b"".join([*pieces, chunk[:end]])
                offset += len(block)
                pieces = [chunk[end:]]
                yield self._without_bom(block)
            else:
                pieces.append(chunk)
            if sum(map(len, pieces)) > MAX_RECORD_BYTES:
                problem = f"a line is longer than {MAX_RECORD_BYTES >> 20} MiB"
                hint = "is it really a text file with line ends?"
                raise SourceError(self.name, problem, hint=hint)
        self.start = offset
        rest = self._without_bom(b"".join(pieces))
        if rest:
            yield rest

    def lines(self) -> Iterator[tuple[list[str], int | None]]:
        r"""Yield the lines of each block, split at ``\n`` alone.

        With them the offset of a byte that is no UTF-8, where there is one: the whole
        lines before it still count as rows, and nothing follows.
        """
        for block in self.blocks():
            text, good = decode_prefix(block)
            broken = None
            if good < len(block):
                text = text[: text.rfind("\n") + 1]
                broken = self.start + good
            # str.splitlines would split on U+2028 too
            yield list(io.StringIO(text, newline="\n")), broken
            if broken is not None:
                return

    def texts(self) -> Iterator[tuple[str, int | None]]:
        """Yield the text that each read brings, wherever it ends.

        With it the offset of a byte that is no UTF-8, as ``lines`` does. It is for
        formats that need no line ends: a line may be as long as the file.
        """
        rest, offset, chunk = b"", 0, b"."
        while chunk:
            chunk = self.read()
            block = rest + chunk
            if offset == 0 and chunk and len(block) < len(_BOM):
                rest = block
                continue
            self.start = offset
            block = self._without_bom(block)
            text, good = decode_prefix(block)
            offset, rest = self.start + good, block[good:]
            # A character that is not complete yet has three bytes at most.
            is_broken = len(rest) > 3 or (rest and not chunk)
            yield text, offset if is_broken else None
            if is_broken:
                return

    def _without_bom(self, block: bytes) -> bytes:
        if self.start == 0 and block.startswith(_UTF_16):
            problem = "this is UTF-16, by its first bytes"
            raise SourceError(self.name, problem, hint="give --encoding utf-16")
        if self.start == 0 and block.startswith(_BOM):
            self.bom = _BOM
            self.start = len(_BOM)
            return block[len(_BOM) :]
        return block


def _unreadable(name: str, verb: str, error: OSError) -> SourceError:
    reason = error.strerror or "unknown error"
    return SourceError(name, f"cannot be {verb}: {reason}")


def _name(encoding: str) -> str:
    """Take Latin-1 for Windows-1252, as browsers do: a file has no control characters.

    >>> _name("latin-1"), _name("utf-16")
    ('cp1252', 'utf-16')
    """
    is_latin = codecs.lookup(encoding).name == "iso8859-1"
    return "cp1252" if is_latin else encoding


def _decoder(encoding: str) -> codecs.IncrementalDecoder | None:
    """Make what turns bytes into text; None for UTF-8, which needs nothing."""
    try:
        encoding = _name(encoding)
        b"\0\0\0\0".decode(encoding)  # refuses what is no encoding of text
        found = codecs.lookup(encoding)
    except (LookupError, ValueError):
        found = None
    if found is None or found.name.replace("_", "-") in _NO_FILES:
        allowed = "that of a text file, such as cp1252 or utf-16"
        raise InvalidParameterError("encoding", encoding, allowed)
    if found.name in ("utf-8", "utf-8-sig"):
        return None
    return codecs.getincrementaldecoder(encoding)("strict")


def decode_prefix(block: bytes) -> tuple[str, int]:
    """Decode up to the first broken byte; return the text, and the bytes it takes.

    It raises nothing: a ``UnicodeDecodeError`` carries the record with it.
    """
    try:
        return block.decode(), len(block)
    except UnicodeDecodeError as error:
        end = error.start
    return block[:end].decode(), end
