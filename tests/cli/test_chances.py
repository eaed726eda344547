"""``mondegreen chances``: both bounds hold, and the file is what privatize reads."""

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import mondegreen as mg
from mondegreen.calibration.guess import success_of
from mondegreen.cli.main import cli
from mondegreen.space.store import load_space, save_space

WORDS = [f"{a}{b}{c}" for a in "bdfgk" for b in "aeiou" for c in "dgkm"]
SECRET = "zyxwoldemorth"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    vectors = np.random.default_rng(0).normal(size=(len(WORDS), 3))
    save_space(
        mg.Space.from_arrays("small", WORDS, vectors), tmp_path / "s.safetensors"
    )
    shares = 1 / np.arange(1, len(WORDS) + 1)
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice(WORDS, 9, p=shares / shares.sum())) for _ in range(80)]
    texts[7] += f" {SECRET}"
    (tmp_path / "public.txt").write_text("\n".join(texts) + "\n")

    def invoke(*arguments, expect=0):
        done = CliRunner().invoke(cli, [*arguments, "--space", "s.safetensors"])
        assert done.exit_code == expect, (done.output, done.exception)
        assert SECRET not in done.output
        return done

    return invoke


BOUNDS = "--success", "0.3", "--epsilon", "3"


def prior():
    text = Path("public.txt").read_text().split()
    counts = np.array([text.count(word) for word in WORDS] + [1])
    return (counts + 1) / (counts + 1).sum()


@pytest.mark.parametrize("more", [(), ("--alike",), ("--power", "0.5")])
def test_both_bounds_hold_for_what_the_file_describes(run, more):
    run("chances", "public.txt", "-o", "c.json", *BOUNDS, *more)
    given = json.loads(Path("c.json").read_text())
    assert more != ("--alike",) or "of_class" not in given
    law = mg.mechanism("tree", epsilon=3.0, **given).prepare(
        load_space("s.safetensors")
    )
    assert success_of(law.law, prior()) <= 0.3 * (1 + 1e-6)
    assert law.guarantee.certified <= 3.0


def test_the_command_that_is_printed_runs(run):
    found = json.loads(
        run("chances", "public.txt", "-o", "c.json", *BOUNDS, "--json").stdout
    )
    assert found["success"] <= 0.3
    assert sum(row["words"] for row in found["classes"]) == len(WORDS)
    *command, _, space = shlex.split(found["command"])
    assert space == "s.safetensors"
    command[command.index("INPUT")] = "public.txt"
    command[command.index("OUTPUT")] = "safe.txt"
    run(*command[1:])
    assert len(Path("safe.txt").read_text().splitlines()) == 80


def test_people_read_a_table(run):
    shown = run("chances", "public.txt", "-o", "c.json", *BOUNDS).output
    assert "success, no output seen" in shown
    assert "--set @c.json" in shown


def test_a_success_below_that_of_no_output_is_refused(run):
    arguments = "chances", "public.txt", "-o", "c.json", "--success", "0.01", "-e", "3"
    assert "cannot be had" in run(*arguments, expect=2).output


@pytest.mark.parametrize("epsilon", ["nan", "0", "-1", "inf"])
def test_an_epsilon_that_is_none_is_refused_at_once(run, epsilon):
    arguments = "chances", "nowhere.txt", "-o", "c.json", "--success", "0.3"
    assert "epsilon" in run(*arguments, "-e", epsilon, expect=2).output


def test_standard_output_is_the_file_and_nothing_else(run):
    shown = run("chances", "public.txt", "-o", "-", *BOUNDS, "--quiet").stdout
    assert "probabilities" in json.loads(shown)


def test_an_output_that_exists_stays(run):
    Path("c.json").write_text("mine")
    shown = run("chances", "public.txt", "-o", "c.json", *BOUNDS, expect=3).output
    assert "--force" in shown
    assert Path("c.json").read_text() == "mine"


@pytest.mark.parametrize("content", ["[1]", "nonsense", '{"epsilon": 3}', "\udcff"])
def test_a_file_of_no_parameters_is_refused(run, content):
    Path("p.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    command = "privatize", "public.txt", "-o", "o.txt", "-m", "tree", "-e", "3"
    shown = run(*command, "--set", "@p.json", expect=2).output
    assert "@p.json" in shown


def test_a_file_that_is_missing_is_named(run):
    command = "privatize", "public.txt", "-o", "o.txt", "-m", "tree", "-e", "3"
    assert "nowhere.json" in run(*command, "--set", "@nowhere.json", expect=3).output
