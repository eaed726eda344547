"""``privatize --spans``: annotated spans of the originals, moved onto the release."""

from __future__ import annotations

import functools
import json
from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from mondegreen.attacks.any_tool.spans import Annotation, SpanError, move_spans
from mondegreen.errors import ConfigurationError, InvalidParameterError, SourceError
from mondegreen.privatizer.arrow import replace_in_batch
from mondegreen.text.columns import is_list

if TYPE_CHECKING:
    from mondegreen.io.base import AbstractSource
    from mondegreen.privatizer.arrow import Counts
    from mondegreen.privatizer.privatizer import Privatizer
    from mondegreen.privatizer.release import Release

DISCLOSED: Final = (
    "annotated spans: which words the field of --spans annotates, and as what",
)
"""What the spans of a release disclose besides the release itself."""

_FORMATS: Final = ("csv", "json", "jsonl", "parquet", "tsv")


def check_spans(
    field: str, columns: Sequence[str], excluded: Mapping[str, bool]
) -> None:
    """Refuse options that do not go with spans.

    Raises
    ------
    ConfigurationError
        If there are several columns, or one of the ``excluded`` options is given.
    """
    if len(columns) > 1:
        raise ConfigurationError("--spans needs exactly one --column")
    if field in columns:
        raise ConfigurationError("--spans must name another field than --column")
    for name, is_given in excluded.items():
        if is_given:
            raise ConfigurationError(f"--spans cannot be combined with {name}")


def privatize_annotated(
    privatizer: Privatizer,
    batches: Iterable[pa.RecordBatch],
    columns: Mapping[str, str],
    *,
    id_column: str | None = None,
    source: AbstractSource,
    field: str,
) -> Generator[tuple[pa.RecordBatch, Counts]]:
    """Yield each batch privatized, its spans moved onto the release.

    Parameters
    ----------
    privatizer, batches, columns, id_column
        As of :func:`mondegreen.privatizer.parallel.privatize_batches`; one column.
    source : AbstractSource
        What is read, for the numbers of rows and for errors.
    field : str
        The column of spans. Of JSON it holds lists of JSON texts.

    Raises
    ------
    SourceError
        If spans are broken, or a row has several texts. It names the row and quotes
        nothing.
    """
    (column,) = columns
    first, has_spans = 1, False
    for number, batch in enumerate(batches):
        made: list[tuple[str | None, Release | None]] = []

        def replace(
            texts: Sequence[Any],
            records: Sequence[str] | None,
            column: str,
            places: Sequence[int] | None,
            number: int,
            made: list[tuple[str | None, Release | None]] = made,
        ) -> tuple[list[str | None], list[int]]:
            found = privatizer.releases(texts, records, column, places, number=number)
            made += zip(texts, found, strict=True)
            released = [None if each is None else each.text for each in found]
            return released, [0 if each is None else len(each.spans) for each in found]

        own = functools.partial(replace, number=number)
        released, counts = replace_in_batch(
            own, batch, columns, id_column, dotted=False
        )
        index = _find_column(source, batch, field)
        by_row = _by_row(source, batch.column(column), made, first)
        moved = _move(privatizer, source, batch.column(index), by_row, first, field)
        first += batch.num_rows
        has_spans |= any(moved.to_pylist())
        yield released.set_column(index, batch.schema.field(index), moved), counts
    if first > 1 and not has_spans:
        hint = "name the field that holds them"
        raise SourceError(source.name, f"no spans at {field!r} in any row", hint=hint)


def _find_column(source: AbstractSource, batch: pa.RecordBatch, field: str) -> int:
    from mondegreen.io.base import missing_column

    if source.format not in _FORMATS:
        allowed = f"a field of {', '.join(_FORMATS)}"
        raise InvalidParameterError("--spans", source.format, allowed)
    index = int(batch.schema.get_field_index(field))
    if index < 0:
        raise missing_column(source.name, field, batch.schema.names)
    return index


def _by_row(
    source: AbstractSource,
    column: pa.Array,
    made: Sequence[tuple[str | None, Release | None]],
    first: int,
) -> list[tuple[str | None, Release | None]]:
    """Give each row its text and its release."""
    if not is_list(column.type):
        return list(made)
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_pylist()
    rest = iter(made)
    found: list[tuple[str | None, Release | None]] = []
    for row, length in enumerate(lengths, start=first):
        if length > 1:
            problem = "several texts in a row, where --spans needs one"
            raise SourceError(source.name, problem, row=row)
        found.append(next(rest) if length else (None, None))
    return found


def _move(
    privatizer: Privatizer,
    source: AbstractSource,
    column: pa.Array,
    by_row: Sequence[tuple[str | None, Release | None]],
    first: int,
    field: str,
) -> pa.Array:
    """Move the spans of each row; errors name the row."""
    is_raw = source.format in ("json", "jsonl")
    found: list[Any] = []
    pairs = zip(column.to_pylist(), by_row, strict=True)
    for row, (value, (text, release)) in enumerate(pairs, start=first):
        move = functools.partial(_move_one, privatizer, text, release)
        try:
            if is_raw:
                found.append(_move_raw(value, text, move))
            else:
                found.append(move_spans(value, text or "", move))
        except (SpanError, InvalidParameterError) as error:
            why = str(error) if isinstance(error, SpanError) else "it does not fit"
            problem = f"field {field!r}: {why}"
        else:
            continue
        raise SourceError(source.name, problem, row=row)
    return pa.array(found, column.type)


def _move_raw(values: list[str] | None, text: str | None, move: Any) -> list[str]:
    """Move spans that are written in a record of JSON."""
    if not values:
        return []
    if len(values) > 1:
        raise SpanError("the record has it more than once")
    moved = move_spans(json.loads(values[0]), text or "", move)
    return [json.dumps(moved, ensure_ascii=False)]


def _move_one(
    privatizer: Privatizer,
    text: str | None,
    release: Release | None,
    spans: Sequence[Annotation],
) -> list[Annotation | None]:
    """Move the spans of one text onto its release."""
    if release is None or text is None:
        return [None] * len(spans)
    (parts,) = privatizer.lookup.cut([text]).parts
    moved = release.remap_parts(parts, spans)
    return [None if each is None else Annotation(*each) for each in moved]
