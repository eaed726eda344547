"""Write the table of docs/how-to/guard-prompts.md from the result file."""

from __future__ import annotations

import json

from benchmarks import machine
from benchmarks.pages.page import Table, fill

PAGE = "how-to/guard-prompts.md"


def load() -> Table:
    """What became of the requests."""
    each = json.loads((machine.RESULTS / "proxy_load.json").read_text("utf-8"))
    row = {
        "requests": f"{each['requests']:,}",
        "a second": f"{each['requests_a_second']:.0f}",
        "p50, ms": f"{each['p50_ms']:.0f}",
        "p99, ms": f"{each['p99_ms']:.0f}",
        "texts sent unchanged": str(each["texts_in_clear"]),
        "history drawn again": str(each["changed_history"]),
        "equal noise": str(each["equal_noise"]),
        "lost without an error": str(each["lost"]),
    }
    return Table(list(row), [list(row.values())])


TABLES = {"proxy load": load}

if __name__ == "__main__":
    fill(PAGE, TABLES)
