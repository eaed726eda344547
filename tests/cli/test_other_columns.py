"""The warning of columns that pass unchanged and look personal."""

import csv
import json
import sys
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
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl", ".json"])
def test_a_column_is_told_by_its_values_which_are_not_shown(folder, values, suffix):
    path = write({"field": values, "stars": ["5"] * 3, "text": [TEXT] * 3})
    more = []
    if suffix == ".parquet":
        path, more = "in.parquet", ["-o", "out.parquet"]
        pq.write_table(pa.table({"field": values, "text": [TEXT] * 3}), path)
    if suffix.startswith(".json"):
        rows = [{"field": value, "text": TEXT, "n": 10**5000} for value in values]
        ends = ("[ ", ",\n", " ]") if suffix == ".json" else ("", "\n", "\n")
        sys.set_int_max_str_digits(0)
        between = ends[1].join(map(json.dumps, rows))
        sys.set_int_max_str_digits(4300)
        path = f"in{suffix}"
        Path(path).write_text(ends[0] + between + ends[2])
    told = run(path, *more).stderr
    assert f"Warning: {path}: other columns" in told
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


def test_columns_that_are_privatized_are_not_named_and_the_id_is(folder):
    path = write({"id": ["1"], "name": ["Ann Miller"], "text": [TEXT]})
    key = Path("key")
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)
    more = ["--column", "text", "--column", "name", "--id", "id", "--key-file", "key"]
    told = run(path, *more).stderr
    assert "the column of --id, 'id', is released as it is" in told
    assert "leave it out with --drop id." in told
    assert "other columns" not in told
    assert run(path, *more, "--drop", "id").stderr == ""


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".parquet"])
def test_fields_within_fields_are_named_by_their_paths(folder, suffix):
    extra = {"agent": "Ann Zyxwold", "mail": {"to": ["x@example.org"]}, "stars": 5}
    record = {"text": TEXT, "extra": extra}
    path, more = f"in{suffix}", ["-o", f"out{suffix}"]
    if suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist([record]), path)
    else:
        lines = json.dumps(record)
        Path(path).write_text(f"[{lines}]" if suffix == ".json" else lines + "\n")
    told = run(path, "-c", "text", *more).stderr
    assert "ids: 'extra.agent', 'extra.mail.to'. They pass unchanged" in told
    assert "Zyxwold" not in told
    dropped = ["--drop", "extra.agent", "--drop", "extra.mail"]
    if suffix == ".parquet":
        dropped = ["--drop", "extra"]
    assert run(path, "-c", "text", "-o", f"safe{suffix}", *dropped).stderr == ""


def test_the_top_of_json_is_named_and_fields_that_are_privatized_are_not(folder):
    record = {
        "id": 7,
        "customer": {"language": "Esperanto"},
        "user": [{"note": TEXT}],
        "email": None,
        "text": TEXT,
        "phone": "x",
    }
    Path("in.jsonl").write_text(json.dumps(record) + "\n")
    told = run("in.jsonl", "-c", "text", "-c", "user.note", "--drop", "phone").stderr
    assert "ids: 'id', 'email'. They pass unchanged" in told
    Path("empty.jsonl").write_text("")
    assert run("empty.jsonl", "-c", "text").stderr == ""


def test_each_of_several_files_is_named(folder):
    for name in ("a.csv", "b.csv"):
        Path(name).write_text(f"name,text\nx,{TEXT}\n")
    told = run("a.csv", "b.csv", "-o", "out").stderr
    assert [line.split(": ")[1] for line in told.splitlines()] == ["a.csv", "b.csv"]


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
