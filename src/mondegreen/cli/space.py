"""The verb ``space``: list, describe, build, verify and fetch public spaces."""

from __future__ import annotations

import click

from mondegreen.cli.render import echo_facts, echo_json, echo_table
from mondegreen.cli.space_binarize import binarize
from mondegreen.cli.space_build import build, facts_of, fetch
from mondegreen.cli.space_tree import branch_of, tree

_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group()
def space() -> None:
    """Manage the public spaces that words are drawn from.

    Example: mondegreen space list
    """


@space.command("list")
@_JSON
def list_spaces(as_json: bool) -> None:
    """List the spaces that can be loaded or fetched.

    Example: mondegreen space list --json
    """
    from mondegreen.space.file import read_header
    from mondegreen.space.store import locate, space_names
    from mondegreen.space.vectors.fetch import PUBLIC_SPACES

    rows: list[dict[str, object]] = []
    for name in space_names():
        header = read_header(locate(name))
        rows.append(
            {
                "name": name,
                "words": header.vocab_size,
                "dim": header.dim,
                "dtype": header.dtype,
                "licence": header.about.get("licence", ""),
                "path": str(header.path),
            }
        )
    for public in PUBLIC_SPACES.values():
        if public.name not in space_names():
            absent = dict.fromkeys(("words", "dim", "dtype"))
            licence = {"licence": public.licence, "path": None}
            rows.append({"name": public.name, **absent, **licence})
    if as_json:
        echo_json(rows)
    else:
        for row in rows:
            row["path"] = row["path"] or f"(mondegreen space fetch {row['name']})"
        echo_table(rows)


@space.command()
@click.argument("name", default="glove-840b-34k")
@click.option("--branch", metavar="WORD", help="Show the word tree around a word.")
@_JSON
def info(name: str, branch: str | None, as_json: bool) -> None:
    """Describe a space, given by NAME or path; its digest is checked.

    Example: mondegreen space info glove-840b-34k --branch doctor
    """
    from mondegreen.space.file import read_header, read_space
    from mondegreen.space.store import locate

    path = locate(name)
    loaded = read_space(path)
    facts = facts_of(read_header(path)) if branch is None else branch_of(loaded, branch)
    if as_json:
        echo_json(facts)
    else:
        echo_facts(facts)


@space.command()
@click.argument("names", nargs=-1, required=True)
@click.option("--digest", help="The digest the space must have.")
@click.option("--deep", is_flag=True, help="Nothing more: it always measures.")
@_JSON
def verify(
    names: tuple[str, ...],
    digest: str | None,
    deep: bool,
    as_json: bool,
) -> None:
    """Check spaces, given by NAME or path, and measure all their distances again.

    Some ten seconds for 34,000 words.

    Example: mondegreen space verify glove-840b-34k
    """
    from mondegreen.errors import SpaceIntegrityError
    from mondegreen.space.codes import measure_codes
    from mondegreen.space.geometry import check_measured, measure
    from mondegreen.space.store import load_space

    found: list[dict[str, object]] = []
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
    if as_json:
        echo_json(found)
    else:
        echo_table(found)


space.add_command(binarize)
space.add_command(build)
space.add_command(fetch)
space.add_command(tree)
