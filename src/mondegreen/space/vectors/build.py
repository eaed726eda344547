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
from mondegreen.errors import EmbeddingFormatError, InvalidParameterError, SpaceError
from mondegreen.space.metric import METRICS
from mondegreen.space.space import Space, check_name, find_problem, measure_space
from mondegreen.space.vectors.readers import BadRows, Block
from mondegreen.space.vectors.source import VectorSource

DTYPES: Final = ("float16", "float32")
_BINARY: Final = "word2vec-binary"
_HINT: Final = "--skip-bad drops and counts such rows"


@final
@dataclass(frozen=True, slots=True)
class Built:
    """A space, and what was left out on the way to it."""

    space: Space
    dropped: Mapping[str, int]  # bad rows that were skipped, by problem
    missing: int  # words that were asked for and that the file does not have
    upper_case: int  # words that can be drawn, but not looked up in lower case


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

    Kept are the words of ``only``, and the first ``limit``; ``allow_nbsp`` lets a word
    hold a no-break space (U+00A0). Coordinates are float16 where those of the source
    are, else float32, unless ``dtype`` says which. Memory holds the words and one block
    of rows; the vectors go through a file without a name in ``scratch`` and are
    memory-mapped from there. ``progress`` gets a stage, ``"read"`` or ``"measure"``,
    and the words done so far.
    """
    check_name(name)
    if limit is not None and limit < 1:
        raise InvalidParameterError("limit", limit, "a positive number of words")
    for what, given, allowed in (("dtype", dtype, DTYPES), ("metric", metric, METRICS)):
        if given is not None and given not in allowed:
            raise InvalidParameterError(what, given, "one of " + ", ".join(allowed))
    kind = np.dtype(dtype or ("float16" if source.dtype.itemsize == 2 else "float32"))
    sieve = _Sieve(source, bad, kind.newbyteorder("<"), only, limit, allow_nbsp)
    vectors, words = _spool(sieve, scratch, progress), tuple(sieve.lines)
    return Built(
        measure_space(
            name, words, vectors, about, metric, lambda done: progress("measure", done)
        ),
        dict(bad.counts),
        len(only - sieve.lines.keys()) if only is not None else 0,
        sum(word != word.lower() for word in words),
    )


def _spool(
    sieve: _Sieve, scratch: Path | None, progress: Callable[[str, int], object]
) -> Vectors:
    """Map the vectors of all rows to keep from a file without a name."""
    with tempfile.TemporaryFile(dir=scratch) as spool:
        try:
            for block in sieve.source.blocks:
                spool.write(np.ascontiguousarray(sieve.sift(block)).tobytes())
                progress("read", len(sieve.lines))
                if sieve.is_full:
                    break
        except OSError as error:
            raise SpaceError(
                f"the vectors cannot be written to {scratch or tempfile.gettempdir()}: "
                f"{error.strerror}"
            ) from error
        if not sieve.lines:
            problem = "no row is left to build from"
            raise EmbeddingFormatError(sieve.source.path, problem)
        spool.flush()
        shape = (len(sieve.lines), sieve.source.dim)
        return np.memmap(spool, dtype=sieve.kind, mode="r", shape=shape)


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
        """The vectors of the rows to keep, in the type of the space."""
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
                problem, hint = "a coordinate is NaN or infinite", _HINT
                if np.isfinite(block.vectors[i]).all():
                    problem = f"a coordinate is too large for {self.kind.name}"
                    hint = "use --dtype float32" if self.kind.itemsize == 2 else _HINT
                # By line in a text file, and by row in a binary one.
                is_binary = self.source.format in ("npy", _BINARY)
                line, place = (None, row) if is_binary else (row, None)
                path = self.source.path
                self.bad.note(path, problem, line=line, row=place, hint=hint)
            elif self._is_good_word(word, row):
                self.lines[word] = row
                kept.append(i)
        return vectors if len(kept) == len(vectors) else vectors[kept]

    def _is_good_word(self, word: str, row: int) -> bool:
        """Whether a word can be kept; reports it where it cannot."""
        problem, hint, detail = find_problem(word), _HINT, ""
        if problem is None and "\u00a0" in word and not self.allow_nbsp:
            problem = "the word holds a no-break space (U+00A0)"
            hint = "--allow-nbsp keeps such words, --skip-bad drops them"
        elif problem is None and word in self.lines:
            problem = "the word is a duplicate"
            detail = f" of the one in line {self.lines[word]}"
        if problem is not None:
            path, is_binary = self.source.words_path, self.source.format == _BINARY
            line, place = (None, row) if is_binary else (row, None)
            self.bad.note(path, problem, detail, line=line, row=place, hint=hint)
        return problem is None
