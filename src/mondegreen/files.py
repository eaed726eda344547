"""Files that appear whole or not at all, those computed before, and public lists."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import stat
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from mondegreen.errors import ConfigurationError, DecodeError, SourceError

try:
    import fcntl
except ImportError:  # Windows, where an open file can neither be renamed nor removed
    fcntl = None  # type: ignore[assignment]


CAN_LOCK = fcntl is not None
"""Whether a temporary file is locked, and must be renamed before it is closed."""

_START, _END = ".mondegreen-", ".tmp"
_NAME = re.compile(r"\.mondegreen-[0-9a-f]{16}\.tmp")
_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_ACL_VERSION, _ACL_OWNER, _ACL_USER, _ACL_MASK, _READ = 2, 0x01, 0x02, 0x10, 0x04


def new_temporary(folder: Path, mode: int = 0o600) -> tuple[Path, BinaryIO]:
    """Create a file for writing that will be renamed into place in its folder.

    What a killed process of the same user has left there is removed first. The file
    is locked until it is closed, which tells others that its writer lives; so it is
    renamed before it is closed, where ``CAN_LOCK``. ``mode`` is less the umask.
    """
    _sweep(folder)
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
    """Yield a file that takes its name when the block ends, and never if it raises.

    A device or a pipe is refused: the rename would put a file in its place.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, "it is a device or a pipe; give a regular file")
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


@contextlib.contextmanager
def temporary_folder(around: Path) -> Iterator[Path]:
    """Make a hidden folder that goes when the block ends, with all that is in it.

    What a killed process of the same user has left beside it is removed first. Renaming
    the folder away keeps it.
    """
    _sweep(around)
    path, handle = _new_folder(around)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        if handle is not None:
            os.close(handle)


def _new_folder(around: Path) -> tuple[Path, int | None]:
    """Make a folder, and a lock that tells others that its writer lives."""
    while True:
        path = around / f"{_START}{secrets.token_hex(8)}{_END}"
        path.mkdir(mode=0o700)
        if not CAN_LOCK:
            return path, None
        with contextlib.suppress(FileNotFoundError):  # swept before it was locked
            handle = os.open(path, os.O_RDONLY)
            with contextlib.suppress(OSError):  # some file systems have no locks
                fcntl.flock(handle, fcntl.LOCK_EX)
            if path.is_dir():
                return path, handle
            os.close(handle)


def read_bytes(path: str | Path, limit: int = -1) -> bytes:
    """Read a file that somebody has named, up to so many bytes."""
    try:
        with Path(path).open("rb") as file:
            return file.read(limit)
    except OSError as error:
        problem = error.strerror or type(error).__name__
        raise SourceError(path, f"cannot be read: {problem}") from None


def read_secret(path: str | Path, limit: int, what: str, hint: str = "") -> bytes:
    """Read up to so many bytes of a file that its owner alone may read.

    A credential of systemd may have another owner, and an access control list that lets
    the user of this process read it.

    Raises
    ------
    ConfigurationError
        If it cannot be read, or others can, or it is longer.
    """
    try:
        mode = Path(path).stat().st_mode
        is_open = os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO)
        if is_open and not _is_own_credential(Path(path)):
            name = Path(path).name
            raise ConfigurationError(
                f"{what} {path} can be read by others: chmod 600 {name}"
            )
        with Path(path).open("rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise ConfigurationError(f"{what} {path}: {error.strerror}{hint}") from None
    if len(data) > limit:
        raise ConfigurationError(f"{what} {path} is longer than {limit} bytes{hint}")
    return data


def _is_own_credential(path: Path) -> bool:
    """Whether systemd gave a file to this user alone, by an access control list.

    It is then in the folder ``$CREDENTIALS_DIRECTORY``. The list makes the mode look as
    if the group could read it: those bits are the most that any entry allows.
    """
    folder = os.environ.get("CREDENTIALS_DIRECTORY", "")
    if not (Path(folder).is_absolute() and hasattr(os, "getxattr")):
        return False
    try:
        if not path.resolve().is_relative_to(Path(folder).resolve()):
            return False
        listed = os.getxattr(path, "system.posix_acl_access")
    except OSError:  # no list, or a file system without lists
        return False
    return _allows_one_reader(listed, os.geteuid())


def _allows_one_reader(listed: bytes, user: int) -> bool:
    """Whether an access control list of Linux lets one user read, beside the owner."""
    head, entries = struct.Struct("<I"), struct.Struct("<HHI")
    if listed[: head.size] != head.pack(_ACL_VERSION):
        return False
    if (len(listed) - head.size) % entries.size:
        return False
    for tag, allowed, who in entries.iter_unpack(listed[head.size :]):
        is_user = tag == _ACL_USER and who == user and allowed | _READ == _READ
        if allowed and tag not in (_ACL_OWNER, _ACL_MASK) and not is_user:
            return False
    return True


def read_lines(path: str | Path) -> list[str]:
    """Read the lines of a public list, which is UTF-8; errors name the line."""
    data = read_bytes(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        hint = "save the list as UTF-8"
        raise DecodeError(path, row=row, offset=error.start, hint=hint) from None
    return re.split(r"\r\n|\r|\n", text)


def build_format_error(
    path: str | Path, data: bytes, magic: bytes, problem: str, hint: str = ""
) -> SourceError:
    r"""Say what is wrong with a file that does not begin with its format.

    A file of another version says so; another file has the ``problem``.

    >>> build_format_error("a.map", b"its map 2\n...", b"its map 1\n", "not a map")
    SourceError('a.map: has the format "its map 2", and this version reads 1 ...)
    """
    name, _, own = magic.decode().strip().rpartition(" ")
    found = re.match(re.escape(name).encode() + rb" ([1-9][0-9]{0,8})\n", data)
    if found and (number := found[1].decode()) != own:
        problem = f'has the format "{name} {number}", and this version reads {own}'
        hint = "use the version of mondegreen that wrote it; see the page Upgrade"
    return SourceError(path, problem, hint=hint)


def sync_folder(folder: Path) -> None:
    """Make a rename last through a power failure, where the system allows it."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _sweep(folder: Path) -> None:
    """Remove temporary files of this user whose writer is dead; it raises nothing."""
    if not CAN_LOCK:
        return
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name):  # a name that a user gave never matches
                with contextlib.suppress(OSError):
                    _remove_if_stale(entry)


def _remove_if_stale(entry: os.DirEntry[str]) -> None:
    """Remove a file or folder if nobody holds its lock; another's is never opened."""
    found = entry.stat(follow_symlinks=False)
    is_folder = stat.S_ISDIR(found.st_mode)
    is_ours = found.st_uid == os.getuid()
    if not is_ours or not (is_folder or stat.S_ISREG(found.st_mode)):
        return
    handle = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        now, mine = os.lstat(entry.path), os.fstat(handle)
        if (now.st_dev, now.st_ino) != (mine.st_dev, mine.st_ino):
            return
        if is_folder:
            shutil.rmtree(entry.path, ignore_errors=True)
        elif now.st_nlink == 1:
            Path(entry.path).unlink()
    finally:
        os.close(handle)


def home() -> Path:
    """Where fetched spaces are, and what was computed before.

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
    """Read a file under :func:`home`; None where it is absent or not ours alone.

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
