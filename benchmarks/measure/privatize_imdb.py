"""Measure how fast 12,000 real reviews are privatized, from Parquet to Parquet.

Runs the installed command on the IMDb sample, as it is by default (the policy
``sensitive``), for ``calibrated``, ``tem``, ``exponential`` and ``tree`` with one job
and with two, and for ``laplace`` and ``brr``, with in the
same run the rooflines of these: exact search alone (faiss, batches of 4,096; float32
vectors, and codes) by two processes of one thread each. Rates are medians of runs that
nothing watches; asking the system for the memory of processes takes time from them, so
a further run measures the peak. The output of every run is checked.
"""

from __future__ import annotations

import json
import math
import multiprocessing
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import machine

QUERIES = 4096
BRR = 0.7
DEFAULT = "default"
"""The command without a mechanism: a policy, and whatever it prints by default."""

CASES = [
    (DEFAULT, 12.0, (), 3),
    ("calibrated", 1.7, (), 3),
    ("tem", 2.5, (), 3),
    ("exponential", 2.5, (), 3),
    ("tree", 10.0, (), 3),
    ("brr", BRR, (), 0),
    ("laplace", 10.0, (), 0),
]
"""Mechanism, epsilon, settings, and timed runs beside the watched one; without, only
that one with two jobs: what takes minutes is not slowed by a fiftieth of a core."""
INPUT = machine.SHARED / "imdb.parquet"
COMMAND = [str(Path(sys.executable).with_name("mondegreen")), "privatize", str(INPUT)]


def measure(
    mechanism: str, epsilon: float, jobs: int, *settings: str, watched: bool = False
) -> dict[str, float]:
    """Run the command once; return words, wall seconds and, if watched, peak memory."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "out.parquet"
        report = Path(folder) / "report.json"
        arguments = ["-o", output, "--epsilon", epsilon]
        arguments += ["--jobs", jobs, "--report", report, "--quiet"]
        if mechanism != DEFAULT:
            arguments += ["-m", mechanism, "--read", "none"]
        arguments += [part for each in settings for part in ("--set", each)]
        start = time.perf_counter()
        process = subprocess.Popen([*COMMAND, *map(str, arguments)])
        peak = watch(process) if watched else float(process.wait())
        seconds = time.perf_counter() - start
        assert process.returncode == 0
        counts = json.loads(report.read_text())["counts"]
        assert counts["rows"] == 12_000
        # Words of a public list stay, so a short review may be as it was.
        check(output, most_same=0.05 if mechanism == DEFAULT else 0.01)
    return {"words": counts["words"], "seconds": seconds, "peak_mib": peak}


def watch(process: subprocess.Popen[bytes], limit: float = math.inf) -> float:
    """Wait, sampling the proportional memory of the process and its workers (MiB).

    A process that takes more seconds than the limit is killed. Counting pages takes
    milliseconds of a core, so the pauses are long enough that it takes a fiftieth.
    """
    peak, start = 0.0, time.perf_counter()
    while process.poll() is None:
        if time.perf_counter() - start > limit:
            process.kill()
        asked = time.perf_counter()
        peak = max(peak, sum(map(proportional_mib, family(process.pid))))
        time.sleep(max(0.05, 50 * (time.perf_counter() - asked)))
    return peak


def family(pid: int) -> list[int]:
    """A process and all its descendants."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    try:
        found = [int(child) for child in children.read_text().split()]
    except OSError:
        return []
    return [pid, *(member for child in found for member in family(child))]


