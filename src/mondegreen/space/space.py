"""The space: public words, their vectors, the metric, and the unknown point."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from mondegreen.arrays import Ids, Vectors
from mondegreen.errors import SpaceError, SpaceIntegrityError
from mondegreen.space.codes import Codes
from mondegreen.space.distances import check_points
from mondegreen.space.geometry import (
    Geometry,
    canonical_ids,
    check_geometry,
    measure,
    unknown_point,
)
from mondegreen.space.names import check_words, checked_name
from mondegreen.space.tree import WordTree

FORMAT: Final = "mondegreen-space/2"
CODES_FORMAT: Final = "mondegreen-codes/2"

_ROWS: Final = 4096
_OF_VECTORS: Final = ("geometry", "unknown", "vectors")


@final
@dataclass(frozen=True, eq=False)
class Space:
    r"""Words, vectors, a metric, and the point that stands for unknown words.

    The metric is Euclidean, :math:`d(w, w') = \lVert \phi(w) - \phi(w') \rVert_2`, or
    hyperbolic, for vectors in the Poincaré ball (:mod:`mondegreen.space.distances`).
    Words have the ids ``0..V-1``. The id ``V`` is *the unknown word*: an input that
    stands for every word outside the vocabulary and lies at the centroid of the
    space, so that unknown words are privatized like any other and cannot be told
    apart. It is never an output.

    A space is immutable, and two spaces are the same exactly when their digests are.

    Parameters
    ----------
    name : str
        What people call it; part of the digest.
    words : sequence of str
        ``V`` distinct words without white space or control characters, but for
        no-break spaces inside.
    vectors : array of float16 or float32, shape (V, n)
        Finite coordinates; made read-only. May be memory-mapped.
    unknown : array of float64, shape (n,)
        The unknown point; :meth:`from_arrays` takes the centroid, see
        :func:`mondegreen.space.geometry.unknown_point`.
    geometry : Geometry
        Distances that give epsilon its scale, and bounds that certificates count on;
        part of the digest. Those of a few inputs are looked at.
    about : mapping of str to str
        Free public facts such as ``source``, ``licence`` and ``language``.
    path : Path or None
        The file it was read from. Such a space is pickled as its path and digest, and
        mapped again where it is needed.
    metric : {"euclidean", "poincare"}
        The distance between points; ``"hamming"`` where there are codes alone. The
        centroid of points of the ball is in the ball, since the ball is convex.
    codes : Codes or None
        What binary mechanisms work on; part of the digest where there are any.
    tree : WordTree or None
        What the tree mechanism works on; part of the digest where there is one.

    Examples
    --------
    >>> space = Space.from_arrays("line", ["cold", "cool", "warm"], [[0], [1], [3]])
    >>> space.vocab_size, space.dim, space.id_of("warm"), space.id_of("Oslo")
    (3, 1, 2, 3)
    """

    name: str
    words: tuple[str, ...]
    vectors: Vectors
    unknown: Vectors
    geometry: Geometry
    about: Mapping[str, str] = field(default_factory=dict)
    path: Path | None = None
    metric: str = "euclidean"
    codes: Codes | None = None
    tree: WordTree | None = None

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or len(self.words) != len(self.vectors):
            raise SpaceError(
                f"space {self.name!r}: {len(self.words)} words need as many rows of "
                f"vectors; got an array of shape {self.vectors.shape}"
            )
        if not self.words or self.dim == 0:
            raise SpaceError(f"space {self.name!r} is empty")
        if self.unknown.shape != (self.dim,):
            raise SpaceError(f"space {self.name!r}: the unknown point has wrong shape")
        checked_name(self.name)
        check_words(self.name, self.words)
        if not (_is_finite(self.vectors) and _is_finite(self.unknown[None])):
            raise SpaceError(
                f"space {self.name!r}: a coordinate is not a finite number"
            )
        check_points(self.metric, self.name, self.vectors)
        check_points(self.metric, self.name, self.unknown[None])
        check_geometry(
            self.geometry, self.vectors, self.unknown, self.metric, self.name
        )
        self._check_codes()
        if self.tree is not None and self.tree.vocab_size != len(self.words):
            raise SpaceError(f"space {self.name!r}: its tree holds other words")
        self.vectors.setflags(write=False)
        self.unknown.setflags(write=False)

    @classmethod
    def from_arrays(
        cls,
        name: str,
        words: Sequence[str],
        vectors: object,
        about: Mapping[str, str] | None = None,
        metric: str = "euclidean",
    ) -> Space:
        """Build a space in memory; checks words and numbers, measures distances.

        Raises
        ------
        SpaceError
            If a word is repeated or holds white space or a control character, a
            number is not finite, or a point is outside of the Poincaré ball.
        """
        given = np.asarray(vectors)
        half = given.dtype == np.float16
        array: Vectors = given.astype(np.float16 if half else np.float32)
        check_words(name, words)
        if not np.isfinite(array).all():
            raise SpaceError(f"space {name!r}: a coordinate is not a finite number")
        if array.ndim != 2 or not array.size or len(array) != len(words):
            raise SpaceError(
                f"space {name!r}: {len(words)} words need an array of as many rows; "
                f"got shape {array.shape}"
            )
        check_points(metric, name, array)
        unknown = unknown_point(array)
        geometry = measure(array, unknown, metric=metric)
        return cls(
            name, tuple(words), array, unknown, geometry, about or {}, metric=metric
        )

    @classmethod
    def from_codes(
        cls,
        name: str,
        words: Sequence[str],
        codes: Codes,
        about: Mapping[str, str] | None = None,
        path: Path | None = None,
    ) -> Space:
        """Return a space of codes alone, which binary mechanisms accept.

        It has no vectors, and its metric is ``"hamming"``: whatever asks for vectors,
        or for distances between them, gets a SpaceError.
        """
        checked_name(name)
        check_words(name, words)
        space = cls.__new__(cls)
        values = {
            "name": name,
            "words": tuple(words),
            "about": dict(about or {}),
            "path": path,
            "metric": "hamming",
            "codes": codes,
        }
        space.__dict__.update(values)  # frozen: there is no other way
        space._check_codes()
        return space

    @property
    def has_vectors(self) -> bool:
        """Whether there are vectors, and not codes alone."""
        return "vectors" in self.__dict__

    @property
    def vocab_size(self) -> int:
        """Number of words, ``V``; also the id of the unknown word."""
        return len(self.words)

    @property
    def dim(self) -> int:
        """Number of coordinates, ``n``."""
        return int(self.vectors.shape[1])

    @cached_property
    def index(self) -> dict[str, int]:
        """The id of every word."""
        return {word: i for i, word in enumerate(self.words)}

    @cached_property
    def canonical(self) -> Ids:
        """For each input ``0..V`` the lowest id that lies at the same point.

        Inputs at distance 0 must have identical laws. Laws are therefore computed
        once per point, never once per word.
        """
        return canonical_ids(self.vectors, self.unknown)

    @cached_property
    def digest(self) -> str:
        """SHA-256, in hex, over all but ``about`` and where it was read from."""
        codes = {"codes": self.codes.digest} if self.codes is not None else {}
        if not self.has_vectors:
            head: dict[str, object] = {
                "format": CODES_FORMAT,
                "name": self.name,
                **codes,
            }
        else:
            head = {
                "format": FORMAT,
                "name": self.name,
                "metric": self.metric,
                "geometry": self.geometry.to_dict(),
                "shape": list(self.vectors.shape),
                "dtype": self.vectors.dtype.str,
                **codes,
                **({"tree": self.tree.digest} if self.tree is not None else {}),
            }
        state = hashlib.sha256(json.dumps(head, sort_keys=True).encode())
        state.update("\n".join(self.words).encode())
        if not self.has_vectors:
            return state.hexdigest()
        state.update(np.ascontiguousarray(self.unknown, dtype="<f8").tobytes())
        state.update(np.ascontiguousarray(self.vectors).view(np.uint8).data)
        return state.hexdigest()

    def id_of(self, word: str) -> int:
        """Return the id of a word, or ``vocab_size`` where it is unknown."""
        return self.index.get(word, self.vocab_size)

    def points(self, ids: Ids) -> Vectors:
        """Return the float64 coordinates of inputs, the unknown word included."""
        known = np.minimum(ids, self.vocab_size - 1)
        points = self.vectors[known].astype(np.float64)
        points[ids == self.vocab_size] = self.unknown
        return points

    def _check_codes(self) -> None:
        """Refuse codes that are not one per word."""
        if self.codes is not None and len(self.codes.table) != len(self.words):
            raise SpaceError(
                f"space {self.name!r}: {len(self.words)} words need as many codes; got "
                f"{len(self.codes.table)}"
            )

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Explain what a space of codes alone has not."""
            if name in _OF_VECTORS and "codes" in self.__dict__:
                raise SpaceError(
                    f"space {self.name!r} has codes and no vectors: it serves binary "
                    "mechanisms such as brr; others need the space it was made from"
                )
            raise AttributeError(name)

    def __reduce__(self) -> tuple[Any, ...]:
        if self.path is not None:
            return _reopened, (self.path, self.digest)
        if not self.has_vectors:
            parts = (self.name, self.words, self.codes, dict(self.about))
            return Space.from_codes, parts
        known = (self.name, self.words, self.vectors, self.unknown, self.geometry)
        others = (dict(self.about), None, self.metric, self.codes, self.tree)
        return Space, (*known, *others)

    def __repr__(self) -> str:
        dim = f"dim={self.dim}, " if self.has_vectors else ""
        bits = f"bits={self.codes.bits}, " if self.codes is not None else ""
        return (
            f"Space({self.name!r}, vocab_size={self.vocab_size}, {dim}{bits}"
            f"digest={self.digest[:12]!r})"
        )


def _is_finite(vectors: Vectors) -> bool:
    """Look at the exponents: in binary numbers only NaN and infinity have all ones."""
    size = vectors.dtype.itemsize
    mask = {2: 0x7C00, 4: 0x7F800000, 8: 0x7FF0000000000000}[size]
    steps = range(0, len(vectors), _ROWS)
    parts = (vectors[i : i + _ROWS].view(f"u{size}") & mask for i in steps)
    return not any(bool((part == mask).any()) for part in parts)


def _reopened(path: Path, digest: str) -> Space:
    """Read a space that was pickled by its path; it must not have changed since."""
    from mondegreen.space.file import read_space

    space = read_space(path)
    if space.digest != digest:
        raise SpaceIntegrityError(f"{path}: another space than the one that was sent")
    return space
