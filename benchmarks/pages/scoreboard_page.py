"""Write the tables, the picture and the data of docs/explanation/scoreboard.md.

``python -m benchmarks scoreboard_page``, after measure/scoreboard.py.
tests/docs/test_scoreboard_page.py holds page, picture and results together.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from benchmarks import machine
from benchmarks.pages import policies_page
from benchmarks.pages.page import DOCS, Table, fill
from mondegreen.report.charts import PHONE
from mondegreen.report.svg import (
    CARD,
    COLOURS,
    FONT,
    INK,
    QUIET,
    RULE,
    canvas,
    svg_file,
)
from mondegreen_experiments.scoreboard.published import (
    LLM_REDACTOR,
    PRESIDIO,
    PRESIDIO_RESEARCH,
    REDACTOR,
    Printed,
)
from mondegreen_experiments.scoreboard.sets import SETS
from mondegreen_experiments.scoreboard.table import (
    COLUMNS,
    DASH,
    Cell,
    Cells,
    Column,
    choose_columns,
    compute_cell,
    drop_empty,
    find_best,
    get_title,
    is_control,
    list_promises,
    sort_points,
    write_rows,
)
from mondegreen_experiments.scoreboard.tools import BLOCKED, TOOLS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAGE: Final = "explanation/scoreboard.md"
PICTURE: Final = DOCS / "assets" / "scoreboard.svg"
_PANELS: Final = ("units left", "reader", "linkage", "other words kept")
_README_TOOLS: Final = ("presidio-small", "names", "sensitive", "all")
_README_COLUMNS: Final = (
    "units left",
    "reader",
    "linkage",
    "intents",
    "other words kept",
)
_ALONE: Final = 10
"""Annotations of a kind that a share is shown for, at least."""


def load() -> list[dict[str, Any]]:
    """The points of the results."""
    points: list[dict[str, Any]] = _results()["points"]
    return points


def _results() -> dict[str, Any]:
    path = machine.RESULTS / "scoreboard.json"
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def cost() -> str:
    """How long the table took, and where."""
    found = _results()
    about = found["machine"]
    return (
        f"{len(found['points'])} tools on {len(SETS)} sets took "
        f"{found['seconds'] / 60:.0f} minutes on {about['cores']} cores, which had "
        f"{about['load_at_start']:.0f} other processes to run.\n"
    )


def board() -> Table:
    """Every tool on all sets."""
    points = load()
    found = sort_points(points)
    columns = drop_empty(found, COLUMNS)
    header = ["tool", *(column.title for column in columns), "nats"]
    rows = write_rows(found, columns, list_promises(points))
    return Table(header, rows, text_columns=[len(header) - 1])


def readme_board() -> str:
    """The rows of the README: the best known peer, and our policies."""
    found = sort_points(load())
    columns = [each for each in COLUMNS if each.title in _README_COLUMNS]
    rows = [
        [get_title(name), *(_value(column, found, name) for column in columns)]
        for name in _README_TOOLS
    ]
    table = Table(["tool", *(column.title for column in columns)], rows)
    lost = losses().count("\n")
    least, most = read_recovered()
    return (
        "All tools faced the same attacks and tasks. Each cell is a share: 0.20 is "
        "20 %.\n\n"
        f"{table}\n"
        "- *Units left*: annotated names and numbers that stay.\n"
        "- *Reader*: sensitive words that stay or that an attacker guesses. This "
        "attacker knows only general texts. **An attacker with similar texts "
        "recovers "
        f"{round(least)} to {round(most)} %** under `sensitive` "
        "([below](#what-is-not-protected)).\n"
        "- *Linkage*: releases linked to the right original by counting shared "
        "words. Under `all`, an attacker who compares all words links 97 % or more.\n"
        "- *Intents*: bank questions that a classifier sorts correctly.\n\n"
        "We used these texts to build the word lists. In your texts, more names stay. "
        f"Other tools are better in {lost} columns of the full "
        "[scoreboard](docs/explanation/scoreboard.md).\n\n"
        "![Four shares of each tool, from the scoreboard]"
        "(docs/assets/scoreboard.svg)\n"
    )


def read_recovered() -> tuple[float, float]:
    """Percent of sensitive words that an attacker recovers: least and most of sets."""
    rows = policies_page.load("policies")["rows"][policies_page.DEFAULT]
    shares = [rows[name]["attack"]["value"] for name in policies_page.COLLECTIONS]
    return 100 * min(shares), 100 * max(shares)


def by_set() -> Table:
    """Every tool on each set, in plain numbers."""
    found = sort_points(load())
    titles = [column.title for column in choose_columns("")]
    header = ["set", "tool"]
    for title in dict.fromkeys(titles):
        header += [title, f"{title} low", f"{title} high"]
    rows = []
    for name in SETS:
        for tool, cells in found.items():
            row = [name, get_title(tool)]
            for column in choose_columns(name):
                row += _plain(compute_cell(column, cells))
            rows.append(row)
    return Table(header, rows, text_columns=[1])


def _plain(cell: Cell | None) -> list[str]:
    if cell is None or cell.low is None or cell.high is None:
        return [DASH] * 3
    return [f"{each:.3f}" for each in (cell.value, cell.low, cell.high)]


def losses() -> str:
    """The columns that a tool of others wins, and what ours have there."""
    found = sort_points(load())
    lines = []
    for column in drop_empty(found, COLUMNS):
        best = find_best(column, found)
        if any(TOOLS[name].kind == "mondegreen" for name in best):
            continue
        winner = sorted(best)[0]
        ours = [
            f"{TOOLS[name].title} {_value(column, found, name)}"
            for name in ("names", "sensitive", "all")
            if name in found
        ]
        lines.append(
            f"- **{column.title}**: {TOOLS[winner].title} has "
            f"{_value(column, found, winner)}. {', '.join(ours)}.\n"
        )
    return "".join(lines) or "No tool of others is the best of a column.\n"


def _value(column: Column, found: Any, name: str) -> str:
    cell = compute_cell(column, found[name])
    return DASH if cell is None else f"{cell.value:.2f}"


def tools() -> Table:
    """What was run, and how."""
    rows = [
        [get_title(name), TOOLS[name].setting]
        for name in sort_points(load())
        if not is_control(name)
    ]
    return Table(["tool", "what was run"], rows, text_columns=[1])


def blocked() -> str:
    """Tools without numbers, and why."""
    known = sort_points(load())
    absent = {
        each.title: "not measured yet. The command adds its row."
        for name, each in TOOLS.items()
        if name not in known
    }
    return "".join(f"- {name}: {why}\n" for name, why in {**BLOCKED, **absent}.items())


def sets() -> Table:
    """The sets, how many texts and units each has, and what it is for."""
    cells = sort_points(load())["nothing"]
    uses = {
        "": "units left",
        "classes": "classes, reader",
        "intents": "intents",
        "retrieval": "retrieval",
    }
    rows = []
    for name, each in SETS.items():
        cut = f"the last {each.words} words" if each.words else "whole"
        unit = "sensitive words" if each.use else "annotated units"
        found = cells[name]
        count = f"{found['survivors n']:.0f} {unit}" if "survivors n" in found else DASH
        texts = f"{found['texts']:.0f}"
        rows.append([name, f"`{each.file}`", texts, cut, count, uses[each.use]])
    header = ["set", "file", "texts", "each", "units", "columns"]
    return Table(header, rows, text_columns=[1, 3, 4, 5])


def _beside(printed: Sequence[Printed], tools: Sequence[str], place: str) -> Table:
    """A maker's shares of each kind beside ours; only kinds with enough of them."""
    found = sort_points(load())
    measure = "verbatim" if place == REDACTOR else "words"
    known = [name for name in tools if name in found]
    titles = [get_title(name) for name in known]
    header = ["kind", "published", *titles, "annotations (ours)"]
    rows = []
    for each in printed:
        key = f"{measure} {each.kind}"
        cells = [found[name][place] for name in known]
        if not all(cell.get(f"{key} n", 0) >= _ALONE for cell in cells):
            continue
        shares = [
            Cell(cell[key], cell[f"{key} low"], cell[f"{key} high"]).write(bold=False)
            for cell in cells
        ]
        number = f"{cells[0][f'{key} n']:.0f}"
        rows.append([each.kind.lower(), f"{each.value:.3f}", *shares, number])
    return Table(header, rows)


