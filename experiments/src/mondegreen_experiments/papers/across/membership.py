"""TEM and BRR: whether a review was among those that a classifier learned from."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from mondegreen.attacks.learnt.ranking import Ranking
from mondegreen_experiments.bench import Bench, Labelled
from mondegreen_experiments.cells import find_cells
from mondegreen_experiments.reasons import either, other_vectors, smaller_than
from mondegreen_experiments.recipe import (
    Measured,
    Point,
    Published,
    Recipe,
    Shape,
    Table,
)
from mondegreen_experiments.releases import (
    BY_RATIO,
    NO_NOISE,
    laws_by_epsilon,
    release_at,
    released,
)

if TYPE_CHECKING:
    from mondegreen_experiments.models.members import Adversary, Learner


def measure(bench: Bench, point: Point, seed: int) -> Measured:
    """Areas under the curve, and members found at few false alarms.

    ``shadow`` and ``ratio`` are the two attacks. ``naive`` adversaries train their
    models on clear texts and ask the target about clear texts; ``adaptive`` ones train
    theirs on releases by the same mechanism, and ask about clear texts, or about
    ``fresh`` releases of them. An area of 0.5 is chance; ``tpr_1`` is the share of
    members found at 1 false alarm in 100, ``tpr_0.1`` at 1 in 1,000, where there are as
    many others. ``gap``: by how much the target is right more often of members;
    ``unchanged``: words that stay.
    """
    learner, pool, apart = _drawn(bench, seed, *_sizes(point))
    rng = np.random.default_rng([seed, 2])
    state = release_at(point, bench.space("glove-300"))
    change = functools.partial(released, state=state, rng=rng)
    member = rng.permutation(np.arange(len(pool)) % 2 == 0)
    target = learner.model(change(pool.at(np.flatnonzero(member))), rng)
    forms = [pool, pool if state is None else change(pool)]
    (naive,) = own = _clear(bench, seed, *_sizes(point))
    if state is not None:
        own = learner.adversaries(forms, [apart, change(apart)], change, rng)
    found: dict[str, float] = {"chance": 0.5, "chance_tpr_1": 0.01}
    for who, form, adversary in (
        ("naive", pool, naive),
        ("adaptive", pool, own[0]),
        ("fresh", forms[1], own[-1]),
    ):
        for attack, scores in adversary.scores(target(form), form, seed).items():
            ranking = Ranking.of(scores[member], scores[~member], at=(0.001, 0.01))
            found[f"{attack}_{who}_auc"] = ranking.auc
            for share, (tpr, _, _) in ranking.found.items():
                found[f"{attack}_{who}_tpr_{100 * share:g}"] = tpr
    right = target(pool).argmax(axis=1) == pool.labels
    return {
        **found,
        "gap": float(right[member].mean() - right[~member].mean()),
        "unchanged": float((forms[1].flat == pool.flat).mean()),
    }


def _sizes(point: Point) -> tuple[int, ...]:
    return tuple(int(point.get(name, 0)) for name in _FULL)


def _drawn(
    bench: Bench, seed: int, texts: int, words: int, *sizes: int
) -> tuple[Learner, Labelled, Labelled]:
    """The learner, the reviews that may be members, and as many of the adversary."""
    from mondegreen_experiments.models.members import Learner

    rng, size = np.random.default_rng([seed, 0]), bench.space("glove-300").vocab_size
    pool, apart = (
        bench.labelled("imdb", split, "glove-300", max(2000, 2 * texts))
        .cut(words)
        .drawn(2 * texts, rng)
        for split in ("train", "test")
    )
    return Learner(size + 1, words, *sizes), pool, apart


@functools.lru_cache(maxsize=8)  # more than there are seeds: one serves all points
def _clear(bench: Bench, seed: int, *sizes: int) -> Sequence[Adversary]:
    """The adversary with shadow models on clear texts: no mechanism plays a part."""
    learner, pool, apart = _drawn(bench, seed, *sizes)
    rng = np.random.default_rng([seed, 1])
    return learner.adversaries([pool], [apart], lambda texts: texts, rng)


_LAWS: Final = ("CMP", "TEM", BY_RATIO)
_QUICK: Final = dict(texts=150, words=16, epochs=20, models=8, shadows=2)
_FULL: Final = dict(texts=2000, words=200, epochs=20, models=64, shadows=4, sparse=1)
_SLACK: Final = 0.04
"""Twice the standard error of an area of 0.5, of 3 times 300 reviews."""

_LEARNED_FROM: Final = 25_000
"""Reviews of the papers to learn from."""

_APART: Final = 0.055
"""The same for a difference of two areas."""


def _near_chance(most: float, *laws: str) -> Callable[[Table], float]:
    """How near the papers' attack is to chance under laws, up to an epsilon."""
    return lambda table: min(
        _SLACK - abs(m["shadow_naive_auc"] - 0.5)
        for p, m in table
        if p["law"] in laws and p["epsilon"] <= most
    )


