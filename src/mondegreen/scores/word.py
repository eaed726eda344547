"""What one setting of a mechanism means for one word: the numbers of ``explain``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids
from mondegreen.errors import InvalidParameterError, LawUnknownError
from mondegreen.mechanisms.base import State
from mondegreen.scores.deniability import (
    ORDERS,
    effective_support,
    expected_distance,
    expected_rank,
    renyi_entropy,
    stay_probability,
)
from mondegreen.scores.interval import Interval, proportion
from mondegreen.scores.law import to_words
from mondegreen.scores.word_estimate import estimate_word

_ENTROPIES: Final = {order: f"entropy_{order:g}" for order in ORDERS}

Floats = NDArray[np.float64]
Score = float | Interval


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
    ``distinct`` counts the outputs in these runs. The likeliest output comes first;
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
        """JSON values; an infinite number becomes None."""
        found: dict[str, Any] = _plain(asdict(self))
        return found


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
    ``delta`` is the chance at which the tighter bound of the document may fail.

    >>> import mondegreen as mg
    >>> space = mg.Space.from_arrays("ab", ["a", "b"], [[0], [1]])
    >>> state = mg.mechanism("exponential", epsilon=2.0).prepare(space)
    >>> found = score_word(state, 0, np.random.default_rng(0))
    >>> round(found.stay, 3), found.outputs[1].word, round(found.odds[0].realised, 3)
    (0.731, 'b', 1.0)
    """
    if not 0 <= word <= state.space.vocab_size:
        allowed = f"an id in 0..{state.space.vocab_size}"
        raise InvalidParameterError("word", word, allowed)
    if top < 1 or document < 1:
        raise InvalidParameterError("top, document", (top, document), "at least 1")
    ids = np.array([word], dtype=np.int32)
    row = to_words(state.space, ids)
    try:
        law = np.exp(state.log_prob(ids))
    except LawUnknownError:
        law = None
    if law is None:
        scores = _estimated(state, word, row, runs, rng, eta, top, confidence)
    else:
        scores = _exact(state, ids, law, row, eta, top)
    return WordScores(
        is_known=word < state.space.vocab_size,
        eta=eta,
        odds=_odds_of(state, word, is_closed=law is not None),
        document=_document_loss(state, document, delta),
        **scores,
    )


def _exact(
    state: State, ids: Ids, law: Floats, row: Floats | None, eta: float, top: int
) -> dict[str, Any]:
    ties = np.zeros(law.shape[1]) if row is None else row[0]
    likeliest = np.lexsort((ties, -law[0]))[:top]  # of equals the nearest first
    likeliest = likeliest[law[0][likeliest] > 0]
    return {
        "runs": None,
        "stay": float(stay_probability(law, ids)[0]),
        "support": float(effective_support(law, eta)[0]),
        "distinct": None,
        "entropies": {
            name: float(renyi_entropy(law, order)[0])
            for order, name in _ENTROPIES.items()
        },
        "distance": None if row is None else float(expected_distance(law, row)[0]),
        "rank": None if row is None else float(expected_rank(law, row)[0]),
        "outputs": _outputs(
            state, likeliest, [float(p) for p in law[0][likeliest]], row
        ),
    }


def _estimated(
    state: State,
    word: int,
    row: Floats | None,
    runs: int,
    rng: np.random.Generator,
    eta: float,
    top: int,
    confidence: float,
) -> dict[str, Any]:
    found = estimate_word(state, word, runs, rng, eta=eta, confidence=confidence)
    # One half of the runs finds the likeliest outputs, the other measures them: those
    # that are found because they came too often do not come too often again.
    likeliest = np.argsort(-found.found, kind="stable")[:top]
    likeliest = likeliest[found.found[likeliest] > 0]
    likeliest = likeliest[np.argsort(-found.measured[likeliest], kind="stable")]
    half = int(found.measured.sum())
    shares = [proportion(int(found.measured[i]), half, confidence) for i in likeliest]
    return {
        "runs": runs,
        "stay": found.stay,
        "support": found.support,
        "distinct": found.distinct,
        "entropies": {
            name: found.entropies[order] for order, name in _ENTROPIES.items()
        },
        "distance": found.distance,
        "rank": found.rank,
        "outputs": _outputs(state, likeliest, shares, row),
    }


def _outputs(
    state: State, ids: Any, shares: Sequence[Score], row: Floats | None
) -> tuple[Output, ...]:
    words = state.space.words
    return tuple(
        Output(words[i], share, None if row is None else float(row[0, i]))
        for i, share in zip(ids.tolist(), shares, strict=True)
    )


def _odds_of(state: State, word: int, *, is_closed: bool) -> tuple[Odds, ...]:
    """What is promised, and what holds, against a near and a far input."""
    inputs = np.arange(state.space.vocab_size + 1, dtype=np.int32)
    gaps = state.distances(np.array([word], dtype=np.int32), inputs)[0]
    others = np.flatnonzero(gaps[:-1] > 0)
    if not len(others):
        return ()
    # Where the metric of the promise ties, that of the space decides.
    row = to_words(state.space, np.array([word], dtype=np.int32))
    ties = np.zeros(len(others)) if row is None else row[0][others]
    order = others[np.lexsort((ties, gaps[others]))]
    near, far = int(order[0]), int(order[-1])
    guarantee = state.guarantee
    return tuple(
        Odds(
            pair=pair,
            other=state.space.words[other],
            distance=float(gaps[other]),
            promised=guarantee.loss(float(gaps[other]))
            if guarantee.is_proved
            else None,
            realised=_largest_ratio(state, word, other) if is_closed else None,
        )
        for pair, other in (("near", near), ("far", far))
    )


def _largest_ratio(state: State, word: int, other: int) -> float:
    """The largest absolute log-ratio of two laws over all outputs, in nats."""
    first, second = state.log_prob(np.array([word, other], dtype=np.int32))
    possible = np.isfinite(first) | np.isfinite(second)
    return float(np.abs(first[possible] - second[possible]).max())


def _document_loss(state: State, words: int, delta: float) -> DocumentLoss | None:
    guarantee = state.guarantee
    if not guarantee.is_proved or not math.isfinite(guarantee.scale["diameter"]):
        return None
    return DocumentLoss(
        words=words,
        nearest=words * guarantee.loss(guarantee.scale["nearest"]),
        mean=words * guarantee.loss(guarantee.scale["mean"]),
        any=guarantee.text_loss(words),
        any_delta=guarantee.text_loss(words, delta),
        delta=delta,
    )


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
