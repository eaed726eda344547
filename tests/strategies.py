"""Hypothesis strategies: epsilons, words and small spaces, the awkward ones included.

Awkward on purpose: duplicate points, points a millionth apart, points a million
apart, half precision, a word at the centroid, one word alone.
"""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from mondegreen.space.space import Space

__all__ = ["WORDS", "epsilons", "spaces", "words"]

WORDS = [f"{a}{b}{c}" for a in "bdfgklmnpr" for b in "aeiou" for c in "dgkmnprst"]
"""The words of the small public space that ``space_file`` holds."""


def epsilons(low: float = 0.01, high: float = 100.0) -> st.SearchStrategy[float]:
    """Epsilons, as many small as large ones."""
    return st.floats(np.log(low), np.log(high)).map(
        lambda x: float(np.clip(np.exp(x), low, high))
    )


def words(count: int) -> st.SearchStrategy[list[str]]:
    """Distinct words without line breaks, in any script."""
    letters = st.characters(codec="utf-8", exclude_characters="\r\n")
    return st.lists(
        st.text(letters, min_size=1, max_size=8),
        min_size=count,
        max_size=count,
        unique=True,
    )


@st.composite
def spaces(
    draw: st.DrawFn, max_words: int = 30, max_dim: int = 5, min_words: int = 1
) -> Space:
    """Small spaces: random points, some moved onto or next to another one."""
    count = draw(st.integers(min_words, max_words))
    dim = draw(st.integers(1, max_dim))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    vectors = rng.normal(size=(count, dim))
    copies = rng.random(count) < draw(st.sampled_from([0.0, 0.2, 0.7, 1.0]))
    vectors[copies] = vectors[rng.integers(0, count, size=int(copies.sum()))]
    moved = rng.random(count) < draw(st.sampled_from([0.0, 0.3]))
    nudge = 10.0 ** draw(st.integers(-6, -1))
    vectors[moved] += nudge * rng.normal(size=(int(moved.sum()), dim))
    vectors *= 10.0 ** draw(st.integers(-3, 3))
    if draw(st.booleans()):
        vectors[0] = vectors.mean(axis=0)
    dtype = draw(st.sampled_from([np.float32, np.float16]))
    names = [f"w{i}" for i in range(count)]
    return Space.from_arrays("drawn", names, vectors.astype(dtype))
