"""What the commands share that write an artifact for devices."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import click

from mondegreen.cli.options import check_output, option
from mondegreen.cli.render import echo_facts, shower
from mondegreen.errors import ConfigurationError, SpaceError

DEVICE: Final = option("Write for the JavaScript client, the only format.")

OUTPUT: Final = option(
    "Artifact to write. The name should end with .mdg.",
    "-o --output",
    type=click.Path(dir_okay=False, path_type=Path),
)

EPSILONS: Final = option(
    "Privacy budget, as for mondegreen privatize. Repeatable: the device can choose "
    "among the values.",
    "-e --epsilon NUMBER",
    type=float,
    multiple=True,
    required=True,
)

Build = Callable[[Callable[[float], object]], bytes]
"""Writes an artifact, and tells each epsilon that is done."""


def write_artifact(
    build: Build,
    output: Path,
    facts: dict[str, object],
    *,
    read: str,
    device: bool,
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Write the artifact of what is ``read`` to a file, and show its digest."""
    from mondegreen.files import whole_file

    if not device:
        raise ConfigurationError("add --device, the only format")
    check_output(output, [read], force=force)
    show = shower(quiet)
    data = build(lambda epsilon: show(f"epsilon {epsilon:g}"))
    show("")
    try:
        with whole_file(output, 0o666) as stream:
            stream.write(data)
    except OSError as error:
        raise SpaceError(f"{output}: cannot be written: {error.strerror}") from error
    found = {
        "artifact": str(output),
        **facts,
        "bytes": len(data),
        "digest": data[-32:].hex(),
    }
    echo_facts(found, as_json=as_json)


def name_epsilons(epsilons: tuple[float, ...]) -> str:
    """Write the epsilons of an artifact for people."""
    return ", ".join(f"{epsilon:g}" for epsilon in epsilons)
