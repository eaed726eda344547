"""Write the table of hand counts in the page on redactors from the result file."""

from __future__ import annotations

import json

from benchmarks import machine
from benchmarks.pages.page import Table, fill

PAGE = "how-to/check-your-redactor.md"


def table() -> Table:
    """What the attacks count, and what spans count."""
    text = (machine.RESULTS / "hand_counts.json").read_text("utf-8")
    rows = [
        [
            name,
            attack,
            f"{each['units']:,}",
            f"{each['counted']:.0f}",
            f"{each['by_hand']:,}",
            f"{100 * abs(each['counted'] - each['by_hand']) / each['units']:.1f} %",
        ]
        for name, found in json.loads(text)["sets"].items()
        for attack, each in found.items()
    ]
    head = ["set", "attack", "units", "by the attack", "by hand", "difference"]
    return Table(head, rows)


TABLES = {"hand_counts": table}

if __name__ == "__main__":
    fill(PAGE, TABLES)
