"""Temporary files of one's own: locked while they are written, swept when stale."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows, where an open file can neither be renamed nor removed
    fcntl = None  # type: ignore[assignment]

__all__ = ["CAN_LOCK", "new_temporary", "sweep", "whole_file"]

CAN_LOCK = fcntl is not None
"""Whether a temporary file is locked, and must be renamed before it is closed."""

_START, _END = ".mondegreen-", ".tmp"


def new_temporary(folder: Path, mode: int = 0o600) -> tuple[Path, BinaryIO]:
    """Create a file for writing that will be renamed into place in its folder.

    What a killed process of the same user has left there is removed first. The file
    is locked until it is closed, which tells others that its writer lives; so it is
    renamed before it is closed, where ``CAN_LOCK``.

    Parameters
    ----------
    folder : Path
        Where the file will have its final name.
    mode : int
        Permission bits, less the umask.
    """
    sweep(folder)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        path = folder / f"{_START}{secrets.token_hex(8)}{_END}"
        file = os.fdopen(os.open(path, flags, mode), "wb")
        if not CAN_LOCK:
            return path, file
        # A sweep that came in between may hold the lock, and has then removed it.
        with contextlib.suppress(OSError):  # some file systems have no locks
            fcntl.flock(file, fcntl.LOCK_EX)
        if os.fstat(file.fileno()).st_nlink:
            return path, file
        file.close()


@contextlib.contextmanager
def whole_file(path: Path, mode: int = 0o600) -> Iterator[BinaryIO]:
    """Yield a file that takes its name when the block ends, and never if it raises."""
    temporary, file = new_temporary(path.parent, mode)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if CAN_LOCK:
                temporary.replace(path)
        if not CAN_LOCK:
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def sweep(folder: Path) -> None:
    """Remove temporary files of this user whose writer is dead; it raises nothing."""
    if not CAN_LOCK:
        return
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(_START) and entry.name.endswith(_END):
                with contextlib.suppress(OSError):
                    _remove_if_stale(entry)


def _remove_if_stale(entry: os.DirEntry[str]) -> None:
    """Remove a file if nobody holds its lock; another's is never opened."""
    found = entry.stat(follow_symlinks=False)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid():
        return
    handle = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        now = os.lstat(entry.path)
        mine = os.fstat(handle)
        if (now.st_dev, now.st_ino, now.st_nlink) == (mine.st_dev, mine.st_ino, 1):
            Path(entry.path).unlink()
    finally:
        os.close(handle)
