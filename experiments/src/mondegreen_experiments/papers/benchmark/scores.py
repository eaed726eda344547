"""The comparative benchmark, tables 3 and 5 to 11: a classifier, and all scores."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Final

from mondegreen_experiments.cells import find_cells
from mondegreen_experiments.measures.as_run import GUMBEL
from mondegreen_experiments.papers.benchmark.counts import RELEASED
from mondegreen_experiments.papers.benchmark.release import measure
from mondegreen_experiments.reasons import (
    either,
    other_vectors,
    projected,
    smaller_than,
)
from mondegreen_experiments.recipe import (
    Measured,
    Point,
    Published,
    Reason,
    Recipe,
    Shape,
    Table,
    climb,
    curve,
    least_step,
)
from mondegreen_experiments.releases import NO_NOISE

_SLACK: Final = 5.0
"""Two standard errors of a difference of accuracies, per cent, of 3 times 350 texts."""


def _rise(name: str, laws: Sequence[str], slack: float) -> Callable[[Table], float]:
    return lambda table: min(
        climb(curve(table, "epsilon", name, law=law, texts=texts, dim=dim), slack)
        for law, texts, dim in {
            (p["law"], p["texts"], p["dim"]) for p, _ in table if p["law"] in laws
        }
    )


def _rises_with_dim(table: Table) -> float:
    """By how much accuracy without noise rises with the dimension, on film reviews."""
    return least_step(curve(table, "dim", "accuracy", law=NO_NOISE, texts="imdb"), 0.0)


def _english_switches(table: Table) -> float:
    """By how much TEM has fewer English words at its least epsilon, and then more."""
    tem, cmp = (
        curve(table, "epsilon", "english", law=law, texts="imdb", dim=50)
        for law in ("TEM", "CMP")
    )
    return min(cmp[0] - tem[0], tem[-1] - cmp[-1])


def _surpasses(table: Table) -> float:
    """The largest gain over clear texts."""
    return max(m["accuracy"] - m["baseline"] for _, m in table)


_DIMS: Final = (50, 100, 300)

ALPHAS: Final = {"puc_25": 0.25, "puc_50": 0.5, "puc_75": 0.75}
"""The weights of accuracy in the paper's Table 9, and the names of PUC by each."""

_POINT: Final = 1.0
"""PUC is in per cent."""

Cells = list[tuple[Point, Measured]]


def _worth_it(table: Table) -> float:
    """By how much some release is better, by PUC, than clear texts, at each alpha."""
    return min(
        max(m[puc] for p, m in table if p["law"] != NO_NOISE)
        - max(m[puc] for p, m in table if p["law"] == NO_NOISE)
        for puc in ALPHAS
    )


def _releases(table: Table) -> list[Cells]:
    """The releases of each kind of texts in 50 dimensions, where all are measured."""
    noisy = [(p, m) for p, m in table if p["law"] != NO_NOISE and p["dim"] == _DIMS[0]]
    kinds = dict.fromkeys(p["texts"] for p, _ in noisy)
    return [[(p, m) for p, m in noisy if p["texts"] == kind] for kind in kinds]


def _alpha_decides(table: Table) -> float:
    """By how much the best release at either end of alpha is beaten at the other."""
    low, *_, high = ALPHAS
    gaps = []
    for cells in _releases(table):
        found = [m for _, m in cells]
        private, useful = (max(found, key=itemgetter(puc)) for puc in (low, high))
        gaps += [private[low] - useful[low], useful[high] - private[high]]
    return min(gaps) - _POINT


def _turns_epsilon(table: Table) -> float:
    """By how much the least epsilon is ahead at the least alpha, and behind at last."""
    low, *_, high = ALPHAS
    gaps = []
    for cells in _releases(table):
        for law in {p["law"] for p, _ in cells}:
            known = {p["epsilon"]: m for p, m in cells if p["law"] == law}
            first, last = known[min(known)], known[max(known)]
            if len(known) > 1:
                gaps += [first[low] - last[low], last[high] - first[high]]
    return min(gaps)


