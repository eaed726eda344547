"""The command itself: how it is started, and what it says of what it does not know."""

import re
import shlex
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

import mondegreen as mg
from commands import run_command
from mondegreen.cli.main import cli
from mondegreen.errors import OptionalDependencyError


def started(*arguments, text=None):
    command = [sys.executable, "-m", "mondegreen", *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True)


def test_the_package_runs_as_a_module():
    done = started("--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("mondegreen, version")


def test_worker_processes_of_the_module_do_not_start_it_again(tmp_path):
    path = tmp_path / "in.txt"
    path.write_text("The doctor came from Boston.\n" * 3000)
    done = started("privatize", str(path), "-e", "10", "--jobs", "2", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 3000


@pytest.mark.parametrize(
    ("given", "meant"),
    [("privatise", "privatize"), ("explian", "explain"), ("mechanism", "mechanisms")],
)
def test_a_command_with_a_slip_is_answered_with_the_one_that_is_meant(given, meant):
    done = CliRunner().invoke(cli, [given, "x"])
    assert done.exit_code == 2
    assert f"there is no command {given!r}; did you mean {meant!r}?" in done.stderr


def test_a_command_like_no_other_and_an_option_before_it_are_usage_errors():
    assert CliRunner().invoke(cli, ["xqz"]).exit_code == 2
    assert "--version" in CliRunner().invoke(cli, ["--versio"]).stderr


WITHOUT_ARROW = """
import sys
sys.modules["pyarrow"] = None
sys.argv = ["mondegreen", "privatize", "-", "--epsilon", "10"]
from mondegreen.cli.main import main
main()
"""


def test_without_pyarrow_the_line_that_installs_it_is_printed():
    command = [sys.executable, "-c", WITHOUT_ARROW]
    done = subprocess.run(command, input="in Boston\n", capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("not installed: pip install pyarrow\n")


def test_a_module_of_ours_that_is_missing_is_a_bug():
    ours = ModuleNotFoundError("no", name="mondegreen.nothing")
    assert OptionalDependencyError.from_import(ours) is None
    theirs = ModuleNotFoundError("no", name="faiss.contrib")
    absent = OptionalDependencyError.from_import(theirs)
    assert "pip install faiss-cpu" in str(absent)


@pytest.mark.parametrize("module", ["uvicorn", "httpx", "fastapi"])
def test_libraries_of_the_proxy_install_from_any_folder(module):
    absent = OptionalDependencyError.from_import(ModuleNotFoundError(name=module))
    command = str(absent).partition("In any other folder: ")[2]
    program, verb, *needed = shlex.split(command)
    assert (program, verb) == ("pip", "install")
    names = {re.split("[<>=]", each)[0] for each in needed}
    assert {"fastapi", "uvicorn", "httpx", "starlette"} <= names
    assert not any(each.startswith((".", "mondegreen")) for each in needed)


@pytest.mark.parametrize(
    ("text", "says"),
    [("Boston\n", "1 row, 1 word in"), ("in Boston\nno\n", "2 rows, 3 words in")],
)
def test_one_row_is_not_rows(text, says):
    done = CliRunner().invoke(cli, ["privatize", "-", "-e", "10"], input=text)
    assert says in done.stderr


def test_an_error_keeps_its_former_name():
    assert mg.errors.MissingExtraError is OptionalDependencyError


def test_no_option_shows_two_defaults():
    from mondegreen.spark.__main__ import privatize as spark

    for name, command in {**cli.commands, "spark": spark}.items():
        context = click.Context(command)
        for each in command.params:
            record = each.get_help_record(context)
            assert record is None or record[1].count("[default: ") < 2, (name, record)


@pytest.mark.parametrize("name", ["latin", "utf-16"])
@pytest.mark.parametrize(
    "arguments",
    [
        "privatize in.csv --column text -e 12",
        "attack in.csv --column text -e 12",
        "attack in.csv other.csv --column text",
        "attack other.csv in.csv --column text",
        "explain in.csv --column text -e 12",
        "score in.csv other.csv --column text",
        "calibrate in.csv --column text --target sensitive=0.3",
    ],
)
def test_advice_on_an_encoding_can_be_followed(tmp_path, monkeypatch, name, arguments):
    monkeypatch.chdir(tmp_path)
    rows = "text\n" + "caf\xe9 in Oslo\n" * 30
    (tmp_path / "other.csv").write_text(rows, encoding="utf-8")
    encoding = {"latin": "latin-1", "utf-16": "utf-16"}[name]
    (tmp_path / "in.csv").write_bytes(rows.encode(encoding))
    done = CliRunner().invoke(cli, arguments.split())
    assert done.exit_code == 3
    is_release = arguments.startswith("attack other.csv")  # the option is not of those
    assert ("--encoding" in done.stderr) != is_release
    told = {"latin": "cp1252", "utf-16": "utf-16"}[name]
    assert (f"iconv -f {told} -t utf-8" in done.stderr) == is_release
    if not is_release:
        assert f"--encoding {told}" in done.stderr
        again = CliRunner().invoke(cli, [*arguments.split(), "--encoding", told])
        assert "UTF-8" not in again.stderr.replace("the output is UTF-8", "")


@pytest.mark.parametrize(
    "command",
    [
        "policy build {} -o {}",
        "policy build good.txt {} -o ./{}",
        "policy export ./{} --device -o {} -e 12",
        "space build {} -o {}",
        "space build good.txt --words {} -o {}",
        "space binarize ./{} -o {} --codes-only",
        "space tree glove-840b-34k --opposites {} -o {}",
        "language build {} -o {}",
        "language mix {} good.txt --on held.txt -o {}",
        "language adapt {} -o {} --policy all -e 10",
    ],
)
def test_no_command_replaces_a_file_that_it_reads(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "own.txt"
    for path in (own, tmp_path / "good.txt", tmp_path / "held.txt"):
        path.write_text("[health]\nabcdefgh\n", encoding="utf-8")
    words = command.format("own.txt", "own.txt").split()
    result = run_command(*words, "--force", expect=2)
    assert "own.txt" in result.stderr
    assert "separate file" in result.stderr
    assert own.read_text(encoding="utf-8") == "[health]\nabcdefgh\n"
