"""Several inputs, or folders, become one new folder, whole or not at all."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from mondegreen.cli.main import cli
from mondegreen.passes import from_json

CANARY = "Okonkwo"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*arguments, expect=0):
        done = CliRunner().invoke(cli, ["privatize", *arguments, "--epsilon", "12"])
        assert done.exit_code == expect, done.stderr
        return done

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
    assert "Left out: 1 file" in said
    assert "names of files and folders" in said
    assert "4 files, 5 rows" in said
    report = json.loads(Path("report.json").read_text())
    assert report["counts"] == {"rows": 5, "words": 10, "files": 4}
    assert report["input"]["format"] == "txt, json, parquet, csv"
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


def test_files_and_folders_can_be_mixed(run, texts, tmp_path):
    run("in/a.txt", "in/sub", "-o", "out", "--jobs", "2")
    assert names(tmp_path / "out") == ["a.txt", "b.csv"]


@pytest.mark.parametrize(
    ("arguments", "code", "hint"),
    [
        (["in"], 2, "--output FOLDER"),
        (["in", "-", "-o", "out"], 2, "only INPUT"),
        (["in", "-o", "in/out"], 2, "which is read"),
        (["in/a.txt", "in", "-o", "out"], 2, "Rename one"),
        (["in", "-o", "out", "--in-place"], 2, "single file"),
        (["in", "-o", "out", "--earlier", "r.json"], 2, "single file"),
        (["in", "-o", "there"], 3, "exists already"),
        (["in", "-o", "there", "--force"], 3, "exists already"),
        (["in", "-o", "no/such"], 3, "create it first"),
        (["empty", "-o", "out"], 3, "no file here"),
        (["in", "absent.txt", "-o", "out"], 3, "No such file"),
        (["in", "-o", "out", "-c", "review"], 3, "column 'review' not found"),
        (["in", "bad", "-o", "out"], 3, "row 2"),
        (["in", "-o", "out", "--report", "in/a.txt"], 2, "a file of its own"),
    ],
)
def test_what_is_refused_leaves_nothing(run, texts, tmp_path, arguments, code, hint):
    (tmp_path / "there").mkdir()
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "z.jsonl").write_text('{"text": "a"}\n{"text": \n')
    (tmp_path / "r.json").write_text("{}")
    before = names(tmp_path)
    said = run(*arguments, expect=code).stderr
    assert hint in said
    assert CANARY not in said
    assert names(tmp_path) == before
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob(".out.*"))


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
        while not list(tmp_path.glob(".out.*/x0.txt")) and child.poll() is None:
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        assert child.wait(60) == 130
    finally:
        child.kill()
        child.wait()
        child.stderr.close()
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob(".out.*"))
