"""CMP, figures 2 to 4: how often words stay, and among how many outputs they hide."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from mondegreen.experiments.bench import Bench
from mondegreen.experiments.recipe import (
    Measured,
    Point,
    Recipe,
    Shape,
    Table,
    curve,
    rises,
)
from mondegreen.experiments.releases import prepared, repeated

_GRID: Final = (6, 12, 17, 23, 29, 35, 41, 47, 52)
_WORDS: Final = 100


def measure(bench: Bench, point: Point, seed: int) -> Measured:
    """N_w and S_w of 100 random words, each perturbed as often as the paper does.

    ``s_w`` counts the different outputs, as the paper's experiments do: at most the
    number of runs, and more with more of them.
    """
    space = bench.space(f"{point['vectors']}-{point['dim']}")
    rng = np.random.default_rng(seed)
    words = rng.choice(space.vocab_size, _WORDS, replace=False).astype(np.int32)
    runs = int(point["runs"])
    state = prepared("CMP", float(point["epsilon"]), space)
    outputs = repeated(state, words, runs, rng)
    stays = (outputs == words[:, None]).mean(axis=1)
    different = [len(np.unique(row)) for row in outputs]
    return {
        "n_w": float(stays.mean()),
        "n_w_95": float(np.quantile(stays, 0.95)),
        "s_w": float(np.mean(different)),
        "s_w_05": float(np.quantile(different, 0.05)),
    }


def _every(test: Callable[[Table, str, int], bool]) -> Callable[[Table], bool]:
    """The test on every space and dimension that was measured."""
    return lambda table: all(
        test(table, vectors, dim)
        for vectors, dim in {(p["vectors"], p["dim"]) for p, _ in table}
    )


def _stays_rise(table: Table, vectors: str, dim: int) -> bool:
    return rises(curve(table, "epsilon", "n_w", vectors=vectors, dim=dim), 0.01)


def _support_falls(table: Table, vectors: str, dim: int) -> bool:
    falling = curve(table, "epsilon", "s_w", vectors=vectors, dim=dim)
    return rises(falling[::-1], 0.01 * falling[0])


def _shifted(table: Table, vectors: str, dim: int) -> bool:
    """Whether fewer dimensions keep more words at the same epsilon."""
    lower = {p["dim"] for p, _ in table if p["vectors"] == vectors and p["dim"] < dim}
    mine = curve(table, "epsilon", "n_w", vectors=vectors, dim=dim)
    return all(
        a >= b - 0.01
        for each in lower
        for a, b in zip(
            curve(table, "epsilon", "n_w", vectors=vectors, dim=each), mine, strict=True
        )
    )


def _grid(families: Sequence[str], dims: Sequence[int], runs: int) -> list[Point]:
    return [
        {"vectors": family, "dim": dim, "epsilon": epsilon, "runs": runs}
        for family, dim, epsilon in itertools.product(families, dims, _GRID)
    ]


RECIPE: Final = Recipe(
    name="cmp-deniability",
    paper="Feyisetan et al. 2020",
    title="How often words stay, and among how many outputs they hide",
    differs=(
        "The paper has GloVe 6B in 50, 100, 200 and 300 dimensions; here are the "
        "embedded vectors of GloVe 840B, and word2vec of film reviews, projected to "
        "these dimensions by PCA. Their distances differ, so the curves are shifted "
        "along epsilon. 100 random words; quick: 100 runs a word for 1,000."
    ),
    measure=measure,
    points={
        "quick": _grid(["glove"], [50, 300], 100),
        "full": _grid(["glove", "w2v"], [50, 100, 300], 1000),
    },
    seeds={"quick": 3, "full": 5},
    shapes=(
        Shape("Figures 2 to 4", "N_w rises with epsilon", _every(_stays_rise)),
        Shape("Figures 2 to 4", "S_w falls with epsilon", _every(_support_falls)),
        Shape(
            "Figures 2 to 4",
            "the same curve in more dimensions, at larger epsilon",
            _every(_shifted),
        ),
    ),
    axes=("epsilon", "dim", "n_w"),
)
