"""Files that were computed before: believed only where nobody else can write them."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from mondegreen.files import whole_file

__all__ = ["home", "read_own", "write_own"]

_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def home() -> Path:
    """Return the directory of fetched spaces and of what was computed before.

    ``$MONDEGREEN_HOME``, else ``$XDG_CACHE_HOME/mondegreen``, else
    ``~/.cache/mondegreen``.
    """
    if own := os.environ.get("MONDEGREEN_HOME"):
        return Path(own)
    cache = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification says to ignore a relative path.
    base = Path(cache) if Path(cache).is_absolute() else Path.home() / ".cache"
    return base / "mondegreen"


def read_own(path: Path) -> bytes | None:
    """Return a file under :func:`home`; None where it is absent or not ours alone.

    The file, its folder and the directory itself must belong to the user who runs
    this, and nobody else may write to them: what is read here can make a promise. A
    file that is refused is as good as none, so it is computed again.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        if not all(_is_own(folder.stat()) for folder in (path.parent, home())):
            return None
        with os.fdopen(os.open(path, flags), "rb") as stream:
            about = os.fstat(stream.fileno())
            is_file = stat.S_ISREG(about.st_mode)
            return stream.read() if is_file and _is_own(about) else None
    except OSError:
        return None


def write_own(path: Path, data: bytes) -> None:
    """Write a file under :func:`home`, whole or not at all, for its owner alone.

    A directory that is full, or that cannot be written, is no error.
    """
    with contextlib.suppress(OSError):
        home().mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in reversed([*path.relative_to(home()).parents][:-1]):
            (home() / folder).mkdir(mode=0o700, exist_ok=True)
        with whole_file(path) as stream:
            stream.write(data)


def _is_own(about: os.stat_result) -> bool:
    """Whether something belongs to the user, and only the user may write to it."""
    if os.name != "posix":
        return True
    return about.st_uid == os.geteuid() and not about.st_mode & _OTHERS
