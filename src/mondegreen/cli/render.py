"""What the verbs print: tables, facts and their JSON twins, on standard output."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import click


def echo_json(value: object) -> None:
    """Print a value as JSON."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def echo_facts(facts: Mapping[str, object]) -> None:
    """Print a fact per line."""
    width = max(map(len, facts))
    for key, value in facts.items():
        click.echo(f"{key:{width}}  {_cell(value)}")


def echo_table(rows: Sequence[Mapping[str, object]]) -> None:
    """Print rows under their names, in columns.

    Parameters
    ----------
    rows : sequence of mappings with the same keys
        At least one.
    """
    table = [list(rows[0])]
    for row in rows:
        table.append([_cell(row[k]) or "-" for k in row])
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for line in table:
        cells = (f"{cell:{n}}" for cell, n in zip(line, widths, strict=True))
        click.echo("  ".join(cells).rstrip())


def _cell(value: object) -> str:
    """Return a value as people read it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_cell(each)}" for key, each in value.items())
    return f"{value:,}" if isinstance(value, int) else str(value)
