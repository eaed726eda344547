"""Write the table of the two trees in docs/explanation/word-trees.md.

``python -m benchmarks tree_shares_page``, after tree_shares.py.
"""

from __future__ import annotations

import json
from typing import Any, Final

from benchmarks import machine
from benchmarks.pages.page import Table, fill

PAGE: Final = "explanation/word-trees.md"
TEXTS: Final = {"imdb": "film reviews", "ag_news": "news"}


def two_trees() -> Table:
    """Every tree and setting: what readers recover, and what is kept."""
    header = [
        "texts",
        "setting",
        "tree",
        "one word guessed",
        "reader",
        "accuracy, raw",
        "accuracy, decoded",
        "cosine, decoded",
        "content found, sure",
    ]
    rows = []
    for data, name in TEXTS.items():
        for setting in _settings(data):
            for digest, facts in _results()["trees"].items():
                found = facts[f"{data}, {setting}"]
                released = found["released"]
                own = released["of the kind"]
                numbers = (
                    found["frequencies of the test rows"]["success"],
                    own["reader"],
                    released["accuracy"],
                    own["accuracy, decoded"],
                    own["cosine, decoded"],
                    own["words read"]["tokens found and sure above 0.6"],
                )
                cells = [f"{number:.3f}" for number in numbers]
                rows.append([name, setting, f"`{digest}`", *cells])
    return Table(header, rows, text_columns=(1, 2))


def _settings(data: str) -> list[str]:
    """The settings that the trees were measured at on some texts."""
    first = next(iter(_results()["trees"].values()))
    return [key.partition(", ")[2] for key in first if key.startswith(f"{data}, ")]


def _results() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        (machine.RESULTS / "tree_shares.json").read_text(encoding="utf-8")
    )
    return found


TABLES: Final = {"two trees": two_trees}


def main() -> None:
    """Write the table."""
    fill(PAGE, TABLES)


if __name__ == "__main__":
    main()
