"""Write the table of docs/how-to/run-a-service.md from the result file."""

from __future__ import annotations

import json

from benchmarks import machine
from benchmarks.pages.page import Table, fill

PAGE = "how-to/run-a-service.md"
HEADER = [
    "service",
    "requests/s",
    "p50, ms",
    "p99, ms",
    "texts sent unchanged",
    "words unchanged",
    "equal noise",
    "lost without an error",
]


def load() -> str:
    """What became of the requests to each service."""
    found = json.loads((machine.RESULTS / "service_load.json").read_text())
    rows = [
        [
            name,
            f"{each['requests_per_second']:.0f}",
            f"{each['p50_ms']:.0f}",
            f"{each['p99_ms']:.0f}",
            f"{each['texts_in_clear']:,}",
            f"{100 * each['words_in_place_unchanged']:.0f} %",
            f"{each['equal_releases']:,}" if "mondegreen" in name else "no noise",
            str(each["lost_without_an_error"]),
        ]
        for name, each in found["services"].items()
    ]
    averages = found["load_averages"]
    said = f"Load average meanwhile: {min(averages):.0f} to {max(averages):.0f}."
    return f"\n{Table(HEADER, rows)}\n{said}\n\n"


TABLES = {"service load": load}

if __name__ == "__main__":
    fill(PAGE, TABLES)
