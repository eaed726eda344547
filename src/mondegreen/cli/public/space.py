"""``mondegreen space``: list, describe and verify public spaces, and make them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from mondegreen.cli.options import JSON, SpaceName, argument, command, option
from mondegreen.cli.public.space_build import (
    binarize,
    build,
    collect_facts,
    fetch,
    tree,
)
from mondegreen.cli.public.space_export import export
from mondegreen.cli.render import echo_facts, echo_table
from mondegreen.errors import SpaceError, SpaceIntegrityError
from mondegreen.wording import DEFAULT_SPACE

if TYPE_CHECKING:
    from mondegreen.space.space import Space


_SHOWN: Final = 24  # words of a node that are listed


@click.group()
def space() -> None:
    """Manage the public spaces of words.

    A space is a vocabulary with a vector for every word.

    Example: mondegreen space list
    """


@command(name="list")
def list_spaces(as_json: bool = JSON) -> None:
    """List the spaces that can be loaded or fetched.

    Example: mondegreen space list --json
    """
    from mondegreen.space.file import read_header
    from mondegreen.space.store import locate, space_names
    from mondegreen.space.vectors.fetch import PUBLIC_SPACES

    rows: list[tuple[object, ...]] = []
    for name in space_names():
        found = read_header(locate(name))
        size, licence = (found.vocab_size, found.dim), found.about.get("licence", "")
        rows.append((name, *size, found.dtype, licence, str(found.path)))
    for public in PUBLIC_SPACES.values():
        if public.name not in space_names():
            path = None if as_json else f"(mondegreen space fetch {public.name})"
            rows.append((public.name, None, None, None, public.licence, path))
    keys = ("name", "words", "dim", "dtype", "licence", "path")
    echo_table([dict(zip(keys, row, strict=True)) for row in rows], as_json=as_json)


@command()
def info(
    name: SpaceName = argument(default=DEFAULT_SPACE),
    branch: str | None = option("Show the word tree around a word.", "WORD"),
    as_json: bool = JSON,
) -> None:
    """Describe a space and check its digest.

    Example: mondegreen space info glove-840b-34k --branch doctor
    """
    from mondegreen.space.file import read_header, read_space
    from mondegreen.space.store import locate

    path = locate(name)
    loaded = read_space(path)
    about = (
        collect_facts(read_header(path)) if branch is None else _around(loaded, branch)
    )
    echo_facts(about, as_json=as_json)


@command()
def verify(
    names: tuple[SpaceName, ...] = argument(nargs=-1, required=True),
    digest: str | None = option("Digest that the space must have."),
    deep: bool = option("No effect: the command always measures."),
    as_json: bool = JSON,
) -> None:
    """Check spaces and measure all their distances again.

    This takes about ten seconds for 34,000 words.

    Example: mondegreen space verify glove-840b-34k
    """
    from mondegreen.space.codes import measure_codes
    from mondegreen.space.geometry import check_measured, measure
    from mondegreen.space.store import load_space

    found = []
    for name in names:
        loaded = load_space(name)
        if digest is not None and loaded.digest != digest.lower():
            raise SpaceIntegrityError(f"{name}: its digest is {loaded.digest}")
        if loaded.has_vectors:
            now = measure(loaded.vectors, loaded.unknown, metric=loaded.metric)
            check_measured(loaded.geometry, now, name)
        if loaded.codes is not None:
            now = measure_codes(loaded.codes.table, loaded.codes.unknown)
            check_measured(loaded.codes.geometry, now, name)
        facts = {"verified": True, "distances": "measured again, all pairs"}
        found.append({"name": name, **facts, "digest": loaded.digest})
    echo_table(found, as_json=as_json)


for _verb in (list_spaces, info, verify, binarize, build, export, fetch, tree):
    space.add_command(_verb)


def _around(space: Space, word: str) -> dict[str, object]:
    """The nodes around a word, so that a person can judge the tree."""
    from mondegreen.space.store import load_tree

    found = load_tree(space)
    if found is None:
        advice = "make one with space tree"
        raise SpaceError(f"space {space.name!r} has no word tree: {advice}")
    word_id = space.get_id(word)
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
        if len(members) > _SHOWN:
            words.append(f"... ({len(members):,} words)")
        facts[f"level {level}, height {found.heights[level]:g}"] = " ".join(words)
    return facts
