"""CMP, utility: what a BiLSTM learns of film reviews that are perturbed, by epsilon."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from mondegreen.arrays import Floats
from mondegreen_experiments.bench import Bench, Labelled
from mondegreen_experiments.choices import chosen_classifier
from mondegreen_experiments.recipe import (
    Measured,
    Point,
    Recipe,
    Shape,
    Table,
    climb,
    curve,
)
from mondegreen_experiments.releases import laws_by_epsilon, release_at, released

Tell = Callable[[Labelled], Floats]

_SPACE: Final = "glove-300"
_SLACK: Final = 0.04
"""Twice the standard error of a difference of two accuracies on 1,000 texts."""


def measure(bench: Bench, point: Point, seed: int) -> Measured:
    """Accuracy where training, tests, or both are perturbed; one release of each text.

    ``train``: a model of perturbed texts, asked about clear ones; ``test``: the other
    way round; ``both``: asked about perturbed ones. ``chance`` is the larger class.
    """
    from mondegreen_experiments.models.classifiers import accuracy

    rng, sizes = np.random.default_rng(seed), _sizes(point)
    state = release_at(point, bench.space(_SPACE))
    clear = _texts(bench, sizes)
    noisy = {split: released(texts, state, rng) for split, texts in clear.items()}
    of_clear = _of_clear(bench, sizes, seed)
    of_noisy = of_clear if state is None else _fitted(bench, noisy, seed)
    test = clear["test"]
    return {
        "both": accuracy(of_noisy(noisy["test"]), test),
        "test": accuracy(of_clear(noisy["test"]), test),
        "train": accuracy(of_noisy(test), test),
        "chance": float(np.bincount(test.labels).max()) / len(test),
        "unchanged": float((noisy["test"].flat == test.flat).mean()),
    }


def _sizes(point: Point) -> tuple[int, ...]:
    return tuple(int(point[name]) for name in ("texts", "valid", "tests", "words"))


def _texts(bench: Bench, sizes: tuple[int, ...]) -> dict[str, Labelled]:
    """The ends of reviews, which tell most."""
    *counts, words = sizes
    return {
        split: bench.labelled("imdb", split, _SPACE, most).cut(words)
        for split, most in zip(("train", "valid", "test"), counts, strict=True)
    }


@functools.lru_cache(maxsize=8)
def _of_clear(bench: Bench, sizes: tuple[int, ...], seed: int) -> Tell:
    """The model of clear texts, which serves every epsilon."""
    return _fitted(bench, _texts(bench, sizes), seed)


def _fitted(bench: Bench, texts: Mapping[str, Labelled], seed: int) -> Tell:
    from mondegreen_experiments.models.classifiers import Recurrent, fitted
    from mondegreen_experiments.models.training import Training

    space, own = bench.space(_SPACE), (texts["train"], texts["valid"])
    chosen = chosen_classifier(bench.choices, space, *own, seed)
    if chosen is not None:
        return chosen
    vectors = space.points(np.arange(space.vocab_size + 1, dtype=np.int32))
    longest = max(map(len, texts["train"].words))
    training = Training(rate=3e-3, patience=2, longest=longest)

    def build(classes: int) -> Recurrent:
        return Recurrent(vectors, classes, hidden=32, both_ways=True, is_frozen=True)

    return fitted(build, *own, seed, training)


def _rise(name: str) -> Callable[[Table], float]:
    return lambda table: climb(curve(table, "epsilon", name, law="CMP"), _SLACK)


def _clear(table: Table) -> Measured:
    return next(measured for point, measured in table if point["law"] == "none")


def _little_lost(table: Table) -> float:
    """By how much training on releases costs less than 0.02 at the largest epsilon."""
    trained = curve(table, "epsilon", "train", law="CMP")
    return trained[-1] + 0.02 - _clear(table)["train"]


def _robust(table: Table) -> float:
    """Lead over chance where half of the words stay, above half of that of clear texts.

    Fails where no point has fewer, or more, than half of the words.
    """
    none, stays = _clear(table), curve(table, "epsilon", "unchanged", law="CMP")
    leads = (
        np.interp(0.5, stays, curve(table, "epsilon", name, law="CMP"))
        - none["chance"]
        - 0.5 * (none[name] - none["chance"])
        for name in ("train", "test")
    )
    return float(min(0.5 - stays[0], stays[-1] - 0.5, *leads))


def _matching_pays(table: Table) -> float:
    return min(m["both"] - m["test"] + _SLACK for _, m in table)


_HOW: Final = "it rises overall, and no step falls by more than 0.04"
_NEARLY_CLEAR: Final = "with our vectors nearly all words stay at epsilon 52"
_QUICK: Final = {"texts": 1200, "valid": 300, "tests": 1000, "words": 40}
_FULL: Final = {"texts": 8000, "valid": 2000, "tests": 2000, "words": 200}

RECIPE: Final = Recipe(
    name="cmp-utility",
    shares=(
        "both",
        "test",
        "train",
        "chance",
        "unchanged",
    ),
    paper="Feyisetan et al. 2020",
    title="What a BiLSTM learns of perturbed film reviews, by epsilon",
    differs=(
        "12,000 of the 50,000 reviews; the embedded GloVe 840B, whose vectors stay as"
        " they are, in 32 units each way; the paper shows figures, and no numbers. "
        "Seeds change noise and model, not texts. Quick: 1,200 reviews to learn from "
        "and 1,000 asked, their last 40 words, so that accuracy is far below that of "
        "whole reviews; 4 of the 9 values of epsilon, all of them where words still "
        "change."
    ),
    measure=measure,
    points={
        "quick": laws_by_epsilon(("CMP",), (6, 12, 17, 29), **_QUICK),
        "full": laws_by_epsilon(("CMP",), (6, 12, 17, 23, 29, 35, 41, 47, 52), **_FULL),
    },
    seeds={"quick": 3, "full": 5},
    data=("imdb",),
    shapes=(
        Shape(
            "Text",
            "accuracy rises with epsilon where only training texts are perturbed",
            _rise("train"),
            how=_HOW,
            name="training-perturbed",
        ),
        Shape(
            "Text",
            "accuracy rises with epsilon where only tests are perturbed",
            _rise("test"),
            how=_HOW,
            name="tests-perturbed",
        ),
        Shape(
            "Ours",
            "accuracy rises with epsilon where all texts are perturbed",
            _rise("both"),
            how=_HOW,
        ),
        Shape(
            "Abstract",
            "training a classifier of two classes on releases costs less than 0.02 of "
            "accuracy",
            _little_lost,
            how="at the largest epsilon: 52, as in the paper (quick scale: 29)",
            note=_NEARLY_CLEAR,
            name="two-classes",
        ),
        Shape(
            "Ours, after the text",
            "film reviews are robust: half of the lead over chance is left where half "
            "of the words have changed",
            _robust,
            how="the threshold is ours, on a line between two epsilons",
        ),
        Shape(
            "Ours",
            "a classifier that is asked about perturbed reviews does no worse to learn "
            "from such reviews",
            _matching_pays,
            how="at no epsilon worse by more than 0.04",
        ),
    ),
    axes=("epsilon", "law", "both"),
    spaces=lambda point: [_SPACE],
    needs=("torch",),
)
