"""``mondegreen calibrate`` for policies: targets, the command to copy, refusals."""

import json
import shlex

import numpy as np
import pytest
from click.testing import CliRunner

from commands import run_command
from mondegreen.cli.main import cli

NAMES = "Anna Olivia Peter Maria John Lucas Emma David".split()
ILLNESSES = "diabetes cancer asthma arthritis influenza pneumonia".split()
SECRET = "zyxwoldemorth"


def write(folder, sentence, count=240):
    rng = np.random.default_rng(1)
    texts = [
        sentence.format(rng.choice(NAMES), rng.choice(ILLNESSES)) for _ in range(count)
    ]
    texts[5] += f" {SECRET}"
    (folder / "sample.txt").write_text("\n".join(texts) + "\n")


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "My friend {} says that you can live with {} for years.")

    def invoke(*arguments, expect=0):
        given = ["calibrate", "sample.txt", *arguments]
        return run_command(*given, expect=expect, secret=SECRET)

    return invoke


def found(run, *arguments):
    return json.loads(run(*arguments, "--json", "-q").stdout)


def test_both_targets_hold_at_the_setting_that_is_printed(run):
    result = found(run, "-t", "sensitive=0.4", "-t", "ordinary=0.95")
    chosen = result["chosen"]
    assert (chosen["mechanism"], result["policy"]) == ("urr", "sensitive")
    assert chosen["sensitive"]["high"] <= 0.4
    assert chosen["ordinary"]["value"] >= 0.95
    assert chosen["sensitive"]["n"] > 50


def test_the_ordinary_target_takes_the_smallest_epsilon_that_keeps_it(run):
    chosen = found(run, "-t", "ordinary=0.95", "-m", "urr")["chosen"]
    assert 0.95 <= chosen["ordinary"]["value"] < 0.97


@pytest.mark.slow("searches")
def test_a_smaller_share_of_recovered_words_needs_a_smaller_epsilon(run):
    loose, strict = (
        found(run, "-t", f"sensitive={share}", "-m", "urr", "--hide-among", "100")
        for share in (0.5, 0.12)
    )
    assert strict["chosen"]["sensitive"]["high"] <= 0.12
    assert strict["chosen"]["epsilon"] < loose["chosen"]["epsilon"]
    assert not loose["rows"][0]["binding"]
    assert strict["rows"][0]["binding"]


def test_the_command_that_is_printed_runs_that_setting(run):
    done = run("-t", "ordinary=0.9", "--open", "health", "--most-ordinary", 10_000)
    command = done.stdout.partition("take:\n  mondegreen ")[2].strip()
    assert "--most-ordinary 10000 --open health" in command
    words = shlex.split(command.replace("INPUT", "sample.txt"))
    words[words.index("OUTPUT")] = "safe.txt"
    privatized = CliRunner().invoke(cli, words)
    assert privatized.exit_code == 0, privatized.output


@pytest.mark.slow("searches", seconds=2)
def test_texts_that_tell_their_words_reach_no_setting_and_hear_what_would(
    run, tmp_path
):
    rng = np.random.default_rng(2)
    does = "cooks bakes drives reads writes sings sleeps works".split()
    pairs = zip(NAMES, does, strict=True)
    texts = [f"The one that {verb} here is {name}." for name, verb in pairs]
    some = "\n".join(texts[i] for i in rng.integers(0, len(texts), 240))
    (tmp_path / "sample.txt").write_text(some + "\n")
    said = run("-t", "sensitive=0.15", "-t", "ordinary=0.95", expect=2).stderr
    assert "recovers at most 15 % of the sensitive words; at least 95 % of" in said
    assert "Your target is at most 0.15" in said
    assert "meets the target of sensitive words" in said
    assert "--policy all" in said
    assert "The other words give the hidden words away" in said
    (tmp_path / "sample.txt").write_text("\n".join((texts * 2)[:12]) + "\n")
    said = run("-t", "sensitive=0.15", expect=2).stderr
    assert "Too few texts: 3 were measured" in said
    assert "Use at least 100 texts" in said


@pytest.mark.slow("searches")
def test_without_a_target_several_epsilons_are_shown(run):
    curves = found(run)["curves"]
    assert [each["epsilon"] for each in curves[:3]] == [8.0, 10.0, 12.0]
    kept = [each["ordinary"]["value"] for each in curves if each["mechanism"] == "urr"]
    assert kept == sorted(kept)


def test_texts_without_sensitive_words_are_refused(run, tmp_path):
    (tmp_path / "sample.txt").write_text("it is so good that we like it\n" * 40)
    assert "too few sensitive" in run("-t", "sensitive=0.2", expect=2).stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-t", "sensitive=0.2", "-t", "n_w=0.5", "-m", "urr"], "once for each"),
        (["-t", "sensitive=0.2", "-m", "urr", "-m", "tree"], "once for each"),
        (["-t", "sensitive=0.2", "--prior", "uniform"], "--prior"),
        (["-t", "sensitive=0.2", "--policy", "all"], "no ordinary words"),
        (["-t", "sensitive=2"], "share of sensitive words"),
        (["-t", "n_w=0.5", "--policy", "names"], "cannot be combined"),
        (["-t", "sensitive=0.2", "-o", "x.json"], "--output takes"),
        (["-t", "success=0.2", "-m", "tree", "-o", "x.json"], "one --epsilon"),
    ],
)
def test_what_makes_no_sense_is_refused(run, arguments, says):
    assert says in run(*arguments, expect=2).stderr


def test_a_target_of_ordinary_words_alone_that_nothing_keeps_says_so(run):
    said = run("-t", "ordinary=1", "-m", "urr", expect=2).stderr
    assert "no setting of the policy sensitive meets the target: at least 100 %" in said
    assert "Your target is at least 1." in said
