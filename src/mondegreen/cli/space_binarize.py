"""The command ``space binarize``: give a space the codes of binary mechanisms."""

from __future__ import annotations

from pathlib import Path

import click

from mondegreen.cli.progress import shower
from mondegreen.cli.render import echo_facts, echo_json
from mondegreen.cli.space_build import facts_of


@click.command(short_help="Make a binary code for every word of a space.")
@click.argument("space")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Space to write; by custom its name ends with .safetensors.",
)
@click.option(
    "--bits",
    type=click.IntRange(8, 4096),
    default=256,
    show_default=True,
    help="Length of a code, a multiple of 8.",
)
@click.option(
    "--method",
    type=click.Choice(["tissier", "hyperplane"]),
    default="tissier",
    show_default=True,
    help="Near-lossless binarization, trained; or random hyperplanes.",
)
@click.option(
    "--codes-only",
    is_flag=True,
    help="Leave the vectors out: a small file that binary mechanisms alone accept.",
)
@click.option("--force", is_flag=True, help="Replace an existing output.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def binarize(
    space: str,
    output: Path,
    bits: int,
    method: str,
    codes_only: bool,
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Make a binary code for every word of SPACE, given by name or path.

    Codes are learned from the vectors of the space, which are public, and from
    nothing else.

    Example: mondegreen space binarize glove-840b-34k -o small.safetensors --codes-only
    """
    from mondegreen.space.binarize import with_codes
    from mondegreen.space.codes import check_bits
    from mondegreen.space.file import read_header
    from mondegreen.space.space import Space
    from mondegreen.space.store import load_space, refuse_existing, save_space

    refuse_existing(output, force=force)
    loaded = load_space(space)
    show = shower(quiet)
    made = with_codes(
        loaded,
        bits=check_bits(bits),
        method=method,
        progress=lambda done: show(f"binarize: {done}%"),
    )
    if codes_only and made.codes is not None:
        about = {**loaded.about, "vectors": loaded.digest}
        made = Space.from_codes(made.name, made.words, made.codes, about)
    save_space(made, output, force=force)
    facts = facts_of(read_header(output))
    if as_json:
        echo_json(facts)
    else:
        echo_facts(facts)
