r"""The law on a word tree: its integers, their exact certificate, and the best ones.

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

import functools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats
from mondegreen.errors import SpaceIntegrityError
from mondegreen.mechanisms.laws.exact_program import minimize_on_simplex
from mondegreen.sampling.integers import TOTAL, log_above
from mondegreen.space.tree import WordTree

_FOLDER: Final = Path(__file__).parents[2] / "space" / "data" / "trees"

_MARGIN: Final = 1e-12
"""Taken off limits, so that a certificate that is rounded up stays within them."""

_Fractions = NDArray[np.object_]

_LEAST_MIX: Final = Fraction(1, 1 << 54)
_STEP: Final = 32

_MOST_LOSS: Final = 128.0
"""No laws of integers of sum 2^62 over a vocabulary differ by as many nats."""

_DIGITS: Final = Context(prec=40, Emin=-999_999, Emax=999_999)


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
        rows = np.array(self.by_child(), dtype=object)  # of integers of any size
        # At each level: `over`, the parent of each node, and `child`, the child of the
        # root that it lies in. The first round starts at the children themselves.
        child = over = np.arange(len(rows))  # of the root, over each node of a level
        shares = [_divide(rows[:, -1], tree.vocab_size)]  # F_D, one for each child
        # F_l = F_{l+1} + a_l / n_l, from the root down, times 2^62 here and below.
        for level in range(top - 1, 0, -1):
            if level < top - 1:
                over = _parents(tree, level)
            child = child[over]
            own = _divide(rows[child, level], tree.sizes(level))
            shares.insert(0, shares[0][over] + own)  # shares[l - 1][node] is F_l
        smallest = tree.sizes(0)
        if top > 1:  # else the words are the children of the root
            smallest = np.minimum.reduceat(smallest, _firsts(tree, 1)[:-1])
        # F_0 = F_1 + a_0 / n_0 is largest in a node where n_0 is smallest.
        largest = shares[0] + _divide(rows[child, 0], smallest)  # F_0 below each node
        found = []
        # exp(L_m) = max F_0 / F_m over the nodes where words meet, from the words up.
        for level in range(1, top):
            meet = _children(tree, level) > 1
            ratios = largest[meet] / shares[level - 1][meet]
            found.append(max([Fraction(1), *ratios]))
            if level < top - 1:
                largest = np.maximum.reduceat(largest, _firsts(tree, level + 1)[:-1])
        return (*found, self._at_root(largest, shares[-1]))

    def _at_root(self, largest: _Fractions, ends: _Fractions) -> Fraction:
        """The largest ratio of words of two children, or a word and none."""
        size = self.tree.vocab_size
        # P(w | w) / (1 / V); the other way round, (1 / V) / F_D, is counted in `most`.
        unknown: Fraction = max(largest) * size / TOTAL
        # All words meet below the root: there max F_0 / F_m >= (1 / V) / F_m counts,
        # and `losses` never fall with the level.
        if len(ends) == 1:
            return max(Fraction(1), unknown)
        # F_0 of A over F_D of B: the smallest F_D of the others is the smallest of all,
        # or the second smallest where the smallest is that of A itself.
        first, second = np.argsort(ends, kind="stable")[:2]
        others = np.full(len(ends), ends[first])
        others[first] = ends[second]
        most: Fraction = max(*(largest / others), Fraction(TOTAL, size) / ends[first])
        return max(most, unknown)

    def losses(self) -> tuple[float, ...]:
        """Return :meth:`ratios` in nats, rounded up, never falling with the level."""
        if not self.own:
            return _plain_losses(self.tree, self.weights)
        return self._losses()

    def _losses(self) -> tuple[float, ...]:
        logs = [log_above(ratio) for ratio in self.ratios()]
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


@functools.lru_cache(maxsize=16)
def _plain_losses(tree: WordTree, weights: tuple[int, ...]) -> tuple[float, ...]:
    """The losses of a law without classes: integers that ship are asked for twice."""
    return TreeLaw(tree, weights)._losses()


def _divide(weights: _Fractions, sizes: NDArray[np.int64] | int) -> _Fractions:
    """Exact quotients."""
    inverse = [Fraction(1, size) for size in np.atleast_1d(sizes).tolist()]
    quotients: _Fractions = weights * np.array(inverse, dtype=object)
    return quotients


def _parents(tree: WordTree, level: int) -> NDArray[np.int64]:
    """The node of the next level that each node of a level lies in."""
    starts, above = tree.bounds[level][:-1], tree.bounds[level + 1]
    return np.searchsorted(above, starts, side="right") - 1


def _firsts(tree: WordTree, level: int) -> NDArray[np.int64]:
    """The first node of the level below in each node of a level, and their number."""
    return np.searchsorted(tree.bounds[level - 1], tree.bounds[level])


def _children(tree: WordTree, level: int) -> NDArray[np.int64]:
    """How many nodes of the level below each node of a level has."""
    return np.diff(_firsts(tree, level))


def compute_weights(probabilities: Sequence[float]) -> tuple[int, ...]:
    """Integers for probabilities of levels; what rounding leaves goes up.

    More weight on the root makes any two laws more alike.
    """
    lower = [int(share * TOTAL) for share in probabilities[:-1]]
    while sum(lower) >= TOTAL:  # shares that sum to 1, but for rounding
        lower[lower.index(max(lower))] -= sum(lower) - TOTAL + 1
    return (*lower, TOTAL - sum(lower))


def weights_within(tree: WordTree, limits: Sequence[float]) -> tuple[int, ...]:
    r"""The weights that keep most of a word within limits of its loss.

    .. math:: \max_p \; -\sum_l p_l\, \overline{\ln n_l} \quad \text{such that} \quad
              F_0(w) \le e^{c_m} F_m(w) \text{ for all } w, m,
              \qquad \sum_l p_l = 1, \; p \ge 0

    a linear program in one variable per level, solved in rational arithmetic: every
    machine finds the same integers. Rounding to integers may exceed a limit, so as much
    is moved to the root as their exact certificate asks for.

    ``limits`` are :math:`c_1` to :math:`c_D`, in nats, not decreasing: no loss of
    ``TreeLaw(tree, weights)`` is above them.
    """
    limits = [limit * (1 - _MARGIN) for limit in limits]
    shares = minimize_on_simplex(_mean_logs(tree), _constraints(tree, limits))
    mix = Fraction(0)
    while True:
        lower = [int(share * (1 - mix) * TOTAL) for share in shares[:-1]]
        # The root keeps at least 1: every word can come out for every other one.
        lower[0] -= max(0, sum(lower) - TOTAL + 1)
        weights = (*lower, TOTAL - sum(lower))
        losses = TreeLaw(tree, weights).losses()
        if mix == 1 or all(x <= c for x, c in zip(losses, limits, strict=True)):
            return weights
        # At mix 1 all weight is on the root, where nothing is lost: twelve rounds at
        # most.
        mix = min(Fraction(1), max(mix, _LEAST_MIX) * _STEP)  # a round takes 25 ms


def compute_scale(tree: WordTree, heights: tuple[float, ...]) -> dict[str, float]:
    """The distances that give epsilon its meaning."""
    sizes, count = tree.sizes_by_word(), tree.vocab_size
    # The height at which each word first has another word beside it.
    met = np.array(heights)[(sizes > 1).argmax(axis=0)]
    new = np.diff(sizes, axis=0)  # words met first at each level
    total = float((np.array(heights[1:])[:, None] * new).sum())
    occurring = [h for h, row in zip(heights[1:], new, strict=True) if h and row.any()]
    return {
        "closest": min([*occurring, 1.0]),  # the unknown word is 1 away
        "nearest": float(np.median(met)) if count > 1 else 0.0,
        "mean": total / (count * (count - 1)) if count > 1 else 0.0,
        "diameter": 1.0,
    }


def _mean_logs(tree: WordTree) -> list[Fraction]:
    r"""The costs of the levels, :math:`\overline{\ln n_l}`: means over words.

    Decimal logarithms are rounded correctly, those of a processor need not be.
    """
    found = []
    for level in range(tree.levels + 1):
        sizes, counts = np.unique(tree.sizes(level), return_counts=True)
        pairs = zip(sizes.tolist(), counts.tolist(), strict=True)
        total = sum(
            (size * count * _DIGITS.ln(size) for size, count in pairs), Decimal()
        )
        found.append(Fraction(total) / tree.vocab_size)
    return found


def _constraints(tree: WordTree, limits: Sequence[float]) -> _Fractions:
    r"""The rows of :math:`e^{-c_m} F_0 - F_m \le 0`, times what makes them integers."""
    # F_0 = sum_l p_l / n_l, and F_m is the same sum from l = m on. So the factor of p_l
    # is e^{-c_m} / n_l below m, and (e^{-c_m} - 1) / n_l from m on.
    sizes, meets = _profiles(tree)
    rows = set()
    for level, limit in enumerate(limits, start=1):
        # Integers of sum 2^62 lose less than _MOST_LOSS, whatever is allowed.
        ratio = Fraction(_DIGITS.exp(Decimal(-min(limit, _MOST_LOSS))))
        below, all_ = ratio.numerator, ratio.denominator
        for row in np.unique(sizes[meets[:, level - 1]], axis=0).tolist():
            # Times the denominator of e^{-c_m} and the least multiple of all n_l.
            common = math.lcm(*row)
            parts = [common // size for size in row]
            kept = [below * part for part in parts[:level]]
            rows.add((*kept, *[(below - all_) * part for part in parts[level:]]))
    return np.array(sorted(rows), dtype=object).reshape(-1, tree.levels + 1)


def _profiles(tree: WordTree) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The distinct sizes of the nodes of a word, and where it meets others."""
    nodes, rows = tree.nodes[:, :-1], tree.sizes_by_word()
    levels = range(1, tree.levels + 1)
    meets = [_children(tree, level)[nodes[level]] > 1 for level in levels]
    table = np.unique(np.stack([*rows, *meets], axis=1), axis=0)
    split = tree.levels + 1
    return table[:, :split].astype(np.int64), table[:, split:].astype(bool)


def load_shipped_weights(tree: WordTree, epsilon: float) -> tuple[int, ...] | None:
    """The integers that ship with a tree for one epsilon, if there are any.

    They were found by :func:`weights_within` and spare its time. They are certified
    here in rational arithmetic, like any others.
    """
    found = _read(tree.digest).get(float(epsilon))
    if found is None:
        return None
    limits = [epsilon * height for height in tree.heights[1:]]
    if len(found) == tree.levels + 1 and sum(found) == TOTAL and min(found) >= 0:
        losses = TreeLaw(tree, found).losses()
        if all(x <= most for x, most in zip(losses, limits, strict=True)):
            return found
    raise SpaceIntegrityError(
        f"the integers of the tree {tree.digest[:12]} in the package lose more than "
        f"epsilon {epsilon:g}; install the package again"
    )


@functools.lru_cache(maxsize=4)
def _read(digest: str) -> dict[float, tuple[int, ...]]:
    """The integers by epsilon; none for a tree that does not ship."""
    path = _FOLDER / f"{digest[:12]}.weights.json"
    content = json.loads(path.read_bytes()) if path.exists() else {}
    if content.get("tree") != digest:
        return {}
    return {float(key): tuple(row) for key, row in content["weights"].items()}
