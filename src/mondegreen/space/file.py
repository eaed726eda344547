"""The file a space is kept in: a few tensors in the safetensors format.

``docs/reference/space-format.md`` describes it. Its header is read here and not by the
safetensors library, which tells neither where a tensor lies, and copies every tensor
into memory, nor that a key stands twice.
"""

from __future__ import annotations

import copyreg
import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, final

import numpy as np

from mondegreen.errors import InvalidParameterError, SpaceError, SpaceIntegrityError
from mondegreen.space.codes import Codes
from mondegreen.space.geometry import Geometry
from mondegreen.space.metric import METRICS
from mondegreen.space.space import CODES_FORMAT, FORMAT, Space, WordSpace, checked_name
from mondegreen.space.tree import WordTree

_LARGEST_HEADER = 1 << 20
_LARGEST_CODE = 512
_WRITE_ROWS = 4096
_DTYPES: Final = {"F16": "<f2", "F32": "<f4", "F64": "<f8", "U8": "|u1"}
_METADATA: Final = ("about", "digest", "format", "geometry", "metric", "name")
_REBUILD: Final = (
    "it is of an earlier version, whose digest left out the distances that "
    "certificates count on; build it again from its vectors: mondegreen space build"
)
# The tensors, and for each the types and the number of dimensions it may have.
_KINDS: Final = {
    "unknown": ({"F64"}, 1),
    "vectors": ({"F16", "F32"}, 2),
    "words": ({"U8"}, 1),
    "codes": ({"U8"}, 2),
    "unknown_code": ({"U8"}, 2),
    "tree": ({"U8"}, 1),
}


class _Tensor(NamedTuple):
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
    codes: dict[str, Any]  # empty where there are none

    @property
    def has_vectors(self) -> bool:
        return "vectors" in self.tensors

    @property
    def vocab_size(self) -> int:
        return self._rows.shape[0]

    @property
    def dim(self) -> int:
        """Number of coordinates; of bits, where there are codes alone."""
        return (1 if self.has_vectors else 8) * self._rows.shape[1]

    @property
    def dtype(self) -> str:
        """Type of the coordinates."""
        return self._rows.dtype.name if self.has_vectors else "bit"

    @property
    def _rows(self) -> _Tensor:
        """The table with a row per word."""
        return self.tensors["vectors" if self.has_vectors else "codes"]


def write_space(stream: BinaryIO, space: Space) -> None:
    """Write a space; the same space always gives the same bytes."""
    codes, tree = space.codes, space.tree
    parts: dict[str, tuple[str, np.ndarray[Any, Any]]] = {}
    if space.has_vectors:
        kind = "F16" if space.vectors.dtype.itemsize == 2 else "F32"
        parts |= {"unknown": ("F64", space.unknown), "vectors": (kind, space.vectors)}
    words = "\n".join(space.words).encode()
    parts["words"] = ("U8", np.frombuffer(words, np.uint8))
    own = space.geometry if codes is None or space.has_vectors else codes.geometry
    metadata = {
        "format": FORMAT if space.has_vectors else CODES_FORMAT,
        "name": space.name,
        "metric": space.metric,
        "geometry": json.dumps(own.to_dict(), sort_keys=True),
        "about": json.dumps(dict(space.about), sort_keys=True),
        "digest": space.digest,
    }
    if codes is not None:
        parts["codes"] = ("U8", codes.table)
        parts["unknown_code"] = ("U8", codes.unknown[None])
        distances = codes.geometry.to_dict()
        facts = {"digest": codes.digest, "geometry": distances, "method": codes.method}
        metadata["codes"] = json.dumps(facts, sort_keys=True)
    if tree is not None:
        parts["tree"] = ("U8", np.frombuffer(tree.to_bytes(), np.uint8))
        metadata["tree"] = tree.digest
    metadata["checksum"] = _checksum(metadata)
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
    """Read and check the header of a space file, and nothing else of it."""
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
        metadata = _metadata(header.pop("__metadata__", None))
        tensors = _tensors(header, 8 + size, file_size)
        _check_parts(metadata, tensors)
        geometry, about = _geometry(metadata["geometry"]), json.loads(metadata["about"])
        _require(_is_text(about))
        codes = json.loads(metadata.get("codes", "{}"))
        if "codes" in metadata:
            codes["geometry"] = _geometry(json.dumps(codes["geometry"]))
            _require(_is_text({key: codes[key] for key in ("digest", "method")}))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        told = isinstance(error, (_BadHeaderError, InvalidParameterError))
        reason = f": {error}" if told else ""
        raise SpaceError(f"{path}: not a space file of format {FORMAT}{reason}") from (
            error
        )
    if metadata["checksum"] != _checksum(metadata):
        raise SpaceIntegrityError(
            f"{path}: its description was changed after it was written; get it again"
        )
    name, metric, digest = (metadata[key] for key in ("name", "metric", "digest"))
    return SpaceHeader(path, name, metric, digest, geometry, about, tensors, codes)


def read_space(path: Path) -> Space:
    """Map a space file into memory and check it against its digest."""
    header = read_header(path)
    try:
        words = bytes(_map(header, "words")).decode().split("\n")
    except UnicodeDecodeError as error:
        raise SpaceIntegrityError(f"{path}: the words are not valid UTF-8") from error
    if len(words) != header.vocab_size:
        raise SpaceIntegrityError(
            f"{path}: {len(words)} words for {header.vocab_size} vectors"
        )
    space = _space(header, words)
    if space.digest != header.digest:
        raise SpaceIntegrityError(
            f"{path}: the content has the digest {space.digest}, "
            f"and the file promises {header.digest}; get it again"
        )
    return space


