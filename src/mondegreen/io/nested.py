"""Text inside the columns of a table, as :mod:`mondegreen.text.columns` finds it."""

from mondegreen.text.columns import (
    Steps,
    find_paths,
    is_id,
    is_text,
    rebuild,
    restore,
    view,
    view_type,
    widened,
)

__all__ = [
    "Steps",
    "find_paths",
    "is_id",
    "is_text",
    "rebuild",
    "restore",
    "view",
    "view_type",
    "widened",
]
