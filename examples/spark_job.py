"""Privatize a table with Apache Spark, twice, and see that the release is one.

Runs on this machine, offline: ``python examples/spark_job.py``. On a cluster, the
session comes from ``spark-submit`` and the key from a secret store.
"""

import os
import secrets
import sys
import tempfile
import warnings

warnings.simplefilter("ignore")
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
# 64 hexadecimal digits; executors on this machine inherit the variable.
os.environ.setdefault("RELEASE_SECRET", secrets.token_hex(32))

from pyspark.sql import SparkSession  # noqa: E402

import mondegreen as mg  # noqa: E402
from mondegreen.spark import guarantees, privatize, write_report  # noqa: E402

REVIEWS = [
    (1, "Ann", "I met my doctor in Oslo and he was very kind."),
    (2, "Bob", "The hotel was cold, and nobody answered the phone."),
    (3, "Cem", "A good film about a family that lost its house."),
]


def main() -> None:
    """Privatize, write, and privatize again in other partitions."""
    builder = SparkSession.builder.master("local[2]").config(
        "spark.ui.enabled", "false"
    )
    spark = builder.config("spark.log.level", "ERROR").getOrCreate()
    reviews = spark.createDataFrame(REVIEWS, "id long, name string, text string")
    spec = mg.Privatizer(mg.mechanism("urr", epsilon=12.0)).to_dict()
    how = {
        "spec": spec,
        "id_column": "id",
        "key_env": "RELEASE_SECRET",
        "drop": ["name"],
    }
    private = privatize(reviews, ["text"], **how)
    with tempfile.TemporaryDirectory() as folder:
        private.write.parquet(f"{folder}/private")
        write_report(private, f"{folder}/private")
        written = spark.read.parquet(f"{folder}/private")
        for row in written.orderBy("id").collect():
            print(row.id, row.text)
        print(written.schema["text"].metadata["comment"])
        assert guarantees(written) == guarantees(private)
        again = privatize(reviews.repartition(3), ["text"], **how)
        assert sorted(again.collect()) == sorted(written.collect())
    print("twice the same release")
    spark.stop()


if __name__ == "__main__":
    main()
