"""The law on a word tree seen from its outputs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats, Ids
from mondegreen.mechanisms.channel import Channel, rank
from mondegreen.mechanisms.laws.tree import TreeLaw
from mondegreen.sampling.integers import TOTAL


def tree_channel(law: TreeLaw, prior: Floats, count: int) -> Channel:
    """Find the ``count`` most likely inputs of each output.

    The law depends on an output through the level where it meets the input alone. So
    outputs of one node tell the same, down to the lowest level that is ever chosen; and
    of the inputs that meet it in a node, the most likely are the same for all outputs.
    """
    tree = law.tree
    size, top = tree.vocab_size, tree.levels
    reach = _reach(law)
    lowest = int(np.flatnonzero(np.array(law.kinds()[0]).any(axis=0))[0])
    first = tree.order[tree.bounds[lowest][:-1]]  # a word of each observation
    found = [np.full((len(first), 1), size)]  # the unknown word
    for level in range(lowest, top + 1):
        nodes = tree.nodes[level, :size]
        best = _best(prior[:size] * reach[level, :size], nodes, count)
        found.append(best[nodes[first]])
    candidates = np.hstack(found)
    meeting = np.full(candidates.shape, top)
    for level in range(top - 1, lowest - 1, -1):
        nodes = np.append(tree.nodes[level, :size], -1)  # the unknown word meets none
        meeting[nodes[candidates] == nodes[first][:, None]] = level
    shares = np.where(candidates < 0, 0.0, reach[meeting, candidates])
    observation = tree.nodes[lowest, :size].astype(np.int32)
    how = "exact, by the nodes of the tree"
    return rank(observation, np.maximum(candidates, 0), shares, prior, count, how)


def _reach(law: TreeLaw) -> Floats:
    """P(y | x) by the level at which they meet (rows) and the input (columns)."""
    tree = law.tree
    size, top = tree.vocab_size, tree.levels
    rows, kinds = law.kinds()
    weights = np.array(rows, dtype=np.float64) / TOTAL
    reach = np.full((top + 1, size + 1), 1 / size)
    above = np.zeros(size)
    for level in range(top, -1, -1):
        members = tree.sizes(level)[tree.nodes[level, :size]]
        above = above + weights[kinds[:size], level] / members
        reach[level, :size] = above
    return reach


def _best(scores: Floats, nodes: NDArray[np.int32], count: int) -> Ids:
    """The words of each node with the highest scores, -1 where it has no more."""
    order = np.lexsort((-scores, nodes))
    starts = np.searchsorted(nodes[order], np.arange(int(nodes.max()) + 2))
    place = np.arange(len(order)) - starts[nodes[order]]
    is_best = place < count
    table = np.full((len(starts) - 1, count), -1, dtype=np.int32)
    table[nodes[order[is_best]], place[is_best]] = order[is_best]
    return table
