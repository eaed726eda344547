"""A log for reviewers: when, how much, under which guarantee; no text.

Each line is a JSON object that holds the SHA-256 of the line before it. So a line that
was changed, removed or put in shows, as long as a later hash is known. Nothing holds
the hash of the last line, and somebody who can write the whole file can make all of it
anew: note the last hash elsewhere.

A full disk or a power failure can cut a line off. What is left of it stays in the file.
The line ``recovered`` comes after it, and holds its SHA-256, so that it cannot change
unseen.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import stat
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NoReturn, final

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
_LONGEST: Final = 1 << 16
"""Bytes of a line: a device without end has no line that is shorter."""

_CUT: Final = b" (cut off)\n"
"""Ends what is left of a line, so that it is no line of JSON whatever is left."""

_RECOVERED: Final = "recovered"


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
    cut_lines : int
        Lines that were cut off, and noted by a line ``recovered``. They are not
        counted in ``lines``.
    last_line_checked : bool
        Whether the noted hash is that of the last line. The chain alone does not show
        that the last line was changed.
    """

    lines: int
    first: str
    last: str
    last_hash: str
    cut_lines: int = 0
    last_line_checked: bool = False


def verify(path: str | Path, noted: str | None = None) -> Chain:
    """Check the chain of hashes of a log.

    Parameters
    ----------
    path : str or Path
        The file.
    noted : str, optional
        A hash that was noted earlier: the log must still have a line of it. Only so
        does it show that lines at the end are missing or changed, or that the log is
        another one. It is whole: a forger finds a line whose hash begins with 12
        given digits within days.

    Raises
    ------
    SourceError
        If a line was changed, removed or put in; it names the line. Also if there is
        no line, or if the last one is cut off.
    InvalidParameterError
        If what was noted is no hash.
    """
    if noted is not None and not _HASH.fullmatch(noted):
        given = f"{len(noted)} characters"
        allowed = "the whole hash, 64 digits of 0-9 and a-f: fewer can be forged"
        raise InvalidParameterError("noted hash", given, allowed)
    found = _Scan(path, noted)
    if found.rest:
        hint = "a write was cut off; start the proxy with this log to note it"
        raise SourceError(path, "is incomplete", row=found.row, hint=hint)
    if not found.lines:
        hint = "a log begins with the line start: it was emptied, or never written"
        raise SourceError(path, "the log is empty", hint=hint)
    if not found.has_noted:
        hint = "lines at the end were removed or changed, or the log was made anew"
        raise SourceError(path, "no line has the noted hash", hint=hint)
    return Chain(
        found.lines,
        found.first,
        found.last,
        found.previous,
        found.cut_lines,
        last_line_checked=noted == found.previous,
    )


