"""Write the table of docs/how-to/keep-a-conversation.md from the result file."""

from __future__ import annotations

import json

from benchmarks import machine
from benchmarks.pages.page import Table, fill

PAGE = "how-to/keep-a-conversation.md"


def restoring() -> Table:
    """Words that are restored wrongly or not at all, and the time that it takes."""
    each = json.loads((machine.RESULTS / "restoring.json").read_text("utf-8"))
    found, times = each["restorations"], each["latency"]
    plain, ours = times["plain"], times["restore"]
    row = {
        "answers": f"{found['answers']:,}",
        "words restored": f"{found['restored']:,}",
        "wrong": f"{100 * found['wrong of restored']:.3f} %",
        "missed": f"{100 * found['missed of meant']:.3f} %",
        "p50, ms: forwarding alone": f"{plain['p50, ms']:.0f}",
        "restoring": f"{ours['p50, ms']:.0f}",
        "processor, ms: forwarding alone": f"{plain['processor, ms']:.1f}",
        "restoring a request": f"{ours['processor, ms']:.1f}",
    }
    return Table(list(row), [list(row.values())])


TABLES = {"restoring": restoring}

if __name__ == "__main__":
    fill(PAGE, TABLES)
