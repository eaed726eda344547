"""Measure how fast releases are read: the decoder alone, and the whole command.

The decoder reads the releases of 12,000 real reviews and of news on one thread, in one
run for words and sentences; then the command privatizes the reviews, from Parquet to
Parquet, with each ``--read``, one job, one after the other, once each: a run takes
minutes. The clock of the processor is shown beside that of the wall.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import pyarrow.parquet as pq

import mondegreen as mg
from benchmarks import machine
from mondegreen.decode.released import Released
from mondegreen.text.sentences import find_ends
from mondegreen.text.tokenizer import tokenize

RUNS = 1
READ = ("none", "words", "sentence")


def timed(work: Callable[[], object], words: int) -> dict[str, int]:
    """Words a second by the wall and by the processor."""
    walls, cores = [], []
    for _ in range(RUNS):
        wall, core = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        cores.append(time.process_time() - core)
    return {"wall": round(words / min(walls)), "processor": round(words / min(cores))}


def decoded(name: str) -> dict[str, Any]:
    """Time the decoder on the release of a data set."""
    texts = pq.read_table(machine.SHARED / f"{name}.parquet")["text"].to_pylist()
    made = mg.Privatizer(
        mg.mechanism("tree", epsilon=10.0), read="sentence", noise=mg.Seeded(1)
    )
    tokens = tokenize(texts[:1500])
    ids = made._lookup.codes(tokens)
    drawn = made.state.sample(ids, np.random.default_rng(0))
    released = Released(drawn, find_ends(tokens))
    start = time.perf_counter()
    decoder = made.reading.decoder
    found: dict[str, Any] = {
        "words": len(ids),
        "opened_ms": round(1000 * (time.perf_counter() - start)),
        "by itself": timed(lambda: decoder.words(released), len(ids)),
        "sentence": timed(lambda: decoder.sentence(released), len(ids)),
        "marginals": timed(lambda: decoder.marginals(released), len(ids)),
    }
    found["recovered"] = {
        "raw": round(float(np.mean(drawn == ids)), 4),
        "words": round(float(np.mean(decoder.words(released) == ids)), 4),
        "sentence": round(float(np.mean(decoder.sentence(released) == ids)), 4),
    }
    return found


def command(read: str) -> dict[str, float]:
    """Run the command on all reviews; wall seconds, processor seconds, peak memory."""
    source = machine.SHARED / "imdb.parquet"
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "out.parquet"
        script = (
            "import resource, subprocess, sys, time\n"
            "start = time.perf_counter()\n"
            "subprocess.run(sys.argv[1:], check=True)\n"
            "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
            "print(time.perf_counter() - start, used.ru_utime + used.ru_stime, "
            "used.ru_maxrss / 1024)"
        )
        options = f"--policy all --epsilon 10 --quiet --read {read} -o {target}".split()
        run = [sys.executable, "-m", "mondegreen", "privatize", str(source), *options]
        done = subprocess.run(
            [sys.executable, "-c", script, *run], capture_output=True, check=True
        )
    wall, core, peak = (float(each) for each in done.stdout.split())
    return {"seconds": wall, "processor_seconds": core, "peak_mib": round(peak)}


def main() -> None:
    """Measure and write the results."""
    found: dict[str, Any] = {
        "decoder": {name: decoded(name) for name in ("imdb", "ag_news")}
    }
    runs = {read: [command(read) for _ in range(RUNS)] for read in READ}
    best = {read: min(each, key=lambda r: r["seconds"]) for read, each in runs.items()}
    found["command on 12,000 reviews, 1 job"] = best
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    machine.save("reading_speed", {**found, "benchmark_peak_mib": own // 1024})


if __name__ == "__main__":
    main()
