"""Binary codes of the words of a space, and Hamming distances between them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids
from mondegreen.errors import InvalidParameterError, SpaceError
from mondegreen.space.geometry import Geometry

Bits = NDArray[np.uint8]
"""``(rows, bits / 8)`` packed bits, the first bit of a code in the highest place."""

_ROWS: Final = 8192


@final
@dataclass(frozen=True, eq=False)
class Codes:
    """One code of ``bits`` bits per word, and one for the unknown word.

    Codes are public, like the vectors they come from: no text was used to make them.

    Parameters
    ----------
    table : uint8 array, shape (V, bits / 8)
        Packed codes of the words; made read-only. May be memory-mapped.
    unknown : uint8 array, shape (bits / 8,)
        Code of the unknown word.
    method : str
        How they were made.
    geometry : Geometry
        Hamming distances of all inputs; :meth:`of` measures them.

    Examples
    --------
    >>> codes = Codes.of([[0b00000000], [0b00000111]], [0b00000001], "by hand")
    >>> codes.bits, codes.geometry.mean, codes.geometry.closest
    (8, 3.0, 1.0)
    """

    table: Bits
    unknown: Bits
    method: str
    geometry: Geometry

    def __post_init__(self) -> None:
        table, unknown = self.table, self.unknown
        if table.dtype != np.uint8 or table.ndim != 2 or not table.size:
            raise SpaceError("codes must be a table of bytes, one row per word")
        if unknown.dtype != np.uint8 or unknown.shape != table.shape[1:]:
            raise SpaceError("the code of the unknown word has another length")
        table.setflags(write=False)
        unknown.setflags(write=False)

    @classmethod
    def of(
        cls,
        table: Sequence[Sequence[int]] | Bits,
        unknown: Sequence[int] | Bits,
        method: str,
    ) -> Codes:
        """Take codes as they are, and measure their distances."""
        rows = np.array(table, dtype=np.uint8)
        point = np.array(unknown, dtype=np.uint8)
        if rows.ndim != 2 or not rows.size or point.shape != rows.shape[1:]:
            raise SpaceError(
                f"codes of shape {rows.shape} do not fit an unknown code of shape "
                f"{point.shape}"
            )
        return cls(rows, point, method, measure_codes(rows, point))

    @property
    def bits(self) -> int:
        """Length of a code."""
        return 8 * int(self.table.shape[1])

    @cached_property
    def digest(self) -> str:
        """SHA-256, in hex, over the method, distances, codes and unknown code."""
        head = {
            "geometry": self.geometry.to_dict(),
            "method": self.method,
            "shape": list(self.table.shape),
        }
        state = hashlib.sha256(json.dumps(head, sort_keys=True).encode())
        state.update(self.unknown.tobytes())
        state.update(np.ascontiguousarray(self.table).data)
        return state.hexdigest()

    def points(self, ids: Ids) -> Bits:
        """Return the codes of inputs, the unknown word included, (T, bits / 8)."""
        found: Bits = self.table[np.minimum(ids, len(self.table) - 1)]
        found[ids == len(self.table)] = self.unknown
        return found

    def __reduce__(self) -> tuple[object, ...]:
        table = np.array(self.table)  # never a pickled memory map
        return Codes, (table, np.array(self.unknown), self.method, self.geometry)


def check_bits(bits: int) -> int:
    """Return a length of codes; refuse one that does not fill whole bytes."""
    if type(bits) is not int or not 8 <= bits <= 4096 or bits % 8:
        raise InvalidParameterError("bits", bits, "a multiple of 8 in 8..4096")
    return bits


def measure_codes(table: Bits, unknown: Bits) -> Geometry:
    """Measure all Hamming distances, exactly.

    The mean comes from how often every bit is set, the diameter from the nearest
    word to every complement.
    """
    import faiss

    count, bits = len(table), 8 * table.shape[1]
    distinct, times = np.unique(table, axis=0, return_counts=True)
    points = np.unique(np.concatenate([distinct, unknown[None]]), axis=0)
    words, inputs = faiss.IndexBinaryFlat(bits), faiss.IndexBinaryFlat(bits)
    words.add(distinct)
    inputs.add(points)
    alone = np.full(len(distinct), float(bits))
    if len(distinct) > 1:
        alone = _search(words, distinct, 2)[:, 1].astype(float)
    nearest = np.repeat(np.where(times > 1, 0.0, alone), times)
    closest = _search(inputs, points, 2)[:, 1].min() if len(points) > 1 else 0
    ones = np.zeros(bits, dtype=np.int64)
    for start in range(0, count, _ROWS):
        ones += np.unpackbits(table[start : start + _ROWS], axis=1).sum(0, np.int64)
    pairs = count * (count - 1)
    return Geometry(
        closest=float(closest),
        nearest=float(np.median(nearest)) if pairs else 0.0,
        mean=2 * float(ones @ (count - ones)) / pairs if pairs else 0.0,
        diameter=float(bits - _search(inputs, ~points, 1).min()),
    )


def _search(index: object, queries: Bits, k: int) -> NDArray[np.int32]:
    """Return the smallest distances of each query, nearest first."""
    found: NDArray[np.int32] = index.search(np.ascontiguousarray(queries), k)[0]  # type: ignore[attr-defined]
    return found
