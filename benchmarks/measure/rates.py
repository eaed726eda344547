"""Rates of one mechanism on one space, of the searches below it, and of the machine.

Everything here is timed on real words: the tokens of the IMDb sample, in their order.
"""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from benchmarks import machine
from mondegreen import OSNoise, Privatizer, Space
from mondegreen.mechanisms.base import State
from mondegreen.sampling.laplace import multivariate_laplace

__all__ = [
    "batches_of",
    "check",
    "cold_rate",
    "generator",
    "machine_rates",
    "rate",
    "search_alone",
    "text_rate",
    "texts",
    "tokens",
    "warm_rate",
]

Ids = NDArray[np.int32]

COLD: Final = 1_000
"""Words of the first batch of a fresh state."""

_CHECKED: Final = 2_000
_CHECKED_LAWS: Final = 32
_BATCH: Final = 20_000
_SEARCHED: Final = 4_096


def texts(count: int = 2_000) -> list[str]:
    """Real reviews."""
    return pq.read_table(machine.SHARED / "imdb.parquet")["text"].to_pylist()[:count]


def tokens(space: Space, reviews: Iterable[str]) -> Ids:
    """The ids of their words that the space knows, in order."""
    found = [space.index.get(w) for t in reviews for w in re.findall("[a-z]+", t)]
    return np.array([i for i in found if i is not None], dtype=np.int32)


def generator(number: int = 0) -> np.random.Generator:
    """The kind of generator that releases are drawn from."""
    from mondegreen.sampling.noise import Batch

    ((_, rng),) = OSNoise().streams(Batch(number, b"", [""], None))
    return rng


def check(state: State, ids: Ids) -> dict[str, float]:
    """Assert that outputs are words, drawn anew, and follow the law where it is known.

    Returns the share of words that came out unchanged, found and expected.
    """
    from mondegreen.errors import LawUnknownError

    ids = ids[:_CHECKED]
    first, second = state.sample(ids, generator()), state.sample(ids, generator())
    assert first.shape == ids.shape
    assert first.min() >= 0
    assert first.max() < state.space.vocab_size
    stays = float((first == ids).mean())
    assert stays > 0.999 or not np.array_equal(first, second)
    found = {"unchanged": round(stays, 4)}
    some = np.unique(ids)[:: max(1, len(np.unique(ids)) // _CHECKED_LAWS)]
    some = some[:_CHECKED_LAWS].astype(np.int32)
    try:
        law = np.exp(state.log_prob(some))
    except LawUnknownError:
        return found
    assert np.allclose(law.sum(axis=1), 1)
    own = law[np.arange(len(some)), some]
    draws = 200
    drawn = state.sample(np.repeat(some, draws), generator())
    same = (drawn == np.repeat(some, draws)).mean()
    error = math.sqrt((own * (1 - own)).mean() / (draws * len(some)))
    assert abs(same - own.mean()) <= 6 * error + 1e-6, (same, own.mean())
    found["unchanged_of_law"] = round(float(own.mean()), 4)
    found["unchanged_found"] = round(float(same), 4)
    return found


def rate(
    call: Callable[[Any], object], batches: Iterable[tuple[Any, int]], seconds: float
) -> tuple[float, int]:
    """Call with batches for so long; return words a second, and words."""
    done, start = 0, time.perf_counter()
    for batch, words in batches:
        call(batch)
        done += words
        if time.perf_counter() - start > seconds:
            break
    return done / (time.perf_counter() - start), done


def batches_of(ids: Ids, size: int) -> Iterator[tuple[Ids, int]]:
    """Yield batches of exactly that size for ever, in the order of the words."""
    start = 0
    while True:
        places = np.arange(start, start + size) % len(ids)
        yield ids[places], size
        start += size


def cold_rate(state: State, ids: Ids) -> float:
    """Words a second of the first batch of a state that was never asked."""
    start = time.perf_counter()
    state.sample(ids[:COLD], generator())
    return COLD / (time.perf_counter() - start)


def warm_rate(state: State, ids: Ids, seconds: float) -> float:
    """Words a second after a pass over the words, or half the time of it."""
    rng = generator()
    rate(lambda b: state.sample(b, rng), batches_of(ids, _BATCH), seconds / 2)
    return rate(lambda b: state.sample(b, rng), batches_of(ids, _BATCH), seconds)[0]


def text_rate(privatizer: Privatizer, reviews: list[str], seconds: float) -> float:
    """Words a second of texts in, texts out, a hundred reviews at a time.

    The laws of words, computed when they are first met, are in it where the
    privatizer is fresh; the time to prepare is not.
    """
    batches = (
        pa.record_batch({"text": reviews[first : first + 100]})
        for first in range(0, len(reviews), 100)
    )
    total, start = 0, time.perf_counter()
    for batch in batches:
        total += int(privatizer.arrow_with_count(batch, ["text"])[1].sum())
        if time.perf_counter() - start > seconds:
            break
    return total / (time.perf_counter() - start)


def search_alone(space: Space, ids: Ids, seconds: float) -> float:
    """Queries a second of exact search (faiss, float32), nothing else.

    The points are words with noise around them, as ``laplace`` at epsilon 10 makes.
    """
    import faiss

    words = space.vectors.astype(np.float32)
    index = faiss.IndexFlatL2(space.dim)
    index.add(words)
    ids = ids[np.arange(_SEARCHED) % len(ids)]
    noise = multivariate_laplace(np.random.default_rng(0), 10.0, (len(ids), space.dim))
    points = (words[ids] + noise).astype(np.float32)
    index.search(points, 1)

    def forever() -> Iterator[tuple[NDArray[np.float32], int]]:
        while True:
            yield points, len(points)

    return rate(lambda b: index.search(b, 1), forever(), seconds)[0]


def machine_rates(seconds: float = 0.5) -> dict[str, float]:
    """Return GB/s of a copy in memory (read and write), and MB/s of random bytes."""
    source = np.ones(1 << 27, dtype=np.uint8)
    target = np.empty_like(source)

    def forever(size: int) -> Iterator[tuple[int, int]]:
        while True:
            yield size, size

    def copy(_: int) -> None:
        target[:] = source

    rng, size = generator(), 1 << 22
    copy(0)
    return {
        "copy_gb_per_second": round(
            2e-9 * rate(copy, forever(len(source)), seconds)[0], 1
        ),
        "chacha20_mb_per_second": round(
            1e-6 * rate(rng.bytes, forever(size), seconds)[0]
        ),
        "os_random_mb_per_second": round(
            1e-6 * rate(os.urandom, forever(size), seconds)[0]
        ),
    }
