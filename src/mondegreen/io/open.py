"""Which class reads a file, and which one writes its release."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from mondegreen.errors import (
    ConfigurationError,
    InvalidParameterError,
    SourceError,
)
from mondegreen.io.base import (
    AbstractSink,
    AbstractSource,
    Metadata,
    Missing,
    Request,
    id_in_text,
)
from mondegreen.io.guess import Format, advice_on_name, guess_format
from mondegreen.io.stream import ByteStream
from mondegreen.io.target import Target, is_same_file
from mondegreen.settings import Structure


def open_source(
    path: str | Path,
    *,
    format: Format | None = None,
    columns: Sequence[str] = ("text",),
    id_column: str | None = None,
    missing: Missing = "stop",
    metadata: Metadata = "drop",
    delimiter: str | None = None,
    encoding: str | None = None,
    structure: Structure = "keep",
    sheet: str | None = None,
    raw_field: str | None = None,
    drop: Sequence[str] = (),
) -> AbstractSource:
    """Open a file, or standard input (``-``), as a stream of record batches.

    The name tells the format; standard input is ``txt``, unless it is plainly something
    else. JSON is an array of objects; objects in a row, as in JSON Lines, are known by
    the first character. In JSON, JSON Lines and Parquet a column may be a dotted path
    (``msg.body``), which goes through lists. CSV is split at commas, or at a semicolon
    or a tab where the header has a column only then. A release is UTF-8 whatever the
    encoding of the input: to fail on a drawn word that does not fit would be to choose
    among draws.
    An absent path of JSON is known, and raised, when the batches are read.
    ``structure`` is that of the releases that are to be written; ``sheet`` is that of
    an Excel workbook, by default the first. ``raw_field`` is a path of JSON, no column,
    whose values are a column too: lists of JSON texts. ``drop`` names columns, or paths
    of JSON, that the release lacks; one may be the id. One that is absent is an error.
    """
    path = str(path)
    chosen = format or ("txt" if path == "-" else guess_format(path))
    if path != "-" and Path(path).is_dir():
        hint = "name its files one by one"
        raise SourceError(path, "is a folder", hint=hint)
    if chosen is None or chosen not in get_args(Format):
        raise _unknown_format(path, format)
    columns = tuple(dict.fromkeys(columns))
    dropped = tuple(dict.fromkeys(drop))
    request = Request(path, chosen, columns, id_column, raw_field, dropped)
    _check_options(request, delimiter, encoding, sheet)
    if chosen == "parquet":
        from mondegreen.io.parquet import ParquetSource

        return ParquetSource(request, metadata)
    if chosen == "xlsx":
        from mondegreen.io.xlsx import XlsxSource

        return XlsxSource(request, sheet)
    stream = ByteStream(path, encoding)
    try:
        return _open_text(
            request, stream, format is None, missing, delimiter, structure
        )
    except BaseException:
        stream.close()
        raise


def _open_text(
    request: Request,
    stream: ByteStream,
    is_guess: bool,
    missing: Missing,
    delimiter: str | None,
    structure: Structure,
) -> AbstractSource:
    """Open a format of text; no other format is loaded."""
    if request.format == "txt":
        from mondegreen.io.text import TextSource

        return TextSource(request, stream, is_guess, structure)
    if request.format == "json":
        from mondegreen.io.json_array import JsonSource

        return JsonSource(request, stream, missing)
    if request.format == "jsonl":
        from mondegreen.io.jsonl import JsonLinesSource

        return JsonLinesSource(request, stream, missing)
    from mondegreen.io.csv import CsvSource

    return CsvSource(request, stream, delimiter)


def open_sink(
    path: str | Path,
    source: AbstractSource,
    *,
    force: bool = False,
    in_place: bool = False,
) -> AbstractSink:
    """Make a sink of the format of the source; nothing is created before ``with``.

    ``force`` allows that a file is replaced, but not the file of the source: that
    takes ``in_place``, and is done when all of it has been read.

    >>> with open_source("in.csv") as source:  # doctest: +SKIP
    ...     with open_sink("out.csv", source) as sink:
    ...         for batch in source.batches():
    ...             sink.write(privatizer.arrow(batch, source.text_columns))
    ...         sink.commit({"mondegreen": privatizer.guarantee.to_json()})
    """
    path = str(path)
    promised = None if path == "-" else guess_format(path)
    if promised not in (None, source.format, guess_format(source.path)):
        ending = Path(path).with_suffix(f".{source.format}").name
        allowed = f"a .{source.format} file like the input, such as {ending}"
        raise InvalidParameterError("output", path, allowed)
    if is_same_file(source.path, path) != in_place:
        wanted = "the input itself" if in_place else "another file than the input"
        hint = "" if in_place else " (--in-place replaces the original by its release)"
        raise InvalidParameterError("output", path, wanted + hint)
    if in_place and Path(path).stat().st_nlink > 1:
        raise ConfigurationError(
            f"{path} has several hard links, so the original would remain. Copy it "
            "first"
        )
    return source.sink(Target(path, force=force or in_place))


def _unknown_format(path: str, format: str | None) -> Exception:
    """Make the error for a format that is unknown, or told by nothing."""
    if format is None and not Path(path).exists():
        return SourceError(path, "cannot be opened: No such file or directory")
    formats = ", ".join(get_args(Format))
    if format is not None:
        return InvalidParameterError("format", format, f"one of {formats}")
    advice = advice_on_name(path) or "give the format"
    return ConfigurationError(
        f"the name {Path(path).name!r} shows no format that can be read: {advice}. "
        f"Formats: {formats}"
    )


def _check_options(
    request: Request,
    delimiter: str | None,
    encoding: str | None,
    sheet: str | None,
) -> None:
    """Refuse what this format does not allow."""
    chosen, own = request.format, request.id_column
    if not request.columns:
        raise InvalidParameterError("columns", [], "at least one name")
    for column in request.columns:
        if column == own or (
            own and chosen in ("json", "jsonl") and _meet(column, own)
        ):
            raise id_in_text(own, column)
    _check_raw_field(request)
    _check_drop(request)
    if delimiter is not None and chosen not in ("csv", "tsv"):
        raise InvalidParameterError("delimiter", delimiter, f"absent for {chosen}")
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n\0'):
        raise InvalidParameterError("delimiter", delimiter, "one character, or \\t")
    if encoding is not None and chosen in ("parquet", "xlsx"):
        raise InvalidParameterError("encoding", encoding, f"absent for {chosen}")
    if sheet is not None and chosen != "xlsx":
        raise InvalidParameterError("sheet", sheet, f"absent for {chosen}")


def _check_raw_field(request: Request) -> None:
    """Refuse annotations that hold a text or an id, or are in one."""
    raw, own = request.raw_field, request.id_column
    for column in (*request.columns, *([own] if own else [])):
        if raw is not None and _meet(column, raw):
            raise InvalidParameterError("spans", raw, "no column of text, and no id")


def _check_drop(request: Request) -> None:
    """Refuse to drop what is privatized, or what lines of text cannot lack."""
    if request.drop and request.format == "txt":
        allowed = "absent for txt, which has no other columns"
        raise InvalidParameterError("drop", request.drop[0], allowed)
    for name in request.drop:
        for column in (*request.columns, request.raw_field):
            if column is not None and _meet(column, name):
                allowed = f"a column other than {column!r}, which the release holds"
                raise InvalidParameterError("drop", name, allowed)


def _meet(one: str, other: str) -> bool:
    """Whether one dotted path leads through the other."""
    return f"{other}.".startswith(f"{one}.") or f"{one}.".startswith(f"{other}.")
