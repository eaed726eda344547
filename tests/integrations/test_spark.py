"""Spark on two local cores: the releases of the command, whatever Spark does again."""

import datetime
import decimal
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import mondegreen as mg
from mondegreen.cli.main import cli
from mondegreen.errors import (
    ConfigurationError,
    InvalidParameterError,
    MissingColumnError,
)

pytest.importorskip("pyspark")
pytest.importorskip("pandas")  # which Spark needs for all of Arrow

import spark_here

from strategies import WORDS

pytestmark = [
    pytest.mark.slow("starts Spark"),
    pytest.mark.filterwarnings("ignore"),  # of Spark and of what it uses
]
CANARY = "zyxwoldemorth"
KEYED = {"id_column": "id", "key_env": "RELEASE_SECRET"}
ONCE = {"unkeyed": "write-once"}
TEXT = " ".join(WORDS)


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    session = spark_here.start("local[2,2]", tmp_path_factory.mktemp("spark"))
    yield session
    session.stop()


@pytest.fixture
def spec(space_file):
    """Settings under which hardly a word stays."""
    law = mg.mechanism("tem", epsilon=0.01)
    return mg.Privatizer(law, mg.load_space(space_file)).to_dict()


@pytest.fixture
def private():
    from mondegreen.spark import privatize

    return privatize


@pytest.fixture
def records(spark):
    """A hundred records in three partitions."""
    rows = [(i, f"{TEXT} {CANARY} {i}") for i in range(100)]
    return spark.createDataFrame(rows, "id long, text string").repartition(3)


def texts(df):
    return {row.id: row.text for row in df.collect()}


def expected(spec, rows, column="text"):
    keyed = mg.Privatizer.from_dict(spec, mg.KeyedNoise(spark_here.KEY))
    return {i: keyed(text, id=i, column=column).text for i, text in rows.items()}


# The same release


def test_a_file_has_the_release_of_the_command(spark, private, tmp_path, space_file):
    text = [f"{TEXT}, {CANARY} Ünï 🐈 {i}" if i % 7 else None for i in range(120)]
    table = pa.table({"id": range(120), "text": text, "n": [i / 3 for i in range(120)]})
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=50)
    key = tmp_path / "release.key"
    key.write_bytes(spark_here.KEY)
    key.chmod(0o600)
    arguments = ["privatize", str(tmp_path / "in.parquet"), "-q", "--read", "none"]
    arguments += ["-o", str(tmp_path / "out.parquet"), "-m", "tem", "-e", "2"]
    arguments += ["--space", space_file, "--key-file", str(key), "--id", "id"]
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0, done.output
    law = mg.mechanism("tem", epsilon=2.0)
    given = mg.Privatizer(law, mg.load_space(space_file))
    released = private(
        spark.read.parquet(str(tmp_path / "in.parquet")), ["text"], spec=given, **KEYED
    )
    assert (
        released.toArrow()
        .sort_by("id")
        .equals(pq.read_table(tmp_path / "out.parquet").replace_schema_metadata(None))
    )


def test_partitions_batches_order_and_actions_play_no_part(
    spark, private, records, spec
):
    released = private(records, ["text"], spec=spec, **KEYED)
    first = texts(released)
    rows = {i: f"{TEXT} {CANARY} {i}" for i in range(100)}
    assert first == texts(released) == expected(spec, rows)
    again = private(
        records.repartition(7).orderBy("text"), ["text"], spec=spec, **KEYED
    )
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 3)
    try:
        assert texts(again) == first
    finally:
        spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 40)


def test_another_key_gives_another_release(private, records, spec):
    one = texts(private(records, ["text"], spec=spec, **KEYED))
    other = {**KEYED, "key_env": "ANOTHER_SECRET"}
    two = texts(private(records, ["text"], spec=spec, **other))
    assert all(one[i] != two[i] for i in one)


def test_a_secret_may_come_from_a_function_of_a_module(private, records, spec):
    how = {**KEYED, "key_env": spark_here.fetched}
    found = texts(private(records, ["text"], spec=spec, **how))
    assert found == texts(private(records, ["text"], spec=spec, **KEYED))


