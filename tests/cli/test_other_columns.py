"""The warning of columns that pass unchanged and look personal."""

import csv
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from commands import run_command
from mondegreen.cli.main import cli

TEXT = "The room was loud."


def run(path, *more):
    return run_command("privatize", path, "--epsilon", "12", "--quiet", *more)


def write(columns):
    rows = zip(*columns.values(), strict=True)
    with Path("in.csv").open("w", newline="") as file:
        csv.writer(file).writerows([list(columns), *rows])
    return "in.csv"


@pytest.mark.parametrize(
    "name",
    ["name", "E-Mail", "customerId", "user_name", "PatientID", "id", "First Name"],
)
def test_a_column_is_told_by_its_name(folder, name):
    done = run(write({name: ["x"], "text": [TEXT]}))
    assert f"ids: {name!r}. They pass unchanged" in done.stderr


@pytest.mark.parametrize(
    "values",
    [
        ["ann@example.org", "x.y@mail.example.com", ""],
        ["Ann Zyxwold", "Bob C. Zyxwold", "none"],
        ["6f1c1a34-9f0e-4f0b-8a53-0d6a5f2f9d11"] * 3,
        ["AB-1234567", "AB-1234568", "AB-1234569"],
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_column_is_told_by_its_values_which_are_not_shown(folder, values, suffix):
    path = write({"field": values, "stars": ["5"] * 3, "text": [TEXT] * 3})
    more = []
    if suffix == ".parquet":
        path, more = "in.parquet", ["-o", "out.parquet"]
        pq.write_table(pa.table({"field": values, "text": [TEXT] * 3}), path)
    told = run(path, *more).stderr
    assert "'field'. They pass unchanged" in told
    assert not any(value and value in told for value in values)
    assert "stars" not in told


@pytest.mark.parametrize(
    "columns",
    [
        {"stars": ["5", "4"], "date": ["2024-05-01", "2024-05-02"]},
        {"topic": ["food", "a long comment about it"], "score": ["0.25", "1"]},
        {"identity": ["", ""], "width": ["120", "7"]},
    ],
)
def test_harmless_columns_are_not_named(folder, columns):
    assert run(write({**columns, "text": [TEXT] * 2})).stderr == ""


def test_columns_that_are_privatized_or_are_the_id_are_not_named(folder):
    path = write({"id": ["1"], "name": ["Ann Miller"], "text": [TEXT]})
    key = Path("key")
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)
    more = ["--column", "text", "--column", "name", "--id", "id"]
    assert run(path, *more, "--key-file", "key").stderr == ""


def test_the_warning_comes_before_a_row_is_written(folder, monkeypatch):
    written = []
    monkeypatch.setattr(
        "mondegreen.io.base.ByteSink.write",
        lambda self, batch: written.append(batch) or 1 / 0,
    )
    path = write({"name": ["Ann"], "text": [TEXT]})
    done = CliRunner().invoke(cli, ["privatize", path, "-e", "12", "-o", "out.csv"])
    assert written
    assert "'name'. They pass unchanged" in done.stderr
    assert not Path("out.csv").exists()


def test_no_row_is_lost_behind_the_first_look(folder):
    columns = {"name": ["x"] * 5000, "text": [TEXT] * 5000}
    assert run(write(columns)).stdout.count("\n") == 5001
    assert run(write({"name": [], "text": []})).stdout.strip() == "name,text"
