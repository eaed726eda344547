"""CMP, Vickrey, TEM, BRR: what a classifier of film reviews learns from releases."""

from __future__ import annotations

from collections.abc import Callable
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
from mondegreen.experiments.releases import laws_by_epsilon, release_at, released

_LAWS: Final = (
    "CMP",
    "Mahalanobis",
    "Vickrey",
    "TEM",
    "BRR",
    "SanText",
    "calibrated",
    "tree",
)
_SLACK: Final = 0.06
"""Twice the standard error of a difference of two accuracies on 500 texts."""


def measure(bench: Bench, point: Point, seed: int) -> Measured:
    """Accuracy of a bag of n-grams that is trained on releases, or asked with them.

    ``both``: trained on a release and tested on another; ``test_time``: trained on
    clear texts and tested on a release; ``train_time``: the other way round.
    """
    from mondegreen.experiments.models.classifiers import BagOfNgrams, accuracy, fitted
    from mondegreen.experiments.models.training import Training

    space = bench.space("glove-300")
    state, rng = release_at(point, space), np.random.default_rng(seed)
    sizes = {"train": point["texts"], "valid": point["valid"], "test": point["test"]}
    clear = {
        split: bench.labelled("imdb", split, "glove-300", int(most)).cut(
            int(point["words"])
        )
        for split, most in sizes.items()
    }
    noisy = {split: released(texts, state, rng) for split, texts in clear.items()}
    training = Training(rate=2e-2, patience=3, longest=int(point["words"]))

    def build(classes: int) -> BagOfNgrams:
        return BagOfNgrams(space.vocab_size + 1, classes, dim=16, buckets=1 << 14)

    of_noisy, of_clear = (
        fitted(build, texts["train"], texts["valid"], seed, training)
        for texts in (noisy, clear)
    )
    return {
        "both": accuracy(of_noisy(noisy["test"]), noisy["test"]),
        "test_time": accuracy(of_clear(noisy["test"]), noisy["test"]),
        "train_time": accuracy(of_noisy(clear["test"]), clear["test"]),
        "chance": float(np.bincount(clear["test"].labels).max()) / len(clear["test"]),
        "unchanged": float((noisy["test"].flat == clear["test"].flat).mean()),
    }


def _rise(name: str) -> Callable[[Table], bool]:
    return lambda table: all(
        rises(curve(table, "epsilon", name, law=law), _SLACK) for law in _LAWS
    )


def _above(law: str, other: str, least: float) -> Callable[[Table], bool]:
    """Whether a law is no worse than another at every epsilon from ``least`` on."""

    def holds(table: Table) -> bool:
        ours, theirs = (
            [m["both"] for p, m in table if p["law"] == name and p["epsilon"] >= least]
            for name in (law, other)
        )
        return all(a >= b - _SLACK for a, b in zip(ours, theirs, strict=True))

    return holds


def _alike(table: Table) -> bool:
    ours, theirs = (
        [m["both"] for p, m in table if p["law"] == law and p["epsilon"] < 5]
        for law in ("BRR", "CMP")
    )
    return all(abs(a - b) <= _SLACK for a, b in zip(ours, theirs, strict=True))


def _closes(table: Table) -> bool:
    """Whether TEM is farther above CMP somewhere than at the largest epsilon."""
    ours, theirs = (curve(table, "epsilon", "both", law=law) for law in ("TEM", "CMP"))
    gaps = [a - b for a, b in zip(ours, theirs, strict=True)]
    return gaps[-1] < max(gaps)


RECIPE: Final = Recipe(
    name="across-accuracy",
    paper="Silva Carvalho et al. 2021 and 2023, Feyisetan et al. 2020",
    title="Accuracy of a classifier of film reviews by epsilon",
    differs=(
        "12,000 of the 50,000 reviews; a bag of words and pairs of words like "
        "fastText's, with 16 dimensions and early stopping, for fastText and the "
        "BiLSTM; the embedded GloVe 840B. Quick: 1,000 reviews, their last 40 words. "
        "One nominal epsilon is not one protection: each metric has its own unit."
    ),
    measure=measure,
    points={
        "quick": laws_by_epsilon(
            _LAWS, (1, 5, 22), texts=1000, valid=200, test=500, words=40
        ),
        "full": laws_by_epsilon(
            _LAWS,
            (1, 3, 5, 8, 12, 17, 22, 35, 52),
            texts=8000,
            valid=2000,
            test=2000,
            words=200,
        ),
    },
    seeds={"quick": 2, "full": 5},
    data=("imdb",),
    shapes=(
        Shape("CMP, figure 5", "accuracy rises with epsilon", _rise("both")),
        Shape(
            "CMP, figure 5",
            "accuracy rises with epsilon where only tests are perturbed",
            _rise("test_time"),
        ),
        Shape(
            "TEM, figure 2", "TEM is never below CMP", _above("TEM", "CMP", least=0.0)
        ),
        Shape("TEM, figure 2", "the gap to CMP closes at large epsilon", _closes),
        Shape("BRR, figure 3", "BRR is like CMP below epsilon 5", _alike),
        Shape(
            "BRR, figure 3",
            "BRR is no worse from epsilon 5 on",
            _above("BRR", "CMP", least=5.0),
        ),
    ),
    axes=("epsilon", "law", "both"),
    needs=("torch",),
)
