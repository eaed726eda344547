r"""Scores of mechanisms that can only be sampled, from runs, with intervals.

Words of the vocabulary are run again and again for the scores of a word. For what holds
under a prior, inputs are drawn from it, one output of each: every draw is independent,
whatever the law. Risks are biased if one set of draws both finds the best guess and
counts its errors; here one half finds and the other counts. Its errors are, on
average, at least those of the best guess. The same draws that found the guess have too
few errors on average, so they bound the other side.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.random import Generator

from mondegreen.arrays import Floats, Ids, Weights, slices
from mondegreen.calibration import score_bounds as bounds
from mondegreen.calibration.score_bounds import ETA, Question, ScoreBounds
from mondegreen.calibration.subsample import bound_exceeding, draw_inputs
from mondegreen.mechanisms.base import Progress, State, no_progress
from mondegreen.scores.definitions import N_W, S_W
from mondegreen.scores.interval import (
    Ends,
    bound_mean,
    check_confidence,
    deviation,
    lower_bound,
    upper_bound,
)
from mondegreen.scores.law import pair_distances
from mondegreen.scores.word_estimate import least_support

_CHUNK: Final = 1 << 14

# Outputs of each word of a vocabulary that is run as a whole: they are cheap there.
_LEAST_RUNS: Final = 256

# Share of a tail that runs may overlook; what is searched is that much smaller.
_MISSED: Final = 0.1


def monte_carlo(
    state: State, asked: Question, progress: Progress = no_progress
) -> ScoreBounds:
    """Score a prepared mechanism by its outputs alone.

    A vocabulary of at most ``effort.words`` words is run as a whole, each word more
    often.
    """
    size, rng, effort = state.space.vocab_size, asked.rng(), asked.effort
    if size <= effort.words:
        words = np.arange(size, dtype=np.int32)
        runs = max(effort.words * effort.runs // size, _LEAST_RUNS)
        stays, supports = _stays_of_all, _supports_of_all
    else:
        words = rng.integers(size, size=effort.words).astype(np.int32)
        runs = effort.runs
        stays, supports = _stays_of_some, _supports_of_some
    own, each = len(words) * runs, effort.draws
    total = own + len(asked.priors) * each
    inputs = np.repeat(words, runs)
    outputs = sample_outputs(
        state, inputs, rng, bounds.within(progress, 0, own / total)
    )
    outputs = outputs.reshape(len(words), runs)
    hits = (outputs == words[:, None]).sum(axis=1)
    scores = stays(hits, runs, asked)
    for name, least in supports(outputs, asked.alpha).items():
        scores[name] = max(least, 1.0), float(size)
    for turn, (name, prior) in enumerate(asked.priors.items()):
        part = bounds.within(progress, (own + turn * each) / total, each / total)
        found = prior_scores(state, prior, each, rng, asked.confidence, part)
        scores.update(bounds.under(name, prior, found))
        if name == "uniform" and "utility_loss" in found:
            scores["distance_mean"] = found["utility_loss"]
    return ScoreBounds.of(state, scores, words, hits / runs, None)


def sample_outputs(
    state: State, inputs: Ids, rng: Generator, progress: Progress = no_progress
) -> Ids:
    """Draw an output for each input, chunk by chunk."""
    outputs = np.empty_like(inputs)
    for part in slices(len(inputs), _CHUNK):
        outputs[part] = state.sample(inputs[part], rng)
        progress(part.stop / len(inputs))
    return outputs


def _stays_of_some(hits: Weights, runs: int, asked: Question) -> dict[str, Ends]:
    """Bound N_w by runs of some words."""
    # All words at once; the one with most hits is bounded best.
    most = lower_bound(int(hits.max()), runs, asked.alpha / len(hits))
    scores = {"n_w_mean": asked.mean(hits / runs, 0.0, 1.0), "n_w_max": (most, 1.0)}
    for name, quantile in N_W.items():
        scores[name] = bound_by_runs(hits, runs, 1 - quantile, asked.alpha)
    return scores


def _stays_of_all(hits: Weights, runs: int, asked: Question) -> dict[str, Ends]:
    """Bound N_w where no word was left out, so that only the runs are random."""
    count, each = hits.size * runs, asked.alpha / hits.size  # all words at once
    mean, slack = hits.sum() / count, deviation(1 / count, count, asked.alpha)

    def bound(hits: int) -> Ends:  # bounds rise with hits, so percentiles are theirs
        return lower_bound(hits, runs, each), upper_bound(hits, runs, each)

    scores = {
        "n_w_mean": (max(0.0, float(mean - slack)), min(1.0, float(mean + slack))),
        "n_w_max": bound(int(hits.max())),
    }
    for name, quantile in N_W.items():
        scores[name] = bound(int(np.quantile(hits, quantile, method="higher")))
    return scores


def bound_by_runs(hits: Weights, runs: int, share: float, alpha: float) -> Ends:
    r"""Bound the chance that a share p of all words exceeds, by runs of some words.

    With :math:`h` hits of a random word in R runs and its chance N,

    .. math:: P(h \ge k) \ge P(N > q)\, P(\mathrm{Bin}(R, q) \ge k)

    so a bound of the left side, which is counted, bounds the first factor for every
    q at which the second is at least 0.9. The lower end is found alike. Each end is
    wrong with chance at most ``alpha``, over independent words.

    >>> bound_by_runs(np.full(1000, 5), 10, 0.05, 0.025)  # as if N = 0.5
    (0.267..., 0.732...)
    """
    values = hits.astype(np.float64)
    _, most = bound_exceeding(values, share * (1 - _MISSED), alpha)
    least, _ = bound_exceeding(values, share + _MISSED * (1 - share), alpha)
    high = upper_bound(int(most), runs, _MISSED) if math.isfinite(most) else 1.0
    low = lower_bound(int(least), runs, _MISSED) if math.isfinite(least) else 0.0
    return low, high


def undercut_by_bounds(
    least: Floats, share: float, missed: float, alpha: float
) -> float:
    r"""Bound from below the value that a share p of all words undercuts.

    ``least`` are lower bounds of the scores of independent words, each wrong with
    chance at most ``missed``: :math:`P(S < s) \le P(L < s) + P(S < L)`, so that much
    less than p may be searched. Wrong with chance at most ``alpha``; minus infinity
    where there are too few words.
    """
    return -bound_exceeding(-least, share - missed, alpha)[1]


def _supports_of_some(outputs: Ids, alpha: float) -> dict[str, float]:
    """Bound percentiles of S_w from below, by runs of some words."""
    found = {}
    for name, share in S_W.items():
        least = _least_supports(outputs, missed := share * _MISSED)
        found[name] = undercut_by_bounds(least, share, missed, alpha)
    return found


def _supports_of_all(outputs: Ids, alpha: float) -> dict[str, float]:
    """Bound percentiles of S_w from below where no word was left out."""
    least = _least_supports(outputs, alpha / len(outputs))
    found = {"s_w_min": float(least.min())}
    for name, share in S_W.items():
        found[name] = float(np.quantile(least, share, method="lower"))
    return found


def _least_supports(outputs: Ids, alpha: float) -> Floats:
    """Bound :math:`S_w` of each row from below, wrong with chance alpha."""
    counts = (np.unique(row, return_counts=True)[1] for row in outputs)
    return np.array([float(least_support(each, ETA, alpha)) for each in counts])


def prior_scores(
    state: State,
    prior: Floats,
    draws: int,
    rng: Generator,
    confidence: float = 0.95,
    progress: Progress = no_progress,
) -> dict[str, Ends]:
    r"""Estimate what holds under a prior: draw an input, then one output, many times.

    ``n_w`` and ``utility_loss`` (where there are distances) are means. The others, for
    a loss of 0 or 1, are bounds alone, far apart unless there are many more draws than
    likely outputs. Each interval by itself has that confidence.

    ``inference_error``: given that an output was drawn :math:`N_y \ge 2` times, its
    inputs are independent draws from the posterior, and two of them agree with
    probability :math:`\sum_v g(v \mid y)^2`, whatever :math:`N_y`. So with
    :math:`n_{wy}` draws of a pair, :math:`n` in all,

    .. math::

        C = \frac{1}{n} \sum_{y : N_y \ge 2} \sum_w
            \frac{n_{wy} (n_{wy} - 1)}{N_y - 1}

    is an unbiased estimate of :math:`1 - E_M` but for the outputs seen once, whose
    share bounds what they could add (Good, Biometrika 1953). One draw changes
    :math:`n C` by at most 3 (McDiarmid 1989).

    ``bayes_risk``: an adversary who learned his guesses from one half errs on the
    other at least as often as the best one: an upper bound. The errors of the best
    guesses for the very draws they are counted on, whose number one draw changes by at
    most 1, are too few on average: a lower bound.
    """
    space = state.space
    inputs = draw_inputs(prior, draws, rng)
    outputs = sample_outputs(state, inputs, rng, progress)
    distances = pair_distances(space, inputs, outputs)
    hits, alpha = int((inputs == outputs).sum()), check_confidence(confidence) / 2
    found = {
        "n_w": (lower_bound(hits, draws, alpha), upper_bound(hits, draws, alpha)),
        "bayes_risk": _bayes_risk(inputs, outputs, space.vocab_size, alpha),
        "inference_error": _inference_error(inputs, outputs, alpha),
    }
    if distances is not None:
        diameter = space.geometry.diameter
        found["utility_loss"] = bound_mean(distances, 0.0, diameter, confidence).ends
    return found


def _inference_error(inputs: Ids, outputs: Ids, alpha: float) -> Ends:
    draws = len(inputs)
    pairs, pair_counts = np.unique(_pairs(inputs, outputs), return_counts=True)
    seen, counts = np.unique(outputs, return_counts=True)
    of_output = counts[np.searchsorted(seen, pairs >> 32)]
    agreeing = pair_counts * (pair_counts - 1) / np.maximum(of_output - 1, 1)
    share, once = agreeing.sum() / draws, (counts == 1).sum() / draws
    slack = deviation(3 / draws, draws, alpha)
    low, high = 1 - share - once - slack, 1 - share + slack
    return max(0.0, float(low)), min(1.0, float(high))


def _bayes_risk(inputs: Ids, outputs: Ids, vocab_size: int, alpha: float) -> Ends:
    draws, half = len(inputs), len(inputs) // 2
    right = best_guesses(inputs, outputs)[1].sum()
    low = 1 - float(right) / draws - deviation(1 / draws, draws, alpha)
    # The guesser takes the output itself for the input until he has seen otherwise,
    # as if he had seen that once.
    every = np.arange(vocab_size, dtype=np.int32)
    guesses, _ = best_guesses(
        np.concatenate([every, inputs[:half]]), np.concatenate([every, outputs[:half]])
    )
    wrong = int((guesses[outputs[half:]] != inputs[half:]).sum())
    high = upper_bound(wrong, draws - half, alpha)
    return max(0.0, min(low, high)), high


def best_guesses(inputs: Ids, outputs: Ids) -> tuple[Weights, Weights]:
    """Find the most frequent input of each output seen, and how often it was."""
    pairs, counts = np.unique(_pairs(inputs, outputs), return_counts=True)
    order = np.argsort(counts, kind="stable")  # the last one written is the largest
    size = int(outputs.max()) + 1
    guesses, most = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    guesses[pairs[order] >> 32] = pairs[order] & 0xFFFFFFFF
    most[pairs[order] >> 32] = counts[order]
    return guesses, most


def _pairs(inputs: Ids, outputs: Ids) -> Weights:
    """Make one integer of each pair of output and input."""
    return (outputs.astype(np.int64) << 32) | inputs
