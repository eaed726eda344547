"""The file a space is kept in: a few tensors in the safetensors format.

``docs/reference/space-format.md`` describes it. It is read here and not by the
safetensors library because that one copies every tensor into memory.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, cast, final

import numpy as np

from mondegreen.errors import (
    InvalidParameterError,
    SpaceError,
    SpaceIntegrityError,
)
from mondegreen.space.codes import Codes
from mondegreen.space.distances import METRICS
from mondegreen.space.geometry import Geometry
from mondegreen.space.names import checked_name
from mondegreen.space.space import CODES_FORMAT, FORMAT, Space
from mondegreen.space.tree import WordTree

_LARGEST_HEADER = 1 << 20
_LARGEST_CODE = 512
_WRITE_ROWS = 4096
_DTYPES: Final = {"F16": "<f2", "F32": "<f4", "F64": "<f8", "U8": "|u1"}
_METADATA: Final = ("about", "digest", "format", "geometry", "metric", "name")
_BEFORE: Final = ("mondegreen-space/1", "mondegreen-codes/1")
_REBUILD: Final = (
    "it is of an earlier version, whose digest left out the distances that "
    "certificates count on; build it again from its vectors: mondegreen space build"
)
_VECTORS: Final = {"unknown", "vectors", "words"}
_CODES: Final = {"codes", "unknown_code", "words"}


@final
@dataclass(frozen=True, slots=True)
class _Tensor:
    """Where a tensor lies in the file."""

    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]
    offset: int


@final
@dataclass(frozen=True, slots=True)
class SpaceHeader:
    """What the header of a space file says, checked against the size of the file."""

    path: Path
    name: str
    metric: str
    digest: str
    geometry: Geometry
    about: dict[str, str]
    tensors: dict[str, _Tensor]
    codes: dict[str, Any] | None = None

    @property
    def vocab_size(self) -> int:
        """Number of words."""
        return self._rows.shape[0]

    @property
    def dim(self) -> int:
        """Number of coordinates; of bits, where there are codes alone."""
        packed = 1 if "vectors" in self.tensors else 8
        return packed * self._rows.shape[1]

    @property
    def dtype(self) -> str:
        """Type of the coordinates."""
        return self._rows.dtype.name if "vectors" in self.tensors else "bit"

    @property
    def _rows(self) -> _Tensor:
        """The table with a row per word."""
        return self.tensors["vectors" if "vectors" in self.tensors else "codes"]


def write_space(stream: BinaryIO, space: Space) -> None:
    """Write a space; the same space always gives the same bytes."""
    metadata = {
        "format": FORMAT if space.has_vectors else CODES_FORMAT,
        "name": space.name,
        "metric": space.metric if space.has_vectors else "hamming",
        "geometry": "",
        "about": json.dumps(dict(space.about), sort_keys=True),
        "digest": space.digest,
    }
    parts: dict[str, tuple[str, np.ndarray[Any, Any]]] = {}
    codes = space.codes
    if space.has_vectors:
        kind = "F16" if space.vectors.dtype.itemsize == 2 else "F32"
        parts["unknown"] = ("F64", space.unknown)
        parts["vectors"] = (kind, space.vectors)
        metadata["geometry"] = json.dumps(space.geometry.to_dict(), sort_keys=True)
    words = "\n".join(space.words).encode()
    parts["words"] = ("U8", np.frombuffer(words, dtype=np.uint8))
    if codes is not None:
        parts["codes"] = ("U8", codes.table)
        parts["unknown_code"] = ("U8", codes.unknown[None])
        about = {
            "digest": codes.digest,
            "geometry": codes.geometry.to_dict(),
            "method": codes.method,
        }
        metadata["codes"] = json.dumps(about, sort_keys=True)
        if not space.has_vectors:
            distances = json.dumps(codes.geometry.to_dict(), sort_keys=True)
            metadata["geometry"] = distances
    if space.tree is not None:
        parts["tree"] = ("U8", np.frombuffer(space.tree.to_bytes(), dtype=np.uint8))
        metadata["tree"] = space.tree.digest
    metadata["checksum"] = _checksum(metadata)
    _write_parts(stream, metadata, parts)


def _write_parts(
    stream: BinaryIO,
    metadata: dict[str, str],
    parts: dict[str, tuple[str, np.ndarray[Any, Any]]],
) -> None:
    """Write the header and the tensors, a few rows at a time."""
    header: dict[str, object] = {"__metadata__": metadata}
    start = 0
    for name, (kind, array) in parts.items():
        stop = start + np.dtype(_DTYPES[kind]).itemsize * array.size
        shape = list(array.shape)
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [start, stop]}
        start = stop
    text = json.dumps(header, separators=(",", ":")).encode()
    first = parts["unknown"][1].nbytes if "unknown" in parts else 0
    text += b" " * (-(len(text) + 8 + first) % 64)  # so that the vectors lie aligned
    stream.write(len(text).to_bytes(8, "little") + text)
    for kind, array in parts.values():
        step = _WRITE_ROWS if array.ndim > 1 else len(array)
        for i in range(0, len(array), step):
            stream.write(array[i : i + step].astype(_DTYPES[kind]).tobytes())


def read_header(path: Path) -> SpaceHeader:
    """Read and check the header of a space file, and nothing else of it.

    Raises
    ------
    SpaceError
        If the file cannot be read, or is not a whole space file.
    """
    try:
        with path.open("rb") as stream:
            file_size = path.stat().st_size
            size = int.from_bytes(stream.read(8), "little")
            if file_size < 8 or size > min(_LARGEST_HEADER, file_size - 8):
                raise SpaceError(f"{path}: not a space file, or cut off in its header")
            text = stream.read(size)
    except OSError as error:
        raise SpaceError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        header = json.loads(text.decode(), object_pairs_hook=_object)
        metadata = _metadata(header)
        tensors = _tensors(header, 8 + size, file_size)
        geometry = Geometry(**json.loads(metadata["geometry"]))
        about = json.loads(metadata["about"])
        numbers = list(geometry.to_dict().values())
        _require(all(isinstance(x, float) and 0 <= x < math.inf for x in numbers))
        _require(_is_text(about))
        codes = _codes_metadata(metadata, tensors)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        told = isinstance(error, (_BadHeaderError, InvalidParameterError))
        reason = f": {error}" if told else ""
        raise SpaceError(f"{path}: not a space file of format {FORMAT}{reason}") from (
            error
        )
    if metadata["checksum"] != _checksum(metadata):
        raise SpaceIntegrityError(
            f"{path}: its description was changed after it was written; get it again"
        )
    name, metric = metadata["name"], metadata["metric"]
    digest = metadata["digest"]
    return SpaceHeader(path, name, metric, digest, geometry, about, tensors, codes)


def read_space(path: Path) -> Space:
    """Map a space file into memory and check it against its digest.

    Raises
    ------
    SpaceError
        If the file cannot be read, or is not a whole space file.
    SpaceIntegrityError
        If the content does not have the digest the file promises.
    """
    header = read_header(path)
    try:
        words = bytes(_map(header, "words")).decode().split("\n")
    except UnicodeDecodeError as error:
        raise SpaceIntegrityError(f"{path}: the words are not valid UTF-8") from error
    if len(words) != header.vocab_size:
        raise SpaceIntegrityError(
            f"{path}: {len(words)} words for {header.vocab_size} vectors"
        )
    space = _space(header, words, _read_codes(header))
    if space.digest != header.digest:
        raise SpaceIntegrityError(
            f"{path}: the content has the digest {space.digest}, "
            f"and the file promises {header.digest}; get it again"
        )
    return space


def _space(header: SpaceHeader, words: list[str], codes: Codes | None) -> Space:
    """Return the space of a file, its digest not yet checked."""
    name, about, path = header.name, header.about, header.path.resolve()
    if codes is not None and "vectors" not in header.tensors:
        return Space.from_codes(name, words, codes, about, path)
    vectors = _map(header, "vectors")
    unknown = np.array(_map(header, "unknown"))
    geometry, metric = header.geometry, header.metric
    known = (name, tuple(words), vectors, unknown, geometry, about, path, metric)
    return Space(*known, codes, _read_tree(header))


def _read_codes(header: SpaceHeader) -> Codes | None:
    """Map the codes of a file, if it has any, and check them against their digest."""
    if header.codes is None:
        return None
    geometry = Geometry(**header.codes["geometry"])
    table, unknown = _map(header, "codes"), np.array(_map(header, "unknown_code"))[0]
    codes = Codes(table, unknown, header.codes["method"], geometry)
    if codes.digest != header.codes["digest"]:
        raise SpaceIntegrityError(
            f"{header.path}: the codes have another digest than promised; get it again"
        )
    return codes


def _read_tree(header: SpaceHeader) -> WordTree | None:
    """Read the word tree of a file, if any; the digest of the space covers it."""
    if "tree" not in header.tensors:
        return None
    return WordTree.from_bytes(bytes(_map(header, "tree")))


class _BadHeaderError(ValueError):
    """Says what is wrong with a header."""


def _require(condition: bool, problem: str = "a field has a wrong value") -> None:
    """Refuse a header."""
    if not condition:
        raise _BadHeaderError(problem)


def _is_text(value: object) -> bool:
    """Say whether this is a mapping of strings to strings."""
    return isinstance(value, dict) and all(
        isinstance(each, str) for pair in value.items() for each in pair
    )


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Refuse a key that stands twice: readers differ in which one they take."""
    _require(len({key for key, _ in pairs}) == len(pairs), "a key stands twice")
    return dict(pairs)


