"""Text inside Parquet columns: plain, as dictionary, in lists, in structs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

__all__ = [
    "bare",
    "find_paths",
    "is_text",
    "rebuild",
    "restore",
    "view",
    "view_type",
    "widened",
]

Steps = tuple[int, ...]
"""Index of a column, then of a field in each struct on the way; lists take no step."""


_FIELD_ID = b"PARQUET:field_id"
_LISTS = (
    (pa.types.is_list, pa.list_),
    (pa.types.is_large_list, pa.large_list),
    (pa.types.is_list_view, pa.list_view),
    (pa.types.is_large_list_view, pa.large_list_view),
)


def is_text(kind: pa.DataType) -> bool:
    """Whether a value of this type is a string, however it is stored."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
    )


def is_list(kind: pa.DataType) -> bool:
    """Whether it is a list of any length."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def find_paths(fields: Sequence[pa.Field], path: str) -> list[Steps]:
    """Return every way to read a dotted path; names may themselves hold dots."""
    found: list[Steps] = []
    for index, field in enumerate(fields):
        if field.name == path:
            found.append((index,))
        kind = field.type
        while is_list(kind):
            kind = kind.value_type
        if pa.types.is_struct(kind) and path.startswith(field.name + "."):
            rest = path[len(field.name) + 1 :]
            inner = [kind.field(i) for i in range(kind.num_fields)]
            found += [(index, *steps) for steps in find_paths(inner, rest)]
    return found


def view_type(kind: pa.DataType, steps: Steps) -> pa.DataType | None:
    """Return the type of the text as a batch shows it; None where there is no text."""
    if is_list(kind):
        inner = view_type(kind.value_type, steps)
        return pa.list_(pa.string()) if inner == pa.string() else None
    if steps:
        return view_type(kind.field(steps[0]).type, steps[1:])
    return pa.string() if is_text(kind) else None


def view(array: pa.Array, steps: Steps) -> pa.Array:
    """Return the text as ``string``, or ``list<string>`` where it lies in lists."""
    if is_list(array.type):
        inner = view(array.flatten(), steps)
        return _lists(array, inner, pa.list_(inner.type))
    if steps:
        return view(pc.struct_field(array, [steps[0]]), steps[1:])
    return array.cast(pa.string())


def rebuild(array: pa.Array, steps: Steps, text: pa.Array | None) -> pa.Array:
    """Return the column with its text replaced; by nulls if ``text`` is None.

    A row of ``text`` that is null where the list in ``array`` is not makes the whole
    list null: such a row has been refused, and keeps nothing.
    """
    if is_list(array.type):
        if text is not None:
            refused = pc.and_not(text.is_null(), array.is_null())
            if refused.true_count:
                array = pc.if_else(refused, pa.scalar(None, array.type), array)
            text = text.flatten()
        inner = rebuild(array.flatten(), steps, text)
        return _lists(array, inner, array.type)
    if not steps:
        if text is None:
            return pa.nulls(len(array), array.type)
        return restore(text, array.type)
    fields = [array.type.field(i) for i in range(array.type.num_fields)]
    # `field` ignores the nulls of the struct itself, `struct_field` brings them in
    children = [pc.struct_field(array, [i]) for i in range(len(fields))]
    children[steps[0]] = rebuild(children[steps[0]], steps[1:], text)
    return pa.StructArray.from_arrays(children, fields=fields, mask=array.is_null())


def restore(text: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return ``string`` or ``list<string>`` as the type of its column."""
    if is_list(kind):
        return _lists(text, restore(text.flatten(), kind.value_type), kind)
    if pa.types.is_dictionary(kind):
        return text.cast(kind.value_type).dictionary_encode().cast(kind)
    return text.cast(kind)


def widened(field: pa.Field, steps: Steps) -> pa.Field:
    """Return the field with room in its dictionary for more distinct texts.

    A category column may count its texts in 8 bits, and a release holds others.
    """
    return field.with_type(_widened(field.type, steps))


def _widened(kind: pa.DataType, steps: Steps) -> pa.DataType:
    if is_list(kind):
        inner = kind.value_field.with_type(_widened(kind.value_type, steps))
        return pa.list_(inner) if pa.types.is_list(kind) else pa.large_list(inner)
    if steps:
        fields = [kind.field(i) for i in range(kind.num_fields)]
        fields[steps[0]] = widened(fields[steps[0]], steps[1:])
        return pa.struct(fields)
    if pa.types.is_dictionary(kind):
        return pa.dictionary(pa.int32(), kind.value_type, ordered=kind.ordered)
    return kind


def bare(field: pa.Field) -> pa.Field:
    """Return the field without metadata, its own and of all fields inside.

    Types that Arrow knows keep their parameters, and fields the numbers by which
    table formats find them.
    """
    number = (field.metadata or {}).get(_FIELD_ID, b"")
    kept = {_FIELD_ID: number} if number.isdigit() else None
    return pa.field(field.name, _bare(field.type), field.nullable, kept)


def _bare(kind: pa.DataType) -> pa.DataType:
    types = pa.types
    if types.is_struct(kind):
        return pa.struct([bare(kind.field(i)) for i in range(kind.num_fields)])
    if types.is_map(kind):
        key, item = bare(kind.key_field), bare(kind.item_field)
        return pa.map_(key, item, keys_sorted=kind.keys_sorted)
    if types.is_fixed_size_list(kind):
        return pa.list_(bare(kind.value_field), kind.list_size)
    for is_kind, build in _LISTS:
        if is_kind(kind):
            return build(bare(kind.value_field))
    return kind


def _lists(like: pa.Array, values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return lists as long as those of ``like``, null where they are null."""
    lengths = np.asarray(pc.fill_null(pc.list_value_length(like), 0))
    width, build = (
        (np.int64, pa.LargeListArray)
        if pa.types.is_large_list(kind)
        else (np.int32, pa.ListArray)
    )
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(width)
    return build.from_arrays(
        pa.array(offsets), values, type=kind, mask=pc.is_null(like)
    )
