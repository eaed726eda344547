"""The file a space is kept in: a few tensors in the safetensors format.

``docs/reference/space-format.md`` describes it.
"""

from __future__ import annotations

import copyreg
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, final

import numpy as np

from mondegreen.errors import InvalidParameterError, SpaceError, SpaceIntegrityError
from mondegreen.space.codes import Codes
from mondegreen.space.geometry import Geometry
from mondegreen.space.metric import METRICS
from mondegreen.space.space import CODES_FORMAT, FORMAT, Space, WordSpace, check_name
from mondegreen.space.tree import WordTree
from mondegreen.tensors import HeaderError, Tensor, is_text, require, write_tensors
from mondegreen.tensors import read_header as read_any_header

_LARGEST_CODE = 512
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
    tensors: dict[str, Tensor]
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

    def map(self, name: str) -> np.ndarray[Any, Any]:
        """Map one tensor into memory, read-only."""
        return self.tensors[name].map(self.path)

    @property
    def _rows(self) -> Tensor:
        """The table with a row per word."""
        return self.tensors["vectors" if self.has_vectors else "codes"]


def write_space(stream: BinaryIO, space: Space) -> None:
    """Write a space; the same space always gives the same bytes."""
    codes, tree = space.codes, space.tree
    parts: dict[str, np.ndarray[Any, Any]] = {}
    if space.has_vectors:
        parts |= {"unknown": space.unknown, "vectors": space.vectors}
    parts["words"] = np.frombuffer("\n".join(space.words).encode(), np.uint8)
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
        parts["codes"] = codes.table
        parts["unknown_code"] = codes.unknown[None]
        distances = codes.geometry.to_dict()
        facts = {"digest": codes.digest, "geometry": distances, "method": codes.method}
        metadata["codes"] = json.dumps(facts, sort_keys=True)
    if tree is not None:
        parts["tree"] = np.frombuffer(tree.to_bytes(), np.uint8)
        metadata["tree"] = tree.digest
    metadata["checksum"] = _checksum(metadata)
    write_tensors(stream, metadata, parts, "vectors")


def read_header(path: Path) -> SpaceHeader:
    """Read and check the header of a space file, and nothing else of it."""
    try:
        found = read_any_header(path)
        metadata = _metadata(found.metadata)
        tensors = found.tensors(_KINDS)
        _check_parts(metadata, tensors)
        geometry, about = _geometry(metadata["geometry"]), json.loads(metadata["about"])
        require(is_text(about))
        codes = json.loads(metadata.get("codes", "{}"))
        if "codes" in metadata:
            codes["geometry"] = _geometry(json.dumps(codes["geometry"]))
            require(is_text({key: codes[key] for key in ("digest", "method")}))
    except OSError as error:
        raise SpaceError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        told = isinstance(error, (HeaderError, InvalidParameterError))
        reason = f": {error}" if told else ""
        raise SpaceError(
            f"{path}: not a space file of format {FORMAT}{reason}{_advise(path)}"
        ) from error
    if metadata["checksum"] != _checksum(metadata):
        raise SpaceIntegrityError(
            f"{path}: the description was changed after it was written; get it again"
        )
    name, metric, digest = (metadata[key] for key in ("name", "metric", "digest"))
    return SpaceHeader(path, name, metric, digest, geometry, about, tensors, codes)


def _advise(path: Path) -> str:
    """Say how a file of word vectors becomes a space."""
    if path.suffix == ".safetensors":
        return ""
    built = path.with_suffix(".safetensors").name
    return f". Word vectors become one by: mondegreen space build {path} -o {built}"


def read_space(path: Path) -> Space:
    """Map a space file into memory and check it against its digest."""
    header = read_header(path)
    try:
        words = bytes(header.map("words")).decode().split("\n")
    except UnicodeDecodeError as error:
        raise SpaceIntegrityError(f"{path}: the words are not valid UTF-8") from error
    if len(words) != header.vocab_size:
        raise SpaceIntegrityError(
            f"{path}: {len(words)} words for {header.vocab_size} vectors"
        )
    space = _space(header, words)
    if space.digest != header.digest:
        raise SpaceIntegrityError(
            f"{path}: the content has the digest {space.digest}, but the file states "
            f"{header.digest}; get it again"
        )
    return space


