"""What is offered at the Tab key, and the lines that a shell loads for it."""

import gzip
import json
import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.shell_completion import ShellComplete, get_completion_class

from mondegreen.cli.main import cli

FOLDER = sysconfig.get_path("scripts")
PAGE = Path(__file__).parents[2] / "docs" / "guide" / "questions.md"
NAMES = ["id", "stars", "review"]


def offered(*words):
    """Return what is offered for the last word."""
    shell = ShellComplete(cli, {}, "mondegreen", "_MONDEGREEN_COMPLETE")
    items = shell.get_completions(list(words[:-1]), words[-1])
    return [item.value for item in items if item.type == "plain"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_verbs_options_and_choices_are_offered():
    assert offered("pr") == ["privatize", "proxy"]
    assert "build" in offered("space", "")
    assert offered("privatize", "--mech") == ["--mechanism"]
    assert offered("privatize", "--format", "p") == ["parquet"]


@pytest.mark.parametrize("verb", ["privatize", "explain", "audit", "calibrate"])
def test_mechanisms_are_offered_by_name_and_alias(verb):
    assert offered(verb, "-m", "ma") == ["madlib", "mahalanobis"]


@pytest.mark.parametrize("verb", ["privatize", "explain", "score", "calibrate"])
def test_spaces_are_offered_by_name(verb):
    assert offered(verb, "--space", "gl") == ["glove-840b-34k"]
    assert offered(verb, "--space", "./mine") == []  # the shell offers files


def write(path):
    """Write one record in the format that the name tells."""
    record = {"id": 1, "stars": 5, "review": "I met Ann in Oslo."}
    suffix = path.name.split(".", 1)[1]
    if suffix == "parquet":
        pq.write_table(pa.table({name: [record[name]] for name in NAMES}), path)
        return
    lines = {
        "csv": "id,stars,review\n1,5,I met Ann\n",
        "tsv": "id\tstars\treview\n1\t5\tI met Ann\n",
        "jsonl": json.dumps(record) + "\n",
    }
    data = lines[suffix.removesuffix(".gz")].encode()
    path.write_bytes(gzip.compress(data) if suffix.endswith(".gz") else data)


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.tsv", "a.jsonl", "a.parquet"])
def test_columns_are_those_of_the_file_on_the_line(folder, name):
    write(folder / name)
    for verb in ("privatize", "calibrate"):
        assert offered(verb, name, "-e", "10", "-c", "") == NAMES
    assert offered("privatize", name, "--id", "i") == ["id"]
    assert offered("privatize", name, "--column=re") == ["review"]
    assert offered("score", name, "other", "--column", "s") == ["stars"]


def test_the_format_that_is_given_counts(folder):
    write(folder / "a.jsonl")
    (folder / "a.jsonl").rename(folder / "a.log")
    assert offered("privatize", "a.log", "-c", "") == []
    assert offered("privatize", "a.log", "--format", "jsonl", "-c", "") == NAMES


def test_paths_within_records_are_offered(folder):
    record = {"id": 1, "messages": [{"body": "I met Ann", "tags": ["a"]}]}
    (folder / "a.jsonl").write_text(json.dumps(record))
    paths = ["id", "messages.body", "messages.tags"]
    assert offered("privatize", "a.jsonl", "-c", "") == paths
    pq.write_table(pa.Table.from_pylist([record]), folder / "a.parquet")
    assert offered("privatize", "a.parquet", "-c", "") == paths


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe\x00",
        b"{",
        b"17,I met Ann\n",  # a number is no name
        b"Ann,Ann\n",
        b"I met Ann,in Oslo\n",
        b"$(touch owned),`id`,a;b,\x1b[31m\n",  # would be run, or shown, by the shell
        b"id," + b"x" * 70_000,
    ],
)
@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "csv.gz"])
def test_a_file_that_names_no_columns_offers_nothing(folder, data, suffix):
    (folder / f"a.{suffix}").write_bytes(data)
    assert offered("privatize", f"a.{suffix}", "-c", "") == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_what_is_no_file_is_not_opened(folder):
    os.mkfifo("a.csv")
    for path in ("a.csv", "-", "absent.csv", "."):
        assert offered("privatize", path, "-c", "") == []


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_the_line_of_the_page_works_in_bash(folder):
    write(folder / "a.csv")
    script = """
    eval "$(_MONDEGREEN_COMPLETE=bash_source mondegreen)"
    complete -p mondegreen
    COMP_WORDS=(mondegreen privatize a.csv -c re) COMP_CWORD=4
    _mondegreen_completion mondegreen 2>/dev/null
    echo "${COMPREPLY[@]}"
    """
    path = f"{FOLDER}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", script],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines()[-1] == "review", done.stderr
    assert script.splitlines()[1].strip() in PAGE.read_text("utf-8")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_of_the_page_has_its_script(shell):
    asked = f"_MONDEGREEN_COMPLETE={shell}_source mondegreen"
    assert asked in PAGE.read_text("utf-8")
    assert get_completion_class(shell)(cli, {}, "mondegreen", "X").source()
