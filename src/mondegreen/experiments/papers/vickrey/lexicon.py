"""Vickrey, product reviews: inference error and loss among words of opinion."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from mondegreen.arrays import Floats, Ids
from mondegreen.experiments.bench import Bench
from mondegreen.experiments.recipe import (
    Measured,
    Point,
    Published,
    Recipe,
    Shape,
    Table,
    curve,
    rises,
)
from mondegreen.experiments.releases import repeated
from mondegreen.files import read_lines
from mondegreen.mechanisms import mechanism
from mondegreen.space.space import Space

_LAWS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "laplace": ("laplace", {}),
    "mahalanobis": ("mahalanobis", {"lambda_": 0.2}),
    **{f"vickrey t={t:g}": ("vickrey", {"t": t}) for t in (0.25, 0.5, 0.75, 1.0)},
    "vickrey t=0.5 on mahalanobis": ("vickrey", {"t": 0.5, "lambda_": 0.2}),
    "3 neighbours": ("vickrey", {"t": (1.0, 1.0, 1.0)}),
    "5 neighbours": ("vickrey", {"t": (1.0,) * 5}),
    "as printed": ("vickrey_literal", {"t": 0.5}),
}


def opinions(bench: Bench, whole: Space) -> tuple[Space, Floats]:
    """A space of the words of the lexicon, and which of them are positive."""
    found: dict[str, float] = {}
    for sign, name in ((1.0, "positive"), (0.0, "negative")):
        for word in read_lines(bench.path(f"opinion_lexicon/{name}-words.txt")):
            if word and not word.startswith(";"):
                found[word] = sign
    place = {word: i for i, word in enumerate(whole.words)}
    known = [word for word in found if word in place]
    vectors = whole.vectors[[place[word] for word in known]]
    signs = np.array([found[word] for word in known])
    return Space.from_arrays("opinions", known, vectors), signs


def measure(bench: Bench, point: Point, seed: int) -> Measured:
    """E_M by the posterior of one half of the runs on the other; L_M, flips of opinion.

    All words are equally likely. ``e_bayes`` is the error of the adversary who names
    the likeliest word instead of drawing from the posterior, as the paper's does: at
    most half of E_M below it, and the one to fear.
    """
    space, signs = opinions(bench, bench.space(f"glove-{point['dim']}"))
    name, parameters = _LAWS[str(point["law"])]
    law = mechanism(name, epsilon=float(point["epsilon"]), **parameters)
    rng, size, runs = np.random.default_rng(seed), space.vocab_size, int(point["runs"])
    words = np.arange(size, dtype=np.int32)
    outputs = repeated(law.prepare(space), words, runs, rng)
    first, second = outputs[:, : runs // 2], outputs[:, runs // 2 :]
    flips = signs[outputs] != signs[:, None]
    return {**_errors(first, second, size), "l_m": float(flips.mean())}


def _errors(learned: Ids, asked: Ids, size: int) -> Measured:
    """Errors on some runs of a posterior that was counted on others.

    An output that was never seen leaves the prior, that is a guess of any word.
    """
    from scipy import sparse

    words = np.repeat(np.arange(size), learned.shape[1])
    ones = np.ones(len(words))
    counts = sparse.csr_matrix((ones, (learned.ravel(), words)), shape=(size, size))
    totals = np.asarray(counts.sum(axis=1)).ravel()
    best = np.asarray(counts.argmax(axis=1)).ravel()
    truth = np.repeat(np.arange(size), asked.shape[1])
    seen = totals[asked.ravel()]
    own = np.asarray(counts[asked.ravel(), truth]).ravel()
    right = np.divide(own, seen, out=np.full(len(own), 1 / size), where=seen > 0)
    named = np.where(seen > 0, best[asked.ravel()] == truth, 1 / size)
    return {"e_m": 1 - float(right.mean()), "e_bayes": 1 - float(named.mean())}


def _falls(name: str) -> Callable[[Table], bool]:
    def holds(table: Table) -> bool:
        laws = {point["law"] for point, _ in table} - {"as printed"}
        curves = (curve(table, "epsilon", name, law=law) for law in laws)
        return all(rises(each[::-1], 0.01) for each in curves)

    return holds


def _ordered(table: Table) -> bool:
    """Whether a larger t never has the smaller error, up to t = 0.75."""
    errors = [
        curve(table, "epsilon", "e_m", law=f"vickrey t={t}")
        for t in ("0.25", "0.5", "0.75")
    ]
    return all(
        b >= a - 0.01
        for low, high in itertools.pairwise(errors)
        for a, b in zip(low, high, strict=True)
    )


def _second_alone(table: Table) -> bool:
    """Whether the best guess is no worse off at t = 1 than at t = 0.75."""
    least = (
        min(curve(table, "epsilon", "e_bayes", law=f"vickrey t={t}"))
        for t in ("1", "0.75")
    )
    return next(least) <= next(least)


def _grid(epsilons: tuple[int, ...], runs: int) -> list[Point]:
    return [
        {"law": law, "dim": 300, "epsilon": epsilon, "runs": runs}
        for law, epsilon in itertools.product(_LAWS, epsilons)
    ]


_LOSS: Final = {
    "vickrey t=0.25": 0.02,
    "mahalanobis": 0.02,
    "vickrey t=0.5": 0.04,
    "vickrey t=0.75": 0.06,
    "vickrey t=1": 0.10,
}

RECIPE: Final = Recipe(
    name="vickrey-lexicon",
    paper="Xu et al. 2021",
    title="Inference error and loss among the words of opinion",
    differs=(
        "Words of the opinion lexicon that the embedded GloVe 840B has, with its "
        "vectors; the paper has 300-d GloVe and all 6,789. The mechanism may return "
        "the word itself, as the theorem needs; 'as printed' may not. E_M is measured "
        "on other runs than those that the posterior was counted on. Quick: 20 runs a "
        "word for 100."
    ),
    measure=measure,
    points={
        "quick": _grid((5, 20, 100), 20),
        "full": _grid((5, 10, 15, 20, 30, 40, 60, 80, 100), 100),
    },
    seeds={"quick": 3, "full": 5},
    data=("opinion_lexicon",),
    published=[
        Published(
            "Product reviews, least loss at epsilon 100",
            {"law": law, "dim": 300, "epsilon": 100, "runs": runs},
            "l_m",
            loss,
            0.01,
        )
        for law, loss in _LOSS.items()
        for runs in (20, 100)
    ],
    shapes=(
        Shape("Figure 2", "E_M falls with epsilon", _falls("e_m")),
        Shape("Figure 2", "L_M falls with epsilon", _falls("l_m")),
        Shape("Figure 2", "a larger t has the larger E_M, up to 0.75", _ordered),
        Shape("Figure 2", "t = 1 protects no better than t = 0.75", _second_alone),
    ),
    axes=("epsilon", "law", "e_m"),
)
