r"""The law on a word tree: its integers, and its exact certificate.

With integers :math:`a_0 + \dots + a_D = 2^{62}` for the levels, an input :math:`w`
whose node at level :math:`l` has :math:`n_l(w)` words has the law

.. math:: 2^{62}\, P(y \mid w) = F_{\mathrm{lca}(w, y)}(w), \qquad
          F_m(w) = \sum_{l \ge m} \frac{a_l}{n_l(w)}.

Two words that meet in a node :math:`v` of level :math:`m` have one :math:`F_m`, and
their laws agree outside of :math:`v`. So they differ by at most
:math:`\ln (\max_{w \in v} F_0(w) / F_m(v))`, and some pair by exactly that.

The children of the root may have integers of their own, for all of their words. Then
two words of two of them, :math:`A` and :math:`B`, differ by at most
:math:`\ln (\max_{w \in A} F_0(w) / F_D(B))`, one way or the other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import final

import numpy as np
from numpy.typing import NDArray

from mondegreen.sampling.integers import TOTAL
from mondegreen.space.tree import WordTree

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True)
class TreeLaw:
    """Integer weights of the levels of a tree, of sum ``2**62``, the last at least 1.

    Children of the root, nodes of level ``D - 1 > 0``, may have others: ``own``.
    """

    tree: WordTree
    weights: tuple[int, ...]
    own: Mapping[int, tuple[int, ...]] = field(default_factory=dict)

    def by_child(self) -> list[tuple[int, ...]]:
        """The weights of every child of the root."""
        children = range(len(self.tree.sizes(self.tree.levels - 1)))
        return [self.own.get(node, self.weights) for node in children]

    def kinds(self) -> tuple[list[tuple[int, ...]], NDArray[np.int64]]:
        """The distinct rows of weights, and which one each input has."""
        rows = list(dict.fromkeys([self.weights, *self.own.values()]))
        place = {row: number for number, row in enumerate(rows)}
        places = np.array([place[row] for row in self.by_child()])
        words = places[self.tree.nodes[self.tree.levels - 1, :-1]]
        return rows, np.append(words, 0)  # the unknown word draws from all words

    def ratios(self) -> tuple[Fraction, ...]:
        """The largest ratio of two laws that meet at each level from 1 to D.

        One pass down the nodes and one up, in rational arithmetic: nothing is rounded.
        The unknown word, whose law is uniform, meets every word at level D. Where no
        two words meet at a level, its ratio is 1.
        """
        tree, top = self.tree, self.tree.levels
        rows = self.by_child()
        ends = [Fraction(row[-1], tree.vocab_size) for row in rows]  # F_D of each
        child = list(range(len(rows)))  # of the root, over each node of a level
        upper, shares = ends, [ends]
        for level in range(top - 1, 0, -1):
            if level < top - 1:
                over = _parents(tree, level)
                child = [child[parent] for parent in over]
                upper = [upper[parent] for parent in over]
            sizes = tree.sizes(level).tolist()
            upper = [
                share + Fraction(rows[at][level], size)
                for share, at, size in zip(upper, child, sizes, strict=True)
            ]
            shares.append(upper)
        shares.reverse()  # shares[l - 1][node] is F_l; of the root, one per child
        largest = self._largest(shares[0], [rows[at][0] for at in child])
        found = []
        for level in range(1, top):
            meet = children_of(tree, level) > 1
            here = zip(largest, shares[level - 1], meet.tolist(), strict=True)
            found.append(
                max([Fraction(1), *(most / least for most, least, ok in here if ok)])
            )
            if level < top - 1:
                above = [Fraction(0)] * len(shares[level])
                for node, parent in enumerate(_parents(tree, level)):
                    above[parent] = max(above[parent], largest[node])
                largest = above
        return (*found, self._at_root(largest, ends))

    def _largest(
        self, shares: Sequence[Fraction], weights: Sequence[int]
    ) -> list[Fraction]:
        """The largest F_0 below each node of level 1."""
        tree, smallest = self.tree, self.tree.sizes(0)
        if tree.levels > 1:  # else the words are the children of the root
            starts = np.searchsorted(tree.bounds[0], tree.bounds[1][:-1])
            smallest = np.minimum.reduceat(smallest, starts)
        pairs = zip(shares, weights, smallest.tolist(), strict=True)
        return [share + Fraction(weight, size) for share, weight, size in pairs]

    def _at_root(
        self, largest: Sequence[Fraction], ends: Sequence[Fraction]
    ) -> Fraction:
        """The largest ratio of words of two children, or a word and none."""
        size = self.tree.vocab_size
        unknown = max(largest) * size / TOTAL
        if len(ends) == 1:
            return max(Fraction(1), unknown)
        first, second = sorted(range(len(ends)), key=lambda node: ends[node])[:2]
        pairs = (
            most / ends[second if node == first else first]
            for node, most in enumerate(largest)
        )
        return max(*pairs, unknown, Fraction(TOTAL, size) / ends[first])

    def losses(self) -> tuple[float, ...]:
        """Return :meth:`ratios` in nats, rounded up, never falling with the level."""
        logs = [_log_above(ratio) for ratio in self.ratios()]
        return tuple(np.maximum.accumulate(logs).tolist())

    def probabilities(self, word: int) -> Floats:
        """The law of an input: a probability per word, shape (V,)."""
        tree, size = self.tree, self.tree.vocab_size
        if word == size:
            return np.full(size, 1.0 / size)
        weights = self.own.get(int(tree.nodes[tree.levels - 1, word]), self.weights)
        found = np.full(size, weights[-1] / size)
        for level in range(tree.levels - 1, -1, -1):
            node = int(tree.nodes[level, word])
            start, stop = tree.bounds[level][node : node + 2].tolist()
            found[start:stop] += weights[level] / (stop - start)
        law = np.empty(size)
        law[tree.order] = found / TOTAL
        return law


def _parents(tree: WordTree, level: int) -> list[int]:
    """The node of the next level that each node of a level lies in."""
    starts = tree.bounds[level][:-1]
    over: list[int] = (
        np.searchsorted(tree.bounds[level + 1], starts, side="right") - 1
    ).tolist()
    return over


def children_of(tree: WordTree, level: int) -> NDArray[np.int64]:
    """How many nodes of the level below each node of a level has."""
    return np.diff(np.searchsorted(tree.bounds[level - 1], tree.bounds[level]))


def _log_above(ratio: Fraction) -> float:
    """The natural logarithm of a ratio of at least 1, rounded up."""
    if ratio == 1:
        return 0.0
    return math.nextafter(math.log1p(float(ratio - 1)) * (1 + 2.0**-50), math.inf)
