"""Commands that other distributions give, through entry points of one group."""

from __future__ import annotations

from collections.abc import Collection
from importlib.metadata import EntryPoint, entry_points
from typing import Final

import click

from mondegreen.errors import ConfigurationError, OptionalDependencyError
from mondegreen.plugins import remember_plugin

GROUP: Final = "mondegreen.commands"

_EXPERIMENTS: Final = "mondegreen-experiments"
_NEEDS: Final = f"(needs {_EXPERIMENTS})"

OURS: Final = {
    "benchmark": (_EXPERIMENTS, f"Compare mechanisms on your data {_NEEDS}."),
    "reproduce": (_EXPERIMENTS, f"Reproduce a paper's experiment {_NEEDS}."),
}
"""Our own commands that are not in this distribution: where they are, and their help.

They are listed, and say how to install them, where that distribution is absent.
"""


def list_plugins(taken: Collection[str]) -> dict[str, str]:
    """Return the line of help for each such command, without loading any.

    ``taken`` are the names of built-in commands, which no plugin can replace.
    """
    found = {each.name: f"Command of {_origin(each)}." for each in _list_installed()}
    known = found | {name: help for name, (_, help) in OURS.items()}
    return {name: known[name] for name in sorted(known) if name not in taken}


def load_plugin(name: str) -> click.Command | None:
    """Load a command; one of ours that is not installed says how to install it."""
    for entry in _list_installed():
        if entry.name == name:
            what = f"the command {name!r} of {_origin(entry)}"
            remember_plugin(entry.module, what)
            command = entry.load()
            if not isinstance(command, click.Command):
                problem = f"{entry.value} is no click command"
                raise ConfigurationError(f"{_origin(entry)}: {problem}")
            return command
    return _advise(name) if name in OURS else None


def _list_installed() -> Collection[EntryPoint]:
    return entry_points(group=GROUP)


def _origin(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else entry.value


def _advise(name: str) -> click.Command:
    """Stand in for an absent command: whatever is asked of it, say what to install."""
    distribution, help_line = OURS[name]
    absent = OptionalDependencyError(distribution, feature=name)

    @click.command(
        name,
        help=f"{help_line}\n\n\b\n{absent}\nAfter that: mondegreen {name} --help",
        context_settings={"ignore_unknown_options": True},
    )
    @click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="...")
    def advise(arguments: tuple[str, ...]) -> None:
        raise absent

    return advise
