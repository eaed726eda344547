"""Measure Spark with one executor and with two, and what an executor's start costs.

Real reviews, Parquet to Parquet, on ``local-cluster``: executors are processes of their
own, with one core each. Both sizes take turns in one run, because machines are noisy;
seconds of processors are counted too, which other work on the machine changes little.
What Spark moved between executors is read from its event log. The release of 12,000
reviews by Spark is compared with that of the command, bit for bit, on both sizes.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import secrets
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.measure.privatize_imdb import proportional_mib

INPUT = machine.SHARED / "imdb.parquet"
EPSILON = 10.0
KEY = "SCALING_SECRET"
ROUNDS, FILES = 3, 8
SIZES = (1, 2)
TICKS = os.sysconf("SC_CLK_TCK")


def write_input(folder: Path) -> dict[str, int]:
    """Write the reviews as one file and as several; say how much text it is."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(INPUT).select(["text"]).replace_schema_metadata(None)
    table = table.append_column("id", pa.array(range(len(table)), pa.int64()))
    pq.write_table(table, folder / "once.parquet")
    step = len(table) // FILES
    (folder / "many").mkdir()
    for i in range(FILES):
        pq.write_table(table.slice(i * step, step), folder / "many" / f"{i}.parquet")
    size = sum(len(text.encode()) for text in table["text"].to_pylist())
    return {"rows": len(table), "text_bytes": size, "files": FILES}


