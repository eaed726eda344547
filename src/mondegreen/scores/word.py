"""What one setting of a mechanism means for one word: the numbers of ``explain``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, final

import numpy as np

from mondegreen.arrays import Floats, Ids
from mondegreen.errors import InvalidParameterError, LawUnknownError
from mondegreen.mechanisms.base import State
from mondegreen.scores.deniability import (
    ORDERS,
    check_eta,
    compute_expected_rank,
    effective_support,
    renyi_entropy,
)
from mondegreen.scores.interval import Interval, bound_mean, proportion
from mondegreen.scores.law import to_words
from mondegreen.scores.word_estimate import bound_entropies, bound_support

Score = float | Interval
Likely = Sequence[tuple[int, Score]]  # outputs and their probabilities


@final
@dataclass(frozen=True, slots=True)
class Output:
    """One likely output: a word of the space."""

    word: str
    probability: Score
    distance: float | None  # from the input, in the metric of the space


@final
@dataclass(frozen=True, slots=True)
class Odds:
    """How far an output can move the odds between two inputs."""

    pair: str  # "near" or "far"
    other: str  # a word of the space that lies elsewhere
    distance: float  # in the metric of the guarantee; may be infinite
    promised: float | None  # nats: epsilon times distance; None where there is none
    realised: float | None  # nats, over all outputs; None where the law is not known


@final
@dataclass(frozen=True, slots=True)
class DocumentLoss:
    """What two documents of equal length that differ in ``words`` words lose, in nats.

    Each word by its nearest neighbour (median of the space), by a word at the mean
    distance, by any word, and by any word but for a chance of ``delta``.
    """

    words: int
    nearest: float
    mean: float
    any: float
    any_delta: float
    delta: float


@final
@dataclass(frozen=True, slots=True)
class WordScores:
    """What one setting means for one input; exact values, or intervals from runs.

    ``eta`` is the mass that ``support`` (:math:`S_w`) leaves out; ``stay`` is
    :math:`N_w`. Entropies are in nats, by name. ``runs`` is None where all is exact,
    ``distinct`` counts the outputs in these runs. The most likely output comes first;
    ``odds`` are against the nearest input that lies elsewhere, and the farthest;
    ``document`` is None where nothing is promised.
    """

    is_known: bool
    runs: int | None
    eta: float
    stay: Score
    support: Score
    distinct: int | None
    entropies: dict[str, Score]
    distance: Score | None
    rank: Score | None
    outputs: tuple[Output, ...]
    odds: tuple[Odds, ...]
    document: DocumentLoss | None

    def to_dict(self) -> dict[str, Any]:
        """JSON values; an infinite number becomes None.

        Returns
        -------
        dict of str to JSON values
            One entry per attribute.
        """
        return asdict(self, dict_factory=_finite)


def score_word(
    state: State,
    word: int,
    rng: np.random.Generator,
    *,
    runs: int = 20_000,
    eta: float = 0.05,
    top: int = 10,
    document: int = 100,
    delta: float = 1e-6,
    confidence: float = 0.95,
) -> WordScores:
    """Score one input of a prepared mechanism; ``V`` is the unknown word.

    Exact where the law has a closed form, else from runs, with confidence intervals.

    Parameters
    ----------
    state : State
    word : int
        An input ``0..V``.
    rng : numpy.random.Generator
        Used where the law has no closed form.
    runs : int
        Outputs drawn there.
    eta : float
        Mass that the set of likely outputs may leave out.
    top : int
        How many outputs are listed.
    document : int
        Words of a text whose loss is summed up.
    delta : float
        The chance at which the tighter bound of the document may fail.
    confidence : float
        Of each interval.

    Returns
    -------
    WordScores

    Raises
    ------
    InvalidParameterError
        If a number is out of range.

    Examples
    --------
    >>> import mondegreen as mg
    >>> space = mg.Space.from_arrays("ab", ["a", "b"], [[0], [1]])
    >>> state = mg.mechanism("exponential", epsilon=2.0).prepare(space)
    >>> found = score_word(state, 0, np.random.default_rng(0))
    >>> round(found.stay, 3), found.outputs[1].word, round(found.odds[0].realised, 3)
    (0.731, 'b', 1.0)
    """
    size = state.space.vocab_size
    if not 0 <= word <= size:
        raise InvalidParameterError("word", word, f"an id in 0..{size}")
    if top < 1 or document < 1:
        raise InvalidParameterError("top, document", (top, document), "at least 1")
    if runs < 2:
        raise InvalidParameterError("runs", runs, "at least 2")
    check_eta(eta)
    ids = np.array([word], dtype=np.int32)
    row = to_words(state.space, ids)
    try:
        law = np.exp(state.log_prob(ids))
    except LawUnknownError:
        outputs = state.sample(np.full(runs, word, dtype=np.int32), rng)
        scores, likely = _estimate(state, word, outputs, row, eta, top, confidence)
    else:
        scores, likely = _exact(word, law, row, eta, top)
    return WordScores(
        is_known=word < size,
        eta=eta,
        outputs=tuple(
            Output(
                state.space.words[i], share, None if row is None else float(row[0, i])
            )
            for i, share in likely
        ),
        odds=_compute_odds(state, ids, row, is_closed=scores["runs"] is None),
        document=_document_loss(state, document, delta),
        **scores,
    )


def _finite(items: list[tuple[str, Any]]) -> dict[str, Any]:
    return {
        key: None if isinstance(each, float) and not math.isfinite(each) else each
        for key, each in items
    }


def _exact(
    word: int, law: Floats, row: Floats | None, eta: float, top: int
) -> tuple[dict[str, Any], Likely]:
    ties = np.zeros(law.shape[1]) if row is None else row[0]
    likeliest = np.lexsort((ties, -law[0]))[:top]  # of equals the nearest first
    likeliest = likeliest[law[0][likeliest] > 0]
    scores: dict[str, Any] = {
        "runs": None,
        "stay": float(law[0, word]) if word < law.shape[1] else 0.0,
        "support": float(effective_support(law, eta)[0]),
        "distinct": None,
        "entropies": {
            f"entropy_{order:g}": float(renyi_entropy(law, order)[0])
            for order in ORDERS
        },
        "distance": None,
        "rank": None,
    }
    if row is not None:
        scores["distance"] = float(np.einsum("ij,ij->i", law, row)[0])
        scores["rank"] = float(compute_expected_rank(law, row)[0])
    return scores, [(int(i), float(law[0, i])) for i in likeliest]


def _estimate(
    state: State,
    word: int,
    outputs: Ids,
    row: Floats | None,
    eta: float,
    top: int,
    confidence: float,
) -> tuple[dict[str, Any], Likely]:
    """Score an input by its outputs in independent runs, each interval by itself."""
    size, runs = state.space.vocab_size, len(outputs)
    # One half of the runs finds the likeliest outputs, the other measures them: those
    # that are found because they came too often do not come too often again.
    first = np.bincount(outputs[: runs // 2], minlength=size)
    second = np.bincount(outputs[runs // 2 :], minlength=size)
    likeliest = np.argsort(-first, kind="stable")[:top]
    likeliest = likeliest[first[likeliest] > 0]
    likeliest = likeliest[np.argsort(-second[likeliest], kind="stable")]
    half = runs - runs // 2
    likely = [(int(i), proportion(int(second[i]), half, confidence)) for i in likeliest]
    distance = rank = None
    if row is not None:
        diameter = state.space.geometry.diameter
        ranks = np.empty(size)
        ranks[np.argsort(row[0], kind="stable")] = np.arange(size)
        distance = bound_mean(row[0][outputs], 0.0, diameter, confidence)
        rank = bound_mean(ranks[outputs], 0.0, size - 1.0, confidence)
    scores: dict[str, Any] = {
        "runs": runs,
        "stay": proportion(int((outputs == word).sum()), runs, confidence),
        "support": bound_support(first, second, eta, confidence),
        "distinct": len(np.unique(outputs)),
        "entropies": bound_entropies(first, second, confidence),
        "distance": distance,
        "rank": rank,
    }
    return scores, likely


def _compute_odds(
    state: State, ids: Ids, row: Floats | None, *, is_closed: bool
) -> tuple[Odds, ...]:
    """What is promised, and what holds, against a near and a far input."""
    inputs = np.arange(state.space.vocab_size + 1, dtype=np.int32)
    gaps = state.distances(ids, inputs)[0]
    others = np.flatnonzero(gaps[:-1] > 0)
    if not len(others):
        return ()
    # Where the metric of the promise ties, that of the space decides.
    ties = np.zeros(len(others)) if row is None else row[0][others]
    order = others[np.lexsort((ties, gaps[others]))]
    guarantee, found = state.guarantee, []
    for pair, other in (("near", int(order[0])), ("far", int(order[-1]))):
        distance, promised, realised = float(gaps[other]), None, None
        if guarantee.is_proved:
            promised = guarantee.loss(distance)
        if is_closed:  # the largest absolute log-ratio over all outputs
            one, two = state.log_prob(np.array([ids[0], other], dtype=np.int32))
            possible = np.isfinite(one) | np.isfinite(two)
            realised = float(np.abs(one[possible] - two[possible]).max())
        word = state.space.words[other]
        found.append(Odds(pair, word, distance, promised, realised))
    return tuple(found)


def _document_loss(state: State, words: int, delta: float) -> DocumentLoss | None:
    guarantee = state.guarantee
    if not guarantee.is_proved or not math.isfinite(guarantee.scale["diameter"]):
        return None
    return DocumentLoss(
        words=words,
        nearest=words * guarantee.effective_epsilon * guarantee.scale["nearest"],
        mean=words * guarantee.effective_epsilon * guarantee.scale["mean"],
        any=guarantee.text_loss(words),
        any_delta=guarantee.text_loss(words, delta),
        delta=delta,
    )