def test_a_task_that_fails_behind_its_last_batch_repeats_its_release(
    private, records, spec, tmp_path
):
    released = private(records, ["text"], spec=spec, **KEYED)
    kept = released.mapInArrow(
        spark_here.attempts_kept(str(tmp_path), "after"), released.schema
    )
    assert texts(kept) == texts(released)
    attempts = spark_here.read_attempts(tmp_path)
    assert attempts[0, 0] == attempts[0, 1]
    assert len(attempts[0, 0]) > 20


def test_the_same_failure_draws_again_without_a_key(private, records, spec, tmp_path):
    released = private(records, ["text"], spec=spec, **ONCE)
    keep = spark_here.attempts_kept(str(tmp_path), "after")
    released.mapInArrow(keep, released.schema).collect()
    attempts = spark_here.read_attempts(tmp_path)
    assert attempts[0, 0].keys() == attempts[0, 1].keys()
    assert all(attempts[0, 0][i] != attempts[0, 1][i] for i in attempts[0, 0])


# Without a key


def test_without_a_key_it_refuses_and_says_what_to_do(private, records, spec):
    with pytest.raises(ConfigurationError, match="key_env, or pass unkeyed='write-on"):
        private(records, ["text"], spec=spec)
    for half in ({"id_column": "id"}, {"key_env": "RELEASE_SECRET"}):
        with pytest.raises(ConfigurationError, match="must be used together"):
            private(records, ["text"], spec=spec, **half)
    with pytest.raises(ConfigurationError, match="cannot be combined"):
        private(records, ["text"], spec=spec, **KEYED, **ONCE)
    with pytest.raises(InvalidParameterError, match="unkeyed"):
        private(records, ["text"], spec=spec, unkeyed=True)


def test_noise_of_a_privatizer_does_not_travel(private, records, spec):
    for noise in (mg.KeyedNoise(spark_here.KEY), mg.Seeded(1)):
        given = mg.Privatizer.from_dict(spec, noise)
        with pytest.raises(ConfigurationError, match="key_env"):
            private(records, ["text"], spec=given, **ONCE)


def test_every_unkeyed_action_draws_again_in_every_row(private, records, spec):
    released = private(records, ["text"], spec=spec, **ONCE)
    one, two = texts(released), texts(released)
    assert all(one[i] != two[i] for i in one)
    assert len({*one.values(), *two.values()}) == 200


@pytest.mark.parametrize(
    "made",
    [
        "monotonically_increasing_id()",
        "uuid()",
        "int(1e9 * rand())",
        "reflect('java.util.UUID', 'randomUUID')",
        "concat(id, current_timestamp())",
        "unix_micros(now()) + id",
        "id + row_number() over (order by unix_date(current_date()) + id)",
    ],
)
def test_an_id_that_every_run_computes_anew_is_refused(private, records, spec, made):
    numbered = records.selectExpr("text", f"{made} as id")
    with pytest.raises(ConfigurationError, match="computes again"):
        private(numbered, ["text"], spec=spec, **KEYED)


def test_an_id_of_a_function_that_says_that_it_draws_is_refused(private, records, spec):
    import pyspark.sql.functions as f

    drawn = f.udf(lambda: CANARY).asNondeterministic()()
    with pytest.raises(ConfigurationError, match="computes again") as caught:
        private(records.withColumn("id", drawn), ["text"], spec=spec, **KEYED)
    assert CANARY not in str(caught.value)


def test_what_other_columns_are_made_of_does_not_matter(private, records, spec):
    given = records.selectExpr(
        "current_timestamp() as at", "id as n", "uuid() as other", "text"
    ).where("at > timestamp'2020-01-01'")
    for id in ("n", "concat(n, input_file_name())"):
        given = given.selectExpr("*", f"{id} as id")
        private(given, ["text"], spec=spec, **KEYED)
        given = given.drop("id")


# The key


def plan_of(df):
    """Everything of a plan: how Spark explains it, and the function it sends."""
    plan = df._jdf.queryExecution()
    sent = plan.analyzed().functionExpr().func()
    assert sent.broadcastVars().isEmpty()
    numbers = sent.command().mkString(",").split(",")
    pickled = bytes(int(number) % 256 for number in numbers)
    return plan.toString().encode() + pickled


