"""Measure two versions of the package side by side, on the rows of the README's table.

``python -m benchmarks versions OTHER`` takes another checkout of the repository. Each
round runs the command of both versions, one after the other, on the same reviews, so
that what the machine does beside strikes both; the ratio of a round is taken before
the median. Above 1 this checkout is quicker.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks import machine

HERE = Path(__file__).resolve().parents[2]
CASES = [
    ("tree", 10.0, 12_000),
    ("calibrated", 1.7, 4_000),
    ("tem", 2.5, 4_000),
    ("exponential", 2.5, 4_000),
    ("laplace", 10.0, 200),
    ("brr", 0.7, 400),
]
"""Mechanism, epsilon, and how many reviews: the last two search for every word."""
ROUNDS = 3


def seconds(checkout: Path, arguments: list[str], home: Path) -> float:
    """Run the command from a checkout once; return the wall time of the process."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(checkout / "src"),
        "MONDEGREEN_HOME": str(home),
    }
    start = time.perf_counter()
    command = [sys.executable, "-m", "mondegreen", "privatize", *arguments]
    if (checkout / "src/mondegreen/privatizer/reading.py").exists():
        command += ["--read", "none"]  # before there was one, nothing was read
    subprocess.run(command, env=environment, check=True)
    return time.perf_counter() - start


def main(other: str) -> None:
    """Write the medians and the ratios of all cases to the results."""
    found = {}
    reviews = pq.read_table(machine.SHARED / "imdb.parquet")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for mechanism, epsilon, rows in CASES:
            source = folder / f"{rows}.parquet"
            pq.write_table(reviews.slice(0, rows), source)
            for jobs in (1, 2):
                arguments = [str(source), "-o", str(folder / "out.parquet"), "--force"]
                arguments += ["-m", mechanism, "--epsilon", str(epsilon), "--quiet"]
                arguments += ["--jobs", str(jobs)]
                pairs = [
                    (
                        seconds(Path(other), arguments, folder / "other"),
                        seconds(HERE, arguments, folder / "here"),
                    )
                    for _ in range(ROUNDS)
                ]
                entry = {
                    "rows": rows,
                    "seconds_other": round(statistics.median(a for a, _ in pairs), 2),
                    "seconds_here": round(statistics.median(b for _, b in pairs), 2),
                    "ratio": round(statistics.median(a / b for a, b in pairs), 3),
                }
                found[f"{mechanism} {epsilon:g}, {jobs} jobs"] = entry
                print(mechanism, jobs, entry, file=sys.stderr, flush=True)
    machine.save("versions", {"runs": found})


if __name__ == "__main__":
    main(sys.argv[1])
