"""Spark with executors of their own: one that dies, and one that is too slow."""

import os
import re
import time
from pathlib import Path

import pytest

import mondegreen as mg

pytest.importorskip("pyspark")
pytest.importorskip("pandas")

import spark_here

from strategies import WORDS

pytestmark = [
    pytest.mark.slow("starts a cluster", seconds=20),
    pytest.mark.filterwarnings("ignore"),
]
TEXT = " ".join(WORDS[:40])
KEYED = {"id_column": "id", "key_env": "RELEASE_SECRET"}


@pytest.fixture
def spec(space_file):
    law = mg.mechanism("tem", epsilon=0.01)
    return mg.Privatizer(law, mg.load_space(space_file)).to_dict()


def released(spark, spec, partitions=2):
    from mondegreen.spark import privatize

    rows = [(i, f"{TEXT} {i}") for i in range(200)]
    # Not repartitioned: what a killed executor has shuffled would be made again.
    parts = spark.sparkContext.parallelize(rows, partitions)
    given = spark.createDataFrame(parts, "id long, text string")
    return privatize(given, ["text"], spec=spec, **KEYED)


def expected(spec):
    keyed = mg.Privatizer.from_dict(spec, mg.KeyedNoise(spark_here.KEY))
    return {i: keyed(f"{TEXT} {i}", id=i).text for i in range(200)}


def texts(df):
    return {row.id: row.text for row in df.collect()}


def test_an_executor_that_is_killed_in_the_middle_changes_nothing(tmp_path, spec):
    spark = spark_here.start("local-cluster[2,1,1024]", tmp_path)
    try:
        frame = released(spark, spec)
        keep = spark_here.attempts_kept(str(tmp_path), "kill")
        found = texts(frame.mapInArrow(keep, frame.schema))
        assert found == expected(spec)
        attempts = spark_here.read_attempts(tmp_path)
        first, *_, last = (
            rows for (part, _), rows in sorted(attempts.items()) if not part
        )
        assert 0 < len(first) < len(last)
        assert first.items() <= last.items()
        assert texts(released(spark, spec, partitions=5)) == found
    finally:
        spark.stop()


@pytest.fixture
def two_hosts(tmp_path, start_process):
    """Start a cluster of two hosts: Spark copies a slow task to another host alone."""
    import pyspark

    home = Path(pyspark.__file__).parent
    started, log = [], tmp_path / "cluster.log"
    environment = {
        **os.environ,
        **spark_here.environment(),
        "SPARK_HOME": str(home),
        "SPARK_LOG_DIR": str(tmp_path),
    }

    def start(*what, host):
        with log.open("ab") as out:
            line = [home / "bin" / "spark-class", f"org.apache.spark.deploy.{what[0]}"]
            line += ["--host", host, "--port", "0", "--webui-port", "0", *what[1:]]
            environment["SPARK_LOCAL_IP"] = host
            line = list(map(str, line))
            started.append(start_process(line, env=environment, stdout=out, stderr=out))

    try:
        start("master.Master", host="127.0.0.1")
        (master,) = said(log, r"Starting Spark master at (spark://\S+)", 1)
        for host in ("127.0.0.1", "127.0.0.2"):
            folder = tmp_path / host
            start("worker.Worker", "-c", 1, "-m", "1g", "-d", folder, master, host=host)
        said(log, r"Successfully registered with master", 2)
        yield master
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait(60)


def said(log, pattern, times, seconds=240):
    """Wait until a log has so many lines of a pattern."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = re.findall(pattern, log.read_text()) if log.exists() else []
        if len(found) >= times:
            return found
        time.sleep(0.1)
    raise TimeoutError(log.read_text()[-3000:])


def test_a_speculative_copy_of_a_task_has_the_same_release(tmp_path, spec, two_hosts):
    speculation = {
        "spark.speculation": "true",
        "spark.speculation.interval": "100ms",
        "spark.speculation.quantile": "0.25",
        "spark.speculation.multiplier": "1.1",
        "spark.speculation.minTaskRuntime": "100ms",
        "spark.executor.memory": "512m",
    }
    spark = spark_here.start(two_hosts, tmp_path, **speculation)
    try:
        frame = released(spark, spec, partitions=4)
        (tmp_path / "kept").mkdir()
        keep = spark_here.attempts_kept(str(tmp_path / "kept"), "wait")
        assert texts(frame.mapInArrow(keep, frame.schema)) == expected(spec)
        attempts = spark_here.read_attempts(tmp_path / "kept")
        slow, copy = attempts[0, 0], attempts[0, 1]
        assert 0 < len(slow) <= len(copy)
        assert slow.items() <= copy.items()
    finally:
        spark.stop()
