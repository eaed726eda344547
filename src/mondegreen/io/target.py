"""Where bytes go: a file that appears whole or not at all, or standard output."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import os
import stat
import sys
from pathlib import Path
from typing import IO, Any, BinaryIO, Final, cast, final

from mondegreen.errors import DataError
from mondegreen.files import CAN_LOCK, new_temporary, sync_folder

_MOST_LINKS: Final = 40  # as many as Linux follows
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


class Target:
    """Bytes for a path, written under a temporary name and renamed by ``commit``.

    A symbolic link is followed, so that it survives; one that somebody else may have
    made is refused, since it could lead to any file of the user, or to a new one. The
    permission bits of a file that is replaced are kept. What is not a regular file (a
    device, a pipe) and standard output (``-``) are written directly. ``.gz`` is packed.
    Nothing is created before ``open``; what could not be committed is refused at once.
    """

    def __init__(self, path: str, *, force: bool = False) -> None:
        self.name = "standard output" if path == "-" else path
        self._path, self._force = path, force
        # realpath: a rename must replace the file that a link points to, not the link
        self._final = Path(os.path.realpath(path))
        self._is_renamed = path != "-" and not _is_special(Path(path))
        self._temporary: Path | None = None
        self._file: BinaryIO | None = None
        self._packed: gzip.GzipFile | None = None
        self._hash: Any = None
        if self._is_renamed:
            self._check()

    def _check(self) -> None:
        """Refuse what could not be committed."""
        if _is_led_by_others(Path(self._path)):
            raise DataError(
                f"{self.name}: is a symbolic link that another user may have made. If "
                "you trust it, name the file that it points to"
            )
        if self._final.is_dir():
            raise DataError(f"{self.name}: is a folder; name a file in it")
        if not self._final.parent.is_dir():
            raise DataError(f"{self.name}: its folder does not exist; create it first")
        if self._final.exists() and not self._force:
            raise DataError(
                f"{self.name} already exists. Use another name, or --force (in "
                "Python, force=True)"
            )

    def open(self) -> None:
        """Create the temporary file, or open what is written directly."""
        try:
            if self._path == "-":
                self._file = cast(BinaryIO, sys.stdout.buffer)
            elif self._is_renamed:
                self._file = self._create()
            else:  # the path as given: what /dev/stdout leads to may have no name
                self._file = Path(self._path).open("wb")
        except OSError as error:
            raise self.failure(error) from None
        if self._hash is not None:
            self._file = cast(BinaryIO, _Hashed(self._file, self._hash))
        if self.name.endswith(".gz"):
            # without name and time, equal texts make equal files
            self._packed = gzip.GzipFile("", "wb", fileobj=self._file, mtime=0)

    def _create(self) -> BinaryIO:
        mode = 0o666  # less the umask, as for any new file
        kept: int | None = None
        with contextlib.suppress(FileNotFoundError):
            kept = stat.S_IMODE(self._final.stat().st_mode)
            mode = kept & 0o777
        self._temporary, file = new_temporary(self._final.parent, mode)
        if kept is not None:
            self._temporary.chmod(kept)
        return file

    @property
    def file(self) -> IO[bytes]:
        file = self._packed or self._file
        if file is None:
            raise RuntimeError("the sink is not open; use it in a with statement")
        return cast(IO[bytes], file)

    def write(self, data: bytes | memoryview) -> None:
        """Write bytes; what reads a pipe gets them at once."""
        try:
            self.file.write(data)
            if not self._is_renamed and self._packed is None:
                self.file.flush()
        except OSError as error:
            raise self.failure(error) from None

    def refuse_terminal(self, format: str) -> None:
        """Refuse to write a binary format to a terminal, which it may steer."""
        if self.file.isatty():
            advice = "name a file with --output, or send it through a pipe"
            problem = f"is a terminal, and {format} is binary; {advice}"
            raise DataError(f"{self.name}: {problem}")

    def hash_bytes(self) -> bool:
        """Hash what will be written, if it makes a file; False if it does not."""
        if self._is_renamed:
            self._hash = hashlib.sha256()
        return self._is_renamed

    def end(self) -> str:
        """Write what is still held; return the SHA-256 of the file, if it is hashed."""
        try:
            if self._packed is not None:
                self._packed.close()
        except OSError as error:
            raise self.failure(error) from None
        return "" if self._hash is None else self._hash.hexdigest()

    def commit(self) -> None:
        """Bring the bytes to the disk and the file to its name."""
        try:
            if self._packed is not None:
                self._packed.close()
            if self._file is None:
                raise RuntimeError("the sink is not open; use it in a with statement")
            self._file.flush()
            if self._temporary is None:
                return
            os.fsync(self._file.fileno())
            if not CAN_LOCK:
                self._file.close()
            self._check()  # it may have appeared meanwhile
            self._temporary.replace(self._final)
            self._temporary = None
            self._file.close()
            sync_folder(self._final.parent)
        except OSError as error:
            raise self.failure(error) from None

    def write_whole(self, data: bytes) -> None:
        """Open, write and commit: the file appears whole or not at all."""
        with contextlib.closing(self):
            self.open()
            self.write(data)
            self.commit()

    def close(self) -> None:
        """Close; remove the temporary file unless it has been committed."""
        # A full disk fails once more here. A packed file writes its end on closing,
        # so it goes first; after a commit both are closed already.
        for file in (self._packed, None if self._path == "-" else self._file):
            if file is not None:
                with contextlib.suppress(OSError):
                    file.close()
        if self._temporary is not None:
            self._temporary.unlink(missing_ok=True)
            self._temporary = None

    def failure(self, error: OSError) -> Exception:
        """Make the error to raise: a closed pipe as it is, others with the path."""
        if isinstance(error, BrokenPipeError):
            return BrokenPipeError(error.errno, error.strerror)
        reason = error.strerror or "unknown error"
        return DataError(f"{self.name}: cannot be written: {reason}")


@final
class _Hashed:
    """A file, and the hash of what is written to it from its start."""

    def __init__(self, file: BinaryIO, hash: Any) -> None:
        self._written, self._hash = file, hash

    def write(self, data: bytes | memoryview) -> int:
        self._hash.update(data)
        return self._written.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._written, name)


class Gate:
    """A file that lets bytes through until it is shut; libraries write to it."""

    closed = False

    def __init__(self, target: Target) -> None:
        self._target = target
        self.is_open = True

    def write(self, data: bytes) -> int:
        if self.is_open:
            self._target.file.write(data)
        return len(data)

    def flush(self) -> None:
        if self.is_open:
            self._target.file.flush()

    def close(self) -> None:
        """Do nothing: the target closes its file."""


def _is_led_by_others(path: Path) -> bool:
    """Whether a path is a link that another user than root may have put there.

    Its owner shows that. A link that leads to no file yet is refused wherever others
    can write: that file would be made without ``--force``.
    """
    if not hasattr(os, "geteuid"):
        return False
    trusted = {0, os.geteuid()}
    for _ in range(_MOST_LINKS):
        if not path.is_symlink():
            return False
        folder = path.parent.stat()
        is_theirs = not {path.lstat().st_uid, folder.st_uid} <= trusted
        if is_theirs or (not path.exists() and folder.st_mode & _OTHERS_WRITE):
            return True
        path = path.parent / path.readlink()
    return True


def is_same_file(one: str, other: str) -> bool:
    """Whether two paths, ``-`` to read or to write, are one regular file, or will be.

    Links are seen through, and so are names in ``/dev`` and a shell's ``<`` and ``>``.
    """
    mine, theirs = _identity(one, sys.stdin), _identity(other, sys.stdout)
    return mine is not None and mine == theirs


def _identity(path: str, stream: IO[str]) -> tuple[int, int] | Path | None:
    """Identify a regular file on this machine; None for all else."""
    try:
        found = os.fstat(stream.fileno()) if path == "-" else Path(path).stat()
    except FileNotFoundError:
        return Path(path).resolve()
    except (OSError, ValueError, AttributeError):
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def _is_special(path: Path) -> bool:
    """Whether a path is there and neither a regular file nor a folder."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)
