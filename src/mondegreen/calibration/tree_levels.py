"""The chances of the levels of a word tree that keep most within two bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.calibration.guess import Guess, class_of_words
from mondegreen.errors import ConfigurationError, InvalidParameterError
from mondegreen.mechanisms.selection.tree import Tree
from mondegreen.scores.risk import check_prior
from mondegreen.space.space import Space
from mondegreen.space.tree import WordTree

_ROUNDS: Final = 200
_TOLERANCE: Final = 1e-5

Floats = NDArray[np.float64]


@final
class Program:
    """The linear program, which grows each round by a cut for every prior."""

    def __init__(
        self,
        tree: WordTree,
        priors: Sequence[Floats],
        gain: Floats,
        success: float,
        epsilon: float,
        *,
        by_class: bool,
    ) -> None:
        self.tree, self.priors, self.gain = tree, priors, gain
        self.success, self.epsilon, self.by_class = success, epsilon, by_class

    def solved(self) -> Floats:
        """Return the chances, shape (children, D + 1)."""
        from scipy.optimize import linprog

        guesses = [Guess(self.tree, prior) for prior in self.priors]
        kinds, levels = self.gain.shape
        # Variables: chances by kind and level; last, the least chance of the root.
        count = kinds * levels + 1
        table, limits = self._losses(guesses[0], count)
        equal = np.zeros((kinds, count))
        for kind in range(kinds):
            equal[kind, kind * levels : (kind + 1) * levels] = 1
        wanted = np.append(-self.gain.ravel() / self.gain.max(), 0.0)
        alike = [] if self.by_class else self._alike(kinds, levels, count)
        rows = np.zeros((kinds, levels))
        rows[:, -1] = 1.0
        for _ in range(_ROUNDS):
            found = linprog(
                wanted,
                A_ub=np.array(table),
                b_ub=np.array(limits),
                A_eq=np.vstack([equal, *alike]),
                b_eq=np.append(np.ones(kinds), np.zeros(sum(map(len, alike)))),
                bounds=(0, 1),
                method="highs",
            )
            if found.x is None:
                raise ConfigurationError("no chances keep both bounds")
            rows = np.clip(found.x[:-1].reshape(kinds, levels), 0.0, None)
            rows /= rows.sum(axis=1, keepdims=True)
            cuts = self._broken(guesses, rows)
            if not cuts:
                break
            for slope, rest in cuts:
                table.append(np.append(slope.ravel(), 0.0))
                limits.append(self.success - rest)
        return self._within(guesses, rows)

    def _broken(
        self, guesses: Sequence[Guess], rows: Floats
    ) -> list[tuple[Floats, float]]:
        """Return the cuts of the priors with which a guess is right too often."""
        allowed = self.success * (1 + _TOLERANCE)
        cuts = [guess.cut(rows) for guess in guesses]
        return [
            (slope, rest)
            for slope, rest in cuts
            if float((slope * rows).sum()) + rest > allowed
        ]

    def _losses(self, guess: Guess, count: int) -> tuple[list[Floats], list[float]]:
        """Return V F_0(w) <= e^epsilon r, and r <= the root's chance of every kind."""
        kinds, levels = self.gain.shape
        profiles = np.unique(np.vstack([guess.child, guess.reach]), axis=1).T
        table, limits = [], []
        scale = math.exp(-self.epsilon) * guess.size
        for kind, *sizes in profiles.tolist():
            row = np.zeros(count)
            start = int(kind) * levels
            row[start : start + levels] = scale / np.array(sizes)
            row[-1] = -1.0
            table.append(row)
            limits.append(0.0)
        for kind in range(kinds):
            row = np.zeros(count)
            row[-1], row[kind * levels + levels - 1] = 1.0, -1.0
            table.append(row)
            limits.append(0.0)
        return table, limits

    def _alike(self, kinds: int, levels: int, count: int) -> list[Floats]:
        """Return what makes the chances of all kinds those of the first."""
        found = []
        for kind in range(1, kinds):
            rows = np.zeros((levels, count))
            rows[:, :levels] = np.eye(levels)
            rows[:, kind * levels : (kind + 1) * levels] -= np.eye(levels)
            found.append(rows)
        return found

    def _within(self, guesses: Sequence[Guess], rows: Floats) -> Floats:
        """Move all rows to the root until every success is within the bound."""

        def worst(at: Floats) -> float:
            return max(guess.value(at) for guess in guesses)

        root = np.zeros_like(rows)
        root[:, -1] = 1.0
        low, high = 0.0, 1.0
        if worst(rows) <= self.success:
            return rows
        for _ in range(60):  # A is convex, and at the root it is that of no output
            middle = (low + high) / 2
            mixed = rows * (1 - middle) + root * middle
            low, high = (
                (low, middle) if worst(mixed) <= self.success else (middle, high)
            )
        return np.asarray(rows * (1 - high) + root * high)


