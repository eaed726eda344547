"""BRR: epsilons that its privacy ratio calls equal, and what they do to words."""

from __future__ import annotations

import itertools
from typing import Final

import numpy as np

from mondegreen_experiments.bench import Bench
from mondegreen_experiments.recipe import Measured, Point, Recipe, Shape, Table
from mondegreen_experiments.releases import equal_by_ratio, prepared, repeated

_WORDS, _RUNS = 100, 50


def measure(bench: Bench, point: Point, seed: int) -> Measured:
    """The epsilon of BRR that equals one of CMP by the ratio, and the words that stay.

    The paper sets equal the largest bound of both, or the mean: epsilon times the
    distance, over all pairs of words, the pairs of a word with itself included.
    """
    space, rng = bench.space("glove-300"), np.random.default_rng(seed)
    size = space.vocab_size
    euclidean, hamming = equal_by_ratio(space, str(point["by"]))
    epsilon = float(point["epsilon"])
    same = epsilon * euclidean / hamming
    words = rng.choice(size, min(_WORDS, size), replace=False).astype(np.int32)
    stays, different = {}, {}
    for law, at in (("CMP", epsilon), ("BRR", same)):
        outputs = repeated(prepared(law, at, space), words, _RUNS, rng)
        stays[law] = float((outputs == words[:, None]).mean())
        different[law] = float(np.mean([len(np.unique(row)) for row in outputs]))
    return {
        "euclidean": euclidean,
        "hamming": hamming,
        "ratio": euclidean / hamming,
        "epsilon_brr": same,
        "n_w_cmp": stays["CMP"],
        "n_w_brr": stays["BRR"],
        "s_w_cmp": different["CMP"],
        "s_w_brr": different["BRR"],
    }


def _equal(table: Table) -> float:
    """By how much fewer than a word in twenty stay by one and not by the other."""
    return min(0.05 - abs(m["n_w_cmp"] - m["n_w_brr"]) for _, m in table)


def _grid(epsilons: tuple[int, ...]) -> list[Point]:
    return [
        {"by": by, "epsilon": epsilon}
        for by, epsilon in itertools.product(("mean", "largest"), epsilons)
    ]


RECIPE: Final = Recipe(
    name="brr-privacy-ratio",
    paper="Silva Carvalho et al. 2021",
    title="Epsilons that the privacy ratio calls equal, and the words that stay",
    differs=(
        "Distances of the embedded GloVe 840B and its codes. The diameters are upper "
        "bounds. Words that stay are ours: the ratio equals bounds of the loss, and "
        "the paper does not measure whether the words are protected alike."
    ),
    measure=measure,
    points={
        "quick": _grid((5, 12, 22)),
        "full": _grid((1, 3, 5, 8, 12, 17, 22, 35)),
    },
    seeds={"quick": 3, "full": 5},
    shapes=(
        Shape(
            "Ours, not said by the paper",
            "epsilons that are equal by the ratio keep equally many words",
            _equal,
            how="within one word in twenty",
        ),
    ),
    axes=("epsilon", "by", "n_w_brr"),
    spaces=lambda point: ["glove-300"],
    shares=("n_w_cmp", "n_w_brr"),
)
