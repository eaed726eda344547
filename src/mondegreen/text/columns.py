"""Which Arrow columns hold text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["is_list", "is_text"]


def is_text(kind: pa.DataType) -> bool:
    """Whether a type is that of strings, dictionaries of strings included."""
    import pyarrow.types as types

    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_string_view(kind)
        or (types.is_dictionary(kind) and is_text(kind.value_type))
    )


def is_list(kind: pa.DataType) -> bool:
    """Whether a type is that of lists, of whatever."""
    import pyarrow.types as types

    return bool(
        types.is_list(kind) or types.is_large_list(kind) or types.is_list_view(kind)
    )
