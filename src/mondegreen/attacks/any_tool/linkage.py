r"""Linkage: to which of N originals a release belongs, whatever tool made it.

By words, the attacker takes the original with the largest

.. math:: \frac{1}{\lVert x^{(j)} \rVert}
    \sum_{w \in y} \left(\ln \frac{N}{n_w}\right)^2

over the words w of the release that are in the original j; :math:`n_w` originals have
the word w. Masks are no words. One of the best originals is taken at random; if it has
the words of the right one, its text is found.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import chain, groupby
from typing import Any, Final, final

import numpy as np

from mondegreen.arrays import Floats, Weights
from mondegreen.attacks.any_tool.rows import Row
from mondegreen.attacks.attack import Attack, by_texts, count_rows
from mondegreen.attacks.linkage import OF_ROW, build_linkage, sum_up

_ORIGINALS: Final = 2000
_MOST, _FEW, _LEAST = 0.6, 0.5, 5
_LISTED: Final = 20
_RUN: Final = 3  # gaps between words that are looked at together


def link(rows: Sequence[Row]) -> Attack | None:
    """Link releases to their originals by words, structure, lengths and times.

    Times are compared where both sides have some: the original with the nearest time is
    taken, and a release without a time fits every original. Where a row has several
    texts, rows are linked too, by all words and by the structure of their texts.

    ``value`` is the success by the ``strongest`` way; ``by`` holds every way. None for
    fewer than two texts.
    """
    rows = rows[:_ORIGINALS]
    if len(rows) < 2:
        return None
    found = [*_by_content([[row] for row in rows]), _by_lengths(rows)]
    whole = [[*texts] for _, texts in groupby(rows, key=lambda row: row.number)]
    if 1 < len(whole) < len(rows):
        found += _by_content(whole, OF_ROW)
    if any(row.time is not None for row in rows) and any(
        row.released_time is not None for row in rows
    ):
        found.append(_by_times(rows))
    return build_linkage(found, len(rows))


@final
class DisplacedRows:
    """Finds releases that belong to the original of another row.

    Such a release has less than half of the distinct words of its own original, and
    much more of those of another: six of ten or more, five words at least, and twice as
    many as of its own. The other original is looked for among the first 2,000 rows that
    lost so many words: if two rows are swapped, both of them did. So memory does not
    grow with the number of rows.

    A release that replaces most words is the original of no row: nothing is found.
    """

    def __init__(self) -> None:
        self._changed: list[Row] = []
        self._seen = 0
        self.texts = 0

    def add(self, row: Row) -> None:
        self.texts += 1
        if len(self._changed) == _ORIGINALS:
            return
        self._seen += 1
        own, shown = frozenset(row.words), frozenset(_visible_words(row))
        if shown and len(own & shown) < _FEW * max(len(own), len(shown)):
            self._changed.append(row)

    def attack(self) -> Attack:
        """Tell how many rows are displaced, and which: ``rows`` lists the first."""
        rows = self._changed
        index = _Index([row.words for row in rows])
        sizes = index.lengths()
        found = []
        for place, row in enumerate(rows):
            words = frozenset(_visible_words(row))
            common = index.add_up(words)
            alike = common / np.maximum(len(words), sizes)
            own, alike[place] = alike[place], 0.0
            best = int(alike.argmax())
            is_other = alike[best] >= max(_MOST, 2 * own) and common[best] >= _LEAST
            found += [row.number] if is_other else []
        value = float(len(found)) if self.texts else None
        return count_rows(
            "displaced_rows",
            "looks for releases that belong to the original of another row",
            value,
            self._seen,
            {"rows": found[:_LISTED]},
        )


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


@final
class _Index:
    """Which originals have a feature, such as a word."""

    def __init__(self, features: Sequence[Iterable[Hashable]]) -> None:
        self.count = len(features)
        owners: dict[Hashable, list[int]] = defaultdict(list)
        for place, some in enumerate(features):
            for feature in set(some):
                owners[feature].append(place)
        self._owners = {feature: np.array(at) for feature, at in owners.items()}

    def weights(self) -> dict[Hashable, float]:
        """Weigh features by how few originals have them."""
        return {
            feature: float(np.log(self.count / len(at))) ** 2
            for feature, at in self._owners.items()
        }

    def add_up(
        self,
        features: Iterable[Hashable],
        weights: Mapping[Hashable, float] | None = None,
    ) -> Floats:
        """Add up the features that each original has, or their weights.

        Shape (count,).
        """
        found = np.zeros(self.count)
        # Sorted: sums of floats, and so ties, are the same for every order of a set.
        for feature in sorted(set(features) & self._owners.keys(), key=repr):
            found[self._owners[feature]] += 1 if weights is None else weights[feature]
        return found

    def lengths(self, weights: Mapping[Hashable, float] | None = None) -> Floats:
        """Add up all features of each original, or their weights."""
        return self.add_up(self._owners, weights)


def _by_content(whole: Sequence[Sequence[Row]], of: str = "") -> list[dict[str, Any]]:
    """Link what has one or several texts, by their words and by their structure."""

    def features(find: Callable[[Row], Iterable[Hashable]]) -> list[list[Hashable]]:
        return [list(chain.from_iterable(map(find, texts))) for texts in whole]

    words = features(lambda row: row.words)
    alike = _number(words)
    return [
        _by_features(f"words{of}", words, features(_visible_words), alike),
        _by_features(
            f"structure{of}",
            features(lambda row: _runs(row.gaps)),
            features(lambda row: _runs(row.released.gaps)),
            alike,
        ),
    ]


def _by_features(
    name: str,
    mine: Sequence[Sequence[Hashable]],
    theirs: Sequence[Sequence[Hashable]],
    alike: Weights,
) -> dict[str, Any]:
    """Compare weighted sets of features, one release at a time."""
    index = _Index(mine)
    weights = index.weights()
    lengths = np.sqrt(np.maximum(index.lengths(weights), 1e-9))
    hits = np.zeros(len(mine))
    for place, shown in enumerate(theirs):
        scores = index.add_up(shown, weights) / lengths
        hits[place] = _share(scores, place, alike)
    return sum_up(name, hits, alike)


def _by_lengths(rows: Sequence[Row]) -> dict[str, Any]:
    """Take the original whose number of words is nearest."""
    counts = np.array([len(row.words) for row in rows], dtype=np.float64)
    hits, alike = np.zeros(len(rows)), _number_texts(rows)
    for index, row in enumerate(rows):
        hits[index] = _share(-np.abs(counts - len(row.released.keys)), index, alike)
    return sum_up("number of words", hits, alike)


def _by_times(rows: Sequence[Row]) -> dict[str, Any]:
    """Take the original whose time is nearest; one without a time is farthest."""
    own = [row.time for row in rows]
    times = np.array([np.inf if time is None else time for time in own])
    hits, alike = np.zeros(len(rows)), _number_texts(rows)
    for index, row in enumerate(rows):
        scores = np.zeros(len(rows))
        if row.released_time is not None:
            scores = -np.abs(times - row.released_time)
        hits[index] = _share(scores, index, alike)
    return sum_up("time", hits, alike)


def _share(scores: Floats, own: int, alike: Weights) -> float:
    """Find the chance that one of the best originals has the right text."""
    best = scores.max()
    is_best = scores >= best - 1e-9 * max(1.0, abs(best))
    if not is_best[own]:
        return 0.0
    return float((is_best & (alike == alike[own])).sum() / is_best.sum())


def _number_texts(rows: Sequence[Row]) -> Weights:
    """Number the originals, those with equal words alike."""
    return _number([row.words for row in rows])


def _number(some: Iterable[Sequence[Hashable]]) -> Weights:
    """Number sequences, equal ones alike."""
    known: dict[tuple[Hashable, ...], int] = {}
    found = [known.setdefault(tuple(each), len(known)) for each in some]
    return np.array(found, dtype=np.int64)
