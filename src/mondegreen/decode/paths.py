r"""Best paths, posteriors and draws of sentences, by triples of words.

A state is the pair of candidates (v, w) at a place and the one before it. With
:math:`T(u, v, w) = \ln p(w \mid u, v)` and the channel :math:`e(w) = \ln P(y \mid w)`,

.. math:: \delta_t(v, w) = e_t(w) + \bigoplus_u [\delta_{t-1}(u, v) + T_t(u, v, w)]

where the sum is a maximum for the best sentence (Viterbi), and the logarithm of a sum
of exponentials for posteriors (forward-backward). Rabiner: "A Tutorial on Hidden Markov
Models", Proceedings of the IEEE, 1989, for models of second order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mondegreen.decode.book import Indices
from mondegreen.decode.lattice import Lattice
from mondegreen.decode.tables import Singles

Combine = Callable[[Singles, int], Singles]
Choose = Callable[[Singles], Indices]


def best(values: Singles, axis: int) -> Singles:
    """The largest value along an axis."""
    return np.asarray(values.max(axis=axis))


def log_sum(values: Singles, axis: int) -> Singles:
    """The logarithm of the sum of exponentials along an axis."""
    top = values.max(axis=axis, keepdims=True)
    shift = np.where(np.isfinite(top), top, 0)
    with np.errstate(divide="ignore"):
        total = np.log(np.exp(values - shift).sum(axis=axis, keepdims=True))
    return np.asarray((total + shift).squeeze(axis))


class _Step(NamedTuple):
    """A step: its places, and those before them; as rows behind the first step, too."""

    now: slice
    before: slice
    row: slice
    last: slice  # rows of the places before: below 0 in the first step
    triples: Singles


def _steps(lattice: Lattice, triples: Singles) -> list[_Step]:
    first, third = int(lattice.offsets[1]), int(lattice.offsets[2])
    return [
        _Step(
            now,
            before,
            row,
            slice(before.start - first, before.stop - first),
            triples[max(now.start - third, 0) : max(now.stop - third, 0)],
        )
        for now, before, row in lattice.steps()
    ]


def forward(lattice: Lattice, triples: Singles, combine: Combine) -> Singles:
    """The values of states, shape (places behind the first step, K, K)."""
    # delta, with axes (row, v, w). It starts with the two first places of a sentence:
    # e(v) + ln p(w | v) + e(w).
    states = np.empty_like(lattice.scores)
    for now, before, row, last, steps in _steps(lattice, triples):
        if last.start < 0:
            start = lattice.channel[before][:, :, None] + lattice.scores[row]
        else:
            # Axes (row, u, v, w): the sum runs over u.
            start = combine(states[last][:, :, :, None] + steps, 1)
        states[row] = start + lattice.channel[now][:, None, :]
    return states


def backward(lattice: Lattice, triples: Singles, combine: Combine) -> Singles:
    """What follows each state, shape (places behind the first step, K, K)."""
    # beta_{t-1}(u, v) = sum_w [T_t(u, v, w) + e_t(w) + beta_t(v, w)], axes (row, u, v).
    # A sentence that ends has 0 = ln 1 behind it.
    onward = np.zeros_like(lattice.scores)
    for now, _, row, last, steps in reversed(_steps(lattice, triples)[1:]):
        rest = lattice.channel[now][:, None, :] + onward[row]
        onward[last] = combine(steps + rest[:, None, :, :], 3)
    return onward


def marginals(lattice: Lattice) -> Singles:
    """The posterior of every candidate, shape (places behind the first step, K)."""
    triples = lattice.triples()
    states = forward(lattice, triples, log_sum) + backward(lattice, triples, log_sum)
    # delta + beta is ln P(v, w, y): the sum over v is that of w, up to the constant ln
    # P(y) of the sentence, which the last line takes off.
    found = log_sum(states, 1)
    shares = np.exp(found - found.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def likelihoods(lattice: Lattice) -> Singles:
    """The logarithm of the sum of all paths of each sentence, shape (sentences,)."""
    states = forward(lattice, lattice.triples(), log_sum)
    lengths = lattice.lengths
    # The row of the last place of each sentence, its step n + 1.
    end = lattice.offsets[lengths + 1] + np.arange(len(lengths)) - lattice.offsets[1]
    return log_sum(states[end][:, :, 0], 1)  # its last place is the boundary


def path(lattice: Lattice, combine: Combine, choose: Choose) -> NDArray[np.int64]:
    """One sentence of candidates: their places in the rows behind the first step.

    From the last word to the first, ``choose`` picks one of the states, a row of
    values for each sentence: the largest for the best sentence, a draw for a draw.
    """
    triples = lattice.triples()
    states = forward(lattice, triples, combine)
    found = np.zeros(len(states), dtype=np.int64)
    lengths = lattice.lengths
    earlier = np.zeros(len(lengths), dtype=np.int64)
    for number, (_, _, row, last, steps) in reversed(
        list(enumerate(_steps(lattice, triples), 1))
    ):
        size = row.stop - row.start
        own = np.arange(size)
        ending = own[lengths[:size] + 1 == number]  # its last place is the boundary
        found[row][ending] = 0
        earlier[ending] = choose(states[row][ending, :, 0])
        if number == 1:
            continue
        v, w = earlier[:size], found[row]
        found[last] = v
        # Given v and w, the state (u, v) before is worth delta_{t-1}(u, v) + T_t(u, v,
        # w), a row over u for each sentence: e_t(w) is the same for all u.
        values = states[last][own, :, v] + steps[own, :, v, w]
        earlier[:size] = choose(values)
    return found
