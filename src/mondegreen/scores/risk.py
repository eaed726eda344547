r"""What an adversary gains and what a reader loses, from a known law and a prior.

The law is a table :math:`P(y \mid w)` of inputs (rows, which sum to 1) and outputs
(columns), the prior :math:`\pi(w)` a probability for each input. For all pairs of a
whole vocabulary, in bounded memory, see :mod:`mondegreen.scores.law`; for mechanisms
that can only be sampled, :mod:`mondegreen.calibration.monte_carlo`.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from mondegreen.arrays import Floats, Weights
from mondegreen.errors import InvalidParameterError
from mondegreen.scores.deniability import effective_support

_SUM: Final = 1e-9


def uniform_prior(vocab_size: int) -> Floats:
    """Expect every word alike, and the unknown word, which is last, never."""
    prior = np.full(vocab_size + 1, 1 / vocab_size)
    prior[-1] = 0.0
    return prior


def frequency_prior(counts: object, smoothing: float = 1.0) -> Floats:
    r"""Expect words as often as they occur in public text.

    .. math:: \pi(w) = \frac{n_w + s}{\sum_v (n_v + s)}

    ``counts`` has V entries, or V + 1 with those of unknown words last; ``smoothing``,
    :math:`s`, keeps every word of the vocabulary possible.

    >>> frequency_prior([3, 1], smoothing=0.0).tolist()
    [0.75, 0.25]
    """
    array = np.asarray(counts, dtype=np.float64)
    if array.ndim != 1 or not smoothing >= 0 or not (array >= 0).all():
        raise InvalidParameterError("counts", "others", "one-dimensional, at least 0")
    prior = array + smoothing
    if not 0 < prior.sum() < np.inf:
        raise InvalidParameterError("counts", "a sum of 0", "a sum above 0, finite")
    return np.asarray(prior / prior.sum())


def posterior(law: Floats, prior: Floats) -> Floats:
    r"""Compute what an adversary believes after seeing each output.

    .. math:: g(v \mid y) = \frac{\pi(v) P(y \mid v)}{\sum_u \pi(u) P(y \mid u)}

    Parameters
    ----------
    law : float64 array, shape (inputs, outputs)
        Rows sum to 1.
    prior : float64 array, shape (inputs,)
        Sums to 1.

    Returns
    -------
    float64 array, shape (inputs, outputs)
        Columns sum to 1; a column of an output that never happens is the prior.

    Notes
    -----
    *Differs from the paper.* Its Equation 3 has its indices swapped and does not sum
    to 1; this is Bayes' rule.

    References
    ----------
    .. [1] Xu, Aggarwal, Feyisetan, Teissier. "On a Utilitarian Approach to Privacy
       Preserving Text Generation." PrivateNLP 2021, Equation 3, corrected.

    >>> law = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> posterior(law, np.array([0.5, 0.5]))[:, 0].tolist()
    [0.75, 0.25]
    """
    joint = check_prior(prior, len(law))[:, None] * law
    total = joint.sum(axis=0)
    beliefs = np.repeat(prior[:, None], law.shape[1], axis=1)
    return np.asarray(np.divide(joint, total, out=beliefs, where=total > 0))


def utility_loss(law: Floats, prior: Floats, loss: Floats) -> float:
    r"""Compute the expected loss of a person who reads outputs instead of inputs.

    .. math:: L_M = \sum_{w, y} \pi(w)\, P(y \mid w)\, d_L(w, y)

    :math:`d_L` is a distance, or 1 where the sentiment of the words differs. Larger is
    less useful; it is no score of privacy. Xu et al. PrivateNLP 2021, Equation 2.

    >>> law = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> utility_loss(law, np.array([0.5, 0.5]), 1 - np.eye(2))
    0.25
    """
    return float(check_prior(prior, len(law)) @ np.einsum("ij,ij->i", law, loss))


def inference_error(law: Floats, prior: Floats, loss: Floats | None = None) -> float:
    r"""Compute the error of an adversary who *draws* a guess from the posterior.

    .. math::

        E_M = \sum_{w, y, v} \pi(w)\, P(y \mid w)\, g(v \mid y)\, d_E(v, w)

    and, for a loss of 0 or 1, :math:`1 - \sum_y P(y) \sum_v g(v \mid y)^2`. The loss
    :math:`d_E(v, w)` is that of guessing ``v`` (row) where ``w`` (column) is true; 1
    for any wrong guess if not given.

    Larger is more private, but it flatters: an adversary who takes the best guess
    errs less. For a loss of 0 or 1, :math:`E^* \le E_M \le 2 E^*`; see
    :func:`bayes_risk`. Xu et al. PrivateNLP 2021, Equation 4; after Shokri et al.,
    "Quantifying Location Privacy", S&P 2011.

    >>> law = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> inference_error(law, np.array([0.5, 0.5]))
    0.375
    """
    joint = check_prior(prior, len(law))[:, None] * law
    beliefs = posterior(law, prior)
    if loss is None:
        return float(1 - np.einsum("ij,ij->", joint, beliefs))
    return float(np.einsum("ij,ij->", loss @ joint, beliefs))


def bayes_risk(law: Floats, prior: Floats, loss: Floats | None = None) -> float:
    r"""Compute the error of the best adversary who knows the law and the prior.

    .. math::

        E^* = \sum_y \min_v \sum_w \pi(w)\, P(y \mid w)\, d_E(v, w)

    and, for a loss of 0 or 1, :math:`1 - \sum_y \max_w \pi(w) P(y \mid w)`; the loss
    as for :func:`inference_error`.

    Larger is more private. It is about one word without its context: an adversary who
    reads the sentence has a better prior. Shokri et al., "Protecting Location Privacy:
    Optimal Strategy against Localization Attacks", CCS 2012.

    >>> law = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> bayes_risk(law, np.array([0.5, 0.5])), bayes_risk(law, np.array([0.9, 0.1]))
    (0.25, 0.1)
    """
    joint = check_prior(prior, len(law))[:, None] * law
    if loss is None:
        # As the mass of wrong guesses: 1 - sum(max) would round to below 0.
        wrong = joint.sum(axis=0) - joint.max(axis=0)
        return float(np.maximum(wrong, 0.0).sum().round(15))
    return float((loss @ joint).min(axis=0).sum())


def posterior_support(law: Floats, prior: Floats, eta: float = 0.05) -> Weights:
    r"""Count, for each output, the smallest set of likely inputs.

    .. math:: \min \{ |S| : \sum_{v \in S} g(v \mid y) \ge 1 - \eta \}

    Larger is more private. Unlike :math:`S_w` it takes the side of the adversary: the
    words among which a seen output leaves him in doubt.

    >>> law = np.array([[0.99, 0.01], [0.5, 0.5], [0.01, 0.99]])
    >>> posterior_support(law, np.full(3, 1 / 3), eta=0.05).tolist()
    [2, 2]
    """
    return effective_support(np.ascontiguousarray(posterior(law, prior).T), eta)


def over_inputs(prior: Floats, vocab_size: int) -> Floats:
    """Check a prior over all inputs; one over the words leaves the unknown out."""
    given = np.asarray(prior, dtype=np.float64)
    if given.shape == (vocab_size,):
        given = np.append(given, 0.0)
    return check_prior(given, vocab_size + 1)


def check_prior(prior: Floats, inputs: int) -> Floats:
    """Refuse a prior that is not so many probabilities with a sum of 1."""
    allowed = f"{inputs} probabilities that sum to 1"
    if prior.shape != (inputs,):
        raise InvalidParameterError("prior", f"shape {prior.shape}", allowed)
    if not (prior >= 0).all() or not abs(float(prior.sum()) - 1) <= _SUM:
        given = f"values from {prior.min():g}, sum {prior.sum():g}"
        raise InvalidParameterError("prior", given, allowed)
    return prior
