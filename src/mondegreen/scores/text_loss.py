"""The loss of each text of a run, from the number of its words."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.text.columns import unify_id
from mondegreen.wording import round_up

_PENDING: Final = 1 << 20
_ID_BYTES: Final = 8
_DIGITS: Final = 6


@final
class TextLosses:
    """Counts the words of rows, and of records where they have ids.

    Rows are kept as counts of equal lengths, so their number takes no memory. A record
    takes about 16 bytes: a digest of its id, which never leaves this object. Should two
    ids share a digest, the loss is overstated.

    >>> losses = TextLosses()
    >>> losses.add(np.array([3, 0, 5]), ["a", "b", "a"])
    >>> losses.to_dict(10.0)["per_row"]
    {'largest': 50.0, 'median': 40.0}
    >>> losses.to_dict(10.0)["per_id"]
    {'largest': 80.0, 'median': 80.0}
    """

    def __init__(self) -> None:
        self._rows: Counter[int] = Counter()
        self._records = _Sums()

    def add(self, words: NDArray[np.int64], ids: Sequence[str] | None = None) -> None:
        """Take the number of words of further rows, and their ids if they have any."""
        self._rows.update(words.tolist())
        if ids is not None:
            self._records.add(np.array([_digest(each) for each in ids], "u8"), words)

    def to_dict(self, word_loss: float) -> dict[str, Any]:
        """Bound the losses, in nats, where no word loses more than ``word_loss``.

        Rows and records without a word have no loss and are not counted. ``per_id`` is
        None where there were no ids. Numbers are rounded up, to a millionth.
        """
        lengths = np.array(list(self._rows), dtype=np.int64)
        shares = np.array(list(self._rows.values()), dtype=np.int64)
        records = self._records.values()
        return {
            "per_word": round_up(word_loss, _DIGITS),
            "per_row": _largest_and_median(lengths, shares, word_loss),
            "per_id": None
            if records is None
            else _largest_and_median(records, np.ones_like(records), word_loss),
        }


@final
class _Sums:
    """Sums by key, in memory that grows with the number of keys alone."""

    def __init__(self) -> None:
        self._parts: list[tuple[NDArray[np.uint64], NDArray[np.int64]]] = []
        self._pending = 0
        self._size = 0

    def add(self, keys: NDArray[np.uint64], values: NDArray[np.int64]) -> None:
        self._parts.append((keys, values))
        self._pending += len(keys)
        if self._pending > max(_PENDING, self._size):
            self._join()

    def _join(self) -> None:
        keys, values = map(np.concatenate, zip(*self._parts, strict=True))
        unique, places = np.unique(keys, return_inverse=True)
        sums = np.zeros(len(unique), dtype=np.int64)
        np.add.at(sums, places, values)
        self._parts, self._size, self._pending = [(unique, sums)], len(unique), 0

    def values(self) -> NDArray[np.int64] | None:
        if not self._parts:
            return None
        self._join()
        return self._parts[0][1]


def _digest(record: str) -> int:
    data = unify_id(record).encode("utf-8", "surrogatepass")
    found = hashlib.blake2b(data, digest_size=_ID_BYTES).digest()
    return int.from_bytes(found, "little")


def _largest_and_median(
    words: NDArray[np.int64], times: NDArray[np.int64], word_loss: float
) -> dict[str, float] | None:
    """Find both among the texts that have words; None where none has."""
    words, times = words[words > 0], times[words > 0]
    if not len(words):
        return None
    order = np.argsort(words)
    ends, count = np.cumsum(times[order]), int(times.sum())
    middle = np.searchsorted(ends, [(count - 1) // 2, count // 2], side="right")
    median = float(np.mean(words[order][middle]))
    return {
        "largest": round_up(int(words.max()) * word_loss, _DIGITS),
        "median": round_up(median * word_loss, _DIGITS),
    }
