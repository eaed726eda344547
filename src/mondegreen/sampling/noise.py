"""Where randomness comes from: fresh keys, keyed replay, and seeds for experiments."""

from __future__ import annotations

import hashlib
import hmac
import itertools
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, NoReturn, Protocol, final

import numpy as np
from randomgen import ChaCha

from mondegreen.errors import ConfigurationError, InvalidParameterError
from mondegreen.files import read_secret

_KEY_BYTES: Final = 32
_LONGEST_KEY: Final = 4096
_LEAST_BYTES: Final = 8
"""Different bytes of a key; one with fewer is no random one."""

_HEX_KEY: Final = re.compile("[0-9a-fA-F]{64}")
_LIKE_KEY: Final = re.compile(r"\s*[0-9a-fA-F]{32,}\s*")
_VARIABLE: Final = re.compile("(?![0-9a-fA-F]{32})[A-Za-z_][A-Za-z0-9_]{0,63}")


@final
@dataclass(frozen=True, slots=True)
class Batch:
    """Texts that are about to be privatized together.

    ``number`` counts batches, for :class:`Seeded` alone; ``scope`` is a digest of all
    that shapes the release (mechanism, space, policies, column); ``ids`` are those of
    the records, for :class:`KeyedNoise` alone; ``places`` how many texts of the same
    column and record precede each, 0 if not given.
    """

    number: int | None
    scope: bytes
    texts: Sequence[str | None]
    ids: Sequence[str] | None = None
    places: Sequence[int] | None = None

    def __repr__(self) -> str:
        return f"Batch(number={self.number}, texts=<{len(self.texts)}>)"


class NoiseSource(Protocol):
    """Hands out random generators for consecutive runs of the texts of a batch."""

    @property
    def is_secret(self) -> bool:
        """Whether nobody else can repeat the noise."""

    def describe(self) -> str:
        """One sentence for the guarantee."""

    def streams(self, batch: Batch) -> Iterator[tuple[range, np.random.Generator]]:
        """Yield disjoint ranges of texts that cover the batch, each with noise."""


def chacha20(key: bytes) -> np.random.Generator:
    """A generator over the ChaCha20 key stream (RFC 8439), nonce 0.

    The key is used for this one stream and never again.
    """
    if len(key) != _KEY_BYTES:
        raise InvalidParameterError("key", f"{len(key)} bytes", "32 bytes")
    stream: Any = ChaCha(key=int.from_bytes(key, "little"), rounds=20)
    return np.random.Generator(stream)


@final
class StreamKeyer:
    """Keys one generator for one stream after another, 15 times as fast as new ones.

    A call returns a generator at the start of the stream that :func:`chacha20` has for
    the key. It is the same object each time: the next call ends the stream before.
    """

    def __init__(self) -> None:
        self._generator = chacha20(bytes(_KEY_BYTES))
        self._bits: Any = self._generator.bit_generator
        self._state: Any = self._bits.state

    def __call__(self, key: bytes) -> np.random.Generator:
        if len(key) != _KEY_BYTES:
            raise InvalidParameterError("key", f"{len(key)} bytes", "32 bytes")
        inner = self._state["state"]
        inner["keysetup"][:] = np.frombuffer(key, dtype="<u4")
        inner["ctr"][:] = inner["block"][:] = 0
        self._bits.state = self._state
        return self._generator

    def __repr__(self) -> str:
        return "StreamKeyer()"


@final
@dataclass(frozen=True, slots=True)
class OSNoise:
    """Fresh ChaCha20 noise for every batch, keyed by the operating system.

    It has no state that a fork, pickle, a thread, joblib or a retry could copy. This is
    the default everywhere.

    Examples
    --------
    >>> batch = Batch(0, b"", ["a text"])
    >>> draws = [next(OSNoise().streams(batch))[1].random() for _ in range(2)]
    >>> draws[0] == draws[1]
    False
    """

    is_secret: ClassVar[bool] = True  # a key exists for one batch, and is forgotten

    def describe(self) -> str:
        return "ChaCha20, a fresh 256-bit key from the operating system for every batch"

    def streams(self, batch: Batch) -> Iterator[tuple[range, np.random.Generator]]:
        yield range(len(batch.texts)), chacha20(os.urandom(_KEY_BYTES))


