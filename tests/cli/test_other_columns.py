"""The warning of columns that are copied unchanged and look personal."""

import csv
import json
import re
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from commands import run_command
from mondegreen.cli.main import cli

TEXT = "The room was loud."


def run(path, *more, expect=0):
    given = "privatize", path, "--epsilon", "12", "--quiet", *more
    return run_command(*given, expect=expect)


def write(columns):
    rows = zip(*columns.values(), strict=True)
    with Path("in.csv").open("w", newline="") as file:
        csv.writer(file).writerows([list(columns), *rows])
    return "in.csv"


@pytest.mark.parametrize(
    "name",
    [
        *("name", "E-Mail", "customerId", "user_name", "PatientID", "id", "First Name"),
        *("card_number", "pan", "iban", "ssn", "ip", "ipAddress", "postcode", "zip"),
        *("plate", "gps", "lat", "lon", "Longitude", "credit card number", "city"),
        *("vorname", "Nachname", "adresse", "ort", "Straße", "PLZ", "prénom", "città"),
        *("apellidos", "kunde", "kennzeichen"),
    ],
)
def test_a_column_is_told_by_its_name(folder, name):
    done = run(write({name: ["x"], "text": [TEXT]}))
    assert (
        f"are copied unchanged: {name!r}. Remove them with --drop NAME." in done.stderr
    )


def test_what_formulas_of_a_sheet_quote_is_looked_at(folder):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["text", "link", "level"])
    for row, name in enumerate(["Anna Becker", "Bob Miller", "Eve Stone"], start=2):
        link = f'=HYPERLINK("mailto:{name.split()[0]}@x.example","{name}")'
        book.active.append([TEXT, link, f'=IF(A{row}="","low","high")'])
    book.save("in.xlsx")
    done = run("in.xlsx", "-o", "out.xlsx", "-c", "text")
    assert "columns that look like text are copied unchanged: 'link'." in done.stderr
    assert "'level'" not in done.stderr.partition("link'.")[0]


