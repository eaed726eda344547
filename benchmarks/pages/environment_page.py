"""Write what an environment weighs into the page on installing without a network."""

from __future__ import annotations

import json
from typing import Any

from benchmarks import machine
from benchmarks.pages.page import Table, fill

PAGE = "how-to/install-without-a-network.md"
LIBRARIES = {
    "pyarrow": ("pyarrow",),
    "scipy": ("scipy",),
    "faiss-cpu": ("faiss", "faiss_cpu"),
    "numpy": ("numpy",),
    "mondegreen": ("mondegreen",),
    "randomgen": ("randomgen",),
}
"""Distributions, and the folders that they bring."""


def result() -> dict[str, Any]:
    """What the last run has measured."""
    found: dict[str, Any] = json.loads(
        (machine.RESULTS / "environment.json").read_text()
    )
    return found


def table() -> Table:
    """The libraries by weight, and which of the commands tried work without them."""
    measured = result()
    runs = measured["works_without"]
    rows, rest = [], measured["total_mib"]
    for name, folders in LIBRARIES.items():
        size = sum(measured["mib"][folder] for folder in folders)
        rest -= size
        tried = runs.get(folders[0])
        shown = "–" if tried is None else ("yes" if all(tried.values()) else "no")
        rows.append([f"`{name}`", f"{size:.0f}", shown])
    rows += [["all others", f"{rest:.0f}", "–"]]
    rows += [["together", f"{measured['total_mib']:.0f}", "–"]]
    return Table(["library", "MiB", "the four commands work without it"], rows)


TABLES = {"environment": table}

if __name__ == "__main__":
    fill(PAGE, TABLES)