def _metadata(header: object) -> dict[str, str]:
    """Return the metadata of a header of our format."""
    _require(isinstance(header, dict), "the header is not an object")
    metadata = cast("dict[str, dict[str, str]]", header).get("__metadata__")
    _require(_is_text(metadata), "no metadata")
    found = cast("dict[str, str]", metadata)
    missing = {*_METADATA, "checksum"} - found.keys()
    _require(not missing, f"the metadata has no {', '.join(sorted(missing))}")
    _require(found["format"] not in _BEFORE, _REBUILD)
    checked_name(found["name"])
    metrics = {FORMAT: set(METRICS), CODES_FORMAT: {"hamming"}}
    _require(found["format"] in metrics, "another format or version")
    _require(found["metric"] in metrics[found["format"]], "an unknown metric")
    return found


def _codes_metadata(
    metadata: dict[str, str], tensors: dict[str, _Tensor]
) -> dict[str, Any] | None:
    """Return what the metadata says of the codes; both or neither must be there."""
    _require(("codes" in metadata) == ("codes" in tensors), "codes without a digest")
    _require(
        (metadata["format"] == FORMAT) == ("vectors" in tensors),
        "tensors of another format",
    )
    if "codes" not in metadata:
        return None
    found = json.loads(metadata["codes"])
    _require(isinstance(found, dict) and set(found) == {"digest", "geometry", "method"})
    _require(all(isinstance(found[key], str) for key in ("digest", "method")))
    numbers = list(Geometry(**found["geometry"]).to_dict().values())
    _require(all(isinstance(x, float) and 0 <= x < math.inf for x in numbers))
    return cast("dict[str, Any]", found)


