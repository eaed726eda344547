"""Priors: how likely an adversary holds each input to be, before any output."""

from __future__ import annotations

from typing import Final

import numpy as np

from mondegreen.arrays import Floats
from mondegreen.errors import InvalidParameterError

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


def over_inputs(prior: Floats, vocab_size: int) -> Floats:
    """Check a prior over all inputs; one over the words leaves the unknown out."""
    given, inputs = np.asarray(prior, dtype=np.float64), vocab_size + 1
    if given.shape == (vocab_size,):
        given = np.append(given, 0.0)
    allowed = f"{inputs} probabilities that sum to 1"
    if given.shape != (inputs,):
        raise InvalidParameterError("prior", f"shape {given.shape}", allowed)
    if not (given >= 0).all() or not abs(float(given.sum()) - 1) <= _SUM:
        found = f"values from {given.min():g}, sum {given.sum():g}"
        raise InvalidParameterError("prior", found, allowed)
    return given
