"""Laws that are kept for the next batches, in one process or shared by several."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Weights
from mondegreen.mechanisms.laws.base import IntegerRow, Row
from mondegreen.mechanisms.laws.dense import DenseRow

_KEPT_BYTES: Final = 192 << 20
"""For whole laws, in a process that works alone."""

_KEPT_BESIDE_OTHERS: Final = 64 << 20
"""For whole laws, in one of several processes."""

_OUTLINE_BYTES: Final = 64 << 20
"""For outlines, in every process."""

_SHARED_BYTES: Final = 128 << 20
SHARED_NUMBERS: Final = 130
"""Numbers of the longest whole law that is shared: its floor, and 64 words."""

_CLAIMED: Final = -1
_UNSHARED: Final = -2


@final
class KeptRows:
    """Laws that are kept, up to a number of bytes; none is ever thrown out."""

    __slots__ = ("_free", "_free_outlines", "_outlines", "_rows")

    def __init__(self) -> None:
        self._free, self._free_outlines = _KEPT_BYTES, _OUTLINE_BYTES
        self._rows: dict[int, IntegerRow] = {}
        self._outlines: dict[int, Weights] = {}

    def make_room(self) -> None:
        """Keep less from now on, since other processes keep as much."""
        self._free -= _KEPT_BYTES - _KEPT_BESIDE_OTHERS

    def row(self, point: int) -> IntegerRow | None:
        """Return the law of an input, if it is kept whole."""
        return self._rows.get(point)

    def outline(self, point: int) -> Weights | None:
        """Return the outline of the law of an input, if it is kept."""
        return self._outlines.get(point)

    def offer(self, point: int, row: IntegerRow, draws: int) -> None:
        """Keep a law while there is room: whole, or its outline where it is rare."""
        if isinstance(row, DenseRow) and row.laws.is_reproducible:
            self.offer_outline(point, row.outline)
            if draws < row.laws.blocks:
                return
        if row.nbytes <= self._free:
            self._free -= row.nbytes
            self._rows[point] = row

    def offer_outline(self, point: int, outline: Weights) -> None:
        """Keep an outline while there is room."""
        cost = outline.nbytes + 200
        if point not in self._outlines and cost <= self._free_outlines:
            self._free_outlines -= cost
            self._outlines[point] = outline


@final
class SharedRows:
    """Laws that processes compute for each other.

    A process claims laws, computes them and publishes them; nobody computes what
    another has claimed. What is shared is a public function of a word, but that it is
    there says that the word occurred: the memory is as private as the texts.

    Parameters
    ----------
    memory : buffer
        Shared by the processes, all zeros at first.
    lock : context manager
        Shared by the processes.
    inputs : int
        Number of inputs, ``V + 1``.
    numbers : int
        Numbers of a law: the stride of the table.
    """

    def __init__(
        self,
        memory: Any,
        lock: AbstractContextManager[Any],
        inputs: int,
        numbers: int,
    ) -> None:
        everything = np.frombuffer(memory, dtype=np.int64)
        self._lock = lock
        self._used = everything[:1]
        # Zeros mean absent, so that new memory need not be written.
        self._place = everything[1 : 1 + inputs]
        rest = everything[1 + inputs :]
        self._slots = rest[: len(rest) // numbers * numbers].reshape(-1, numbers)

    @staticmethod
    def nbytes(inputs: int, numbers: int) -> int:
        """Return how much memory to share."""
        return 8 * (1 + inputs) + min(8 * inputs * numbers, _SHARED_BYTES)

    def claim(self, points: NDArray[np.int64], most: int) -> NDArray[np.int64]:
        """Return inputs, at most so many, whose laws are to be computed here."""
        with self._lock:
            free: NDArray[np.int64] = points[self._place[points] == 0][:most]
            self._place[free] = _CLAIMED
        return free

    def find(self, point: int) -> Weights | None:
        """Return the numbers of a law that has been published."""
        with self._lock:  # the other half of the barrier in `publish`
            place = int(self._place[point])
        if place <= 0:
            return None
        numbers: Weights = self._slots[place - 1]
        return numbers

    def is_coming(self, point: int) -> bool:
        """Whether another process has claimed a law and not handed it in."""
        return int(self._place[point]) == _CLAIMED

    def publish(self, point: int, numbers: Weights | None) -> None:
        """Hand in a law that was claimed; None if it is too long to be shared."""
        if self._place[point] > 0:  # it was handed in before
            return
        if numbers is None:
            self._place[point] = _UNSHARED
            return
        with self._lock:
            slot = int(self._used[0])
            if slot >= len(self._slots):
                self._place[point] = _UNSHARED
                return
            self._used[0] = slot + 1
        self._slots[slot, : len(numbers)] = numbers
        with self._lock:  # a barrier: who sees the place sees the numbers
            self._place[point] = slot + 1


def packed(row: IntegerRow) -> Weights | None:
    """Return the numbers by which a law is shared, or None where there are too many."""
    if isinstance(row, DenseRow):
        return row.outline if row.laws.is_reproducible else None
    if not isinstance(row, Row) or 3 + 2 * len(row.ids) > SHARED_NUMBERS:
        return None
    head = np.array([len(row.ids), row.floor, row.base], dtype=np.int64)
    return np.concatenate([head, row.cumulative, row.ids])


def unpacked(numbers: Weights) -> Row:
    """Return the law that :func:`packed` has turned into numbers."""
    count, floor, base = numbers[:3].tolist()
    cumulative = numbers[3 : 3 + count].copy()
    ids = numbers[3 + count : 3 + 2 * count].astype(np.int32)
    return Row(floor, ids, cumulative, base)
