"""The scoreboard as a recipe: every tool on every set that is here."""

from __future__ import annotations

import dataclasses
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

from mondegreen.errors import ConfigurationError, UnknownNameError
from mondegreen.policy.policy import find_policy
from mondegreen_experiments.bench import Bench
from mondegreen_experiments.recipe import Recipe, Scale, place
from mondegreen_experiments.result import Result
from mondegreen_experiments.scoreboard.measure import measure
from mondegreen_experiments.scoreboard.peers import (
    compute_digest,
    has_peer,
    install_peers,
)
from mondegreen_experiments.scoreboard.sets import FULL, SETS, describe_file
from mondegreen_experiments.scoreboard.table import (
    COLUMNS,
    Goal,
    choose_columns,
    drop_empty,
    list_promises,
    list_sets,
    sort_points,
    write_rows,
)
from mondegreen_experiments.scoreboard.tools import BLOCKED, TOOLS

NAME: Final = "scoreboard"
_MOST: Final = 500
"""Texts of a set that was added."""


@final
@dataclass(frozen=True, slots=True)
class Asked:
    """What a user adds to the scoreboard."""

    sets: Sequence[str] = ()  # NAME=FILE
    spans: str = ""  # the field of annotations in these files
    tools: Sequence[str] = ()  # NAME=COMMAND
    has_peers: bool = False  # whether the tools of others run too
    installs: bool = True  # those of them that are not there
    only: Sequence[str] = ()  # the tools that run, if not all

    def __bool__(self) -> bool:
        given = self.sets, self.spans, self.tools, self.has_peers, self.only
        return any(map(bool, given))


RECIPE: Final = Recipe(
    name=NAME,
    paper="mondegreen",
    title="What tools leave in a text, and what it is still good for",
    differs="Tools of others run with their own defaults; sets are samples.",
    measure=measure,
    points={"quick": [], "full": []},
    seeds={"quick": 1, "full": 1},
    needs=["sklearn"],
)
"""Its grid depends on what is here: see :func:`build_recipe`."""


def build_recipe(
    asked: Asked, bench: Bench, scale: Scale, tell: Callable[[str], object]
) -> Recipe:
    """Return the recipe with a grid of the tools and sets that are here.

    The tools of others run only if they are asked for. What is not here is named: sets
    that the folder of data lacks, and tools whose environment is not there.

    Raises
    ------
    ConfigurationError
        Where there is no set, or an option cannot be read.
    """
    if asked.spans and not asked.sets:
        raise ConfigurationError("--spans goes with --set NAME=FILE")
    tools = [_point_of_tool(name) for name in _choose_tools(asked, tell)]
    tools += [_point_of_command(given) for given in asked.tools]
    sets = _sets(asked, bench, scale, tell)
    points = [{**tool, **each} for each in sets for tool in tools]
    return dataclasses.replace(RECIPE, points={"quick": points, "full": points})


def _choose_tools(asked: Asked, tell: Callable[[str], object]) -> list[str]:
    """Name the tools that run; those of others only if they are asked for."""
    for name in asked.only:
        if name not in TOOLS:
            raise UnknownNameError("tool", name, list(TOOLS))
    chosen = [name for name in TOOLS if not asked.only or name in asked.only]
    peers = [name for name in chosen if TOOLS[name].kind == "peer"]
    runs_peers = asked.has_peers or bool(asked.only)
    if peers and runs_peers and asked.installs:
        install_peers(peers, tell)
    absent = [name for name in peers if not (runs_peers and has_peer(name))]
    if absent:
        tell(f"left out: {', '.join(absent)} (--peers installs and runs them)")
    for name, why in {} if asked.only else BLOCKED.items():
        tell(f"left out: {name}. {why}")
    return [name for name in chosen if name not in absent]


def _sets(
    asked: Asked, bench: Bench, scale: Scale, tell: Callable[[str], object]
) -> list[dict[str, Any]]:
    """Name the sets: those of the bench are one part, and each file is another."""
    times = FULL if scale == "full" else 1
    lacks = bench.lacks([each.file for each in SETS.values()])
    if lacks:
        tell(f"left out: {', '.join(lacks)} (--data FOLDER)")
    files = [describe_file(given, asked.spans, times * _MOST) for given in asked.sets]
    if len(lacks) < len(SETS):
        return [{"times": times, "lacks": ", ".join(lacks)}, *files]
    if not files:
        raise ConfigurationError(
            "there is no set of texts: name a folder with --data FOLDER, or a file "
            "with --set NAME=FILE"
        )
    return list(files)


def _point_of_tool(name: str) -> dict[str, Any]:
    """Name a tool, and what a kept run of it depends on besides this code.

    That is the worker and the versions of a peer, and the lists of a policy.
    """
    if TOOLS[name].kind == "peer":
        return {"tool": name, "pinned": compute_digest(name)}
    settings = TOOLS[name].settings
    policy = None if settings is None else find_policy(settings.resolve())
    return {"tool": name} | ({} if policy is None else {"lists": policy.digest[:12]})


def _point_of_command(given: str) -> dict[str, Any]:
    """Read ``NAME=COMMAND``; what it does may change, so it always runs again."""
    name, _, command = given.partition("=")
    if not name or not command or name in TOOLS:
        raise ConfigurationError(
            f"--tool {name}: write NAME=COMMAND, with a name that no other tool has"
        )
    return {"tool": name, "command": command, "started": round(time.time(), 3)}


def list_points(result: Result) -> list[dict[str, Any]]:
    """List what each tool got, on one line for each value."""
    return [
        {
            "point": dict(point),
            "values": {name: round(mean.value, 6) for name, mean in means.items()},
            "texts": dict(result.texts[place(point)]),
        }
        for point, means in result.means
    ]


def write_board(result: Result) -> list[tuple[str, list[dict[str, object]]]]:
    """Write tables for a terminal: one of all sets of the bench, then one of each set.

    The first is left out where a set of the bench is missing. A star marks the best
    values of a column.
    """
    points = list_points(result)
    board, promises = sort_points(points), list_promises(points)
    tables = []
    if set(SETS) <= set(list_sets(board)):
        tables.append(("all sets", drop_empty(board, COLUMNS)))
    tables += [
        (name, drop_empty(board, choose_columns(name))) for name in list_sets(board)
    ]
    return [
        (
            title,
            [
                dict(
                    zip(["tool", *(c.title for c in columns), "nats"], row, strict=True)
                )
                for row in map(_unmark, write_rows(board, columns, promises))
            ],
        )
        for title, columns in tables
    ]


def _unmark(row: Sequence[str]) -> list[str]:
    """Write cells without Markdown: a star behind the best values."""
    return [re.sub(r"\*\*(.+?)\*\*", r"\1*", cell).replace("`", "") for cell in row]


def explain_columns(rows: Sequence[Mapping[str, object]]) -> str:
    """Say which columns are better if they are smaller, and what the signs mean."""
    titles = {title for row in rows for title in row}
    named: dict[Goal, list[str]] = {"least": [], "most": []}
    for column in (*COLUMNS, *choose_columns("")):
        if column.title in titles and column.title not in named[column.goal]:
            named[column.goal].append(column.title)
    less, more = ", ".join(named["least"]), ", ".join(named["most"])
    return (
        f"Less is better: {less}. More is better: {more}. *: the best value of a "
        "column, controls aside. Brackets: 95 %. Without --spans, units are the "
        "sensitive words of our list."
    )
