"""What a file is, by its name or its first bytes, and what to do with what is unfit."""

from __future__ import annotations

import contextlib
import csv
import json
import re
from pathlib import Path
from typing import Final, Literal, get_args

from mondegreen.errors import SourceError

Format = Literal["csv", "json", "jsonl", "parquet", "tsv", "txt", "xlsx"]

_SUFFIXES: Final[dict[str, Format]] = {
    ".ndjson": "jsonl",
    **{f".{name}": name for name in get_args(Format)},
}

_ADVICE: Final = {
    ".xls": "it is the old Excel format. Save it as .xlsx, or as CSV UTF-8",
    ".xlsm .xlsb .ods .numbers": "save it as .xlsx, or as CSV UTF-8",
    ".geojson": "make JSON Lines of it: jq -c '.features[]' x.geojson > x.jsonl",
    ".doc .docx .odt .pdf .rtf .html .htm .epub": "save it as plain text, .txt",
    ".zip .7z .tar .tgz .bz2 .xz .zst .parquet.gz": "unpack it; only .gz of text is",
    ".arrow .feather .orc .avro .sqlite .db": "write it as Parquet or CSV",
    ".md .log .text .tex": "--format txt takes each line as a text",
}

_STARTS: Final = {
    b"PAR1": ("Parquet", "write it to a file that is named .parquet"),
    b"\x1f\x8b": ("gzip", "unpack it: gunzip -c; or name the file .txt.gz"),
    b"PK\x03\x04": (
        "a zip or an Office file",
        "unpack it, name it .xlsx, or export text",
    ),
    b"\xd0\xcf\x11\xe0": ("an Office file", "export text or CSV"),
    b"%PDF-": ("PDF", "save it as plain text"),
    b"ARROW1": ("Arrow", "write it as Parquet"),
    b"BZh": ("bzip2", "unpack it"),
    b"\xfd7zXZ\x00": ("xz", "unpack it"),
    b"\x28\xb5\x2f\xfd": ("zstd", "unpack it"),
}

_ARRAY: Final = re.compile(rb'\s*\[\s*\{\s*"').match

_SAMPLE_LINES: Final = 10
_SAMPLE_BYTES: Final = 1 << 18
_DELIMITERS: Final = {",": "csv", "\t": "tsv", ";": "csv --delimiter ';'"}

# A column name: words, which prose after a comma is not, as it begins with a space.
_NAME: Final = re.compile(r"[^\W\d]\w*([ .:/-]\w+){0,3}").fullmatch


def guess_format(path: str) -> Format | None:
    """Tell the format from the name of a file, ``.gz`` taken off.

    >>> [guess_format(f"notes.{end}") for end in ("CSV", "jsonl.gz", "doc")]
    ['csv', 'jsonl', None]
    """
    name = Path(path).name.lower()
    packed = name.endswith(".gz")
    found = _SUFFIXES.get(Path(name.removesuffix(".gz")).suffix)
    return None if packed and found in ("parquet", "xlsx") else found


def advice_on_name(path: str) -> str:
    """Say what to do with a file whose name tells none of the formats, if known."""
    name = Path(path).name.lower()
    for suffixes, advice in _ADVICE.items():
        if name.endswith(tuple(suffixes.split())):
            return advice
    return ""


def refuse_unlike_text(block: bytes, name: str) -> None:
    """Refuse what is plainly no prose, where nobody said that it is.

    Binary files, by their first bytes or by a zero byte. JSON, where the first line
    is an object, or opens one. A table, where the first line reads as the names of
    at least two columns, each another, with no space after the delimiter, and each
    of the next lines, at least one and at most nine, has as many values. The block
    is what the first read has brought: whole lines.
    """
    found = _binary(block) or _json(block) or _table(block)
    if found is not None:
        problem = f"this is {found[0]}, not lines of text"
        hint = f"{found[1]}; --format txt reads it as text anyway"
        raise SourceError(name, problem, hint=hint)


def _binary(block: bytes) -> tuple[str, str] | None:
    for start, found in _STARTS.items():
        if block.startswith(start):
            return found
    if b"\0" in block:
        return "binary", "if it is UTF-16, give --encoding utf-16-le or utf-16-be"
    return None


def _json(block: bytes) -> tuple[str, str] | None:
    line = block.lstrip().partition(b"\n")[0].rstrip()
    if line.startswith(b"{") and line.endswith(b"}"):
        with contextlib.suppress(ValueError, RecursionError):
            if len(line) <= _SAMPLE_BYTES:  # a very long one is taken at its word
                json.loads(line, parse_int=str)
            return "JSON Lines", "give --format jsonl"
    if line.startswith(b'{"') or _ARRAY(block):
        return "JSON", "give --format json"
    return None


def _table(block: bytes) -> tuple[str, str] | None:
    text = block[:_SAMPLE_BYTES].decode(errors="replace")
    if len(block) > _SAMPLE_BYTES:  # the last line may be cut
        text = text.rpartition("\n")[0]
    lines = text.split("\n")[:_SAMPLE_LINES]
    for delimiter, option in _DELIMITERS.items():
        if _is_table([line.removesuffix("\r") for line in lines if line], delimiter):
            return "a table with a header", f"give --format {option}"
    return None


def _is_table(lines: list[str], delimiter: str) -> bool:
    try:
        header, *rows = csv.reader(lines, delimiter=delimiter, strict=True)
    except (ValueError, csv.Error):  # no line, or quotes that a table has not
        return False
    if len(header) < 2 or len(set(header)) < len(header):
        return False
    names = header[1:] if header[0] == "" else header  # pandas leaves the index so
    widths = {len(row) for row in rows}
    return all(map(_NAME, names)) and widths == {len(header)}