def stream_key(
    master: bytes, scope: bytes, record: str, place: int, text: str
) -> bytes:
    r"""Return the key of the ChaCha20 stream from which one text draws its noise.

    .. math:: \mathrm{BLAKE2b}_{K}(H(scope) \| H(record) \| place \| H(text)),

    where :math:`H` is BLAKE2b of 32 bytes without a key, strings are UTF-8, the place
    is 8 bytes, least first, and the personal string is ``mondegreen-rec``. Fields have
    fixed length, so that none can shift into the next.

    Parameters
    ----------
    master : bytes
        :math:`K`: BLAKE2b of 32 bytes of the secret key, personal string
        ``mondegreen-key``.
    scope : bytes
        Digest of the settings and of the logical column.
    record : str
        The id of the record; an integer is written in decimal.
    place : int
        How many texts of that column and record precede this one.
    text : str
        The text.

    Returns
    -------
    bytes, 32
        The key.

    Examples
    --------
    >>> stream_key(bytes(32), b"settings and column", "7", 0, "a text").hex()[:16]
    '931a17e5685d5697'
    """
    fields = _digest(scope), _text_digest(record), place.to_bytes(8, "little")
    data = b"".join([*fields, _text_digest(text)])
    return _digest(data, key=master, person=b"mondegreen-rec")


def _digest(data: bytes, key: bytes = b"", person: bytes = b"") -> bytes:
    return hashlib.blake2b(data, digest_size=32, key=key, person=person).digest()


def _text_digest(text: str) -> bytes:
    return _digest(text.encode("utf-8", "surrogatepass"))


def _is_key(key: bytes) -> bool:
    return len(key) >= _KEY_BYTES and len(set(key)) >= _LEAST_BYTES


def key_in_variable(name: str, value: str | None) -> bytes:
    """Read the key that an environment variable holds, here or elsewhere.

    Raises
    ------
    ConfigurationError
        If the variable is not set, or is no key. Its value is not shown.
    """
    problem = "is not set" if value is None else "is no key of 64 hex digits"
    make = "python -c 'import secrets; print(secrets.token_hex(32))'"
    digits, key = (value or "").strip(), b""
    if _HEX_KEY.fullmatch(digits):
        key = bytes.fromhex(digits)
        problem = f"is no random key: it has fewer than {_LEAST_BYTES} different bytes"
    if not _is_key(key):
        raise ConfigurationError(
            f"environment variable {name} {problem}; make one: {make}"
        )
    return key


def check_variable(name: object) -> None:
    """Refuse, without showing it, what may be a key in place of a variable's name."""
    if not isinstance(name, str) or not _VARIABLE.fullmatch(name):
        raise ConfigurationError(
            "give the name of an environment variable that holds the key, such as "
            "RELEASE_KEY: letters, digits and underscores, not starting with a digit"
        )


