r"""The chances of the levels of a word tree that keep most within two bounds.

With the prior :math:`\pi` of PUBLIC text, whoever sees an output of a tree law and
makes the best guess of its input is right with probability

.. math::

    A = \sum_y \max_w \pi_w P(y \mid w)
      = \sum_y \max\Big( \max_{l < D} \pi_l(y)\, F_l(y),\;
                         \max_c \pi_c \frac{p_{cD}}{V},\; \frac{\pi_u}{V} \Big)

where :math:`\pi_l(y)` is the largest prior in the node of :math:`y` at level :math:`l`,
:math:`\pi_c` that in a child of the root, and :math:`\pi_u` that of the unknown word.
A is convex in the chances :math:`p`: the largest terms at one solution are a linear
bound for the next (Kelley 1960). The loss of any two inputs is bounded by linear
constraints, and what is kept is linear too, so each step is a linear program.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.errors import ConfigurationError, InvalidParameterError
from mondegreen.mechanisms.selection.tree import Tree
from mondegreen.mechanisms.selection.tree_law import TreeLaw
from mondegreen.sampling.integers import TOTAL
from mondegreen.scores.risk import check_prior
from mondegreen.space.space import Space
from mondegreen.space.tree import WordTree

__all__ = ["best_tree", "closeness", "success_of", "told_by"]

_ROUNDS: Final = 200
_TOLERANCE: Final = 1e-5
_TO_ROOT: Final = 1e-6
"""Share that moves to the root, for the exact certificate of the integers."""

Floats = NDArray[np.float64]


def told_by(prior: Floats, length: int = 100) -> Floats:
    r"""Return how much each word tells of a text: its frequency times its idf.

    .. math:: \pi_w \cdot -\ln(1 - e^{-m \pi_w})

    where the second factor is the logarithm of how many texts of m words there are to
    one that has the word. Function words are in nearly all, and tell nearly nothing.

    Parameters
    ----------
    prior : float64 array, shape (V + 1,)
        Of PUBLIC text.
    length : int, at least 1
        m.

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
    child = _child(tree)
    found = []
    for level, nodes in enumerate(tree.nodes[:, :-1]):
        sums = np.zeros((len(tree.sizes(level)), unit.shape[1]))
        np.add.at(sums, nodes, unit)
        means = sums / tree.sizes(level)[:, None]
        near = np.maximum(np.einsum("ij,ij->i", unit, means[nodes]), 0.0) ** power
        found.append(np.bincount(child, near * weights[: len(near)]))
    by_level: Floats = np.array(found, dtype=np.float64)
    return by_level.T


def success_of(law: TreeLaw, prior: Floats) -> float:
    """Return how often the best guess of an input from one output is right.

    In float64, from the integers of the law; 1 less the Bayes risk.

    Parameters
    ----------
    law : TreeLaw
        What is sampled.
    prior : float64 array, shape (V + 1,)
        What the adversary expects; the unknown word last.

    Examples
    --------
    >>> tree = WordTree.from_labels([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]])
    >>> law = TreeLaw(tree, (0, TOTAL - (TOTAL >> 2), TOTAL >> 2))
    >>> success_of(law, np.array([0.4, 0.1, 0.3, 0.2, 0.0])).__round__(4)
    0.6125
    """
    checked = check_prior(prior, law.tree.vocab_size + 1)
    rows = np.array(law.by_child(), dtype=np.float64) / TOTAL
    return _Guess(law.tree, checked).value(rows)


