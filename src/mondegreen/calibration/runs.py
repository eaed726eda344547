r"""Scores of mechanisms that can only be sampled, from runs, with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids
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
from mondegreen.calibration.rows import ends_of
from mondegreen.calibration.tail import (
    exceeded_by_runs,
    lower_end,
    undercut_by_bounds,
    upper_end,
)
from mondegreen.mechanisms.base import State
from mondegreen.scores.interval import bounded_mean, deviation
from mondegreen.scores.mechanism_estimate import estimate_mechanism

_CHUNK: Final = 1 << 14

_LEAST_RUNS: Final = 256
"""Outputs of each word of a vocabulary that is run as a whole: they are cheap there."""

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


def trial(
    state: State,
    priors: Mapping[str, Floats],
    effort: Effort,
    rng: np.random.Generator,
    *,
    confidence: float = 0.95,
    progress: Progress = lambda share: None,
) -> Found:
    """Return scores of a prepared mechanism from its outputs alone.

    Parameters
    ----------
    state : State
        Prepared.
    priors : mapping of str to float64 array, shape (V + 1,)
        What the adversary expects, by name.
    effort : Effort
        Words, runs of each, and draws for each prior. A vocabulary of no more words
        is run as a whole, each word more often.
    rng : numpy.random.Generator
        Consumed.
    confidence : float in (0, 1)
        Of each interval by itself.
    progress : callable
        Called with the share that is done.
    """
    space = state.space
    is_whole = space.vocab_size <= effort.words
    if is_whole:
        words = np.arange(space.vocab_size, dtype=np.int32)
        runs = max(effort.words * effort.runs // space.vocab_size, _LEAST_RUNS)
    else:
        words = rng.integers(space.vocab_size, size=effort.words).astype(np.int32)
        runs = effort.runs
    total = len(words) * runs + len(priors) * effort.draws
    own = len(words) * runs / total
    outputs = _outputs(state, words, runs, rng, lambda share: progress(own * share))
    hits = (outputs == words[:, None]).sum(axis=1)
    scores = _stays(hits, runs, confidence, is_whole=is_whole)
    scores.update(_supports(outputs, space.vocab_size, confidence, is_whole=is_whole))
    for turn, (name, prior) in enumerate(priors.items()):
        start = own + turn * effort.draws / total

        def advance(share: float, start: float = start) -> None:
            progress(start + share * effort.draws / total)

        scores.update(
            _of_prior(state, name, prior, effort.draws, rng, confidence, advance)
        )
    return Found(
        is_exact=False,
        scores=scores,
        n_w=hundred(hits / runs, round_up=True),
        s_w=None,
        worst=worst_words(space.words, words, hits / runs),
    )


def _outputs(
    state: State, words: Ids, runs: int, rng: np.random.Generator, progress: Progress
) -> Ids:
    """Return outputs, one row for each word."""
    inputs = np.repeat(words, runs)
    outputs = np.empty_like(inputs)
    for start in range(0, len(inputs), _CHUNK):
        part = slice(start, start + _CHUNK)
        outputs[part] = state.sample(inputs[part], rng)
        progress(min(1.0, (start + _CHUNK) / len(inputs)))
    return outputs.reshape(len(words), runs)


def _stays(
    hits: Counts, runs: int, confidence: float, *, is_whole: bool
) -> dict[str, Ends]:
    """Return bounds of N_w, of its mean and of its percentiles."""
    shares, alpha = hits / runs, (1 - confidence) / 2
    scores = {"n_w_mean": ends_of(bounded_mean(shares, 0.0, 1.0, confidence))}
    if is_whole:  # no word was left out, so only the runs are random
        mean, slack = float(shares.mean()), deviation(1, len(hits) * runs, alpha)
        slack /= len(hits) * runs
        scores["n_w_mean"] = max(0.0, mean - slack), min(1.0, mean + slack)
    each = alpha / len(hits)  # all words at once
    values, places = np.unique(hits, return_inverse=True)
    lows = np.array([lower_end(int(h), runs, each) for h in values])[places]
    if not is_whole:
        for percent in PERCENTILES:
            share = 1 - percent / 100
            scores[f"n_w_{percent}"] = exceeded_by_runs(hits, runs, share, alpha)
        scores["n_w_max"] = float(lows.max()), 1.0
        return scores
    highs = np.array([upper_end(int(h), runs, each) for h in values])[places]
    for percent in PERCENTILES:
        low, high = (
            float(np.quantile(ends, percent / 100, method="higher"))
            for ends in (lows, highs)
        )
        scores[f"n_w_{percent}"] = low, high
    scores["n_w_max"] = float(lows.max()), float(highs.max())
    return scores


def _supports(
    outputs: Ids, vocab_size: int, confidence: float, *, is_whole: bool
) -> dict[str, Ends]:
    """Return lower bounds of percentiles of S_w; see ``word_estimate``."""
    alpha, scores = (1 - confidence) / 2, {}
    for percent in PERCENTILES:
        share = 1 - percent / 100
        if is_whole:
            bounds = _least_supports(outputs, alpha / len(outputs))
            low = float(np.quantile(bounds, share, method="lower"))
        else:
            missed = share / 10
            bounds = _least_supports(outputs, missed)
            low = undercut_by_bounds(bounds, share, missed, alpha)
        scores[f"s_w_{100 - percent:02d}"] = max(low, 1.0), float(vocab_size)
    if is_whole:
        scores["s_w_min"] = float(bounds.min()), float(vocab_size)
    return scores


def _least_supports(outputs: Ids, alpha: float) -> Floats:
    r"""Return a lower bound of :math:`S_w` for each row, wrong with chance alpha.

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


def _of_prior(
    state: State,
    name: str,
    prior: Floats,
    draws: int,
    rng: np.random.Generator,
    confidence: float,
    progress: Progress,
) -> dict[str, Ends]:
    """Return what holds under one prior."""
    found = estimate_mechanism(
        state, prior, draws, rng, confidence=confidence, progress=progress
    )
    before = float(1 - prior.max())
    low, high = ends_of(found.bayes_risk)
    high = min(high, before)
    scores: dict[str, Ends] = {
        f"n_w_{name}": ends_of(found.stay),
        f"prior_risk_{name}": (before, before),
        f"bayes_risk_{name}": (min(low, high), high),
        f"inference_error_{name}": ends_of(found.inference_error),
    }
    if found.distance is not None:
        scores[f"utility_loss_{name}"] = ends_of(found.distance)
        if name == "uniform":
            scores["distance_mean"] = ends_of(found.distance)
    return scores
