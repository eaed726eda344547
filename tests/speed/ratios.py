"""Measure our CPU time over that of bare operations, side by side in one thread.

``python tests/speed/ratios.py`` prints a ratio for each path of the data, and
``--record`` writes them into reference.json, which is to be done on a release of CI's
machine whenever code gets faster on purpose. Each path has a *bare* counterpart: the
same kind of work with nothing around it, so that a slow machine, or a busy one, slows
both. The two alternate, and the ratio is that of the *least* CPU times: other processes
take time away and spoil caches, but never add speed.

``--slower`` prints the ratios of mutants, in which our method takes a fifth longer.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import platform
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

# One thread, whatever the machine: CPU time is then time of work.
os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

import faiss
import numpy as np
import pyarrow as pa

import mondegreen as mg

REFERENCE = Path(__file__).with_name("reference.json")
ROUNDS, MOST, SECONDS = 8, 40, 1.5
"""At least and at most so many rounds, and more than least while there is time."""
TEXT = (
    "The movie was, for the most part, quite good; I didn't expect that from a "
    "director whose last 2 films were so dull. "
)


class Route(NamedTuple):
    """One way of the data, its bare counterpart, and its method."""

    ours: Callable[[], object]
    bare: Callable[[], object]
    cls: type
    method: str
    """What the mutant slows."""


def laplace(space: mg.Space) -> Route:
    """Noise and search, over exact search alone."""
    state = mg.mechanism("laplace", epsilon=10.0).prepare(space)
    ids, rng = words(512), np.random.default_rng(0)
    table = np.ones((space.vocab_size, space.dim + 1), dtype=np.float32)
    table[:, :-1] = space.vectors
    index = faiss.IndexFlatIP(space.dim + 1)
    index.add(table)
    points = table[ids] + rng.normal(size=(len(ids), space.dim + 1)).astype("f4")
    return Route(
        lambda: state.sample(ids, rng),
        lambda: index.search(points, 1),
        type(state),
        "sample",
    )


def tem_warm(space: mg.Space) -> Route:
    """Draws from laws at hand, over sorting and searching as many numbers."""
    state = mg.mechanism("tem", epsilon=8.0).prepare(space)
    ids, rng = words(20_000), np.random.default_rng(0)
    state.sample(ids, rng)
    sums = np.cumsum(rng.integers(1, 1 << 20, size=space.vocab_size))

    def bare() -> None:
        order = np.argsort(ids, kind="stable")
        draws = rng.integers(0, 1 << 62, size=len(ids))
        for _ in range(10):
            np.searchsorted(sums, draws[order] >> 28, side="right")

    return Route(
        lambda: state.sample(ids, rng),
        bare,
        type(state),
        "sample",
    )


def tem_cold(space: mg.Space) -> Route:
    """Laws to be made, over products of their vectors with all others."""
    chosen = mg.mechanism("tem", epsilon=2.5)
    ids, rng = np.arange(192, dtype=np.int32), np.random.default_rng(0)
    table = np.ascontiguousarray(space.vectors.astype(np.float32))
    fresh = iter([chosen.prepare(space) for _ in range(MOST)])

    def bare() -> None:
        for _ in range(4):
            table[ids] @ table.T

    return Route(
        lambda: next(fresh).sample(ids, rng),
        bare,
        type(chosen.prepare(space)),
        "sample",
    )


def text(space: mg.Space) -> Route:
    """Texts taken apart and put together, over a split by a regular expression."""
    privatizer = mg.Privatizer(mg.mechanism("tem", epsilon=8.0), space)
    texts = [TEXT * 5 for _ in range(100)]
    batch = pa.record_batch({"text": texts})
    parts = re.compile(r"[^\W_]+(?:'[^\W_]+)?|\s+|.")

    def bare() -> None:
        for _ in range(2):
            for each in texts:
                "".join(part.lower() for part in parts.findall(each))

    return Route(
        lambda: privatizer.arrow(batch),
        bare,
        mg.Privatizer,
        "texts",
    )


PATHS = {
    "laplace": laplace,
    "tem, laws at hand": tem_warm,
    "tem, laws to make": tem_cold,
    "texts": text,
}


def words(count: int) -> np.ndarray:
    """Return ids as texts have them: few of them often."""
    ranks = np.random.default_rng(0).zipf(1.3, size=count)
    return np.minimum(ranks, 2_000).astype(np.int32)


def ratio(path: Route) -> float:
    """Return the least CPU time of ours over the least of the bare operations."""
    times: tuple[list[float], list[float]] = [], []
    end = time.thread_time() + SECONDS
    for done in range(MOST):
        if done >= ROUNDS and time.thread_time() > end:
            break
        for call, found in zip((path.ours, path.bare), times, strict=True):
            start = time.thread_time()
            call()
            found.append(time.thread_time() - start)
    return min(times[0]) / min(times[1])


@contextlib.contextmanager
def slower(path: Route) -> Iterator[None]:
    """Let the method take a fifth longer."""
    original = getattr(path.cls, path.method)

    def lingering(*arguments: Any, **options: Any) -> Any:
        start = time.thread_time()
        result = original(*arguments, **options)
        spent = time.thread_time() - start
        while time.thread_time() < start + 1.2 * spent:
            pass
        return result

    setattr(path.cls, path.method, lingering)
    try:
        yield
    finally:
        setattr(path.cls, path.method, original)


def measure(*, spoiled: bool = False) -> dict[str, float]:
    """Return the ratio of every path, on the embedded space."""
    faiss.omp_set_num_threads(1)
    gc.disable()
    space = mg.load_space()
    found = {}
    for name, make in PATHS.items():
        path = make(space)
        with slower(path) if spoiled else contextlib.nullcontext():
            found[name] = round(ratio(path), 4)
    return found


def processor() -> str:
    """Return what the ratios depend on, besides our code."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.partition(":")[2].strip() for line in lines if "model" in line]
    return " ".join(["/".join(models[:2]), platform.machine()])


def main() -> None:
    """Print or record."""
    if "--record" in sys.argv:
        runs = [measure() for _ in range(3)]
        found = {name: sorted(run[name] for run in runs)[1] for name in PATHS}
        known = {"processor": processor(), "ratios": found}
        REFERENCE.write_text(json.dumps(known, indent=2) + "\n")
    else:
        found = measure(spoiled="--slower" in sys.argv)
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