@pytest.mark.parametrize("secret", ["RELEASE_SECRET", spark_here.fetched])
def test_the_plan_holds_settings_and_the_name_of_the_key_alone(
    private, records, spec, secret
):
    how = {"id_column": "id", "key_env": secret}
    plan = plan_of(private(records, ["text"], spec=spec, **how))
    assert getattr(secret, "__name__", secret).encode() in plan
    assert spec["digests"]["space"].encode() in plan
    for key in (spark_here.KEY, spark_here.KEY.hex().encode()):
        assert key not in plan
        assert key[:12] not in plan
    assert len(plan) < 10_000  # no space, no law


def test_a_function_that_would_carry_the_key_is_refused(private, records, spec):
    key = spark_here.KEY
    with pytest.raises(ConfigurationError, match="module"):
        private(records, ["text"], spec=spec, id_column="id", key_env=lambda: key)


def test_a_key_in_a_setting_that_spark_shows_is_refused(
    spark, private, records, spec, monkeypatch
):
    given = spark.sparkContext.environment
    monkeypatch.setitem(given, "HIDDEN_SECRET", spark_here.KEY.hex())
    for name in ("SHOWN_KEY", "HIDDEN_SECRET"):
        spark.conf.set(f"spark.executorEnv.{name}", "00" * 32)
    with pytest.raises(ConfigurationError, match="pages and event logs") as caught:
        private(records, ["text"], spec=spec, id_column="id", key_env="SHOWN_KEY")
    assert "00" * 8 not in str(caught.value)
    private(records, ["text"], spec=spec, id_column="id", key_env="HIDDEN_SECRET")


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (None, "is not set"),
        ("", "is no key of 64 hex digits"),
        (f"{CANARY}", "is no key of 64 hex digits"),
        ("00" * 32, "is no random key"),
    ],
)
def test_a_key_is_checked_before_spark_works(
    spark, private, records, spec, monkeypatch, value, says
):
    monkeypatch.setenv("LATE_SECRET", spark_here.KEY.hex())  # Java started without it
    if value is not None:
        monkeypatch.setitem(spark.sparkContext.environment, "LATE_SECRET", value)
    tasks = []
    monkeypatch.setattr(
        "mondegreen.integrations.spark.release.release_batches", tasks.append
    )
    with pytest.raises(ConfigurationError, match=f"LATE_SECRET {says}") as caught:
        private(records, ["text"], spec=spec, id_column="id", key_env="LATE_SECRET")
    assert CANARY not in str(caught.value)
    assert not tasks


def test_a_key_that_the_driver_hands_to_executors_is_used(
    spark, private, records, spec, monkeypatch
):
    key = spark_here.KEY.hex()
    monkeypatch.setitem(spark.sparkContext.environment, "GIVEN_SECRET", key)
    how = {"id_column": "id", "key_env": "GIVEN_SECRET"}
    assert texts(private(records, ["text"], spec=spec, **how)) == expected(
        spec, texts(records)
    )


def test_executors_without_the_key_stop(spark, private, records, spec, monkeypatch):
    """As on a cluster, of whose environment the driver knows nothing."""
    monkeypatch.setattr(
        "mondegreen.integrations.spark.release._check_key", lambda *of: None
    )
    how = {"id_column": "id", "key_env": "ABSENT_SECRET"}
    with pytest.raises(Exception, match="ABSENT_SECRET is not set") as caught:
        private(records, ["text"], spec=spec, **how).collect()
    assert CANARY not in str(caught.value)


# Errors


def test_an_error_on_an_executor_holds_no_text(private, records, spec):
    strict = {**spec, "unknown": "fail"}
    with pytest.raises(Exception, match="OutOfVocabularyError") as caught:
        private(records, ["text"], spec=strict, **KEYED).collect()
    assert CANARY not in str(caught.value)