def llm_redactor() -> Table:
    """Its printed leak rates beside those of our run."""
    return _beside(LLM_REDACTOR, ["presidio-small", "sensitive"], REDACTOR)


def presidio_research() -> Table:
    """Its words without a kind beside the words left in our run."""
    tools = ["presidio-small", "presidio-medium", "sensitive"]
    return _beside(PRESIDIO_RESEARCH, tools, PRESIDIO)


def picture() -> str:
    """The picture, with all that it says in words."""
    return f"![{describe()}](../assets/{PICTURE.name})\n"


def describe() -> str:
    """The values of the picture, in words."""
    found = sort_points(load())
    said = [
        f"{get_title(name).replace('`', '')}: "
        + ", ".join(f"{each.title} {_value(each, found, name)}" for each in _shown())
        for name in found
    ]
    return "Four shares of each tool. " + "; ".join(said)


def _shown() -> list[Column]:
    return [column for column in COLUMNS if column.title in _PANELS]


def draw() -> bytes:
    """A row for each tool in four panels, two beside two, as wide as a phone."""
    found = sort_points(load())
    half = 22 * len(found) + 90
    with canvas(PHONE, 2 * half) as drawing:
        for place, column in enumerate(_shown()):
            below, beside = divmod(place, 2)
            corner = 172 + 100 * beside, (1 - below) * half + 30
            axes = drawing.add_axes(
                (corner[0] / PHONE, corner[1] / half / 2, 80 / PHONE, 0.5 - 45 / half)
            )
            _panel(axes, column, found, has_names=not beside)
        return svg_file(drawing, "The scoreboard", describe(), (), follows_theme=True)


