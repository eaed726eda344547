r"""How vulnerable a word is to the best guess of it, for a law of a word tree.

With the prior :math:`\pi`, an attacker who sees an output of a tree law and guesses its
input in the best way is right with probability (the posterior vulnerability of
quantitative information flow; the attack of a single word, where people read it)

.. math::

    A = \sum_y \max_w \pi_w P(y \mid w)
      = \sum_y \max\Big( \max_{l < D} \pi_l(y)\, F_l(y),\;
                         \max_c \pi_c \frac{p_{cD}}{V},\; \frac{\pi_u}{V} \Big)

where :math:`\pi_l(y)` is the largest prior in the node of :math:`y` at level :math:`l`,
:math:`\pi_c` that in a child of the root, and :math:`\pi_u` that of the unknown word.
"""

from __future__ import annotations

from typing import final

import numpy as np

from mondegreen.arrays import Floats, Weights
from mondegreen.mechanisms.laws.tree import TreeLaw
from mondegreen.sampling.integers import TOTAL
from mondegreen.scores.risk import over_inputs
from mondegreen.space.tree import WordTree


def vulnerability(law: TreeLaw, prior: Floats) -> float:
    """Tell how often the best guess of an input from one output is right.

    In float64, from the integers of the law; 1 less the Bayes risk.

    Parameters
    ----------
    law : TreeLaw
        What is sampled.
    prior : float64 array, shape (V + 1,)
        What the adversary expects; the unknown word last.

    Returns
    -------
    float in [0, 1]
        Expected share of right guesses.

    Examples
    --------
    >>> tree = WordTree.from_labels([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]])
    >>> law = TreeLaw(tree, (0, TOTAL - (TOTAL >> 2), TOTAL >> 2))
    >>> vulnerability(law, np.array([0.4, 0.1, 0.3, 0.2, 0.0])).__round__(4)
    0.6125
    """
    rows = np.array(law.by_child(), dtype=np.float64) / TOTAL
    return Guess(law.tree, over_inputs(prior, law.tree.vocab_size)).value(rows)


success_of = vulnerability
"""Older name of :func:`vulnerability`; to be removed."""


@final
class Guess:
    """Vulnerability as a function of the level probabilities: convex, by its cuts."""

    def __init__(self, tree: WordTree, prior: Floats) -> None:
        nodes, top = tree.nodes[:, :-1], tree.levels
        self.child, self.size = class_of_words(tree), tree.vocab_size
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
        """Compute A for level probabilities, shape (children, D + 1)."""
        slope, rest = self.cut(rows)
        return float((slope * rows).sum()) + rest

    def cut(self, rows: Floats) -> tuple[Floats, float]:
        """Find the slope and the constant of the largest terms at a point."""
        top = len(self.peaks)
        # p_l / n_l of each word, shape (D + 1, V), and F_l, its sums from the root
        # down.
        parts = rows[self.child].T / self.reach
        law = np.cumsum(parts[::-1], axis=0)[::-1]
        table = self.peaks * law[:top]
        # The first maximum of the formula: an attacker who sees y does best to guess
        # the most frequent word of the node of y at this level.
        level = table.argmax(axis=0)
        value = table[level, np.arange(self.size)]
        ends = self.tops * rows[:, -1] / self.size
        other = int(ends.argmax())
        inside = value >= max(float(ends[other]), self.blind)
        # A is a maximum of linear functions of the rows. The largest ones here, as a
        # slope of shape (children, D + 1) and a constant, bound A from below at all
        # rows.
        slope = np.zeros_like(rows)
        height = self.peaks[level, np.arange(self.size)]
        for above in range(top + 1):
            # p_above / n_above is a term of F_l for each l <= above.
            counts = inside & (level <= above)
            found = np.where(counts, height / self.reach[above], 0.0)
            slope[:, above] = np.bincount(self.child, found, len(rows))
        outside = self.size - int(np.count_nonzero(inside))
        if ends[other] >= self.blind:
            slope[other, -1] += outside * self.tops[other] / self.size
            return slope, 0.0
        return slope, outside * self.blind


def class_of_words(tree: WordTree) -> Weights:
    """Find the child of the root that each word lies in."""
    return tree.nodes[tree.levels - 1, :-1].astype(np.int64)
