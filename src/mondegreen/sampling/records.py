"""Numbers of batches: each once, in the one process that counts them."""

from __future__ import annotations

import functools
import hashlib
import itertools
import os
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, Final, final

import numpy as np

from mondegreen.errors import ConfigurationError, DataError, InvalidParameterError

_DIGEST_BYTES: Final = 16


def record_id(value: object) -> str:
    """The id of a record as a string; an integer is written in decimal.

    A float is refused, since ``7`` and ``7.0`` are one number and two texts; an error
    names the type alone.

    >>> record_id(7), record_id("7"), record_id(np.int64(7))
    ('7', '7', '7')
    """
    if isinstance(value, str) and value:
        return value
    if isinstance(value, str):
        raise InvalidParameterError("id", value, "not empty")
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        allowed = "a string or an integer"
        raise InvalidParameterError("id", type(value).__name__, allowed)
    return str(int(value))


def check_order(name: str, values: object) -> None:
    """Refuse a set or a mapping: texts and ids belong together by their order.

    >>> check_order("texts", ["b", "a"])
    >>> check_order("texts", {"b", "a"})
    Traceback (most recent call last):
    mondegreen.errors.InvalidParameterError: texts must be in an order, ...
    """
    if isinstance(values, Set | Mapping):
        allowed = "in an order, such as a list"
        raise InvalidParameterError(name, type(values).__name__, allowed)


def record_ids(
    values: Iterable[object] | None, count: int, seen: SeenIds | None = None
) -> list[str] | None:
    """The ids of so many records as strings; None where they have none."""
    if isinstance(values, str):
        raise InvalidParameterError("ids", "one string", "a sequence of ids")
    check_order("ids", values)
    found = None if values is None else list(map(record_id, values))
    if found is not None and len(found) != count:
        allowed = f"one for each of {count} texts"
        raise InvalidParameterError("ids", f"{len(found)} of them", allowed)
    if seen is not None:
        seen.add(found)
    return found


@final
class SeenIds:
    """Refuses a record whose id has occurred before.

    It holds a digest of 16 bytes for each record, which takes about 110 bytes in
    memory.

    >>> seen = SeenIds()
    >>> seen.add(["a", "b"])
    >>> seen.add(["c", "a"])
    Traceback (most recent call last):
    mondegreen.errors.DataError: record 4 has the id of an earlier record
    """

    def __init__(self) -> None:
        self._digests: set[bytes] = set()

    def add(self, ids: Sequence[str] | None) -> None:
        """Take the ids of further records; an error says which, and not its id."""
        if ids is None:
            raise ConfigurationError("unique_ids needs ids")
        for record in ids:
            data = record.encode("utf-8", "surrogatepass")
            digest = hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()
            if digest in self._digests:
                number = len(self._digests) + 1
                raise DataError(f"record {number} has the id of an earlier record")
            self._digests.add(digest)


@final
class BatchNumbers:
    """Counts batches, from 0, in the process that made it.

    A fork has the count of its parent, and a pickle would start again: both would give
    numbers that are taken, so that nobody counts there.

    >>> import copy
    >>> numbers = BatchNumbers()
    >>> numbers.next(), numbers.next(), numbers.next(7), copy.copy(numbers).next()
    (0, 1, 7, None)
    """

    def __init__(self, *, is_counting: bool = True) -> None:
        self._process = os.getpid() if is_counting else None
        self._count = itertools.count()

    def next(self, given: int | None = None) -> int | None:
        """The number that was given, or the next one; None where nobody counts."""
        if given is None:
            return next(self._count) if self._process == os.getpid() else None
        if isinstance(given, bool) or not isinstance(given, int) or given < 0:
            raise InvalidParameterError("number", given, "an integer, at least 0")
        return given

    def fresh(self) -> BatchNumbers:
        """Another count from 0, where this one counts."""
        return BatchNumbers(is_counting=self._process == os.getpid())

    def __reduce__(self) -> tuple[Any, ...]:
        return functools.partial(BatchNumbers, is_counting=False), ()
