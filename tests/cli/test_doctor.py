"""``mondegreen doctor``: what it shows, and when it says that something is broken."""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
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


def leave_out(monkeypatch, *absent):
    """Let libraries look as if they were not installed."""
    real = importlib.metadata.version

    def version(name):
        if name in absent:
            raise importlib.metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(importlib.metadata, "version", version)


@pytest.mark.parametrize("name", doctor._LIBRARIES)
def test_a_missing_library_that_all_need_exits_1(monkeypatch, name):
    leave_out(monkeypatch, name)
    code, text = run()
    assert code == 1
    assert "MISSING" in text
    assert "Install it again" in text
    assert json.loads(run("--json")[1])["broken"] == [name]


@pytest.mark.parametrize("name", doctor._PARTS)
def test_a_missing_library_that_parts_need_says_what_does_not_work(monkeypatch, name):
    leave_out(monkeypatch, name)
    code, text = run()
    assert code == 0
    assert f"{name} MISSING" in text
    assert re.search(rf"^does not work +{re.escape(doctor._PARTS[name])}$", text, re.M)
    assert text.endswith(f"Everything else works. To install it: pip install {name}\n")
    found = json.loads(run("--json")[1])
    assert found["broken"] == []
    assert list(found["does not work"]) == [name]


def test_without_problems_one_line_says_so():
    code, text = run()
    assert code == 0
    assert re.search(r"^problems +none$", text, re.M)
    assert "broken" not in text


def test_without_both_kinds_it_is_broken(monkeypatch):
    leave_out(monkeypatch, "numpy", "scipy")
    code, text = run()
    assert code == 1
    assert "Install it again" in text


BLOCKED = """
import json
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
from mondegreen.cli.main import main
codes = {{}}
for command in {commands!r}:
    sys.argv = ["mondegreen", *command.split()]
    try:
        main()
        codes[command] = 0
    except SystemExit as end:
        codes[command] = end.code or 0
with open("codes.json", "w") as file:
    json.dump(codes, file)
"""
NEEDS = {
    "privatize in.txt -o out1.txt -e 12": "",
    "privatize in.txt -o out2.txt -e 10 --policy all": "",
    "privatize in.txt -o out3.txt -e 10 -m tem": "",
    "privatize in.txt -o out4.txt -e 10 -m laplace": "faiss",
    "explain oslo -e 10 --policy all": "",
    "attack in.csv in2.csv --column text": "",
    "attack in.csv in2.csv --column text --html page.html": "jinja2",
    "audit -m tem -e 2 --runs 200 --pairs 1": "scipy",
    "mechanisms": "",
    "space list": "",
    "demo": "",
}


@pytest.mark.slow("all commands in a process", seconds=6)
@pytest.mark.parametrize(
    "names",
    [
        ("faiss", "scipy", "jinja2"),
        *(
            pytest.param((x,), marks=pytest.mark.long)
            for x in sorted({*NEEDS.values()})
            if x
        ),
    ],
    ids=" ".join,
)
def test_what_is_said_not_to_work_does_not_and_the_rest_does(tmp_path, names):
    (tmp_path / "in.txt").write_text("I met Ann in Oslo.\n")
    rows = "text\n" + "Ann has a red cat in Oslo.\n" * 30
    for each in ("in.csv", "in2.csv"):
        (tmp_path / each).write_text(rows)
    code = BLOCKED.format(names=names, commands=list(NEEDS))
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    codes = json.loads((tmp_path / "codes.json").read_text())
    expected = {each: 2 if needs in names else 0 for each, needs in NEEDS.items()}
    assert codes == expected, done.stderr


def test_the_help_states_the_exit_codes():
    code, text = run("--help")
    assert code == 0
    assert "Exit codes: 0 privatize works, 1" in text


@pytest.mark.parametrize("name", [*doctor._LIBRARIES, *doctor._PARTS])
def test_libraries_that_are_shown_are_installed(name):
    assert importlib.metadata.version(name)


def test_every_dependency_is_shown():
    needed = importlib.metadata.requires("mondegreen")
    names = {re.match(r"[\w-]+", each)[0] for each in needed if "extra" not in each}
    assert names == {*doctor._LIBRARIES, *doctor._PARTS}
