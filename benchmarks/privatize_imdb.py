"""Measure how fast 12,000 real reviews are privatized, from Parquet to Parquet.

Runs the installed command on the IMDb sample with two jobs, for ``tem`` at epsilon 8
and ``laplace`` at epsilon 10, and in the same run the roofline of the latter: exact
search alone (faiss, float32, batches of 4,096) by two processes of one thread each.
Every figure is the median of three runs; the output is checked before it is timed.
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
from pathlib import Path

import machine

INPUT = machine.SHARED / "imdb.parquet"
COMMAND = [str(Path(sys.executable).with_name("mondegreen")), "privatize", str(INPUT)]


def measure(mechanism: str, epsilon: float, jobs: int) -> dict[str, float]:
    """Run the command once; return words, wall seconds and peak memory."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "out.parquet"
        report = Path(folder) / "report.json"
        arguments = ["-o", output, "-m", mechanism, "--epsilon", epsilon]
        arguments += ["--jobs", jobs, "--report", report, "--quiet"]
        start = time.perf_counter()
        process = subprocess.Popen([*COMMAND, *map(str, arguments)])
        peak = watch(process)
        seconds = time.perf_counter() - start
        assert process.returncode == 0
        counts = json.loads(report.read_text())["counts"]
        assert counts["rows"] == 12_000
        check(output)
    return {"words": counts["words"], "seconds": seconds, "peak_mib": peak}


def watch(process: subprocess.Popen[bytes], limit: float = math.inf) -> float:
    """Wait, sampling the proportional memory of the process and its workers (MiB).

    A process that takes more seconds than the limit is killed.
    """
    peak, start = 0.0, time.perf_counter()
    while process.poll() is None:
        if time.perf_counter() - start > limit:
            process.kill()
        peak = max(peak, sum(map(proportional_mib, family(process.pid))))
        time.sleep(0.05)
    return peak


def family(pid: int) -> list[int]:
    """Return a process and all its descendants."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    try:
        found = [int(child) for child in children.read_text().split()]
    except OSError:
        return []
    return [pid, *(member for child in found for member in family(child))]


def proportional_mib(pid: int) -> float:
    """Return the PSS of a process: shared pages count once over all that share them."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    found = re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)
    return int(found.group(1)) / 1024 if found else 0.0


def check(output: Path) -> None:
    """Assert that the release has all rows, the old columns, and other words."""
    import pyarrow.parquet as pq

    before, after = pq.read_table(INPUT), pq.read_table(output)
    assert after.drop(["text"]).equals(before.drop(["text"]))
    assert b"mondegreen" in after.schema.metadata
    same = sum(a == b for a, b in zip(before["text"], after["text"], strict=True))
    assert same < 0.01 * len(before)  # lower-case texts may keep every word


def search_alone(seed: int) -> float:
    """Return queries a second of exact search, one thread, on noisy points."""
    os.environ["OMP_NUM_THREADS"] = "1"
    import faiss
    import numpy as np

    from mondegreen import load_space
    from mondegreen.sampling.laplace import multivariate_laplace

    faiss.omp_set_num_threads(1)
    space = load_space()
    words = space.vectors.astype(np.float32)
    index = faiss.IndexFlatL2(space.dim)
    index.add(words)
    rng = np.random.default_rng(seed)
    noise = multivariate_laplace(rng, 10.0, (4096, space.dim))
    points = (words[rng.integers(0, len(words), 4096)] + noise).astype(np.float32)
    index.search(points, 1)
    rounds = 6
    start = time.perf_counter()
    for _ in range(rounds):
        index.search(points, 1)
    return rounds * len(points) / (time.perf_counter() - start)


def roofline(jobs: int) -> float:
    """Return queries a second of that many processes side by side."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(jobs) as pool:
        return sum(pool.map(search_alone, range(jobs)))


def main() -> None:
    """Measure everything and write the result file."""
    result: dict[str, object] = {"input": INPUT.name, "runs": {}}
    for mechanism, epsilon, jobs in [
        ("tem", 8.0, 2),
        ("tem", 8.0, 1),
        ("exponential", 2.5, 2),
        ("laplace", 10.0, 2),
    ]:
        repeats = 3 if mechanism == "tem" else 1
        runs = [measure(mechanism, epsilon, jobs) for _ in range(repeats)]
        seconds = statistics.median(run["seconds"] for run in runs)
        entry = {
            "jobs": jobs,
            "words": runs[0]["words"],
            "seconds": [round(run["seconds"], 2) for run in runs],
            "words_per_second": round(runs[0]["words"] / seconds),
            "peak_mib": round(max(run["peak_mib"] for run in runs)),
        }
        if mechanism == "laplace":
            alone = roofline(jobs)
            entry["search_alone_per_second"] = round(alone)
            entry["share_of_search_alone"] = round(entry["words_per_second"] / alone, 3)
        result["runs"][f"{mechanism} {epsilon:g}, {jobs} jobs"] = entry
    machine.save("privatize_imdb", result)


if __name__ == "__main__":
    main()
