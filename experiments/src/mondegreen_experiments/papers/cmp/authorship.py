"""CMP: the author of a sentence, told from releases, by epsilon."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from mondegreen.attacks.learnt.authorship import guess_authors
from mondegreen_experiments.bench import Bench, Labelled
from mondegreen_experiments.recipe import (
    Measured,
    Point,
    Recipe,
    Shape,
    Table,
    climb,
    curve,
)
from mondegreen_experiments.releases import (
    laws_by_epsilon,
    release_at,
    released,
)

_SLACK: Final = 0.05
"""Twice the standard error of a difference of two shares of 3 times 300 sentences."""


def measure(bench: Bench, point: Point, seed: int) -> Measured:
    """Shares of sentences whose author is named.

    ``naive`` adversaries learn from clear texts and are asked about releases;
    ``adaptive`` ones learn from releases; ``train_time`` learns from releases and is
    asked about clear texts, which is a use and not an attack.
    """
    space, rng = bench.space("glove-300"), np.random.default_rng(seed)
    state, size = release_at(point, space), space.vocab_size + 1
    known, asked = (
        _drawn(bench, split, int(point[size]), seed)
        for split, size in (("train", "texts"), ("test", "test"))
    )
    noisy_known, noisy_asked = (released(each, state, rng) for each in (known, asked))

    def share(learned: Labelled, told: Labelled) -> float:
        named = guess_authors(learned.words, known.labels, told.words, size)
        return float((named == asked.labels).mean())

    return {
        "naive": share(known, noisy_asked),
        "adaptive": share(noisy_known, noisy_asked),
        "train_time": share(noisy_known, asked),
        "chance": float(np.bincount(asked.labels).max()) / len(asked),
        "unchanged": float((noisy_asked.flat == asked.flat).mean()),
    }


def _drawn(bench: Bench, split: str, count: int, seed: int) -> Labelled:
    """Sentences of a split, others for each seed."""
    texts = bench.labelled("spooky_authors", split, "glove-300", max(2000, count))
    return texts.drawn(count, np.random.default_rng([seed, 0]))


def _rise(name: str) -> Callable[[Table], float]:
    """Whether the curve of CMP rises, whose paper says so."""
    return lambda table: climb(curve(table, "epsilon", name, law="CMP"), _SLACK)


def _adapting_pays(table: Table) -> float:
    return min(m["adaptive"] - m["naive"] + _SLACK for _, m in table)


_HOW: Final = "the share rises overall, and no step falls by more than 0.05"
_STORIES: Final = (
    "three authors of stories stand in for ten of e-mails, a linear model for a BiLSTM"
)

_GRID: Final = (6, 12, 17, 23, 29, 35, 41, 47, 52)

RECIPE: Final = Recipe(
    name="cmp-authorship",
    paper="Feyisetan et al. 2020",
    title="The author of a sentence, by epsilon",
    differs=(
        "Sentences of three authors of stories (Lovecraft, Poe, Shelley) for e-mails "
        "of ten authors at Enron; TF-IDF and logistic regression for the BiLSTM; the "
        "embedded GloVe 840B. Quick: 700 sentences to learn from and 300 asked, "
        "others for each seed."
    ),
    measure=measure,
    points={
        "quick": laws_by_epsilon(("CMP",), (6, 12, 17, 29), texts=700, test=300),
        "full": laws_by_epsilon(
            ("CMP", "TEM", "Vickrey", "Mahalanobis", "BRR", "calibrated", "tree"),
            _GRID,
            texts=15000,
            test=2000,
        ),
    },
    seeds={"quick": 3, "full": 5},
    data=("spooky_authors",),
    shapes=(
        Shape(
            "Text",
            "authorship is attributed better at larger epsilon where only tests are "
            "perturbed",
            _rise("naive"),
            how=_HOW,
            note=_STORIES,
            name="tests-perturbed",
        ),
        Shape(
            "Text",
            "authorship is attributed better at larger epsilon where only training "
            "texts are perturbed",
            _rise("train_time"),
            how=_HOW,
            note=_STORIES,
            name="training-perturbed",
        ),
        Shape(
            "Ours",
            "an attacker who learns from releases names no fewer authors",
            _adapting_pays,
            how="at no epsilon fewer by more than 0.05",
        ),
    ),
    axes=("epsilon", "law", "adaptive"),
    spaces=lambda point: ["glove-300"],
    shares=("naive", "adaptive", "train_time", "chance", "unchanged"),
    needs=("sklearn",),
    version=2,
)
