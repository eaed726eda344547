"""``python -m mondegreen.spark``, in processes of its own."""

import csv
import json
import os
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from mondegreen.cli.main import cli

pytest.importorskip("pyspark")
pytest.importorskip("pandas")

import spark_here

from strategies import WORDS

pytestmark = [
    pytest.mark.slow("starts Spark twice", seconds=15),
    pytest.mark.filterwarnings("ignore"),
]
CANARY = "zyxwoldemorth"
KEYED = ["--id", "id", "--key-env", "RELEASE_SECRET"]


LAW = ["-e", "0.01", "-m", "tem", "--space"]


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    session = spark_here.start("local[2]", tmp_path_factory.mktemp("spark"))
    yield session
    session.stop()


@pytest.fixture
def run(spark, space_file, tmp_path, monkeypatch):
    """Run the command in a folder, in the session of this file."""
    from mondegreen.spark.__main__ import privatize

    monkeypatch.chdir(tmp_path)

    def done(*given):
        place = [str(tmp_path / name) for name in given[:2]]
        return CliRunner().invoke(privatize, [*place, *given[2:], *LAW, space_file])

    return done


def by_the_command(tmp_path, space_file, name, *more):
    key, output = tmp_path / "release.key", tmp_path / f"wanted-{name}"
    key.write_bytes(spark_here.KEY)
    key.chmod(0o600)
    arguments = ["privatize", str(tmp_path / name), "-o", str(output), "-q", *more]
    arguments += [*LAW, space_file, "--read", "none"]
    done = CliRunner().invoke(cli, [*arguments, "--key-file", str(key), "--id", "id"])
    assert done.exit_code == 0, done.output
    return output


def read(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_parquet_has_the_release_of_the_command_and_its_report(
    run, tmp_path, space_file
):
    text = [f"{' '.join(WORDS)} {CANARY} {i}" for i in range(60)]
    table = pa.table({"id": [f"r{i}" for i in range(60)], "text": text})
    pq.write_table(table, tmp_path / "in.parquet")
    done = run("in.parquet", "out", *KEYED, "--unknown", "mask")
    assert done.exit_code == 0, done.output
    assert "Privacy guarantee: tem" in done.stderr
    wanted = by_the_command(tmp_path, space_file, "in.parquet", "--unknown", "mask")
    found = pq.read_table(tmp_path / "out").sort_by("id")
    assert found.equals(pq.read_table(wanted).sort_by("id").replace_schema_metadata())
    (report,) = (tmp_path / "out" / "_mondegreen").glob("part-*")
    (stated,) = json.loads(report.read_text("utf-8"))["passes"]
    (meant,) = json.loads(pq.read_schema(wanted).metadata[b"mondegreen"])
    assert meant.pop("loss")["per_row"] > 0  # Spark counts no words: it states no loss
    assert stated == meant
    told = tmp_path / "told.json"
    by_the_command(tmp_path, space_file, "in.parquet", "--report", str(told), "--force")
    twice = run("wanted-in.parquet", "twice", *KEYED, "--earlier", str(told))
    assert twice.exit_code == 0, twice.output
    passes = json.loads(
        next((tmp_path / "twice/_mondegreen").glob("part-*")).read_text()
    )
    assert [each["column"] for each in passes["passes"]] == ["text", "text"]
    again = run("in.parquet", "out", *KEYED)
    assert again.exit_code == 3
    assert "already exists" in again.stderr


def test_csv_has_the_release_of_the_command(run, tmp_path, space_file):
    rows = [["id", "text", "note"]]
    rows += [[str(i), f'{WORDS[i]}, "{CANARY}"\nbad  ', f" {i} "] for i in range(30)]
    rows += [["30", "", ""], ["31", " dad\\", 'a "quoted" one'], ["32", "NULL", "null"]]
    with (tmp_path / "in.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    done = run("in.csv", "out", *KEYED, "-q")
    assert done.exit_code == 0, done.output
    (part,) = (tmp_path / "out").glob("part-*.csv")
    found = read(part)
    wanted = read(by_the_command(tmp_path, space_file, "in.csv"))
    assert found == wanted
    assert [row[2] for row in found] == [row[2] for row in rows]


def test_what_goes_wrong_is_told_without_text(run, tmp_path):
    given = tmp_path / "in.csv"
    given.write_text(f"id,text\n1,bad {CANARY}\n2,{CANARY},{CANARY}\n")
    (tmp_path / "mixed.csv").mkdir()  # two files, which name their columns otherwise
    (tmp_path / "mixed.csv" / "1.csv").write_text(f"id,text\n1,{CANARY}\n")
    (tmp_path / "mixed.csv" / "2.csv").write_text(f"text,id\n{CANARY},2\n")
    cases = [
        (["mixed.csv", "other", *KEYED], 3, "Spark stopped"),
        (["in.csv", "out"], 2, "unkeyed"),
        (["in.csv", "out", *KEYED], 3, "another number of values than the header"),
        (["in.csv", "out", "-c", "absent", *KEYED], 3, "column 'absent' not found"),
        (["none.parquet", "out", *KEYED], 3, "Path does not exist"),
    ]
    for arguments, code, said in cases:
        done = run(*arguments)
        assert done.exit_code == code, done.output
        assert said in done.stderr
        assert CANARY not in done.stderr + done.stdout
        assert "Traceback" not in done.stderr
    assert not [*tmp_path.glob("out/part-*"), *tmp_path.glob("other/part-*")]


def test_text_on_an_executor_is_not_told_either(run, tmp_path):
    table = pa.table({"id": [1, 2], "text": ["bad", CANARY]})
    pq.write_table(table, tmp_path / "in.parquet")
    done = run("in.parquet", "out", *KEYED, "--unknown", "fail")
    assert done.exit_code == 4, done.output
    assert "on an executor" in done.stderr
    assert CANARY not in done.output


def test_it_runs_under_spark_submit(tmp_path, space_file):
    import pyspark

    import mondegreen.spark.__main__ as entry

    table = pa.table({"id": range(9), "text": WORDS[:9]})
    pq.write_table(table, tmp_path / "in.parquet")
    submit = Path(pyspark.__file__).with_name("bin") / "spark-submit"
    conf = [
        x
        for name, value in spark_here.QUIET.items()
        for x in ("--conf", f"{name}={value}")
    ]
    given = ["in.parquet", "out", *KEYED, "--drop", "id", *LAW, space_file]
    done = subprocess.run(
        [submit, "--master", "local[2]", *conf, entry.__file__, *given],
        cwd=tmp_path,
        env={**os.environ, **spark_here.environment()},
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert pq.read_table(tmp_path / "out").column_names == ["text"]
