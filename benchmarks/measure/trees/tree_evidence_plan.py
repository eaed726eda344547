"""What tree_evidence.py measures: data sets, settings, and their order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

DATA: dict[str, tuple[str, int | None]] = {
    "disaster_tweets": ("disaster_tweets", None),
    "insuranceqa_questions": ("insuranceqa_questions", None),
    "ag_news": ("ag_news", None),
    "imdb": ("imdb", None),
    "ag_news, 4,000 texts": ("ag_news", 4000),
    "imdb, 3,000 texts": ("imdb", 3000),
}
"""Data sets; of the two large ones also a part, for laws that are sampled."""
LARGE = ("ag_news", "imdb")
PARTS = ("ag_news, 4,000 texts", "imdb, 3,000 texts")
WHOLE = tuple(data for data in DATA if data not in PARTS)

TREES = (
    (0.12, 10.0),
    (0.15, 10.0),
    (0.20, 10.0),
    (0.25, 12.0),
    (0.30, 12.0),
    (0.40, 12.0),
    (0.50, 12.0),
)
"""Attack under public frequencies, and nats for any two words."""
FORESTS = {"tree": 1.0, "tree, near": 0.5, "tree, other kind": 1.0}
"""The power of closeness that the chances are set for."""
OWN_KIND = ("tree", "tree, near")
PLAIN = "tree, plain"
"""One set of chances for all classes, for the heights of the tree: epsilon alone."""
EPSILONS = (6.0, 8.0, 10.0, 12.0, 14.0)
TARGETS = {
    "exponential": (0.1, 0.15, 0.2, 0.3, 0.4),
    "calibrated": (0.1, 0.2, 0.3, 0.4),
    "tem": (0.2, 0.4),
}
"""Attack under the frequencies of the texts. The law of ``tem`` is nearly that of
``exponential`` at one epsilon, so two settings of it are enough."""
GRIDS = {
    "exponential": (0.6, *np.arange(1.5, 3.01, 0.125).tolist()),
    "tem": (0.6, *np.arange(1.75, 3.01, 0.25).tolist()),
    "calibrated": (0.6, *np.arange(1.3, 2.01, 0.1).round(2).tolist()),
}
"""Closed laws; the first epsilon is for some 10 nats between any two words."""
SAMPLED = {
    "laplace": (8.0, 10.0, 12.0, 14.0),
    "vickrey": (10.0, 14.0, 20.0),
    "mahalanobis": (9.0, 12.0, 15.0),
    "brr": (0.35, 0.45, 0.55),
    "syntf": (24.0, 28.0, 32.0),
}
"""Mechanisms whose attack is learnt from draws."""
CHECKED = "exponential"
"""A closed law whose attack is learnt too, which says how much is missed."""
NOISE = ("laplace", "vickrey", "mahalanobis")
"""Those of them with a decoder that can be fast."""
CONTEXT_WORDS = 20_000
CONTEXT_TARGETS = (0.2, 0.4)
COMMON = 500
"""Most frequent words of public text, whose guesses say little of a text."""
PERPLEXITY_WORDS = 200_000
LAWS_AT_ONCE = 4

Point = tuple[str, str, str, float]


def is_tree(name: str) -> bool:
    """Whether rows of a name depend on the shipped tree."""
    return name in FORESTS or name == PLAIN


def nearest(known: dict[str, Any], data: str, name: str, target: float) -> float:
    """The setting of a mechanism whose attack is nearest to a target."""
    if is_tree(name):
        tried = EPSILONS if name == PLAIN else [target for target, _ in TREES]
        rows = {
            each: known["rows"][key_of(data, name, each)]["attack"] for each in tried
        }
    else:
        rows = {e: known["laws"][key_of(name, e)][data] for e in GRIDS[name]}
    return min(rows, key=lambda setting: abs(rows[setting] - target))


def plan(known: dict[str, Any]) -> Iterator[Point]:
    """Yield kind, data set, mechanism and setting of what there is to measure.

    Laws come before what is chosen by them, and what takes longest comes last.
    """
    for data in DATA:
        yield "rows", data, "clear", 0.0
        for name in OWN_KIND if data in PARTS else FORESTS:
            yield from (("rows", data, name, target) for target, _ in TREES)
        yield from (("rows", data, PLAIN, epsilon) for epsilon in EPSILONS)
    for name, grid in GRIDS.items():
        yield from (("laws", "", name, epsilon) for epsilon in grid)
    yield from _closed(known, "exponential")
    yield from _contexts(known, CONTEXT_TARGETS[0])
    *small, largest = (data for data in DATA if data not in LARGE)
    for data in small:
        yield from _sampled(data)
    yield from _closed(known, "calibrated")
    yield from _closed(known, "tem")
    yield from _sampled(largest)
    yield from _contexts(known, CONTEXT_TARGETS[1])


def _sampled(data: str) -> Iterator[Point]:
    """Yield the settings of laws that are sampled."""
    for name, grid in SAMPLED.items():
        yield from (("rows", data, name, epsilon) for epsilon in grid)


def _closed(known: dict[str, Any], name: str) -> Iterator[Point]:
    """Yield the settings of a closed law nearest to the targets."""
    for data in DATA if name == "exponential" else WHOLE:
        chosen = {nearest(known, data, name, target) for target in TARGETS[name]}
        settings = sorted({GRIDS[name][0], *chosen})
        yield from (("rows", data, name, epsilon) for epsilon in settings)


def _contexts(known: dict[str, Any], target: float) -> Iterator[Point]:
    """Yield what is attacked in context."""
    for name in (*OWN_KIND, PLAIN, *GRIDS):
        for data in WHOLE:
            yield "context", data, name, nearest(known, data, name, target)


def key_of(*parts: object) -> str:
    return "|".join(f"{p:g}" if isinstance(p, float) else str(p) for p in parts)