def _rises_late(table: Table) -> float:
    early, late = (
        [
            m["shadow_naive_auc"]
            for p, m in table
            if p["law"] == BY_RATIO and (p["epsilon"] > _LATE) is is_late
        ]
        for is_late in (False, True)
    )
    return max(late) - sum(early) / len(early) - _APART


def _told(table: Table) -> float:
    clear = [m for p, m in table if p["law"] == NO_NOISE]
    areas = ("shadow_naive_auc", "ratio_naive_auc")
    return min(m[name] - 0.5 - _SLACK for m in clear for name in areas)


def _adapting_pays(table: Table) -> float:
    return min(
        max(m["ratio_adaptive_auc"], m["ratio_fresh_auc"])
        - m["ratio_naive_auc"]
        + _APART
        for _, m in table
    )


_FEW: Final = (
    "our target learned its few reviews by heart; BRR's learned from far more, and we "
    "do not know how many TEM's had"
)
_BY_HEART: Final = either(other_vectors, smaller_than(_LEARNED_FROM, "texts", _FEW))
_LATE: Final = 12
_FIGURE: Final = "BRR, figures on membership"
_AREAS: Final = find_cells("brr", "shadow_naive_auc")

RECIPE: Final = Recipe(
    name="across-membership",
    paper="Silva Carvalho et al. 2021 and 2023",
    title="Membership inference against a classifier that learned from releases",
    differs=(
        "BRR has one shadow model and fastText, by our notes. We do not know TEM's "
        "models and sizes. Here are two or more shadow models for the network of two "
        "layers of 64, more for the likelihood ratio, and "
        "a bag of words and pairs of words that is trained for 20 epochs. The areas of "
        "the BRR paper are one reading of a figure: about 0.5 below epsilon 12, which "
        "stands at each of our points there. TEM's poster shows a curve "
        "and prints no area. BRR has the "
        "epsilon that its paper's privacy ratio, by the mean, calls equal to that of "
        "CMP. The target knows its reviews by heart (gap), the worst case. Quick: 150 "
        "reviews a model, their last 16 words, 8 models for the ratio; too few for a "
        "false alarm in a thousand."
    ),
    measure=measure,
    points={
        "quick": laws_by_epsilon(_LAWS, (5, 11, 22), **_QUICK),
        "full": laws_by_epsilon(_LAWS, (1, 3, 5, 8, 11, 17, 22), **_FULL),
    },
    seeds={"quick": 3, "full": 5},
    data=("imdb",),
    published=[
        Published(
            _FIGURE,
            {**cell.at, **sizes},
            cell.measure,
            cell.value,
            0.05,
            _BY_HEART,
            source=cell.source,
        )
        for sizes in (_QUICK, _FULL)
        for cell in _AREAS
    ],
    shapes=(
        Shape(
            _FIGURE,
            "below epsilon 12 the attack is at chance under CMP and BRR",
            _near_chance(_LATE, "CMP", BY_RATIO),
            how="the area is within 0.04 of 0.5",
            printed=[(cell.at, {cell.measure: cell.value}) for cell in _AREAS],
            source="read off a figure",
            untold=_BY_HEART,
            name="chance-below-12",
        ),
        Shape(
            _FIGURE,
            "beyond epsilon 12 the attack on BRR succeeds more often than below",
            _rises_late,
            how="by more than 0.055",
            untold=_BY_HEART,
            name="brr-rises",
        ),
        Shape(
            "TEM, poster's curve of membership",
            "the attack is at chance under TEM at every epsilon",
            _near_chance(math.inf, "TEM"),
            how="the area is within 0.04 of 0.5",
            untold=_BY_HEART,
            name="tem-at-chance",
        ),
        Shape(
            "Ours",
            "without noise both attacks succeed",
            _told,
            how="both areas are above 0.54",
        ),
        Shape(
            "Ours, after looking",
            "an attacker who learns from releases finds no fewer members",
            _adapting_pays,
            how="the area is smaller by at most 0.055",
        ),
    ),
    axes=("unchanged", "law", "shadow_naive_auc"),
    spaces=lambda point: ["glove-300"],
    shares=(
        "unchanged",
        *(
            f"{attack}_{who}_{each}"
            for attack in ("shadow", "ratio")
            for who in ("naive", "adaptive", "fresh")
            for each in ("auc", "tpr_1", "tpr_0.1")
        ),
    ),
    needs=("torch", "sklearn"),
    version=2,
)
