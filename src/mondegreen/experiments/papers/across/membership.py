"""TEM and BRR: whether a review was among those that a classifier learned from."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

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
from mondegreen.experiments.releases import (
    BY_RATIO,
    NO_NOISE,
    laws_by_epsilon,
    release_at,
    released,
)

if TYPE_CHECKING:
    from mondegreen.experiments.models.members import Learner

_SIZES: Final = ("texts", "words", "epochs", "models", "shadows")


def measure(bench: Bench, point: Point, seed: int) -> Measured:
    """Areas under the curve, and members found at few false alarms.

    ``shadow`` and ``ratio`` are the two attacks. ``naive`` adversaries train their
    models on clear texts and ask the target about clear texts; ``adaptive`` ones train
    theirs on releases by the same mechanism, and ask about clear texts, or about
    ``fresh`` releases of them. An area of 0.5 is chance; ``tpr_1`` is the share of
    members found at 1 false alarm in 100, ``tpr_0.1`` at 1 in 1,000, where there are as
    many others. ``gap``: by how much the
    target is right more often of members; ``unchanged``: words that stay.
    """
    sizes = tuple(int(point[name]) for name in _SIZES)
    learner, pool, apart = _drawn(bench, seed, *sizes)
    rng = np.random.default_rng([seed, 2])
    state = release_at(point, bench.space("glove-300"))
    change = functools.partial(released, state=state, rng=rng)
    member = rng.permutation(np.arange(len(pool)) % 2 == 0)
    target = learner.model(change(pool.at(np.flatnonzero(member))), rng)
    naive = (pool, *_clear(bench, seed, *sizes))
    known = dict.fromkeys(("naive", "adaptive", "fresh"), naive)
    if state is not None:
        forms, others = [pool, change(pool)], [apart, change(apart)]
        shadows = learner.shadows(apart, others, int(point["shadows"]), change, rng)
        ratios = learner.ratios(pool, forms, int(point["models"]), change, rng)
        learned = zip(forms, shadows, ratios, strict=True)
        known |= zip(("adaptive", "fresh"), learned, strict=True)
    found: dict[str, float] = {"chance": 0.5, "chance_tpr_1": 0.01}
    for who, (form, of_shadows, of_ratios) in known.items():
        told = target(form)
        features = membership.features(told, form.labels)
        confidence = membership.confidence(told, form.labels)
        for attack, scores in (
            ("shadow", membership.by_shadow_models(*of_shadows, features, seed)),
            ("ratio", membership.by_likelihood_ratio(*of_ratios, confidence)),
        ):
            ranking = Ranking.of(scores[member], scores[~member], at=(0.001, 0.01))
            found[f"{attack}_{who}_auc"] = ranking.auc
            for share, (tpr, _, _) in ranking.found.items():
                found[f"{attack}_{who}_tpr_{100 * share:g}"] = tpr
    right = target(pool).argmax(axis=1) == pool.labels
    return {
        **found,
        "gap": float(right[member].mean() - right[~member].mean()),
        "unchanged": float((known["fresh"][0].flat == pool.flat).mean()),
    }


def _drawn(
    bench: Bench, seed: int, texts: int, words: int, epochs: int, *_: int
) -> tuple[Learner, Labelled, Labelled]:
    """The learner, the reviews that may be members, and as many of the adversary."""
    from mondegreen.experiments.models.members import Learner

    rng = np.random.default_rng([seed, 0])
    pool, apart = (
        bench.labelled("imdb", split, "glove-300", max(2000, 2 * texts)).cut(words)
        for split in ("train", "test")
    )
    rows = [rng.permutation(len(each))[: 2 * texts] for each in (pool, apart)]
    size = bench.space("glove-300").vocab_size + 1
    return Learner(size, epochs, words), pool.at(rows[0]), apart.at(rows[1])


@functools.lru_cache(maxsize=8)  # more than there are seeds: one serves all points
def _clear(bench: Bench, seed: int, *sizes: int) -> Any:
    """What shadow models on clear texts tell: no mechanism plays a part."""
    learner, pool, apart = _drawn(bench, seed, *sizes)
    *_, models, shadows = sizes
    rng = np.random.default_rng([seed, 1])
    (first,) = learner.shadows(apart, [apart], shadows, _as_it_is, rng)
    (second,) = learner.ratios(pool, [pool], models, _as_it_is, rng)
    return first, second


def _as_it_is(texts: Labelled) -> Labelled:
    return texts


_LAWS: Final = ("CMP", "TEM", BY_RATIO)
_QUICK: Final = dict(texts=150, words=16, epochs=20, models=8, shadows=2)
_FULL: Final = dict(texts=2000, words=200, epochs=20, models=64, shadows=4)
_SLACK: Final = 0.04
"""Twice the standard error of an area of 0.5, of 3 times 300 reviews."""


def _near_chance(least: float, most: float, *laws: str) -> Callable[[Table], bool]:
    """Whether the paper's attack is at chance under laws, in a range of epsilon."""
    return lambda table: all(
        abs(m["shadow_naive_auc"] - 0.5) <= _SLACK
        for p, m in table
        if p["law"] in laws and least <= p["epsilon"] <= most
    )


