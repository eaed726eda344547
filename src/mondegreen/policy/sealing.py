"""Encryption of what a user keeps: ChaCha20, then BLAKE2b over the result."""

from __future__ import annotations

import hashlib
import hmac
import os
from typing import Final

import numpy as np

from mondegreen.errors import DataError, InvalidParameterError
from mondegreen.sampling.noise import chacha20

_MAGIC: Final = b"mondegreen-sealed 1\n"
_BYTES: Final = 32
_PAD: Final = 4096


def seal(content: bytes, key: bytes) -> bytes:
    r"""Encrypt and authenticate bytes.

    A fresh salt :math:`S` of 32 bytes gives two keys, BLAKE2b of :math:`S` under the
    user's key with the personal strings ``mondegreen-enc`` and ``mondegreen-mac``. The
    content is padded with blanks to a multiple of 4,096 bytes, then combined with the
    ChaCha20 stream of the first. The tag is keyed BLAKE2b of all that precedes it under
    the second. Only the padded length shows.

    Parameters
    ----------
    content : bytes
        Text, such as JSON, in which blanks at the end mean nothing.
    key : bytes
        32 secret random bytes.
    """
    salt = os.urandom(_BYTES)
    padded = content + b" " * (-len(content) % _PAD)
    head = _MAGIC + salt + _mask(padded, key, salt)
    return head + _tag(head, key, salt)


def unseal(data: bytes, key: bytes) -> bytes:
    """Decrypt what :func:`seal` made, blanks at its end included.

    Raises
    ------
    DataError
        If the key is another one, or a byte was changed.

    Examples
    --------
    >>> key = os.urandom(32)
    >>> unseal(seal(b"{}", key), key).strip()
    b'{}'
    """
    head, tag = data[:-_BYTES], data[-_BYTES:]
    start = len(_MAGIC) + _BYTES
    salt = head[len(_MAGIC) : start]
    # The tag is compared before anything is decrypted.
    if head[: len(_MAGIC)] != _MAGIC or len(salt) != _BYTES:
        raise DataError("not a sealed file of mondegreen")
    if not hmac.compare_digest(tag, _tag(head, key, salt)):
        raise DataError("the sealed file was changed, or the key is another one")
    return _mask(head[start:], key, salt)


def _mask(content: bytes, key: bytes, salt: bytes) -> bytes:
    stream = chacha20(_derive(key, salt, b"mondegreen-enc")).bytes(len(content))
    mixed = np.frombuffer(content, np.uint8) ^ np.frombuffer(stream, np.uint8)
    return mixed.tobytes()


def _tag(head: bytes, key: bytes, salt: bytes) -> bytes:
    mine = _derive(key, salt, b"mondegreen-mac")
    return hashlib.blake2b(head, digest_size=_BYTES, key=mine).digest()


def _derive(key: bytes, salt: bytes, purpose: bytes) -> bytes:
    if len(key) != _BYTES:
        raise InvalidParameterError("key", f"{len(key)} bytes", "32 secret bytes")
    return hashlib.blake2b(salt, digest_size=_BYTES, key=key, person=purpose).digest()
