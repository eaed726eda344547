r"""Linkage: to which of N originals a release belongs.

An attacker with the originals and the law takes the most likely one: by the first k
words,

.. math:: \arg\max_j \sum_{i \le k} \ln P(y_i \mid x^{(j)}_i)

by all words, among originals of as many words; by the groups of the words, in any
order; or by what passes unchanged, which needs no law. Where the law is not closed,
distances stand for likelihoods. One of the most likely originals is taken at random; if
it has the words of the right one, its text is found.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from typing import Any, Final, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats, Ids, Weights, in_blocks
from mondegreen.attacks.attack import Attack, by_texts, find_strongest
from mondegreen.attacks.outputs import has_closed_law, logarithms, pass_over
from mondegreen.attacks.pairs import Pairs
from mondegreen.mechanisms.base import State
from mondegreen.mechanisms.symbols.response import ResponseState
from mondegreen.scores.law import to_words
from mondegreen.space.store import load_tree

FIRST: Final = (5, 20)
OF_ROW: Final = " of all texts of a row"
_BLOCK: Final = 32

Found: TypeAlias = dict[str, Any]
Singles: TypeAlias = NDArray[np.float32]  # enough to tell texts apart


def linkage(state: State, pairs: Pairs) -> Attack:
    """Link every release to its original, by words, by their groups, by structure.

    ``value`` is the success by the ``strongest`` way; ``by`` holds every way. It is not
    known where the released words are not those of the law: structure alone would
    understate it.
    """
    found = _find(state, pairs)
    return build_linkage(found, pairs.texts, is_known=pairs.released is not None)


def link_rows(found: Attack, state: State, pairs: Pairs, rows: Sequence[int]) -> Attack:
    """Add linkage of whole rows to that of texts, where a row has several texts.

    Parameters
    ----------
    found : Attack
        What :func:`linkage` returned.
    state : State
        The law.
    pairs : Pairs
        All texts of these rows.
    rows : sequence of int
        The row of each text of the pairs; texts of a row follow each other.

    Returns
    -------
    Attack
        ``linkage``, with a way *of all texts of a row* for each way to link texts.
    """
    whole = pairs.join(rows)
    if not 1 < whole.texts < pairs.texts:
        return found
    ways = [{**way, "by": way["by"] + OF_ROW} for way in _find(state, whole)]
    every = [*found.details["by"], *ways]
    texts = max(way["n"] for way in found.details["by"])
    return build_linkage(every, texts, is_known=found.value is not None)


def _find(state: State, pairs: Pairs) -> list[Found]:
    """Link by each way."""
    found: list[Found] = []
    if pairs.released is not None:
        is_closed = has_closed_law(state)
        ways: list[_ByWords | _ByGroups] = [_ByWords(pairs)]
        if is_closed and (groups := _groups(state)) is not None:
            ways.append(_ByGroups(pairs, groups))
        _fill(state, pairs, ways, is_closed=is_closed)
        found = [each for way in ways for each in way.find()]
    return found + _in_clear(pairs)


def build_linkage(ways: list[Found], texts: int, *, is_known: bool = True) -> Attack:
    """State linkage by its strongest way, whatever tool made the release.

    Parameters
    ----------
    ways : list of dict
        What each way reached, with its name ``by``.
    texts : int
        Originals among which an attacker looks.
    is_known : bool
        Whether the words were compared, and not what is printed beside them alone.

    Returns
    -------
    Attack
        ``by`` in its details holds every way, and ``strongest`` names the best one.

    Examples
    --------
    >>> texts = np.arange(3)
    >>> ways = [sum_up("words", texts >= 0, texts), sum_up("none", texts < 0, texts)]
    >>> found = build_linkage(ways, 3)
    >>> found.value, found.details["strongest"]
    (1.0, 'words')
    """
    says = (
        f"holds all {texts:,} originals, and must find the one that each released text "
        "came from"
    )
    if not is_known:
        details = {"strongest": None, "by": ways}
        unit = "share of texts"
        return Attack("linkage", says, None, None, None, None, texts, unit, details)
    best = find_strongest(ways)
    return Attack(
        "linkage",
        f"{says}. Best way: {best['by']}",
        best["value"],
        best["low"],
        best["high"],
        best["chance"],
        best["n"],
        "share of texts",
        {"strongest": best["by"], "by": ways},
    )


def _first(count: int) -> str:
    return f"first {count} words"


Where: TypeAlias = tuple[Weights, Weights, Weights]
"""Where some inputs stand: which of them, in which text, at which place."""


@final
class _Table:
    """Log-likelihoods of some releases (rows) by as many originals (columns)."""

    def __init__(self, pairs: Pairs, name: str, chosen: Weights, count: int) -> None:
        self.name, self.chosen = name, chosen
        self.scores: Singles = np.zeros((len(chosen), len(chosen)), dtype=np.float32)
        starts, self.alike = pairs.starts[chosen], pairs.find_alike()[chosen]
        self.released = pairs.outputs[starts[:, None] + np.arange(count)].T


@final
class _ByWords:
    """Links by the first words, and by all words of texts of one length."""

    def __init__(self, pairs: Pairs) -> None:
        counts = pairs.counts
        self.tables = [
            _Table(pairs, _first(count), np.flatnonzero(counts >= count), count)
            for count in FIRST
        ] + [
            _Table(pairs, "all words", np.flatnonzero(counts == count), count)
            for count in np.unique(counts[counts > 0]).tolist()
        ]
        self._of_text: list[list[tuple[_Table, int]]] = [[] for _ in counts]
        for table in self.tables:
            for column, text in enumerate(table.chosen.tolist()):
                self._of_text[text].append((table, column))

    def add(self, where: Where, logs: Floats, law: Floats) -> None:
        for row, text, place in zip(*(x.tolist() for x in where), strict=True):
            for table, column in self._of_text[text]:
                if place < len(table.released):
                    table.scores[:, column] += logs[row, table.released[place]]

    def find(self) -> list[Found]:
        hits: dict[str, list[Floats]] = {}
        alike: dict[str, list[Weights]] = {}
        for table in self.tables:
            own = find_hits(table.scores, table.alike)
            hits.setdefault(table.name, []).append(own)
            alike.setdefault(table.name, []).append(table.alike)
        return [
            sum_up(name, np.concatenate(some), np.concatenate(alike[name]))
            for name, some in hits.items()
            if sum(map(len, some)) > 1
        ]


@final
class _ByGroups:
    """Compares the groups of released words with the mixture of each original."""

    def __init__(self, pairs: Pairs, groups: Ids) -> None:
        self._pairs, self._groups = pairs, groups
        self._order = np.argsort(groups, kind="stable")
        numbers = np.arange(int(groups.max()) + 1)
        self._firsts = np.searchsorted(groups[self._order], numbers)
        self._mixed = np.zeros((pairs.texts, len(numbers)))

    def add(self, where: Where, logs: Floats, law: Floats) -> None:
        rows, texts, _ = where
        sums = np.add.reduceat(law[:, self._order], self._firsts, axis=1)
        np.add.at(self._mixed, texts, sums[rows])

    def find(self) -> list[Found]:
        counts = self._pairs.counts
        seen = np.zeros_like(self._mixed)
        texts = np.repeat(np.arange(len(counts)), counts)
        np.add.at(seen, (texts, self._groups[self._pairs.outputs]), 1.0)
        filled = counts > 0
        mixed = self._mixed[filled] / counts[filled, None]
        scores = seen[filled] @ logarithms(mixed).T
        alike = self._pairs.find_alike()[filled]
        hits = find_hits(scores.astype(np.float32), alike)
        return [sum_up("groups in any order", hits, alike)]


def _fill(
    state: State, pairs: Pairs, ways: list[_ByWords | _ByGroups], *, is_closed: bool
) -> None:
    """Show every way the laws of the inputs in one pass, or their distances below 0."""
    lock = threading.Lock()

    def add(some: Ids, logs: Floats, law: Floats) -> None:
        where = _occurrences(pairs, some)
        with lock:
            for way in ways:
                way.add(where, logs, law)

    def far(some: Ids) -> None:
        near = to_words(state.space, some)
        below = np.zeros((len(some), state.space.vocab_size)) if near is None else -near
        add(some, below, below)

    ids = np.unique(pairs.inputs)
    if is_closed:
        pass_over(state, ids, add)
    else:
        deque(in_blocks(far, ids, _BLOCK), maxlen=0)


def _occurrences(pairs: Pairs, some: Ids) -> Where:
    """Find where a run of the distinct inputs stands."""
    inputs = pairs.inputs
    (where,) = np.nonzero((inputs >= some[0]) & (inputs <= some[-1]))
    texts = np.searchsorted(pairs.starts, where, side="right") - 1
    return np.searchsorted(some, inputs[where]), texts, where - pairs.starts[texts]


def _groups(state: State) -> Ids | None:
    """Find the group of each word in the tree of the space, if there is one."""
    if isinstance(state, ResponseState):  # symbols of a policy are in no tree
        return None
    tree = state.tree or load_tree(state.space)
    return tree.nodes[1, :-1] if tree is not None and tree.levels > 1 else None


def _in_clear(pairs: Pairs) -> list[Found]:
    """Link by what is disclosed: structure, and the number of words alone."""
    ways = {"number of words": pairs.counts}
    if len(pairs.shapes):
        is_kept = np.array_equal(pairs.structures, pairs.shapes)
        ways = {"structure": pairs.structures} | ways if is_kept else ways
    found, alike = [], pairs.find_alike()
    for name, keys in ways.items():
        same = np.stack([keys, alike])
        sizes, own = _count_equal(keys[None]), _count_equal(same)
        found.append(sum_up(name, own / sizes, alike))
    return found


def _count_equal(keys: Weights) -> Weights:
    """Count the columns that are equal to each one."""
    _, inverse, sizes = np.unique(keys, axis=1, return_inverse=True, return_counts=True)
    return np.asarray(sizes[inverse.ravel()])


def find_hits(scores: Singles, alike: Weights) -> Floats:
    """Find the chance that one of the most likely originals has the right text.

    Parameters
    ----------
    scores : array, shape (releases, originals)
        As many releases as originals, in the same order.
    alike : int array, shape (originals,)
        Equal for equal texts.

    Returns
    -------
    float array, shape (releases,)

    Examples
    --------
    >>> scores = np.array([[2, 2, 1], [2, 2, 1], [3, 2, 2]], dtype=np.float32)
    >>> find_hits(scores, np.array([0, 0, 1])), find_hits(scores, np.array([0, 1, 2]))
    (array([1., 1., 0.]), array([0.5, 0.5, 0. ]))
    """
    own = scores.diagonal()[:, None]
    above = np.count_nonzero(scores > own, axis=1)
    best = scores == own
    right = np.count_nonzero(best & (alike == alike[:, None]), axis=1)
    return np.where(above == 0, right / np.count_nonzero(best, axis=1), 0.0)


def sum_up(name: str, hits: Floats, alike: Weights) -> Found:
    """State what one way to link reaches; by chance it takes any original.

    >>> sum_up("words", np.array([1.0, 1.0, 0.0]), np.array([0, 0, 1]))["chance"]
    0.55...
    """
    low, high = by_texts(hits, np.ones(len(hits)))
    shares = {"value": float(hits.mean()), "low": low, "high": high}
    chance = float(np.mean(_count_equal(alike[None]) / len(hits)))
    return {"by": name, **shares, "chance": chance, "n": len(hits)}
