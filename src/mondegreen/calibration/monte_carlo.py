r"""Scores of mechanisms that can only be sampled, from runs, with intervals.

Words of the vocabulary are run again and again for the scores of a word. For what holds
under a prior, inputs are drawn from it, one output of each: every draw is independent,
whatever the law. Risks are biased if one set of draws both finds the best guess and
counts its errors; here one half finds and the other counts, which errs on one side, and
what counts the draws it has found them on bounds the other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids
from mondegreen.calibration.score_bounds import (
    ETA,
    Effort,
    ScoreBounds,
    under,
    within,
)
from mondegreen.calibration.subsample import draw_inputs, exceeded
from mondegreen.mechanisms.base import Progress, State, no_progress
from mondegreen.scores.definitions import N_W, S_W
from mondegreen.scores.interval import (
    Ends,
    Interval,
    bounded_mean,
    check_confidence,
    deviation,
    lower_bound,
    proportion,
    upper_bound,
)
from mondegreen.scores.similarity import pair_distances

_CHUNK: Final = 1 << 14

_LEAST_RUNS: Final = 256
"""Outputs of each word of a vocabulary that is run as a whole: they are cheap there."""

_MISSED: Final = 0.1
"""Share of a tail that runs may overlook; what is searched is that much smaller."""

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


def monte_carlo(
    state: State,
    priors: Mapping[str, Floats],
    effort: Effort,
    rng: np.random.Generator,
    *,
    confidence: float = 0.95,
    progress: Progress = no_progress,
) -> ScoreBounds:
    """Score a prepared mechanism by its outputs alone.

    A vocabulary of at most ``effort.words`` words is run as a whole, each word more
    often. Each interval by itself has that confidence.
    """
    size = state.space.vocab_size
    is_whole = size <= effort.words
    if is_whole:
        words = np.arange(size, dtype=np.int32)
        runs = max(effort.words * effort.runs // size, _LEAST_RUNS)
    else:
        words = rng.integers(size, size=effort.words).astype(np.int32)
        runs = effort.runs
    own, each = len(words) * runs, effort.draws
    total = own + len(priors) * each
    inputs = np.repeat(words, runs)
    outputs = sampled(state, inputs, rng, within(progress, 0, own / total))
    outputs = outputs.reshape(len(words), runs)
    hits = (outputs == words[:, None]).sum(axis=1)
    scores = _stays(hits, runs, confidence, is_whole=is_whole)
    scores.update(_supports(outputs, size, confidence, is_whole=is_whole))
    for turn, (name, prior) in enumerate(priors.items()):
        part = within(progress, (own + turn * each) / total, each / total)
        found = prior_scores(state, prior, each, rng, confidence, part)
        ends = {key: interval.ends for key, interval in found.items()}
        scores.update(under(name, prior, ends))
        if name == "uniform" and "utility_loss" in found:
            scores["distance_mean"] = ends["utility_loss"]
    return ScoreBounds.of(state, scores, words, hits / runs, None)


def sampled(
    state: State,
    inputs: Ids,
    rng: np.random.Generator,
    progress: Progress = no_progress,
) -> Ids:
    """Draw an output for each input, chunk by chunk."""
    outputs = np.empty_like(inputs)
    for start in range(0, len(inputs), _CHUNK):
        part = slice(start, start + _CHUNK)
        outputs[part] = state.sample(inputs[part], rng)
        progress(min(1.0, (start + _CHUNK) / len(inputs)))
    return outputs


def _stays(
    hits: Counts, runs: int, confidence: float, *, is_whole: bool
) -> dict[str, Ends]:
    """Bound N_w, its mean and its percentiles."""
    shares, alpha = hits / runs, (1 - confidence) / 2
    values, places = np.unique(hits, return_inverse=True)
    each = alpha / len(hits)  # all words at once
    lows = np.array([lower_bound(int(h), runs, each) for h in values])[places]
    if not is_whole:
        mean = bounded_mean(shares, 0.0, 1.0, confidence)
        scores = {"n_w_mean": mean.ends, "n_w_max": (float(lows.max()), 1.0)}
        for name, quantile in N_W.items():
            scores[name] = exceeded_by_runs(hits, runs, 1 - quantile, alpha)
        return scores
    # No word was left out, so only the runs are random.
    highs = np.array([upper_bound(int(h), runs, each) for h in values])[places]
    count = hits.size * runs
    middle, slack = float(shares.mean()), deviation(1 / count, count, alpha)
    scores = {
        "n_w_mean": (max(0.0, middle - slack), min(1.0, middle + slack)),
        "n_w_max": (float(lows.max()), float(highs.max())),
    }
    for name, quantile in N_W.items():
        ends = np.quantile([lows, highs], quantile, axis=1, method="higher")
        scores[name] = float(ends[0]), float(ends[1])
    return scores


def exceeded_by_runs(
    hits: NDArray[np.integer], runs: int, share: float, alpha: float
) -> Ends:
    r"""Bound the chance that a share p of all words exceeds, by runs of some words.

    With :math:`h` hits of a random word in R runs and its chance N,

    .. math:: P(h \ge k) \ge P(N > q)\, P(\mathrm{Bin}(R, q) \ge k)

    so a bound of the left side, which is counted, bounds the first factor for every
    q at which the second is at least 0.9. The lower end is found alike. Each end is
    wrong with chance at most ``alpha``, over independent words.

    Examples
    --------
    >>> exceeded_by_runs(np.full(1000, 5), 10, 0.05, 0.025)  # as if N = 0.5
    (0.267..., 0.732...)
    """
    values = hits.astype(np.float64)
    _, most = exceeded(values, share * (1 - _MISSED), alpha)
    least, _ = exceeded(values, share + _MISSED * (1 - share), alpha)
    high = upper_bound(int(most), runs, _MISSED) if math.isfinite(most) else 1.0
    low = lower_bound(int(least), runs, _MISSED) if math.isfinite(least) else 0.0
    return low, high


def undercut_by_bounds(
    bounds: Floats, share: float, missed: float, alpha: float
) -> float:
    r"""Bound from below the value that a share p of all words undercuts.

    ``bounds`` are lower bounds of the scores of independent words, each wrong with
    chance at most ``missed``: :math:`P(S < s) \le P(L < s) + P(S < L)`, so that much
    less than p may be searched. Wrong with chance at most ``alpha``; minus infinity
    where there are too few words.
    """
    return -exceeded(-bounds, share - missed, alpha)[1]


def _supports(
    outputs: Ids, vocab_size: int, confidence: float, *, is_whole: bool
) -> dict[str, Ends]:
    """Bound percentiles of S_w from below; see ``word_estimate``."""
    alpha, largest = (1 - confidence) / 2, float(vocab_size)
    found = {}
    if is_whole:
        bounds = _least_supports(outputs, alpha / len(outputs))
        found["s_w_min"] = float(bounds.min())
    for name, share in S_W.items():
        if is_whole:
            found[name] = float(np.quantile(bounds, share, method="lower"))
        else:
            missed = share * _MISSED
            some = _least_supports(outputs, missed)
            found[name] = undercut_by_bounds(some, share, missed, alpha)
    return {name: (max(low, 1.0), largest) for name, low in found.items()}


def _least_supports(outputs: Ids, alpha: float) -> Floats:
    r"""Bound :math:`S_w` of each row from below, wrong with chance alpha.

    The most frequent outputs of any runs hold, on average, at least the mass of the
    likeliest: what they lack, beyond the deviation, is lacking.
    """
    runs = outputs.shape[1]
    slack = deviation(1 / runs, runs, alpha)
    bounds = np.empty(len(outputs))
    for i, row in enumerate(outputs):
        counts = np.sort(np.unique(row, return_counts=True)[1])[::-1]
        bounds[i] = 1 + int((np.cumsum(counts) / runs + slack < 1 - ETA).sum())
    return bounds


def prior_scores(
    state: State,
    prior: Floats,
    draws: int,
    rng: np.random.Generator,
    confidence: float = 0.95,
    progress: Progress = no_progress,
) -> dict[str, Interval]:
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
    outputs = sampled(state, inputs, rng, progress)
    distances = pair_distances(space, inputs, outputs)
    found = {
        "n_w": proportion(int((inputs == outputs).sum()), draws, confidence),
        "bayes_risk": _bayes_risk(inputs, outputs, space.vocab_size, confidence),
        "inference_error": _inference_error(inputs, outputs, confidence),
    }
    if distances is not None:
        diameter = space.geometry.diameter
        found["utility_loss"] = bounded_mean(distances, 0.0, diameter, confidence)
    return found


def _inference_error(inputs: Ids, outputs: Ids, confidence: float) -> Interval:
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
    """Find the most frequent input of each output seen, and how often it was."""
    pairs, counts = np.unique(_pairs(inputs, outputs), return_counts=True)
    order = np.argsort(counts, kind="stable")  # the last one written is the largest
    size = int(outputs.max()) + 1
    guesses, most = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    guesses[pairs[order] >> 32] = pairs[order] & 0xFFFFFFFF
    most[pairs[order] >> 32] = counts[order]
    return guesses, most


def _pairs(inputs: Ids, outputs: Ids) -> Counts:
    """Make one integer of each pair of output and input."""
    return (outputs.astype(np.int64) << 32) | inputs