def test_neither_does_a_bug(spec, monkeypatch):
    from mondegreen.integrations.spark.release import release_batches

    def fails(self, batch, *_, **__):
        raise ValueError(str(batch.to_pylist()))

    monkeypatch.setattr(mg.Privatizer, "arrow", fails)
    batch = pa.record_batch({"text": [CANARY]})
    places = {"names": ["text"], "needed": [0], "left": [0]}
    run = release_batches(iter([batch]), spec, {"text": "text"}, None, None, **places)
    with pytest.raises(Exception, match="ValueError") as caught:
        next(run)
    seen, error = "", caught.value
    while error is not None:
        seen, error = seen + repr(error), error.__cause__ or error.__context__
    assert CANARY not in seen


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"columns": ["absent"]}, MissingColumnError),
        ({"columns": ["Text"]}, MissingColumnError),  # Spark would take it for text
        ({"columns": ["id"]}, InvalidParameterError),
        ({"columns": "text"}, InvalidParameterError),
        ({"columns": ["text", "text"]}, InvalidParameterError),
        ({"columns": ["text"], "key_env": spark_here.KEY.hex()}, ConfigurationError),
        ({"columns": ["text"], "drop": ["absent"]}, MissingColumnError),
        ({"columns": ["text"], "drop": ["text"]}, InvalidParameterError),
        ({"columns": ["text"], "drop": "id"}, InvalidParameterError),
        ({"columns": ["text"], "id_column": "absent"}, MissingColumnError),
        ({"columns": ["text"], "id_column": "score"}, InvalidParameterError),
    ],
)
def test_what_cannot_be_is_refused_before_spark_works(
    private, records, spec, asked, error
):
    given = records.selectExpr("*", "double(id) as score")
    with pytest.raises(error):
        private(given, spec=spec, **{**KEYED, **asked})


def test_a_space_is_loaded_once_in_a_process(spec, monkeypatch):
    import mondegreen.privatizer.spec as specs
    from mondegreen.integrations.spark.release import release_batches
    from mondegreen.privatizer import build

    monkeypatch.setattr(specs, "_SPACES", specs.Kept())
    monkeypatch.setattr(build, "_BUILT", specs.Kept())
    loads, load = [], specs.load_space
    monkeypatch.setattr(
        specs, "load_space", lambda path: loads.append(path) or load(path)
    )
    batch = pa.record_batch({"text": ["bad"]})
    places = {"names": ["text"], "needed": [0], "left": [0]}
    for _ in range(3):  # tasks
        batches = iter([batch, batch])
        assert len(
            list(release_batches(batches, spec, {"text": "text"}, None, None, **places))
        )
    assert len(loads) == 1


# What comes out


def test_rows_types_and_nulls_stay_and_other_columns_as_they_are(spark, private, spec):
    kinds = """id long, text string, d decimal(12, 3), t timestamp, n timestamp_ntz,
        day date, raw binary, m map<string, array<int>>, s struct<a: int, b: string>,
        f float, l string collate utf8_lcase, i interval day to second, b boolean"""
    now = datetime.datetime(2026, 3, 29, 2, 30, 0, 123456)
    row = [now, now, now.date(), b"\0\xff", {"k": [1, None]}, (1, "x"), 0.1, "L"]
    row += [datetime.timedelta(1, 5), True]
    rows = [(1, None, decimal.Decimal("1.200"), *row), (2, TEXT, *[None] * 11)]
    given = spark.createDataFrame(rows, kinds).selectExpr(
        "*", "parse_json('[1]') as v", "cast('c' as char(4)) as c"
    )
    released = private(given, ["text"], spec=spec, **KEYED)
    assert [(f.name, f.dataType, f.nullable) for f in released.schema] == [
        (f.name, f.dataType, f.nullable) for f in given.schema
    ]
    before = {r.id: r.asDict() for r in given.collect()}
    after = {r.id: r.asDict() for r in released.collect()}
    assert after[1].pop("text") is None is before[1].pop("text")
    assert after[2].pop("text") != before[2].pop("text")
    assert str(before) == str(after)  # a variant has no equality