def session(executors: int, folder: Path) -> Any:
    """Start Spark with so many executors, and wait until all of them are there."""
    from pyspark.sql import SparkSession

    log = folder / "events"
    log.mkdir(exist_ok=True)
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "FATAL",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": log.as_uri(),
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "300s",
        "spark.sql.files.maxPartitionBytes": "64m",
        "spark.sql.files.openCostInBytes": "64m",  # a task for each file
    }
    builder = SparkSession.builder.master(f"local-cluster[{executors},1,1024]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def loading(spec: dict[str, Any]) -> Any:
    """Make the task that tells what a new Python process of an executor spends."""

    def timed(batches: Iterator[Any]) -> Iterator[Any]:
        import os
        import time

        import pyarrow as pa

        list(batches)
        time.sleep(1.0)  # so that every executor gets one
        start = time.perf_counter()
        from mondegreen.privatizer.privatizer import Privatizer

        imported = time.perf_counter()
        Privatizer.from_dict(spec)
        loaded = time.perf_counter()
        Privatizer.from_dict(spec)
        again = time.perf_counter()
        found = {
            "pid": [os.getpid()],
            "import_seconds": [imported - start],
            "load_seconds": [loaded - imported],
            "load_again_seconds": [again - loaded],
        }
        yield pa.record_batch(found)

    return timed


LOADING = (
    "pid long, import_seconds double, load_seconds double, load_again_seconds double"
)


def one_run(executors: int, folder: Path, spec: dict[str, Any]) -> dict[str, Any]:
    """Start, load, privatize cold and warm, count, stop."""
    from mondegreen import spark as adapter

    load = os.getloadavg()[0]
    started = time.perf_counter()
    spark = session(executors, folder)
    parts = spark.range(executors, numPartitions=executors)
    parts.collect()
    ready = time.perf_counter()
    loads = [r.asDict() for r in parts.mapInArrow(loading(spec), LOADING).collect()]
    given = spark.read.parquet(str(folder / "many"))
    released = adapter.privatize(
        given, ["text"], spec=spec, id_column="id", key_env=KEY
    )

    def written(frame: Any, name: str) -> float:
        start = time.perf_counter()
        frame.write.mode("overwrite").parquet(str(folder / f"{name}-{executors}"))
        return time.perf_counter() - start

    cold = written(released, "many")
    before = workers_of(os.getpid())
    warm = written(released, "many")
    after = workers_of(os.getpid())
    plain = written(given, "plain")
    memory = {
        kind: [round(p["mib"]) for p in after if p["kind"] == kind] for kind in KINDS
    }
    busy = {p["pid"]: p["seconds"] for p in before}
    spent = sum(
        p["seconds"] - busy.get(p["pid"], 0.0) for p in after if p["kind"] == "python"
    )
    application = spark.sparkContext.applicationId
    spark.stop()
    (events,) = (folder / "events").glob(f"{application}*")
    return {
        "executors": executors,
        "load_before": round(load, 1),
        "start_seconds": round(ready - started, 2),
        "loads": [
            {k: round(v, 4) for k, v in each.items() if k != "pid"} for each in loads
        ],
        "first_seconds": round(cold, 2),
        "seconds": round(warm, 2),
        "without_mondegreen_seconds": round(plain, 2),
        "python_processor_seconds": round(spent, 2),
        "memory_mib": memory,
        **moved(events),
    }


KINDS = ("java", "python")


def workers_of(pid: int) -> list[dict[str, Any]]:
    """Tell kind, memory and processor seconds of all processes that Spark started."""
    lines: dict[int, str] = {}
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            lines[int(path.name)] = (path / "stat").read_text()
    fields = {each: line.rpartition(")")[2].split() for each, line in lines.items()}
    ours, more = {pid}, {pid}
    while more:
        more = {p for p, f in fields.items() if int(f[1]) in ours} - ours
        ours |= more
    found = []
    for each in ours - {pid}:
        name = lines[each].partition("(")[2]
        kind = next((k for k in KINDS if name.startswith(k)), "other")
        spent = (int(fields[each][11]) + int(fields[each][12])) / TICKS
        mib = proportional_mib(each)
        found.append({"pid": each, "kind": kind, "mib": mib, "seconds": spent})
    return found


def moved(events: Path) -> dict[str, int]:
    """Add up what tasks read from and wrote to a shuffle, by Spark's event log."""
    tasks = read = written = 0
    for line in events.read_text().splitlines():
        event = json.loads(line)
        if event["Event"] != "SparkListenerTaskEnd":
            continue
        metrics = event["Task Metrics"]
        tasks += 1
        fetched = metrics["Shuffle Read Metrics"]
        read += fetched["Remote Bytes Read"] + fetched["Local Bytes Read"]
        written += metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"]
    assert tasks
    return {
        "tasks": tasks,
        "shuffle_bytes_read": read,
        "shuffle_bytes_written": written,
    }


def by_the_command(folder: Path) -> dict[str, Any]:
    """Release the 12,000 reviews by the command, with one job; return its rate."""
    report = folder / "report.json"
    line = [sys.executable, "-m", "mondegreen", "privatize", folder / "once.parquet"]
    line += ["-o", folder / "wanted.parquet", "-m", "tree", "-e", EPSILON, "--id", "id"]
    line += ["--key-env", KEY, "--read", "none", "--report", report, "-q"]
    start = time.perf_counter()
    subprocess.run(list(map(str, line)), check=True)
    seconds = time.perf_counter() - start
    counts = json.loads(report.read_text())["counts"]
    return {"seconds": round(seconds, 2), **counts}


def differing(folder: Path, executors: int) -> int:
    """Count the rows whose release by Spark is another than that of the command."""
    import pyarrow.parquet as pq

    wanted = pq.read_table(folder / "wanted.parquet").sort_by("id")
    found = pq.read_table(folder / f"many-{executors}").sort_by("id")
    assert len(found) == len(wanted) == 12_000
    pairs = zip(found.to_pylist(), wanted.to_pylist(), strict=True)
    return sum(one != two for one, two in pairs)


def summary(runs: list[dict[str, Any]], given: dict[str, int]) -> dict[str, Any]:
    """Medians of each size, and the ratio of both."""
    found: dict[str, Any] = {}
    for size in SIZES:
        own = [run for run in runs if run["executors"] == size]
        middle = {
            name: statistics.median(run[name] for run in own)
            for name in ("start_seconds", "first_seconds", "seconds")
        }
        spent = statistics.median(run["python_processor_seconds"] for run in own)
        rows, megabytes = given["rows"], given["text_bytes"] / 1e6
        found[f"{size} executors"] = {
            **middle,
            "rows_per_second": round(rows / middle["seconds"]),
            "megabytes_per_second": round(megabytes / middle["seconds"], 2),
            "processor_seconds_per_1000_rows": round(1000 * spent / rows, 3),
            "processor_seconds_per_megabyte": round(spent / megabytes, 4),
        }
    one, two = (found[f"{size} executors"]["seconds"] for size in SIZES)
    found["gain_of_the_second_executor"] = round(one / two, 2)
    turns = [
        [run["seconds"] for run in runs if run["executors"] == size] for size in SIZES
    ]
    found["gain_in_each_round"] = [round(a / b, 2) for a, b in zip(*turns, strict=True)]
    loads = [each["load_seconds"] for run in runs for each in run["loads"]]
    found["load_seconds"] = round(statistics.median(loads), 2)
    found["import_seconds"] = round(
        statistics.median(e["import_seconds"] for run in runs for e in run["loads"]), 2
    )
    found["python_mib"] = max(max(run["memory_mib"]["python"]) for run in runs)
    found["shuffle_bytes"] = max(
        run["shuffle_bytes_read"] + run["shuffle_bytes_written"] for run in runs
    )
    noisy = max(run["load_before"] for run in runs) > (os.cpu_count() or 1)
    found["machine_was_busy"] = noisy
    return found


def main() -> None:
    """Measure, and write the result file."""
    import mondegreen as mg

    os.environ |= {
        KEY: secrets.token_hex(32),
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONWARNINGS": "ignore",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(machine.ROOT / "src"),
    }
    spec = mg.Privatizer(mg.mechanism("tree", epsilon=EPSILON)).to_dict()
    folder = Path(tempfile.mkdtemp())
    try:
        given = write_input(folder)
        command = by_the_command(folder)
        runs: list[dict[str, Any]] = []
        differ: dict[str, int] = {}
        for _ in range(ROUNDS):
            for size in SIZES:
                runs.append(one_run(size, folder, spec))
                print(runs[-1], file=sys.stderr, flush=True)
                differ[f"{size} executors"] = differing(folder, size)
            result = {
                "pyspark": importlib.metadata.version("pyspark"),
                "input": {"name": INPUT.name, **given},
                "mechanism": {"name": "tree", "epsilon": EPSILON},
                "command_one_job": command,
                "rows_that_differ_from_the_command": differ,
                "summary": summary(runs, given),
                "runs": runs,
            }
            machine.save("spark_scaling", result)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
