"""CMP, figure 1: how far words are from each other, by space and dimension."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from mondegreen.arrays import Floats
from mondegreen.space.distances import Distances
from mondegreen_experiments.bench import Bench, spaces_of
from mondegreen_experiments.reasons import projected
from mondegreen_experiments.recipe import (
    Measured,
    Point,
    Recipe,
    Shape,
    Table,
    curve,
    least_step,
)

_PERCENTILES: Final = (5, 50, 95)
_K: Final = 100
_PAIRS: Final = 100_000


def measure(bench: Bench, point: Point, seed: int) -> Measured:
    """Percentiles of distances from random words to the others of the space.

    ``nearest`` and ``hundredth`` say which other word; ``pair`` is any one, by 100,000
    pairs. ``epsilon`` is where the noise of CMP along one direction, whose standard
    deviation is sqrt(n + 1) / epsilon, is half the median distance of the nearest word.
    """
    space = bench.space(f"{point['vectors']}-{point['dim']}")
    every = np.arange(space.vocab_size, dtype=np.int32)
    count = min(int(point["words"]), len(every))
    rng = np.random.default_rng(seed)
    words = rng.choice(every, count, replace=False)
    table = Distances(space).between(words, every)
    table = table[words[:, None] != every].reshape(count, -1)
    pairs = rng.choice(table.ravel(), _PAIRS)
    table.partition((0, _K - 1), axis=1)
    near, further = table[:, 0], table[:, _K - 1]
    return {
        **_percentiles("nearest", near),
        **_percentiles("pair", pairs),
        "hundredth_50": float(np.median(further)),
        "hundredth_to_nearest": float(np.median(further / near)),
        "epsilon": 2 * math.sqrt(space.dim + 1) / float(np.median(near)),
    }


def _percentiles(name: str, values: Floats) -> dict[str, float]:
    found = np.percentile(values, _PERCENTILES)
    return {
        f"{name}_{at:02d}": float(each)
        for at, each in zip(_PERCENTILES, found, strict=True)
    }


def _by_dim(*names: str, family: str = "") -> Callable[[Table], float]:
    """By how much the measures rise with the dimension in a family of vectors, or all.

    At each step.
    """
    return lambda table: min(
        least_step(curve(table, "dim", name, vectors=vectors))
        for name, vectors in itertools.product(names, {p["vectors"] for p, _ in table})
        if family in ("", vectors)
    )


def _crowded(table: Table) -> float:
    """By how much a hundred words are within twice the distance of the nearest."""
    return min(2 - m["hundredth_to_nearest"] for _, m in table)


def _grid(dims: Sequence[int], words: int) -> list[Point]:
    return [
        {"vectors": vectors, "dim": dim, "words": words}
        for vectors, dim in itertools.product(("glove", "w2v_frequent"), dims)
    ]


RECIPE: Final = Recipe(
    name="cmp-distances",
    paper="Feyisetan et al. 2020",
    title="How far words are from each other, by dimension",
    differs=(
        "The paper has GloVe 6B trained in each dimension, and fastText; here are the "
        "embedded GloVe 840B and the 20,000 most frequent words of word2vec on film "
        "reviews, both reduced from 300 dimensions by PCA. PCA makes all distances "
        "smaller, so it is certain here that they grow with the dimension; how much, "
        "and what it does to epsilon, is measured. With `--space` for each dimension "
        "of `glove` the claim of the paper is judged. Random words, each with all "
        "others; quick: 600 words a run, not 4,000."
    ),
    measure=measure,
    points={
        "quick": _grid((50, 100, 300), 600),
        "full": _grid((50, 100, 200, 300), 4000),
    },
    seeds={"quick": 3, "full": 5},
    data=("vectors",),
    shapes=(
        Shape(
            "Figure 1",
            "distances grow with the dimension (GloVe)",
            _by_dim("nearest_50", "hundredth_50", "pair_50", family="glove"),
            how="the median distances of the nearest word, of the hundredth and of "
            "any pair grow at each step",
            untold=projected("glove"),
            name="distances-grow",
        ),
        Shape(
            "Ours",
            "more dimensions need a larger epsilon: the noise grows faster than the "
            "distances",
            _by_dim("epsilon"),
        ),
        Shape(
            "Ours",
            "the hundredth word is not twice as far as the nearest",
            _crowded,
        ),
    ),
    axes=("dim", "vectors", "nearest_50"),
    spaces=lambda point: spaces_of(str(point["vectors"]), int(point["dim"])),
)
