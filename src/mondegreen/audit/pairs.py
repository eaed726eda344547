"""Which pairs of inputs a statistical audit compares, from public geometry alone."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids
from mondegreen.audit.distances import ClaimMetric

KINDS: Final = ("duplicate", "near", "hub", "rare", "unknown", "far")
"""What is tried in turn: words at one point; nearest neighbours; a word that is close
to many, and its neighbour; a lonely or late word; the unknown word; distant words."""

_SAMPLE: Final = 512
"""Words among which pairs are looked for, in a large space."""


def choose_pairs(
    metric: ClaimMetric,
    vocab_size: int,
    count: int,
    rng: np.random.Generator,
    *,
    largest: float = np.inf,
    sample: int = _SAMPLE,
) -> list[tuple[int, int]]:
    """Return pairs of distinct inputs, of all kinds in turn.

    Parameters
    ----------
    metric : ClaimMetric
        Of the claim.
    vocab_size : int
        ``V``, also the id of the unknown word.
    count : int
        How many pairs, at most.
    rng : numpy.random.Generator
        Chooses among equals; never sees an output.
    largest : float
        Pairs further apart than this are left out where others exist: what they are
        allowed to lose is more than an audit could see.
    sample : int
        Words that are looked at.

    Examples
    --------
    >>> import mondegreen as mg
    >>> from mondegreen.audit.distances import metric_named
    >>> space = mg.Space.from_arrays("line", list("abcd"), [[0], [0], [1], [9]])
    >>> metric = metric_named("euclidean", space)
    >>> choose_pairs(metric, 4, 3, np.random.default_rng(0))
    [(0, 1), (0, 2), (3, 4)]
    """
    ids = _candidates(vocab_size, sample)
    table = metric.between(ids, ids)
    pools = _pools(ids, table, vocab_size, rng)
    within = [
        [(i, j) for i, j in pool if table[i, j] <= largest or kind == "duplicate"]
        for kind, pool in pools.items()
    ]
    if not any(within):
        within = list(pools.values())
    chosen: dict[tuple[int, int], None] = {}
    for turn in range(max(map(len, within), default=0)):
        for pool in within:
            if turn < len(pool) and len(chosen) < count:
                i, j = pool[turn]
                chosen[int(min(ids[i], ids[j])), int(max(ids[i], ids[j]))] = None
    return list(chosen)


def _candidates(vocab_size: int, sample: int) -> Ids:
    """Return an even sample of the words, and the unknown word."""
    some = np.linspace(0, vocab_size - 1, min(sample, vocab_size)).astype(np.int32)
    return np.append(np.unique(some), np.int32(vocab_size))


def _pools(
    ids: Ids, table: NDArray[np.float64], vocab_size: int, rng: np.random.Generator
) -> dict[str, list[tuple[int, int]]]:
    """Return places of pairs in the table, by kind, best first."""
    words = len(ids) - 1
    apart = table.copy()
    np.fill_diagonal(apart, np.inf)
    same = np.argwhere(np.triu(table == 0, 1))
    positive = np.where(apart > 0, apart, np.inf)
    nearest = positive.argmin(axis=1)
    distance = positive[np.arange(len(ids)), nearest]
    by_distance = np.argsort(distance[:words], kind="stable")
    # A hub is close to many: the smallest median distance; a rare word the largest.
    spread = np.median(table[:words, :words], axis=1)
    order = np.argsort(spread, kind="stable")
    far = np.argsort(
        -np.where(np.isinf(table[:words, :words]), -1, table[:words, :words]).max(
            axis=1
        )
    )
    several = rng.permutation(words)
    return {
        "duplicate": [(int(i), int(j)) for i, j in same[:64]],
        "near": [(int(i), int(nearest[i])) for i in by_distance],
        "hub": [(int(i), int(nearest[i])) for i in order],
        "rare": [(int(i), int(nearest[i])) for i in order[::-1]],
        "unknown": [(int(i), words) for i in np.argsort(table[words, :words])],
        "far": [(int(i), int(j)) for i, j in zip(far, several, strict=True) if i != j],
    }
