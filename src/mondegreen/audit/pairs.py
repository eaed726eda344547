"""Which pairs of inputs a statistical audit compares, from public geometry alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mondegreen.audit.claim import Claim


def choose_pairs(
    claim: Claim,
    count: int,
    rng: np.random.Generator,
    *,
    largest: float = np.inf,
    sample: int = 512,
) -> list[tuple[int, int]]:
    """Return at most ``count`` pairs of distinct inputs, of all kinds in turn.

    They are looked for among an even ``sample`` of the words, and the unknown word.
    Pairs further apart than ``largest`` are left out where others exist: what they are
    allowed to lose is more than an audit could see. ``rng`` chooses among equals and
    never sees an output.
    """
    vocab_size = claim.space.vocab_size
    some = np.linspace(0, vocab_size - 1, min(sample, vocab_size)).astype(np.int32)
    ids = np.append(np.unique(some), np.int32(vocab_size))
    table = claim.between(ids, ids)
    kinds = _kinds(table, rng)
    within = [
        [(i, j) for i, j in pairs if table[i, j] <= largest or kind == "duplicate"]
        for kind, pairs in kinds.items()
    ]
    if not any(within):
        within = list(kinds.values())
    chosen: dict[tuple[int, int], None] = {}
    for turn in range(max(map(len, within), default=0)):
        for pairs in within:
            if turn < len(pairs) and len(chosen) < count:
                i, j = pairs[turn]
                chosen[int(min(ids[i], ids[j])), int(max(ids[i], ids[j]))] = None
    return list(chosen)


def _kinds(
    table: NDArray[np.float64], rng: np.random.Generator
) -> dict[str, list[tuple[int, int]]]:
    """Return places of pairs in a table of distances, by kind, best first.

    The last place is the unknown word.
    """
    words = len(table) - 1
    among = table[:words, :words]
    apart = table.copy()
    np.fill_diagonal(apart, np.inf)
    same = np.argwhere(np.triu(table == 0, 1))
    positive = np.where(apart > 0, apart, np.inf)
    nearest = positive.argmin(axis=1)
    by_distance = np.argsort(positive.min(axis=1)[:words], kind="stable")
    # A hub is close to many: the smallest median distance; a rare word the largest.
    order = np.argsort(np.median(among, axis=1), kind="stable")
    far = np.argsort(-np.where(np.isinf(among), -1, among).max(axis=1))
    several = rng.permutation(words)
    return {
        "duplicate": [(int(i), int(j)) for i, j in same[:64]],
        "near": [(int(i), int(nearest[i])) for i in by_distance],
        "hub": [(int(i), int(nearest[i])) for i in order],
        "rare": [(int(i), int(nearest[i])) for i in order[::-1]],
        "unknown": [(int(i), words) for i in np.argsort(table[words, :words])],
        "far": [(int(i), int(j)) for i, j in zip(far, several, strict=True) if i != j],
    }
