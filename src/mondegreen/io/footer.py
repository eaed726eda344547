"""Opening a Parquet file that may be damaged, before and with Arrow."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

import pyarrow.parquet as pq

from mondegreen.errors import SourceError

_READ_BYTES: Final = 1 << 20
_MAX_FOOTER: Final = 1 << 28
_MAX_ITEMS: Final = 1 << 20
_MAGIC: Final = b"PAR1"
_TAIL: Final = 8


def open_parquet(path: str) -> pq.ParquetFile:
    """Open a Parquet file.

    What its last bytes say of the footer is checked first. Arrow's own errors may
    quote bytes of the file, so that none of them is passed on.

    Raises
    ------
    SourceError
        If it cannot be opened, or its footer is not that of a Parquet file.
    """
    size = _footer_size(path)
    problem = "the footer of this Parquet file is damaged"
    try:
        file = pq.ParquetFile(
            path,
            buffer_size=_READ_BYTES,
            pre_buffer=False,
            # nothing in a footer is longer, or has more items, than it has bytes
            thrift_string_size_limit=max(size, _READ_BYTES),
            thrift_container_size_limit=_MAX_ITEMS,
            page_checksum_verification=True,
        )
        # fails where a name is no UTF-8
        file.schema_arrow.to_string(
            show_field_metadata=False, show_schema_metadata=False
        )
        return file
    except OSError as error:
        if error.strerror or error.errno:
            problem = f"cannot be opened: {error.strerror or 'unknown error'}"
    except Exception:  # noqa: S110  (whatever Arrow makes of it)
        pass
    raise SourceError(path, problem)


def _footer_size(path: str) -> int:
    """Return the bytes of the footer, if there is room for it."""
    try:
        with Path(path).open("rb", buffering=0) as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                hint = "save it first; Parquet is read from its end"
                raise SourceError(path, "is no regular file", hint=hint)
            head = file.read(len(_MAGIC))
            file.seek(max(found.st_size - _TAIL, 0))
            tail = file.read(_TAIL)
    except OSError as error:
        reason = error.strerror or "unknown error"
        raise SourceError(path, f"cannot be opened: {reason}") from None
    if b"PARE" in (head, tail[4:]):
        raise SourceError(path, "an encrypted Parquet file; decrypt it first")
    size = int.from_bytes(tail[:4], "little")
    room = found.st_size - len(_MAGIC) - _TAIL
    if head != _MAGIC or tail[4:] != _MAGIC or not 0 < size <= min(room, _MAX_FOOTER):
        raise SourceError(path, "not a Parquet file, or a truncated one")
    return size