def _blind(table: Table) -> float:
    """By how much PUC calls what keeps no word at all better than what keeps most."""
    noisy = [m for p, m in table if p["law"] != NO_NOISE]
    lost = [m["puc_50"] for m in noisy if m["n_w"] < 1]
    kept = [m["puc_50"] for m in noisy if m["n_w"] > 80]
    return min(lost, default=-math.inf) - max(kept, default=math.inf)


_QUICK_SIZES: Final = {"train": 500, "valid": 150, "test": 350, "words": 30}
_QUICK: Final = {texts: {**_QUICK_SIZES, "rate": 3e-3} for texts in ("imdb", "ag_news")}
_FULL: Final = {
    "imdb": {"train": 8000, "valid": 2000, "test": 2000, "words": 80, "rate": 1e-3},
    "ag_news": {"train": 12000, "valid": 2000, "test": 4000, "words": 80, "rate": 1e-3},
}
Sizes = dict[str, dict[str, float]]


def _point(texts: str, law: str, dim: int, epsilon: int, sizes: Sizes) -> Point:
    point = {"texts": texts, "law": law, "dim": dim, "epsilon": epsilon}
    return {**point, **sizes[texts]}


def _grid(
    sizes: Sizes,
    laws: Sequence[str],
    dims: Sequence[int],
    epsilons: Sequence[int] = (1, 5, 10),
    texts: Sequence[str] = ("imdb", "ag_news"),
) -> list[Point]:
    every = itertools.product(texts, dims, laws, epsilons)
    return [_point(name, law, dim, e, sizes) for name, dim, law, e in every]


_LAWS: Final = ("CMP", "Mahalanobis", "Vickrey", "TEM", "SanText", GUMBEL, "SynTF")
_LEARNED_FROM: Final = {"imdb": 8000, "ag_news": 16000}
"""Texts of the paper to learn from."""

_MEASURES: Final = {"accuracy": 3.0, "english": 5.0, "pp": 0.5, "low": 5.0}
"""What is compared, and how near is near."""

_TOKENS: Final = (
    "other tokens: without noise ours are 4 points more often English; with noise, "
    "other vectors too. We do not know which dimension and which form of TEM the table "
    "shows; our dimension is 50"
)


def _untold(measure: str, texts: str) -> Reason:
    """Why a number cannot be compared, unless sizes and vectors are the paper's."""
    most = _LEARNED_FROM[texts]
    fewer = smaller_than(most, "train", f"fewer texts to learn from than {most:,}")
    return {
        "accuracy": either(fewer, other_vectors),
        "english": _TOKENS,
        "pp": "in the released code words that the vocabulary lacks pass unchanged; "
        "we do not know whether the table was made so. Here none passes",
        "low": either(
            smaller_than(most, "train", "LOW grows with a release, and ours is small"),
            other_vectors,
        ),
    }[measure]


def _published(sizes: Sizes) -> list[Published]:
    return [
        Published(
            cell.where,
            _point(texts, cell.at["law"], dim, cell.at["epsilon"], sizes),
            measure,
            cell.value,
            tolerance,
            _untold(measure, texts),
        )
        for measure, tolerance in _MEASURES.items()
        for cell in find_cells("benchmark", measure)
        if (texts := cell.at.get("texts"))
        for dim in [cell.at.get("dim", _DIMS[0])]
    ]


_WHICH_TEM: Final = (
    "we do not know which dimension the table shows, nor whether it was made with TEM "
    "as printed or as in the released code"
)
_ENGLISH: Final[Table] = [
    ({"dim": _DIMS[0], **cell.at}, {"english": cell.value})
    for cell in find_cells("benchmark", "english")
]
"""Table 8: we do not know its dimension."""

