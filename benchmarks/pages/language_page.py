"""Write the table of docs/how-to/language-models.md from the result file."""

from __future__ import annotations

import json

from benchmarks import machine
from benchmarks.pages.page import Table, fill

PAGE = "how-to/language-models.md"
NAMES = {
    "public": "`english`, the embedded one",
    "kind": "other film reviews",
    "private": "**the private reviews themselves**",
    "private, 3 or more": "**the same, with `--least 3`**",
}


def leak() -> Table:
    """What comes back under each model."""
    result = json.loads((machine.RESULTS / "private_language.json").read_text())
    rows = []
    for name, row in result["models"].items():
        printed = f"{row['phrases_printed']:,} of {result['phrases']:,}"
        rows.append([NAMES[name], f"{row['words_recovered']:.0%}", printed])
    header = ["language model", "words recovered", "phrases printed word for word"]
    return Table(header, rows)


TABLES = {"the leak": leak}

if __name__ == "__main__":
    fill(PAGE, TABLES)
