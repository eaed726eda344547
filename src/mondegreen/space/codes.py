"""Binary codes of the words of a space, and Hamming distances between them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mondegreen.arrays import Floats, Ids, slices
from mondegreen.errors import InvalidParameterError, SpaceError
from mondegreen.space.geometry import Geometry

# (rows, bits / 8): packed bits, the first bit of a code in the highest place.
Bits = NDArray[np.uint8]

_ROWS: Final = 8192


@final
@dataclass(frozen=True, eq=False)
class Codes:
    """One code of ``bits`` bits per word, and one for the unknown word.

    Codes are public, like the vectors they come from: no text was used to make them.
    ``table`` holds those of the words, shape (V, bits / 8), and may be memory-mapped;
    ``geometry`` the Hamming distances of all inputs, which :meth:`of` measures.

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
            shapes = f"{table.shape} do not fit an unknown code of shape"
            raise SpaceError(f"codes of shape {shapes} {unknown.shape}")
        table.setflags(write=False)
        unknown.setflags(write=False)

    @classmethod
    def of(cls, table: ArrayLike, unknown: ArrayLike, method: str) -> Codes:
        """Take codes as they are, and measure their distances."""
        rows, point = np.array(table, np.uint8), np.array(unknown, np.uint8)
        codes = cls(rows, point, method, Geometry(0.0, 0.0, 0.0, 0.0))
        return replace(codes, geometry=measure_codes(rows, point))

    @property
    def bits(self) -> int:
        return 8 * int(self.table.shape[1])

    @cached_property
    def digest(self) -> str:
        """SHA-256, in hex."""
        head: dict[str, object] = {"geometry": self.geometry.to_dict()}
        head |= {"method": self.method, "shape": list(self.table.shape)}
        state = hashlib.sha256(json.dumps(head, sort_keys=True).encode())
        state.update(self.unknown.tobytes())
        state.update(np.ascontiguousarray(self.table).data)
        return state.hexdigest()

    def points(self, ids: Ids) -> Bits:
        """The codes of inputs, the unknown word included, (T, bits / 8)."""
        found: Bits = self.table[np.minimum(ids, len(self.table) - 1)]
        found[ids == len(self.table)] = self.unknown
        return found

    def distances(self, first: Ids, second: Ids) -> Floats:
        """In how many bits the codes of inputs differ, shape (first, second)."""
        right = self.points(np.asarray(second))
        table = np.empty((len(first), len(second)))
        for row, code in zip(table, self.points(np.asarray(first)), strict=True):
            row[:] = np.bitwise_count(right ^ code).sum(axis=1, dtype=np.int64)
        return table

    def __reduce__(self) -> tuple[object, ...]:
        table = np.array(self.table)  # never a pickled memory map
        return Codes, (table, np.array(self.unknown), self.method, self.geometry)


def check_bits(bits: int) -> int:
    """Refuse a length of codes that does not fill whole bytes."""
    if type(bits) is not int or not 8 <= bits <= 4096 or bits % 8:
        raise InvalidParameterError("bits", bits, "a multiple of 8 in 8..4096")
    return bits


def bit_counts(table: Bits) -> NDArray[np.int64]:
    """How many codes have each bit set, shape (bits,)."""
    ones = np.zeros(8 * table.shape[1], dtype=np.int64)
    for rows in slices(len(table), _ROWS):
        ones += np.unpackbits(table[rows], axis=1).sum(0, np.int64)
    return ones


def measure_codes(table: Bits, unknown: Bits) -> Geometry:
    """Measure all Hamming distances, exactly.

    The diameter comes from the nearest word to every complement.
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
        alone = words.search(distinct, 2)[0][:, 1].astype(float)
    nearest = np.repeat(np.where(times > 1, 0.0, alone), times)
    closest = inputs.search(points, 2)[0][:, 1].min() if len(points) > 1 else 0
    ones, pairs = bit_counts(table), count * (count - 1)
    return Geometry(
        closest=float(closest),
        nearest=float(np.median(nearest)) if pairs else 0.0,
        mean=2 * float(ones @ (count - ones)) / pairs if pairs else 0.0,
        diameter=float(bits - inputs.search(~points, 1)[0].min()),
    )
