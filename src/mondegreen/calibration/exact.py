"""Scores of closed laws from the laws of all inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mondegreen.calibration.found import (
    ETA,
    PERCENTILES,
    Effort,
    Ends,
    Found,
    Progress,
    hundred,
    worst_words,
)
from mondegreen.calibration.rows import support_scores, supports_of
from mondegreen.mechanisms.base import State
from mondegreen.scores.exact import law_scores
from mondegreen.scores.law import LawScores

SMALL = 4096
"""Words of the largest space whose laws are sorted, every one, for :math:`S_w`."""

Floats = NDArray[np.float64]


def every_input(
    states: Sequence[State],
    priors: Mapping[str, Floats],
    effort: Effort,
    rng: np.random.Generator,
    *,
    confidence: float = 0.95,
    progress: Progress = lambda share: None,
) -> list[Found]:
    """Return the exact scores of closed laws on one space, in one pass over its pairs.

    Parameters
    ----------
    states : sequence of State
        Prepared on one space, with known laws.
    priors : mapping of str to float64 array, shape (V + 1,)
        What the adversary expects, by name.
    effort : Effort
        In a space of more than :data:`SMALL` words, :math:`S_w` is found for ``rows``
        words only, since sorting every row takes longer than all else.
    rng : numpy.random.Generator
        Consumed, for these words.
    confidence : float in (0, 1)
        Of each interval by itself.
    progress : callable
        Called with the share that is done.
    """
    space = states[0].space
    is_small = space.vocab_size <= SMALL
    everything = law_scores(
        states, priors, eta=ETA if is_small else None, progress=progress
    )
    words = rng.integers(space.vocab_size, size=effort.rows).astype(np.int32)
    found = []
    for state, law in zip(states, everything, strict=True):
        scores = _scores(law)
        if law.support is not None:
            support = law.support[:-1].astype(np.float64)
            scores.update(_supports(support))
        else:
            support = supports_of(state, words)
            scores.update(support_scores(support, space.vocab_size, confidence))
        found.append(
            Found(
                is_exact=True,
                scores=scores,
                n_w=hundred(law.stay, round_up=True),
                s_w=hundred(support, round_up=False),
                worst=worst_words(space.words, np.arange(len(law.stay)), law.stay),
            )
        )
    return found


def _scores(law: LawScores) -> dict[str, Ends]:
    """Return what was computed for all inputs."""
    values = {"n_w_mean": float(law.stay.mean()), "n_w_max": float(law.stay.max())}
    for percent in PERCENTILES:
        # A value that occurs, on the private side of the percentile.
        values[f"n_w_{percent}"] = float(
            np.quantile(law.stay, percent / 100, method="higher")
        )
    if law.distance is not None:
        values["distance_mean"] = float(law.distance[:-1].mean())
    for name, risk in law.risks.items():
        values[f"n_w_{name}"] = risk.stay
        values[f"prior_risk_{name}"] = risk.prior_risk
        values[f"bayes_risk_{name}"] = risk.bayes_risk
        values[f"inference_error_{name}"] = risk.inference_error
        if risk.utility_loss is not None:
            values[f"utility_loss_{name}"] = risk.utility_loss
    return {name: (value, value) for name, value in values.items()}


def _supports(support: Floats) -> dict[str, Ends]:
    """Return percentiles of :math:`S_w` of all words."""
    values = {"s_w_mean": float(support.mean()), "s_w_min": float(support.min())}
    for percent in PERCENTILES:
        values[f"s_w_{100 - percent:02d}"] = float(
            np.quantile(support, 1 - percent / 100, method="lower")
        )
    return {name: (value, value) for name, value in values.items()}
