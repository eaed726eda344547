"""BRR: sizes of codes and vectors, what binarization loses, and time per word."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import numpy as np

from mondegreen.arrays import Ids
from mondegreen.space.binarize import with_codes
from mondegreen.space.search.decoders import decoder_search
from mondegreen.space.store import load_codes
from mondegreen_experiments.bench import Bench
from mondegreen_experiments.recipe import Measured, Point, Published, Recipe, Shape
from mondegreen_experiments.releases import prepared

_WORDS: Final = 500
_TOP: Final = 10
_MB: Final = 1e6


def measure(bench: Bench, point: Point, seed: int) -> Measured:
    """Megabytes, the share of the ten nearest words that codes keep, and times.

    Times are of the processor, for a release of 500 random words; neither mechanism is
    faster at another epsilon.
    """
    space = bench.space(str(point["vectors"]))
    if point["codes"] == "trained":
        space = with_codes(space)
    codes, rng = load_codes(space), np.random.default_rng(seed)
    count = min(_WORDS, space.vocab_size)
    words = rng.choice(space.vocab_size, count, replace=False).astype(np.int32)
    vectors = 4.0 * space.vectors.size  # as the search holds them, 32 bits a number
    names = float(sum(len(word.encode()) + 1 for word in space.words))
    every = np.arange(space.vocab_size, dtype=np.int32)
    near = decoder_search("exact", space.vectors).nearest(
        space.points(words).astype(np.float32), _TOP + 1
    )
    kept = [
        len(np.intersect1d(row, _nearest(word, codes.distances(word, every))))
        for word, row in zip(words[:, None], near, strict=True)
    ]
    state, exact = prepared("BRR", 2.0, space), prepared("CMP", 20.0, space)
    binary_time = _time(lambda: state.sample(words, rng))
    exact_time = _time(lambda: exact.sample(words, rng))
    return {
        "index_codes_mb": codes.table.nbytes / _MB,
        "index_vectors_mb": vectors / _MB,
        "all_codes_mb": (codes.table.nbytes + names) / _MB,
        "all_vectors_mb": (vectors + names) / _MB,
        "index_saved_percent": 100 * (1 - codes.table.nbytes / vectors),
        "all_saved_percent": 100
        * (1 - (codes.table.nbytes + names) / (vectors + names)),
        # The word itself is no neighbour: it is among both, and counts for neither.
        "recall_at_10": float(np.mean([count - 1 for count in kept])) / _TOP,
        "word_codes_us": 1e6 * binary_time / len(words),
        "word_vectors_us": 1e6 * exact_time / len(words),
        "time_saved_percent": 100 * (1 - binary_time / exact_time),
    }


def _nearest(word: Ids, distances: np.ndarray) -> Ids:
    """The word and those nearest to it, ties by number."""
    row = distances[0].copy()
    row[word] = -1
    return np.argsort(row, kind="stable")[: _TOP + 1].astype(np.int32)


def _time(work: Callable[[], object]) -> float:
    """Seconds of processor: the least of three, behind one that is not counted."""
    work()
    found = []
    for _ in range(3):
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return min(found)


_BUNDLED: Final = {"vectors": "glove-300", "codes": "bundled"}
_TRAINED: Final = {"vectors": "w2v-300", "codes": "trained"}
_WORDS_TOO: Final = "they have some 125,000 words: 4 MB of 32 bytes each"
_TREES: Final = "Annoy's index has trees beside the vectors; ours is the vectors"
_PUBLISHED: Final = (
    ("index_codes_mb", 4, 0.5, _WORDS_TOO),
    ("index_vectors_mb", 200, 5.0, f"{_WORDS_TOO}; {_TREES}"),
    ("index_saved_percent", 97.9, 1.0, _TREES),
    ("all_codes_mb", 6, 0.5, _WORDS_TOO),
    ("all_vectors_mb", 300, 5.0, f"{_WORDS_TOO}; {_TREES}"),
    ("all_saved_percent", 98.5, 1.5, _TREES),
    ("time_saved_percent", 68.0, 15.0, "their search among vectors is Annoy's"),
)
_MEASURED: Final = ("time_saved_percent",)
"""What is measured. Sizes follow from 32 bytes a code, 1,200 a vector, and the number
of words, which is not theirs here."""

RECIPE: Final = Recipe(
    name="brr-sizes",
    alone=True,
    paper="Silva Carvalho et al. 2021",
    title="Sizes of codes beside vectors, what codes keep, and time per word",
    differs=(
        "The paper has 4 MB of 256-bit codes beside 200 MB of an Annoy index, 6 beside "
        "300 MB with the vocabulary, so some 125,000 words; here are the 33,860 words "
        "of the embedded GloVe and (full) 102,179 of film reviews. Its search among "
        "vectors is Annoy's, approximate; ours is exact, and so is that among codes."
    ),
    measure=measure,
    points={"quick": [_BUNDLED], "full": [_BUNDLED, _TRAINED]},
    seeds={"quick": 3, "full": 5},
    data=("vectors",),
    published=[
        Published(
            "Section 6",
            point,
            name,
            value,
            tolerance,
            because,
            is_counted=name in _MEASURED,
        )
        for point in (_BUNDLED, _TRAINED)
        for name, value, tolerance, because in _PUBLISHED
    ],
    shapes=(
        Shape(
            "Section 6",
            "a word takes less time among codes",
            lambda table: min(m["time_saved_percent"] for _, m in table),
            printed=[(_BUNDLED, {"time_saved_percent": 68.0})],
        ),
        Shape(
            "Ours, of Tissier et al. 2019",
            "near-lossless, read as: nine in ten of the nearest words stay so",
            lambda table: all(m["recall_at_10"] >= 0.9 for _, m in table),
        ),
    ),
    shares=("recall_at_10",),
    version=2,
)
