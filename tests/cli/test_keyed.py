"""Keyed noise on the command line: where the key is, and what names a record."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import mondegreen as mg
from commands import run_command
from mondegreen.cli.main import cli
from mondegreen.privatizer.parallel import privatize_batches
from mondegreen.processes import SPAWN
from mondegreen.sampling.noise import KeyedNoise
from mondegreen.space.store import save_space

WORDS = [f"{a}{b}{c}" for a in "bdfgk" for b in "aeiou" for c in "dgkm"]
CANARY = "zyxwoldemorth"
HEX = "00112233445566778899aabbccddeeff" * 2
LONG = " ".join(WORDS)


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    vectors = np.random.default_rng(0).normal(size=(len(WORDS), 8))
    space = tmp_path / "small.safetensors"
    save_space(mg.Space.from_arrays("small", WORDS, vectors), space)
    Path("in.csv").write_text(f"id,text\na,{LONG}\nb,{LONG}\n")
    Path("key").write_bytes(bytes.fromhex(HEX))
    Path("key").chmod(0o600)
    monkeypatch.setenv("RELEASE_KEY", HEX)

    def invoke(*args, expect=0):
        arguments = ["privatize", *args, "-m", "tem", "-e", "0.1", "-q"]
        done = run_command(*arguments, "--space", space, expect=expect)
        for secret in (CANARY, HEX, bytes.fromhex(HEX).hex()[:16]):
            assert secret not in done.stderr
        return done.stdout if expect == 0 else done.stderr

    return invoke


KEYED = ["--key-file", "key", "--id", "id"]


def test_a_key_is_the_same_in_a_file_and_in_the_environment(run, monkeypatch):
    # A server of forks that an earlier test began has the environment of then.
    monkeypatch.setattr("mondegreen.processes.warm_up", lambda: SPAWN)
    one = run("in.csv", *KEYED)
    assert run("in.csv", "--key-env", "RELEASE_KEY", "--id", "id") == one
    assert run("in.csv", "--key-env", "RELEASE_KEY", "--id", "id", "-j", "2") == one


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        (["--key-env", "RELEASE_KEY"], "A key needs --id NAME"),
        (["--id", "id"], "Add --key-file FILE. To make one: (umask 077; head -c 32"),
        (
            ["--key-env", "RELEASE_KEY", "--id", "id", "--seed", "1"],
            "cannot be combined",
        ),
        (["--key-env", "RELEASE_KEY", *KEYED], "cannot be combined"),
        (["--key-env", "ABSENT_KEY", "--id", "id"], "ABSENT_KEY is not set"),
        (["--key-env", HEX, "--id", "id"], "environment variable"),
        (["--key-env", "PATH", "--id", "id"], "PATH is no key"),
        (["--unique-ids"], "--key-file and --id"),
        (["--unique-ids", "--seed", "1"], "--key-file and --id"),
        (["--as", "text=body"], "--key-file and --id"),
        ([*KEYED, "--as", "body=text"], "one of --column"),
        ([*KEYED, "--as", "text="], "one of --column"),
        ([*KEYED, "--as", "text"], "one of --column"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_makes_no_sense_is_refused_before_anything_is_written(run, args, hint):
    assert hint in run("in.csv", "-o", "out.csv", *args, expect=2)
    assert not Path("out.csv").exists()
    assert os.environ["PATH"] not in run("in.csv", *args, expect=2)


def test_a_renamed_column_repeats_its_release(run):
    Path("new.csv").write_text(f"id,a=b\na,{LONG}\nb,{LONG}\n")
    one = run("in.csv", *KEYED).splitlines()[1:]
    assert run("new.csv", "-c", "a=b", *KEYED).splitlines()[1:] != one
    two = run("new.csv", "-c", "a=b", *KEYED, "--as", "a=b=text").splitlines()
    assert two == ["id,a=b", *one]


def test_two_columns_of_equal_text_differ_and_may_not_share_a_name(run):
    Path("two.csv").write_text(f"id,a,b\n1,{LONG},{LONG}\n")
    options = ["two.csv", "-c", "a", "-c", "b", *KEYED]
    _, first, second = run(*options).splitlines()[1].split(",")
    assert first != second
    named = "different logical names"
    assert named in run(*options, "--as", "a=x", "--as", "b=x", expect=2)
    assert named in run(*options, "--as", "a=b", expect=2)


@pytest.mark.slow("5,000 records")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_id_that_occurs_twice_is_refused_wherever_it_stands(run, jobs):
    rows = [f"r{i},{CANARY}\n" for i in range(5000)]
    Path("many.csv").write_text("id,text\n" + "".join([*rows, rows[7]]))
    options = ["many.csv", "-o", "out.csv", *KEYED, "-j", jobs]
    found = run(*options, "--unique-ids", expect=3)
    assert "record 5001 has the id of an earlier record" in found
    assert not Path("out.csv").exists()
    run(*options)
    lines = Path("out.csv").read_text().splitlines()
    assert lines[-1] == lines[8]


def test_an_integer_is_one_id_in_every_format(run):
    Path("n.csv").write_text(f"id,text\n7,{LONG}\n")
    Path("n.jsonl").write_text(f'{{"id":7,"text":"{LONG}"}}\n')
    Path("s.jsonl").write_text(f'{{"id":"7","text":"{LONG}"}}\n')
    expected = mg.privatize(
        LONG,
        epsilon=0.1,
        mechanism="tem",
        space=Path("small.safetensors"),
        ids=7,
        noise=mg.KeyedNoise(bytes.fromhex(HEX)),
    )
    for name in ("n.csv", "n.jsonl", "s.jsonl"):
        assert expected in run(name, *KEYED)
    for bad in ("7.0", "7e0", "true", "null"):
        Path("bad.jsonl").write_text(f'{{"id":{bad},"text":"{CANARY}"}}\n')
        assert "a string or an integer" in run("bad.jsonl", *KEYED, expect=3)


def test_a_worker_without_the_variable_ends_the_run_and_says_why(monkeypatch):
    monkeypatch.setenv("RELEASE_KEY", HEX)
    space = mg.Space.from_arrays("small", WORDS, np.eye(len(WORDS)))
    noise = KeyedNoise.from_env("RELEASE_KEY")
    made = mg.Privatizer(mg.mechanism("tem", epsilon=0.1), space, noise=noise)
    monkeypatch.delenv("RELEASE_KEY")
    batches = [pa.record_batch({"id": ["a"], "text": [CANARY]})] * 3
    with pytest.raises(mg.errors.ConfigurationError, match="RELEASE_KEY is not set"):
        list(privatize_batches(made, batches, ["text"], id_column="id", jobs=2))


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
def test_an_empty_id_names_no_record_in_any_format(run, format):
    ids, texts = ["a", "", "c"], [CANARY] * 3
    table = pa.table({"id": ids, "text": texts})
    lines = (json.dumps(row) + "\n" for row in table.to_pylist())
    given = {
        "csv": "id,text\n" + "".join(f'"{id}",{CANARY}\n' for id in ids),
        "jsonl": "".join(lines),
    }
    if format == "parquet":
        pq.write_table(table, "empty.parquet")
    else:
        Path(f"empty.{format}").write_text(given[format])
    command = [f"empty.{format}", "-o", "out", "--format", format, *KEYED]
    done = CliRunner().invoke(cli, ["privatize", *command, "-e", "2", "-q"])
    assert done.exit_code == 3
    assert "row 2: no value" in done.stderr
    assert CANARY not in done.stderr
    assert not Path("out").exists()


def test_a_report_tells_keys_apart_and_shows_none(run):
    """After a leak: which releases are of this key."""
    Path("other").write_bytes(bytes(range(32)))
    Path("other").chmod(0o600)
    given = "in.csv", "-o", "out.csv", "--force", "--report", "r.json"
    found = []
    for key in ("key", "key", "other"):
        run(*given, "--key-file", key, "--id", "id")
        found.append(json.loads(Path("r.json").read_bytes())["key_id"])
        assert HEX[:16] not in Path("r.json").read_text()
    assert found[0] == found[1] != found[2]
    run(*given)
    assert "key_id" not in json.loads(Path("r.json").read_bytes())