RECIPE: Final = Recipe(
    name="benchmark-scores",
    paper="Meisenbacher et al. 2024",
    title="Seven mechanisms by the accuracy of an LSTM and by all scores",
    differs=(
        "GloVe 840B by PCA, not GloVe 6B. CS is the cosine of mean word vectors: we do "
        "not have the paper's model of sentences, so it is not comparable. Words that "
        "the vocabulary lacks are released like others, and count as changed. The "
        "1,000 rarest words of LOW: ties in alphabetical order. Word vectors are not "
        "trained. LOW counts types of words, as the paper says. SanText, TEM, Vickrey "
        "and SynTF are as their papers prove them; truncated Gumbel noise is as in "
        f"{RELEASED}. No PUC of Table 9 is compared, since we keep no copy of the "
        "tables that it is made of. Which release is best at which alpha is said of "
        "our releases alone. Quick: 500 texts to learn from, 150 to stop by, 350 to "
        "test, their last 30 words; mostly 50 dimensions."
    ),
    measure=measure,
    points={
        "quick": [
            *_grid(_QUICK, [NO_NOISE], _DIMS, (0,)),
            *_grid(_QUICK, ["CMP", "Mahalanobis", "Vickrey", "TEM", "SanText"], (50,)),
            *_grid(_QUICK, [GUMBEL], (50,), (5,)),
            *_grid(_QUICK, ["SynTF"], (50,), (10,)),
            *_grid(_QUICK, ["CMP", "TEM"], (300,), texts=("imdb",)),
        ],
        "full": [
            *_grid(_FULL, [NO_NOISE], _DIMS, (0,)),
            *_grid(_FULL, _LAWS, _DIMS),
        ],
    },
    seeds={"quick": 3, "full": 3},
    data=("imdb", "ag_news", "nltk_words"),
    published=[*_published(_QUICK), *_published(_FULL)],
    shapes=(
        Shape(
            "Ours, after table 3",
            "accuracy rises with epsilon (CMP, TEM)",
            _rise("accuracy", ("CMP", "TEM"), _SLACK),
            how="each curve rises overall, and no step falls by more than 5 points",
        ),
        Shape(
            "Table 3",
            "without noise accuracy rises with the dimension, on film reviews",
            _rises_with_dim,
            printed=[
                (
                    cell.at,
                    {"accuracy": cell.value},
                )
                for cell in find_cells("benchmark", "accuracy", texts="imdb")
            ],
            untold=projected("glove"),
            name="accuracy-by-dimension",
        ),
        Shape(
            "Text, of table 3",
            "some releases are better to learn from than the texts themselves",
            _surpasses,
            how="the largest gain over the same texts without noise, in points",
            untold="with 350 texts and three seeds we cannot see a gain of 1.47 "
            "points, the paper's largest: two of our accuracies differ by up to 5 "
            "points by chance. Its test texts were more. We say nothing of the 4 and "
            "13 such releases that it counts",
            name="better-than-texts",
        ),
        Shape(
            "Table 8",
            "more words are English at larger epsilon (CMP, TEM)",
            _rise("english", ("CMP", "TEM"), 1.0),
            how="each curve rises overall, and no step falls by more than 1 point",
            printed=_ENGLISH,
            untold=_WHICH_TEM,
            name="english-rises",
        ),
        Shape(
            "Table 8",
            "of film reviews TEM leaves fewer English words than CMP at epsilon 1, and "
            "more at epsilon 10",
            _english_switches,
            printed=_ENGLISH,
            untold=either(other_vectors, _WHICH_TEM),
            name="english-crosses",
        ),
        Shape(
            "Ours, on PUC",
            "some release is better by PUC than the texts as they are, at each alpha",
            _worth_it,
        ),
        Shape(
            "Ours, on PUC",
            "alpha decides which release is best by PUC: the best one at 0.25 and the "
            "best one at 0.75 beat each other by more than a point at their own alpha "
            "(50 dimensions)",
            _alpha_decides,
        ),
        Shape(
            "Ours, on PUC",
            "each mechanism has a better PUC at epsilon 1 than at 10 where alpha is "
            "0.25, and a worse one where it is 0.75 (50 dimensions)",
            _turns_epsilon,
        ),
        Shape(
            "Ours, of PUC",
            "PUC prefers every release that keeps no word, whose classifier guesses, "
            "to every one that keeps 80 % of words (alpha 0.5)",
            _blind,
        ),
    ),
    axes=("epsilon", "law", "puc_50"),
    spaces=lambda point: [f"glove-{point['dim']}", "glove-300"],
    needs=("torch",),
)
