"""The space: public words, their vectors, the metric, and the unknown point."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast, final

import numpy as np

from mondegreen.arrays import Ids, Vectors, slices
from mondegreen.errors import InvalidParameterError, SpaceError
from mondegreen.space.codes import Codes
from mondegreen.space.geometry import (
    Geometry,
    canonical_ids,
    check_geometry,
    measure,
    unknown_point,
)
from mondegreen.space.metric import check_points
from mondegreen.space.tree import WordTree

FORMAT: Final = "mondegreen-space/2"
CODES_FORMAT: Final = "mondegreen-codes/2"

_ROWS: Final = 4096
_OF_VECTORS: Final = ("canonical", "dim", "geometry", "points", "unknown", "vectors")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
# White space, line and paragraph separators, control characters, and halves of
# surrogate pairs: every one of them can end a word or a row in some format. A no-break
# space inside a word is part of it.
_STRUCTURE: Final = re.compile(
    "[\x00-\x20\x7f-\x9f\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ud800-\udfff]"
)
_NO_BREAK: Final = "\u00a0"


@dataclass(frozen=True, eq=False)
class WordSpace:
    """Public words with binary codes or a word tree, and no vectors.

    It serves the mechanisms that work on codes; whatever asks it for vectors gets a
    SpaceError.
    """

    name: str
    words: tuple[str, ...]
    about: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    path: Path | None = field(default=None, kw_only=True)
    codes: Codes | None = field(default=None, kw_only=True)
    tree: WordTree | None = field(default=None, kw_only=True)

    has_vectors = False
    metric = "hamming"

    def __post_init__(self) -> None:
        check_name(self.name)
        check_words(self.name, self.words)
        count = len(self.words)
        if self.codes is not None and (codes := len(self.codes.table)) != count:
            raise SpaceError(
                f"space {self.name!r}: {count} words need as many codes; got {codes}"
            )
        if self.tree is not None and self.tree.vocab_size != count:
            raise SpaceError(f"space {self.name!r}: its tree holds other words")

    @property
    def vocab_size(self) -> int:
        """Number of words, ``V``; also the id of the unknown word."""
        return len(self.words)

    @cached_property
    def index(self) -> dict[str, int]:
        """The id of every word."""
        return {word: i for i, word in enumerate(self.words)}

    def get_id(self, word: str) -> int:
        """Return the id of a word, or ``vocab_size`` where it is unknown."""
        return self.index.get(word, self.vocab_size)

    @cached_property
    def digest(self) -> str:
        """SHA-256, in hex, over all but ``about`` and where it was read from."""
        facts, arrays = self._content()
        head = {"name": self.name, **facts}
        head |= {"codes": self.codes.digest} if self.codes is not None else {}
        head |= {"tree": self.tree.digest} if self.tree is not None else {}
        state = hashlib.sha256(json.dumps(head, sort_keys=True).encode())
        state.update("\n".join(self.words).encode())
        for part in arrays:
            state.update(np.ascontiguousarray(part).view(np.uint8).data)
        return state.hexdigest()

    def _content(self) -> tuple[dict[str, object], tuple[Vectors, ...]]:
        """Facts and arrays that the digest covers besides words, codes and tree."""
        return {"format": CODES_FORMAT}, ()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Explain what a space without vectors has not."""
            if name in _OF_VECTORS and "words" in self.__dict__:
                raise SpaceError(
                    f"space {self.name!r} has codes and no vectors: it serves binary "
                    "mechanisms such as brr; others need the space it was made from"
                )
            raise AttributeError(name)

    def __reduce__(self) -> tuple[Any, ...]:
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return partial(type(self), **values | {"about": dict(self.about)}), ()

    def __repr__(self) -> str:
        dim = f"dim={self.dim}, " if isinstance(self, Space) else ""
        bits = f"bits={self.codes.bits}, " if self.codes is not None else ""
        return (
            f"Space({self.name!r}, vocab_size={self.vocab_size}, {dim}{bits}"
            f"digest={self.digest[:12]!r})"
        )


