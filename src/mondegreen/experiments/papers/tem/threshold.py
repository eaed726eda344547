"""TEM, theorem 2: the mass beyond the threshold is at most beta."""

from __future__ import annotations

import itertools
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

_WORDS: Final = 150


def measure(bench: Bench, point: Point, seed: int) -> Measured:
    """Exact mass beyond the threshold of 150 random words, from the law itself.

    ``worst`` is the largest; the theorem is tight where no other word is within the
    threshold, ``alone`` of the words.
    """
    space, rng = bench.space("glove-300"), np.random.default_rng(seed)
    size = space.vocab_size
    law = Tem(epsilon=float(point["epsilon"]), beta=float(point["beta"]))
    words = rng.choice(size, min(_WORDS, size), replace=False).astype(np.int32)
    threshold = law.threshold(size)
    every = np.arange(size, dtype=np.int32)
    far = space_distances(space, words, every) > threshold
    mass = (np.exp(law.prepare(space).log_prob(words)) * far).sum(axis=1)
    return {
        "threshold": threshold,
        "threshold_times_epsilon": threshold * float(point["epsilon"]),
        "worst": float(mass.max()),
        "mean": float(mass.mean()),
        "alone": float(((~far).sum(axis=1) == 1).mean()),
        "worst_of_beta": float(mass.max()) / float(point["beta"]),
    }


# The rate is lowered by what rounding to integers may add to the loss: 2e-4 nats.
_ROUNDING: Final = 2e-4


def _bounded(table: Table) -> bool:
    return all(m["worst_of_beta"] <= 1 + _ROUNDING for _, m in table)


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
    seeds={"quick": 2, "full": 5},
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
    ],
    shapes=(Shape("Theorem 2", "no word leaves more often than beta", _bounded),),
    axes=("epsilon", "beta", "worst"),
)
