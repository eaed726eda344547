"""TEM, theorem 2: the mass beyond the threshold, beside beta."""

from __future__ import annotations

import itertools
import math
from typing import Final

import numpy as np

from mondegreen.experiments.bench import Bench
from mondegreen.experiments.recipe import (
    Measured,
    Point,
    Published,
    Recipe,
    Shape,
    Table,
)
from mondegreen.mechanisms.base import space_distances
from mondegreen.mechanisms.selection.tem import Tem

_WORDS: Final = 100


def measure(bench: Bench, point: Point, seed: int) -> Measured:
    """Exact mass beyond the threshold of 100 random words, from the law itself.

    ``worst`` is the largest, and ``excess`` what it is above beta, as a share of beta,
    where it is; the theorem is tight where no other word is within the threshold,
    ``alone`` of the words. ``excess_bound`` is what is proved of the integer law.
    """
    space, rng = bench.space("glove-300"), np.random.default_rng(seed)
    size = space.vocab_size
    law = Tem(epsilon=float(point["epsilon"]), beta=float(point["beta"]))
    words = rng.choice(size, min(_WORDS, size), replace=False).astype(np.int32)
    threshold = law.threshold(size)
    every = np.arange(size, dtype=np.int32)
    far = space_distances(space, words, every) > threshold
    state, half = law.prepare(space), float(point["epsilon"]) / 2
    mass = (np.exp(state.log_prob(words)) * far).sum(axis=1)
    # docs/proofs/tem.md: the rate is lowered for the rounding to integers.
    bound = (half - state.law.rate) * threshold + state.law.kappa / 2
    return {
        "threshold": threshold,
        "threshold_times_epsilon": threshold * float(point["epsilon"]),
        "worst": float(mass.max()),
        "mean": float(mass.mean()),
        "alone": float(((~far).sum(axis=1) == 1).mean()),
        "excess": max(float(mass.max()) / law.beta - 1, 0.0),
        "excess_bound": math.expm1(bound),
    }


_LEAST: Final = 1e-5
"""Below about 4e-6 the threshold is lowered, so that every weight is an integer."""


def _bounded(table: Table) -> bool:
    some = [m for p, m in table if p["beta"] >= _LEAST]
    return bool(some) and all(m["excess"] <= m["excess_bound"] < 1e-3 for m in some)


def _grid(epsilons: tuple[int, ...], betas: tuple[float, ...]) -> list[Point]:
    return [
        {"beta": beta, "epsilon": epsilon}
        for beta, epsilon in itertools.product(betas, epsilons)
    ]


RECIPE: Final = Recipe(
    name="tem-threshold",
    paper="Silva Carvalho et al. 2023",
    title="The mass beyond the threshold, exactly",
    differs=(
        "The embedded GloVe 840B. The mass is that of the integer law that is sampled, "
        "in place of an estimate. Random words: those of each seed."
    ),
    measure=measure,
    points={
        "quick": _grid((1, 5, 22), (0.001, 0.1)),
        "full": _grid((1, 3, 5, 8, 12, 17, 22, 35), (1e-6, 0.001, 0.01, 0.1)),
    },
    seeds={"quick": 3, "full": 5},
    published=[
        Published(
            "Theorem 2, where no word is within the threshold",
            {"beta": beta, "epsilon": 22},
            "worst",
            beta,
            1e-3 * beta,
            "the rate of the integer law is lowered for its rounding",
        )
        for beta in (0.001, 0.1)
    ]
    + [
        Published(
            "Code of the comparative benchmark",
            {"beta": 0.001, "epsilon": epsilon},
            "threshold",
            value,
            0.05,
            "34,573 words for 33,860",
        )
        for epsilon, value in ((1, 34.7), (5, 6.9))
    ],
    shapes=(
        Shape(
            "Theorem 2",
            "no word leaves more often than beta, but for less than a thousandth of "
            "beta by rounding to integers (where beta is 0.00001 or more)",
            _bounded,
        ),
    ),
    shares=("worst", "mean", "alone"),
    version=3,
    axes=("epsilon", "beta", "worst"),
)
