"""Write the tables of docs/explanation/spark-at-scale.md from the result file."""

from __future__ import annotations

import json
from typing import Any

from benchmarks import machine
from benchmarks.pages.page import Table, fill

PAGE = "explanation/spark-at-scale.md"
TERABYTES, EXECUTORS, CORES = 10, 1000, 4
RESULT = "spark_scaling"


def load() -> dict[str, Any]:
    """The result file."""
    found: dict[str, Any] = json.loads((machine.RESULTS / f"{RESULT}.json").read_text())
    return found


def measured() -> Table:
    """What one and two executors did."""
    result = load()
    both = [result["summary"][f"{size} executors"] for size in (1, 2)]
    labels = {
        "rows_per_second": ("rows a second", "{:,.0f}"),
        "megabytes_per_second": ("megabytes of text a second", "{:.1f}"),
        "processor_seconds_per_megabyte": ("processor seconds a megabyte", "{:.3f}"),
        "start_seconds": ("start of Spark and executors, s", "{:.0f}"),
        "first_seconds": ("the first run, with all loading, s", "{:.1f}"),
        "seconds": ("a run, warm, s", "{:.1f}"),
    }
    rows = [
        [label, *(form.format(each[name]) for each in both)]
        for name, (label, form) in labels.items()
    ]
    for kind, label in (("python", "Python"), ("java", "Java")):
        cells = []
        for size in (1, 2):
            runs = [run for run in result["runs"] if run["executors"] == size]
            cells.append(f"{max(max(run['memory_mib'][kind]) for run in runs):,}")
        rows.append([f"memory of the largest {label} process, MiB", *cells])
    differ = result["rows_that_differ_from_the_command"]
    rows.append(["bytes shuffled", *[f"{_shuffled(size):,}" for size in (1, 2)]])
    rows.append(
        [
            "rows of 12,000 that differ from the command",
            *(str(differ[f"{size} executors"]) for size in (1, 2)),
        ]
    )
    return Table(["", "one executor", "two"], rows)


def _shuffled(size: int) -> int:
    runs = [run for run in load()["runs"] if run["executors"] == size]
    return sum(run["shuffle_bytes_read"] + run["shuffle_bytes_written"] for run in runs)


def start() -> Table:
    """What a new Python process of an executor spends."""
    loads = [each for run in load()["runs"] for each in run["loads"]]
    labels = {
        "import_seconds": "import of the package",
        "load_seconds": "space and probabilities",
        "load_again_seconds": "the same settings again, as every later task asks",
    }
    rows = []
    for name, label in labels.items():
        found = sorted(each[name] for each in loads)
        middle = found[len(found) // 2]
        rows.append([label, *(f"{x:.4g}" for x in (found[0], middle, found[-1]))])
    return Table(["seconds", "least", "median", "most"], rows)


def planned() -> Table:
    """Ten terabytes on a thousand executors: calculated, not measured."""
    summary = load()["summary"]
    spent = summary["2 executors"]["processor_seconds_per_megabyte"]
    hours = TERABYTES * 1e6 * spent / 3600
    each = hours / (EXECUTORS * CORES)
    start = (summary["import_seconds"] + summary["load_seconds"]) * EXECUTORS * CORES
    memory = CORES * summary["python_mib"] / 1024
    rows = [
        ["processor hours of mondegreen, all of them", f"{hours:,.0f}"],
        ["minutes, if all cores are busy with it", f"{60 * each:,.1f}"],
        [
            "processor hours of loading, 4,000 processes (by the mean)",
            f"{start / 3600:,.1f}",
        ],
        ["memory of Python in an executor, GiB", f"{memory:.1f}"],
        ["bytes shuffled", "0"],
    ]
    return Table(["calculated", ""], rows)


def gain() -> str:
    """What a second executor gained, and whether that can be believed."""
    result = load()
    gained = f"The second executor gained {result['summary'][_GAIN]:.2f}×."
    if not result["summary"]["machine_was_busy"]:
        return f"{gained}\n"
    loads = [run["load_before"] for run in result["runs"]]
    cores = result["machine"]["cores"]
    return (
        f"{gained} **That is no measurement of scaling**: other work, a load of "
        f"{min(loads):.0f} to {max(loads):.0f}\non {cores} cores, left no core for a "
        "second executor, and seconds are high. The run shows that nothing is\n"
        "shuffled and that releases are equal.\n"
    )


_GAIN = "gain_of_the_second_executor"
TABLES = {"gain": gain, "measured": measured, "start": start, "planned": planned}


if __name__ == "__main__":
    fill(PAGE, TABLES)
