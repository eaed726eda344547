"""Conversations in a file: sealed under the user's key, so that a restart keeps them.

The file is a database of SQLite, which a process that is killed leaves whole. Each row
is a conversation. Its name is a keyed hash of the token; its two values are sealed.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

from mondegreen.errors import ConfigurationError, DataError
from mondegreen.policy.sealing import seal, unseal
from mondegreen.prompts.conversation_guard import ConversationGuard, Dialog
from mondegreen.sampling.noise import KeyedNoise

_SEAL_PURPOSE: Final = b"mondegreen-conversations"
_NAME_PURPOSE: Final = b"mondegreen-conversation-names"
_CHECK: Final = b"mondegreen conversations 1"
"""The content of the first row, which says whether the key is that of the file."""

_CHECK_NAME: Final = b""
_BYTES: Final = 32
_KIND: Final = int.from_bytes(b"mdgc", "big")
"""What the head of the file says of its kind."""

_TABLE: Final = (
    "CREATE TABLE kept (name BLOB PRIMARY KEY CHECK (typeof(name) = 'blob'), head BLOB "
    "NOT NULL, body BLOB NOT NULL)"
)
_ADVICE: Final = "name a new file, and keep this one for its own key"
_OTHER_FILE: Final = "it is no file of conversations, or was changed; name a new file"


class ConversationFileError(ConfigurationError):
    """Raised when the file of conversations cannot be opened, read or written."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"file of conversations {path} cannot be used: {reason}")


@final
@dataclass(frozen=True, slots=True, repr=False)
class Head:
    """What is kept of a conversation beside its words.

    Parameters
    ----------
    owner : str
        Digest of the credentials that it was made for.
    used : float
        Time of the last request, in seconds since 1970.
    again : bool
        Whether there was a second request.
    """

    owner: str
    used: float
    again: bool


