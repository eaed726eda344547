"""What the comparative benchmark measures of a release: accuracy, and all scores."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Final

import numpy as np

from mondegreen.scores.corpus import puc
from mondegreen_experiments.bench import Bench, Labelled
from mondegreen_experiments.choices import chosen_classifier
from mondegreen_experiments.measures.as_run import state_of
from mondegreen_experiments.measures.scored import (
    Written,
    beside,
    counted,
    drawn,
    some_words,
)
from mondegreen_experiments.recipe import Measured, Point
from mondegreen_experiments.releases import NO_NOISE, released

_SPLITS: Final = ("train", "valid", "test")
_COUNTED: Final = 50


def measure(bench: Bench, point: Point, seed: int) -> Measured:
    """Accuracy of an LSTM that learned from releases and is asked about releases.

    In per cent, beside ``baseline``, the same without noise: same texts, seed and
    dimension. With it N_w and S_w of 50 words, the scores of the release as a whole,
    and their composite PUC for three weights of the accuracy.
    """
    law, rng = str(point["law"]), np.random.default_rng([seed, 1])
    space, clear = bench.space(f"glove-{point['dim']}"), _clear(bench, point, seed)
    known = [each.known for each in clear]
    found = {"baseline": _baseline(bench, _place(point), seed)}
    if law == NO_NOISE:
        found |= {"accuracy": found["baseline"], "n_w": 100.0, "s_w": 1.0}
        found |= beside(bench, clear, [None] * len(clear))
    else:
        state = state_of(law, float(point["epsilon"]), space)
        noisy = [released(texts, state, rng) for texts in known]
        words = some_words(known, space.vocab_size, _COUNTED, rng)
        found |= {"accuracy": _accuracy(bench, point, noisy, seed)}
        found |= {**counted(state, words, rng), **beside(bench, clear, noisy)}
    scores = {name: found[name] for name in ("n_w", "s_w", "pp", "cs", "low")}
    for alpha in (0.25, 0.5, 0.75):
        composite = puc(found["accuracy"], found["baseline"], **scores, alpha=alpha)
        found[f"puc_{round(100 * alpha)}"] = composite
    return found


def _clear(bench: Bench, point: Point, seed: int) -> list[Written]:
    texts, words = str(point["texts"]), int(point["words"])
    return [drawn(bench, texts, s, int(point[s]), words, seed) for s in _SPLITS]


def _place(point: Point) -> tuple[tuple[str, object], ...]:
    """What a baseline depends on."""
    return tuple((k, v) for k, v in point.items() if k not in ("law", "epsilon"))


@functools.lru_cache(maxsize=64)
def _baseline(bench: Bench, place: tuple[tuple[str, object], ...], seed: int) -> float:
    point = dict(place)
    known = [each.known for each in _clear(bench, point, seed)]
    return _accuracy(bench, point, known, seed)


def _accuracy(
    bench: Bench, point: Point, texts: Sequence[Labelled], seed: int
) -> float:
    from mondegreen_experiments.models.classifiers import Recurrent, accuracy, fitted
    from mondegreen_experiments.models.training import Training

    space = bench.space(f"glove-{point['dim']}")
    train, valid, test = texts
    chosen = chosen_classifier(bench.choices, space, train, valid, seed)
    if chosen is not None:
        return 100 * accuracy(chosen(test), test)
    unknown = np.array([space.vocab_size], dtype=np.int32)
    vectors = np.vstack([space.vectors, space.points(unknown)])
    training = Training(rate=float(point["rate"]), longest=int(point["words"]))

    def build(classes: int) -> Recurrent:
        return Recurrent(vectors, classes, dropout=0.2, is_frozen=True)

    return 100 * accuracy(fitted(build, train, valid, seed, training)(test), test)
