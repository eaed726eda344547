"""Files of tensors in the safetensors format: spaces and language models.

Their headers are read here and not by the safetensors library, which tells neither
where a tensor lies, and copies every tensor into memory, nor that a key stands twice.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, final

import numpy as np

_LARGEST_HEADER: Final = 1 << 20
_WRITE_ROWS: Final = 4096
_TYPES: Final = {
    "F16": "<f2",
    "F32": "<f4",
    "F64": "<f8",
    "U8": "|u1",
    "U16": "<u2",
    "U32": "<u4",
}

Kinds = Mapping[str, tuple[Set[str], int]]
"""For each tensor of a format the types, and the number of dimensions, it may have."""


class HeaderError(ValueError):
    """Says what is wrong with a header; the room of the file says which file."""


class Tensor(NamedTuple):
    """Where a tensor lies in a file."""

    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]
    offset: int

    def map(self, path: Path) -> np.ndarray[Any, Any]:
        """Map it into memory, read-only."""
        return np.memmap(path, self.dtype, "r", self.offset, self.shape)


@final
@dataclass(frozen=True, slots=True)
class Header:
    """What stands before the tensors; they lie from ``start`` to ``end``."""

    metadata: dict[str, str]
    entries: dict[str, Any]
    start: int
    end: int

    def tensors(self, kinds: Kinds) -> dict[str, Tensor]:
        """The tensors: they must follow each other, in order, and fill the file."""
        tensors: dict[str, Tensor] = {}
        place = 0
        for name, entry in self.entries.items():
            allowed, dimensions = kinds.get(name, (frozenset(), 0))
            shape = entry["shape"]
            require(entry["dtype"] in allowed, f"{name} has a wrong type")
            is_shape = isinstance(shape, list) and len(shape) == dimensions
            is_shape = is_shape and all(
                type(n) is int and 0 <= n < 2**40 for n in shape
            )
            require(is_shape, f"{name} has a wrong shape")
            dtype = np.dtype(_TYPES[entry["dtype"]])
            size = dtype.itemsize * math.prod(shape)
            require(
                entry["data_offsets"] == [place, place + size],
                f"{name} has not the size that its shape needs, or leaves a hole",
            )
            tensors[name] = Tensor(dtype, tuple(shape), self.start + place)
            place += size
        place += self.start
        require(place == self.end, f"the file has {self.end} bytes and needs {place}")
        return tensors


def read_header(path: Path) -> Header:
    """Read the header of a file, and nothing else of it.

    Raises HeaderError, or another ValueError for what is no JSON, or OSError.
    """
    with path.open("rb") as stream:
        end = path.stat().st_size
        size = int.from_bytes(stream.read(8), "little")
        is_whole = end >= 8 and size <= min(_LARGEST_HEADER, end - 8)
        require(is_whole, "another kind of file, or cut off in its header")
        entries = json.loads(stream.read(size).decode(), object_pairs_hook=_object)
    require(isinstance(entries, dict), "no metadata")
    metadata = entries.pop("__metadata__", None)
    require(is_text(metadata), "no metadata")
    return Header(dict(metadata), entries, 8 + size, end)


def write_tensors(
    stream: BinaryIO,
    metadata: Mapping[str, str],
    parts: Mapping[str, np.ndarray[Any, Any]],
    aligned: str | None = None,
) -> None:
    """Write a file; the same content always gives the same bytes.

    The tensor ``aligned`` starts at a multiple of 64 bytes.
    """
    header: dict[str, object] = {"__metadata__": dict(metadata)}
    start, first = 0, 0
    for name, array in parts.items():
        first = start if name == aligned else first
        stop = start + array.nbytes
        offsets = {"shape": list(array.shape), "data_offsets": [start, stop]}
        header[name] = {"dtype": _kind(array), **offsets}
        start = stop
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 8 + first) % 64)
    stream.write(len(text).to_bytes(8, "little") + text)
    for array in parts.values():
        step = _WRITE_ROWS if array.ndim > 1 else max(len(array), 1)
        for i in range(0, len(array), step):
            stream.write(array[i : i + step].astype(_TYPES[_kind(array)]).tobytes())


def require(condition: bool, problem: str = "a field has a wrong value") -> None:
    """Raise HeaderError unless a condition holds."""
    if not condition:
        raise HeaderError(problem)


def is_text(value: object) -> bool:
    """Whether this is a mapping of strings to strings."""
    pairs = value.items() if isinstance(value, dict) else [(None, None)]
    return all(isinstance(each, str) for pair in pairs for each in pair)


def _kind(array: np.ndarray[Any, Any]) -> str:
    """How the format calls the type of an array."""
    return f"{array.dtype.kind.upper()}{8 * array.dtype.itemsize}"


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Refuse a key that stands twice: readers differ in which one they take."""
    require(len({key for key, _ in pairs}) == len(pairs), "a key stands twice")
    return dict(pairs)