def _rises_late(table: Table) -> bool:
    early, late = (
        [
            m["shadow_naive_auc"]
            for p, m in table
            if p["law"] == BY_RATIO and (p["epsilon"] > _LATE) is is_late
        ]
        for is_late in (False, True)
    )
    return max(late) > max(early) + _SLACK


def _told(table: Table) -> bool:
    clear = [m for p, m in table if p["law"] == NO_NOISE]
    areas = ("shadow_naive_auc", "ratio_naive_auc")
    return all(m[name] > 0.5 + _SLACK for m in clear for name in areas)


def _adapting_pays(table: Table) -> bool:
    return all(
        max(m["ratio_adaptive_auc"], m["ratio_fresh_auc"])
        >= m["ratio_naive_auc"] - _SLACK
        for _, m in table
    )


_LATE: Final = 12
_BECAUSE: Final = (
    "here the target knows its few reviews by heart, so they are told as soon as words "
    "stay (unchanged); the papers' has 25,000"
)

RECIPE: Final = Recipe(
    name="across-membership",
    paper="Silva Carvalho et al. 2021 and 2023",
    title="Membership inference against a classifier that learned from releases",
    differs=(
        "The papers have one shadow model, 25,000 reviews and fastText; here two or "
        "more for the network of two layers of 64, more for the likelihood ratio, and "
        "a bag of words and pairs of words that is trained for 20 epochs. BRR has the "
        "epsilon that its paper's privacy ratio, by the mean, calls equal to that of "
        "CMP. Quick: 150 reviews a model, their last 16 words, 8 models for the ratio; "
        "too few for a false alarm in a thousand."
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
            where,
            {"law": law, "epsilon": epsilon, **sizes},
            "shadow_naive_auc",
            0.5,
            0.05,
            f"read off a figure; {_BECAUSE}",
        )
        for sizes in (_QUICK, _FULL)
        for where, law, epsilons in (
            ("BRR, figure 4", "CMP", (5, 11)),
            ("BRR, figure 4", BY_RATIO, (5, 11)),
            ("TEM, text", "TEM", (5, 11, 22)),
        )
        for epsilon in epsilons
    ],
    shapes=(
        Shape(
            "BRR, figure 4",
            "below epsilon 12 no members are told under CMP and BRR",
            _near_chance(0, _LATE, "CMP", BY_RATIO),
        ),
        Shape("BRR, figure 4", "beyond it more are told under BRR", _rises_late),
        Shape(
            "TEM, text",
            "no members are told under TEM at any epsilon",
            _near_chance(0, math.inf, "TEM"),
        ),
        Shape("Ours", "without noise members are told by both attacks", _told),
        Shape("Ours", "who learns from releases tells no fewer", _adapting_pays),
    ),
    axes=("epsilon", "law", "ratio_adaptive_auc"),
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
