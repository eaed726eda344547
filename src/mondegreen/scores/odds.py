"""What a promise means for one input: odds against others, and whole documents."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from mondegreen.mechanisms.base import State
from mondegreen.scores.law import to_words


@final
@dataclass(frozen=True, slots=True)
class Odds:
    """How far the output can move the odds between two inputs.

    Parameters
    ----------
    pair : str
        ``near`` or ``far``.
    other : str
        A word of the space that lies elsewhere.
    distance : float
        Between the two, in the metric of the guarantee; may be infinite.
    promised : float or None, nats
        Epsilon times distance: the odds move by at most the factor ``exp`` of it; None
        where nothing is promised.
    realised : float or None, nats
        The largest log-ratio over all outputs of the law; None where the law is not
        known.
    """

    pair: str
    other: str
    distance: float
    promised: float | None
    realised: float | None


@final
@dataclass(frozen=True, slots=True)
class DocumentLoss:
    """What a document of some words adds up to, in nats.

    Parameters
    ----------
    words : int
        That differ between two documents of equal length and structure.
    nearest : float
        Each word by its nearest neighbour (median of the space).
    mean : float
        Each by a word at the mean distance.
    any : float
        Each by any word: the promise for any two documents.
    any_delta : float
        The same, but for a chance of ``delta``.
    delta : float
        That chance.
    """

    words: int
    nearest: float
    mean: float
    any: float
    any_delta: float
    delta: float


def odds_of(state: State, word: int, *, is_closed: bool) -> tuple[Odds, ...]:
    """Return what is promised, and what holds, against a near and a far input."""
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
    """Return the largest absolute log-ratio of two laws over all outputs, in nats."""
    first, second = state.log_prob(np.array([word, other], dtype=np.int32))
    possible = np.isfinite(first) | np.isfinite(second)
    return float(np.abs(first[possible] - second[possible]).max())


def document_loss(state: State, words: int, delta: float) -> DocumentLoss | None:
    """Return what a document adds up to, where there is a promise."""
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
