"""What is known of one law over a whole vocabulary: its exact scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True)
class Risk:
    """What the best adversary and a reader may expect under one prior.

    Parameters
    ----------
    prior_risk : float in [0, 1]
        Risk of the best guess before any output is seen; no law can do better.
    bayes_risk : float in [0, prior_risk]
        :func:`mondegreen.scores.risk.bayes_risk` for a loss of 0 or 1.
    inference_error : float in [0, 1]
        :func:`mondegreen.scores.risk.inference_error` for a loss of 0 or 1.
    stay : float in [0, 1]
        Mean of :math:`N_w` under the prior.
    utility_loss : float or None, unit of distance
        :func:`mondegreen.scores.risk.utility_loss` for the distance of the space;
        None where the space has none.
    """

    prior_risk: float
    bayes_risk: float
    inference_error: float
    stay: float
    utility_loss: float | None


@final
@dataclass(frozen=True, slots=True)
class LawScores:
    """Exact scores of one law, for each input and under each prior.

    Parameters
    ----------
    eta : float or None
        The mass that :math:`S_w` leaves out.
    stay : float64 array, shape (V,)
        :math:`N_w` of each word.
    support : int64 array, shape (V + 1,), or None
        :math:`S_w` of each input, the unknown word last.
    entropies : mapping of float to float64 array, shape (V + 1,), nats
        Rényi entropies by order.
    distance : float64 array, shape (V + 1,), or None
        Expected distance of the output.
    rank : float64 array, shape (V + 1,), or None
        Expected rank of the output among the words, by distance, from 0; None, as
        ``support``, where rows were not sorted.
    risks : mapping of str to Risk
        By the name of the prior.
    """

    eta: float | None
    stay: Floats
    support: NDArray[np.int64] | None
    entropies: Mapping[float, Floats]
    distance: Floats | None
    rank: Floats | None
    risks: Mapping[str, Risk]

    def summary(self) -> dict[str, Any]:
        """Return means and tails over the words (not the unknown one) as JSON values.

        The tail of each score is on the side where words are least private.
        """
        words = slice(0, len(self.stay))
        found: dict[str, Any] = {
            "n_w_mean": float(self.stay.mean()),
            "n_w_95": float(np.quantile(self.stay, 0.95)),
            "n_w_max": float(self.stay.max()),
        }
        if self.support is not None:
            support = self.support[words]
            found["eta"] = self.eta
            found["s_w_mean"] = float(support.mean())
            found["s_w_05"] = float(np.quantile(support, 0.05))
            found["s_w_min"] = int(support.min())
        for order, values in self.entropies.items():
            name = f"entropy_{order:g}"
            found[f"{name}_mean"] = float(values[words].mean())
            found[f"{name}_min"] = float(values[words].min())
        for name, scores in (("distance", self.distance), ("rank", self.rank)):
            if scores is not None:
                found[f"{name}_mean"] = float(scores[words].mean())
                found[f"{name}_05"] = float(np.quantile(scores[words], 0.05))
        for prior, risk in self.risks.items():
            for key in ("prior_risk", "bayes_risk", "inference_error", "utility_loss"):
                found[f"{key}_{prior}"] = getattr(risk, key)
            found[f"n_w_{prior}"] = risk.stay
        return found
