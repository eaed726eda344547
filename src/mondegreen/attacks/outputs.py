r"""What the outputs of a closed law disclose about one input, without its context.

For a prior :math:`\pi` and every output :math:`y` of the vocabulary

.. math::

    b(y) = \max_x \pi(x) P(y \mid x), \quad P(y) = \sum_x \pi(x) P(y \mid x), \quad
    P_C(y) = \sum_{x \in C} \pi(x) P(y \mid x)

with the input that reaches the maximum, which is the best guess. All attacks on single
words are sums of these. A tree takes a moment, by its levels; another law in one pass
over the pairs of words, a block of inputs at a time.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from mondegreen.arrays import Floats, Ids, in_blocks, slices
from mondegreen.calibration.guess import class_of_words
from mondegreen.errors import LawUnknownError
from mondegreen.mechanisms.base import Progress, State, no_progress
from mondegreen.mechanisms.laws.tree import TreeLaw
from mondegreen.sampling.integers import TOTAL
from mondegreen.scores.law import compute_distances
from mondegreen.space.tree import WordTree

IMPOSSIBLE: Final = -700.0
"""Logarithm that stands for a probability of 0, so that sums stay finite."""

# Distances computed together, and then inputs worked on together.
_BLOCK_BYTES: Final = 96 << 20
_STRIPE: Final = 16


@final
@dataclass(frozen=True, slots=True)
class Outputs:
    """What each output discloses about its input, under one prior.

    ``guess`` is the most likely input of each output and ``best`` its joint probability
    with it, ``total`` the probability of the output, all of shape (V,); ``of_sets`` the
    joint probability with each set of inputs, (sets, V); ``noise`` the entropy of an
    output given its input, in nats.
    """

    prior: Floats
    guess: Ids
    best: Floats
    total: Floats
    of_sets: Floats
    noise: float

    @property
    def success(self) -> float:
        """How often the best guess is right: 1 less the Bayes risk."""
        return float(self.best.sum())

    def compute_recovered(self) -> Floats:
        r"""Tell how often each input is guessed, shape (V + 1,).

        .. math:: r(x) = \sum_y P(y \mid x) \, [\text{guess}(y) = x]

        0 for inputs that the adversary does not expect.
        """
        hits = np.bincount(self.guess, self.best, len(self.prior))
        return np.divide(hits, self.prior, out=np.zeros_like(hits), where=hits > 0)


def has_closed_law(state: State) -> bool:
    """Whether the probabilities of a state are known."""
    try:
        state.log_prob(np.zeros(1, dtype=np.int32))
    except LawUnknownError:
        return False
    return True


def compute_outputs(
    state: State,
    priors: Sequence[Floats],
    sets: Sequence[Ids] = (),
    progress: Progress = no_progress,
) -> list[Outputs]:
    """Look at a closed law with each prior, of shape (V + 1,), and sets of inputs.

    ``progress`` is told the share of the inputs that are done. Raises LawUnknownError
    for a law without a closed form.
    """
    law = state.tree_law
    if law is not None:
        return [_of_tree(law, prior, sets) for prior in priors]
    return _of_rows(state, priors, sets, progress)


def pass_over(
    state: State,
    ids: Ids,
    work: Callable[[Ids, Floats, Floats], None],
    progress: Progress = no_progress,
) -> None:
    """Hand over inputs, logarithms and probabilities of their laws, (T, V) each.

    Some inputs at a time, that follow each other, from several threads at once. The
    logarithm of 0 is :data:`IMPOSSIBLE`.
    """
    law = state.tree_law
    tree = None if law is None else _TreeRows(law)
    distances = compute_distances(state.space) if state.takes_distances else None

    def look(block: Ids) -> None:
        if tree is not None:
            for part in slices(len(block), _STRIPE):
                work(block[part], *tree.rows(block[part]))
            return
        parts = (block[part] for part in slices(len(block), _STRIPE))
        stripes = (
            ((p, None) for p in parts)
            if distances is None
            else (distances.stripes(block, _STRIPE))
        )
        for some, near in stripes:
            logs, law = state.log_rows(some, near)
            if state.has_zeros:
                logs[law == 0] = IMPOSSIBLE
            work(some, logs, law)

    size = max(_STRIPE, _BLOCK_BYTES // (8 * state.output_count))
    deque(in_blocks(look, ids, size, progress), maxlen=0)


@final
class _Sums:
    """What the inputs so far say of every output, under one prior."""

    def __init__(self, prior: Floats, sets: Sequence[Ids], size: int) -> None:
        self.prior, self.weights = prior, _joint(prior, sets)
        self.best = np.zeros(size)
        self.guess = np.zeros(size, dtype=np.int32)
        self.masses = np.zeros((len(sets) + 1, size))
        self.noise = 0.0
        self._lock = threading.Lock()

    def add(self, ids: Ids, law: Floats, entropies: Floats) -> None:
        prior = self.prior[ids]
        if not prior.any():
            return
        joint = law * prior[:, None]
        peaks, mass = joint.max(axis=0), self.weights[:, ids] @ law
        # Most inputs are the best guess of few outputs.
        (some,) = np.nonzero((peaks >= self.best) & (peaks > 0))
        places, values = ids[joint[:, some].argmax(axis=0)], peaks[some]
        with self._lock:
            # Of equally likely inputs the first, whichever thread comes first.
            best, guess = self.best[some], self.guess[some]
            better = (values > best) | ((values == best) & (places < guess))
            self.best[some[better]] = values[better]
            self.guess[some[better]] = places[better]
            self.masses += mass
            self.noise += float(prior @ entropies)

    def outputs(self) -> Outputs:
        masses = self.masses
        return Outputs(
            self.prior, self.guess, self.best, masses[0], masses[1:], self.noise
        )


def _of_rows(
    state: State,
    priors: Sequence[Floats],
    sets: Sequence[Ids],
    progress: Progress,
) -> list[Outputs]:
    """Pass over the inputs that any of the priors expects, the most likely first."""
    likeliest = np.array(priors).max(axis=0)
    order = np.argsort(-likeliest, kind="stable")
    ids = order[likeliest[order] > 0].astype(np.int32)
    sums = [_Sums(prior, sets, state.output_count) for prior in priors]

    def work(some: Ids, logs: Floats, law: Floats) -> None:
        entropies = -np.einsum("ij,ij->i", law, logs)
        for each in sums:
            each.add(some, law, entropies)

    pass_over(state, ids, work, progress)
    return [each.outputs() for each in sums]


def _joint(prior: Floats, sets: Sequence[Ids]) -> Floats:
    """Lay out the prior, and what of it lies in each set, shape (sets + 1, V + 1)."""
    found = np.zeros((len(sets) + 1, len(prior)))
    found[0] = prior
    for row, members in zip(found[1:], sets, strict=True):
        row[members] = prior[members]
    return found


def _of_tree(law: TreeLaw, prior: Floats, sets: Sequence[Ids]) -> Outputs:
    """Sum up a tree level by level: what lies in one node has one probability."""
    tree, size = law.tree, law.tree.vocab_size
    shares = level_shares(law)
    ends = shares[-1]  # of an output that meets its input at the root
    parts = shares[:-1, :-1] - shares[1:, :-1]  # by a draw in a node below it
    masses = _joint(prior, sets)
    totals = np.empty((len(masses), size))
    for mass, total in zip(masses, totals, strict=True):
        total[:] = mass @ ends
        for level, part in enumerate(parts):
            nodes = tree.nodes[level, :-1]
            total += np.bincount(nodes, mass[:-1])[nodes] * part
    guess, best = _best_of_tree(tree, prior, shares)
    noise = _noise(tree, prior, shares)
    return Outputs(prior, guess, best, totals[0], totals[1:], noise)


def level_shares(law: TreeLaw) -> Floats:
    """Compute F_l of every input: its chance of a word that it meets at level l.

    Shape (levels + 1, V + 1), rising with l towards the word itself at level 0; the
    unknown word, which is last, has all outputs alike.
    """
    tree = law.tree
    rows = np.array(law.by_child(), dtype=np.float64) / TOTAL
    parts = rows[class_of_words(tree)].T / tree.sizes_by_word()
    shares = np.full((len(parts), tree.vocab_size + 1), 1 / tree.vocab_size)
    shares[:, :-1] = np.cumsum(parts[::-1], axis=0)[::-1]
    return shares


def logarithms(values: Floats) -> Floats:
    """Take logarithms, that of 0 as :data:`IMPOSSIBLE`."""
    return np.log(values, out=np.full(values.shape, IMPOSSIBLE), where=values > 0)


@final
class _TreeRows:
    """The laws of inputs of a tree, laid out node by node."""

    def __init__(self, law: TreeLaw) -> None:
        self.tree, self.shares = law.tree, level_shares(law)
        self.logs = logarithms(self.shares)
        self.place = np.argsort(self.tree.order)

    def rows(self, ids: Ids) -> tuple[Floats, Floats]:
        """Give logarithms and probabilities of all outputs, (T, V) each."""
        tree, size = self.tree, self.tree.vocab_size
        laws = [np.empty((len(ids), size)) for _ in range(2)]
        for law, values in zip(laws, (self.logs, self.shares), strict=True):
            for row, word in zip(law, ids.tolist(), strict=True):
                one = np.full(size, values[-1, word])
                for level in range(tree.levels - 1 if word < size else -1, -1, -1):
                    node = int(tree.nodes[level, word])
                    start, stop = tree.bounds[level][node : node + 2].tolist()
                    one[start:stop] = values[level, word]
                np.take(one, self.place, out=row)
        return laws[0], laws[1]


def _best_of_tree(tree: WordTree, prior: Floats, shares: Floats) -> tuple[Ids, Floats]:
    """Find the most likely input of every output, and its joint probability."""
    rising = np.argsort(prior[:-1], kind="stable")
    blind = prior * shares[-1]
    guess = np.full(tree.vocab_size, int(blind.argmax()), dtype=np.int32)
    best = np.full(tree.vocab_size, float(blind.max()))
    for level in range(tree.levels):
        nodes = tree.nodes[level, :-1]
        likeliest = np.zeros(len(tree.sizes(level)), dtype=np.int32)
        likeliest[nodes[rising]] = rising  # the last one written has the most
        peaks = likeliest[nodes]
        value = prior[peaks] * shares[level, :-1]
        better = value > best
        guess[better], best[better] = peaks[better], value[better]
    return guess, best


def _noise(tree: WordTree, prior: Floats, shares: Floats) -> float:
    """Compute the entropy of an output given its input, in nats."""
    reach = tree.sizes_by_word().astype(np.float64)
    new = np.zeros(shares.shape)  # words met first at each level
    new[:, :-1] = np.diff(reach, axis=0, prepend=0.0)
    new[-1, -1] = tree.vocab_size
    return float(-(new * shares * logarithms(shares)).sum(axis=0) @ prior)
