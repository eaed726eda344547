"""Arrow batches and arrays through a privatizer."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mondegreen.errors import InvalidParameterError, MissingColumnError
from mondegreen.passes import METADATA_KEY, Pass, from_json, to_json
from mondegreen.sampling.records import SeenIds, record_ids
from mondegreen.text.columns import (
    Steps,
    bare,
    find_paths,
    is_list,
    lists,
    places,
    read_ids,
    read_text,
    rebuild,
    view,
    view_type,
)

if TYPE_CHECKING:
    from mondegreen.privatizer.privatizer import Privatizer


_METADATA = METADATA_KEY.encode()


def logical_names(columns: Sequence[str] | Mapping[str, str]) -> dict[str, str]:
    """Return the logical name of each column, its own where none is given.

    Raises
    ------
    InvalidParameterError
        If two columns would share a name: equal texts of a record would then have
        equal releases in both.

    Examples
    --------
    >>> logical_names(["a", "b"]), logical_names({"review": "body"})
    ({'a': 'a', 'b': 'b'}, {'review': 'body'})
    """
    if isinstance(columns, str):
        raise InvalidParameterError("columns", "one string", "a sequence of strings")
    own = {} if isinstance(columns, Mapping) else {name: name for name in columns}
    names = dict(columns) if isinstance(columns, Mapping) else own
    if len(set(names.values())) < len(names):
        shared = "one logical name for two columns"
        raise InvalidParameterError("columns", shared, "a name of its own for each")
    return names


def privatize_batch(
    privatizer: Privatizer,
    batch: pa.RecordBatch,
    columns: Sequence[str] | Mapping[str, str],
    id_column: str | None,
    number: int | None,
    unique_ids: bool,
    metadata: bool,
) -> pa.RecordBatch:
    """Do what :meth:`mondegreen.privatizer.privatizer.Privatizer.arrow` says."""
    names = logical_names(columns)
    located = {name: _located(batch.schema, name) for name in names}
    records = None
    if id_column is not None:
        records = _records(batch, _located(batch.schema, id_column))
    if unique_ids:
        SeenIds().add(records)
    batch, _ = _replaced(privatizer, batch, names, located, records, number)
    stated = (batch.schema.metadata or {}).get(_METADATA)
    if metadata:
        passes = [Pass(name, privatizer.guarantee) for name in names]
        stated = to_json([*from_json(stated), *passes]).encode()
    kept = None if stated is None else {_METADATA: stated}
    return batch.cast(pa.schema([bare(each) for each in batch.schema], kept))


def count_batch(
    privatizer: Privatizer,
    batch: pa.RecordBatch,
    columns: Sequence[str] | Mapping[str, str],
    id_column: str | None,
    number: int | None,
) -> tuple[pa.RecordBatch, int]:
    """Do what :meth:`mondegreen.privatizer.privatizer.Privatizer.counted` says."""
    names = logical_names(columns)
    located = {name: (_index(batch.schema, name),) for name in names}
    records = None
    if id_column is not None:
        records = _records(batch, (_index(batch.schema, id_column),))
    return _replaced(privatizer, batch, names, located, records, number)


def privatize_column(
    privatizer: Privatizer,
    array: pa.Array | pa.ChunkedArray,
    ids: Any,
    column: str,
    number: int | None,
    unique_ids: bool,
) -> pa.Array | pa.ChunkedArray:
    """Do what :meth:`mondegreen.privatizer.privatizer.Privatizer.column` says."""
    if not isinstance(array, pa.Array | pa.ChunkedArray):
        raise InvalidParameterError("array", type(array).__name__, "an Arrow array")
    if isinstance(ids, pa.Array | pa.ChunkedArray):
        ids = read_ids(_whole(ids))
    records = record_ids(ids, len(array), SeenIds() if unique_ids else None)
    released, _ = _released(
        privatizer, _whole(array), (), "array", column, records, number
    )
    if isinstance(array, pa.Array):
        return released
    ends = np.cumsum([0, *map(len, array.chunks)]).tolist()
    chunks = [released.slice(at, end - at) for at, end in itertools.pairwise(ends)]
    return pa.chunked_array(chunks, type=released.type)


def _replaced(
    privatizer: Privatizer,
    batch: pa.RecordBatch,
    names: Mapping[str, str],
    located: Mapping[str, Steps],
    records: list[str] | None,
    number: int | None,
) -> tuple[pa.RecordBatch, int]:
    """Return the batch with its columns privatized, and the number of words."""
    words = 0
    for name, (index, *steps) in located.items():
        field = batch.schema.field(index)
        column, count = _released(
            privatizer,
            batch.column(index),
            tuple(steps),
            f"column {name!r}",
            names[name],
            records,
            number,
        )
        batch = batch.set_column(index, field.with_type(column.type), column)
        words += count
    return batch, words


def _released(
    privatizer: Privatizer,
    array: pa.Array,
    steps: Steps,
    what: str,
    column: str,
    records: list[str] | None,
    number: int | None,
) -> tuple[pa.Array, int]:
    """Privatize the texts of one array, wherever in it they lie."""
    if view_type(array.type, steps) is None:
        raise InvalidParameterError(
            what, str(array.type), "strings or lists of strings"
        )
    text = view(array, steps)
    flat, own = (text.flatten(), None) if is_list(text.type) else (text, None)
    if records is not None and is_list(text.type):
        lengths = np.asarray(pc.fill_null(pc.list_value_length(text), 0))
        records = np.repeat(np.array(records, dtype=object), lengths).tolist()
        own = places(text)
    texts, words = privatizer.texts(read_text(flat), records, column, number, own)
    released = pa.array(texts, pa.string())
    if is_list(text.type):
        released = lists(text, released, text.type)
    return rebuild(array, steps, released), words


def _located(schema: pa.Schema, name: str) -> Steps:
    """Return where a column, or a field of a struct, is."""
    found = find_paths(list(schema), name)
    if not found:
        raise MissingColumnError("the batch", name, schema.names)
    if len(found) > 1:
        several = f"{len(found)} columns"
        raise InvalidParameterError(f"column {name!r}", several, "one column")
    return found[0]


def _index(schema: pa.Schema, name: str) -> int:
    """Return where a whole column is."""
    found = schema.get_all_field_indices(name)
    if not found:
        raise MissingColumnError("the batch", name, schema.names)
    if len(found) > 1:
        several = f"{len(found)} columns"
        raise InvalidParameterError(f"column {name!r}", several, "one column")
    return int(found[0])


def _records(batch: pa.RecordBatch, steps: Steps) -> list[str]:
    """Return the ids of the rows."""
    array = batch.column(steps[0])
    for step in steps[1:]:
        if is_list(array.type):
            raise InvalidParameterError("ids", str(array.type), "one in each row")
        array = pc.struct_field(array, [step])
    return read_ids(array)


def _whole(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
