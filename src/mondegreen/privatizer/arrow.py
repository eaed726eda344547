"""Arrow batches and arrays, their texts replaced by what a function makes of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from mondegreen.errors import InvalidParameterError, MissingColumnError
from mondegreen.passes import METADATA_KEY, Pass, find_stated, from_json, to_json
from mondegreen.sampling.records import SeenIds, record_ids
from mondegreen.text.columns import (
    Steps,
    bare,
    find_paths,
    is_list,
    lists,
    make_strings,
    places,
    read_ids,
    read_text,
    rebuild,
    view,
    view_type,
)
from mondegreen.text.dictionaries import compact_batch

Counts: TypeAlias = NDArray[np.int64]
"""The number of words in each row."""

Replace = Callable[
    [Sequence[Any], Sequence[str] | None, str, Sequence[int] | None],
    tuple[list[str | None], Sequence[int]],
]
"""From texts, the ids of their records, their logical column, and how many texts of
the same record and column precede each, to the released texts and the number of words
of each."""

_METADATA = METADATA_KEY.encode()


def logical_names(columns: Sequence[str] | Mapping[str, str]) -> dict[str, str]:
    """Give each column its logical name, its own where none is given.

    Two columns may not share a name: equal texts of a record would then have equal
    releases in both.
    """
    if isinstance(columns, str):
        raise InvalidParameterError("columns", "one string", "a sequence of strings")
    own = {} if isinstance(columns, Mapping) else {name: name for name in columns}
    names = dict(columns) if isinstance(columns, Mapping) else own
    if len(set(names.values())) < len(names):
        shared = "one logical name for two columns"
        allowed = "different logical names"
        raise InvalidParameterError("columns", shared, allowed)
    return names


def replace_in_batch(
    replace: Replace,
    batch: pa.RecordBatch,
    columns: Sequence[str] | Mapping[str, str],
    id_column: str | None,
    *,
    unique_ids: bool = False,
    dotted: bool = True,
) -> tuple[pa.RecordBatch, Counts]:
    """Replace the texts of some columns; return the batch and the words of each row.

    Where names are ``dotted``, ``msg.body`` is a field of a struct too. Dictionaries of
    all columns keep only values that a row has.
    """
    names = logical_names(columns)
    located = {name: _locate(batch.schema, name, dotted) for name in names}
    records = None
    if id_column is not None:
        records = record_ids_in(batch, id_column, dotted=dotted)
    if unique_ids:
        SeenIds().add(records)
    words = np.zeros(batch.num_rows, dtype=np.int64)
    for name, (index, *steps) in located.items():
        array, what = batch.column(index), f"column {name!r}"
        column, count = _replace(
            replace, array, tuple(steps), what, names[name], records
        )
        field = batch.schema.field(index).with_type(column.type)
        batch = batch.set_column(index, field, column)
        words += count
    return compact_batch(batch), words


def replace_in_array(
    replace: Replace,
    array: pa.Array | pa.ChunkedArray,
    ids: Any,
    column: str,
    *,
    unique_ids: bool = False,
) -> pa.Array | pa.ChunkedArray:
    """Replace the texts of an array of strings, or of lists of strings."""
    if not isinstance(array, pa.Array | pa.ChunkedArray):
        raise InvalidParameterError("array", type(array).__name__, "an Arrow array")
    if isinstance(ids, pa.Array | pa.ChunkedArray):
        ids = read_ids(_whole(ids))
    records = record_ids(ids, len(array), SeenIds() if unique_ids else None)
    what = f"array of column {column!r}"
    released, _ = _replace(replace, _whole(array), (), what, column, records)
    if isinstance(array, pa.Array):
        return released
    ends = np.cumsum([0, *map(len, array.chunks)]).tolist()
    chunks = [released.slice(at, end - at) for at, end in itertools.pairwise(ends)]
    return pa.chunked_array(chunks, type=released.type)


def with_passes(batch: pa.RecordBatch, passes: Sequence[Pass]) -> pa.RecordBatch:
    """Add passes to those that the metadata states; all other metadata goes."""
    stated = find_stated(batch.schema.metadata)
    if passes:
        stated = to_json([*from_json(stated), *passes]).encode()
    kept = None if stated is None else {_METADATA: stated}
    return batch.cast(pa.schema([bare(each) for each in batch.schema], kept))


def _replace(
    replace: Replace,
    array: pa.Array,
    steps: Steps,
    what: str,
    column: str,
    records: list[str] | None,
) -> tuple[pa.Array, Counts]:
    """Replace the texts of one array, wherever in it they lie; count words by row."""
    if view_type(array.type, steps) is None:
        allowed = "strings or lists of strings"
        raise InvalidParameterError(what, str(array.type), allowed)
    text = view(array, steps)
    flat, own = (text.flatten(), None) if is_list(text.type) else (text, None)
    lengths = np.ones(len(text), dtype=np.int64)  # texts of each row
    if is_list(text.type):
        lengths = np.asarray(pc.fill_null(pc.list_value_length(text), 0))
        if records is not None:
            records = np.repeat(np.array(records, dtype=object), lengths).tolist()
            own = places(text)
    texts, words = replace(read_text(flat), records, column, own)
    before = np.cumsum([0, *words])  # words before each text
    ends = np.cumsum(lengths)
    by_row: Counts = before[ends] - before[ends - lengths]
    released = make_strings(texts)
    if is_list(text.type):
        released = lists(text, released, text.type)
    return rebuild(array, steps, released), by_row


def _locate(schema: pa.Schema, name: str, dotted: bool) -> Steps:
    """Find a column, or a field of a struct."""
    whole: list[Steps] = [(index,) for index in schema.get_all_field_indices(name)]
    found = find_paths(list(schema), name) if dotted else whole
    if not found:
        raise MissingColumnError("the batch", name, schema.names)
    if len(found) > 1:
        several = f"{len(found)} columns"
        raise InvalidParameterError(f"column {name!r}", several, "one column")
    return found[0]


def record_ids_in(
    batch: pa.RecordBatch, id_column: str, *, dotted: bool = True
) -> list[str]:
    """Read the ids of the rows."""
    steps = _locate(batch.schema, id_column, dotted)
    array = batch.column(steps[0])
    for step in steps[1:]:
        if is_list(array.type):
            raise InvalidParameterError("ids", str(array.type), "one in each row")
        array = pc.struct_field(array, [step])
    return read_ids(array)


def count_ids(table: pa.Table | pa.RecordBatch, id_column: Any) -> tuple[int, int]:
    """Count the different ids of a table, and its rows."""
    index, *steps = _locate(table.schema, id_column, dotted=True)
    array = table.column(index)
    for step in steps:
        array = pc.struct_field(array, [step])
    return len(array.unique()), len(array)


def _whole(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
