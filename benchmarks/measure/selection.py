"""Measure how fast words are drawn inside the mechanisms, cold and warm, one core.

On the words of the IMDb sample in the embedded space, and on as many in 400,000
synthetic points of 300 coordinates, where nothing may grow as V x V. Every state is
checked before it is timed: its laws sum to one, and draws follow them. Cold is a state
that was never asked; warm are the same words, drawn again. Each mechanism runs in a
process of its own, whose peak memory is that of the mechanism, the space and the ids.

    python -m benchmarks selection [real|large]
"""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
import time

import numpy as np
from numpy.typing import NDArray

import mondegreen as mg
from benchmarks import machine
from mondegreen.errors import LawUnknownError
from mondegreen.mechanisms.base import State
from mondegreen.sampling.noise import chacha20
from mondegreen.space.geometry import Geometry, estimate, unknown_point
from mondegreen.space.space import Space

Ids = NDArray[np.int32]

ONE_CORE = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
BATCH = 750_000
LARGE = 400_000
REAL = [
    ("tem", 8.0, math.inf),
    ("exponential", 2.5, math.inf),
    ("calibrated", 2.0, math.inf),
    ("tight", 4.0, math.inf),
    ("syntf", 10.0, 20_000),
    ("brr", 1.0, 100_000),
]
"""Name, epsilon, and how many words are enough to see the rate."""
SYNTHETIC = [("tem", 8.0, 40_000), ("exponential", 2.5, 4_000)]


def corpus(space: Space) -> Ids:
    """The ids of all words of the IMDb sample, in order."""
    import pyarrow.parquet as pq

    from mondegreen.text.lookup import Lookup
    from mondegreen.text.tokenizer import tokenize

    texts = pq.read_table(machine.SHARED / "imdb.parquet")["text"].to_pylist()
    return Lookup(space).codes(tokenize(texts))


def synthetic() -> Space:
    """Return 400,000 points as far apart as words are; their geometry is estimated.

    The smallest distance, which no sample can tell, is taken from the embedded space.
    """
    rng = np.random.default_rng(0)
    vectors = np.empty((LARGE, 300), dtype=np.float16)
    for start in range(0, LARGE, 20_000):
        vectors[start : start + 20_000] = rng.normal(scale=0.37, size=(20_000, 300))
    unknown = unknown_point(vectors)
    found = estimate(vectors[::20], unknown, np.eye(300))
    geometry = Geometry(0.7, found.nearest, found.mean, found.diameter)
    words = tuple(f"w{i}" for i in range(LARGE))
    return Space("synthetic-400k", words, vectors, unknown, geometry)


def check(state: State, ids: Ids) -> None:
    """Assert that laws sum to one and that draws follow them (six deviations)."""
    some = np.unique(ids)[:: len(np.unique(ids)) // 4][:4]
    rng = np.random.default_rng(0)
    drawn = state.sample(np.repeat(some, 500), rng).reshape(len(some), 500)
    assert drawn.min() >= 0
    assert drawn.max() < state.space.vocab_size
    try:
        law = np.exp(state.log_prob(some))
    except LawUnknownError:
        return
    assert np.allclose(law.sum(axis=1), 1, rtol=1e-9)
    for word, row, outputs in zip(some, law, drawn, strict=True):
        likely = row >= row[min(word, len(row) - 1)]  # the word and what is likelier
        share = row[likely].sum()
        error = math.sqrt(share * (1 - share) / 500) + 0.002
        assert abs(likely[outputs].mean() - share) < 6 * error


def seconds_of(state: State, ids: Ids) -> float:
    """Draw for all words, batch by batch; return wall seconds."""
    rng = chacha20(os.urandom(32))
    start = time.perf_counter()
    for first in range(0, len(ids), BATCH):
        state.sample(ids[first : first + BATCH], rng)
    return time.perf_counter() - start


def one(size: str, name: str, epsilon: float, enough: float) -> dict[str, object]:
    """Measure one mechanism in this process."""
    space = mg.load_space()
    ids = corpus(space)
    if size == "large":
        # As frequent as words are, spread over ten times as many.
        space = synthetic()
        places = np.random.default_rng(1).permutation(LARGE).astype(np.int32)
        ids = places[ids.astype(np.int64) * 11]
    ids = ids[: int(min(enough, len(ids)))]
    mechanism = mg.mechanism(name, epsilon=epsilon)
    check(mechanism.prepare(space), ids)
    state = mechanism.prepare(space)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cold, warm = seconds_of(state, ids), seconds_of(state, ids)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "epsilon": epsilon,
        "words": len(ids),
        "distinct": len(np.unique(ids)),
        "cold_words_per_second": round(len(ids) / cold),
        "warm_words_per_second": round(len(ids) / warm),
        "peak_mib": round(peak / 1024),
        "peak_before_mib": round(before / 1024),
    }


def main() -> None:
    """Measure every mechanism in a process of its own; write the result file."""
    if len(sys.argv) == 5:
        size, name, epsilon, enough = sys.argv[1:]
        print(json.dumps(one(size, name, float(epsilon), float(enough))))
        return
    wanted = sys.argv[1:] or ["real", "large"]
    path = machine.RESULTS / "selection.json"
    result = json.loads(path.read_text()) if path.exists() else {}
    result.pop("machine", None)
    for size, cases in (("real", REAL), ("large", SYNTHETIC)):
        if size not in wanted:
            continue
        runs = {}
        for name, epsilon, enough in cases:
            command = [
                sys.executable,
                "-m",
                "benchmarks",
                "selection",
                size,
                name,
                str(epsilon),
                str(enough),
            ]
            done = subprocess.run(
                command, check=True, capture_output=True, text=True, env=ONE_CORE
            )
            runs[name] = json.loads(done.stdout)
            print(name, runs[name], flush=True)
        result[size] = runs
    machine.save("selection", result)


if __name__ == "__main__":
    main()
