"""An adversary who knows the law, and which words follow each other in public text.

Each word of a release has its likeliest inputs, by the frequency of words in public
text and the law. The context-free guess is the first of them. The contextual one is
the input of largest posterior under a hidden Markov model: pairs of words of public
text and the law of the mechanism, by the forward-backward algorithm.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.measure.trees.word_model import WordModel

__all__ = ["guesses"]

CANDIDATES = 50
WORDS = 12_000
"""Words of public text that are guessed at all, the most frequent."""
WINDOW = 40
"""Words that are decoded together."""
_BLOCK = 512


def guesses(
    state: Any, model: WordModel, ends: np.ndarray, released: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The guess of every word by both adversaries.

    Parameters
    ----------
    state : State
        The mechanism, whose law is known.
    model : WordModel
        Of public text.
    ends : int array
        Where each text begins and ends.
    released : int array
        One output for each word.
    """
    outputs, at = np.unique(released, return_inverse=True)
    words, scores = _candidates(state, model.unigrams, outputs)
    laws = scores / model.unigrams[words]
    free = words[np.arange(len(outputs)), scores.argmax(axis=1)][at]
    guessed = np.empty_like(free)
    places, lengths, starts = _windows(ends)
    sizes = np.arange(WINDOW)[:, None] < lengths  # by place, by window
    counts = sizes.sum(axis=1)
    some = [at[places[:n] + t] for t, n in enumerate(counts.tolist()) if n]
    first = np.full(len(places), model.size + 1)[:, None]
    begun = np.where(
        starts[:, None],
        model.pair(np.broadcast_to(first, words[some[0]].shape), words[some[0]]),
        model.unigrams[words[some[0]]],
    )
    forward, moves = [_scaled(begun * laws[some[0]])], []
    for before, now in pairwise(some):
        before = before[: len(now)]
        pair = np.broadcast_arrays(words[before][:, :, None], words[now][:, None, :])
        moves.append(model.pair(*pair).astype(np.float32))
        coming = np.einsum("ni,nij->nj", forward[-1][: len(now)], moves[-1])
        forward.append(_scaled(coming * laws[now]))
    backward = np.ones_like(forward[-1])
    for t in range(len(some) - 1, -1, -1):
        best = (forward[t] * backward).argmax(axis=1)
        chosen = words[some[t], best]
        guessed[places[: len(chosen)] + t] = chosen
        if t:
            ahead = np.ones((len(some[t - 1]), CANDIDATES))
            onward = laws[some[t]] * backward
            ahead[: len(chosen)] = _scaled(
                np.einsum("nij,nj->ni", moves[t - 1], onward)
            )
            backward = ahead
    return free, guessed


def _candidates(
    state: Any, prior: np.ndarray, outputs: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The likeliest inputs of outputs, and prior times law of each."""
    size = len(prior) - 1
    likely = np.argsort(-prior[:size], kind="stable")[:WORDS]
    likely = np.append(likely, size).astype(np.int32)
    table = np.empty((len(likely), len(outputs)), dtype=np.float32)
    for start in range(0, len(likely), _BLOCK):
        block = likely[start : start + _BLOCK]
        law = np.exp(state.log_prob(block)[:, outputs])
        table[start : start + _BLOCK] = law * prior[block][:, None]
    rows = np.ascontiguousarray(table.T)
    top = np.argpartition(-rows, CANDIDATES - 1, axis=1)[:, :CANDIDATES]
    found = np.take_along_axis(rows, top, axis=1).astype(np.float64)
    return likely[top], found


def _windows(ends: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Beginnings and lengths of windows, longest first; which begin a text."""
    places, lengths, starts = [], [], []
    for begin, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        for place in range(begin, end, WINDOW):
            places.append(place)
            lengths.append(min(WINDOW, end - place))
            starts.append(place == begin)
    order = np.argsort(-np.array(lengths), kind="stable")
    return np.array(places)[order], np.array(lengths)[order], np.array(starts)[order]


def _scaled(values: np.ndarray) -> np.ndarray:
    """Rows that sum to 1."""
    return values / np.maximum(values.sum(axis=1, keepdims=True), 1e-300)