def best_tree(
    space: Space,
    tree: WordTree,
    prior: Floats,
    *,
    success: float,
    epsilon: float,
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
        Word frequencies of PUBLIC text; the unknown word last.
    success : float in (0, 1)
        Of the best guess of one word, at most.
    epsilon : float, nats
        Loss of any two words, at most.
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
    checked = check_prior(prior, space.vocab_size + 1)
    blind = float(checked.max())
    if blind > success:
        raise ConfigurationError(
            f"success {success:g} cannot be had: guessing the most frequent word is "
            f"right with probability {blind:.4f}"
        )
    told = told_by(checked) if weights is None else weights
    gain = closeness(space, tree, told, power)
    rows = _Program(tree, checked, gain, success, epsilon, by_class=by_class).solved()
    rows = rows * (1 - _TO_ROOT)
    rows[:, -1] += 1 - rows.sum(axis=1)
    first = tuple(rows[0].tolist())
    names = _names(space, tree)
    own = {
        names[node]: tuple(row.tolist())
        for node, row in enumerate(rows)
        if node and not np.array_equal(row, rows[0])
    }
    return Tree(epsilon, probabilities=first, of_class=own or None)  # type: ignore[arg-type]


@final
class _Guess:
    """How often the best guess is right, as a function of the chances."""

    def __init__(self, tree: WordTree, prior: Floats) -> None:
        nodes, top = tree.nodes[:, :-1], tree.levels
        self.child, self.size = _child(tree), tree.vocab_size
        self.reach = tree.sizes_by_word().astype(np.float64)
        self.peaks = np.zeros((top, self.size))  # below the root
        for level in range(top):
            most = np.zeros(len(tree.sizes(level)))
            np.maximum.at(most, nodes[level], prior[:-1])
            self.peaks[level] = most[nodes[level]]
        self.tops = np.zeros(len(tree.sizes(top - 1)))
        np.maximum.at(self.tops, self.child, prior[:-1])
        self.blind = float(prior[-1]) / self.size

    def value(self, rows: Floats) -> float:
        """Return A for chances, shape (children, D + 1)."""
        slope, rest = self.cut(rows)
        return float((slope * rows).sum()) + rest

    def cut(self, rows: Floats) -> tuple[Floats, float]:
        """Return the slope and the constant of the largest terms at some chances."""
        top = len(self.peaks)
        parts = rows[self.child].T / self.reach
        law = np.cumsum(parts[::-1], axis=0)[::-1]
        table = self.peaks * law[:top]
        level = table.argmax(axis=0)
        value = table[level, np.arange(self.size)]
        ends = self.tops * rows[:, -1] / self.size
        other = int(ends.argmax())
        inside = value >= max(float(ends[other]), self.blind)
        slope = np.zeros_like(rows)
        height = self.peaks[level, np.arange(self.size)]
        for above in range(top + 1):
            counts = inside & (level <= above)
            found = np.where(counts, height / self.reach[above], 0.0)
            slope[:, above] = np.bincount(self.child, found, len(rows))
        outside = self.size - int(np.count_nonzero(inside))
        if ends[other] >= self.blind:
            slope[other, -1] += outside * self.tops[other] / self.size
            return slope, 0.0
        return slope, outside * self.blind


@final
class _Program:
    """The linear program, which grows by one cut a round."""

    def __init__(
        self,
        tree: WordTree,
        prior: Floats,
        gain: Floats,
        success: float,
        epsilon: float,
        *,
        by_class: bool,
    ) -> None:
        self.tree, self.prior, self.gain = tree, prior, gain
        self.success, self.epsilon, self.by_class = success, epsilon, by_class

    def solved(self) -> Floats:
        """Return the chances, shape (children, D + 1)."""
        from scipy.optimize import linprog

        guess = _Guess(self.tree, self.prior)
        kinds, levels = self.gain.shape
        # Variables: chances by kind and level; last, the least chance of the root.
        count = kinds * levels + 1
        table, limits = self._losses(guess, count)
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
            slope, rest = guess.cut(rows)
            if float((slope * rows).sum()) + rest <= self.success * (1 + _TOLERANCE):
                break
            table.append(np.append(slope.ravel(), 0.0))
            limits.append(self.success - rest)
        return self._within(guess, rows)

    def _losses(self, guess: _Guess, count: int) -> tuple[list[Floats], list[float]]:
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

    def _within(self, guess: _Guess, rows: Floats) -> Floats:
        """Move all rows to the root until the success is within its bound."""
        root = np.zeros_like(rows)
        root[:, -1] = 1.0
        low, high = 0.0, 1.0
        if guess.value(rows) <= self.success:
            return rows
        for _ in range(60):  # A is convex, and at the root it is that of no output
            middle = (low + high) / 2
            mixed = rows * (1 - middle) + root * middle
            low, high = (
                (low, middle) if guess.value(mixed) <= self.success else (middle, high)
            )
        return np.asarray(rows * (1 - high) + root * high)


def _child(tree: WordTree) -> NDArray[np.int64]:
    """Return the child of the root that each word lies in."""
    return tree.nodes[tree.levels - 1, :-1].astype(np.int64)


def _names(space: Space, tree: WordTree) -> Mapping[int, str]:
    """Return a word of each child of the root: its first."""
    _, first = np.unique(_child(tree), return_index=True)
    return {node: space.words[word] for node, word in enumerate(first.tolist())}
