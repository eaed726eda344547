"""The spaces on which growth is measured: real vectors where there are any.

==============  ===========================================================
glove-10k       the first 10,000 words of the embedded space
glove-34k       the embedded space, 33,860 words
w2v-102k        102,179 words, word2vec on reviews and news
w2v-400k        the same and, synthetic, noisy copies of its rows
w2v-34k-100d    the first 33,860 words of it, real vectors of 100 dimensions
w2v-34k-50d     the same cut to 50 coordinates: there are no real ones
w2v-34k-300d    the same words, real vectors of 300 dimensions
mammals         1,182 points of a Poincaré ball, 10 dimensions
mammals-10k     the same and, synthetic, noisy copies
==============  ===========================================================
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks import machine
from mondegreen import Space, load_space
from mondegreen.space.binarize import with_codes
from mondegreen.space.geometry import estimate, unknown_point
from mondegreen.space.store import save_space

__all__ = ["SPACES", "space_file"]

SPACES: Final = {
    "glove-10k": (10_000, 300),
    "glove-34k": (33_860, 300),
    "w2v-102k": (102_179, 300),
    "w2v-400k": (400_000, 300),
    "w2v-34k-50d": (33_860, 50),
    "w2v-34k-100d": (33_860, 100),
    "w2v-34k-300d": (33_860, 300),
    "mammals": (1_182, 10),
    "mammals-10k": (10_000, 10),
}
"""Name: words and dimensions."""

_JITTER: Final = 0.25
"""Noise of a copy, in standard deviations of a coordinate."""

_VECTORS: Final = machine.SHARED / "vectors"


def space_file(folder: Path, name: str) -> Path:
    """The file of a space, made first if it is not there."""
    path = folder / f"{name}.safetensors"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        save_space(_make(name), path)
    return path


def _make(name: str) -> Space:
    count, dim = SPACES[name]
    if name.startswith("mammals"):
        return _ball(name, count)
    if name.startswith("glove"):
        whole = load_space()
        space = Space.from_arrays(name, whole.words[:count], whole.vectors[:count])
        return with_codes(space, method="hyperplane") if count < 20_000 else space
    words = (_VECTORS / "w2v_imdb.words.txt").read_text(encoding="utf-8").split("\n")
    source = "w2v_imdb_300d.npy" if dim == 300 else "w2v_imdb_100d.npy"
    vectors = np.load(_VECTORS / source)[: min(count, 102_179), :dim]
    names = words[: len(vectors)]
    if count <= len(vectors):
        return Space.from_arrays(name, names, vectors)
    names, vectors = _copies(names, vectors, count)
    unknown = unknown_point(vectors)
    # All pairs would take an hour; rates do not depend on these numbers.
    geometry = estimate(vectors, unknown, np.eye(dim))
    return Space(name, tuple(names), vectors, unknown, geometry)


def _copies(
    words: list[str], vectors: NDArray[np.floating], count: int
) -> tuple[list[str], NDArray[np.floating]]:
    """So many words: the real ones, then copies of them with Gaussian noise."""
    rng = np.random.default_rng(0)
    more = np.arange(count - len(words))
    sources = more % len(words)
    names = [f"{words[i]}~{n}" for i, n in zip(sources, more, strict=True)]
    rows = vectors[sources].astype(np.float32)
    scale = np.float32(_JITTER * vectors.astype(np.float32).std())
    rows += scale * rng.standard_normal(rows.shape, dtype=np.float32)
    return words + names, np.concatenate([vectors, rows.astype(vectors.dtype)])


def _ball(name: str, count: int) -> Space:
    """A space of the ball; copies are pulled in where they would leave it."""
    folder = machine.SHARED / "wordnet"
    (vectors_file,) = folder.glob("mammal_poincare_10d*.npy")
    (words_file,) = folder.glob("mammal_poincare_10d*.txt")
    words = words_file.read_text(encoding="utf-8").splitlines()
    vectors = np.load(vectors_file).astype(np.float32)
    if count > len(words):
        words, vectors = _copies(words, vectors, count)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors *= np.minimum(1, 0.999 / norms)
    return Space.from_arrays(name, words, vectors, metric="poincare")
