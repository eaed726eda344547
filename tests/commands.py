"""Run a command of the package in this process, as tests of commands do."""

from __future__ import annotations

from click.testing import CliRunner, Result

from mondegreen.cli.main import cli


def run_command(
    *arguments: object,
    expect: int | None = 0,
    stdin: bytes | None = None,
    secret: str = "",
) -> Result:
    """Run the command line; check its exit code if one is expected, and for a secret.

    A message of a failed check shows what the command printed.
    """
    done = CliRunner().invoke(cli, [str(each) for each in arguments], input=stdin)
    shown = f"{done.output}\n{done.exception!r}"
    assert expect is None or done.exit_code == expect, shown
    assert not secret or secret.lower() not in shown.lower()
    return done
