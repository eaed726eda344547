"""The comparative benchmark, tables 6 and 7: words that stay, and distinct outputs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from mondegreen_experiments.bench import Bench
from mondegreen_experiments.measures.as_run import GUMBEL, ONE_CELL, state_of
from mondegreen_experiments.measures.scored import counted, some_words
from mondegreen_experiments.recipe import (
    Measured,
    Point,
    Published,
    Recipe,
    Shape,
    Table,
    curve,
)

_WORDS: Final = 100
_NOISE: Final = ("CMP", "Mahalanobis", "Vickrey")
_CLOSED: Final = ("TEM", "SanText", "SynTF")
_DIMS: Final = (50, 100, 300)
_TEXTS: Final = ("imdb", "ag_news")
_PUBLISHED: Final = {
    "imdb": {50: (9.1, 74.1), 100: (3.4, 52.2), 300: (1.0, 27.8)},
    "ag_news": {50: (12.4, 75.8), 100: (5.7, 60.2), 300: (2.2, 34.9)},
}


def measure(bench: Bench, point: Point, seed: int) -> Measured:
    """N_w and S_w, in per cent, of 100 words of the texts, each perturbed 100 times.

    Of closed laws both are exact: the mean over all runs that there could be.
    """
    space = bench.space(f"glove-{point['dim']}")
    rng = np.random.default_rng(seed)
    texts = bench.labelled(str(point["texts"]), "test")
    words = some_words([texts], space.vocab_size, _WORDS, rng)
    state = state_of(str(point["law"]), float(point["epsilon"]), space)
    return counted(state, words, rng)


def _grid(
    laws: Sequence[str], dims: Sequence[int], epsilons: Sequence[int] = (1, 5, 10)
) -> list[Point]:
    return [
        {"texts": texts, "law": law, "dim": dim, "epsilon": epsilon}
        for texts, law, dim, epsilon in itertools.product(_TEXTS, laws, dims, epsilons)
    ]


def _found(table: Table, law: str, name: str = "n_w") -> dict[tuple[str, int], Curve]:
    """Values along epsilon, by texts and dimension."""
    places = {(str(p["texts"]), int(p["dim"])) for p, _ in table if p["law"] == law}
    return {
        (texts, dim): curve(table, "epsilon", name, law=law, texts=texts, dim=dim)
        for texts, dim in sorted(places)
    }


Curve = list[float]
Test = Callable[[Table], float]


def _below(law: str, other: str, slack: float) -> Test:
    def margin(table: Table) -> float:
        ours, theirs = _found(table, law), _found(table, other)
        pairs = [zip(ours[at], theirs[at], strict=True) for at in ours]
        return min(b + slack - a for pair in pairs for a, b in pair)

    return margin


def _grows(table: Table) -> float:
    return min(at[-1] - at[-2] for at in _found(table, "CMP").values())


def _falls_with_dim(table: Table) -> float:
    """By how many per cent fewer words stay in more dimensions, at epsilon 5 and 10."""
    found = _found(table, "CMP")
    names = {texts for texts, _ in found}
    return min(
        a - b
        for name in names
        for fewer, more in itertools.pairwise(sorted(d for t, d in found if t == name))
        for a, b in zip(found[name, fewer][-2:], found[name, more][-2:], strict=True)
    )


def _switches(table: Table) -> float:
    return min(
        min(1 - at_1, at_5 - 60) for at_1, at_5, *_ in _found(table, "TEM").values()
    )


def _add_up(table: Table) -> bool:
    laws = ("CMP", "Mahalanobis", "SanText", "TEM")
    sums = [m["n_w"] + m["s_w"] for p, m in table if p["law"] in laws]
    return float(np.mean([96 <= each <= 101 for each in sums])) >= 0.9


def _constant(law: str) -> Test:
    return lambda table: min(
        3 - max(values) + min(values) for values in _found(table, law).values()
    )


def _explains(table: Table) -> bool:
    """Whether the partial search is nearer to what was printed than the exact one."""
    exact, partial = (
        sum(
            abs(value - printed)
            for (texts, dim), values in _found(table, law).items()
            for value, printed in zip(values[-2:], _PUBLISHED[texts][dim], strict=True)
        )
        for law in ("CMP", ONE_CELL)
    )
    return partial < exact


_BECAUSE: Final = (
    "other vectors (GloVe 840B by PCA, theirs GloVe 6B) and so other distances. Their "
    "search visited 1 of 100 cells; the same search here halves N_w, so it does not "
    "explain why theirs is above ours"
)
_TEM: Final = ((1, 0.1), (5, 99.2))
"""N_w of TEM on IMDb in 300 dimensions, by epsilon: Table 6."""

_CMP_PRINTED: Final = [
    ({"texts": texts, "law": "CMP", "dim": dim, "epsilon": epsilon}, {"n_w": value})
    for texts, table in _PUBLISHED.items()
    for dim, values in table.items()
    for epsilon, value in zip((5, 10), values, strict=True)
]
_TEM_PRINTED: Final = [
    ({"texts": "imdb", "law": "TEM", "dim": 300, "epsilon": epsilon}, {"n_w": value})
    for epsilon, value in _TEM
]
_TEM_BECAUSE: Final = (
    "other vectors, and their released code samples another law than is printed"
)

RECIPE: Final = Recipe(
    name="benchmark-counts",
    paper="Meisenbacher et al. 2024",
    title="Words that stay, and distinct outputs of a hundred runs",
    differs=(
        "GloVe 840B by PCA in place of GloVe 6B, so distances, and with them the "
        "meaning of an epsilon, differ; words of the texts that are in the "
        "vocabulary; the mechanisms as their papers prove them; the benchmark's "
        "released code differs for SanText, TEM, Vickrey and SynTF, so its rows of "
        "these are no target. Truncated Gumbel noise has no scale below epsilon 98 on "
        "these vectors (50 dimensions; 35 with 300): it stands here as printed, at "
        "100 and more, and as the released code has it, with the real part of a "
        "complex number. Numbers of TEM, SanText and SynTF are exact. Quick: "
        "Mahalanobis, Vickrey and Gumbel in 50 dimensions."
    ),
    measure=measure,
    points={
        "quick": [
            *_grid(["CMP"], _DIMS),
            *_grid([ONE_CELL], _DIMS, (5, 10)),
            *_grid(["Mahalanobis", "Vickrey", GUMBEL], (50,)),
            *_grid(["truncated Gumbel"], (50,), (100, 200, 1000)),
            *_grid(_CLOSED, (50, 300)),
        ],
        "full": [
            *_grid([*_NOISE, *_CLOSED, GUMBEL], _DIMS),
            *_grid([ONE_CELL], _DIMS, (5, 10)),
            *_grid(["truncated Gumbel"], _DIMS, (100, 200, 1000)),
        ],
    },
    seeds={"quick": 3, "full": 10},
    data=_TEXTS,
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
    ]
    + [
        Published(
            "Table 6",
            {"texts": "imdb", "law": "TEM", "dim": 300, "epsilon": epsilon},
            "n_w",
            value,
            2.0,
            _TEM_BECAUSE,
        )
        for epsilon, value in _TEM
    ],
    shapes=(
        Shape(
            "Tables 6 and 7",
            "more words stay at epsilon 10 than at 5 (CMP)",
            _grows,
            printed=_CMP_PRINTED,
        ),
        Shape(
            "Tables 6 and 7",
            "fewer words stay in more dimensions, at epsilon 5 and 10 (CMP)",
            _falls_with_dim,
            printed=_CMP_PRINTED,
        ),
        Shape(
            "Tables 6 and 7",
            "at one nominal epsilon fewer words stay with Mahalanobis noise than with "
            "CMP",
            _below("Mahalanobis", "CMP", 1.0),
        ),
        Shape(
            "Tables 6 and 7",
            "TEM switches between epsilon 1 and 5: no word stays, then most do",
            _switches,
            printed=_TEM_PRINTED,
        ),
        Shape(
            "Ours, of tables 6 and 7",
            "N_w and S_w add up to about 100, so one says nothing beyond the other "
            "(CMP, Mahalanobis, SanText, TEM)",
            _add_up,
        ),
        Shape(
            "Ours, of tables 6 and 7",
            "as many words stay with SanText at every epsilon",
            _constant("SanText"),
        ),
        Shape(
            "Tables 6 and 7",
            "with the released code, as many stay with truncated Gumbel noise at "
            "every epsilon",
            _constant(GUMBEL),
        ),
        Shape(
            "Ours, of tables 6 and 7",
            "the numbers of CMP are nearer to those of the search of their released "
            "code (1 of 100 cells) than to those of an exact one",
            _explains,
        ),
    ),
    axes=("epsilon", "law", "n_w"),
    needs=("torch",),
)
