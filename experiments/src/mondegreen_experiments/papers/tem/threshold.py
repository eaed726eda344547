"""TEM, theorem 2: the mass beyond the threshold, beside beta."""

from __future__ import annotations

import itertools
import math
from typing import Final

import numpy as np

from mondegreen.mechanisms.base import space_distances
from mondegreen.mechanisms.selection.tem import Tem
from mondegreen_experiments.bench import Bench
from mondegreen_experiments.recipe import (
    Measured,
    Point,
    Recipe,
    Shape,
    Table,
)

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


_ROUNDED: Final = 1e-3
"""Of beta: what rounding to integers may add."""


def _bounded(table: Table) -> float:
    """By how much less than a thousandth of beta is added, of the law in integers."""
    return min(_ROUNDED - m["excess"] for p, m in table if p["beta"] >= _LEAST)


def _rounds_little(table: Table) -> float:
    some = [m for p, m in table if p["beta"] >= _LEAST]
    return min(
        min(m["excess_bound"] - m["excess"], _ROUNDED - m["excess_bound"]) for m in some
    )


def _tight(table: Table) -> bool:
    alone = [(p, m) for p, m in table if m["alone"] > 0.3 and p["beta"] >= _LEAST]
    return bool(alone) and all(
        abs(m["worst"] / p["beta"] - 1) <= 1e-3 for p, m in alone
    )


def _one_product(table: Table) -> bool:
    found: dict[float, list[float]] = {}
    for point, measured in table:
        products = found.setdefault(float(point["beta"]), [])
        products.append(measured["threshold_times_epsilon"])
    return all(max(each) - min(each) <= 1e-9 * max(each) for each in found.values())


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
        "not an estimate. Random words: those of each seed."
    ),
    measure=measure,
    points={
        "quick": _grid((1, 5, 22), (0.001, 0.1)),
        "full": _grid((1, 3, 5, 8, 12, 17, 22, 35), (1e-6, 0.001, 0.01, 0.1)),
    },
    seeds={"quick": 3, "full": 5},
    shapes=(
        Shape(
            "Poster, theorem",
            "a word from beyond the threshold is released with probability beta at "
            "most",
            _bounded,
            how="a thousandth of beta more is allowed, for our law in integers",
            apart="a theorem, which is proved",
            name="beyond-threshold",
        ),
        Shape(
            "Ours, of the theorem",
            "rounding to integers adds less than is proved of it, and less than a "
            "thousandth of beta (beta of 0.00001 or more)",
            _rounds_little,
        ),
        Shape(
            "Ours, of the theorem",
            "it is tight: where no other word is within the threshold a word leaves as "
            "often as beta says, within a thousandth of it",
            _tight,
        ),
        Shape(
            "Ours, of the theorem",
            "threshold times epsilon is one number for a beta: within it, TEM loses as "
            "much at every epsilon",
            _one_product,
        ),
    ),
    shares=("worst", "mean", "alone"),
    version=3,
    axes=("epsilon", "beta", "worst"),
    spaces=lambda point: ["glove-300"],
)
