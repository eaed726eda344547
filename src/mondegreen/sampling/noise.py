"""Where randomness comes from: fresh keys, keyed replay, and seeds for experiments."""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Protocol, final

import numpy as np
from randomgen import ChaCha

from mondegreen.errors import ConfigurationError, InvalidParameterError

__all__ = ["Batch", "KeyedNoise", "NoiseSource", "OSNoise", "Seeded"]

_KEY_BYTES = 32


@final
@dataclass(frozen=True, slots=True)
class Batch:
    """Texts that are about to be privatized together.

    Parameters
    ----------
    number : int
        Running number of the batch; only :class:`Seeded` looks at it.
    scope : bytes
        Digest of all that shapes the release (mechanism, space, policies, column).
    texts : sequence of str or None
        The texts, in order.
    ids : sequence of str or None
        A stable identifier per text; only :class:`KeyedNoise` needs them.
    """

    number: int
    scope: bytes
    texts: Sequence[str | None]
    ids: Sequence[str] | None = None

    def __repr__(self) -> str:
        return f"Batch(number={self.number}, texts=<{len(self.texts)}>)"


class NoiseSource(Protocol):
    """Hands out random generators for consecutive runs of the texts of a batch."""

    @property
    def is_private(self) -> bool:
        """Whether nobody else can repeat the noise."""

    def describe(self) -> str:
        """Return one sentence for the guarantee."""

    def streams(self, batch: Batch) -> Iterator[tuple[range, np.random.Generator]]:
        """Yield disjoint ranges of texts that cover the batch, each with noise."""


def chacha20(key: bytes) -> np.random.Generator:
    """Return a generator over the ChaCha20 key stream (RFC 8439), nonce 0.

    Parameters
    ----------
    key : bytes
        Exactly 32 bytes, used for this one stream and never again.
    """
    if len(key) != _KEY_BYTES:
        raise InvalidParameterError("key", f"{len(key)} bytes", "32 bytes")
    stream: Any = ChaCha(key=int.from_bytes(key, "little"), rounds=20)
    return np.random.Generator(stream)


@final
@dataclass(frozen=True, slots=True)
class OSNoise:
    """Fresh ChaCha20 noise for every batch, keyed by the operating system.

    There is no state: nothing that fork, pickle, a thread, joblib or a retry could
    copy. The default everywhere.

    Examples
    --------
    >>> batch = Batch(0, b"", ["a text"])
    >>> draws = [next(OSNoise().streams(batch))[1].random() for _ in range(2)]
    >>> draws[0] == draws[1]
    False
    """

    @property
    def is_private(self) -> bool:
        """True: a key exists for one batch only and is forgotten."""
        return True

    def describe(self) -> str:
        """Return one sentence for the guarantee."""
        return "ChaCha20, a fresh 256-bit key from the operating system for every batch"

    def streams(self, batch: Batch) -> Iterator[tuple[range, np.random.Generator]]:
        """Yield one stream for the whole batch."""
        yield range(len(batch.texts)), chacha20(os.urandom(_KEY_BYTES))


