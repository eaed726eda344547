"""CMP, table 1: what the words of its examples most often become, by epsilon."""

from __future__ import annotations

import itertools
import math
from typing import Final

import numpy as np

from mondegreen.arrays import Ids
from mondegreen.errors import ConfigurationError
from mondegreen.mechanisms.base import space_distances
from mondegreen.space.space import Space
from mondegreen_experiments.bench import Bench
from mondegreen_experiments.recipe import (
    Found,
    Point,
    Recipe,
    Shape,
    Table,
    climb,
    curve,
)
from mondegreen_experiments.releases import prepared, repeated

_WORDS: Final = ("encryption", "hockey", "spacecraft")
_NEAR: Final = 10
_SHOWN: Final = 5
_MANY: Final = 20


def measure(bench: Bench, point: Point, seed: int) -> Found:
    """How often a word stays, and of the outputs that changed, how many are near it.

    ``near`` is the share of these that are among the ten nearest words, 0 where none
    changed; ``farther`` is their mean distance from the word, that of all words being
    1; ``within_twice`` counts the words that are less than twice as far as the nearest.
    ``outputs`` are the most frequent ones, with their share of the runs.
    """
    space, rng = bench.space(f"glove-{point['dim']}"), np.random.default_rng(seed)
    word, runs = _find(str(point["word"]), space), int(point["runs"])
    own = np.array([word], dtype=np.int32)
    state = prepared("CMP", float(point["epsilon"]), space)
    outputs = repeated(state, own, runs, rng).ravel()
    apart = space_distances(space, own, np.arange(space.vocab_size, dtype=np.int32))[0]
    order = np.argsort(apart, kind="stable")  # the word itself comes first
    changed = outputs[outputs != word]
    far = apart[changed].mean() / apart[order[1:]].mean() if len(changed) else 0.0
    return {
        "n_w": 1 - len(changed) / runs,
        "s_w": len(np.unique(outputs)),
        "changed": len(changed),
        "near": float(np.isin(changed, order[: _NEAR + 1]).sum())
        / max(len(changed), 1),
        "farther": float(far),
        "within_twice": int((apart < 2 * apart[order[1]]).sum()) - 1,
        "outputs": _frequent(outputs, space),
    }


def _find(word: str, space: Space) -> int:
    found = space.get_id(word)
    if found == space.vocab_size:
        raise ConfigurationError(
            f"the vectors lack {word!r}, a word of the paper: give others"
        )
    return found


def _frequent(outputs: Ids, space: Space) -> str:
    """The most frequent outputs; of equally frequent ones those of lower number."""
    found, counts = np.unique(outputs, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:_SHOWN]
    shares = counts[order] / len(outputs)
    named = zip(found[order], shares, strict=True)
    return ", ".join(f"{space.words[i]} {share:.2f}" for i, share in named)


def _stay(table: Table) -> bool:
    """Whether each word stays now and then at some epsilon.

    With other vectors the same epsilon is another noise, and none may ever stay: then
    nothing follows for the paper.
    """
    return all(
        max(m["n_w"] for p, m in table if p["word"] == word) >= 0.1
        for word in {p["word"] for p, _ in table}
    )


def _rise(table: Table) -> float:
    if not _stay(table):
        return math.nan
    return min(
        climb(curve(table, "epsilon", "n_w", word=word, dim=dim), 0.05)
        for word, dim in {(p["word"], p["dim"]) for p, _ in table}
    )


def _near_first(table: Table) -> float:
    """By how much over half of changed outputs are near, where a word may stay."""
    middle = [m["near"] for _, m in table if 0.1 <= m["n_w"] <= 0.9]
    return min(middle, default=0.0) - 0.5


def _nearer(table: Table) -> float:
    """Whether outputs come nearer as epsilon grows, where there are twenty or more."""
    if not _stay(table):
        return math.nan
    many = [(p, m) for p, m in table if m["changed"] >= _MANY]
    steps = (
        climb(curve(many, "epsilon", "farther", word=word, dim=dim)[::-1], 0.02)
        for word, dim in {(p["word"], p["dim"]) for p, _ in table}
    )
    return min(*(1 - m["farther"] for _, m in many), *steps)


def _crowded(table: Table) -> float:
    return min(m["within_twice"] - 10 * _NEAR for _, m in table)


def _grid(dims: tuple[int, ...], epsilons: tuple[int, ...], runs: int) -> list[Point]:
    return [
        {"word": word, "dim": dim, "epsilon": epsilon, "runs": runs}
        for word, dim, epsilon in itertools.product(_WORDS, dims, epsilons)
    ]


RECIPE: Final = Recipe(
    name="cmp-words",
    shares=(
        "n_w",
        "near",
    ),
    paper="Feyisetan et al. 2020",
    title="What the words of its examples become",
    differs=(
        "The embedded GloVe 840B, so other neighbors at other distances; the paper "
        "shows some outputs of each word, here are the most frequent ones. Quick: 300 "
        "dimensions, and the part of the grid where words change, with epsilon 9, "
        "which the paper has not."
    ),
    measure=measure,
    points={
        "quick": _grid((300,), (6, 9, 12, 17), 1000),
        "full": _grid((50, 300), (6, 9, 12, 17, 23, 29, 35, 41, 47, 52), 1000),
    },
    seeds={"quick": 3, "full": 5},
    shapes=(
        Shape(
            "Table 1",
            "words stay more often at larger epsilon",
            _rise,
            how="the share rises overall, and no step falls by more than 0.05",
            name="words-stay",
        ),
        Shape(
            "Ours, after Table 1",
            "where a word stays now and then, most other outputs are among its ten "
            "nearest words",
            _near_first,
        ),
        Shape(
            "Table 1",
            "outputs are nearer to the word than other words are, and come nearer as "
            "epsilon grows",
            _nearer,
            how="their distance falls overall, and no step rises by more than 0.02 of "
            "the mean distance; where 20 outputs or more changed",
            name="outputs-near",
        ),
        Shape(
            "Ours",
            "more than a hundred words are less than twice as far as the nearest, so "
            "that the ten nearest have little of the chance",
            _crowded,
        ),
    ),
    axes=("epsilon", "word", "n_w"),
    spaces=lambda point: [f"glove-{point['dim']}"],
)