def _space(header: SpaceHeader, words: list[str]) -> Space:
    """The space of a file, its digest not yet checked."""
    codes, path = None, header.path.resolve()
    if header.codes:
        facts, code = header.codes, np.array(header.map("unknown_code"))[0]
        codes = Codes(header.map("codes"), code, facts["method"], facts["geometry"])
        if codes.digest != facts["digest"]:
            raise SpaceIntegrityError(
                f"{header.path}: the digest of the codes differs from the one in the "
                "file; get it again"
            )
        if not header.has_vectors:
            return Space.from_codes(header.name, words, codes, header.about, path)
    tree = None  # the digest of the space covers that of the tree
    if "tree" in header.tensors:
        tree = WordTree.from_bytes(bytes(header.map("tree")))
    return Space(
        header.name,
        tuple(words),
        header.map("vectors"),
        np.array(header.map("unknown")),
        header.geometry,
        about=header.about,
        path=path,
        metric=header.metric,
        codes=codes,
        tree=tree,
    )


def _geometry(text: str) -> Geometry:
    found = Geometry(**json.loads(text))
    require(found.is_finite)
    return found


def _metadata(found: dict[str, str]) -> dict[str, str]:
    """Refuse metadata that is not of our format."""
    missing = {*_METADATA, "checksum"} - found.keys()
    require(not missing, f"the metadata has no {', '.join(sorted(missing))}")
    require(not found["format"].endswith("/1"), _REBUILD)
    check_name(found["name"])
    metrics = {FORMAT: set(METRICS), CODES_FORMAT: {"hamming"}}
    require(found["format"] in metrics, "another format or version")
    require(found["metric"] in metrics[found["format"]], "an unknown metric")
    return found


def _check_parts(metadata: dict[str, str], tensors: dict[str, Tensor]) -> None:
    """Refuse tensors that are not those of the format, or do not fit each other."""
    names, shapes = {"words"}, {name: each.shape for name, each in tensors.items()}
    if has_vectors := metadata["format"] == FORMAT:
        names |= {"unknown", "vectors"} | ({"tree"} & tensors.keys())
    if "codes" in metadata:
        names |= {"codes", "unknown_code"}
    require(
        tensors.keys() == names and len(names) > 1,
        "the tensors must be unknown, vectors and words, perhaps a tree, or codes",
    )
    require(all(map(all, shapes.values())), "a tensor is empty")
    rows = shapes["vectors" if has_vectors else "codes"][0]
    require(rows < 2**31, "too many words")
    if has_vectors:
        require(shapes["unknown"] == shapes["vectors"][1:], "unknown must be one point")
    if "codes" in metadata:
        table, code = shapes["codes"], shapes["unknown_code"]
        require(
            table[0] == rows and table[1] <= _LARGEST_CODE and code == (1, table[1]),
            "there must be a code for each word, and one more",
        )


def _checksum(metadata: dict[str, str]) -> str:
    """The SHA-256 of the metadata; it guards what the digest leaves out."""
    keys = {*_METADATA, "codes", "tree"} & metadata.keys()
    known = {key: metadata[key] for key in keys}
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()


def _reopen(path: Path, digest: str) -> Space:
    """Read a space that was pickled by its path; it must not have changed since."""
    space = read_space(path)
    if space.digest != digest:
        raise SpaceIntegrityError(f"{path}: not the space of the settings")
    return space


def _reduce(space: Space) -> Any:
    """Pickle a space that lies in a file as its path, and map it again where needed."""
    if space.path is None:
        return space.__reduce__()
    return _reopen, (space.path, space.digest)


# The format knows spaces; a space does not know its format.
copyreg.pickle(Space, _reduce)
copyreg.pickle(WordSpace, _reduce)  # type: ignore[arg-type]