@final
class _Scan:
    """Checks a log; its last line may be cut off, and it may have no line.

    ``rest`` is what comes after the last whole line; ``row`` is where it begins.
    """

    def __init__(self, path: str | Path, noted: str | None = None) -> None:
        self._path, self._noted = path, noted
        self.previous, self.lines, self.cut_lines = GENESIS, 0, 0
        self.first = self.last = ""
        self.rest, self.row = b"", 0
        self.has_noted = noted is None
        for row, line in _lines(path):
            entry = _read_entry(line)
            if entry is None:
                self._take_rest(row, line)
            else:
                self._take(row, line, entry)

    def _take(self, row: int, line: bytes, entry: dict[str, Any]) -> None:
        if entry["previous"] != self.previous or entry["number"] != self.lines + 1:
            hint = "this line or the one before was changed, removed or put in"
            self._fail(row, "the chain of hashes is broken", hint)
        is_note = entry["event"] == _RECOVERED
        if is_note and entry.get("cut_sha256") != _digest(self.rest):
            hint = "what was left of a line was changed, removed or put in"
            self._fail(row, "does not note what is before it", hint)
        if self.rest and not is_note:
            self._fail(self.row, "not a line of an audit log")
        self.cut_lines += self.rest.count(b"\n")
        self.rest = b""
        self.last = str(entry["time"])
        self.first = self.first or self.last
        self.lines += 1
        self.previous = _digest(line[:-1])
        self.has_noted |= self.previous == self._noted

    def _take_rest(self, row: int, line: bytes) -> None:
        """Take what may be left of a line; refuse what cannot be."""
        begins = b'{"number": %d, "time": "' % (self.lines + 1)
        left = line.partition(b" (")[0].strip(b"\0\n ")
        size = min(len(begins), len(left))
        if left[:size] != begins[:size] or len(line) >= _LONGEST:
            self._fail(row, "not a line of an audit log")
        self.row = self.row if self.rest else row
        self.rest += line

    def _fail(self, row: int, problem: str, hint: str = "") -> NoReturn:
        raise SourceError(self._path, problem, row=row, hint=hint)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _lines(path: str | Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines with their ends and their numbers, from 1."""
    try:
        with Path(path).open("rb") as file:
            lines = iter(lambda: file.readline(_LONGEST), b"")
            yield from enumerate(lines, start=1)
    except OSError as error:
        problem = error.strerror or type(error).__name__
        raise SourceError(path, f"cannot be read: {problem}") from None


def _read_entry(line: bytes) -> dict[str, Any] | None:
    """Read a whole line; None if it is not one of a log."""
    if not line.endswith(b"\n"):
        return None
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    has_all = isinstance(entry, dict) and all(name in entry for name in _FIELDS)
    return entry if has_all else None


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

    A line that cannot be written raises an error. When the file can be written again,
    the next line is ``recovered``. It holds how many lines are missing, and the size
    and SHA-256 of what is left of a line that was cut off.

    Parameters
    ----------
    path : str or Path
        The file, which is made where it is absent, readable by its owner alone. One
        that exists is verified, and goes on. If its last line is cut off, the log
        notes that and goes on.
    clock : callable
        The time.

    Raises
    ------
    SourceError
        If the chain of a file that exists is broken.
    ConfigurationError
        If the file cannot be written, is a device or a pipe, or another process
        writes it.
    """

    def __init__(
        self,
        path: str | Path,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._path, self._clock = Path(path), clock
        self._lock = threading.Lock()
        self._file: int | None = None
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        flags |= getattr(os, "O_NONBLOCK", 0)  # a pipe without a reader would wait
        try:
            if self._path.exists():
                self._check_kind(self._path.stat())
            self._file = os.open(self._path, flags, 0o600)
            self._check_kind(os.fstat(self._file))
        except OSError as error:
            self.close()
            raise self._failure(error) from None
        try:
            self._take()
            found = _Scan(self._path)
            self._number, self._previous = found.lines, found.previous
            self._rest, self._missed = found.rest, 0
            self.recovered_row = found.row if found.rest else None
            self.check()
        except BaseException:
            self.close()
            raise

    @staticmethod
    def _check_kind(about: os.stat_result) -> None:
        if not stat.S_ISREG(about.st_mode):
            says = "it is no regular file. Name a file, or one that does not exist yet"
            raise OSError(errno.EINVAL, says)

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
            try:
                self._recover()
                self._append(event, **values)
            except ConfigurationError:
                self._missed += 1
                raise
            return self._previous

    def check(self) -> None:
        """Check that the log goes on: after an error, try to write again.

        Raises
        ------
        ConfigurationError
            If it still cannot be written.
        """
        with self._lock:
            self._recover()

    def _recover(self) -> None:
        """Note what is missing and what was cut off, if anything."""
        if not (self._missed or self._rest):
            return
        if self._rest and not self._rest.endswith(b"\n"):
            self._write(_CUT)
            self._rest += _CUT
        self._append(
            _RECOVERED,
            missed=self._missed,
            cut_bytes=len(self._rest),
            cut_sha256=_digest(self._rest),
        )
        self._rest, self._missed = b"", 0

    def _append(self, event: str, **values: str | int | float | None) -> None:
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
        self._previous = _digest(line)

    def _write(self, line: bytes) -> None:
        try:
            if self._file is None:
                raise OSError(0, "it is closed")
            written = os.write(self._file, line)
        except OSError as error:
            raise self._failure(error) from None
        if written != len(line):  # the disk is full, and the log ends in half a line
            self._rest += line[:written]
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
