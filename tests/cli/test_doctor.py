"""``mondegreen doctor``: what it shows, and when it says that something is broken."""

from __future__ import annotations

import importlib.metadata
import json
import re
import sys

import pytest
from click.testing import CliRunner

import mondegreen as mg
from mondegreen.cli import audit as doctor
from mondegreen.cli.main import cli


def run(*arguments):
    done = CliRunner().invoke(cli, ["doctor", *arguments])
    return done.exit_code, done.stdout


def test_a_whole_installation_exits_0():
    code, text = run()
    assert code == 0
    assert "as RFC 8439" in text
    assert text.endswith("mondegreen privatize - --epsilon 12\n")
    assert sys.executable in text
    code, text = run("--json")
    found = json.loads(text)
    assert code == 0
    assert found["broken"] == []
    assert found["mondegreen"] == mg.__version__
    assert mg.load_space().digest in found["default space"]


def test_a_random_source_that_is_not_the_standard_exits_1(monkeypatch):
    monkeypatch.setattr(doctor, "_ZERO_KEY_STREAM", "00" * 16)
    code, text = run("--json")
    assert code == 1
    assert json.loads(text)["broken"] == ["random source"]
    code, text = run()
    assert code == 1
    assert "WRONG, do not use" in text


def test_a_missing_library_exits_1(monkeypatch):
    real = importlib.metadata.version

    def version(name):
        if name == "faiss-cpu":
            raise importlib.metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    code, text = run()
    assert code == 1
    assert "MISSING" in text
    assert "Install it again" in text


def test_the_help_states_the_exit_codes():
    code, text = run("--help")
    assert code == 0
    assert "Exit codes: 0 all is well, 1" in text


@pytest.mark.parametrize("name", doctor._LIBRARIES)
def test_libraries_that_are_shown_are_installed(name):
    assert importlib.metadata.version(name)


def test_every_dependency_is_shown():
    needed = importlib.metadata.requires("mondegreen")
    names = {re.match(r"[\w-]+", each)[0] for each in needed if "extra" not in each}
    assert names == set(doctor._LIBRARIES)
