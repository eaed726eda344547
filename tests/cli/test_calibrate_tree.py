"""``mondegreen calibrate -m tree -o``: bounds hold, and privatize reads the file."""

import csv
import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import mondegreen as mg
from mondegreen.calibration.guess import vulnerability
from mondegreen.cli.main import cli
from mondegreen.space.store import load_space, save_space
from mondegreen.text.lookup import Lookup
from mondegreen.text.tokenizer import tokenize
from mondegreen.wording import DEFAULT_SPACE

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


TREE = "calibrate", "--mechanism", "tree"
BOUNDS = "--target", "success=0.3", "--epsilon", "3"


def priors():
    text = Path("public.txt").read_text().split()
    counts = np.array([text.count(word) for word in WORDS] + [1])
    return counts / counts.sum(), (counts + 1 / counts.size) / (counts.sum() + 1)


def success_by_the_law(given, prior, space, epsilon):
    """The success from log_prob alone, over the words that the prior expects."""
    state = mg.mechanism("tree", epsilon=epsilon, **given).prepare(space)
    ids = np.flatnonzero(prior)
    law = np.exp(state.log_prob(ids))
    return float((prior[ids, None] * law).max(axis=0).sum())


@pytest.mark.parametrize("more", [(), ("--alike",), ("--power", "0.5")])
def test_both_bounds_hold_for_what_the_file_describes(run, more):
    run(*TREE, "public.txt", "-o", "c.json", *BOUNDS, *more)
    given = json.loads(Path("c.json").read_text())
    assert more != ("--alike",) or "of_class" not in given
    law = mg.mechanism("tree", epsilon=3.0, **given).prepare(
        load_space("s.safetensors")
    )
    space = load_space("s.safetensors")
    for prior in priors():
        assert vulnerability(law.law, prior) <= 0.3 + 1e-9
        assert success_by_the_law(given, prior, space, 3.0) <= 0.3 + 1e-9
    assert law.guarantee.certified <= 3.0


@pytest.mark.slow("solves linear programs on 33,860 words")
def test_the_success_holds_for_the_frequencies_of_a_small_sample(tmp_path):
    review, output = Path(__file__).parents[2] / "examples/reviews.csv", tmp_path / "c"
    command = [*TREE, str(review), "-c", "review", "-o", str(output), "--json"]
    done = CliRunner().invoke(
        cli, [*command, "--target", "success=0.2", "--epsilon", "10"]
    )
    assert done.exit_code == 0, done.output
    space = load_space(DEFAULT_SPACE)
    lines = review.read_text(encoding="utf-8").splitlines()
    texts = [row["review"] for row in csv.DictReader(lines)]
    codes = Lookup(space).codes(tokenize(texts))
    prior = np.bincount(codes, minlength=space.vocab_size + 1) / len(codes)
    found, given = json.loads(done.stdout), json.loads(output.read_text())
    success = success_by_the_law(given, prior, space, 10.0)
    assert success <= 0.2 + 1e-9
    assert found["success"] == pytest.approx(success, abs=1e-6)
    assert found["success, no output seen"] == pytest.approx(prior.max(), abs=1e-6)
    assert "SAMPLE is small: 165 words" in done.stderr


def test_a_small_sample_is_warned_of_and_a_large_one_is_not(run):
    run_small = *TREE, "small.txt", "-o", "s.json", "--quiet"
    Path("small.txt").write_text(" ".join(WORDS[:50]))
    assert "SAMPLE is small" in run(*run_small, *BOUNDS).stderr
    shown = run(*TREE, "public.txt", "-o", "c.json", *BOUNDS).stderr
    assert "SAMPLE is small" not in shown


def test_chances_that_break_the_bound_are_not_written(run, monkeypatch):
    def wrong(space, tree, prior, *, epsilon, **_):
        return mg.mechanism("tree", epsilon=epsilon)

    monkeypatch.setattr("mondegreen.calibration.tree_levels.best_tree", wrong)
    arguments = (
        *TREE,
        "public.txt",
        "-o",
        "c.json",
        "--target",
        "success=0.13",
        "-e",
        "9",
    )
    assert "was not reached" in run(*arguments, expect=2).output
    assert not Path("c.json").exists()


def test_the_command_that_is_printed_runs(run):
    found = json.loads(
        run(*TREE, "public.txt", "-o", "c.json", *BOUNDS, "--json").stdout
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
    shown = run(*TREE, "public.txt", "-o", "c.json", *BOUNDS).output
    assert "a single word is guessed" in shown
    assert "before any output" in shown
    assert "--set @c.json" in shown


def test_a_success_below_that_of_no_output_is_refused(run):
    command = *TREE, "public.txt", "-o", "c.json", "-e", "3", "--target"
    assert "cannot be had" in run(*command, "success=0.01", expect=2).output
    most = priors()[0].max()
    assert f"{most:.4f}" in run(*command, f"success={most - 1e-6}", expect=2).output
    run(*command, f"success={most + 1e-6}")


@pytest.mark.parametrize("epsilon", ["nan", "0", "-1", "inf"])
def test_an_epsilon_that_is_none_is_refused_at_once(run, epsilon):
    arguments = *TREE, "nowhere.txt", "-o", "c.json", "--target", "success=0.3"
    assert "epsilon" in run(*arguments, "-e", epsilon, expect=2).output


def test_standard_output_is_the_file_and_nothing_else(run):
    shown = run(*TREE, "public.txt", "-o", "-", *BOUNDS, "--quiet").stdout
    assert "level_probabilities" in json.loads(shown)


def test_an_output_that_exists_stays(run):
    Path("c.json").write_text("mine")
    shown = run(*TREE, "public.txt", "-o", "c.json", *BOUNDS, expect=3).output
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
