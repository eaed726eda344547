"""A ledger of releases: how often each record was drawn anew, and what that adds up to.

The file is a header and one entry of 52 bytes for each release of a record's column::

    record   16 bytes   keyed digest of the id
    column    8 bytes   keyed digest of the logical column
    draw     16 bytes   keyed digest of what the noise depends on; random without a key
    nats      8 bytes   bound on the loss, a double, least byte first
    check     4 bytes   CRC-32 of the 48 bytes before

An entry is on the disk before the release that it counts is written. So a crash, a full
disk or a killed run can leave an entry without a release, but no release without an
entry.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import stat
import zlib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.errors import ConfigurationError, DataError, SourceError
from mondegreen.files import CAN_LOCK, build_format_error, sync_folder
from mondegreen.privatizer.spec import build_scope
from mondegreen.text.columns import read_ids, unify_id

if TYPE_CHECKING:
    import pyarrow as pa

    from mondegreen.privatizer.privatizer import Privatizer

if CAN_LOCK:
    import fcntl

LEDGER_PURPOSE: Final = b"ledger"
"""What the key of a ledger is derived for; see :meth:`KeyedNoise.subkey`."""

ROUNDING: Final = 1e-9
"""Share of a sum of losses that is more than what is added for rounding alone."""

_MAGIC: Final = b"mondegreen ledger 1\n"
_NO_LEDGER: Final = "not a ledger of mondegreen"
_HEADER_BYTES: Final = 64
_CHECK_BYTES: Final = 4
_ENTRY: Final = np.dtype(
    [
        ("record", "S16"),
        ("column", "S8"),
        ("draw", "S16"),
        ("nats", "<f8"),
        ("check", "<u4"),
    ]
)


@final
@dataclass(frozen=True, slots=True)
class Drawn:
    """A release of one column of one record, before it has been counted."""

    record: bytes
    column: bytes
    draw: bytes


@final
class LedgerWriter:
    """Appends the releases of a run to a ledger; a context manager.

    A replay, which has the draw of an earlier entry, adds nothing. Several processes
    may write one ledger at the same time: each append holds a lock. ``drawn_again``
    counts the releases whose record and column had another draw before this run;
    ``drawn_elsewhere`` those whose record had draws of other columns alone.

    Parameters
    ----------
    path : str
        Created, for its owner alone, if it is absent.
    key : bytes
        32 secret bytes. A ledger of another key is refused: under that, the records
        would have other digests, and their earlier losses would not be found.
    noise_key : bytes, optional
        What the noise of this run is keyed by. Without it each release is a new draw.

    Raises
    ------
    DataError
        If the file cannot be locked or written, is damaged, or is no ledger.
    ConfigurationError
        If the ledger belongs to another key, or the system has no file locks.
    """

    def __init__(self, path: str, key: bytes, noise_key: bytes | None) -> None:
        if not CAN_LOCK:
            raise ConfigurationError("a ledger needs a system with file locks")
        self._name, self._key, self._noise_key = path, key, noise_key
        self._file = -1
        self.drawn_again = self.drawn_elsewhere = 0

    def __enter__(self) -> LedgerWriter:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK
        with self._named():
            self._file = os.open(self._name, flags, 0o600)
        try:
            with self._locked():
                self._begin()
                known = _parse(_read(self._file), self._name)
        except BaseException:
            os.close(self._file)
            raise
        self._known = np.unique(known["draw"])
        self._places = set(map(_place, known))
        self._records = {record for record, _ in self._places}
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def _begin(self) -> None:
        """Write the header of a new file; check that of an old one."""
        if not stat.S_ISREG(os.fstat(self._file).st_mode):
            raise DataError(f"{self._name}: a ledger is a regular file")
        header = (_MAGIC + self._digest(b"key", 16)).ljust(_HEADER_BYTES, b"\0")
        found = _read(self._file, _HEADER_BYTES)
        if len(found) < _HEADER_BYTES and header.startswith(found):
            self._cut(0)  # a run was killed while it began the file
            self._write(header)
            sync_folder(Path(self._name).absolute().parent)
        elif not found.startswith(_MAGIC):
            raise build_format_error(self._name, found, _MAGIC, _NO_LEDGER)
        elif found != header:
            raise ConfigurationError(
                f"{self._name}: this ledger was begun under another key. Name that key "
                "with --ledger-key-file; losses would not add up otherwise"
            )

    def identify(
        self,
        scope: bytes,
        column: str,
        records: Sequence[str],
        texts: Sequence[object],
    ) -> list[Drawn]:
        """Digest releases of a column: a row each, of a text or a list of texts.

        ``scope`` is a digest of all settings that shape the release, and of the column.
        """
        of_column = self._digest(b"column" + column.encode("utf-8", "surrogatepass"), 8)
        return [
            Drawn(
                self._digest(b"record" + _encode_id(record), 16),
                of_column,
                self._draw(scope, record, text),
            )
            for record, text in zip(records, texts, strict=True)
        ]

    def _draw(self, scope: bytes, record: str, text: object) -> bytes:
        if self._noise_key is None:
            return os.urandom(16)
        parts = [self._noise_key, scope, record, *_flatten(text)]
        coded = [_encode(part) for part in parts]
        return self._digest(b"draw" + b"".join(coded), 16)

    def _digest(self, data: bytes, size: int) -> bytes:
        made = hashlib.blake2b(
            data, digest_size=size, key=self._key, person=b"mondegreen-led"
        )
        return made.digest()

    def add(self, drawn: Sequence[Drawn], nats: NDArray[np.float64]) -> None:
        """Append releases, with the loss of each; on return they are on the disk."""
        entries = np.zeros(len(drawn), _ENTRY)
        for name in ("record", "column", "draw"):
            entries[name] = [getattr(each, name) for each in drawn]
        entries["nats"] = nats
        is_new = (nats > 0) & ~self._is_known(entries["draw"])
        for place in map(_place, entries[is_new]):
            is_again = place in self._places
            self.drawn_again += is_again
            self.drawn_elsewhere += not is_again and place[0] in self._records
        data = b"".join(map(_sign, entries[is_new]))
        if not data:
            return
        with self._locked():
            self._check_place()
            size = os.fstat(self._file).st_size
            self._cut(size - (size - _HEADER_BYTES) % _ENTRY.itemsize)
            self._write(data)

    def _is_known(self, draws: NDArray[np.bytes_]) -> NDArray[np.bool_]:
        """Tell which draws the ledger had when it was opened.

        Draws that it has got since are counted once when it is read.
        """
        if not len(self._known):
            return np.zeros(len(draws), np.bool_)
        places = np.searchsorted(self._known, draws)
        found: NDArray[np.bool_] = self._known[places % len(self._known)] == draws
        return found

    def _check_place(self) -> None:
        """Refuse to write a file that has been removed or replaced meanwhile."""
        with self._named():
            mine, there = os.fstat(self._file), os.lstat(self._name)
        if (mine.st_dev, mine.st_ino) != (there.st_dev, there.st_ino):
            raise DataError(f"{self._name}: this ledger was replaced during the run")

    def _write(self, data: bytes) -> None:
        """Append bytes and wait until they are on the disk; or none of them."""
        with self._named():
            start = os.fstat(self._file).st_size
            try:
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(self._file, rest) :]
                os.fsync(self._file)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.ftruncate(self._file, start)
                raise

    def _cut(self, size: int) -> None:
        """Remove an entry that a killed run has not finished: nothing followed it."""
        with self._named():
            if os.fstat(self._file).st_size > size:
                os.ftruncate(self._file, size)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        with self._named():
            fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        """Raise errors of the system with the name of the ledger."""
        try:
            yield
        except OSError as error:
            reason = error.strerror or "unknown error"
            raise DataError(f"{self._name}: cannot be written: {reason}") from None


@final
class BatchLedger:
    """Counts the batches of a source in a ledger, in the order in which they come.

    Parameters
    ----------
    writer : LedgerWriter
        Which is open.
    privatizer : Privatizer
        Whose settings and promise hold for the batches.
    names : mapping of str to str
        The logical name of each text column.
    id_column : str
        Column with the ids of the records.
    """

    def __init__(
        self,
        writer: LedgerWriter,
        privatizer: Privatizer,
        names: Mapping[str, str],
        id_column: str,
    ) -> None:
        self._writer, self._names, self._id_column = writer, names, id_column
        self._scopes = {
            name: build_scope(privatizer.digest, name) for name in names.values()
        }
        self._cut = privatizer.lookup.cut
        self._word_loss = privatizer.guarantee.word_loss
        self._waiting: deque[list[tuple[list[Drawn], NDArray[np.int64]]]] = deque()

    def take(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Pass batches on, and keep digests of what is in them."""
        for batch in batches:
            records = read_ids(batch.column(self._id_column))
            found = []
            for column, name in self._names.items():
                texts = batch.column(column).to_pylist()
                scope = self._scopes[name]
                drawn = self._writer.identify(scope, name, records, texts)
                found.append((drawn, self._count_words(texts)))
            self._waiting.append(found)
            yield batch

    def put(self, words: NDArray[np.int64]) -> None:
        """Count the next batch, which is about to be written.

        ``words`` is the number of words of each row, all columns together.
        """
        found = self._waiting.popleft()
        by_column = [counts for _, counts in found]
        if not np.array_equal(sum(by_column), words):
            by_column = [words] * len(found)  # an upper bound
        for (drawn, _), counts in zip(found, by_column, strict=True):
            nats = np.nextafter(counts * self._word_loss, math.inf) * (counts > 0)
            self._writer.add(drawn, nats)

    def _count_words(self, texts: Sequence[object]) -> NDArray[np.int64]:
        """Count the words of each row, which is a text or a list of texts."""
        rows = [_flatten(text) for text in texts]
        flat = [text for row in rows for text in row if isinstance(text, str)]
        counts = np.cumsum([0, *self._cut(flat).counts()])
        ends = np.cumsum([0, *(sum(isinstance(t, str) for t in row) for row in rows)])
        found: NDArray[np.int64] = np.diff(counts[ends]).astype(np.int64)
        return found


