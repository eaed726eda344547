"""``mondegreen policy export``: a policy and its law as an artifact for devices."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

from mondegreen.cli import options
from mondegreen.cli.options import PolicyName, argument, command, option
from mondegreen.cli.public.device import (
    DEVICE,
    EPSILONS,
    OUTPUT,
    name_epsilons,
    write_artifact,
)
from mondegreen.settings import DEFAULT_MECHANISM, DEFAULT_POLICY, Settings


@command()
def export(
    name: PolicyName = argument(default=DEFAULT_POLICY, metavar="[NAME|FILE]"),
    device: bool = DEVICE,
    output: Path = OUTPUT,
    epsilons: tuple[float, ...] = EPSILONS,
    mechanism: Literal["urr", "krr"] = option(
        "urr shows ordinary words. krr replaces some of them too.",
        "-m --mechanism",
        default=DEFAULT_MECHANISM,
    ),
    settings: Settings = options.settings(
        *(each for each in options.POLICY if each != "policy"), "structure"
    ),
    same: Literal["place", "record"] = option(
        "place: a word gets a new draw each time that it occurs. record: one "
        "replacement in each text of a record, which discloses which of its "
        "sensitive words are equal."
    ),
    force: bool = options.FORCE,
    quiet: bool = options.QUIET,
    as_json: bool = options.JSON,
) -> None:
    """Write the file that a browser needs to privatize texts.

    The artifact holds the words and groups of the policy, the probabilities as
    integers, the guarantee and the Unicode tables. A device with the key and the
    id of a record repeats the release of mondegreen privatize, byte for byte. The
    command prints the digest of the artifact, its last 32 bytes. Give it to the client,
    which then rejects any other artifact.

    \b
    mondegreen policy export --device -o sensitive.mdg --epsilon 12
    mondegreen policy export names --device -o names.mdg --epsilon 12 --same record
    mondegreen policy export my.policy --device -o my.mdg --epsilon 12
    """  # noqa: D301
    from mondegreen.device.artifact import policy_artifact

    chosen = replace(settings, policy=name, mechanism=mechanism, same=same)
    facts: dict[str, object] = {
        "policy": name,
        "mechanism": mechanism,
        "epsilon": name_epsilons(epsilons),
    }
    write_artifact(
        lambda progress: policy_artifact(chosen, epsilons, progress),
        output,
        facts,
        read=name,
        device=device,
        force=force,
        quiet=quiet,
        as_json=as_json,
    )
