"""Write the tables of counted rows in the page on redactors from the result file."""

from __future__ import annotations

import json
from typing import Any

from benchmarks import machine
from benchmarks.pages.page import Table, fill

PAGE = "how-to/check-your-redactor.md"


def _read() -> dict[str, Any]:
    text = (machine.RESULTS / "attack_rows.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def displaced_table() -> Table:
    """Rows that are counted as displaced: of a good release, and of a spoiled one."""
    kinds = ("masks", "sensitive", "names", "sensitive at 2", "all")
    rows = [
        [
            name,
            f"{found['texts']:,}",
            *(
                f"{found['displaced'][kind]['good']} / "
                f"{found['displaced'][kind]['swapped']}"
                for kind in kinds
            ),
        ]
        for name, found in _read()["sets"].items()
    ]
    names = ("masks", "`sensitive`", "`names`", "`sensitive`, epsilon 2", "`all`")
    return Table(["set", "rows", *names], rows)


def raw_table() -> Table:
    """Rows that stay, those that chance does not explain, and raw rows that are found.

    All are of a release under a policy, at epsilon 12.
    """
    rows = [
        [
            name,
            f"`{policy}`",
            f"{each['stay']}",
            f"{each['expected']:.1f}",
            f"{each['good']:.0f}",
            f"{each['raw_rows_found']}",
        ]
        for name, found in _read()["sets"].items()
        for policy, each in found["unchanged"].items()
    ]
    head = ["set", "policy", "untouched by chance", "expected, at most", "false alarms"]
    return Table([*head, "of 40 original rows, found"], rows)


TABLES = {"displaced_rows": displaced_table, "raw_rows": raw_table}

if __name__ == "__main__":
    fill(PAGE, TABLES)