@final
class ConversationFile:
    """Writes conversations into a file, which one process has open at a time.

    A conversation is handed to the operating system before its request leaves. It
    outlives a process that is killed, but not always a machine that loses power.
    Without the key, the file shows how many conversations there are and the size of
    each, in steps of 4,096 bytes. An attacker who can write to the file can put back
    what a conversation was before; nothing else that is put in is used.

    Parameters
    ----------
    path : str or Path
        The file, which is made where it is absent, readable by its owner alone.
    noise : KeyedNoise
        The user's key. Two subkeys are used: to seal, and to name.
    guard : ConversationGuard
        Reads and writes conversations. Those of other settings are unknown to it.

    Attributes
    ----------
    lost : int
        Rows that were removed at the start, because they were changed.

    Raises
    ------
    ConversationFileError
        If the file cannot be written, another process has it open, it is of another
        key, or no file of conversations. Later calls raise it where the file cannot be
        read or written.
    """

    def __init__(
        self, path: str | Path, noise: KeyedNoise, guard: ConversationGuard
    ) -> None:
        self._path, self._guard = Path(path), guard
        self._key = noise.subkey(_SEAL_PURPOSE)
        self._namer = noise.subkey(_NAME_PURPOSE)
        self.lost = 0
        try:
            _make(self._path)
            self._rows = _connect(self._path)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise ConversationFileError(self._path, reason) from None
        except sqlite3.Error as error:
            raise ConversationFileError(self._path, _explain(error)) from None
        try:
            self._check_key()
        except BaseException:
            self._rows.close()
            raise

    def find_name(self, token: str) -> bytes:
        """Return the name of a token: its BLAKE2b under a subkey."""
        data = token.encode("utf-8", "surrogatepass")
        return hashlib.blake2b(data, key=self._namer, digest_size=_BYTES).digest()

    def heads(self) -> Iterator[tuple[bytes, Head]]:
        """Yield names and heads, the longest unused first; remove what was changed."""
        found = []
        rows = self._run("SELECT name, head FROM kept WHERE name != ?", _CHECK_NAME)
        for name, sealed in rows:
            try:
                head, _ = self._read_head(name, sealed)
            except DataError:
                self.lost += 1
                self.remove(name)
            else:
                found.append((name, head))
        yield from sorted(found, key=lambda each: each[1].used)

    def read(self, name: bytes) -> Dialog:
        """Read a conversation.

        Raises
        ------
        DataError
            If a byte was changed, or it was begun under other settings.
        """
        rows = self._run("SELECT head, body FROM kept WHERE name = ?", name)
        if not rows:
            raise DataError("the file does not have this conversation")
        sealed, body = rows[0]
        _, digest = self._read_head(name, sealed)
        if not hmac.compare_digest(digest, _digest(body)):
            raise DataError("the conversation was changed, or is another one")
        return self._guard.read(body, self._key)

    def seal(self, dialog: Dialog) -> bytes:
        """Write a conversation as sealed bytes, for :meth:`put`."""
        return self._guard.write(dialog, self._key)

    def put(self, name: bytes, head: Head, body: bytes) -> None:
        """Write a row in place of the one of that name: all of it, or nothing.

        Raises
        ------
        ConversationFileError
            If the file cannot be written.
        """
        content = {
            "name": name.hex(),
            "owner": head.owner,
            "used": head.used,
            "again": head.again,
            "body": _digest(body).hex(),
        }
        sealed = seal(json.dumps(content).encode(), self._key)
        self._run("REPLACE INTO kept VALUES (?, ?, ?)", name, sealed, body)

    def remove(self, name: bytes) -> None:
        """Remove a row; its bytes are overwritten with zeros."""
        self._run("DELETE FROM kept WHERE name = ?", name)

    def wipe(self) -> None:
        """Empty the log of writes, in which removed rows still are."""
        self._run("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close the file, so that another process may open it."""
        self._rows.close()

    def _read_head(self, name: bytes, sealed: bytes) -> tuple[Head, bytes]:
        content = json.loads(unseal(sealed, self._key))
        if content["name"] != name.hex():
            raise DataError("the row is that of another conversation")
        head = Head(content["owner"], content["used"], content["again"])
        return head, bytes.fromhex(content["body"])

    def _check_key(self) -> None:
        """Note in a new file which key it is of; refuse one of another key.

        A trigger could put back what is removed, so the file holds our table alone.
        """
        self._run(_TABLE.replace("TABLE", "TABLE IF NOT EXISTS"))
        schema = self._run("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")
        if schema != [(_TABLE,)]:
            raise ConversationFileError(self._path, _OTHER_FILE)
        if not self._run("SELECT count(*) FROM kept")[0][0]:
            check = seal(_CHECK, self._key)
            self._run("INSERT INTO kept VALUES (?, ?, ?)", _CHECK_NAME, check, b"")
        rows = self._run("SELECT head FROM kept WHERE name = ?", _CHECK_NAME)
        try:
            is_own = bool(rows) and unseal(rows[0][0], self._key).rstrip() == _CHECK
        except DataError:
            is_own = False
        if not is_own:
            reason = f"the key is another one, or the file was changed; {_ADVICE}"
            raise ConversationFileError(self._path, reason)

    def _run(self, statement: str, *values: bytes) -> list[Any]:
        try:
            return self._rows.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise ConversationFileError(self._path, _explain(error)) from None

    def __repr__(self) -> str:
        return "ConversationFile(<key not shown>)"


def _make(path: Path) -> None:
    """Make a file that its owner alone may read, where there is none."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def _connect(path: Path) -> sqlite3.Connection:
    """Open the database for this process alone."""
    rows = sqlite3.connect(
        path, timeout=0, isolation_level=None, check_same_thread=False
    )
    try:
        # The lock is taken with the first read, and kept until the file is closed.
        rows.execute("PRAGMA locking_mode = EXCLUSIVE")
        _check_kind(rows, path)
        rows.execute("PRAGMA journal_mode = WAL")
        rows.execute("PRAGMA synchronous = NORMAL")
        rows.execute("PRAGMA secure_delete = ON")
        rows.execute("BEGIN EXCLUSIVE")
        rows.execute("COMMIT")
    except BaseException:
        rows.close()
        raise
    return rows


def _check_kind(rows: sqlite3.Connection, path: Path) -> None:
    """Mark a new file as one of conversations; leave the database of others alone."""
    (kind,) = rows.execute("PRAGMA application_id").fetchone()
    (pages,) = rows.execute("PRAGMA page_count").fetchone()
    if pages and kind != _KIND:
        raise ConversationFileError(path, _OTHER_FILE)
    if not pages:
        rows.execute(f"PRAGMA application_id = {_KIND}")


def _explain(error: sqlite3.Error) -> str:
    """Say what is wrong, in words of ours: those of SQLite may hold what it read."""
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return "another process has it open; name another file"
    if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
        return _OTHER_FILE
    if name.startswith("SQLITE_FULL"):
        return "the disk is full"
    if name.startswith(("SQLITE_READONLY", "SQLITE_PERM", "SQLITE_CANTOPEN")):
        return "no permission to write it"
    return name or type(error).__name__


def _digest(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_BYTES).digest()