def _space(header: SpaceHeader, words: list[str]) -> Space:
    """The space of a file, its digest not yet checked."""
    codes, path = None, header.path.resolve()
    if header.codes:
        facts, code = header.codes, np.array(_map(header, "unknown_code"))[0]
        codes = Codes(_map(header, "codes"), code, facts["method"], facts["geometry"])
        if codes.digest != facts["digest"]:
            raise SpaceIntegrityError(
                f"{header.path}: the codes have another digest than promised; get it "
                "again"
            )
        if not header.has_vectors:
            return Space.from_codes(header.name, words, codes, header.about, path)
    tree = None  # the digest of the space covers that of the tree
    if "tree" in header.tensors:
        tree = WordTree.from_bytes(bytes(_map(header, "tree")))
    return Space(
        header.name,
        tuple(words),
        _map(header, "vectors"),
        np.array(_map(header, "unknown")),
        header.geometry,
        about=header.about,
        path=path,
        metric=header.metric,
        codes=codes,
        tree=tree,
    )


class _BadHeaderError(ValueError):
    """Says what is wrong with a header."""


def _require(condition: bool, problem: str = "a field has a wrong value") -> None:
    if not condition:
        raise _BadHeaderError(problem)


def _is_text(value: object) -> bool:
    """Whether this is a mapping of strings to strings."""
    pairs = value.items() if isinstance(value, dict) else [(None, None)]
    return all(isinstance(each, str) for pair in pairs for each in pair)


def _geometry(text: str) -> Geometry:
    found = Geometry(**json.loads(text))
    _require(found.is_finite)
    return found


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Refuse a key that stands twice: readers differ in which one they take."""
    _require(len({key for key, _ in pairs}) == len(pairs), "a key stands twice")
    return dict(pairs)


def _metadata(found: Any) -> dict[str, str]:
    """Refuse metadata that is not of our format."""
    _require(_is_text(found), "no metadata")
    missing = {*_METADATA, "checksum"} - found.keys()
    _require(not missing, f"the metadata has no {', '.join(sorted(missing))}")
    _require(not found["format"].endswith("/1"), _REBUILD)
    checked_name(found["name"])
    metrics = {FORMAT: set(METRICS), CODES_FORMAT: {"hamming"}}
    _require(found["format"] in metrics, "another format or version")
    _require(found["metric"] in metrics[found["format"]], "an unknown metric")
    return dict(found)


def _tensors(entries: dict[str, Any], start: int, end: int) -> dict[str, _Tensor]:
    """The tensors: they must follow each other, in order, and fill the file."""
    tensors: dict[str, _Tensor] = {}
    place = 0
    for name, entry in entries.items():
        kinds, dimensions = _KINDS.get(name, (set(), 0))
        shape = entry["shape"]
        _require(entry["dtype"] in kinds, f"{name} has a wrong type")
        is_shape = isinstance(shape, list) and len(shape) == dimensions
        is_shape = is_shape and all(type(n) is int and 0 < n < 2**40 for n in shape)
        _require(is_shape, f"{name} has a wrong shape")
        dtype = np.dtype(_DTYPES[entry["dtype"]])
        size = dtype.itemsize * math.prod(shape)
        _require(
            entry["data_offsets"] == [place, place + size],
            f"{name} has not the size that its shape needs, or leaves a hole",
        )
        tensors[name] = _Tensor(dtype, tuple(shape), start + place)
        place += size
    place += start
    _require(place == end, f"the file has {end} bytes and needs {place}")
    return tensors


def _check_parts(metadata: dict[str, str], tensors: dict[str, _Tensor]) -> None:
    """Refuse tensors that are not those of the format, or do not fit each other."""
    names, shapes = {"words"}, {name: each.shape for name, each in tensors.items()}
    if has_vectors := metadata["format"] == FORMAT:
        names |= {"unknown", "vectors"} | ({"tree"} & tensors.keys())
    if "codes" in metadata:
        names |= {"codes", "unknown_code"}
    _require(
        tensors.keys() == names and len(names) > 1,
        "the tensors must be unknown, vectors and words, perhaps a tree, or codes",
    )
    rows = shapes["vectors" if has_vectors else "codes"][0]
    _require(rows < 2**31, "too many words")
    if has_vectors:
        _require(
            shapes["unknown"] == shapes["vectors"][1:], "unknown must be one point"
        )
    if "codes" in metadata:
        table, code = shapes["codes"], shapes["unknown_code"]
        _require(
            table[0] == rows and table[1] <= _LARGEST_CODE and code == (1, table[1]),
            "there must be a code for each word, and one more",
        )


def _map(header: SpaceHeader, name: str) -> np.memmap[tuple[int, ...], np.dtype]:
    """Map one tensor into memory, read-only."""
    tensor = header.tensors[name]
    return np.memmap(header.path, tensor.dtype, "r", tensor.offset, tensor.shape)


def _checksum(metadata: dict[str, str]) -> str:
    """The SHA-256 of the metadata; it guards what the digest leaves out."""
    keys = {*_METADATA, "codes", "tree"} & metadata.keys()
    known = {key: metadata[key] for key in keys}
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()


def _reopened(path: Path, digest: str) -> Space:
    """Read a space that was pickled by its path; it must not have changed since."""
    space = read_space(path)
    if space.digest != digest:
        raise SpaceIntegrityError(f"{path}: another space than the one that was sent")
    return space


def _reduced(space: Space) -> Any:
    """Pickle a space that lies in a file as its path, and map it again where needed."""
    if space.path is None:
        return space.__reduce__()
    return _reopened, (space.path, space.digest)


# The format knows spaces; a space does not know its format.
copyreg.pickle(Space, _reduced)
copyreg.pickle(WordSpace, _reduced)  # type: ignore[arg-type]