@final
@dataclass(frozen=True, eq=False, repr=False)
class Space(WordSpace):
    r"""Words, vectors, a metric, and the point that stands for unknown words.

    The metric is Euclidean, :math:`d(w, w') = \lVert \phi(w) - \phi(w') \rVert_2`, or
    hyperbolic, for vectors in the Poincaré ball (:mod:`mondegreen.space.metric`).
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
        part of the digest. Those of a few inputs are checked.
    about : mapping of str to str
        Free public facts such as ``source``, ``licence`` and ``language``.
    path : Path or None
        The file it was read from. Such a space is pickled as its path and digest, and
        mapped again where it is needed.
    metric : {"euclidean", "poincare"}
        The distance between points. The centroid of points of the ball is in the
        ball, since the ball is convex.
    codes : Codes or None
        What binary mechanisms work on; part of the digest where there are any.
    tree : WordTree or None
        What the tree mechanism works on; part of the digest where there is one.

    Examples
    --------
    >>> space = Space.from_arrays("line", ["cold", "cool", "warm"], [[0], [1], [3]])
    >>> space.vocab_size, space.dim, space.get_id("warm"), space.get_id("Oslo")
    (3, 1, 2, 3)
    """

    vectors: Vectors
    unknown: Vectors
    geometry: Geometry
    metric: str = field(default="euclidean", kw_only=True)

    has_vectors = True

    def __post_init__(self) -> None:
        name, vectors, unknown = self.name, self.vectors, self.unknown
        _check_vectors(name, self.words, vectors, self.metric)
        super().__post_init__()
        if unknown.shape != (self.dim,):
            raise SpaceError(f"space {name!r}: the unknown point has wrong shape")
        _check_points(name, unknown[None], self.metric)
        check_geometry(self.geometry, vectors, unknown, self.metric, name)
        vectors.setflags(write=False)
        unknown.setflags(write=False)

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

        Parameters
        ----------
        name : str
            Name of the space.
        words : sequence of str, length V
            Distinct words.
        vectors : array, shape (V, dim)
            One vector per word.
        about : mapping of str to str, optional
            Source, licence and the like.
        metric : str
            ``euclidean`` or ``poincare``.

        Returns
        -------
        Space
            In memory; :func:`~mondegreen.space.file.save_space` writes it.

        Raises
        ------
        SpaceError
            If a word is repeated or holds white space or a control character, a
            number is not finite, or a point is outside of the Poincaré ball.
        """
        given = np.asarray(vectors)
        half = given.dtype == np.float16
        array: Vectors = given.astype(np.float16 if half else np.float32)
        return measure_space(name, words, array, about, metric)

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

        Parameters
        ----------
        name : str
            Name of the space.
        words : sequence of str, length V
            Distinct words.
        codes : Codes
            One code per word, and that of the unknown word.
        about : mapping of str to str, optional
            Source, licence and the like.
        path : Path, optional
            File that it was read from.

        Returns
        -------
        Space
            A space without vectors.
        """
        facts = dict(about or {})
        alone = WordSpace(name, tuple(words), about=facts, path=path, codes=codes)
        # Mechanisms take either and tell by ``has_vectors``, so it is typed as both.
        return cast("Space", alone)

    @property
    def dim(self) -> int:
        """Number of coordinates, ``n``."""
        return int(self.vectors.shape[1])

    @cached_property
    def canonical(self) -> Ids:
        """For each input ``0..V`` the lowest id that lies at the same point.

        Inputs at distance 0 must have identical laws. Laws are therefore computed
        once per point, never once per word.
        """
        return canonical_ids(self.vectors, self.unknown)

    def points(self, ids: Ids) -> Vectors:
        """Return the float64 coordinates of inputs, the unknown word included.

        Parameters
        ----------
        ids : int32 array, shape (T,)
            Inputs ``0..V``.

        Returns
        -------
        float64 array, shape (T, dim)
            Coordinates.
        """
        known = np.minimum(ids, self.vocab_size - 1)
        points = self.vectors[known].astype(np.float64)
        points[ids == self.vocab_size] = self.unknown
        return points

    def _content(self) -> tuple[dict[str, object], tuple[Vectors, ...]]:
        facts: dict[str, object] = {
            "format": FORMAT,
            "metric": self.metric,
            "geometry": self.geometry.to_dict(),
            "shape": list(self.vectors.shape),
            "dtype": self.vectors.dtype.str,
        }
        return facts, (self.unknown.astype("<f8"), self.vectors)


def measure_space(
    name: str,
    words: Sequence[str],
    vectors: Vectors,
    about: Mapping[str, str] | None,
    metric: str,
    progress: Callable[[int], object] = lambda done: None,
) -> Space:
    """A space of float16 or float32 vectors, whose distances are measured now."""
    check_words(name, words)
    _check_vectors(name, words, vectors, metric)
    unknown, facts = unknown_point(vectors), dict(about or {})
    found = measure(vectors, unknown, progress, metric=metric)
    words = tuple(words)
    return Space(name, words, vectors, unknown, found, about=facts, metric=metric)


def check_name(name: str) -> str:
    """Return a name of a space if it can also be the name of a file."""
    if not _NAME.fullmatch(name):
        allowed = "letters, digits, dots, hyphens and underscores, not a mark first"
        raise InvalidParameterError("name", name, allowed)
    return name


def find_problem(word: str) -> str | None:
    """Why a string can be no word of a space; None where it can.

    >>> find_problem("naïve"), find_problem("New York")
    (None, 'the word holds white space or a control character (U+0020)')
    """
    if not word.strip():
        return "the word is empty, or white space"
    found = _STRUCTURE.search(word)
    if found or word != word.strip(_NO_BREAK):
        code = ord(found[0]) if found else ord(_NO_BREAK)
        return f"the word holds white space or a control character (U+{code:04X})"
    return None


def check_words(name: str, words: Sequence[str]) -> None:
    """Refuse words that are repeated, or that could break a format."""
    if len(set(words)) != len(words):
        raise SpaceError(f"space {name!r}: a word occurs twice")
    for i, word in enumerate(words):
        if problem := find_problem(word):
            raise SpaceError(f"space {name!r}, word {i}: {problem}")


def _check_vectors(
    name: str, words: Sequence[str], vectors: Vectors, metric: str
) -> None:
    if vectors.ndim != 2 or not vectors.size or len(words) != len(vectors):
        raise SpaceError(
            f"space {name!r}: {len(words)} words need an array of as many rows; got "
            f"shape {vectors.shape}"
        )
    _check_points(name, vectors, metric)


def _check_points(name: str, points: Vectors, metric: str) -> None:
    # In binary numbers only NaN and infinity have all bits of the exponent set.
    size = points.dtype.itemsize
    mask = {2: 0x7C00, 4: 0x7F800000, 8: 0x7FF0000000000000}[size]
    for rows in slices(len(points), _ROWS):
        if (points[rows].view(f"u{size}") & mask == mask).any():
            raise SpaceError(f"space {name!r}: a coordinate is not a finite number")
    check_points(metric, name, points)
