"""Measure whether a file far larger than memory allows passes through.

Writes at least 1 GB of CSV made of the example reviews, privatizes it under a hard cap
of 1.5 GB on the address space of data (RLIMIT_DATA) of each process, and reports peak
memory and rate.
"""

from __future__ import annotations

import csv
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import machine
from benchmarks.measure.privatize_imdb import watch

CAP = 1_500_000_000
SIZE = 1_000_000_000
EXAMPLE = machine.ROOT / "examples" / "reviews.csv"
COMMAND = Path(sys.executable).with_name("mondegreen")


def write_input(path: Path) -> int:
    """Write rows until the file has ``SIZE`` bytes; return their number."""
    with EXAMPLE.open(encoding="utf-8", newline="") as stream:
        reviews = [row["review"] for row in csv.DictReader(stream)]
    rows = 0
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["id", "review"])
        while stream.tell() < SIZE:
            for _ in range(2_000):
                # 40 reviews a row, each time others, so that no two rows are equal
                start = rows % len(reviews)
                text = " ".join((reviews[start:] + reviews) * 3)
                writer.writerow([rows, f"{text} {rows}"])
                rows += 1
    return rows


def main() -> None:
    """Measure and write the result file."""
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder) / "in.csv", Path(folder) / "out.csv"
        rows = write_input(source)
        arguments = ["privatize", source, "-o", output, "--column", "review"]
        arguments += ["-m", "tree", "--epsilon", "10", "--jobs", "2", "--quiet"]
        arguments += ["--read", "none"]
        start = time.perf_counter()
        process = subprocess.Popen(
            [str(COMMAND), *map(str, arguments)],
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (CAP, CAP)),
        )
        peak = watch(process)
        seconds = time.perf_counter() - start
        assert process.returncode == 0
        with output.open("rb") as stream:
            lines = sum(
                chunk.count(b"\n") for chunk in iter(lambda: stream.read(1 << 20), b"")
            )
        assert lines == rows + 1
        machine.save(
            "privatize_one_gigabyte",
            {
                "input_bytes": source.stat().st_size,
                "rows": rows,
                "cap_bytes_per_process": CAP,
                "peak_mib_all_processes": round(peak),
                "seconds": round(seconds, 1),
                "megabytes_per_second": round(source.stat().st_size / 1e6 / seconds, 1),
            },
        )


if __name__ == "__main__":
    main()
