"""The level probabilities of a word tree that keep most of a text within two bounds.

A linear program: what a draw at each level keeps is linear in the probabilities of the
levels, and so is the bound of the loss. The vulnerability is convex and piecewise
linear: where a solution breaks it, the piece that is broken becomes one more row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from mondegreen.arrays import Floats
from mondegreen.calibration.guess import Guess, class_of_words
from mondegreen.errors import ConfigurationError, InvalidParameterError
from mondegreen.mechanisms.selection.tree import Tree
from mondegreen.scores.risk import over_inputs
from mondegreen.space.space import Space
from mondegreen.space.tree import WordTree

_ROUNDS: Final = 200
_TOLERANCE: Final = 1e-5
_TO_ROOT: Final = 1e-6  # share that moves there, for the exact certificate of integers
_DIGITS: Final = 1e12


def best_tree(
    space: Space,
    tree: WordTree,
    prior: Floats,
    *,
    success: float,
    epsilon: float,
    also: Sequence[Floats] = (),
    weights: Floats | None = None,
    power: float = 1.0,
    by_class: bool = True,
) -> Tree:
    """Return the tree mechanism that keeps most of a text within both bounds.

    Parameters
    ----------
    space, tree : Space, WordTree
        The tree of the space.
    prior : float64 array, shape (V + 1,)
        Word frequencies of PUBLIC text; the unknown word last. With frequencies that
        are smoothed the bound holds for those alone, and a guess by the counts
        themselves may be right more often.
    success : float in (0, 1)
        Of the best guess of one word, at most.
    epsilon : float, nats
        Loss of any two words, at most.
    also : sequence of float64 array, shape (V + 1,)
        More priors with which a guess must not be right more often than ``success``.
    weights : float64 array, shape (V + 1,), optional
        How much each word counts in what is kept; :func:`tfidf_weights` if not given.
    power : float, above 0
        As for :func:`closeness`. 1 keeps more words as they are, for texts whose topic
        is in rare words; 0.5 more words near them, for texts with a tone.
    by_class : bool
        Whether every child of the root may have level probabilities of its own.

    Returns
    -------
    Tree
        With its level probabilities.

    Raises
    ------
    InvalidParameterError
        If ``success`` is not between 0 and 1.
    ConfigurationError
        If a guess that looks at no output is right more often than ``success``.
    """
    if not 0 < success < 1:
        raise InvalidParameterError("success", success, "in (0, 1)")
    priors = [over_inputs(each, space.vocab_size) for each in (prior, *also)]
    blind = max(float(each.max()) for each in priors)
    if blind > success:
        raise ConfigurationError(
            f"success {success:g} cannot be reached: guessing the most frequent word "
            f"is right with probability {blind:.4f}"
        )
    weights = tfidf_weights(prior) if weights is None else weights
    gain = closeness(space, tree, weights, power)
    guesses = [Guess(tree, each) for each in priors]
    rows = _Program(guesses, gain, success, epsilon, by_class=by_class).solve()
    # Equal classes come out of the solver equal but for the last digits.
    rows = np.floor(rows * (1 - _TO_ROOT) * _DIGITS) / _DIGITS
    rows[:, -1] += 1 - rows.sum(axis=1)
    # Each child of the root goes by a word of it: its first.
    _, words = np.unique(class_of_words(tree), return_index=True)
    own = {
        space.words[word]: tuple(row.tolist())
        for word, row in zip(words[1:].tolist(), rows[1:], strict=True)
        if not np.array_equal(row, rows[0])
    }
    first = tuple(rows[0].tolist())
    return Tree(
        epsilon,
        level_probabilities=first,
        of_class=own or None,  # type: ignore[arg-type]
        tree=tree.digest[:12],  # they are for no other
    )


def tfidf_weights(prior: Floats, length: int = 1000) -> Floats:
    r"""Weigh each word by how much it says about a text: its frequency times its idf.

    .. math:: \pi_w \cdot -\ln(1 - e^{-m \pi_w})

    where the second factor is the logarithm of how many texts of m words there are to
    one that has the word. Function words are in nearly all, and tell nearly nothing.
    The larger m (``length``), the more rare words count: classifiers of short texts
    lose with it, and gain from 1,000 over 100; those of long ones do not mind
    (docs/explanation/word-trees.md). The prior is of PUBLIC text.

    >>> tfidf_weights(np.array([0.5, 0.01, 0.0]), 10).round(4).tolist()
    [0.0034, 0.0235, 0.0]
    """
    shares = prior[:-1]
    absent = -np.expm1(-length * shares)
    weights = np.zeros(len(prior))
    weights[:-1] = shares * -np.log(np.where(shares > 0, absent, 1.0))
    return weights


def closeness(
    space: Space, tree: WordTree, weights: Floats, power: float = 1.0
) -> Floats:
    """Tell what a draw at each level keeps, by child of the root (rows) and level.

    The mean cosine of a word and a word of its node, not below 0, to a power; summed
    over words by weight. With a power below 1, a near word is worth nearly as much as
    the word itself.
    """
    unit = space.vectors.astype(np.float64)
    norms = np.linalg.norm(unit, axis=1, keepdims=True)
    unit /= np.where(norms > 0, norms, 1.0)
    child = class_of_words(tree)
    found = []
    for level, nodes in enumerate(tree.nodes[:, :-1]):
        sums = np.zeros((len(tree.sizes(level)), unit.shape[1]))
        np.add.at(sums, nodes, unit)
        means = sums / tree.sizes(level)[:, None]
        near = np.maximum(np.einsum("ij,ij->i", unit, means[nodes]), 0.0) ** power
        found.append(np.bincount(child, near * weights[: len(near)]))
    return np.asarray(np.array(found, dtype=np.float64).T)


@final
@dataclass(frozen=True, slots=True)
class _Program:
    """The linear program, which grows each round by a cut for every prior.

    Its variables are probabilities by kind (child of the root) and level and, last,
    the least probability r of the root.
    """

    guesses: Sequence[Guess]
    gain: Floats
    success: float
    epsilon: float
    by_class: bool

    def solve(self) -> Floats:
        """Find the probabilities, shape (children, D + 1)."""
        from scipy.optimize import linprog

        kinds, levels = self.gain.shape
        table = self._losses()
        limits = [0.0] * len(table)
        equal = self._sums_and_likeness()
        sums = np.zeros(len(equal))
        sums[:kinds] = 1.0
        wanted = np.append(-self.gain.ravel() / self.gain.max(), 0.0)
        allowed = self.success * (1 + _TOLERANCE)  # of a guess, until a cut is made
        for _ in range(_ROUNDS):
            found = linprog(
                wanted, np.array(table), limits, equal, sums, (0, 1), method="highs"
            )
            if found.x is None:
                raise ConfigurationError("no probabilities keep both bounds")
            rows = np.clip(found.x[:-1].reshape(kinds, levels), 0.0, None)
            rows /= rows.sum(axis=1, keepdims=True)
            before = len(table)
            for slope, rest in (guess.cut(rows) for guess in self.guesses):
                if float((slope * rows).sum()) + rest > allowed:
                    table.append(np.append(slope.ravel(), 0.0))
                    limits.append(self.success - rest)
            if len(table) == before:
                break
        return self._within(rows)

    def _losses(self) -> list[Floats]:
        """Demand V F_0(w) <= e^epsilon r, and r <= the root's share of every kind."""
        (kinds, levels), guess = self.gain.shape, self.guesses[0]
        scale = math.exp(-self.epsilon) * guess.size
        table = []
        for kind, *sizes in np.unique(np.vstack([guess.child, guess.reach]), axis=1).T:
            row = np.zeros((kinds, levels))
            row[int(kind)] = scale / np.array(sizes)
            table.append(np.append(row, -1.0))
        for kind in range(kinds):
            row = np.zeros((kinds, levels))
            row[kind, -1] = -1.0
            table.append(np.append(row, 1.0))
        return table

    def _sums_and_likeness(self) -> Floats:
        """Demand that kinds sum to 1 and, unless by class, are all like the first."""
        kinds, levels = self.gain.shape
        parts = [np.kron(np.eye(kinds), np.ones(levels))]
        if not self.by_class:
            unlike = np.hstack([np.ones((kinds - 1, 1)), -np.eye(kinds - 1)])
            parts.append(np.kron(unlike, np.eye(levels)))
        rows = np.vstack(parts)
        return np.hstack([rows, np.zeros((len(rows), 1))])

    def _within(self, rows: Floats) -> Floats:
        """Move all rows to the root until every success is within the bound."""

        def is_within(at: Floats) -> bool:
            return max(guess.value(at) for guess in self.guesses) <= self.success

        root = np.zeros_like(rows)
        root[:, -1] = 1.0
        low, high = 0.0, 1.0
        if is_within(rows):
            return rows
        for _ in range(60):  # A is convex, and at the root it is that of no output
            middle = (low + high) / 2
            if is_within(rows * (1 - middle) + root * middle):
                high = middle
            else:
                low = middle
        return np.asarray(rows * (1 - high) + root * high)