def _flatten(text: object) -> list[object]:
    return text if isinstance(text, list) else [text]


def _encode_id(record: str) -> bytes:
    return unify_id(record).encode("utf-8", "surrogatepass")


def _encode(part: object) -> bytes:
    """Write a part of a digest with its length, so that none can shift."""
    if part is None:
        return b"\1" * 9  # longer than any text can say that it is
    data = part if isinstance(part, bytes) else str(part).encode(errors="surrogatepass")
    return len(data).to_bytes(8, "little") + data


def _place(entry: np.void) -> tuple[bytes, bytes]:
    """Find the record and the column that an entry counts."""
    return bytes(entry["record"]), bytes(entry["column"])


def _sign(entry: np.void) -> bytes:
    body = entry.tobytes()[:-_CHECK_BYTES]
    return body + zlib.crc32(body).to_bytes(_CHECK_BYTES, "little")


def _read(file: int, size: int = -1) -> bytes:
    with os.fdopen(os.dup(file), "rb") as stream:
        stream.seek(0)
        return stream.read(size)


def _parse(data: bytes, name: str) -> NDArray[np.void]:
    """Read the entries; what a killed run has not finished is left out."""
    whole = (len(data) - _HEADER_BYTES) // _ENTRY.itemsize
    if not data.startswith(_MAGIC) or len(data) < _HEADER_BYTES:
        raise build_format_error(name, data, _MAGIC, _NO_LEDGER)
    entries = np.frombuffer(data, _ENTRY, count=whole, offset=_HEADER_BYTES)
    for number, entry in enumerate(entries, start=1):
        if entry["check"] != zlib.crc32(entry.tobytes()[:-_CHECK_BYTES]):
            problem = f"entry {number} is damaged"
            hint = "restore the ledger from a copy; without it losses are unknown"
            raise SourceError(name, problem, hint=hint)
    return entries


