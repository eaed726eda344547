r"""Linkage: to which of N originals a release belongs, whatever tool made it.

By words, the attacker takes the original with the largest

.. math:: \frac{1}{\lVert x^{(j)} \rVert}
    \sum_{w \in y} \left(\ln \frac{N}{n_w}\right)^2

over the words w of the release that are in the original j; :math:`n_w` originals have
the word w. Masks are no words. Equally good originals share a success.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final

import numpy as np

from mondegreen.arrays import Floats
from mondegreen.attacks.any_tool.rows import Row
from mondegreen.attacks.attack import Attack, by_texts

_ORIGINALS: Final = 2000
_TRIED: Final = 200
_MOST, _FEW = 0.8, 0.5
_RUN: Final = 3  # gaps between words that are looked at together


def link(rows: Sequence[Row]) -> Attack | None:
    """Link releases to their originals by words, structure, lengths and times.

    Times are compared where both sides have some: the original with the nearest time is
    taken, and a release without a time fits every original.

    ``value`` is the success by words; ``by`` holds every way, and ``strongest`` names
    the best one. None for fewer than two texts.
    """
    rows = rows[:_ORIGINALS]
    if len(rows) < 2:
        return None
    found = [
        _by_features(rows, "words", lambda row: row.words, _visible_words),
        _by_features(
            rows,
            "structure",
            lambda row: _runs(row.gaps),
            lambda row: _runs(row.released.gaps),
        ),
        _by_lengths(rows),
    ]
    if any(row.time is not None for row in rows) and any(
        row.released_time is not None for row in rows
    ):
        found.append(_by_times(rows))
    best = max(found, key=lambda way: way["value"])
    words = found[0]
    return Attack(
        "linkage",
        f"has {len(rows):,} originals and looks for that of a release by its words",
        words["value"],
        words["low"],
        words["high"],
        1 / len(rows),
        len(rows),
        "share of texts",
        {"strongest": best["by"], "by": found},
    )


def find_displaced(rows: Sequence[Row]) -> float:
    """Share of releases that are nearly the original of another row, not of their own.

    Nearly: four of five distinct words are common to both, and of the own original less
    than half. A release in another order has many such rows, and its other figures say
    nothing.
    """
    rows = rows[:_ORIGINALS]
    own = [frozenset(row.words) for row in rows]
    postings: dict[str, list[int]] = defaultdict(list)
    for index, words in enumerate(own):
        for word in words:
            postings[word].append(index)
    tried = found = 0
    for index, row in enumerate(rows[:_TRIED]):
        words = frozenset(_visible_words(row))
        common = Counter(at for word in words for at in postings.get(word, ()))
        if not common:
            continue
        alike = {j: n / max(len(words), len(own[j])) for j, n in common.items()}
        tried += 1
        mine = alike.pop(index, 0.0)
        found += mine < _FEW and max(alike.values(), default=0.0) >= _MOST
    return found / max(1, tried)


def single_out(rows: Sequence[Row]) -> Attack | None:
    """Measure how often the annotated units that are left belong to one text alone.

    An attacker who knows these units of N people has as many candidates as there are
    originals with all units that the release leaves; ``value`` is the mean of one over
    that number. So a release that leaves nothing is at chance, 1 / N.
    """
    rows = [row for row in rows[:_ORIGINALS] if row.units]
    if len(rows) < 2:
        return None
    owners: dict[str, set[int]] = defaultdict(set)
    for index, row in enumerate(rows):
        for unit in row.units:
            owners[_format_share(row, unit.first, unit.last)].add(index)
    hits = np.zeros(len(rows))
    singled = 0
    for index, row in enumerate(rows):
        left = [
            owners[_format_share(row, unit.first, unit.last)]
            for unit in row.units
            if row.is_left(unit)
        ]
        same = set.intersection(*left) if left else range(len(rows))
        hits[index] = 1 / len(same)
        singled += len(same) == 1
    low, high = by_texts(hits, np.ones(len(hits)))
    return Attack(
        "identity",
        f"knows the annotated units of {len(rows):,} texts and looks for the only one "
        "that has those left in a release",
        float(hits.mean()),
        low,
        high,
        1 / len(rows),
        len(rows),
        "share of texts",
        {"singled_out": singled},
    )


def _format_share(row: Row, first: int, last: int) -> str:
    return " ".join(row.words[first:last])


def _visible_words(row: Row) -> list[str]:
    """List the words of a release; no masks."""
    return [
        key
        for key, is_mask in zip(row.released.keys, row.released.is_mask, strict=True)
        if not is_mask
    ]


def _runs(gaps: Sequence[str]) -> list[Hashable]:
    """List gaps that are no single space, each with those beside it."""
    told = [gap for gap in gaps if gap not in ("", " ")]
    return [tuple(told[i : i + _RUN]) for i in range(len(told))] + [*told]


def _by_features(
    rows: Sequence[Row],
    name: str,
    mine: Callable[[Row], Sequence[Hashable]],
    theirs: Callable[[Row], Sequence[Hashable]],
) -> dict[str, Any]:
    """Compare weighted sets of features, one release at a time."""
    count = len(rows)
    postings: dict[Hashable, list[int]] = defaultdict(list)
    for index, row in enumerate(rows):
        for feature in set(mine(row)):
            postings[feature].append(index)
    weights = {f: float(np.log(count / len(at))) ** 2 for f, at in postings.items()}
    lists = {feature: np.array(at) for feature, at in postings.items()}
    lengths = np.full(count, 1e-9)
    for feature, at in lists.items():
        lengths[at] += weights[feature]
    lengths = np.sqrt(lengths)
    hits = np.zeros(count)
    for index, row in enumerate(rows):
        scores = np.zeros(count)
        # Sorted: sums of floats, and so ties, are the same for every order of a set.
        for feature in sorted(set(theirs(row)) & postings.keys(), key=repr):
            scores[lists[feature]] += weights[feature]
        hits[index] = _share(scores / lengths, index)
    return _sum_up(name, hits)


def _by_lengths(rows: Sequence[Row]) -> dict[str, Any]:
    """Take the original whose number of words is nearest."""
    counts = np.array([len(row.words) for row in rows], dtype=np.float64)
    hits = np.zeros(len(rows))
    for index, row in enumerate(rows):
        hits[index] = _share(-np.abs(counts - len(row.released.keys)), index)
    return _sum_up("number of words", hits)


def _by_times(rows: Sequence[Row]) -> dict[str, Any]:
    """Take the original whose time is nearest; one without a time is farthest."""
    own = [row.time for row in rows]
    times = np.array([np.inf if time is None else time for time in own])
    hits = np.zeros(len(rows))
    for index, row in enumerate(rows):
        scores = np.zeros(len(rows))
        if row.released_time is not None:
            scores = -np.abs(times - row.released_time)
        hits[index] = _share(scores, index)
    return _sum_up("time", hits)


def _share(scores: Floats, own: int) -> float:
    """Share a success among the best originals."""
    best = scores.max()
    is_best = scores >= best - 1e-9 * max(1.0, abs(best))
    return float(is_best[own] / is_best.sum())


def _sum_up(name: str, hits: Floats) -> dict[str, Any]:
    low, high = by_texts(hits, np.ones(len(hits)))
    shares = {"value": float(hits.mean()), "low": low, "high": high}
    return {"by": name, **shares, "chance": 1 / len(hits), "n": len(hits)}
