"""A log for reviewers: when, how much, under which guarantee; no text.

Each line is a JSON object that holds the SHA-256 of the line before it. So a line that
was changed, removed or put in shows, as long as a later hash is known. Somebody who can
write the whole file can make all of it anew: note the last hash elsewhere.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, final

from mondegreen import __version__
from mondegreen.errors import ConfigurationError, InvalidParameterError, SourceError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

GENESIS: Final = "0" * 64
"""What the first line has in place of a hash."""

_FIELDS: Final = ("number", "time", "event", "previous")
_VALUES: Final = (str, int, float, type(None))
_HASH: Final = re.compile("[0-9a-f]{64}")


@final
@dataclass(frozen=True, slots=True)
class Chain:
    """A log that was verified.

    Parameters
    ----------
    lines : int
        How many there are.
    first, last : str
        Times of the first line and of the last; empty where there is none.
    last_hash : str
        SHA-256 of the last line, in hex.
    """

    lines: int
    first: str
    last: str
    last_hash: str


def verify(path: str | Path, noted: str | None = None) -> Chain:
    """Check the chain of hashes of a log.

    Parameters
    ----------
    path : str or Path
        The file.
    noted : str, optional
        A hash that was noted earlier: the log must still have a line of it. Only so
        does it show that lines at the end are missing, or that the log is another one.

    Raises
    ------
    SourceError
        If a line was changed, removed or put in; it names the line. Also if there is
        no line.
    InvalidParameterError
        If what was noted is no hash.
    """
    if noted is not None and not _HASH.fullmatch(noted):
        given = f"{len(noted)} characters that are not"
        raise InvalidParameterError("noted hash", given, "64 hex digits")
    chain = _read_chain(path, noted)
    if not chain.lines:
        hint = "a log begins with the line start: it was emptied, or never written"
        raise SourceError(path, "the log is empty", hint=hint)
    return chain


def _read_chain(path: str | Path, noted: str | None = None) -> Chain:
    """Check a log, which may be empty before its first line."""
    previous, lines, is_noted = GENESIS, 0, noted in (None, GENESIS)
    first = last = ""
    for number, line in _lines(path):
        last = _check_line(path, number, line, previous)
        first, lines = first or last, number
        previous = hashlib.sha256(line).hexdigest()
        is_noted |= previous == noted
    if not is_noted:
        hint = "lines were removed at the end, or the log was made anew"
        raise SourceError(path, "no line has the noted hash", hint=hint)
    return Chain(lines, first, last, previous)


def _lines(path: str | Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines with their numbers, from 1."""
    try:
        with Path(path).open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    hint = "a write was cut off; move the log away, and keep it"
                    raise SourceError(path, "is incomplete", row=number, hint=hint)
                yield number, line[:-1]
    except OSError as error:
        problem = error.strerror or type(error).__name__
        raise SourceError(path, f"cannot be read: {problem}") from None


def _check_line(path: str | Path, number: int, line: bytes, previous: str) -> str:
    """Check one line, and return its time."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        entry = None
    if not isinstance(entry, dict) or not all(name in entry for name in _FIELDS):
        raise SourceError(path, "not a line of an audit log", row=number)
    if entry["previous"] != previous or entry["number"] != number:
        hint = "this line or the one before was changed, removed or put in"
        raise SourceError(path, "the chain of hashes is broken", row=number, hint=hint)
    return str(entry["time"])


@contextlib.contextmanager
def log_request(log: AuditLog | None, guarantee: str, upstream: str) -> Iterator[None]:
    """Write down when a service starts and stops, and close the log.

    ``upstream`` is the host of the provider, with its port where it names one.
    """
    if log is None:
        yield
        return
    with contextlib.closing(log):
        log.append("start", version=__version__, guarantee=guarantee, upstream=upstream)
        try:
            yield
        finally:
            log.append("stop")


@final
class AuditLog:
    """Appends to a log, which one process writes at a time.

    A line is handed to the operating system before the event that it describes. It
    outlives a process that is killed, but not always a machine that loses power.

    Parameters
    ----------
    path : str or Path
        The file, which is made where it is absent, readable by its owner alone. One
        that exists is verified, and goes on.
    clock : callable
        The time.

    Raises
    ------
    SourceError
        If the chain of a file that exists is broken.
    ConfigurationError
        If the file cannot be written, or another process writes it.
    """

    def __init__(
        self,
        path: str | Path,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._path, self._clock = Path(path), clock
        self._lock = threading.Lock()
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        try:
            self._file: int | None = os.open(self._path, flags, 0o600)
        except OSError as error:
            raise self._failure(error) from None
        try:
            self._take()
            chain = _read_chain(self._path)
        except BaseException:
            self.close()
            raise
        self._number, self._previous = chain.lines, chain.last_hash

    def _take(self) -> None:
        """Lock the file, so that two processes do not both go on with one chain."""
        if fcntl is None or self._file is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigurationError(
                f"audit log {self._path}: another process writes it; name another file"
            ) from None
        except OSError:  # some file systems have no locks
            return

    def append(self, event: str, **values: str | int | float | None) -> str:
        """Append a line, and return its hash.

        Parameters
        ----------
        event : str
            What happens.
        **values
            Counts, digests and names of a fixed set. Nothing that a caller sends.

        Raises
        ------
        ConfigurationError
            If it cannot be written: the event that it describes must not happen then.
        """
        for name, value in values.items():
            if name in _FIELDS or not isinstance(value, _VALUES):
                raise InvalidParameterError(name, type(value).__name__, "a plain value")
        with self._lock:
            entry: dict[str, Any] = {
                "number": self._number + 1,
                "time": self._clock().isoformat(timespec="milliseconds"),
                "event": event,
                **values,
                "previous": self._previous,
            }
            line = json.dumps(entry).encode()
            self._write(line + b"\n")
            self._number += 1
            self._previous = hashlib.sha256(line).hexdigest()
            return self._previous

    def _write(self, line: bytes) -> None:
        try:
            if self._file is None:
                raise OSError(0, "it is closed")
            written = os.write(self._file, line)
        except OSError as error:
            raise self._failure(error) from None
        if written != len(line):  # the disk is full, and the log ends in half a line
            self.close()
            raise self._failure(OSError(0, "no room for a line"))

    def _failure(self, error: OSError) -> ConfigurationError:
        reason = error.strerror or type(error).__name__
        return ConfigurationError(f"audit log {self._path} cannot be written: {reason}")

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __repr__(self) -> str:
        return f"AuditLog(lines={self._number})"
