"""A Spark session for tests; what executors import lies here, apart from pytest."""

import os
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
KEY = bytes(range(3, 35))
# Sessions of seconds: to optimise their code takes longer than to run it once.
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
QUIET = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "40",
    "spark.log.level": "FATAL",
    "spark.executor.extraJavaOptions": JAVA,
}


def environment():
    """Let executors find this Python, the package, and the functions of tests."""
    path = [str(HERE), *(each for each in sys.path if each.endswith("src"))]
    path += filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    return {
        "PYTHONPATH": os.pathsep.join(dict.fromkeys(path)),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "PYTHONWARNINGS": "ignore",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_SUBMIT_OPTS": JAVA,
        "SPARK_DAEMON_JAVA_OPTS": JAVA,
        "RELEASE_SECRET": KEY.hex(),
        "ANOTHER_SECRET": KEY[::-1].hex(),
    }


def start(master, folder, **conf):
    """Start a session; its files lie in a folder of the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        os.environ |= environment()
        builder = SparkSession.builder.master(master)
        more = {"spark.sql.warehouse.dir": str(folder / "warehouse")}
        for name, value in {**QUIET, **more, **conf}.items():
            builder = builder.config(name, value)
        return builder.getOrCreate()


def fetched():
    """A secret, as a function of a module fetches it."""
    return KEY


def attempts_kept(folder, when):
    """Keep what each attempt has seen; end the first of partition 0 as ``when`` says.

    ``after`` raises behind its last batch, ``kill`` ends the executor behind the first,
    ``wait`` waits there until another attempt has finished, which waits for it before.
    """

    def keep(batches):
        from pyspark import TaskContext

        task = TaskContext.get()
        part, attempt = task.partitionId(), task.attemptNumber()
        is_first, is_copy = (part, attempt) == (0, 0), part == 0 < attempt
        if is_copy and when == "wait":
            wait_for(Path(folder) / "begun")
        with (Path(folder) / f"{part}-{attempt}").open("w") as file:
            for batch in batches:
                for row in batch.to_pylist():
                    file.write(f"{row['id']}\t{row['text']}\n")
                file.flush()
                if is_first:
                    stop_here(folder, when)
                yield batch
        if is_first and when == "after":
            raise RuntimeError("after the last batch")
        if is_copy:
            (Path(folder) / "done").touch()

    return keep


def stop_here(folder, when):
    if when == "kill":
        end_executor()
    elif when == "wait":
        (Path(folder) / "begun").touch()
        wait_for(Path(folder) / "done")


def end_executor():
    """Kill the Java process above this worker of Python and its parent."""
    import signal

    daemon = Path(f"/proc/{os.getppid()}/stat").read_text()
    os.kill(int(daemon.rpartition(")")[2].split()[1]), signal.SIGKILL)
    wait_for(Path("/never"))


def wait_for(path, seconds=120):
    import time

    end = time.monotonic() + seconds
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.05)


def read_attempts(folder):
    """What each attempt released: partition and attempt to id and text."""
    found = {}
    for path in Path(folder).glob("*-*"):
        rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
        found[tuple(map(int, path.name.split("-")))] = dict(rows)
    return found


def contract_a():
    """The keys of the contract suite, of which one has more than 32 bytes."""
    return bytes(range(32))


def contract_b():
    return bytes(range(50, 90))
