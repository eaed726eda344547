"""Write the table of exposed places in the page on context from the result file."""

from __future__ import annotations

import json
from typing import Any

from benchmarks import machine
from benchmarks.measure.context import COLLECTIONS, SETTINGS
from benchmarks.pages.page import Table, fill

PAGE = "how-to/see-what-context-tells.md"
ATTACKERS = ("public", "in-domain")


def table() -> Table:
    """Exposed places in percent of the hidden words, and how many these are."""
    text = (machine.RESULTS / "context.json").read_text("utf-8")
    rows: list[dict[str, Any]] = json.loads(text)["rows"]
    found = {(row["setting"], row["collection"], row["attacker"]): row for row in rows}

    def cell(setting: str, collection: str) -> str:
        public, domain = (found[setting, collection, who] for who in ATTACKERS)
        shares = [
            100 * row["exposed"] / row["hidden_words"] for row in (public, domain)
        ]
        return f"{shares[0]:.0f} / {shares[1]:.0f} % of {public['hidden_words']:,}"

    return Table(
        ["setting", *(f"{name}: public / in-domain" for name in COLLECTIONS)],
        [[name, *(cell(name, each) for each in COLLECTIONS)] for name in SETTINGS],
    )


TABLES = {"exposed": table}

if __name__ == "__main__":
    fill(PAGE, TABLES)