def _panel(
    axes: Axes, column: Column, board: Mapping[str, Cells], *, has_names: bool
) -> None:
    """Draw one column of the board: values, and their intervals as lines."""
    axes.set_facecolor(CARD)
    better = "less" if column.goal == "least" else "more"
    title = f"{textwrap.fill(column.title, 12)}\n{better} is better"
    axes.set_title(title, color=INK, size=FONT)
    best = find_best(column, board)
    for row, name in enumerate(board):
        cell = compute_cell(column, board[name])
        if cell is None:
            continue
        colour = COLOURS[_colour(name)][0]
        axes.plot([cell.low, cell.high], [-row, -row], color=colour, lw=1.5)
        size = 8 if name in best else 5
        axes.plot([cell.value], [-row], "o", color=colour, ms=size)
    axes.set_xlim(-0.04, 1.04)
    axes.set_ylim(-len(board) + 0.5, 0.5)
    axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    axes.grid(axis="y", color=RULE, lw=0.8)
    axes.tick_params(length=0, colors=QUIET)
    axes.set_yticks([-row for row in range(len(board))])
    labels = [get_title(name).replace("`", "") for name in board]
    axes.set_yticklabels(labels if has_names else [])
    for side in axes.spines.values():
        side.set_visible(False)


def _colour(name: str) -> str:
    kinds = {"control": "c6", "mondegreen": "c0", "peer": "c1"}
    return kinds[TOOLS[name].kind]


TABLES: Final = {
    "board": board,
    "picture": picture,
    "tools": tools,
    "blocked": blocked,
    "sets": sets,
    "cost": cost,
    "losses": losses,
    "llm-redactor": llm_redactor,
    "presidio-research": presidio_research,
}
DATA: Final = {"scoreboard.csv": by_set}


def main() -> None:
    """Write page, picture and data."""
    PICTURE.write_bytes(draw())
    fill(PAGE, TABLES, DATA)
    fill("../README.md", {"scoreboard": readme_board})


if __name__ == "__main__":
    main()
