"""BRR with multi-index hashing: what it costs, and what a bounded search changes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from mondegreen.arrays import Ids
from mondegreen.sampling.bits import draw_flips, flip_threshold
from mondegreen.space.search.hamming import HammingSearch
from mondegreen.space.store import load_codes
from mondegreen_experiments.bench import Bench
from mondegreen_experiments.measures.multi_index import MultiIndex
from mondegreen_experiments.recipe import Measured, Point, Recipe, Shape, Table

EXACT: Final = "exact"
_PARTS: Final = 16
"""Parts of 16 bits: their authors advise parts of log2 of the words, here 15."""


def measure(bench: Bench, point: Point, seed: int) -> Measured:
    """Time beside that of exhaustive search, and what both find for the same codes.

    ``flips`` bounds how many bits are flipped in each part of a code; ``exact`` goes on
    until nothing nearer can be left. ``time_ratio`` is of times of the processor, on
    the same noisy codes. ``agrees`` is the share of these codes where both searches
    find the same words: the laws differ in total variation by the rest of it at most,
    in the mean over words. ``unchanged`` and ``unchanged_exhaustive`` are words that
    stay.
    """
    codes, rng = load_codes(bench.space("glove-300")), np.random.default_rng(seed)
    count, size = int(point["words"]), len(codes.table)
    words = rng.choice(size, count, replace=False).astype(np.int32)
    draws = rng.integers(0, 1 << 64, (count, codes.bits // 2 + 1), dtype=np.uint64)
    noisy = draw_flips(draws[:, :-1], flip_threshold(float(point["epsilon"])), rng)
    noisy ^= codes.points(words)
    flips = None if point["flips"] == EXACT else int(point["flips"])
    whole, parts = HammingSearch(codes.table), MultiIndex(codes.table, _PARTS, flips)
    alike = [
        np.array_equal(np.sort(one), other)
        for one, other in zip(whole.ties(noisy), parts.ties(noisy), strict=True)
    ]
    picked, whole_time = _time(lambda: whole.pick(noisy, draws[:, -1]))
    found, parts_time = _time(lambda: parts.pick(noisy, rng))
    return {
        "time_ratio": parts_time / whole_time,
        "agrees": float(np.mean(alike)),
        "unchanged": float((found == words).mean()),
        "unchanged_exhaustive": float((picked == words).mean()),
    }


def _time(pick: Callable[[], Ids]) -> tuple[Ids, float]:
    """What was picked last, and seconds of processor: the lesser of two.

    Both searches ran before.
    """
    times = []
    for _ in range(2):
        begun = time.process_time()
        picked = pick()
        times.append(time.process_time() - begun)
    return picked, min(times)


def _exact(table: Table) -> list[tuple[Point, Measured]]:
    """The exact search, by epsilon."""
    own = [(p, m) for p, m in table if p["flips"] == EXACT]
    return sorted(own, key=lambda each: each[0]["epsilon"])


def _same(table: Table) -> bool:
    return all(m["agrees"] == 1 for _, m in _exact(table))


def _slower(table: Table) -> float:
    """By how much the exact search takes longer, where words change."""
    return min(m["time_ratio"] for p, m in _exact(table) if p["epsilon"] <= 1) - 1


def _faster(table: Table) -> float:
    """By how much the exact search takes less time, at the largest epsilon."""
    return 1 - _exact(table)[-1][1]["time_ratio"]


def _changes(table: Table) -> float:
    """By how much more than a tenth fewer words stay, at epsilon 1, with one flip."""
    (found,) = (m for p, m in table if (p["flips"], p["epsilon"]) == ("1", 1))
    return found["unchanged_exhaustive"] - found["unchanged"] - 0.1


def _grid(epsilons: Sequence[float], exact: int, bounded: int) -> list[Point]:
    return [
        {"flips": flips, "epsilon": e, "words": exact if flips == EXACT else bounded}
        for e in epsilons
        for flips in (EXACT, "0", "1", "2")
    ]


RECIPE: Final = Recipe(
    name="brr-search",
    alone=True,
    paper="Silva Carvalho et al. 2021",
    title="Multi-index hashing in place of exhaustive search among codes",
    differs=(
        "We have no number of the paper on approximate search. The codes of the "
        "embedded GloVe, 33,860 words of 256 bits; among millions of words exhaustive "
        "search costs more, and this comparison may end otherwise. Both searches are "
        "those of faiss; its multi-index hashing probes again from the start when more "
        "bits are flipped. Where a bounded search probes no word it releases any one, "
        "by chance. 200 words for the exact search. Quick: 1,000 for a bounded one, of "
        "5,000, and 4 of the 7 values of epsilon."
    ),
    measure=measure,
    points={
        "quick": _grid((0.5, 1, 2, 5), 200, 1000),
        "full": _grid((0.5, 0.7, 1, 1.5, 2, 3, 5), 200, 5000),
    },
    seeds={"quick": 3, "full": 5},
    shapes=(
        Shape(
            "Ours, of Norouzi et al. 2012",
            "exact multi-index hashing finds the words that exhaustive search finds",
            _same,
        ),
        Shape(
            "Ours",
            "at epsilon 1 and below, where BRR changes words, exact multi-index "
            "hashing takes longer than exhaustive search",
            _slower,
        ),
        Shape("Ours", "at epsilon 5, where words stay, it takes less time", _faster),
        Shape(
            "Ours",
            "a bounded search has another law: with one bit flipped in each part, at "
            "least one word in ten fewer stays at epsilon 1",
            _changes,
        ),
    ),
    axes=("epsilon", "flips", "unchanged"),
    spaces=lambda point: ["glove-300"],
    shares=("agrees", "unchanged", "unchanged_exhaustive"),
)
