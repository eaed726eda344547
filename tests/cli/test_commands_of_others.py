"""Commands of other distributions: found, listed, and never in the place of ours."""

from importlib.metadata import EntryPoint

import click
import pytest
from click.testing import CliRunner

from mondegreen.cli import plugins
from mondegreen.cli.main import cli
from mondegreen.errors import OptionalDependencyError
from mondegreen.plugins import blame

ADVICE = "reproduce needs mondegreen-experiments, which is not installed: "
ADVICE += "pip install ./experiments"


@click.command()
def greet():
    """Greet."""
    click.echo("hello")


@pytest.fixture
def install(monkeypatch):
    """Return what registers entry points, in place of those of this environment."""

    def use(**entries):
        found = [EntryPoint(name, to, plugins.GROUP) for name, to in entries.items()]
        monkeypatch.setattr(plugins, "_list_installed", lambda: found)

    use()
    return use


@pytest.mark.parametrize("given", [[], ["--list"], ["cmp-words", "-o", "x"]])
def test_a_command_of_ours_that_is_absent_says_how_to_install_it(install, given):
    done = CliRunner().invoke(cli, ["reproduce", *given])
    assert done.exit_code == 2
    assert done.stderr == f"Error: {ADVICE}\n"
    assert done.stdout == ""


def test_an_absent_command_is_listed_and_has_help(install):
    listed = CliRunner().invoke(cli, ["--help"]).stdout
    lines = " ".join(listed.split())
    needs = "(needs mondegreen-experiments)."
    assert f"benchmark Compare mechanisms on your data {needs}" in lines
    assert f"reproduce Reproduce a paper's experiment {needs}" in lines
    done = CliRunner().invoke(cli, ["reproduce", "--help"])
    assert done.exit_code == 0
    assert ADVICE in done.stdout


@click.command()
def stumble():
    """Stumble."""
    raise KeyError("a text")


def test_an_error_of_a_command_of_others_names_where_it_is_from(install):
    install(stumble=f"{__name__}:stumble")
    found = CliRunner().invoke(cli, ["stumble"])
    problem, is_of_plugin = blame(found.exception)
    assert is_of_plugin
    assert problem.startswith(f"the command 'stumble' of {__name__}:stumble failed: ")
    assert "a text" not in problem


def test_a_command_of_another_distribution_is_listed_and_runs(install):
    install(greet=f"{__name__}:greet")
    listed = CliRunner().invoke(cli, ["--help"]).stdout
    assert f"\n  greet       Command of {__name__}:greet.\n" in listed
    assert CliRunner().invoke(cli, ["greet"]).stdout == "hello\n"
    assert "did you mean 'greet'?" in CliRunner().invoke(cli, ["gret"]).stderr
    assert CliRunner().invoke(cli, ["nothing"]).exit_code == 2


def test_no_other_distribution_replaces_a_built_in_command(install):
    install(privatize=f"{__name__}:greet")
    listed = CliRunner().invoke(cli, ["--help"]).stdout
    assert listed.count("\n  privatize ") == 1
    assert "Privatize a file or a stream of text." in listed
    assert "hello" not in CliRunner().invoke(cli, ["privatize"]).output


def test_an_entry_point_that_is_no_command_is_an_error_of_usage(install):
    install(greet=f"{__name__}:ADVICE")
    done = CliRunner().invoke(cli, ["greet"])
    assert done.exit_code == 2
    assert f"{__name__}:ADVICE is no click command" in done.stderr


def test_a_missing_module_of_ours_is_not_looked_for_in_an_index():
    absent = ModuleNotFoundError(name="mondegreen_experiments")
    error = OptionalDependencyError.from_import(absent)
    assert str(error).endswith("pip install ./experiments")
