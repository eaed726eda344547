"""Spark under the contract of all adapters."""

import pyarrow as pa
import pytest

from contract.adapters import KEYS, Adapter, AdapterContract, Refused
from contract.test_adapters import at_path, table_of

pytest.importorskip("pyspark")
pytest.importorskip("pandas")

import spark_here

pytestmark = [
    pytest.mark.slow("starts Spark"),
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    big = {"spark.sql.execution.arrow.maxRecordsPerBatch": "1000"}
    session = spark_here.start("local[2]", tmp_path_factory.mktemp("spark"), **big)
    yield session
    session.stop()


def frame_of(spark, records, job):
    """Privatize records as a frame, whose rows remember their places."""
    from mondegreen.spark import privatize

    table = table_of(records or [{"text": None}])
    if not records:
        table = pa.table({"text": pa.array([], pa.string())})
    places = pa.array(range(len(table)), pa.int64())
    given = spark.createDataFrame(table.append_column("place", places))
    secret = None
    if job.key_path is not None:
        (name,) = (n for n, key in KEYS.items() if key == job.key_path.read_bytes())
        secret = getattr(spark_here, f"contract_{name}")
    is_keyed = secret is not None or job.id_column is not None
    how = {"id_column": job.id_column, "key_env": secret} if is_keyed else {}
    columns = {job.column: job.logical or job.column}
    unkeyed = None if is_keyed else "write-once"
    return privatize(given, columns, spec=job.spec, unkeyed=unkeyed, **how)


@pytest.mark.filterwarnings("ignore")
class TestSpark(AdapterContract):
    """Frames of records, through an engine that may do all of it again."""

    @pytest.fixture
    def adapter(self, spark):
        from pyspark.errors import PySparkException

        from mondegreen.spark import guarantees

        def run(records, job):
            frame = frame_of(spark, records, job)
            try:
                table = frame.orderBy("place").toArrow()
            except PySparkException as error:
                raise Refused(str(error)) from None
            return at_path(table, job.column)

        def promises(records, job):
            return guarantees(frame_of(spark, records, job))

        return Adapter("spark", run, promises, frozenset({"unique"}))
