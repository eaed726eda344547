"""Arrow schemas without what was written on them, which may hold text."""

from __future__ import annotations

import pyarrow as pa

__all__ = ["bare"]

_FIELD_ID = b"PARQUET:field_id"
_LISTS = (
    (pa.types.is_list, pa.list_),
    (pa.types.is_large_list, pa.large_list),
    (pa.types.is_list_view, pa.list_view),
    (pa.types.is_large_list_view, pa.large_list_view),
)


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
