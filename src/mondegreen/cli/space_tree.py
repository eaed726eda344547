"""The command ``space tree``: give a space the word tree of the tree mechanism."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from mondegreen.cli.progress import shower
from mondegreen.cli.render import echo_facts, echo_json
from mondegreen.cli.space_build import facts_of
from mondegreen.errors import SpaceError

if TYPE_CHECKING:
    from mondegreen.space.space import Space


_SHOWN: Final = 24
"""Words of a node that are listed."""

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(short_help="Build a word tree for a space.")
@click.argument("space")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Space to write; by custom its name ends with .safetensors.",
)
@click.option(
    "--leaf",
    type=click.IntRange(1, 10_000),
    default=22,
    show_default=True,
    help="Fewest words of a group.",
)
@click.option(
    "--branch",
    type=click.IntRange(1, 10_000),
    default=16,
    show_default=True,
    help="Fewest groups of a branch.",
)
@click.option(
    "--wordnet",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of a WordNet 3 database: groups keep part of speech and inflection.",
)
@click.option(
    "--opposites",
    type=_FILE,
    help="Pairs of words, two a line, that should not share a group.",
)
@click.option(
    "--frequency",
    type=click.FloatRange(0, 100),
    default=0.0,
    show_default=True,
    help="Weight of frequency; above 0 only where the words of SPACE are in falling "
    "order of a public frequency.",
)
@click.option(
    "--contrast",
    type=click.FloatRange(0, 100),
    default=0.7,
    show_default=True,
    help="Weight of the directions in which opposites differ most.",
)
@click.option("--force", is_flag=True, help="Replace an existing output.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def tree(
    space: str,
    output: Path,
    leaf: int,
    branch: int,
    wordnet: Path | None,
    opposites: Path | None,
    frequency: float,
    contrast: float,
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Build a word tree for SPACE, given by name or path, and save both.

    Groups, branches and classes are made from the vectors of the space and the lists
    given here, all of them public, and from nothing else. WordNet gives opposites too.

    Example: mondegreen space tree vectors.safetensors -o tree.safetensors --leaf 22
    """
    from mondegreen.space.file import read_header
    from mondegreen.space.store import (
        load_space,
        refuse_existing,
        save_space,
        with_tree,
    )
    from mondegreen.space.tree_build import build_tree
    from mondegreen.space.word_classes import FUNCTION_CLASSES, WordNet, word_classes

    refuse_existing(output, force=force)
    loaded = load_space(space)
    show = shower(quiet)
    pairs = _pairs(loaded, opposites) if opposites is not None else []
    classes = None
    if wordnet is not None:
        show("tree: part of speech")
        database = WordNet(wordnet)
        classes = word_classes(loaded.words, loaded.vectors, database)
        pairs += [(loaded.id_of(a), loaded.id_of(b)) for a, b in database.antonyms()]
    pairs = [pair for pair in pairs if max(pair) < loaded.vocab_size]
    built = build_tree(
        loaded,
        leaf=leaf,
        branch=branch,
        classes=classes,
        joined=FUNCTION_CLASSES,
        opposites=pairs,
        frequency=frequency,
        contrast=contrast,
        about={"classes": "WordNet 3.0"} if wordnet is not None else {},
        progress=lambda name: show(f"tree: {name}"),
    )
    show("")
    save_space(with_tree(loaded, built), output, force=force)
    nodes = " > ".join(f"{len(bound) - 1:,}" for bound in built.bounds)
    facts = {**facts_of(read_header(output)), "tree": built.digest, "nodes": nodes}
    if as_json:
        echo_json(facts)
    else:
        echo_facts(facts)


def branch_of(space: Space, word: str) -> dict[str, object]:
    """Return the nodes around a word, so that a person can judge the tree.

    Raises
    ------
    SpaceError
        If the space has no tree, or not this word.
    """
    from mondegreen.space.store import tree_of

    found = tree_of(space)
    if found is None:
        raise SpaceError(
            f"space {space.name!r} has no word tree: make one with space tree"
        )
    word_id = space.id_of(word)
    if word_id == space.vocab_size:
        raise SpaceError(f"space {space.name!r} has no such word")
    facts: dict[str, object] = {"word": word, "tree": found.digest}
    below = 0
    for level in range(1, found.levels + 1):
        members = found.members(level, int(found.nodes[level, word_id]))
        if len(members) == below:  # the same words again
            continue
        below = len(members)
        # The frequent words of a large node say most; the space lists them first.
        words = [space.words[i] for i in sorted(members.tolist())[:_SHOWN]]
        more = f" ... ({len(members):,} words)" if len(members) > _SHOWN else ""
        height = f"level {level}, height {found.heights[level]:g}"
        facts[height] = " ".join(words) + more
    return facts


def _pairs(space: Space, path: Path) -> list[tuple[int, int]]:
    """Read two words a line; pairs that the space lacks are left out later."""
    pairs = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        fields = line.split()
        if len(fields) != 2:
            raise SpaceError(f"{path}, line {number}: two words a line are needed")
        pairs.append((space.id_of(fields[0]), space.id_of(fields[1])))
    return pairs