@pytest.mark.parametrize(
    "values",
    [
        ["ann@example.org", "x.y@mail.example.com", ""],
        ["Ann Zyxwold", "Bob C. Zyxwold", "none"],
        ["6f1c1a34-9f0e-4f0b-8a53-0d6a5f2f9d11"] * 3,
        ["AB-1234567", "AB-1234568", "AB-1234569"],
        ["2024-05-01", "2024-05-02T10:30:00", ""],
        ["1/5/2024", "12/5/24", "3/5/2024"],
        ["+49 30 123456", "030/123 456-7", "(089) 12345"],
        ["555-010-2211", "(555) 010-2211", "555.010.2211"],
        ["Ann", "Bob", "Will", "Zoe", "Ann", "Max"],
        ["A. Zyxwold", "B.C. Zyxwold", "Zyxwold D."],
        ["DE89370400440532013000", "GB29 NWBK 6016 1331 9268 19", "", "none"],
        ["DE89 3704 0044 0532 1000 00", "DE89 3704 0044 0532 1001 00"],
        ["4111111111111111", "5500 0000 0000 0004", "340000000000009"],
        ["4111-1111-1111-1234", "4111-1111-1111-1235"],
        ["123-45-6789", "219-09-9999"],
        ["84.17.0.1", "84.17.250.3", "2001:db8::1"],
        ["52.52001,13.40495", "52.1234, -13.5678"],
        ["123456", "123457", "223456"],
        ["@ann_zyx", "@bob77", "none"],
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl", ".json"])
def test_a_column_is_told_by_its_values_which_are_not_shown(folder, values, suffix):
    stars, texts = ["5"] * len(values), [TEXT] * len(values)
    path = write({"field": values, "stars": stars, "text": texts})
    more = []
    if suffix == ".parquet":
        path, more = "in.parquet", ["-o", "out.parquet"]
        pq.write_table(pa.table({"field": values, "text": texts}), path)
    if suffix.startswith(".json"):
        rows = [{"field": value, "text": TEXT, "n": 10**5000} for value in values]
        ends = ("[ ", ",\n", " ]") if suffix == ".json" else ("", "\n", "\n")
        sys.set_int_max_str_digits(0)
        between = ends[1].join(map(json.dumps, rows))
        sys.set_int_max_str_digits(4300)
        path = f"in{suffix}"
        Path(path).write_text(ends[0] + between + ends[2])
    told = run(path, *more).stderr
    assert f"Warning: {path}: columns that look like names" in told
    assert "are copied unchanged: 'field'. Remove them with --drop NAME." in told
    assert "--column" not in told
    assert not any(value and value in told for value in values)
    assert "stars" not in told


@pytest.mark.parametrize(
    "columns",
    [
        {"stars": ["5", "4"], "year": ["2024", "2025"]},
        {"topic": ["food", "delivery", "x"], "score": ["0.25", "1", ""]},
        {"status": ["Open", "Closed"] * 3, "of": ["it is a label"] * 6},
        {"identity": ["", ""], "width": ["120", "7"]},
        {"share": ["0.1234567", "0.5"], "code": ["01234", "10115"]},
        {"version": ["1.2.3", "1.2.4"], "at": ["12:30", "17:05:09"]},
        {"hexadecimal": ["ab12cd34", "00ff00ff"], "ean": ["x12345", "y12345"]},
    ],
)
def test_harmless_columns_are_not_named(folder, columns):
    rows = len(next(iter(columns.values())))
    assert run(write({**columns, "text": [TEXT] * rows})).stderr == ""


NUMBERS = {
    "row": range(1, 201),
    "price": [round(3.99 + 7.5 * i, 2) for i in range(200)],
    "cents": [399 + 750 * i for i in range(200)],
    "rating": [1 + i % 5 for i in range(200)],
    "weight": [0.1234567 * i for i in range(200)],
    "bytes": [3 ** (i % 30) + i for i in range(200)],
    "constant": [1234567] * 200,
    "whole": [float(i) for i in range(200)],
    "year": [1950 + i % 70 for i in range(200)],
    "flag": [i % 2 == 0 for i in range(200)],
}


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_plain_numbers_are_not_named_in_any_format(folder, suffix):
    assert tell_numbers(NUMBERS, suffix) == ""


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_long_numbers_are_named_in_every_format(folder, suffix):
    """Whether a format has them as text or as integers, or as bytes."""
    cards = [4111111111111111, 5500000000000004] * 100
    columns = {
        "one": [17612340000 + 777 * i for i in range(200)],
        "two": [100000 + 7 * i for i in range(200)],
        "three": cards,
        "four": [20240100 + i for i in range(200)],
    }
    told = tell_numbers({**NUMBERS, **columns}, suffix)
    assert "are copied unchanged: 'one', 'two', 'three', 'four'." in told
    if suffix == ".parquet":
        both = {"mail": [b"ann@x.example"], "raw": [b"\xff\x00"], "text": [TEXT]}
        both["field"] = both.pop("mail")
        pq.write_table(pa.table(both), "b.parquet")
        told = run("b.parquet", "-c", "text", "-o", "c.parquet").stderr
        assert "are copied unchanged: 'field'." in told


def tell_numbers(columns, suffix):
    columns = {**columns, "text": [TEXT] * 200}
    path, more = write(columns), []
    if suffix == ".parquet":
        path, more = "in.parquet", ["-c", "text", "-o", "out.parquet"]
        pq.write_table(pa.table({k: list(v) for k, v in columns.items()}), path)
    if suffix == ".jsonl":
        rows = zip(*columns.values(), strict=True)
        path = "in.jsonl"
        lines = (json.dumps(dict(zip(columns, row, strict=True))) for row in rows)
        Path(path).write_text("\n".join(lines))
    return run(path, *more, "--force").stderr


def test_a_forgotten_text_is_named(folder):
    """It is not said to be a name, even if its column speaks of a person."""
    columns = {"patient": ["He came from Mumbai", "She was there"], "n": ["1", "2"]}
    told = run(write({**columns, "text": [TEXT] * 2})).stderr
    assert told == (
        "Warning: in.csv: columns that look like text are copied unchanged: 'patient'. "
        "Add --column NAME, or --drop NAME.\n"
    )


def test_lines_of_names_have_no_column_to_drop(folder):
    (folder / "names.txt").write_text("Will Hope\nArt Field\n")
    told = run("names.txt").stderr
    assert "names.txt: its lines look like names" in told
    assert "--drop" not in told


@pytest.mark.parametrize(
    ("cells", "is_named"),
    [(["Will Hope", "Art Field"], True), (["Will was here", "He left"], False)],
)
def test_a_column_of_names_is_no_text(folder, cells, is_named):
    """In a cell of its own, a name that is a word is the first word of a sentence."""
    path = write({"agent": cells, "text": [TEXT] * 2})
    told = run(path, "-c", "text", "-c", "agent").stderr
    assert ("columns of --column look like names: 'agent'" in told) == is_named


def test_dates_of_arrow_are_named(folder):
    days = pa.array([0, 1], pa.timestamp("s"))
    pq.write_table(pa.table({"day": days, "text": [TEXT] * 2}), "in.parquet")
    told = run("in.parquet", "-c", "text", "-o", "out.parquet").stderr
    assert "or dates are copied unchanged: 'day'" in told


@pytest.mark.parametrize(
    "key", ["ann@mail.example.org", "Ann Zyxwold", "DE89370400440532013000"]
)
def test_names_of_fields_that_are_values_are_warned_of_and_not_shown(folder, key):
    rows = [{"text": TEXT, "visits": {"n": i}, "Order Date": "x"} for i in range(4)]
    rows[1]["visits"][key] = 3
    Path("in.jsonl").write_text("\n".join(map(json.dumps, rows)))
    told = run("in.jsonl", "-c", "text").stderr
    where = "*" if "@" in key else "visits"
    assert f"are copied unchanged: {where!r}." in told
    assert key not in told
    assert "Order" not in told
    Path("in.jsonl").write_text(json.dumps({"text": TEXT, "a": {"Order Date": 1}}))
    assert run("in.jsonl", "-c", "text").stderr == ""


def test_the_last_line_names_all_columns_that_pass(folder):
    def last_line(path, *more):
        done = run_command("privatize", path, "--epsilon", "12", "-o", "x", *more)
        Path("x").unlink()
        return done.stderr.splitlines()[-1]

    path = write({"id": ["1"], "topic": ["a"], "text": [TEXT], "n": ["2"]})
    more = "--column", "text", "--format", "csv"
    assert last_line(path, *more) == "Unchanged columns: id, topic, n"
    assert last_line(path, *more, "--drop", "id") == "Unchanged columns: topic, n"
    Path("text.txt").write_text(TEXT)
    assert "Unchanged" not in last_line("text.txt")
    # A key that the first records lack is named, too.
    rows = [{"text": TEXT, "a": {"b": 1}}] * 3000
    rows += [{"text": TEXT, "a": {"c": [{"d": 1}]}}]
    lines = "\n".join(map(json.dumps, rows))
    Path("in.jsonl").write_text(lines)
    more = "-c", "text", "--report", "report.json"
    assert last_line("in.jsonl", *more) == "Unchanged columns: a.b, a.c.d"
    stated = json.loads(Path("report.json").read_text())["input"]
    assert (stated["unchanged"], stated["dropped"]) == (["a.b", "a.c.d"], [])
    pq.write_table(pa.Table.from_pylist(rows[-1:]), "in.parquet")
    more = "-c", "text", "--drop", "n", "--format", "parquet"
    assert last_line("in.parquet", *more[:2]) == "Unchanged columns: a.c.d"
    Path("in.json").write_text(json.dumps([{"text": TEXT, "x": [1], "y": None}]))
    assert last_line("in.json") == "Unchanged columns: x, y"
    many = {f"c{i}": ["1"] for i in range(25)}
    listed = last_line(write({**many, "text": [TEXT]}), "-c", "text")
    assert listed.endswith("c18, c19, and 5 more")


def test_ids_that_repeat_are_counted(folder):
    key = Path("key")
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)
    more = "--column", "text", "--key-file", "key", "--id", "topic", "--drop", "topic"
    told = run(write({"topic": ["a", "b", "a"], "text": [TEXT] * 3}), *more).stderr
    assert told == (
        "Warning: in.csv: ids repeat: 'topic' has 2 values in the first 3 "
        "rows. Equal texts with one id get the same release. If one id is one person, "
        "ignore this. Otherwise, use a column with a different value in each row.\n"
    )
    assert run(write({"topic": ["a", "b"], "text": [TEXT] * 2}), *more).stderr == ""
    ledger = "--ledger", "ledger", "--ledger-key-file", "key"
    path = write({"topic": ["a", "b", "a"], "text": [TEXT] * 3})
    told = run(path, *more[:2], *more[4:], *ledger).stderr
    assert "The ledger counts all rows with one id as one record. If one id" in told
    assert "same release" not in told


def test_columns_that_are_privatized_are_not_named_and_the_id_is(folder):
    path = write({"id": ["1"], "name": ["Ann Miller"], "text": [TEXT]})
    key = Path("key")
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)
    more = ["--column", "text", "--column", "name", "--id", "id", "--key-file", "key"]
    told = run(path, *more).stderr
    assert "the column of --id, 'id', is released as it is" in told
    assert "leave it out with --drop id." in told
    assert "are copied unchanged" not in told
    told = run(path, *more, "--drop", "id").stderr
    assert told.count("\n") == 1
    assert "columns of --column look like names: 'name'" in told


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
    assert "are copied unchanged: 'extra.agent', 'extra.mail.to'. Remove them" in told
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
    assert "are copied unchanged: 'id', 'email'. Remove them" in told
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
    assert "are copied unchanged: 'name'. Remove them" in done.stderr
    assert not Path("out.csv").exists()


