"""Rows of word vectors on their way from a file to a space."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

import numpy as np

from mondegreen.arrays import Vectors
from mondegreen.errors import EmbeddingFormatError

MAX_DIM = 65_536
"""No embedding has more dimensions; a header that says so is not a header."""


@final
@dataclass(frozen=True, slots=True)
class Block:
    """Some rows of a file: words, their vectors, and their line or row numbers."""

    words: list[str]
    vectors: Vectors
    rows: list[int]


@final
@dataclass(frozen=True, slots=True)
class VectorSource:
    """An opened file of word vectors: what it is, and its rows as a stream.

    Parameters
    ----------
    path : Path or str
        The file that holds the numbers, as errors name it.
    format : str
        One of ``glove``, ``word2vec``, ``word2vec-binary``, ``npy``.
    dim : int
        Numbers per row.
    dtype : dtype
        Of the numbers as they are in the file; float32 for text.
    words_path : Path or str
        The file that holds the words; the same one except for ``npy``.
    blocks : iterator of Block
        The rows in the order of the file, each block of bounded size.
    """

    path: Path | str
    format: str
    dim: int
    dtype: np.dtype[np.floating]
    words_path: Path | str
    blocks: Iterator[Block]


@final
@dataclass(slots=True)
class BadRows:
    """What happens to a row that breaks its format: an error, or dropped and counted.

    Parameters
    ----------
    skip : bool
        Whether to drop bad rows instead of stopping at the first.
    counts : Counter
        How many rows were dropped, by problem.
    """

    skip: bool = False
    counts: Counter[str] = field(default_factory=Counter)

    def found(
        self,
        path: Path | str,
        problem: str,
        *,
        line: int | None = None,
        row: int | None = None,
        detail: str = "",
        hint: str = "--skip-bad drops and counts such rows",
    ) -> None:
        """Stop with an error that names the place, or count the problem.

        Raises
        ------
        EmbeddingFormatError
            If bad rows are not skipped.
        """
        if not self.skip:
            where = f"row {row}: " if row is not None else ""
            raise EmbeddingFormatError(
                path, where + problem + detail, line=line, hint=hint
            )
        self.counts[problem] += 1
