"""Write which results a figure comes from: version, day and digest of each file."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any, Final

from benchmarks.machine import RESULTS
from benchmarks.pages.page import DOCS, Table, fill

PAGE: Final = "data/index.md"
DIGITS: Final = 16
"""Of a digest, which has 64."""

_PAGE: Final = re.compile(r'^PAGE\b.*= "([^"]+)"', re.MULTILINE)


def results() -> Table:
    """Every file of results, and the pages that hold its figures."""
    header = ["results", "version", "day", "SHA-256, first 16 digits", "pages"]
    pages = {
        path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(DOCS.rglob("*.md"))
        if path != DOCS / PAGE
    }
    scripts = [
        (found[1], text)
        for path in sorted(Path(__file__).parent.glob("*.py"))
        if (found := _PAGE.search(text := path.read_text(encoding="utf-8")))
    ]
    lines = []
    for path in sorted(RESULTS.glob("*.json")):
        data = path.read_bytes()
        version, day = _about(json.loads(data))
        digest = hashlib.sha256(data).hexdigest()[:DIGITS]
        named = re.compile(rf"benchmarks(?: |/(?:\w+/)*){path.stem}\b")
        found = {page for page, text in pages.items() if named.search(text)}
        read = re.compile(rf'\("{path.stem}"\)|"{path.name}"')
        found |= {page for page, text in scripts if read.search(text)}
        links = ", ".join(f"[{Path(page).stem}](../{page})" for page in sorted(found))
        lines.append([f"`{path.name}`", version, day, f"`{digest}`", links or "–"])
    return Table(header, lines, (1, 2, 3, 4))


def _about(content: dict[str, Any]) -> tuple[str, str]:
    """The version that measured, and the day."""
    machine = content.get("machine", {})
    version = machine.get("versions", {}).get("mondegreen") or content.get("mondegreen")
    return version or "–", _say_days(content) or machine.get("date") or "–"


def _say_days(content: dict[str, Any]) -> str:
    """The first and the last day, where each result has a day of its own."""
    results = content.get("results")
    parts = results if isinstance(results, list) else []
    days = sorted(
        {
            each["machine"]["date"]
            for each in parts
            if isinstance(each, dict) and each.get("machine", {}).get("date")
        }
    )
    return " to ".join(dict.fromkeys([days[0], days[-1]])) if days else ""


TABLES: Final = {"results": results}


def main() -> None:
    """Write the table."""
    fill(PAGE, TABLES)


if __name__ == "__main__":
    main()