def proportional_mib(pid: int) -> float:
    """The PSS of a process: shared pages count once over all that share them."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    found = re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)
    return int(found.group(1)) / 1024 if found else 0.0


def check(output: Path, most_same: float) -> None:
    """Assert that the release has all rows, the old columns, and other words."""
    import pyarrow.parquet as pq

    before, after = pq.read_table(INPUT), pq.read_table(output)
    assert after.drop(["text"]).equals(before.drop(["text"]))
    assert b"mondegreen" in after.schema.metadata
    same = sum(a == b for a, b in zip(before["text"], after["text"], strict=True))
    assert same < most_same * len(before)  # lower-case texts may keep every word


def search_alone(seed: int) -> float:
    """Queries a second of exact search, one thread, on noisy points."""
    import numpy as np

    from mondegreen import load_space
    from mondegreen.sampling.laplace import multivariate_laplace

    faiss = one_thread()
    space = load_space()
    words = space.vectors.astype(np.float32)
    index = faiss.IndexFlatL2(space.dim)
    index.add(words)
    rng = np.random.default_rng(seed)
    noise = multivariate_laplace(rng, 10.0, (QUERIES, space.dim))
    points = (words[rng.integers(0, len(words), QUERIES)] + noise).astype(np.float32)
    return rate(lambda: index.search(points, 1))


def codes_alone(seed: int) -> float:
    """The same of exact search for noisy codes."""
    import numpy as np

    from mondegreen import load_space, mechanism

    faiss = one_thread()
    codes = mechanism("brr", epsilon=BRR).prepare(load_space()).codes
    index = faiss.IndexBinaryFlat(codes.bits)
    index.add(np.ascontiguousarray(codes.table))
    rng = np.random.default_rng(seed)
    flips = rng.random((QUERIES, codes.bits)) < 1 / (1 + math.exp(BRR))
    points = codes.table[rng.integers(0, len(codes.table), QUERIES)]
    points = points ^ np.packbits(flips, axis=1)
    return rate(lambda: index.search(points, 1))


def one_thread() -> Any:
    """Faiss, held to one thread."""
    os.environ["OMP_NUM_THREADS"] = "1"
    import faiss

    faiss.omp_set_num_threads(1)
    return faiss


def rate(search: Callable[[], object], rounds: int = 6) -> float:
    """Queries a second, after one round that does not count."""
    search()
    start = time.perf_counter()
    for _ in range(rounds):
        search()
    return rounds * QUERIES / (time.perf_counter() - start)


def roofline(search: Callable[[int], float], jobs: int) -> float:
    """Queries a second of that many processes side by side."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(jobs) as pool:
        return sum(pool.map(search, range(jobs)))


def main(only: list[str]) -> None:
    """Measure everything, or the mechanisms named, and write the result file."""
    known = json.loads((machine.RESULTS / "privatize_imdb.json").read_text())["runs"]
    result: dict[str, Any] = {"input": INPUT.name, "runs": known if only else {}}
    for mechanism, epsilon, settings, repeats in CASES:
        if only and mechanism not in only:
            continue
        for jobs in (2, 1) if repeats else (2,):
            case = mechanism, epsilon, jobs, *settings
            watched = measure(*case, watched=True)
            runs = [measure(*case) for _ in range(repeats)] or [watched]
            seconds = statistics.median(run["seconds"] for run in runs)
            entry = {
                "mechanism": mechanism,
                "epsilon": epsilon,
                "settings": list(settings),
                "jobs": jobs,
                "words": runs[0]["words"],
                "seconds": [round(run["seconds"], 2) for run in runs],
                "words_per_second": round(runs[0]["words"] / seconds),
                "peak_mib": round(watched["peak_mib"]),
            }
            if alone := {"laplace": search_alone, "brr": codes_alone}.get(mechanism):
                most = roofline(alone, jobs)
                entry["search_alone_per_second"] = round(most)
                share = entry["words_per_second"] / most
                entry["share_of_search_alone"] = round(share, 3)
            label = " ".join([f"{mechanism} {epsilon:g}", *settings])
            result["runs"][f"{label}, {jobs} jobs"] = entry
            print(label, jobs, entry, file=sys.stderr, flush=True)
    machine.save("privatize_imdb", result)


if __name__ == "__main__":
    main(sys.argv[1:])
