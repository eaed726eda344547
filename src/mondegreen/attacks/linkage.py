r"""Linkage: to which of N originals a release belongs.

Whoever has the originals, and the law, takes the likeliest one: by the first k words,

.. math:: \arg\max_j \sum_{i \le k} \ln P(y_i \mid x^{(j)}_i)

by all words, among originals of as many words; by the groups of the words, in any
order; or by what passes in clear, which needs no law. Where the law is not closed,
distances stand for likelihoods. Equally likely originals share a success.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Any, Final, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats, Ids, Weights, in_blocks
from mondegreen.attacks.attack import Attack, by_texts
from mondegreen.attacks.outputs import has_closed_law, law_blocks, logarithms
from mondegreen.attacks.pairs import Pairs
from mondegreen.mechanisms.base import State
from mondegreen.scores.law import to_words
from mondegreen.space.store import tree_of

FIRST: Final = (5, 20)
_BLOCK: Final = 32

Found: TypeAlias = dict[str, Any]
Singles: TypeAlias = NDArray[np.float32]  # enough to tell texts apart


def linkage(state: State, pairs: Pairs) -> Attack:
    """Link every release to its original, by words, by their groups, by structure.

    ``value`` is the success by the first five words, which punctuation and the number
    of words do not help; ``by`` holds every way.
    """
    found: list[Found] = []
    if pairs.released is not None:
        found += _by_words(state, pairs)
        if has_closed_law(state) and (groups := _groups(state)) is not None:
            found.append(_by_groups(state, pairs, groups))
    found += _in_clear(pairs)
    first = next((each for each in found if each["by"] == _first(FIRST[0])), {})
    return Attack(
        "linkage",
        f"has all originals and looks for that of a release by its {_first(FIRST[0])}",
        first.get("value"),
        first.get("low"),
        first.get("high"),
        first.get("chance"),
        first.get("n", pairs.texts),
        "share of texts",
        {"by": found},
    )


def _first(count: int) -> str:
    return f"first {count} words"


@final
class _Table:
    """Log-likelihoods of some releases (rows) by as many originals (columns)."""

    def __init__(self, pairs: Pairs, chosen: Weights, count: int) -> None:
        self.scores: Singles = np.zeros((len(chosen), len(chosen)), dtype=np.float32)
        starts = pairs.starts[chosen]
        self.released = pairs.outputs[starts[:, None] + np.arange(count)].T


def _by_words(state: State, pairs: Pairs) -> list[Found]:
    """Link by the first words, and by all words of texts of one length."""
    ways = [
        (_first(count), count, np.flatnonzero(pairs.counts >= count)) for count in FIRST
    ] + [
        ("all words", count, np.flatnonzero(pairs.counts == count))
        for count in np.unique(pairs.counts[pairs.counts > 0]).tolist()
    ]
    hits: dict[str, list[Floats]] = {}
    tables: list[list[tuple[_Table, int]]] = [[] for _ in range(pairs.texts)]
    made = [
        (name, _Table(pairs, chosen, count), chosen) for name, count, chosen in ways
    ]
    for _, table, chosen in made:
        for column, text in enumerate(chosen.tolist()):
            tables[text].append((table, column))
    _fill(state, pairs, tables)
    for name, table, _ in made:
        hits.setdefault(name, []).append(_hits(table.scores))
    found = {name: np.concatenate(some) for name, some in hits.items()}
    return [_summed(name, some) for name, some in found.items() if len(some) > 1]


def _fill(state: State, pairs: Pairs, tables: list[list[tuple[_Table, int]]]) -> None:
    """Add up the likelihoods of all tables in one pass over the distinct inputs."""
    lock = threading.Lock()

    def add(block: Ids, logs: Floats) -> None:
        occurrences = zip(*_occurrences(pairs, block), strict=True)
        with lock:
            for row, owner, place in occurrences:
                for table, column in tables[owner]:
                    if place < len(table.released):
                        table.scores[:, column] += logs[row, table.released[place]]

    def closed(block: Ids, logs: Floats, law: Floats) -> None:
        add(block, logs)

    def far(block: Ids) -> None:
        near = to_words(state.space, block)
        shape = len(block), state.space.vocab_size
        add(block, np.zeros(shape) if near is None else -near)

    ids = np.unique(pairs.inputs)
    is_closed = has_closed_law(state)
    work = law_blocks(state, ids, closed) if is_closed else in_blocks(far, ids, _BLOCK)
    deque(work, maxlen=0)


def _occurrences(pairs: Pairs, block: Ids) -> tuple[list[int], list[int], list[int]]:
    """Find where a run of the distinct inputs stands: row of the block, text, place."""
    inputs = pairs.inputs
    (where,) = np.nonzero((inputs >= block[0]) & (inputs <= block[-1]))
    owners = np.searchsorted(pairs.starts, where, side="right") - 1
    rows = np.searchsorted(block, inputs[where])
    return rows.tolist(), owners.tolist(), (where - pairs.starts[owners]).tolist()


def _groups(state: State) -> Ids | None:
    """Find the group of each word in the tree of the space, if there is one."""
    tree = state.tree or tree_of(state.space)
    return tree.nodes[1, :-1] if tree is not None and tree.levels > 1 else None


def _by_groups(state: State, pairs: Pairs, groups: Ids) -> Found:
    """Compare the groups of released words with the mixture of each original."""
    order = np.argsort(groups, kind="stable")
    count = int(groups.max()) + 1
    firsts = np.searchsorted(groups[order], np.arange(count))
    mixed, lock = np.zeros((pairs.texts, count)), threading.Lock()

    def add(block: Ids, logs: Floats, law: Floats) -> None:
        sums = np.add.reduceat(law[:, order], firsts, axis=1)
        rows, owners, _ = _occurrences(pairs, block)
        with lock:
            np.add.at(mixed, owners, sums[rows])

    deque(law_blocks(state, np.unique(pairs.inputs), add), maxlen=0)
    seen = np.zeros_like(mixed)
    owners = np.repeat(np.arange(pairs.texts), pairs.counts)
    np.add.at(seen, (owners, groups[pairs.outputs]), 1.0)
    filled = pairs.counts > 0
    mixed = mixed[filled] / pairs.counts[filled, None]
    scores = seen[filled] @ logarithms(mixed).T
    return _summed("groups in any order", _hits(scores.astype(np.float32)))


def _in_clear(pairs: Pairs) -> list[Found]:
    """Link by what is not hidden: structure, and the number of words alone."""
    ways = {"number of words": pairs.counts}
    if len(pairs.shapes):
        is_kept = np.array_equal(pairs.structures, pairs.shapes)
        ways = {"structure": pairs.structures} | ways if is_kept else ways
    found = []
    for name, keys in ways.items():
        _, inverse, sizes = np.unique(keys, return_inverse=True, return_counts=True)
        found.append(_summed(name, 1 / sizes[inverse]))
    return found


def _hits(scores: Singles) -> Floats:
    """Share a success among the originals that are likeliest, by release."""
    own = scores.diagonal()[:, None]
    above = np.count_nonzero(scores > own, axis=1)
    return np.where(above == 0, 1 / np.count_nonzero(scores == own, axis=1), 0.0)


def _summed(name: str, hits: Floats) -> Found:
    low, high = by_texts(hits, np.ones(len(hits)))
    shares = {"value": float(hits.mean()), "low": low, "high": high}
    return {"by": name, **shares, "chance": 1 / len(hits), "n": len(hits)}
