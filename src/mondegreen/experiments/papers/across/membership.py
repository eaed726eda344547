"""TEM and BRR: whether a review was among those that a classifier learned from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from mondegreen.arrays import Floats
from mondegreen.attacks.learnt import membership
from mondegreen.attacks.learnt.ranking import Ranking
from mondegreen.experiments.bench import Bench, Labelled
from mondegreen.experiments.recipe import (
    Measured,
    Point,
    Published,
    Recipe,
    Shape,
    Table,
)
from mondegreen.experiments.releases import laws_by_epsilon, release_at, released
from mondegreen.mechanisms.base import State

Tell = Callable[[Labelled], Floats]


@dataclass(frozen=True)
class _Trained:
    """Models of one setting, each trained on a release of its own."""

    size: int
    epochs: int
    words: int
    rng: Generator

    def model(self, texts: Labelled, state: State | None) -> Tell:
        from mondegreen.experiments.models.classifiers import BagOfNgrams, fitted
        from mondegreen.experiments.models.training import Training

        def build(classes: int) -> BagOfNgrams:
            return BagOfNgrams(self.size, classes, dim=16, buckets=1 << 14)

        training = Training(self.epochs, rate=1e-2, longest=self.words)
        seed = int(self.rng.integers(1 << 31))
        return fitted(build, released(texts, state, self.rng), None, seed, training)


def measure(bench: Bench, point: Point, seed: int) -> Measured:
    """Areas under the curve, and members found at one false alarm in a hundred.

    ``shadow`` and ``ratio`` are the two attacks; ``naive`` adversaries train their
    models on clear texts, ``adaptive`` ones on releases by the same mechanism. All ask
    the target about the clear text. An area of 0.5 is chance.
    """
    space, rng = bench.space("glove-300"), np.random.default_rng(seed)
    words, count = int(point["words"]), int(point["texts"])
    pool = bench.labelled("imdb", "train", "glove-300", 2 * count).cut(words)
    apart = bench.labelled("imdb", "test", "glove-300", 2 * count).cut(words)
    state, models = release_at(point, space), int(point["models"])
    trained = _Trained(space.vocab_size + 1, int(point["epochs"]), words, rng)
    member = rng.permutation(np.arange(len(pool)) % 2 == 0)
    target = trained.model(pool.at(np.flatnonzero(member)), state)
    found: dict[str, float] = {"chance": 0.5, "chance_tpr": 0.01}
    for who, own in (("naive", None), ("adaptive", state)):
        scores = {
            "shadow": _by_shadows(trained, apart, own, target(pool), pool, seed),
            "ratio": _by_ratio(trained, pool, own, target, models),
        }
        for attack, each in scores.items():
            ranking = Ranking.of(each[member], each[~member], at=(0.01,))
            found |= _told(f"{attack}_{who}", ranking)
    return found


def _by_shadows(
    trained: _Trained,
    apart: Labelled,
    state: State | None,
    told: Floats,
    asked: Labelled,
    seed: int,
    models: int = 4,
) -> Floats:
    members, others = [], []
    for _ in range(models):
        order = trained.rng.permutation(len(apart))
        mine, rest = (apart.at(each) for each in np.array_split(order, 2))
        model = trained.model(mine, state)
        members.append(membership.features(model(mine), mine.labels))
        others.append(membership.features(model(rest), rest.labels))
    target = membership.features(told, asked.labels)
    return membership.by_shadow_models(members, others, target, seed)


def _by_ratio(
    trained: _Trained, pool: Labelled, state: State | None, target: Tell, models: int
) -> Floats:
    chosen = membership.halves(len(pool), models, trained.rng)

    def confidence(model: Tell) -> Floats:
        return membership.confidence(model(pool), pool.labels)

    def shadow(rows: NDArray[np.bool_]) -> Floats:
        return confidence(trained.model(pool.at(np.flatnonzero(rows)), state))

    known = np.stack([shadow(rows) for rows in chosen])
    return membership.by_likelihood_ratio(known, chosen, confidence(target))


def _told(name: str, ranking: Ranking) -> dict[str, float]:
    told = {
        f"{name}_auc": ranking.auc,
        f"{name}_auc_low": ranking.low,
        f"{name}_auc_high": ranking.high,
    }
    for share, low, high in ranking.found.values():
        told |= {f"{name}_tpr": share, f"{name}_tpr_low": low, f"{name}_tpr_high": high}
    return told


def _without_noise(table: Table) -> bool:
    return all(
        m["ratio_adaptive_auc_low"] > 0.5 for p, m in table if p["law"] == "none"
    )


def _lost(table: Table) -> bool:
    """Whether no interval is beyond chance by more than three laws give by chance."""
    lows = [m["ratio_adaptive_auc_low"] for p, m in table if p["epsilon"] == 1]
    return max(lows, default=0.0) <= 0.52


_LAWS: Final = ("CMP", "TEM", "BRR")
_QUICK: Final = {"texts": 300, "words": 30, "models": 16, "epochs": 20}
_FULL: Final = {"texts": 2000, "words": 200, "models": 64, "epochs": 20}

RECIPE: Final = Recipe(
    name="across-membership",
    paper="Silva Carvalho et al. 2021 and 2023",
    title="Membership inference against a classifier that learned from releases",
    differs=(
        "The papers have one shadow model, 25,000 reviews and fastText; here four for "
        "the network of two layers of 64, sixteen for the likelihood ratio (full: 64), "
        "and a bag of words and pairs of words that is trained for 20 epochs. Quick: "
        "300 reviews a model, their last 30 words."
    ),
    measure=measure,
    points={
        "quick": laws_by_epsilon(_LAWS, (1, 5, 22), **_QUICK),
        "full": laws_by_epsilon(_LAWS, (1, 3, 5, 8, 12, 17, 22), **_FULL),
    },
    seeds={"quick": 1, "full": 5},
    data=("imdb",),
    published=[
        Published(
            "BRR, figure 4",
            {"law": law, "epsilon": 5, **sizes},
            "shadow_naive_auc",
            0.5,
            0.05,
            "read off a figure; one run of 600 texts has an interval of 0.045",
        )
        for sizes in (_QUICK, _FULL)
        for law in ("CMP", "BRR")
    ],
    shapes=(
        Shape("Ours", "without noise members are told", _without_noise),
        Shape("Ours", "at epsilon 1 nothing is told", _lost),
    ),
    axes=("epsilon", "law", "ratio_adaptive_auc"),
    needs=("torch", "sklearn"),
)