def test_structs_arrays_and_arrays_of_structs_have_the_release_of_the_library(
    spark, private, spec
):
    kinds = """rec struct<id: string>, tags array<string>,
        msgs array<struct<body: string, n: int>>"""
    rows = [
        ((str(i),), [TEXT, None, TEXT], [(TEXT, 1), None, (None, 2), (TEXT, 3)])
        for i in range(5)
    ]
    given = spark.createDataFrame([*rows, (("null",), None, None)], kinds)
    how = {"id_column": "rec.id", "key_env": "RELEASE_SECRET"}
    released = private(given, {"tags": "t", "msgs.body": "m"}, spec=spec, **how)
    keyed = mg.Privatizer.from_dict(spec, mg.KeyedNoise(spark_here.KEY))
    batch = given.toArrow().combine_chunks().to_batches()[0]
    wanted = keyed.arrow(batch, {"tags": "t", "msgs.body": "m"}, id_column="rec.id")
    found = released.toArrow().to_pylist()
    assert sorted(found, key=str) == sorted(wanted.to_pylist(), key=str)


def test_a_column_whose_name_holds_a_dot_is_itself(spark, private, spec):
    rows = [(i, "public", (TEXT,)) for i in range(3)]
    given = spark.createDataFrame(rows, "id long, `a.b` string, a struct<c: string>")
    released = private(given, ["a.c"], spec=spec, **KEYED).collect()
    assert [row["a.b"] for row in released] == ["public"] * 3
    assert all(row.a.c != TEXT for row in released)
    unclear = spark.createDataFrame(
        [(1, "x", ("y",))], "id int, `a.b` string, a struct<b: string>"
    )
    with pytest.raises(InvalidParameterError, match="2 columns"):
        private(unclear, ["a.b"], spec=spec, **KEYED)


def test_columns_are_dropped_even_the_id(private, records, spec):
    given = records.selectExpr("*", f"'{CANARY}' as name")
    released = private(given, ["text"], spec=spec, drop=["name", "id"], **KEYED)
    assert released.columns == ["text"]
    rows = {i: f"{TEXT} {CANARY} {i}" for i in range(100)}
    assert {r.text for r in released.collect()} == {*expected(spec, rows).values()}
    assert CANARY not in released._jdf.queryExecution().optimizedPlan().toString()


def test_a_frame_without_rows_or_partitions(spark, private, spec):
    none = spark.createDataFrame([], "id long, text string")
    assert private(none, ["text"], spec=spec, **KEYED).collect() == []


# The guarantee


def test_the_guarantee_is_in_the_column_and_in_files_and_tables(
    spark, private, records, spec, tmp_path
):
    from mondegreen.spark import guarantees, report, write_report

    released = private(records, ["text"], spec=spec, **KEYED)
    (stated,) = guarantees(released)
    promise = mg.Privatizer.from_dict(spec, mg.KeyedNoise(spark_here.KEY)).guarantee
    assert mg.Guarantee.from_dict(stated["guarantee"]) == promise
    comment = released.schema["text"].metadata["comment"]
    assert (
        comment
        == "Privatized by mondegreen: column text: tem (epsilon 0.01, beta 0.001)"
    )
    assert released.schema["id"].metadata == {}
    released.write.parquet(str(tmp_path / "out"))
    write_report(released, str(tmp_path / "out"))
    read = spark.read.parquet(str(tmp_path / "out"))
    assert guarantees(read) == [stated]
    assert read.count() == 100
    (file,) = (tmp_path / "out" / "_mondegreen").glob("part-*")
    assert json.loads(file.read_text("utf-8")) == report(released)
    released.write.mode("overwrite").saveAsTable("stated")
    described = {r.col_name: r.comment for r in spark.sql("describe stated").collect()}
    assert described["text"] == comment
    assert guarantees(spark.table("stated")) == [stated]


def test_a_second_pass_adds_up_wherever_the_first_came_from(
    spark, private, records, spec, tmp_path
):
    from mondegreen.spark import guarantees, report

    once = private(records, ["text"], spec=spec, **KEYED)
    once.write.parquet(str(tmp_path / "once"))
    read = spark.read.parquet(str(tmp_path / "once")).withColumnRenamed("text", "body")
    twice = private(read, ["body"], spec={**spec, "unknown": "mask"}, **KEYED)
    assert [each["column"] for each in guarantees(twice)] == ["text", "body"]
    assert "column text: tem" in twice.schema["body"].metadata["comment"]
    other = private(
        twice.selectExpr("id", "body", "body as more"), ["more"], spec=spec, **KEYED
    )
    assert len(report(other)["passes"]) == 5