def _tensors(header: dict[str, object], start: int, end: int) -> dict[str, _Tensor]:
    """Return the tensors; they must fill the file without a hole or an overlap."""
    entries = {key: header[key] for key in header if key != "__metadata__"}
    _require(
        set(entries) - {"tree"} in (_VECTORS, _CODES, _VECTORS | _CODES)
        and ("tree" not in entries or "vectors" in entries),
        "the tensors must be unknown, vectors and words, perhaps a tree, or codes",
    )
    tensors: dict[str, _Tensor] = {}
    spans: list[tuple[int, int]] = []
    for name, entry in entries.items():
        _require(isinstance(entry, dict), f"{name} is not described")
        fields = cast("dict[str, list[int]]", entry)
        dtype = _DTYPES.get(str(fields["dtype"]), "")
        shape, offsets = fields["shape"], fields["data_offsets"]
        whole = isinstance(shape, list) and isinstance(offsets, list)
        _require(whole and len(offsets) == 2 and dtype != "", f"{name} is malformed")
        _require(
            all(type(n) is int and 0 <= n < 2**62 for n in shape + offsets),
            f"{name} has a wrong shape or place",
        )
        kind = np.dtype(dtype)
        _require(
            offsets[1] - offsets[0] == kind.itemsize * math.prod(shape),
            f"{name} has not the size that its shape needs",
        )
        spans.append((start + offsets[0], start + offsets[1]))
        tensors[name] = _Tensor(kind, tuple(shape), start + offsets[0])
    spans.sort()
    edges = [start, *(right for _, right in spans)]
    _require([left for left, _ in spans] == edges[:-1], "the tensors leave a hole")
    _require(edges[-1] == end, f"the file has {end} bytes and needs {edges[-1]}")
    _check_shapes(tensors)
    return tensors


def _check_shapes(tensors: dict[str, _Tensor]) -> None:
    """Refuse tensors that do not fit each other."""
    tree = tensors.get("tree")
    _require(
        tree is None or (len(tree.shape) == 1 and tree.dtype.name == "uint8"),
        "tree must be bytes",
    )
    words = tensors["words"]
    _require(
        len(words.shape) == 1 and words.dtype.name == "uint8" and words.shape[0] > 0,
        "words must be bytes",
    )
    if "vectors" in tensors:
        vectors, unknown = tensors["vectors"], tensors["unknown"]
        _require(
            len(vectors.shape) == 2
            and 0 < vectors.shape[0] < 2**31
            and vectors.dtype.name in ("float16", "float32"),
            "vectors must be a table of F16 or F32",
        )
        _require(
            unknown.shape == vectors.shape[1:] and unknown.dtype.name == "float64",
            "unknown must be one point in F64",
        )
    if "codes" in tensors:
        codes, code = tensors["codes"], tensors["unknown_code"]
        rows = tensors.get("vectors", codes).shape[0]
        _require(
            len(codes.shape) == 2
            and 0 < codes.shape[0] < 2**31
            and codes.shape[0] == rows
            and 0 < codes.shape[1] <= _LARGEST_CODE
            and codes.dtype.name == code.dtype.name == "uint8"
            and code.shape == (1, codes.shape[1]),
            "codes must be a table of U8, and one more",
        )


def _map(header: SpaceHeader, name: str) -> np.memmap[tuple[int, ...], np.dtype]:
    """Map one tensor into memory, read-only."""
    tensor = header.tensors[name]
    return np.memmap(
        header.path,
        dtype=tensor.dtype,
        mode="r",
        offset=tensor.offset,
        shape=tensor.shape,
    )


def _checksum(metadata: dict[str, str]) -> str:
    """Return the SHA-256 of the metadata; it guards what the digest leaves out."""
    optional = tuple(key for key in ("codes", "tree") if key in metadata)
    known = {key: metadata[key] for key in (*_METADATA, *optional)}
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()
