"""``mondegreen audit``: verdicts, exit codes, JSON."""

from __future__ import annotations

import json

import pytest
from mutants import HERE, target_space

import mondegreen as mg
from commands import run_command
from mondegreen.errors import ConfigurationError, UnprovedGuaranteeError
from mondegreen.space.space import Space
from mondegreen.space.store import save_space


@pytest.fixture
def line(tmp_path):
    path = tmp_path / "line.safetensors"
    space = Space.from_arrays("line", list("abcd"), [[0.0], [1.0], [6.0], [-5.0]])
    save_space(space, path)
    return str(path)


def run(*arguments):
    return run_command("audit", *arguments, "--seed", "0", expect=None)


def test_a_promise_that_holds_exits_0(line):
    done = run("-m", "exponential", "-e", "2", "--space", line)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("HOLDS")
    assert "worst pair" in done.stdout


def test_a_broken_promise_exits_4(line):
    done = run("-m", "exponential", "-e", "2", "--claim", "1", "--space", line)
    assert done.exit_code == 4
    assert done.stdout.startswith("BROKEN")


def test_not_rejected_exits_0_and_states_its_power(line):
    done = run("-m", "laplace", "-e", "2", "--space", line)
    assert done.exit_code == 0
    assert done.stdout.startswith("NOT REJECTED")
    assert "proves nothing" in done.stdout


def test_a_norm_is_audited_in_its_distance(line):
    options = ["-m", "laplace", "-e", "1", "--set", "norm=manhattan", "--space", line]
    done = run(*options)
    assert done.exit_code == 0
    assert "per unit of d = Manhattan distance" in done.stdout
    done = run(*options, "--claim", "0.5", "--metric", "chebyshev")
    assert done.exit_code == 4
    assert "per unit of d = Chebyshev distance" in done.stdout


@pytest.mark.parametrize("name", ["laplace:norm=manhattan", "laplace,norm=manhattan"])
def test_parameters_behind_a_name_are_refused_with_the_right_form(line, name):
    done = run("-m", name, "-e", "1", "--space", line)
    assert done.exit_code == ConfigurationError.exit_code
    assert "Use -m laplace --set norm=manhattan" in str(done.exception) + done.stderr


def test_json_has_the_report(line):
    done = run("-m", "santext_plus", "-e", "2", "--space", line, "--json",
               "--allow-unproved")  # fmt: skip
    assert done.exit_code == 4
    report = json.loads(done.stdout)
    assert report["verdict"] == "broken"
    assert report["found"] == "inf"
    assert report["worst"]["words"]


def test_a_mechanism_without_a_proof_must_be_asked_for(line):
    done = run("-m", "vickrey_literal", "-e", "2", "--space", line)
    assert done.exit_code == UnprovedGuaranteeError.exit_code


@pytest.mark.parametrize(
    "arguments",
    [
        ["-e", "2"],
        ["-e", "2", "-m", "tem", "--target", "a:b"],
        ["-e", "2", "--target", "a:b", "--claim", "3"],
        ["-e", "2", "--target", "a:b", "--method", "exact"],
        ["-e", "2", "--target", "nothing_here:f"],
        ["-e", "2", "--target", "json:dumps", "--python", "/no/such/python"],
        ["-e", "2", "--target", "json:dumps", "--runs", "0"],
        ["-e", "2", "--target", "json:dumps", "--timeout", "0"],
        ["-e", "2", "--target", "json:dumps", "--allow-unproved"],
        ["-e", "2", "-m", "tem", "--workers"],
        ["-e", "2", "-m", "tem", "--timeout", "5"],
        ["-e", "2", "-m", "tem", "--unknown-words", "a"],
        ["-m", "tem"],
    ],
    ids=" ".join,
)
def test_what_cannot_be_asked_exits_2(line, arguments):
    assert run(*arguments, "--space", line).exit_code == ConfigurationError.exit_code


@pytest.mark.slow("a process")
def test_a_target_is_audited(tmp_path, monkeypatch):
    path = str(tmp_path / "targets.safetensors")
    save_space(target_space(), path)
    monkeypatch.chdir(HERE)
    common = ["-e", "1", "--space", path, "--runs", "1000"]
    sound = run("--target", "audit_targets:sound", *common)
    assert sound.exit_code == 0, sound.output
    leak = run("--target", "audit_targets:unknown_verbatim", *common)
    assert leak.exit_code == 4
    none = run("--target", "audit_targets:unknown_verbatim", *common,
               "--unknown-words", "")  # fmt: skip
    assert none.exit_code == 0


def test_a_target_that_hangs_is_a_usage_error_that_says_so(line, tmp_path, monkeypatch):
    (tmp_path / "slow.py").write_text(
        "import time\n\n\ndef f(word):\n    time.sleep(60)\n"
    )
    monkeypatch.chdir(tmp_path)
    done = run("--target", "slow:f", "-e", "1", "--space", line, "--timeout", "1")
    assert done.exit_code == ConfigurationError.exit_code
    assert "--timeout" in str(done.exception) + done.stderr


@pytest.mark.slow("a whole audit")
def test_vickrey_as_printed_is_broken_by_its_outputs_alone():
    done = run("-m", "vickrey_literal", "-e", "0.1", "--words", "40", "--runs", "4000",
               "--allow-unproved")  # fmt: skip
    assert done.exit_code == 4
    assert "worst pair" in done.stdout
    sound = run("-m", "vickrey", "-e", "0.1", "--words", "40", "--runs", "4000")
    assert sound.exit_code == 0, sound.output
    assert sound.stdout.startswith("NOT REJECTED")


def test_words_restrict_the_space():
    done = run("-m", "tem", "-e", "2.5", "--words", "60", "--json")
    assert done.exit_code == 0
    report = json.loads(done.stdout)
    assert report["verdict"] == "holds"
    assert report["space"].startswith("glove-840b-34k-60-words")
    assert report["pairs"] == 61 * 60 // 2
    assert mg.load_space().vocab_size > 60