@final
class KeyedNoise:
    r"""Noise that repeats itself for the same record, for whoever holds the key.

    A retry, a replay or a second run over unchanged records repeats the release
    instead of drawing again, so nothing more is revealed. The key of a record is
    BLAKE2b under the secret key of (scope, record id, digest of the text): two
    texts, two columns or two settings never share noise.

    Whoever holds the key and the release can test guesses of the original text:
    keep the key as long as replays are due, then delete it.

    Parameters
    ----------
    key : bytes
        At least 32 random bytes. Such a source refuses to be pickled.
    path : path, optional
        Where the key was read from; set by :meth:`from_file`. Only the path is
        pickled then.
    """

    __slots__ = ("_key", "_path")

    def __init__(self, key: bytes, *, path: Path | None = None) -> None:
        if len(key) < _KEY_BYTES or len(set(key)) < 8:
            raise InvalidParameterError(
                "key", "a short or repetitive one", "at least 32 random bytes"
            )
        self._key = hashlib.blake2b(
            key, digest_size=_KEY_BYTES, person=b"mondegreen-key"
        ).digest()
        self._path = path

    @classmethod
    def from_file(cls, path: str | Path) -> KeyedNoise:
        """Read a key; the file must be readable by its owner alone.

        Raises
        ------
        ConfigurationError
            If the file cannot be read, is open to others, or is no key.
        """
        path = Path(path).absolute()
        make = f"make one: (umask 077; head -c 32 /dev/urandom > {path.name})"
        try:
            mode = path.stat().st_mode
            key = path.read_bytes()
        except OSError as error:
            raise ConfigurationError(
                f"key file {path}: {error.strerror}; {make}"
            ) from None
        if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise ConfigurationError(
                f"key file {path} can be read by others: chmod 600 {path.name}"
            )
        try:
            return cls(key, path=path)
        except InvalidParameterError:
            raise ConfigurationError(f"key file {path} is no key; {make}") from None

    @property
    def is_private(self) -> bool:
        """True towards everybody who does not hold the key."""
        return True

    def describe(self) -> str:
        """Return one sentence for the guarantee."""
        return (
            "ChaCha20, keyed by a secret, the record id and the text: the same record "
            "repeats its release; whoever holds the key can test guesses"
        )

    def streams(self, batch: Batch) -> Iterator[tuple[range, np.random.Generator]]:
        """Yield one stream per text.

        Raises
        ------
        ConfigurationError
            If the batch has no ids.
        """
        if batch.ids is None:
            raise ConfigurationError(
                "keyed noise needs a stable id per record: name its column with --id, "
                "or pass ids="
            )
        pairs = zip(batch.texts, batch.ids, strict=True)
        for i, (text, record) in enumerate(pairs):
            if text is not None:
                yield range(i, i + 1), chacha20(self._derive(batch.scope, record, text))

    def _derive(self, scope: bytes, record: str, text: str) -> bytes:
        """Return the key of one record; fields have fixed length, so none can shift."""
        fields = (
            hashlib.blake2b(field, digest_size=32).digest()
            for field in (
                scope,
                record.encode("utf-8", "surrogatepass"),
                text.encode("utf-8", "surrogatepass"),
            )
        )
        return hashlib.blake2b(
            b"".join(fields),
            key=self._key,
            digest_size=_KEY_BYTES,
            person=b"mondegreen-rec",
        ).digest()

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        if self._path is None:
            raise TypeError(
                "a key is never pickled; build the source with KeyedNoise.from_file"
            )
        return KeyedNoise.from_file, (self._path,)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KeyedNoise):
            return NotImplemented
        return hmac.compare_digest(self._key, other._key)

    def __hash__(self) -> NoReturn:
        raise TypeError("a key has no hash")

    def __repr__(self) -> str:
        return "KeyedNoise(<key not shown>)"


@final
@dataclass(frozen=True, slots=True)
class Seeded:
    """Repeatable noise for experiments. A release made with it is not private.

    Parameters
    ----------
    seed : int, at least 0
        The stream depends on it, on the scope and on the number of the batch.
    """

    seed: int

    def __post_init__(self) -> None:
        if not isinstance(self.seed, int) or self.seed < 0:
            raise InvalidParameterError("seed", self.seed, "an integer, at least 0")

    @property
    def is_private(self) -> bool:
        """False: whoever knows or guesses the seed can undo the release."""
        return False

    def describe(self) -> str:
        """Return one sentence for the guarantee."""
        return f"seed {self.seed}: repeatable by anyone, for experiments only"

    def streams(self, batch: Batch) -> Iterator[tuple[range, np.random.Generator]]:
        """Yield one stream for the whole batch."""
        scope = int.from_bytes(hashlib.sha256(batch.scope).digest()[:8], "little")
        entropy = [self.seed, batch.number, scope]
        yield (
            range(len(batch.texts)),
            np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy))),
        )
