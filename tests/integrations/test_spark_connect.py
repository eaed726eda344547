"""Spark Connect: a thin client, and a server of its own."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pandas")
pytest.importorskip("grpc")

import spark_here

pytestmark = pytest.mark.slow("starts a Spark Connect server", seconds=25)

CLIENT = """
import sys
import warnings

warnings.simplefilter("ignore")
from pyspark.sql import SparkSession

import mondegreen as mg
import spark_here
from mondegreen.spark import guarantees, privatize, report, set_table_properties
from mondegreen.spark import foreach_batch, write_report

folder, space = sys.argv[1:]
remote = SparkSession.builder.remote("local[2]")
for name, value in spark_here.QUIET.items():
    remote = remote.config(name, value)
remote = remote.config("spark.sql.warehouse.dir", f"{folder}/warehouse")
spark = remote.getOrCreate()
assert "connect" in type(spark).__module__, type(spark)

law = mg.mechanism("tem", epsilon=0.01)
spec = mg.Privatizer(law, mg.load_space(space)).to_dict()
rows = {i: f"bad dad {'bag ' * 30}{i}" for i in range(50)}
given = spark.createDataFrame(list(rows.items()), "id long, text string")
keyed = mg.Privatizer.from_dict(spec, mg.KeyedNoise(spark_here.KEY))
wanted = {i: keyed(text, id=i).text for i, text in rows.items()}
how = {"spec": spec, "id_column": "id", "key_env": "RELEASE_SECRET"}


def texts(frame):
    return {row.id: row.text for row in frame.collect()}


def refused(*given, **asked):
    try:
        privatize(*given, **asked)
    except mg.errors.ConfigurationError as error:
        return str(error)
    raise AssertionError("was not refused")


private = privatize(given.repartition(3), ["text"], **how)
assert texts(private) == texts(private) == wanted
plan = private._plan.to_proto(spark.client).SerializeToString()
assert b"RELEASE_SECRET" in plan
assert spark_here.KEY not in plan and spark_here.KEY.hex().encode() not in plan
assert guarantees(private)[0]["column"] == "text"

private.write.parquet(f"{folder}/out")
write_report(private, f"{folder}/out")
assert guarantees(spark.read.parquet(f"{folder}/out")) == guarantees(private)
private.write.saveAsTable("held")
set_table_properties("held", private)
assert report(spark.table("held"))["noise_is_secret"] is True

assert "write-once" in refused(given, ["text"], spec=spec)
anew = given.selectExpr("uuid() as id", "text")
assert "computes again" in refused(anew, ["text"], **how)
once = privatize(given, ["text"], spec=spec, unkeyed="write-once")
one, two = texts(once), texts(once)
assert all(one[i] != two[i] for i in rows)

given.coalesce(1).write.parquet(f"{folder}/in")
stream = spark.readStream.schema("id long, text string").parquet(f"{folder}/in")
released = privatize(stream, ["text"], **how).writeStream.trigger(availableNow=True)
released = released.option("checkpointLocation", f"{folder}/at")
released.start(f"{folder}/streamed").awaitTermination(200)
assert texts(spark.read.parquet(f"{folder}/streamed")) == wanted


def write(batch, number):
    batch.write.parquet(f"{folder}/batch-{number}")


each = foreach_batch(write, ["text"], **how)
query = stream.writeStream.foreachBatch(each).trigger(availableNow=True)
query = query.option("checkpointLocation", f"{folder}/at-each").start()
query.awaitTermination(200)
assert query.exception() is None, query.exception()
assert texts(spark.read.parquet(f"{folder}/batch-0")) == wanted
spark.stop()
print("all of it")
"""


def test_a_thin_client_has_all_of_it(tmp_path, space_file):
    done = subprocess.run(
        [sys.executable, "-c", CLIENT, str(tmp_path), space_file],
        env={**os.environ, **spark_here.environment()},
        capture_output=True,
        text=True,
        timeout=550,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.endswith("all of it\n")
