"""The page on Spark: its code runs as it stands, and so does the example."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import mondegreen as mg

pytest.importorskip("pyspark")
pytest.importorskip("pandas")

import spark_here

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "libraries" / "spark.md").read_text("utf-8")
pytestmark = [
    pytest.mark.slow("starts Spark twice", seconds=15),
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    session = spark_here.start("local[2]", tmp_path_factory.mktemp("spark"))
    yield session
    session.stop()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_code_of_the_page_gives_one_release(spark, tmp_path, monkeypatch, capsys):
    from mondegreen.spark.__main__ import privatize

    # Paths of the page are relative, and Java keeps the folder it was started in.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reviews").mkdir()
    text = [f"I met Ann in Oslo, {i} times." for i in range(40)]
    table = pa.table({"id": range(40), "name": ["Ann"] * 40, "text": text})
    pq.write_table(table, tmp_path / "reviews" / "part.parquet")
    code = "\n".join(blocks("python"))
    for name in ("reviews", "private", "at"):
        code = code.replace(f'"{name}"', f'"{tmp_path}/{name}"')
    code = code.replace('"live/', f'"{tmp_path}/live/')
    exec(code, {"spark": spark})
    assert capsys.readouterr().out.endswith("text 12.0\n")
    found = pq.read_table(tmp_path / "private")
    assert found.column_names == ["id", "text"]
    assert list((tmp_path / "private" / "_mondegreen").glob("part-*"))
    spec = mg.Privatizer(mg.mechanism("urr", epsilon=12.0)).to_dict()
    keyed = mg.Privatizer.from_dict(spec, mg.KeyedNoise(spark_here.KEY))
    wanted = [keyed(one, id=i).text for i, one in enumerate(text)]
    assert found.sort_by("id")["text"].to_pylist() == wanted
    live = pq.read_table(tmp_path / "live").sort_by("id")
    assert live["text"].to_pylist() == wanted
    (line,) = blocks("sh")
    python, m, module, *given = shlex.split(line)
    assert (python, m, module) == ("python", "-m", "mondegreen.spark")
    given = [f"{tmp_path}/{x}" if x in ("reviews", "safe") else x for x in given]
    done = CliRunner().invoke(privatize, given)
    assert done.exit_code == 0, done.output
    safe = pq.read_table(tmp_path / "safe").sort_by("id")
    assert safe["text"].to_pylist() == wanted


def test_the_example_runs(tmp_path):
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "spark_job.py"],
        cwd=tmp_path,
        env={**os.environ, **spark_here.environment()},
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "the same release" in done.stdout