_TO_ROOT: Final = 1e-6
"""Share that moves to the root, for the exact certificate of the integers."""

_DIGITS: Final = 1e12


def told_by(prior: Floats, length: int = 1000) -> Floats:
    r"""Return how much each word tells of a text: its frequency times its idf.

    .. math:: \pi_w \cdot -\ln(1 - e^{-m \pi_w})

    where the second factor is the logarithm of how many texts of m words there are to
    one that has the word. Function words are in nearly all, and tell nearly nothing.

    Parameters
    ----------
    prior : float64 array, shape (V + 1,)
        Of PUBLIC text.
    length : int, at least 1
        m. The larger, the more rare words count. Classifiers of short texts lose with
        the length of a text, and gain from 1,000 over 100; those of long ones do not
        mind (docs/explanation/word-trees.md).

    Examples
    --------
    >>> told_by(np.array([0.5, 0.01, 0.0]), 10).round(4).tolist()
    [0.0034, 0.0235, 0.0]
    """
    shares = prior[:-1]
    absent = -np.expm1(-length * shares)
    told = np.zeros(len(prior))
    told[:-1] = shares * -np.log(np.where(shares > 0, absent, 1.0))
    return told


def closeness(
    space: Space, tree: WordTree, weights: Floats, power: float = 1.0
) -> Floats:
    """Return what a draw at each level keeps, by child of the root and level.

    The mean cosine of a word and a word of its node, not below 0, to a power; summed
    over words by weight.

    Parameters
    ----------
    space : Space
        With vectors.
    tree : WordTree
        Of its words.
    weights : float64 array, shape (V,) or (V + 1,)
        Of the words; the sum over all children of level 0 is the sum of these.
    power : float, above 0
        Below 1, a near word is worth nearly as much as the word itself.

    Returns
    -------
    float64 array, shape (children of the root, D + 1)
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
    by_level: Floats = np.array(found, dtype=np.float64)
    return by_level.T


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
        How much each word counts in what is kept; :func:`told_by` if not given.
    power : float, above 0
        As for :func:`closeness`. 1 keeps more words as they are, for texts whose topic
        is in rare words; 0.5 more words near them, for texts with a tone.
    by_class : bool
        Whether every child of the root may have chances of its own.

    Raises
    ------
    InvalidParameterError
        If ``success`` is not between 0 and 1.
    ConfigurationError
        If a guess that looks at no output is right more often than ``success``.
    """
    if not 0 < success < 1:
        raise InvalidParameterError("success", success, "in (0, 1)")
    priors = [check_prior(each, space.vocab_size + 1) for each in (prior, *also)]
    blind = max(float(each.max()) for each in priors)
    if blind > success:
        raise ConfigurationError(
            f"success {success:g} cannot be had: guessing the most frequent word is "
            f"right with probability {blind:.4f}"
        )
    told = told_by(prior) if weights is None else weights
    gain = closeness(space, tree, told, power)
    rows = Program(tree, priors, gain, success, epsilon, by_class=by_class).solved()
    # Equal classes come out of the solver equal but for the last digits.
    rows = np.floor(rows * (1 - _TO_ROOT) * _DIGITS) / _DIGITS
    rows[:, -1] += 1 - rows.sum(axis=1)
    first = tuple(rows[0].tolist())
    names = _names(space, tree)
    own = {
        names[node]: tuple(row.tolist())
        for node, row in enumerate(rows)
        if node and not np.array_equal(row, rows[0])
    }
    return Tree(epsilon, level_probabilities=first, of_class=own or None)  # type: ignore[arg-type]


def _names(space: Space, tree: WordTree) -> Mapping[int, str]:
    """Return a word of each child of the root: its first."""
    _, first = np.unique(class_of_words(tree), return_index=True)
    return {node: space.words[word] for node, word in enumerate(first.tolist())}