def test_a_broken_promise_is_not_a_promise(spark, private, spec):
    import pyspark.sql.functions as f

    from mondegreen.spark import report

    given = spark.createDataFrame([(1, "x")], "id long, text string")
    given = given.withColumn(
        "text", f.col("text").alias("text", metadata={"mondegreen": "{"})
    )
    released = private(given, ["text"], spec=spec, **KEYED)
    assert report(released)["protection"] == "none"
    assert released.schema["text"].metadata["comment"].startswith("NOT PRIVATE. ")
    with pytest.raises(ConfigurationError, match="privatize it first"):
        report(given.drop("text"))


def test_metadata_that_may_hold_text_goes(spark, private, spec):
    import pyspark.sql.functions as f

    labels = {"ml_attr": {"vals": [CANARY]}, "comment": "public note"}
    given = spark.createDataFrame([(1, CANARY)], "id long, text string")
    given = given.select(
        f.col("id").alias("id", metadata=labels),
        f.col("text").alias("text", metadata=labels),
    )
    released = private(given, ["text"], spec=spec, **KEYED)
    assert CANARY not in released.schema.json()
    assert released.schema["id"].metadata == {"comment": "public note"}


def test_a_table_states_passes_and_extends_them(spark, private, records, spec):
    from mondegreen.spark import guarantees, set_table_properties, table_properties

    def stated():
        rows = spark.sql("show tblproperties held").collect()
        return json.loads({r.key: r.value for r in rows}["mondegreen"])

    # To be written in SQL as it is; and Spark hides what holds a word like these.
    odd = "te'x\\t \\u0041 Token URL"
    given = records.withColumnRenamed("text", odd)
    released = private(given, [odd], spec=spec, **KEYED)
    released.write.saveAsTable("held")
    set_table_properties("held", released)
    assert stated() == guarantees(released)
    set_table_properties("held", released)  # more rows of the same passes
    assert stated() == guarantees(released)
    assert stated()[0]["column"] == odd
    twice = private(released, [odd], spec=spec, **KEYED)
    set_table_properties("held", twice)
    assert stated() == guarantees(twice)
    assert len(stated()) == 2
    (value,) = table_properties(twice).values()
    assert json.loads(value) == guarantees(twice)


# Streams


def streamed(spark, folder, rows):
    """A stream of one file, which holds these rows."""
    frame = spark.createDataFrame(rows, "id long, text string").coalesce(1)
    frame.write.mode("append").parquet(str(folder))
    return spark.readStream.schema("id long, text string").parquet(str(folder))


def test_a_stream_has_the_release_of_a_batch(spark, private, spec, tmp_path):
    rows = {i: f"{TEXT} {i}" for i in range(50)}
    stream = streamed(spark, tmp_path / "in", list(rows.items()))
    with pytest.raises(ConfigurationError, match="restart"):
        private(stream, ["text"], spec=spec, **ONCE)
    released = private(stream, ["text"], spec=spec, **KEYED)
    writer = released.writeStream.option("checkpointLocation", str(tmp_path / "at"))
    query = writer.trigger(availableNow=True).start(str(tmp_path / "out"))
    query.awaitTermination(120)
    assert texts(spark.read.parquet(str(tmp_path / "out"))) == expected(spec, rows)


def test_a_batch_of_a_stream_that_is_replayed_repeats_its_release(
    spark, spec, tmp_path
):
    from mondegreen.spark import foreach_batch, guarantees

    rows = {i: f"{TEXT} {i}" for i in range(50)}
    stream, seen = streamed(spark, tmp_path / "in", list(rows.items())), []

    def write(batch, number):
        seen.append((number, guarantees(batch)[0]["column"], texts(batch)))
        if len(seen) == 1:
            raise RuntimeError("the store is down")

    each = foreach_batch(write, ["text"], spec=spec, **KEYED)
    writer = stream.writeStream.foreachBatch(each).trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(tmp_path / "at"))
    with pytest.raises(Exception, match="the store is down"):
        writer.start().awaitTermination(120)
    writer.start().awaitTermination(120)
    assert seen == [(0, "text", expected(spec, rows))] * 2
