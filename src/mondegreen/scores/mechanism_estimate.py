r"""What draws of inputs and outputs tell of mechanisms that can only be sampled.

Inputs are drawn from a prior, one output of each: every draw is independent, whatever
the law. Risks are biased if one set of draws both finds the best guess and counts its
errors; here one half finds and the other counts, which errs on one side, and what
counts the draws it has found them on bounds the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids
from mondegreen.mechanisms.base import State
from mondegreen.scores.interval import (
    Interval,
    bounded_mean,
    check_confidence,
    deviation,
    proportion,
)
from mondegreen.scores.risk import check_prior
from mondegreen.scores.similarity import pair_distances
from mondegreen.scores.word_estimate import check_runs

_CHUNK: Final = 1 << 14

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Progress = Callable[[float], object]


@final
@dataclass(frozen=True, slots=True)
class MechanismEstimate:
    """What draws of inputs from a prior, and one output of each, tell.

    Parameters
    ----------
    draws : int
        Independent pairs of input and output.
    stay : Interval
        Mean of :math:`N_w` under the prior.
    distance : Interval or None
        Utility loss in the distance of the space.
    bayes_risk, inference_error : Interval
        For a loss of 0 or 1; bounds alone. They are far apart unless there are many
        more draws than likely outputs.
    """

    draws: int
    stay: Interval
    distance: Interval | None
    bayes_risk: Interval
    inference_error: Interval


def estimate_stays(
    state: State,
    words: Ids,
    runs: int,
    rng: np.random.Generator,
    progress: Progress = lambda share: None,
) -> Floats:
    """Return the share of runs in which each word stays, an unbiased estimate.

    Quantiles over words of these shares are wider than those of :math:`N_w` itself, by
    the noise of the runs.

    Parameters
    ----------
    state : State
        A prepared mechanism.
    words : int32 array, shape (T,)
        The inputs.
    runs : int, at least 1
        Outputs of each.
    rng : numpy.random.Generator
        Consumed.
    progress : callable
        Called with the share that is done, from 0 to 1.

    Returns
    -------
    float64 array, shape (T,), in [0, 1]
    """
    inputs = np.repeat(words, runs)
    outputs = _sampled(state, inputs, rng, progress)
    return np.asarray((outputs == inputs).reshape(len(words), runs).mean(axis=1))


def estimate_mechanism(
    state: State,
    prior: Floats,
    draws: int,
    rng: np.random.Generator,
    *,
    confidence: float = 0.95,
    progress: Progress = lambda share: None,
) -> MechanismEstimate:
    r"""Estimate what holds over all inputs: draw an input, then one output, many times.

    *Inference error.* Given that an output was drawn :math:`N_y \ge 2` times, its
    inputs are independent draws from the posterior, and two of them agree with
    probability :math:`\sum_v g(v \mid y)^2`, whatever :math:`N_y`. So with
    :math:`n_{wy}` draws of a pair, :math:`n` in all,

    .. math::

        C = \frac{1}{n} \sum_{y : N_y \ge 2} \sum_w
            \frac{n_{wy} (n_{wy} - 1)}{N_y - 1}

    is an unbiased estimate of :math:`1 - E_M` but for the outputs seen once, whose
    share bounds what they could add.

    *Bayes risk.* An adversary who learned his guesses from one half errs on the other
    at least as often as the best one: an upper bound. The errors of the best guesses
    for the very draws they are counted on are too few on average: a lower bound.

    Parameters
    ----------
    state : State
        A prepared mechanism.
    prior : float64 array, shape (V + 1,)
        What the adversary expects; see :func:`mondegreen.scores.risk.uniform_prior`.
    draws : int, at least 2
        Pairs to draw.
    rng : numpy.random.Generator
        Consumed.
    confidence : float in (0, 1)
        Of each interval by itself.
    progress : callable
        Called with the share that is done, from 0 to 1.

    References
    ----------
    .. [1] McDiarmid 1989: one draw changes :math:`n C` by at most 3, and the number of
       errors of the best guesses by at most 1.
    .. [2] Good. "The Population Frequencies of Species and the Estimation of Population
       Parameters." Biometrika 1953, for what was seen once.
    """
    check_runs(draws)
    vocab_size = state.space.vocab_size
    running = np.cumsum(check_prior(prior, vocab_size + 1))
    places = rng.random(draws) * running[-1]
    inputs = np.searchsorted(running, places, side="right").astype(np.int32)
    np.minimum(inputs, vocab_size, out=inputs)
    outputs = _sampled(state, inputs, rng, progress)
    hits = int((inputs == outputs).sum())
    gaps = pair_distances(state.space, inputs, outputs)
    return MechanismEstimate(
        draws=draws,
        stay=proportion(hits, draws, confidence),
        distance=None
        if gaps is None
        else bounded_mean(gaps, 0.0, state.space.geometry.diameter, confidence),
        bayes_risk=_bayes_risk(inputs, outputs, vocab_size, confidence),
        inference_error=_inference_error(inputs, outputs, confidence),
    )


def _sampled(
    state: State, inputs: Ids, rng: np.random.Generator, progress: Progress
) -> Ids:
    """Return outputs, chunk by chunk."""
    outputs = np.empty_like(inputs)
    for start in range(0, len(inputs), _CHUNK):
        part = slice(start, start + _CHUNK)
        outputs[part] = state.sample(inputs[part], rng)
        progress(min(1.0, (start + _CHUNK) / len(inputs)))
    return outputs


def _inference_error(inputs: Ids, outputs: Ids, confidence: float) -> Interval:
    """Return bounds of E_M from pairs of draws with one output."""
    draws = len(inputs)
    pairs, pair_counts = np.unique(_pairs(inputs, outputs), return_counts=True)
    seen, counts = np.unique(outputs, return_counts=True)
    of_output = counts[np.searchsorted(seen, pairs >> 32)]
    agreeing = pair_counts * (pair_counts - 1) / np.maximum(of_output - 1, 1)
    share, once = agreeing.sum() / draws, (counts == 1).sum() / draws
    slack = deviation(3 / draws, draws, check_confidence(confidence) / 2)
    low, high = 1 - share - once - slack, 1 - share + slack
    return Interval(None, max(0.0, float(low)), min(1.0, float(high)), confidence)


def _bayes_risk(
    inputs: Ids, outputs: Ids, vocab_size: int, confidence: float
) -> Interval:
    """Return bounds of the risk of the best guess."""
    draws, half = len(inputs), len(inputs) // 2
    alpha = check_confidence(confidence) / 2
    right = _best_guesses(inputs, outputs)[1].sum()
    low = 1 - float(right) / draws - deviation(1 / draws, draws, alpha)
    # The guesser takes the output itself for the input until he has seen otherwise,
    # as if he had seen that once.
    every = np.arange(vocab_size, dtype=np.int32)
    guesses, _ = _best_guesses(
        np.concatenate([every, inputs[:half]]), np.concatenate([every, outputs[:half]])
    )
    wrong = int((guesses[outputs[half:]] != inputs[half:]).sum())
    high = proportion(wrong, draws - half, confidence).high
    return Interval(None, max(0.0, min(low, high)), high, confidence)


def _best_guesses(inputs: Ids, outputs: Ids) -> tuple[Counts, Counts]:
    """Return the most frequent input of each output seen, and how often it was."""
    pairs, counts = np.unique(_pairs(inputs, outputs), return_counts=True)
    order = np.argsort(counts, kind="stable")  # the last one written is the largest
    size = int(outputs.max()) + 1
    guesses, most = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    guesses[pairs[order] >> 32] = pairs[order] & 0xFFFFFFFF
    most[pairs[order] >> 32] = counts[order]
    return guesses, most


def _pairs(inputs: Ids, outputs: Ids) -> Counts:
    """Return one integer for each pair of output and input."""
    return (outputs.astype(np.int64) << 32) | inputs
