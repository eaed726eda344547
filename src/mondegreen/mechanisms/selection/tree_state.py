"""The tree mechanism prepared for one space: its draws, and its law."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids, LogProbs, Weights
from mondegreen.guarantee import Guarantee
from mondegreen.mechanisms.base import State, check_ids
from mondegreen.mechanisms.laws.tree import TreeLaw
from mondegreen.sampling.integers import TOTAL, draw_uniform
from mondegreen.space.space import Space
from mondegreen.space.tree import WordTree

_BLOCK: Final = 1 << 15
"""Words drawn at once: their tables stay in the cache of a core."""

Numbers = tuple[float, ...]


@final
class TreeState(State):
    """The tree mechanism prepared for one space.

    ``heights`` are the distances of two words by the level where they meet.
    """

    __slots__ = (
        "_chosen",
        "_edges",
        "_kinds",
        "_limits",
        "_quotients",
        "_starts",
        "guarantee",
        "heights",
        "law",
        "space",
    )

    def __init__(
        self,
        space: Space,
        law: TreeLaw,
        heights: Numbers,
        guarantee: Guarantee,
    ) -> None:
        self.space, self.law, self.heights = space, law, heights
        self.guarantee = guarantee
        tree = law.tree
        rows, self._kinds = law.kinds()
        weights = np.array(rows)
        self._chosen = np.flatnonzero(weights.any(axis=0)).tolist()
        # Where the integers of each level end: a row per kind of input.
        self._edges = np.cumsum(weights[:, self._chosen], axis=1)
        shape = (len(self._chosen), tree.vocab_size + 1)
        self._starts = np.zeros(shape, dtype=np.int64)
        self._quotients = np.zeros(shape, dtype=np.int64)
        self._limits = np.zeros(shape, dtype=np.int64)
        for row, level in enumerate(self._chosen):
            nodes = tree.nodes[level, :-1]
            sizes = np.append(tree.sizes(level)[nodes], tree.vocab_size)
            self._starts[row, :-1] = tree.bounds[level][nodes]
            # Places of the level that fall on each word of the node, and on all.
            self._quotients[row] = weights[self._kinds, level] // sizes
            self._limits[row] = self._quotients[row] * sizes
        self._quotients = np.maximum(self._quotients, 1).astype(np.uint64)

    @property
    def tree(self) -> WordTree:
        """The public tree."""
        return self.law.tree

    @property
    def level_probabilities(self) -> Numbers:
        """Of the levels, words first, for classes without their own."""
        return tuple(weight / TOTAL for weight in self.law.weights)

    @property
    def digests(self) -> Mapping[str, str]:
        """The tree, and its integers: what decides a draw.

        The integers come from a linear program in floating point, so another version
        or processor may find others at one epsilon.
        """
        own = {str(node): list(row) for node, row in sorted(self.law.own.items())}
        parts = {
            "own": own,
            "tree": self.tree.digest,
            "weights": list(self.law.weights),
        }
        text = json.dumps(parts, sort_keys=True)
        law = hashlib.sha256(text.encode()).hexdigest()
        return {"tree": self.tree.digest, "law": law}

    def distances(self, first: Ids, second: Ids) -> NDArray[np.float64]:
        """Return the metric of the guarantee, shape (first, second)."""
        heights = np.array(self.heights)
        table: NDArray[np.float64] = heights[self.tree.meeting_levels(first, second)]
        return table

    def sample(self, ids: Ids, rng: np.random.Generator) -> Ids:
        """Draw an output for each input; see :class:`mondegreen.mechanisms.State`.

        Every word consumes one 64-bit word of ``rng``, in order, which decides the
        level and the place in its node. Where the places of a level cannot be dealt
        evenly to the words of a node, less than one draw in 2**44, the place is drawn
        again, after all others.
        """
        check_ids(ids, self.space.vocab_size)
        out = np.empty(len(ids), dtype=np.int32)
        again: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        for start in range(0, len(ids), _BLOCK):
            block = slice(start, start + _BLOCK)
            draws = draw_uniform(rng, len(out[block]))
            levels, rest = self._levels(ids[block], draws)
            flat = levels * (self.space.vocab_size + 1)
            flat += ids[block].astype(np.int64, copy=False)
            uneven = rest >= self._limits.take(flat)
            # Unsigned division is the faster one.
            place = (rest.view(np.uint64) // self._quotients.take(flat)).view(np.int64)
            if uneven.any():
                (where,) = np.nonzero(uneven)
                again.append((where + start, levels[where]))
                place[where] = 0
            place += self._starts.take(flat)
            out[block] = self.tree.order.take(place)
        for where, levels in again:
            out[where] = self._drawn_again(ids[where], levels, rng)
        return out

    def log_prob(self, ids: Ids) -> LogProbs:
        check_ids(ids, self.space.vocab_size)
        words, inverse = np.unique(ids, return_inverse=True)
        table = np.empty((len(words), self.space.vocab_size))
        for row, word in zip(table, words.tolist(), strict=True):
            row[:] = np.log(self.law.probabilities(word))
        return table[inverse]

    def _levels(self, ids: Ids, draws: Weights) -> tuple[NDArray[np.int64], Weights]:
        """The level of each draw, and the place of the draw in that level."""
        levels = np.zeros(len(draws), dtype=np.int64)
        if len(self._edges) == 1:
            edges = np.append(0, self._edges[0])
            for edge in edges[1:-1]:
                levels += draws >= edge
            return levels, draws - edges.take(levels)
        kinds, starts = self._kinds.take(ids), np.zeros_like(draws)
        for ends in self._edges.T[:-1]:
            edge = ends.take(kinds)
            passed = draws >= edge
            levels += passed
            np.copyto(starts, edge, where=passed)
        return levels, draws - starts

    def _drawn_again(
        self, ids: Ids, levels: NDArray[np.int64], rng: np.random.Generator
    ) -> Ids:
        """Draw places in nodes without bias, by rejection."""
        tree = self.tree
        found = np.empty(len(ids), dtype=np.int32)
        for i, (word, row) in enumerate(
            zip(ids.tolist(), levels.tolist(), strict=True)
        ):
            level = self._chosen[row] if word < tree.vocab_size else tree.levels
            node = int(tree.nodes[level, word])
            members = tree.members(level, node)
            found[i] = members[int(rng.integers(0, len(members)))]
        return found
