"""Measure one tool: what it leaves, and what its releases are still good for."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

import mondegreen as mg
from mondegreen.arrays import Floats
from mondegreen.attacks.any_tool.linkage import link
from mondegreen.attacks.any_tool.reader import PublicReader, compute_chance, read_hidden
from mondegreen.attacks.any_tool.rows import STANDS, Given, Row, read_rows
from mondegreen.attacks.any_tool.survivors import Shares, Survivors
from mondegreen.attacks.attack import Attack, by_texts
from mondegreen.language.store import load_language
from mondegreen_experiments.bench import Bench
from mondegreen_experiments.recipe import Found, Point
from mondegreen_experiments.scoreboard.published import (
    REDACTOR,
    count_verbatim,
    count_words,
)
from mondegreen_experiments.scoreboard.sets import SETS, Texts, read_learned, read_texts
from mondegreen_experiments.scoreboard.tools import (
    TOOLS,
    Released,
    release_at,
    release_by_policy,
)

BESIDE: Final = "sensitive"
"""The policy whose speed is 1: it is timed before and after each tool."""

IN: Final = ": "
"""Stands between the name of a set and that of a measure."""

_FIRST: Final = 10
_LEAST: Final = 0.3
"""Seconds that the policy is timed for, at least."""


def measure(bench: Bench, point: Point, seed: int) -> Found:
    """Measure one tool on the sets of a point; a measure is named ``SET: MEASURE``.

    ``survivors``: the share of annotated units, or of sensitive words where the set
    has no annotations, that stand in the release. ``reader``: these and those that a
    public language model guesses at the first try. ``linkage``: the share of releases
    whose words lead to their own original among all. ``others``: the share of all other
    words that are printed in their places. ``accuracy``: the share of texts whose label
    is told from the release by a classifier (TF-IDF of words and pairs of words,
    linear support vectors) that was trained on at most 5,000 other texts, unreleased.
    ``retrieval``: the share of texts whose nearest public text is among the ten nearest
    to the release. ``speed``: words a second as a multiple of those of the policy
    ``sensitive``, timed right before and after on the texts of all sets. ``NAME low``
    and ``NAME high``: 95 %.
    """
    sets = read_texts(bench, point)
    every = [text for some in sets.values() for text in some.texts]
    before = _rate(every, seed)
    released = release_at(point, every, seed)
    found: dict[str, float | str] = {**_promise(str(point["tool"]), released)}
    if released.seconds is not None:
        rate = _count(every) / max(released.seconds, 1e-9)
        beside = (before + _rate(every, seed)) / 2
        found |= {"rate": rate, "rate beside": beside, "speed": rate / beside}
    left = iter(released.texts)
    for name, some in sets.items():
        releases = list(itertools.islice(left, len(some.texts)))
        measures = _measure_set(bench, name, some, releases)
        found |= {f"{name}{IN}{each}": value for each, value in measures.items()}
    return found


def _measure_set(
    bench: Bench, name: str, some: Texts, releases: Sequence[str]
) -> dict[str, float]:
    found = {"texts": float(len(some.texts)), **_judge(some, releases)}
    found |= _use(bench, name, some, releases)
    if name == REDACTOR and some.spans is not None:
        found |= count_verbatim(some.spans, some.texts, releases)
    return found


def _rate(texts: Sequence[str], seed: int) -> float:
    """Time the policy that all are compared with, in words a second."""
    words, seconds = 0, 0.0
    while seconds < _LEAST:
        seconds += release_by_policy(BESIDE, texts, seed).seconds or 0.0
        words += _count(texts)
    return words / seconds


def _count(texts: Sequence[str]) -> int:
    return sum(len(text.split()) for text in texts)


def _promise(name: str, released: Released) -> dict[str, str]:
    """Say what a tool promises: its certified loss, or what its listing says."""
    said = TOOLS[name].nats if name in TOOLS else "none"
    nats = "" if released.nats is None else f"{released.nats:.0f} "
    return {"nats": nats + said}


def _judge(some: Texts, releases: Sequence[str]) -> dict[str, float]:
    """Attack a release, and count the other words that are kept."""
    annotated = some.spans is not None
    spans = itertools.repeat(None) if some.spans is None else some.spans
    given = [
        Given(number, text, release, units)
        for number, (text, release, units) in enumerate(
            zip(some.texts, releases, spans, strict=annotated), 1
        )
    ]
    rows = list(read_rows(given))
    unit = "annotated units" if annotated else "sensitive words"
    survivors = Survivors(unit)
    for row in rows:
        survivors.add(row)
    reader = PublicReader(load_language(), mg.load_space(), rows)
    attacks = {
        "survivors": survivors.attack(compute_chance(rows)),
        "reader": read_hidden(rows, reader, unit),
        "linkage": _link_by_words(rows),
    }
    judged: dict[str, float] = {}
    for name, attack in attacks.items():
        if attack is not None:
            judged |= _bounds(name, attack.value, attack.low, attack.high)
            judged[f"{name} n"] = attack.n
            if attack.chance is not None:
                judged[f"{name} chance"] = attack.chance
    others = _count_others(rows)
    judged |= _bounds("others", others.value, *others.ends())
    return judged | (count_words(rows) if annotated else {})


def _link_by_words(rows: Sequence[Row]) -> Attack | None:
    """Link by words, which every tool leaves or hides on purpose."""
    found = link(rows)
    if found is None:
        return None
    (way,) = (way for way in found.details["by"] if way["by"] == "words")
    return replace(found, value=way["value"], low=way["low"], high=way["high"])


def _bounds(
    name: str, value: float | None, low: float | None, high: float | None
) -> dict[str, float]:
    """Name a value and its interval; nothing where there is none."""
    if value is None or low is None or high is None:
        return {}
    return {name: value, f"{name} low": low, f"{name} high": high}


def _count_others(rows: Sequence[Row]) -> Shares:
    """Count the words outside of units that are printed in their places."""
    shares = Shares()
    for row in rows:
        inside = {i for unit in row.units for i in range(unit.first, unit.last)}
        kept = [fate == STANDS for i, fate in enumerate(row.fate) if i not in inside]
        shares.add(sum(kept), len(kept))
    return shares


def _use(
    bench: Bench, name: str, some: Texts, releases: Sequence[str]
) -> dict[str, float]:
    """Measure what releases are still good for, where a set has such a use."""
    each = SETS.get(name)
    if each is None or not each.use:
        return {}
    if each.use == "retrieval":
        return _share("retrieval", _find_nearest(bench, name, some.texts, releases))
    table, model = _classifier(bench, name)
    told = model.predict(table.transform(releases))
    hits = [a == b for a, b in zip(told, some.labels or [], strict=True)]
    return _share("accuracy", hits)


def _share(name: str, hits: Sequence[bool]) -> dict[str, float]:
    values: Floats = np.asarray(hits, dtype=np.float64)
    low, high = by_texts(values, np.ones(len(values)))
    return _bounds(name, float(values.mean()), low, high)


@functools.cache
def _classifier(bench: Bench, name: str) -> tuple[Any, Any]:
    """Train a classifier on texts that are not released."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.svm import LinearSVC

    texts, labels = read_learned(bench, name)
    table = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), min_df=2)
    return table, LinearSVC().fit(table.fit_transform(texts), labels)


@functools.cache
def _passages(bench: Bench, name: str) -> tuple[Any, Any]:
    """Index public texts."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts, _ = read_learned(bench, name)
    table = TfidfVectorizer(sublinear_tf=True)
    return table, table.fit_transform(list(dict.fromkeys(texts)))


def _find_nearest(
    bench: Bench, name: str, texts: Sequence[str], releases: Sequence[str]
) -> list[bool]:
    """Whether the passage nearest to a text is among the first ten for its release."""
    table, passages = _passages(bench, name)
    wanted, given = (
        (table.transform(some) @ passages.T).toarray() for some in (texts, releases)
    )
    hits = []
    for mine, theirs in zip(wanted, given, strict=True):
        best = int(mine.argmax())
        # What shares no word is no hit, and equals are counted as if they came first.
        hits.append(theirs[best] > 0 and int((theirs > theirs[best]).sum()) < _FIRST)
    return hits
