"""``mondegreen score``: every format, what is checked, and what is refused."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import mondegreen as mg
from commands import run_command
from mondegreen.cli.main import cli
from mondegreen.space.store import save_space

WORDS = ["cold", "cool", "warm", "hot", "rain"]
CANARY = "zyxwoldemorth"
TEXTS = ["Cold, warm rain.", "hot hot hot", "cool"]
SAFE = ["cold, hot rain.", "hot warm hot", "rain"]


@pytest.fixture
def run(tmp_path, monkeypatch):
    points = np.array([[0.0, 1.0], [1.0, 1.0], [3.0, 0.0], [4.0, 0.0], [0.0, 5.0]])
    path = tmp_path / "plane.safetensors"
    save_space(mg.Space.from_arrays("plane", WORDS, points), path)
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments, expect=0):
        command = ["score", *map(str, arguments), "--space", str(path)]
        return run_command(*command, expect=expect, secret=CANARY)

    return invoke


def write(path, texts):
    suffix = path.suffix
    if suffix == ".parquet":
        pq.write_table(pa.table({"id": range(len(texts)), "text": texts}), path)
    elif suffix == ".jsonl":
        rows = [json.dumps({"text": text}, ensure_ascii=False) for text in texts]
        path.write_text("\n".join(rows) + "\n")
    elif suffix == ".txt":
        path.write_text("\n".join(texts) + "\n")
    else:
        mark = "," if suffix == ".csv" else "\t"
        rows = [f'{i}{mark}"{text}"' for i, text in enumerate(texts)]
        path.write_text("\n".join([f"id{mark}text", *rows]) + "\n")


@pytest.mark.parametrize("suffix", ["txt", "csv", "tsv", "jsonl", "parquet"])
def test_every_format_gives_the_same_scores(run, tmp_path, suffix):
    write(tmp_path / f"a.{suffix}", TEXTS)
    write(tmp_path / f"b.{suffix}", SAFE)
    found = json.loads(run(f"a.{suffix}", f"b.{suffix}", "--json").stdout)
    assert (found["rows"], found["words"], found["changed"]) == (3, 7, 3)
    assert found["pp"] == pytest.approx(100 * 3 / 7)
    assert found["private"] is False
    assert [check["result"] for check in found["checks"]] == ["ok"] * 3


def test_the_table_says_that_it_is_not_private(run, tmp_path):
    write(tmp_path / "a.txt", TEXTS)
    write(tmp_path / "b.txt", SAFE)
    shown = run("a.txt", "b.txt").stdout
    assert shown.startswith("These numbers are computed from the private text.")
    assert "NOT PRIVATE" in shown
    assert "42.9 %" in shown
    assert "cannot show its epsilon" in shown


def test_a_release_of_privatize_passes_its_checks(run, tmp_path):
    write(tmp_path / "a.parquet", [*TEXTS, f"{CANARY} rain"])
    space = str(tmp_path / "plane.safetensors")
    options = [
        "--epsilon",
        "2",
        "--policy",
        "all",
        "--space",
        space,
        "-o",
        "b.parquet",
        "-q",
    ]
    done = CliRunner().invoke(cli, ["privatize", "a.parquet", *options])
    assert done.exit_code == 0, done.output
    found = json.loads(run("a.parquet", "b.parquet", "--json").stdout)
    assert [check["result"] for check in found["checks"]] == ["ok"] * 5
    assert found["unknown"] == 1
    shown = run("a.parquet", "b.parquet").stdout
    assert "this is the space of column text: tree (epsilon 2)" in shown


def test_words_that_pass_in_clear_are_found(run, tmp_path):
    write(tmp_path / "a.txt", [f"cold {CANARY}"])
    write(tmp_path / "b.txt", [f"warm {CANARY}"])
    found = json.loads(run("a.txt", "b.txt", "--json").stdout)
    assert [check["result"] for check in found["checks"]] == ["ok", "NOT", "NOT"]
    assert (
        "1 word outside the vocabulary released unchanged"
        in found["checks"][2]["check"]
    )


def test_texts_of_another_length_are_counted(run, tmp_path):
    write(tmp_path / "a.txt", ["cold warm", "hot"])
    write(tmp_path / "b.txt", ["cold", "hot"])
    found = json.loads(run("a.txt", "b.txt", "--json").stdout)
    assert (found["unaligned"], found["paired"]) == (1, 1)
    assert found["checks"][0]["result"] == "NOT"


def test_files_of_different_length_are_refused(run, tmp_path):
    write(tmp_path / "a.txt", [CANARY, CANARY])
    write(tmp_path / "b.txt", [CANARY])
    assert "ends after 1 row;" in run("a.txt", "b.txt", expect=3).stderr


def test_one_file_twice_is_refused(run, tmp_path):
    write(tmp_path / "a.txt", TEXTS)
    run("a.txt", "a.txt", expect=2)


def test_a_missing_column_is_an_error_of_the_data(run, tmp_path):
    write(tmp_path / "a.csv", TEXTS)
    write(tmp_path / "b.csv", SAFE)
    assert (
        "column 'body' not found"
        in run("a.csv", "b.csv", "-c", "body", expect=3).stderr
    )


def test_english_words_and_a_sentence_model_are_the_users(run, tmp_path):
    write(tmp_path / "a.txt", TEXTS)
    write(tmp_path / "b.txt", SAFE)
    (tmp_path / "words.txt").write_text("hot\nrain\n")
    (tmp_path / "my_model.py").write_text(
        "def encode(texts):\n"
        "    return [[t.lower().count(c) for c in 'abcdeh'] for t in texts]\n"
    )
    options = ["--english", "words.txt", "--sentence-model", "my_model:encode"]
    found = json.loads(run("a.txt", "b.txt", *options, "--json").stdout)
    assert found["english_original"] == pytest.approx(100 * 4 / 7)
    assert 0 < found["cs"] < 100
    shown = run("a.txt", "b.txt", *options).stdout
    assert "sentence cosine (CS)" in shown
    assert "English words" in shown


@pytest.mark.parametrize("name", ["nothing", "no_such_module:encode", "json:nothing"])
def test_a_sentence_model_that_is_none_is_a_usage_error(run, tmp_path, name):
    write(tmp_path / "a.txt", TEXTS)
    write(tmp_path / "b.txt", SAFE)
    run("a.txt", "b.txt", "--sentence-model", name, expect=2)


def test_an_empty_pair_has_no_scores(run, tmp_path):
    (tmp_path / "a.txt").write_text("")
    (tmp_path / "b.txt").write_text("")
    assert "-" in run("a.txt", "b.txt").stdout


def test_short_names_are_written_out(run, tmp_path):
    write(tmp_path / "a.txt", TEXTS)
    write(tmp_path / "b.txt", SAFE)
    said = run("a.txt", "b.txt").stdout
    for name in ("PP: share", "LOW: share", " not released"):
        assert name in said