def test_no_row_is_lost_behind_the_first_look(folder):
    columns = {"name": ["x"] * 5000, "text": [TEXT] * 5000}
    assert run(write(columns)).stdout.count("\n") == 5001
    assert run(write({"name": [], "text": []})).stdout.strip() == "name,text"


def test_a_workbook_says_what_it_shows(folder):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "Notes"
    for row in (["day", "text"], ["2024-05-01", TEXT]):
        book.active.append(row)
    book.save("in.xlsx")
    more = "-c", "text", "-o", "out.xlsx", "--report", "r.json"
    told = run_command("privatize", "in.xlsx", "--epsilon", "12", *more).stderr
    assert told.splitlines()[-1] == "Unchanged columns: day"
    assert re.search(r"^Disclosed: .*name of the sheet", told, re.M)
    assert "records_without_a_column" not in json.loads(Path("r.json").read_text())
    told = run("in.xlsx", "-c", "note", "-o", "new.xlsx", expect=3).stderr
    assert "column 'note' not found" in told


def test_a_column_of_spans_that_passes_is_warned_of(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("in.jsonl").write_text('{"text": "I met Anna", "spans": [[6, 10]]}\n')
    given = ["privatize", "in.jsonl", "--column", "text", "--epsilon", "12"]
    warned = run_command(*given, "-o", "a.jsonl").stderr
    assert "the column 'spans' passes unchanged" in warned
    for more in (["--spans", "spans"], ["--drop", "spans"]):
        told = run_command(*given, "-o", "b.jsonl", "--force", *more).stderr
        assert "passes unchanged" not in told


@pytest.mark.parametrize("header", ["note,a,a", "note,,", "note,name,name"])
def test_columns_of_one_name_pass_unchanged(tmp_path, monkeypatch, header):
    monkeypatch.chdir(tmp_path)
    text = "I met Anna in Oslo"
    Path("in.csv").write_text(f"{header}\n{text},x,{text}\n")
    given = ["privatize", "in.csv", "--column", "note", "--epsilon", "12"]
    told = run_command(*given, "-o", "out.csv").stderr
    assert Path("out.csv").read_text().endswith(f",x,{text}\n")
    assert ("names, addresses" in told) == ("name" in header)
    limit = "--fail-above", "other_columns=0"
    done = run_command("attack", "in.csv", "out.csv", "-c", "note", *limit, expect=4)
    assert "other_columns is 1" in done.stderr
