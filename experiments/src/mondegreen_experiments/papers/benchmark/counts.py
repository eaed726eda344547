"""The comparative benchmark, tables 6 and 7: words that stay, and distinct outputs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from mondegreen_experiments.bench import Bench
from mondegreen_experiments.cells import Cell, find_cells
from mondegreen_experiments.measures.as_run import GUMBEL, ONE_CELL, state_of
from mondegreen_experiments.measures.scored import counted, some_words
from mondegreen_experiments.reasons import either, other_vectors, projected
from mondegreen_experiments.recipe import (
    Measured,
    Point,
    Published,
    Recipe,
    Shape,
    Table,
    at_end,
    curve,
    lead,
    place,
)

_WORDS: Final = 100
_NOISE: Final = ("CMP", "Mahalanobis", "Vickrey")
_CLOSED: Final = ("TEM", "SanText", "SynTF")
_DIMS: Final = (50, 100, 300)
_TEXTS: Final = ("imdb", "ag_news")


def measure(bench: Bench, point: Point, seed: int) -> Measured:
    """N_w and S_w, in per cent, of 100 words of the texts, each perturbed 100 times.

    Both are exact for closed laws: the mean over all runs that there could be.
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
        return min(
            lead([b - a for a, b in zip(ours[at], theirs[at], strict=True)], slack)
            for at in ours
        )

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
    printed = {place(cell.at): cell.value for cell in _CMP}
    exact, partial = (
        sum(
            abs(m["n_w"] - printed[key])
            for p, m in table
            if p["law"] == law and (key := place({**p, "law": "CMP"})) in printed
        )
        for law in ("CMP", ONE_CELL)
    )
    return partial < exact


RELEASED: Final = "the released code (github.com/sjmeis/MLDP, MLDP.py, commit 094146f)"
_CMP, _TEM = (find_cells("benchmark", "n_w", law=law) for law in ("CMP", "TEM"))
_UNION: Final = (
    f"in {RELEASED}, class TEM, the score of the words beyond the threshold has the "
    "term 2 ln(|W| / |L_w|) / epsilon. TEM's pseudocode has 2 ln(n) / epsilon with "
    "the number n of these words. L_w are the words within the threshold. We do not "
    "know whether the table was made so"
)
_TOLERANCE: Final = 2.0
_WHOLE: Final = 100.0


def _as_printed(cells: Sequence[Cell]) -> Table:
    return [(cell.at, {cell.measure: cell.value}) for cell in cells]


RECIPE: Final = Recipe(
    name="benchmark-counts",
    paper="Meisenbacher et al. 2024",
    title="Words that stay, and distinct outputs of a hundred runs",
    differs=(
        "GloVe 840B by PCA in place of GloVe 6B, so distances, and with them the "
        "meaning of an epsilon, differ; words of the texts that are in the "
        "vocabulary. The mechanisms are as their papers prove them. In "
        f"{RELEASED} TEM gives words beyond the threshold another weight, Vickrey "
        "takes a softmax of two distances, and the search of CMP sets `index.probe`, "
        "where faiss reads `nprobe`, so that 1 of 100 cells is searched. We do not "
        "know whether the paper's numbers were made so, and compare no row of SanText, "
        "Vickrey and SynTF. The paper's numbers of CMP are nearer to ours with an "
        "exact search than to ours with 1 of 100 cells. Truncated Gumbel noise has no "
        "scale below epsilon 98 on these vectors (50 dimensions; 35 with 300): it "
        "stands here as printed, at 100 and more, and as that code has it, with the "
        "real part of a complex number. Numbers of TEM, SanText and SynTF are exact. "
        "Quick: Mahalanobis, Vickrey and Gumbel in 50 dimensions."
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
            cell.where,
            cell.at,
            cell.measure,
            cell.value,
            _TOLERANCE,
            reason,
            at_end(cell.value, _TOLERANCE, _WHOLE),
        )
        for cells, reason in (
            (_CMP, other_vectors),
            (_TEM, either(other_vectors, _UNION)),
        )
        for cell in cells
    ],
    shapes=(
        Shape(
            "Tables 6 and 7",
            "more words stay at epsilon 10 than at 5 (CMP)",
            _grows,
            printed=_as_printed(_CMP),
            untold=other_vectors,
            name="more-stay-at-10",
        ),
        Shape(
            "Tables 6 and 7",
            "fewer words stay in more dimensions, at epsilon 5 and 10 (CMP)",
            _falls_with_dim,
            printed=_as_printed(_CMP),
            untold=either(other_vectors, projected("glove")),
            name="fewer-stay-in-more-dimensions",
        ),
        Shape(
            "Tables 6 and 7, cells not kept",
            "at one nominal epsilon fewer words stay with Mahalanobis noise than with "
            "CMP",
            _below("Mahalanobis", "CMP", 1.0),
            how="in the mean over epsilon, and nowhere more by 1 in 100",
            name="mahalanobis-below-cmp",
        ),
        Shape(
            "Tables 6 and 7",
            "TEM switches between epsilon 1 and 5: no word stays, then most do",
            _switches,
            how="fewer than 1 in 100, then more than 60",
            printed=_as_printed(_TEM),
            untold=either(other_vectors, _UNION),
            name="tem-switches",
        ),
        Shape(
            "Ours, of tables 6 and 7",
            "among our cells N_w and S_w add up to about 100 (CMP, Mahalanobis, "
            "SanText, TEM)",
            _add_up,
        ),
        Shape(
            "Ours",
            "with SanText as its paper prints it, as many words stay at every epsilon",
            _constant("SanText"),
            how="within 3 in 100",
        ),
        Shape(
            "Tables 6 and 7, cells not kept",
            "as many stay with truncated Gumbel noise at every epsilon",
            _constant(GUMBEL),
            how="within 3 in 100, with the scale that the released code computes",
            untold="the mechanism as printed has no scale at these epsilons on our "
            "vectors; we do not know whether the tables were made with that code, and "
            "we keep none of these cells",
            name="gumbel-constant",
        ),
        Shape(
            "Ours, of tables 6 and 7",
            "the numbers of CMP are nearer to those of a search of 1 of 100 cells, as "
            "in the released code, than to those of an exact one",
            _explains,
        ),
    ),
    axes=("epsilon", "law", "n_w"),
    spaces=lambda point: [f"glove-{point['dim']}", "glove-300"],
    needs=("torch",),
)
