"""Tables that scripts write into pages of the documentation, and files of data.

A page has the lines ``<!-- NAME -->`` and ``<!-- end of NAME -->``; what stands between
them is generated. What is too long to read is a CSV file in docs/data, of which
docs/data/index.md says what it holds. tests/docs/test_generated_tables.py holds pages,
data and results together.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
DATA = DOCS / "data"


@dataclass(frozen=True)
class Table:
    """A table of text; as a string it is Markdown.

    Numbers stand to the right, the first column and the text columns to the left.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    text_columns: Sequence[int] = ()

    def __str__(self) -> str:
        left = {0, *self.text_columns}
        columns = range(len(self.header))
        rule = ["---" if column in left else "---:" for column in columns]
        lines = [self.header, rule, *self.rows]
        return "".join("| " + " | ".join(line) + " |\n" for line in lines)

    def csv(self) -> str:
        """The same for programs: plain names and numbers, nothing for a dash."""
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([map(_plain, row) for row in (self.header, *self.rows)])
        return file.getvalue()

    def under(self, column: str, value: str) -> Table:
        """The table with one more column in front, of one value."""
        rows = [[value, *row] for row in self.rows]
        return Table([column, *self.header], rows)

    def __add__(self, other: Table) -> Table:
        """Both tables, one below the other; their columns are the same."""
        if list(self.header) != list(other.header):
            raise ValueError("tables with other columns do not go below each other")
        return Table(self.header, [*self.rows, *other.rows], self.text_columns)


Tables = Mapping[str, Callable[[], object]]
Data = Mapping[str, Callable[[], Table]]


def _plain(cell: str) -> str:
    cell = cell.replace("`", "").replace("\\|", "|")
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", cell):
        return cell.replace(",", "")
    return "" if cell == "–" else cell


def fill(page: str, tables: Tables, data: Data | None = None) -> None:
    """Write the tables into a page, named from docs/, and the files of its data."""
    path = DOCS / page
    path.write_text(filled(path.read_text(encoding="utf-8"), tables), encoding="utf-8")
    DATA.mkdir(exist_ok=True)
    for name, table in (data or {}).items():
        (DATA / name).write_text(table().csv(), encoding="utf-8")


def filled(text: str, tables: Tables) -> str:
    """The text of a page with its tables renewed; each must have its place once."""
    for name, table in tables.items():
        start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        place = re.compile(re.escape(start) + ".*?" + re.escape(end), re.DOTALL)
        block = f"{start}{table()}{end}"
        text, count = place.subn(lambda _, block=block: block, text)
        if count != 1:
            raise ValueError(f"a page needs one place for {name!r}, found {count}")
    return text
