"""Tables that scripts write into pages of the documentation.

A page has the lines ``<!-- NAME -->`` and ``<!-- end of NAME -->``; what stands between
them is generated. tests/docs/test_generated_tables.py holds pages and results together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"

Tables = Mapping[str, Callable[[], str]]


def fill(page: str, tables: Tables) -> None:
    """Write the tables into a page, named from docs/."""
    path = DOCS / page
    path.write_text(filled(path.read_text(encoding="utf-8"), tables), encoding="utf-8")


def filled(text: str, tables: Tables) -> str:
    """Return the text of a page with its tables replaced.

    Raises
    ------
    ValueError
        If the page does not have the place of a table exactly once.
    """
    for name, table in tables.items():
        start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        place = re.compile(re.escape(start) + ".*?" + re.escape(end), re.DOTALL)
        block = start + table() + end
        text, count = place.subn(lambda _, block=block: block, text)
        if count != 1:
            raise ValueError(f"a page needs one place for {name!r}, found {count}")
    return text


def markdown_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    text_columns: Sequence[int] = (),
) -> str:
    """Return a table; numbers to the right, first and text columns to the left."""
    left = {0, *text_columns}
    rule = ["---" if column in left else "---:" for column in range(len(header))]
    lines = [header, rule, *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)