@final
class KeyedNoise:
    r"""Noise that is the same for the same record and the same key.

    A retry, or a second run over unchanged records, repeats the release instead of
    drawing again, so it discloses nothing more. :func:`stream_key` says what the noise
    of a text depends on. Two texts, two columns or two settings never share noise. The
    noise does not depend on the format of a file, the size of batches or the number of
    processes. Give every record a unique id: if two records have the same id and text,
    they have the same release, so an attacker sees that they are equal.

    Anyone with the key and the release can test guesses of the original text. Keep the
    key as long as you need to repeat releases, and then delete it.

    Parameters
    ----------
    key : bytes
        At least 32 random bytes. Such an object cannot be pickled. An object made by
        :meth:`from_file` or :meth:`from_env` is pickled as the name of the file or the
        variable.

    Examples
    --------
    >>> KeyedNoise(os.urandom(32))
    KeyedNoise(<key not shown>)
    """

    __slots__ = ("_again", "_key")

    is_secret: ClassVar[bool] = True  # towards all who do not hold the key

    def __init__(self, key: bytes) -> None:
        if not _is_key(key):
            allowed = "at least 32 random bytes"
            raise InvalidParameterError("key", "a short or repetitive one", allowed)
        self._key = _digest(key, person=b"mondegreen-key")
        self._again: tuple[Any, tuple[object]] | None = None

    @classmethod
    def from_file(cls, path: str | Path) -> KeyedNoise:
        """Read a key; the file must be readable by its owner alone.

        Parameters
        ----------
        path : str or Path
            File of 32 or more bytes, or of 64 hexadecimal digits, which are the same
            key as in an environment variable.

        Returns
        -------
        KeyedNoise
            Noise under that key.

        Raises
        ------
        ConfigurationError
            If the file cannot be read, is open to others, or is no key. What may be a
            key in place of a path is not shown.
        """
        if _LIKE_KEY.fullmatch(str(path)):
            raise ConfigurationError(
                "give the path of a key file, not the key. If the file has such a "
                "name, give its path with the folder"
            )
        path = Path(path).absolute()
        make = f"make one: (umask 077; head -c 32 /dev/urandom > {path.name})"
        key = read_secret(path, _LONGEST_KEY, "key file", f"; {make}")
        if _HEX_KEY.fullmatch(digits := key.decode("latin-1").strip()):
            key = bytes.fromhex(digits)
        if not _is_key(key):
            raise ConfigurationError(f"key file {path} is not a key; {make}")
        source = cls(key)
        source._again = (cls.from_file, (path,))
        return source

    @classmethod
    def from_env(cls, name: str) -> KeyedNoise:
        """Read a key of 64 hexadecimal digits from an environment variable.

        It means the same as a key file of these 32 bytes.

        Parameters
        ----------
        name : str
            Name of the variable.

        Returns
        -------
        KeyedNoise
            Noise under that key.

        Raises
        ------
        ConfigurationError
            If the variable is not set, or is no key. Its value is not shown, and
            neither is a name that may be a key put there by mistake.
        """
        check_variable(name)
        source = cls(key_in_variable(name, os.environ.get(name)))
        source._again = (cls.from_env, (name,))
        return source

    def subkey(self, purpose: bytes) -> bytes:
        """Derive 32 secret bytes for another purpose; they do not show this key.

        Parameters
        ----------
        purpose : bytes
            Public name of the purpose.

        Returns
        -------
        bytes, 32
            The key.
        """
        return _digest(purpose, key=self._key, person=b"mondegreen-sub")

    def describe(self) -> str:
        return (
            "ChaCha20, keyed by a secret, the record id and the text: the same record "
            "repeats its release; anyone with the key can test guesses"
        )

    def streams(self, batch: Batch) -> Iterator[tuple[range, np.random.Generator]]:
        """Yield one stream per text.

        Parameters
        ----------
        batch : Batch
            Texts with their identifiers, places and column.

        Yields
        ------
        tuple of range and numpy.random.Generator
            Texts of a batch, and their noise.
        """
        if batch.ids is None:
            raise ConfigurationError(
                "keyed noise needs a stable id per record: id= for one text, ids= for "
                "several. The command takes --id COLUMN"
            )
        places = batch.places or itertools.repeat(0, len(batch.texts))
        records = zip(batch.texts, batch.ids, places, strict=True)
        for i, (text, record, place) in enumerate(records):
            if text is not None:
                key = stream_key(self._key, batch.scope, record, place, text)
                yield range(i, i + 1), chacha20(key)

    def __reduce__(self) -> tuple[Any, tuple[object]]:
        if self._again is None:
            raise TypeError(
                "a key is never pickled; build the source with KeyedNoise.from_file "
                "or KeyedNoise.from_env"
            )
        return self._again

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
        The stream depends on the seed, the scope and the number of the batch. A
        privatizer counts its batches in the process that made it. A copy in another
        process would count the same numbers again, so give it the number of each batch.
    """

    seed: int

    is_secret: ClassVar[bool] = False  # who guesses the seed can undo the release

    def __post_init__(self) -> None:
        if not isinstance(self.seed, int) or self.seed < 0:
            raise InvalidParameterError("seed", self.seed, "an integer, at least 0")

    def describe(self) -> str:
        return f"seed {self.seed}: repeatable by anyone, for experiments only"

    def streams(self, batch: Batch) -> Iterator[tuple[range, np.random.Generator]]:
        if batch.number is None:
            raise ConfigurationError(
                "seeded noise in a copy of a privatizer would repeat the noise of the "
                "first batch. Pass number=, a different one for each batch"
            )
        scope = int.from_bytes(hashlib.sha256(batch.scope).digest()[:8], "little")
        entropy = np.random.SeedSequence([self.seed, batch.number, scope])
        yield range(len(batch.texts)), np.random.Generator(np.random.PCG64(entropy))
