"""``mondegreen space export``: a space and its law as an artifact for devices."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from mondegreen.cli import options
from mondegreen.cli.options import SpaceName, argument, command, option
from mondegreen.cli.render import echo_facts, shower
from mondegreen.errors import ConfigurationError, SpaceError
from mondegreen.wording import DEFAULT_SPACE


@command()
def export(
    name: SpaceName = argument(default=DEFAULT_SPACE),
    device: bool = option("For the client in JavaScript: the only form there is."),
    output: Path = option(
        "Artifact to write; by custom its name ends with .mdg.",
        "-o --output",
        type=click.Path(dir_okay=False, path_type=Path),
    ),
    epsilons: tuple[float, ...] = option(
        "Privacy budget, as for mondegreen privatize. Repeatable: a device can choose "
        "among them.",
        "-e --epsilon NUMBER",
        type=float,
        multiple=True,
        required=True,
    ),
    mechanism: Literal["tree", "brr"] = option(
        "tree, or brr for codes and the nearest of them.", "-m --mechanism"
    ),
    force: bool = options.FORCE,
    quiet: bool = options.QUIET,
    as_json: bool = options.JSON,
) -> None:
    """Write what a browser needs to privatize texts before they leave it.

    The words, the law of each epsilon in integers, and the tables of Unicode: a device
    that has the key of a record repeats the release of mondegreen privatize --read
    none, byte for byte. Its digest, the last 32 bytes, is printed: give it to the
    client, which refuses any other artifact.

    Example: mondegreen space export --device -o tree.mdg --epsilon 10 --epsilon 8
    """
    from mondegreen.device.artifact import artifact
    from mondegreen.files import whole_file
    from mondegreen.space.store import load_space, refuse_existing

    if not device:
        raise ConfigurationError("say for whom: --device is the only form there is")
    refuse_existing(output, force=force)
    show = shower(quiet)
    space = load_space(name)
    data = artifact(space, epsilons, mechanism, lambda e: show(f"epsilon {e:g}"))
    show("")
    try:
        with whole_file(output, 0o666) as stream:
            stream.write(data)
    except OSError as error:
        raise SpaceError(f"{output}: cannot be written: {error.strerror}") from error
    facts = {
        "artifact": str(output),
        "mechanism": mechanism,
        "epsilon": ", ".join(f"{epsilon:g}" for epsilon in epsilons),
        "words": space.vocab_size,
        "bytes": len(data),
        "digest": data[-32:].hex(),
    }
    echo_facts(facts, as_json=as_json)
