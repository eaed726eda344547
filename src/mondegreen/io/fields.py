"""A field of each row that is no text to privatize: annotations, or a label."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from mondegreen.errors import (
    DecodeError,
    InvalidParameterError,
    MissingColumnError,
    SourceError,
)
from mondegreen.io.base import missing_column
from mondegreen.io.guess import Format, guess_format
from mondegreen.io.open import open_source
from mondegreen.io.stream import ByteStream

_FORMATS: Final = ("csv", "tsv", "jsonl", "parquet", "xlsx")


def read_field(
    path: str | Path,
    name: str,
    format: Format | None = None,
    *,
    encoding: str | None = None,
    sheet: str | None = None,
) -> Iterator[Any]:
    """Yield the values of one field, row by row, in constant memory.

    Parameters
    ----------
    path : str or Path
        A CSV, TSV, JSON Lines, Parquet or Excel file.
    name : str
        A column, or the dotted path of a field of JSON objects.
    format : str, optional
        If the name of the file does not tell it.
    encoding, sheet : str, optional
        As in :func:`mondegreen.io.open.open_source`.

    Yields
    ------
    str, list, mapping, number or None
        JSON Lines and Parquet keep lists and objects; CSV and Excel have text alone.

    Raises
    ------
    MissingColumnError
        Where there is no such column.
    SourceError
        Where a line is not a JSON object, or not UTF-8.
    """
    chosen = format or guess_format(str(path))
    if str(path) == "-" or chosen not in _FORMATS:
        allowed = "a field of a CSV, TSV, JSON Lines, Parquet or Excel file"
        raise InvalidParameterError("field", name, allowed)
    if chosen == "parquet":
        yield from _of_parquet(path, name)
    elif chosen == "jsonl":
        yield from _of_lines(str(path), name, encoding)
    else:
        with open_source(
            path, format=chosen, columns=(name,), encoding=encoding, sheet=sheet
        ) as source:
            for batch in source.batches():
                yield from batch.column(name).to_pylist()


def _of_parquet(path: str | Path, name: str) -> Iterator[Any]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        if name not in file.schema_arrow.names:
            raise MissingColumnError(path, name, file.schema_arrow.names)
        for batch in file.iter_batches(columns=[name]):
            yield from batch.column(0).to_pylist()


def _of_lines(path: str, name: str, encoding: str | None) -> Iterator[Any]:
    keys: list[str] = []
    is_there = False
    for row, each in enumerate(_read_objects(path, encoding), start=1):
        keys = keys or [*each]
        value: Any = each
        has_all = True
        for part in name.split("."):
            if not isinstance(value, dict):
                raise SourceError(path, "not a JSON object", row=row)
            has_all &= part in value
            value = value.get(part)
        is_there |= has_all
        yield value
    if keys and not is_there:  # a row may lack it; where all do, its name is wrong
        raise missing_column(path, name, keys)


def _read_objects(path: str, encoding: str | None) -> Iterator[dict[str, Any]]:
    """Yield the object of each line."""
    stream = ByteStream(path, encoding)
    row = 0
    try:
        for lines, broken in stream.lines():
            for line in lines:
                if line.isspace():
                    continue
                row += 1
                try:
                    found = json.loads(line)
                except ValueError:
                    raise SourceError(path, "not valid JSON", row=row) from None
                if not isinstance(found, dict):
                    raise SourceError(path, "not a JSON object", row=row)
                yield found
            if broken is not None:
                raise DecodeError(path, row=row + 1, offset=broken)
    finally:
        stream.close()
