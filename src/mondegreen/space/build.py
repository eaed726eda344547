"""From a stream of rows to a space."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, final

import numpy as np

from mondegreen.arrays import Vectors
from mondegreen.errors import (
    EmbeddingFormatError,
    InvalidParameterError,
    SpaceError,
)
from mondegreen.space.distances import METRICS, check_points
from mondegreen.space.geometry import measure, unknown_point
from mondegreen.space.names import checked_name, problem_of
from mondegreen.space.rows import BadRows, Block, VectorSource
from mondegreen.space.space import Space

DTYPES: Final = ("float16", "float32")


@final
@dataclass(frozen=True, slots=True)
class Built:
    """A space, and what was left out on the way to it.

    Parameters
    ----------
    space : Space
        The space.
    dropped : mapping of str to int
        Bad rows that were skipped, by problem.
    missing : int
        Words that were asked for and that the file does not have.
    upper_case : int
        Words with an upper case letter. Text is looked up in lower case, so they can
        be drawn and never looked up.
    """

    space: Space
    dropped: Mapping[str, int]
    missing: int
    upper_case: int


def build_space(
    source: VectorSource,
    name: str,
    *,
    bad: BadRows,
    only: AbstractSet[str] | None = None,
    limit: int | None = None,
    dtype: str | None = None,
    allow_nbsp: bool = False,
    about: Mapping[str, str] | None = None,
    metric: str = "euclidean",
    scratch: Path | None = None,
    progress: Callable[[str, int], object] = lambda stage, done: None,
) -> Built:
    """Read rows, check them, and measure the space they make.

    Memory holds the words and one block of rows; the vectors go through a file
    without a name in ``scratch`` and are memory-mapped from there.

    Parameters
    ----------
    source : VectorSource
        The rows, as :func:`mondegreen.space.formats.open_vectors` gives them.
    name : str
        What the space is called.
    bad : BadRows
        Stops at a bad row, or drops and counts it.
    only : set of str, optional
        Keep these words only.
    limit : int, optional
        Keep the first so many words.
    dtype : {"float16", "float32"}, optional
        Of the coordinates; the one of the source where it is float16, else float32.
    allow_nbsp : bool
        Whether a word may hold a no-break space (U+00A0).
    about : mapping of str to str, optional
        Public facts to store with the space.
    metric : {"euclidean", "poincare"}
        Of the space; points of the Poincaré ball have norms below 1.
    scratch : Path, optional
        A directory with room for the vectors.
    progress : callable
        Called with a stage, ``"read"`` or ``"measure"``, and the words done so far.

    Raises
    ------
    EmbeddingFormatError
        If a row is bad and is not skipped, or no row is left.
    SpaceError
        If a point is outside of the Poincaré ball.
    """
    checked_name(name)
    if limit is not None and limit < 1:
        raise InvalidParameterError("limit", limit, "a positive number of words")
    if dtype is not None and dtype not in DTYPES:
        raise InvalidParameterError("dtype", dtype, "one of " + ", ".join(DTYPES))
    if metric not in METRICS:
        raise InvalidParameterError("metric", metric, "one of " + ", ".join(METRICS))
    kind = np.dtype(dtype or ("float16" if source.dtype.itemsize == 2 else "float32"))
    sieve = _Sieve(source, bad, kind.newbyteorder("<"), only, limit, allow_nbsp)
    with tempfile.TemporaryFile(dir=scratch) as spool:
        try:
            for block in source.blocks:
                spool.write(np.ascontiguousarray(sieve.sift(block)).tobytes())
                progress("read", len(sieve.lines))
                if sieve.is_full:
                    break
        except OSError as error:
            raise SpaceError(
                f"the vectors cannot be written to {scratch or tempfile.gettempdir()}: "
                f"{error.strerror}"
            ) from error
        words = tuple(sieve.lines)
        if not words:
            raise EmbeddingFormatError(source.path, "no row is left to build from")
        spool.flush()
        shape = (len(words), source.dim)
        vectors = np.memmap(spool, dtype=sieve.kind, mode="r", shape=shape)
    check_points(metric, name, vectors)
    unknown = unknown_point(vectors)
    geometry = measure(
        vectors, unknown, lambda done: progress("measure", done), metric=metric
    )
    return Built(
        Space(
            name, words, vectors, unknown, geometry, dict(about or {}), metric=metric
        ),
        dict(bad.counts),
        len(only) - len(only & sieve.lines.keys()) if only is not None else 0,
        sum(word != word.lower() for word in words),
    )


@final
@dataclass(slots=True)
class _Sieve:
    """Keeps good and wanted rows; remembers the line of every word it kept."""

    source: VectorSource
    bad: BadRows
    kind: np.dtype[np.floating]
    only: AbstractSet[str] | None
    limit: int | None
    allow_nbsp: bool
    lines: dict[str, int] = field(default_factory=dict)

    @property
    def is_full(self) -> bool:
        """Whether as many words are kept as were asked for."""
        return self.limit is not None and len(self.lines) >= self.limit

    def sift(self, block: Block) -> Vectors:
        """Return the vectors of the rows to keep, in the type of the space."""
        with np.errstate(over="ignore"):
            vectors = block.vectors.astype(self.kind)
        is_finite: list[bool] = np.all(np.isfinite(vectors), axis=1).tolist()
        kept: list[int] = []
        for i, (word, row) in enumerate(zip(block.words, block.rows, strict=True)):
            if self.is_full:
                break
            if self.only is not None and word not in self.only:
                continue
            if not is_finite[i]:
                self._report_number(block, i)
            elif self._is_good_word(word, row):
                self.lines[word] = row
                kept.append(i)
        return vectors if len(kept) == len(vectors) else vectors[kept]

    def _is_good_word(self, word: str, row: int) -> bool:
        """Say whether a word can be kept; report it where it cannot."""
        hint = "--skip-bad drops and counts such rows"
        problem = problem_of(word)
        if problem is not None:
            pass
        elif "\u00a0" in word and not self.allow_nbsp:
            problem = "the word holds a no-break space (U+00A0)"
            hint = "--allow-nbsp keeps such words, --skip-bad drops them"
        elif word in self.lines:
            problem = "the word is a duplicate"
        else:
            return True
        first = self.lines.get(word)
        detail = f" of the one in line {first}" if first is not None else ""
        self._report(self.source.words_path, row, problem, detail, hint)
        return False

    def _report_number(self, block: Block, i: int) -> None:
        """Report a coordinate that is not finite, or not in this type."""
        problem = "a coordinate is NaN or infinite"
        hint = "--skip-bad drops and counts such rows"
        if np.isfinite(block.vectors[i]).all():
            problem = f"a coordinate is too large for {self.kind.name}"
            hint = "use --dtype float32" if self.kind.itemsize == 2 else hint
        self._report(self.source.path, block.rows[i], problem, "", hint)

    def _report(
        self, path: Path | str, row: int, problem: str, detail: str, hint: str
    ) -> None:
        """Report by line in a text file and by row in a binary one."""
        if path == self.source.path and self.source.format in (
            "npy",
            "word2vec-binary",
        ):
            self.bad.found(path, problem, row=row, detail=detail, hint=hint)
        else:
            self.bad.found(path, problem, line=row, detail=detail, hint=hint)
