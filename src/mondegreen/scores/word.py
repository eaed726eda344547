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
from mondegreen.scores.odds import DocumentLoss, Odds, document_loss, odds_of
from mondegreen.scores.word_estimate import estimate_word

_ENTROPIES: Final = {order: f"entropy_{order:g}" for order in ORDERS}

Floats = NDArray[np.float64]
Score = float | Interval


@final
@dataclass(frozen=True, slots=True)
class Output:
    """One likely output of a word.

    Parameters
    ----------
    word : str
        A word of the space.
    probability : float or Interval
        That it is released for the input.
    distance : float or None
        From the input, in the metric of the space.
    """

    word: str
    probability: Score
    distance: float | None


@final
@dataclass(frozen=True, slots=True)
class WordScores:
    """What one setting means for one input; exact values, or intervals from runs.

    Parameters
    ----------
    is_known : bool
        False where the input is the unknown word.
    runs : int or None
        Runs that were drawn; None where all values are exact.
    eta : float
        The mass that ``support`` leaves out.
    stay : float or Interval
        :math:`N_w`.
    support : float or Interval
        :math:`S_w`, the effective support.
    distinct : int or None
        Distinct outputs in these runs.
    entropies : dict of str to float or Interval, nats
        By name, such as ``entropy_inf``.
    distance, rank : float, Interval or None
        Expected, of the output.
    outputs : tuple of Output
        The likeliest first.
    odds : tuple of Odds
        Against the nearest input that lies elsewhere, and the farthest.
    document : DocumentLoss or None
        None where nothing is promised.
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
        """Return JSON values; an infinite number becomes None."""
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
    """Return what a prepared mechanism means for one input.

    Exact where the law has a closed form, else from runs, with confidence intervals.

    Parameters
    ----------
    state : State
        A prepared mechanism.
    word : int
        The input; ``V`` is the unknown word.
    rng : numpy.random.Generator
        For runs; not used where the law is known.
    runs : int, at least 2
        Outputs to draw where the law is not known.
    eta : float in [0, 1)
        The mass that the effective support leaves out.
    top : int, at least 1
        Likeliest outputs to list.
    document : int, at least 1
        Words of the document whose loss is added up.
    delta : float in (0, 1)
        Chance at which the tighter bound of the document may fail.
    confidence : float in (0, 1)
        Of each interval by itself.

    Examples
    --------
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
        odds=odds_of(state, word, is_closed=law is not None),
        document=document_loss(state, document, delta),
        **scores,
    )


def _exact(
    state: State, ids: Ids, law: Floats, row: Floats | None, eta: float, top: int
) -> dict[str, Any]:
    """Return the scores of one known law."""
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
    """Return the scores of one input from runs."""
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
    """Return outputs with their probabilities and distances."""
    words = state.space.words
    return tuple(
        Output(words[i], share, None if row is None else float(row[0, i]))
        for i, share in zip(ids.tolist(), shares, strict=True)
    )


def _plain(value: Any) -> Any:
    """Return JSON values, in which there is no infinity."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
