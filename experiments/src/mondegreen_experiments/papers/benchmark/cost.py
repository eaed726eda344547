"""The mechanisms of the comparative benchmark: time and memory."""

from __future__ import annotations

import functools
import itertools
import time
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from mondegreen.arrays import Ids
from mondegreen.mechanisms.base import State
from mondegreen.space.space import Space
from mondegreen_experiments.bench import Bench
from mondegreen_experiments.recipe import Measured, Point, Recipe, Shape, Table
from mondegreen_experiments.releases import prepared

_WORDS: Final = 500
_MB: Final = 1e6


def measure(bench: Bench, point: Point, seed: int) -> Measured:
    """Seconds of preparation, microseconds a word, and megabytes, and ratios to CMP.

    Times are of the processor, for 500 random words: at first, when a law computes what
    it keeps for each word, and once more. ``peak_mb`` is the most that Python and NumPy
    hold at a time beyond the vectors, from preparation to the first 500 words; an index
    of the vectors by faiss, four bytes a coordinate, is not in it. It is the same in
    each run, and measured in the first.
    """
    law, epsilon, dim = str(point["law"]), float(point["epsilon"]), int(point["dim"])
    found = _times(bench, law, epsilon, dim, seed)
    cmp = _times(bench, "CMP", 10.0, dim, seed)
    ratios = {
        f"{name}_to_cmp": found[name] / cmp[name] for name in ("first_us", "again_us")
    }
    memory = {} if seed else {"peak_mb": _peak(bench, law, epsilon, dim)}
    return {**found, **ratios, **memory}


@functools.lru_cache(maxsize=16)
def _times(
    bench: Bench, law: str, epsilon: float, dim: int, seed: int
) -> dict[str, float]:
    space, words = _fresh(bench, dim, seed)
    rng = np.random.default_rng(seed)
    begun = time.process_time()
    state = prepared(law, epsilon, space, "exact")
    ready = time.process_time()
    first = _time(state, words, rng)
    again = min(_time(state, words, rng) for _ in range(2))
    return {
        "prepare_seconds": ready - begun,
        "first_us": 1e6 * first / len(words),
        "again_us": 1e6 * again / len(words),
    }


def _time(state: State, words: Ids, rng: np.random.Generator) -> float:
    begun = time.process_time()
    state.sample(words, rng)
    return time.process_time() - begun


def _fresh(bench: Bench, dim: int, seed: int) -> tuple[Space, Ids]:
    """A space for which nothing is prepared yet, and words of it."""
    space = replace(bench.space(f"glove-{dim}"))
    rng = np.random.default_rng([seed, 1])
    words = rng.choice(space.vocab_size, min(_WORDS, space.vocab_size), replace=False)
    return space, words.astype(np.int32)


def _peak(bench: Bench, law: str, epsilon: float, dim: int) -> float:
    space, words = _fresh(bench, dim, 0)
    tracemalloc.start()
    try:
        prepared(law, epsilon, space, "exact").sample(words, np.random.default_rng(0))
        return tracemalloc.get_traced_memory()[1] / _MB
    finally:
        tracemalloc.stop()


def _noise_slows(table: Table) -> bool:
    """Whether noise takes longer in more dimensions, by half at least."""
    times = {(p["law"], p["dim"]): m["again_us"] for p, m in table}
    few, many = min(dim for _, dim in times), max(dim for _, dim in times)
    laws = ("CMP", "Mahalanobis", "Vickrey")
    return all(times[law, many] > 1.5 * times[law, few] for law in laws)


def _closed_is_cheap(table: Table) -> bool:
    return all(
        m["again_us_to_cmp"] < 0.5
        for p, m in table
        if p["law"] in ("TEM", "SanText", "SynTF")
    )


_EPSILONS: Final = {
    "CMP": 10,
    "Mahalanobis": 10,
    "Vickrey": 10,
    "TEM": 5,
    "SanText": 5,
    "SynTF": 10,
    "truncated Gumbel": 200,  # it has no scale at less than 98
}


def _grid(dims: Sequence[int]) -> list[Point]:
    return [
        {"law": law, "dim": dim, "epsilon": epsilon}
        for (law, epsilon), dim in itertools.product(_EPSILONS.items(), dims)
    ]


RECIPE: Final = Recipe(
    name="benchmark-cost",
    alone=True,
    paper="Meisenbacher et al. 2024",
    title="Time and memory of the benchmark's seven mechanisms",
    differs=(
        "We have no times of the paper. Seconds are those of "
        "the processor, one thread. Between machines, compare the ratios to CMP in the "
        "same run. GloVe 840B by PCA, 33,860 words. Quick: 50 and 300 dimensions."
    ),
    measure=measure,
    points={"quick": _grid((50, 300)), "full": _grid((50, 100, 300))},
    seeds={"quick": 3, "full": 10},
    shapes=(
        Shape(
            "Ours",
            "noise on vectors takes longer in more dimensions (CMP, Mahalanobis, "
            "Vickrey)",
            _noise_slows,
        ),
        Shape(
            "Ours",
            "laws that are kept for each word draw in half the time of CMP or less, "
            "from the second time on (TEM, SanText, SynTF)",
            _closed_is_cheap,
        ),
    ),
    axes=("dim", "law", "again_us_to_cmp"),
    spaces=lambda point: [f"glove-{point['dim']}"],
)
