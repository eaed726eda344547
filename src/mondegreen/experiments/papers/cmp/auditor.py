"""CMP, tables 3 and 4: whether a user's texts were used, told from ranks of words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from mondegreen.arrays import Floats, Ids
from mondegreen.attacks.learnt.auditor import by_ranks
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

Ranks = Callable[[Sequence[Ids]], list[Ids]]
Learn = Callable[[Labelled, State | None], Ranks]
_KNOWN: Final = 5000


def measure(bench: Bench, point: Point, seed: int) -> Measured:
    """Precision, recall, accuracy and area of the auditor of Song and Shmatikov.

    A user is one review. The target learned from releases, and is asked about clear
    texts. ``naive`` auditors, as the paper's, train shadow models on clear texts;
    ``adaptive`` ones on releases by the same mechanism. Chance is 0.5 for both.
    """
    from mondegreen.experiments.models.next_word import next_word_ranks
    from mondegreen.experiments.models.training import Training

    space, rng = bench.space("glove-300"), np.random.default_rng(seed)
    count, words = int(point["users"]), int(point["words"])
    state, known = release_at(point, space), min(_KNOWN, space.vocab_size)
    place = _frequent(bench, space.vocab_size, known)
    training = Training(int(point["epochs"]), batch=16, rate=1e-2, longest=words)
    target, apart = (
        bench.labelled("imdb", split, "glove-300", 2 * count).cut(words)
        for split in ("train", "test")
    )

    def learn(texts: Labelled, own: State | None) -> Ranks:
        seen = [place[each] for each in released(texts, own, rng).words]
        told = next_word_ranks(seen, known + 1, int(rng.integers(1 << 31)), training)
        return lambda asked: [
            ranks[place[each][1:] < known]
            for ranks, each in zip(told([place[t] for t in asked]), asked, strict=True)
        ]

    member = rng.permutation(np.arange(len(target)) % 2 == 0)
    asked = learn(target.at(np.flatnonzero(member)), state)(target.words)
    found: dict[str, float] = {"chance": 0.5}
    for who, own in (("naive", None), ("adaptive", state)):
        shadows = _shadows(learn, apart, own, int(point["shadows"]), rng)
        scores, decided = by_ranks(*shadows, asked, seed)
        found |= {f"{who}_{k}": v for k, v in _told(scores, decided, member).items()}
    return found


def _frequent(bench: Bench, size: int, known: int) -> Ids:
    """The place of each word among the most frequent ones; ``known`` for the others."""
    texts = bench.labelled("imdb", "valid", "glove-300", 2000)
    counts = np.bincount(texts.flat, minlength=size + 1)[:size]
    place = np.full(size + 1, known, dtype=np.int32)
    most = np.argsort(-counts, kind="stable")[:known]
    place[most] = np.arange(known)
    return place


def _shadows(
    learn: Learn,
    apart: Labelled,
    state: State | None,
    models: int,
    rng: np.random.Generator,
) -> tuple[list[Ids], list[Ids]]:
    """Ranks of users of shadow models, and of others."""
    members: list[Ids] = []
    others: list[Ids] = []
    for _ in range(models):
        mine, rest = (
            apart.at(each) for each in np.array_split(rng.permutation(len(apart)), 2)
        )
        ranks = learn(mine, state)
        members += ranks(mine.words)
        others += ranks(rest.words)
    return members, others


def _told(scores: Floats, decided: Floats, member: np.ndarray) -> dict[str, float]:
    right = float(decided[member].sum())
    ranking = Ranking.of(scores[member], scores[~member])
    return {
        "precision": right / max(float(decided.sum()), 1.0),  # 0 if it never says so
        "recall": right / float(member.sum()),
        "accuracy": float((decided == member).mean()),
        "auc": ranking.auc,
        "auc_low": ranking.low,
        "auc_high": ranking.high,
    }


_GRID: Final = (6, 12, 17, 23, 29, 35, 41, 47, 52)
_TABLE: Final = {
    "precision": (0, 0, 0, 0, 0.67, 0.90, 0.93, 1, 1),
    "recall": (0, 0, 0, 0, 0.02, 0.09, 0.14, 0.30, 0.50),
    "accuracy": (0.50, 0.50, 0.50, 0.50, 0.51, 0.55, 0.57, 0.65, 0.75),
    "auc": (0.06, 0.04, 0.11, 0.36, 0.61, 0.85, 0.88, 0.93, 0.98),
}
_QUICK: Final = {"users": 100, "words": 40, "shadows": 3, "epochs": 30}
_FULL: Final = {"users": 300, "words": 200, "shadows": 10, "epochs": 40}
_BECAUSE: Final = "reviews for search histories, other vectors, few users"


def _never_below_chance(table: Table) -> bool:
    return all(m["adaptive_auc_high"] >= 0.5 for _, m in table)


def _told_without_noise(table: Table) -> bool:
    return all(m["naive_auc"] >= 0.95 for p, m in table if p["law"] == "none")


RECIPE: Final = Recipe(
    name="cmp-auditor",
    paper="Feyisetan et al. 2020",
    title="The auditor: whether a user's texts were used for a model",
    differs=(
        "The paper has search histories of AOL, which were withdrawn; here a review is "
        "a user. A small LSTM that tells the next of 5,000 words; ranks of other words "
        "are left out. Quick: 100 users a model, the last 40 words of each."
    ),
    measure=measure,
    points={
        "quick": laws_by_epsilon(("CMP",), (12, 23, 52), **_QUICK),
        "full": laws_by_epsilon(("CMP",), _GRID, **_FULL),
    },
    seeds={"quick": 1, "full": 5},
    data=("imdb",),
    published=[
        Published("Table 4", {**start, **sizes}, f"naive_{name}", value, 0.1, _BECAUSE)
        for sizes, epsilons in ((_QUICK, (12, 23, 52)), (_FULL, _GRID))
        for name, values in _TABLE.items()
        for start, value in [
            ({"law": "none", "epsilon": 0}, 1.0),
            *(
                ({"law": "CMP", "epsilon": epsilon}, float(each))
                for epsilon, each in zip(_GRID, values, strict=True)
                if epsilon in epsilons
            ),
        ]
    ],
    shapes=(
        Shape("Table 3", "without noise users are told", _told_without_noise),
        Shape(
            "Ours",
            "the area is not below chance for an auditor who adapts",
            _never_below_chance,
        ),
    ),
    axes=("epsilon", "law", "naive_auc"),
    needs=("torch", "sklearn"),
)
