"""TEM: what preparing and sampling cost by epsilon, beside CMP."""

from __future__ import annotations

import itertools
import time
from typing import Final

import numpy as np

from mondegreen.arrays import Floats, Weights
from mondegreen.mechanisms.base import space_distances
from mondegreen.mechanisms.selection.tem import Tem
from mondegreen_experiments.bench import Bench
from mondegreen_experiments.recipe import (
    Measured,
    Point,
    Recipe,
    Shape,
    Table,
    climb,
    curve,
)
from mondegreen_experiments.releases import prepared

_WORDS: Final = 500
_COUNTED: Final = 50
_FLAT: Final = 0.5
"""Half a word: at large epsilon most words have none but themselves there."""


def measure(bench: Bench, point: Point, seed: int) -> Measured:
    """Microseconds of processor per word: of 500 words, at first and once more.

    The first time, our code computes the law of each word (``all_words_seconds``: of
    all words); the second time it draws. ``neighbours`` are the mean number of words
    within the threshold, which the paper stores for each word, as we remember it.
    ``density`` is the rank correlation, over 50 words, of that number and the chance
    that the word leaves; left out where one of them is the same for all.
    """
    space, rng = bench.space("glove-300"), np.random.default_rng(seed)
    size, epsilon = space.vocab_size, float(point["epsilon"])
    words = rng.choice(size, min(_WORDS, size), replace=False).astype(np.int32)
    begun = time.process_time()
    state = prepared(str(point["law"]), epsilon, space, "exact")
    ready = time.process_time()
    state.sample(words, rng)
    first = time.process_time()
    state.sample(words, rng)
    second = time.process_time()
    found = {
        "prepare_seconds": ready - begun,
        "first_us": 1e6 * (first - ready) / len(words),
        "again_us": 1e6 * (second - first) / len(words),
    }
    if point["law"] == "CMP":
        return found
    threshold = Tem(epsilon=epsilon).threshold(size)
    every = np.arange(size, dtype=np.int32)
    near = space_distances(space, words[:_COUNTED], every) <= threshold
    law = np.exp(state.log_prob(words[:_COUNTED]))
    leaves = 1 - law[np.arange(len(law)), words[:_COUNTED]]
    return {
        **found,
        **_density(near.sum(axis=1), leaves),
        "all_words_seconds": (first - ready) / len(words) * size,
        "threshold": threshold,
        "neighbours": float(near.sum(axis=1).mean()),
    }


def _density(near: Weights, leaves: Floats) -> dict[str, float]:
    """Spearman's correlation; of probabilities that differ by rounding none."""
    from scipy.stats import spearmanr

    leaves = np.round(leaves, 6)
    if len(np.unique(near)) < 2 or len(np.unique(leaves)) < 2:
        return {}
    return {"density": float(spearmanr(near, leaves).statistic)}


def _denser(table: Table) -> float:
    """The least correlation, where some words have neighbors and others fewer."""
    return min((m["density"] for _, m in table if "density" in m), default=-1.0)


def _fewer(table: Table) -> float:
    found = curve(table, "epsilon", "neighbours", law="TEM")
    return climb(found[::-1], _FLAT)


def _cheaper(table: Table) -> float:
    """By how many microseconds a word of TEM takes less, at every epsilon."""
    ours, theirs = (
        curve(table, "epsilon", "again_us", law=law) for law in ("TEM", "CMP")
    )
    return min(b - a for a, b in zip(ours, theirs, strict=True))


def _grid(epsilons: tuple[int, ...]) -> list[Point]:
    return [
        {"law": law, "epsilon": epsilon}
        for law, epsilon in itertools.product(("TEM", "CMP"), epsilons)
    ]


RECIPE: Final = Recipe(
    name="tem-cost",
    alone=True,
    paper="Silva Carvalho et al. 2023",
    title="What preparing and sampling cost, beside CMP",
    differs=(
        "We have a bound of the paper, and no times. The embedded GloVe 840B; laws are "
        "computed for the words that appear, not for all beforehand, over all words "
        "and not only those within the threshold, and kept while there is room."
    ),
    measure=measure,
    points={"quick": _grid((1, 5, 22)), "full": _grid((1, 3, 5, 8, 12, 17, 22))},
    seeds={"quick": 3, "full": 5},
    shapes=(
        Shape(
            "Poster, formula",
            "fewer words are within the threshold at larger epsilon",
            _fewer,
            how="fewer overall, and at no step more by half a word",
            apart="a definition: the threshold is 2 / epsilon times a constant",
            name="fewer-within-threshold",
        ),
        Shape(
            "Poster, text",
            "noise is calibrated to the density around a word. Our reading: words with "
            "more neighbors within the threshold are replaced more often",
            _denser,
            how="the rank correlation over 50 words, the least of the epsilons at "
            "which both numbers vary",
            name="follows-density",
        ),
        Shape("Ours", "a word that is prepared is drawn faster than by CMP", _cheaper),
    ),
    axes=("epsilon", "law", "again_us"),
    spaces=lambda point: ["glove-300"],
    version=2,
)
