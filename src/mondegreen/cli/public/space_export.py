"""``mondegreen space export``: a space and its law as an artifact for devices."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from mondegreen.cli import options
from mondegreen.cli.options import SpaceName, argument, command, option
from mondegreen.cli.public.device import (
    DEVICE,
    EPSILONS,
    OUTPUT,
    name_epsilons,
    write_artifact,
)
from mondegreen.wording import DEFAULT_SPACE


@command()
def export(
    name: SpaceName = argument(default=DEFAULT_SPACE),
    device: bool = DEVICE,
    output: Path = OUTPUT,
    epsilons: tuple[float, ...] = EPSILONS,
    mechanism: Literal["tree", "brr"] = option(
        "tree: the word tree. brr: binary codes.", "-m --mechanism"
    ),
    force: bool = options.FORCE,
    quiet: bool = options.QUIET,
    as_json: bool = options.JSON,
) -> None:
    """Write the file that a browser needs to replace every word.

    The artifact holds the words, the probabilities for each epsilon as integers, and
    the Unicode tables. A device with the key and the id of a record repeats the
    release of mondegreen privatize --read none, byte for byte. The command prints the
    digest of the artifact, its last 32 bytes. Give it to the client, which then rejects
    any other artifact. For policies: mondegreen policy export.

    Example: mondegreen space export --device -o tree.mdg --epsilon 10 --epsilon 8
    """
    from mondegreen.device.artifact import artifact
    from mondegreen.space.store import load_space

    space = load_space(name)
    facts: dict[str, object] = {
        "mechanism": mechanism,
        "epsilon": name_epsilons(epsilons),
        "words": space.vocab_size,
    }
    write_artifact(
        lambda progress: artifact(space, epsilons, mechanism, progress),
        output,
        facts,
        read=name,
        device=device,
        force=force,
        quiet=quiet,
        as_json=as_json,
    )
