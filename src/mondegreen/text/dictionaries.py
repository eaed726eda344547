"""Dictionaries of Arrow columns, without the values that no row has.

A filtered table keeps the whole dictionary: it holds values of the removed rows, and
files hold all of it.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import types

from mondegreen.errors import DataError
from mondegreen.text.columns import (
    as_entries,
    is_any_list,
    list_lengths,
    lists,
    make_map,
)

_Mask: TypeAlias = NDArray[np.bool_]


def holds_dictionary(kind: pa.DataType) -> bool:
    """Whether a type is a dictionary, or has one inside.

    >>> holds_dictionary(pa.list_(pa.dictionary(pa.int8(), pa.string())))
    True
    """
    if types.is_dictionary(kind):
        return True
    if isinstance(kind, pa.BaseExtensionType):
        return holds_dictionary(kind.storage_type)
    return any(holds_dictionary(kind.field(i).type) for i in range(kind.num_fields))


def compact(array: pa.Array, kept: _Mask | None = None) -> pa.Array:
    """Remove the values of dictionaries that no row has; the type is the same.

    Values that are ``kept`` stay, for a dictionary that several arrays share.

    Raises
    ------
    DataError
        If a dictionary is inside a union or a run-end encoded array.

    Examples
    --------
    >>> status = pa.array(["secret", "open"]).dictionary_encode()
    >>> compact(status.slice(1)).dictionary.to_pylist()
    ['open']
    """
    if not holds_dictionary(array.type):
        return array
    every = np.ones(len(array), dtype=np.bool_)
    if kept is not None and types.is_dictionary(array.type):
        return _compact_dictionary(array, every, kept)
    return _compact(array, every)


def compact_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Remove the values of dictionaries that no row of the batch has."""
    for index, field in enumerate(batch.schema):
        if holds_dictionary(field.type):
            batch = batch.set_column(index, field, compact(batch.column(index)))
    return batch


def compact_chunks(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Remove the values that no row of any chunk has; chunks share a dictionary.

    So ordered values stay in their order. Where an index is too narrow for the values
    of all chunks, each chunk has its own.
    """
    try:
        arrays = [column.combine_chunks()] if column.num_chunks else []
    except pa.ArrowInvalid:
        arrays = column.chunks
    return pa.chunked_array([compact(each) for each in arrays], column.type)


def find_used(array: pa.DictionaryArray) -> _Mask:
    """Find the values of the dictionary that some row has."""
    return _find_used(array, np.ones(len(array), dtype=np.bool_))


def _find_used(array: pa.DictionaryArray, rows: _Mask) -> _Mask:
    used = np.zeros(len(array.dictionary), dtype=np.bool_)
    used[np.asarray(array.indices.filter(pa.array(rows)).drop_null())] = True
    return used


def _compact(array: pa.Array, rows: _Mask) -> pa.Array:
    """Do so for some ``rows``: the others are in a struct or list that is null."""
    kind = array.type
    if not holds_dictionary(kind):
        return array
    if types.is_dictionary(kind):
        return _compact_dictionary(array, rows)
    rows = rows & np.asarray(array.is_valid())
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, _compact(array.storage, rows))
    if types.is_struct(kind):
        fields = [kind.field(i) for i in range(kind.num_fields)]
        children = [_compact(array.field(i), rows) for i in range(len(fields))]
        mask = array.is_null()
        return pa.StructArray.from_arrays(children, fields=fields, mask=mask)
    if types.is_map(kind):
        return make_map(_compact(as_entries(array), rows), kind)
    if types.is_fixed_size_list(kind):
        return _compact_fixed(array, rows)
    if is_any_list(kind):
        inner = _compact(array.flatten(), np.repeat(rows, list_lengths(array)))
        return lists(array, inner, kind)
    raise DataError(
        f"a column of type {kind} holds a dictionary, which may have values of other "
        "rows. Drop the column, or decode the dictionary first"
    )


def _compact_fixed(array: pa.FixedSizeListArray, rows: _Mask) -> pa.Array:
    size = array.type.list_size
    values = array.values.slice(array.offset * size, len(array) * size)
    inner = _compact(values, np.repeat(rows, size))
    mask = pc.is_null(array)
    return pa.FixedSizeListArray.from_arrays(inner, type=array.type, mask=mask)


def _compact_dictionary(
    array: pa.DictionaryArray, rows: _Mask, kept: _Mask | None = None
) -> pa.DictionaryArray:
    """Number the values anew; rows that are hidden get the first one, or a null."""
    used = _find_used(array, rows)
    if kept is not None and len(kept) == len(used):
        used |= kept
    values = array.dictionary
    if used.all() and rows.all() and not holds_dictionary(values.type):
        return array
    numbers = np.maximum(np.cumsum(used) - 1, 0).astype(str(array.type.index_type))
    indices = array.indices
    if not used.any():
        indices = pa.nulls(len(array), indices.type)
    elif not rows.all():  # Arrow leaves any number where a struct is null
        first = pa.scalar(int(np.argmax(used)), indices.type)
        indices = pc.if_else(pa.array(rows), indices, first)
    return pa.DictionaryArray.from_arrays(
        pa.array(numbers).take(indices),
        compact(values.filter(pa.array(used))),
        ordered=array.type.ordered,
    )
