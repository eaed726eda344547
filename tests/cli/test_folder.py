"""Several inputs, or folders, become one new folder, whole or not at all."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from commands import run_command
from mondegreen.passes import from_json

CANARY = "Okonkwo"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*arguments, expect=0):
        return run_command("privatize", *arguments, "-e", "12", expect=expect)

    return call


@pytest.fixture
def texts(tmp_path):
    (tmp_path / "in" / "sub").mkdir(parents=True)
    (tmp_path / "in" / "a.txt").write_text(f"I met {CANARY}.\nHello.\n")
    (tmp_path / "in" / "sub" / "b.csv").write_text(f"n,text\n1,Call {CANARY} now\n")
    (tmp_path / "in" / "c.json").write_text(json.dumps([{"text": f"{CANARY} left"}]))
    pq.write_table(pa.table({"text": [CANARY]}), tmp_path / "in" / "d.parquet")
    (tmp_path / "in" / "notes.docx").write_text(CANARY)
    (tmp_path / "in" / ".hidden.txt").write_text(CANARY)
    return tmp_path / "in"


def names(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def test_a_folder_becomes_a_folder_with_one_report(run, texts, tmp_path):
    said = run("in", "-o", "out", "--report", "report.json").stderr
    out = tmp_path / "out"
    assert names(out) == ["a.txt", "c.json", "d.parquet", "sub/b.csv"]
    assert all(CANARY.encode() not in each.read_bytes() for each in out.rglob("*.*"))
    assert (out / "a.txt").read_text().startswith("I met ")
    assert "Skipped: 1 hidden, 1 of another format." in said
    assert "names of files and folders" in said
    assert "4 files, 5 rows" in said
    report = json.loads(Path("report.json").read_text())
    assert report["counts"] == {"rows": 5, "words": 10, "files": 4}
    assert report["input"]["format"] == "txt, json, parquet, csv"
    stated = {each["name"]: each["sha256"] for each in report["outputs"]}
    assert stated == {
        name: hashlib.sha256((out / name).read_bytes()).hexdigest()
        for name in names(out)
    }
    assert "names of files and folders" in report["guarantee"]["disclosed"]
    assert "docx" not in json.dumps(report)
    stated = pq.read_schema(out / "d.parquet").metadata[b"mondegreen"]
    assert len(from_json(stated)) == 1
    assert out.stat().st_mode & 0o777 == 0o777 & ~umask()


def umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_release_of_several_is_that_of_each(run, texts):
    run("in", "-o", "out", "--seed", "5", "-q")
    run("in/a.txt", "-o", "a.txt", "--seed", "5", "-q")
    assert Path("out/a.txt").read_bytes() == Path("a.txt").read_bytes()


def test_a_column_is_dropped_from_the_files_that_have_columns(run, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("id,text\n1,I met Ann\n")
    (tmp_path / "in" / "b.txt").write_text("I met Ann.\n")
    said = run("in", "-o", "out", "--drop", "id").stderr
    assert "b.txt: lines of text have no columns. --drop does not apply to it" in said
    assert Path("out/a.csv").read_text().startswith("text\nI met ")
    assert Path("out/b.txt").read_text().startswith("I met ")
    run("in/b.txt", "-o", "c.txt", "--drop", "id", expect=2)
    (tmp_path / "in" / "c.csv").write_text("text\nI met Ann\n")  # lacks it
    run("in", "-o", "again", "--drop", "id", expect=3)


def test_lines_of_text_need_no_column_beside_tables(run, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("review\nI met Ann\n")
    (tmp_path / "in" / "b.txt").write_text("I met Ann.\n")
    run("in", "-o", "out", "-c", "review")
    for path in ("out/a.csv", "out/b.txt"):
        assert "I met " in Path(path).read_text()
        assert "Ann" not in Path(path).read_text()


def test_files_and_folders_can_be_mixed(run, texts, tmp_path):
    run("in/a.txt", "in/sub", "-o", "out", "--jobs", "2")
    assert names(tmp_path / "out") == ["a.txt", "b.csv"]


@pytest.mark.parametrize(
    ("arguments", "code", "hint"),
    [
        (["in"], 2, "--output FOLDER"),
        (["in", "-", "-o", "out"], 2, "only INPUT"),
        (["in", "-o", "in/out"], 2, "is in the input folder"),
        (["in/a.txt", "in", "-o", "out"], 2, "Rename one"),
        (["in", "-o", "out", "--in-place"], 2, "single file"),
        (["in", "-o", "out", "--earlier", "r.json"], 2, "single file"),
        (
            ["in", "-o", "out", "--unique-ids", "--id", "id", "--key-file", "k"],
            2,
            "--unique-ids needs a single file as INPUT: ids in two files are not",
        ),
        (["in", "-o", "there"], 3, "already exists"),
        (["in", "-o", "there", "--force"], 3, "holds 1 file that this run does not"),
        (["in", "-o", "link", "--force"], 3, "is no folder"),
        (["in", "-o", "no/such"], 3, "create it first"),
        (["empty", "-o", "out"], 3, "no file here"),
        (["in", "absent.txt", "-o", "out"], 3, "No such file"),
        (["in", "-o", "out", "-c", "review"], 3, "column 'review' not found"),
        (["in", "-o", "out", "-c", "review"], 3, "need the column under one name"),
        (["in", "bad", "-o", "out"], 3, "row 2"),
        (["in", "-o", "out", "--report", "in/a.txt"], 2, "a separate file"),
    ],
)
def test_what_is_refused_leaves_nothing(run, texts, tmp_path, arguments, code, hint):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "thesis.txt").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "there")
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "z.jsonl").write_text('{"text": "a"}\n{"text": \n')
    (tmp_path / "r.json").write_text("{}")
    (tmp_path / "k").write_bytes(bytes(range(32)))
    (tmp_path / "k").chmod(0o600)
    before = names(tmp_path)
    said = run(*arguments, expect=code).stderr
    assert hint in said
    assert CANARY not in said
    assert names(tmp_path) == before
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob(".mondegreen-*"))
    assert (tmp_path / "there" / "thesis.txt").read_text() == "mine"


def test_force_replaces_an_earlier_release(run, texts, tmp_path):
    run("in", "-o", "out", "-q")
    run("in", "-o", "out", "-q", expect=3)
    (texts / "a.txt").write_text("Another text.\n")
    run("in", "-o", "out", "-q", "--force")
    assert len((tmp_path / "out" / "a.txt").read_text().split("\n")) == 2
    assert names(tmp_path / "out") == ["a.txt", "c.json", "d.parquet", "sub/b.csv"]
    assert not list(tmp_path.glob(".mondegreen-*"))


def test_a_failed_run_keeps_the_earlier_release(run, texts, tmp_path):
    run("in", "-o", "out", "-q", "--seed", "1")
    before = (tmp_path / "out" / "a.txt").read_bytes()
    (texts / "z.jsonl").write_text('{"text": "a"}\n{"text": \n')
    (tmp_path / "out" / "z.jsonl").write_text("{}")
    run("in", "-o", "out", "-q", "--force", expect=3)
    assert (tmp_path / "out" / "a.txt").read_bytes() == before


def test_links_and_pipes_in_a_folder_are_left_out_aloud(run, texts, tmp_path):
    (tmp_path / "diary.txt").write_text(f"{CANARY} at home\n")
    (texts / "link.txt").symlink_to(tmp_path / "diary.txt")
    (texts / "dangling.txt").symlink_to(tmp_path / "absent.txt")
    (texts / "round").symlink_to(texts)
    (texts / ".git").mkdir()
    os.mkfifo(texts / "pipe.txt")
    said = run("in", "-o", "out").stderr
    assert names(tmp_path / "out") == ["a.txt", "c.json", "d.parquet", "sub/b.csv"]
    assert "Skipped: 2 hidden, 3 a link, 1 of another format, 1 no file" in said
    run("in/link.txt", "in/a.txt", "-o", "named")
    assert names(tmp_path / "named") == ["a.txt", "link.txt"]


def test_a_keyed_release_in_a_folder_is_that_of_the_file_alone(run, tmp_path):
    (tmp_path / "in").mkdir()
    rows = [{"id": n, "text": f"I met {CANARY} in Oslo, room {n}."} for n in range(50)]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "in" / "a.jsonl").write_text(lines)
    (tmp_path / "in" / "lines.json").write_text(lines)
    (tmp_path / "in" / "array.json").write_text(json.dumps(rows))
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "in" / "b.parquet")
    book = openpyxl.Workbook()
    for row in (rows[0], *(row.values() for row in rows)):
        book.active.append(list(row))
    book.save(tmp_path / "in" / "c.xlsx")
    (tmp_path / "key").write_bytes(os.urandom(32))
    (tmp_path / "key").chmod(0o600)
    keyed = ("--id", "id", "--key-file", "key", "-q")
    run("in", "-o", "out", *keyed, "--jobs", "2")
    for name in names(tmp_path / "in"):
        run(f"in/{name}", "-o", name, *keyed)
    releases = [
        read(top / n)
        for top in (tmp_path, tmp_path / "out")
        for n in names(tmp_path / "in")
    ]
    assert len(releases) == 10
    assert all(each == releases[0] for each in releases)
    assert CANARY not in str(releases[0])


def read(path):
    """Read the rows of a release, whatever its format."""
    if path.suffix == ".parquet":  # the promise in its metadata speaks of a folder
        return pq.read_table(path).to_pylist()
    if path.suffix == ".xlsx":
        header, *rows = openpyxl.load_workbook(path).active.values
        return [dict(zip(header, row, strict=True)) for row in rows]
    data = path.read_text()
    return (
        json.loads(data)
        if data.startswith("[")
        else [*map(json.loads, data.splitlines())]
    )


def test_a_keyed_run_names_the_file_that_has_no_columns(run, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("id,text\n1,I met Ann\n")
    (tmp_path / "in" / "readme.txt").write_text(f"{CANARY}\n")
    (tmp_path / "k").write_bytes(bytes(range(32)))
    (tmp_path / "k").chmod(0o600)
    keyed = ["in", "-o", "out", "--key-file", "k", "--id", "id"]
    said = run(*keyed, expect=2).stderr
    assert "in/readme.txt: --id needs a format with columns" in said
    assert "privatize it by itself, without --id and without a key" in said
    assert CANARY not in said
    assert not (tmp_path / "out").exists()


@pytest.mark.slow("two processes")
def test_two_runs_into_one_folder_give_one_release(texts, tmp_path):
    command = [sys.executable, "-m", "mondegreen", "privatize", "in", "-o", "out"]
    children = [
        subprocess.Popen(
            [*command, "--epsilon", "12", "-q"], cwd=tmp_path, stderr=subprocess.PIPE
        )
        for _ in range(2)
    ]
    codes = sorted(child.wait(60) for child in children)
    for child in children:
        child.stderr.close()
    assert codes in ([0, 3], [0, 0])
    assert names(tmp_path / "out") == ["a.txt", "c.json", "d.parquet", "sub/b.csv"]
    assert not list(tmp_path.glob(".mondegreen-*"))


def test_what_a_killed_run_left_is_removed_by_the_next(run, texts, tmp_path):
    left = tmp_path / ".mondegreen-0123456789abcdef.tmp"
    (left / "sub").mkdir(parents=True)
    (left / "sub" / "a.txt").write_text("released")
    run("in", "-o", "out", "-q")
    assert not left.exists()


def test_a_report_that_cannot_be_written_keeps_the_folder_away(run, texts, tmp_path):
    run("in", "-o", "out", "--report", "absent/report.json", expect=3)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_an_interrupt_leaves_nothing(texts, tmp_path):
    for number in range(40):
        (texts / f"x{number}.txt").write_text("Hello Anna in Oslo.\n" * 20_000)
    arguments = ["privatize", "in", "-o", "out", "--epsilon", "12", "-q"]
    child = subprocess.Popen(
        [sys.executable, "-m", "mondegreen", *arguments],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
    )
    try:
        while not list(tmp_path.glob(".mondegreen-*/x0.txt")) and child.poll() is None:
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        assert child.wait(60) == 130
    finally:
        child.kill()
        child.wait()
        child.stderr.close()
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob(".mondegreen-*"))
