"""The comparative benchmark, tables 6 and 7: words that stay, and distinct outputs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final

import numpy as np

from mondegreen.experiments.bench import Bench
from mondegreen.experiments.recipe import Measured, Point, Published, Recipe
from mondegreen.experiments.releases import prepared, repeated

_LAWS: Final = ("CMP", "Mahalanobis", "Vickrey", "TEM", "SanText", "SynTF")
_RUNS, _WORDS = 100, 100
_BECAUSE: Final = (
    "other vectors (GloVe 840B by PCA, theirs GloVe 6B), and their search visited 1 of "
    "100 cells of its index"
)
_PUBLISHED: Final = {
    "imdb": {50: (9.1, 74.1), 100: (3.4, 52.2), 300: (1.0, 27.8)},
    "ag_news": {50: (12.4, 75.8), 100: (5.7, 60.2), 300: (2.2, 34.9)},
}


def measure(bench: Bench, point: Point, seed: int) -> Measured:
    """N_w and S_w, in per cent, of 100 words of the texts, each perturbed 100 times."""
    space = bench.space(f"glove-{point['dim']}")
    rng = np.random.default_rng(seed)
    present = np.unique(bench.labelled(str(point["texts"]), "test").flat)
    present = present[present < space.vocab_size]
    words = rng.choice(present, _WORDS, replace=False).astype(np.int32)
    state = prepared(str(point["law"]), float(point["epsilon"]), space)
    outputs = repeated(state, words, _RUNS, rng)
    different = [len(np.unique(row)) for row in outputs]
    return {
        "n_w": 100 * float((outputs == words[:, None]).mean()),
        "s_w": 100 * float(np.mean(different)) / _RUNS,
    }


def _grid(laws: Sequence[str], dims: tuple[int, ...]) -> list[Point]:
    return [
        {"texts": texts, "law": law, "dim": dim, "epsilon": epsilon}
        for texts, law, dim, epsilon in itertools.product(
            _PUBLISHED, laws, dims, (1, 5, 10)
        )
    ]


RECIPE: Final = Recipe(
    name="benchmark-counts",
    paper="Meisenbacher et al. 2024",
    title="Words that stay, and distinct outputs of a hundred runs",
    differs=(
        "GloVe 840B by PCA in place of GloVe 6B, so distances, and with them the "
        "meaning of an epsilon, differ; words of the texts that are in the vocabulary; "
        "the mechanisms as their papers prove them, where the benchmark ran other code "
        "for SanText, TEM, Vickrey, SynTF and truncated Gumbel."
    ),
    measure=measure,
    points={
        "quick": _grid(["CMP", "TEM"], (50, 300)),
        "full": _grid(_LAWS, (50, 100, 300)),
    },
    seeds={"quick": 2, "full": 5},
    data=("imdb", "ag_news"),
    published=[
        Published(
            "Table 6" if texts == "imdb" else "Table 7",
            {"texts": texts, "law": "CMP", "dim": dim, "epsilon": epsilon},
            "n_w",
            value,
            2.0,
            _BECAUSE,
        )
        for texts, table in _PUBLISHED.items()
        for dim, values in table.items()
        for epsilon, value in zip((5, 10), values, strict=True)
    ],
    axes=("epsilon", "law", "n_w"),
)