@final
@dataclass(frozen=True, slots=True)
class Budget:
    """What a ledger adds up to.

    Attributes
    ----------
    records, columns : int
        How many there are.
    releases : int
        Draws of a column of a record; a replay is none.
    draws : mapping
        ``median`` and ``most`` draws of one column of a record.
    nats : mapping
        ``median`` and ``largest`` loss of a record, all its columns and draws together.
    above : int or None
        Records whose loss is above the limit; None without one.
    worst : int or None
        Number of the record with the largest loss, counted from 1 in the order in which
        the ledger met the records; None of an empty ledger.
    """

    records: int
    columns: int
    releases: int
    draws: Mapping[str, float]
    nats: Mapping[str, float]
    above: int | None
    worst: int | None


def read_budget(path: str, limit: float | None = None) -> Budget:
    """Add up a ledger; no key is needed.

    Losses of several releases of a record add up (sequential composition).

    Parameters
    ----------
    path : str
        A ledger that ``privatize --ledger`` has written.
    limit : float, optional
        In nats, for all columns and draws of a record.

    Raises
    ------
    SourceError
        If the file cannot be read, is damaged, or is no ledger.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        problem = f"cannot be read: {error.strerror or 'unknown error'}"
        raise SourceError(path, problem) from None
    entries = _parse(data, path)
    # Two runs at the same time may both have counted one draw.
    _, first = np.unique(entries["draw"], return_index=True)
    entries = entries[np.sort(first)]
    places, of = np.unique(entries[["record", "column"]], return_inverse=True)
    draws = np.bincount(of.ravel(), minlength=len(places))
    records, met, whose = np.unique(
        entries["record"], return_index=True, return_inverse=True
    )
    # Rounded up: a sum of so many doubles is off by less than this share.
    slack = 1 + 2 * len(entries) * np.finfo(np.float64).eps
    nats = slack * np.bincount(
        whose.ravel(), weights=entries["nats"], minlength=len(records)
    )
    return Budget(
        records=len(records),
        columns=len(np.unique(entries["column"])),
        releases=len(entries),
        draws={"median": _median(draws), "most": int(draws.max(initial=0))},
        nats={"median": _median(nats), "largest": float(nats.max(initial=0.0))},
        # What is added for rounding alone breaks no limit.
        above=None if limit is None else int((nats > limit * (1 + ROUNDING)).sum()),
        worst=int((met <= met[nats.argmax()]).sum()) if len(records) else None,
    )


def _median(values: NDArray[np.int64] | NDArray[np.float64]) -> float:
    return float(np.median(values)) if len(values) else 0.0
