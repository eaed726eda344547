"""``mondegreen mechanisms``."""

from __future__ import annotations

import inspect
from typing import Any

import click


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print a list of objects.")
def mechanisms(as_json: bool) -> None:
    """List the mechanisms, what they promise, and their parameters.

    \b
    mondegreen mechanisms
    mondegreen mechanisms --json
    """  # noqa: D301
    from mondegreen.cli.render import echo_json, echo_table
    from mondegreen.mechanisms import mechanisms as registry

    rows: list[dict[str, Any]] = [
        {
            "name": cls.name,
            "aliases": list(cls.aliases),
            "family": cls.family,
            "metric": cls.metric,
            "is_private": cls.is_private,
            "parameters": cls.parameters(),
            "summary": (inspect.getdoc(cls) or "").partition("\n")[0],
        }
        for cls in registry()
    ]
    if as_json:
        echo_json(rows)
        return
    echo_table(
        [
            {
                "name": row["name"],
                "aliases": ", ".join(row["aliases"]),
                "family": row["family"],
                "metric": row["metric"],
                "proved": row["is_private"],
                "parameters": ", ".join(map(_parameter, row["parameters"])),
            }
            for row in rows
        ]
    )


def _parameter(declared: dict[str, Any]) -> str:
    """Return a parameter with its default."""
    name: str = declared["name"]
    return name if declared["required"] else f"{name}={declared['default']}"
