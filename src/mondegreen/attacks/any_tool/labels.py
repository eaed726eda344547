r"""Attribute inference: a classifier that learns from the releases of other people.

Multinomial naive Bayes over the words of releases, masks included: the label c of a
release y with the largest :math:`\ln P(c) + \sum_{w \in y} \ln P(w \mid c)`, counts
smoothed by one. Each fifth of the texts is guessed by what the other four tell.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from mondegreen.arrays import Floats
from mondegreen.attacks.any_tool.rows import Row
from mondegreen.attacks.attack import Attack, by_texts
from mondegreen.attacks.parts import draw_parts
from mondegreen.errors import ConfigurationError

_PARTS: Final = 5
_MOST: Final = 200


def infer_labels(rows: Sequence[Row]) -> Attack | None:
    """Measure how often a classifier guesses the label of a text from its release.

    ``chance`` is the share of the most frequent label; ``on_originals`` is what the
    same classifier reaches on the texts themselves. None for fewer than 10 labels
    given.

    Raises
    ------
    ConfigurationError
        Where the labels have more than 200 values: they are no attribute.
    """
    rows = [row for row in rows if row.label is not None]
    if len(rows) < 2 * _PARTS:
        return None
    labels = [str(row.label) for row in rows]
    counts = Counter(labels)
    if len(counts) > _MOST:
        raise ConfigurationError(
            f"--label: the column has {len(counts):,} values; give one with at most "
            f"{_MOST}"
        )
    hits = _guess(rows, labels, lambda row: row.released.keys)
    before = _guess(rows, labels, lambda row: row.words)
    low, high = by_texts(hits, np.ones(len(hits)))
    return Attack(
        "attribute",
        "guesses the label of a text by naive Bayes, trained on the releases of others",
        float(hits.mean()),
        low,
        high,
        max(counts.values()) / len(rows),
        len(rows),
        "share of texts",
        {"labels": len(counts), "on_originals": float(before.mean())},
    )


def _guess(
    rows: Sequence[Row], labels: Sequence[str], read: Callable[[Row], Sequence[str]]
) -> Floats:
    names = sorted(set(labels))
    number = {name: i for i, name in enumerate(names)}
    truth = np.array([number[label] for label in labels])
    hits = np.zeros(len(rows))
    parts = draw_parts(len(rows), _PARTS)
    for part in range(_PARTS):
        words: dict[str, Floats] = defaultdict(lambda: np.zeros(len(names)))
        texts = np.zeros(len(names))
        for i, row in enumerate(rows):
            if parts[i] != part:
                texts[truth[i]] += 1
                for word in read(row):
                    words[word][truth[i]] += 1
        totals = sum(words.values(), np.zeros(len(names))) + len(words) + 1
        prior = np.log(texts + 1)
        logs = {word: np.log((seen + 1) / totals) for word, seen in words.items()}
        for i in np.flatnonzero(parts == part).tolist():
            known = [logs[word] for word in read(rows[i]) if word in logs]
            score = sum(known, prior)
            best = score >= score.max() - 1e-9
            hits[i] = best[truth[i]] / best.sum()
    return hits
