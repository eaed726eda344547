"""API keys of a service: read from a file, and kept as digests only."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final, final

from mondegreen.errors import ConfigurationError
from mondegreen.files import read_secret

_LONGEST: Final = 1 << 20
_KEY: Final = re.compile(rb"[!-~]{20,512}")
_MAKE: Final = "python -c 'import secrets; print(secrets.token_urlsafe(32))'"


@final
class ApiKeys:
    """Keys that open a service. None at all: it is open.

    >>> keys = ApiKeys([b"not-a-key-that-anybody-has"])
    >>> keys, keys.number(b"not-a-key-that-anybody-has"), keys.number(b"another")
    (ApiKeys(<1 keys>), 0, None)
    """

    __slots__ = ("_digests",)

    def __init__(self, keys: Iterable[bytes] = ()) -> None:
        self._digests = tuple(hashlib.sha256(key).digest() for key in keys)

    @classmethod
    def from_file(cls, path: str | Path) -> ApiKeys:
        """Read a key from each line; ``#`` begins a comment, others may not read it.

        Raises
        ------
        ConfigurationError
            If the file is open to others, or a line, which is named by number, is no
            key of 20 to 512 printable characters.
        """
        lines = read_secret(path, _LONGEST, "file of API keys").splitlines()
        keys = []
        for number, line in enumerate(map(bytes.strip, lines), 1):
            if line and not line.startswith(b"#"):
                if not _KEY.fullmatch(line):
                    raise ConfigurationError(
                        f"file of API keys {path}, line {number}: a key is 20 to 512 "
                        f"characters without spaces; make one: {_MAKE}"
                    )
                keys.append(line)
        if not keys:
            problem = f"file of API keys {path} holds none; make one: {_MAKE}"
            raise ConfigurationError(problem)
        return cls(keys)

    def number(self, given: bytes) -> int | None:
        """Say which key was given; the time taken tells nothing about any of them."""
        digest = hashlib.sha256(given).digest()
        matches = [hmac.compare_digest(digest, known) for known in self._digests]
        return matches.index(True) if any(matches) else None

    def __bool__(self) -> bool:
        return bool(self._digests)

    def __len__(self) -> int:
        return len(self._digests)

    def __repr__(self) -> str:
        return f"ApiKeys(<{len(self)} keys>)"
