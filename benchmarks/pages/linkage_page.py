"""Write the table of linkage in docs/how-to/attack-a-release.md from the results."""

from __future__ import annotations

import json
from typing import Any

from benchmarks import machine
from benchmarks.pages.page import Table, fill

PAGE = "how-to/attack-a-release.md"
WAYS = (
    "first 5 words",
    "all words",
    "groups in any order",
    "structure",
    "number of words",
)


def rows() -> list[dict[str, Any]]:
    """The rows of the last run, where structure is kept."""
    text = (machine.RESULTS / "linkage.json").read_text("utf-8")
    return [row for row in json.loads(text)["rows"] if row["structure"] == "keep"]


def table() -> Table:
    """Shares of releases that are linked, in percent."""
    return Table(
        ["texts", "words per text", *WAYS],
        [
            [
                row["collection"],
                f"{row['words_per_text']:g}",
                *(f"{100 * row['linked'][way]:.3g}" for way in WAYS),
            ]
            for row in rows()
        ],
    )


TABLES = {"linkage": table}

if __name__ == "__main__":
    fill(PAGE, TABLES)
