"""Write the names of weekdays and months, as answers that are translated have them.

    python -m benchmarks calendar_names [--check]

Writes the table of the package and that of the device client from the Unicode CLDR,
which the library babel holds. ``--check`` compares, and exits 1 where a file is another
one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Final

from babel.dates import get_day_names, get_month_names

ROOT: Final = Path(__file__).resolve().parents[2]
LANGUAGES: Final = ("en", "fr", "de", "es", "it", "pt", "nl")
TABLE: Final = ROOT / "src/mondegreen/prompts/calendar_names.json"
CLIENT: Final = ROOT / "clients/js/src/calendar-names.ts"


def names() -> dict[str, list[str]]:
    """Return Monday to Sunday and January to December in each language."""
    found = {}
    for each in LANGUAGES:
        days = get_day_names("wide", locale=each)
        months = get_month_names("wide", locale=each)
        found[each] = [days[i] for i in range(7)] + [months[i] for i in range(1, 13)]
    return found


def check(table: dict[str, list[str]]) -> None:
    """Stop where one name stands for two days or months: it could not be restored."""
    meanings: dict[str, set[int]] = {}
    for each in table.values():
        for i, name in enumerate(each):
            meanings.setdefault(name.casefold(), set()).add(i)
    several = sorted(name for name, found in meanings.items() if len(found) > 1)
    if several:
        raise SystemExit(f"these names stand for two: {', '.join(several)}")


def main() -> int:
    """Write both files, or compare them."""
    table = names()
    check(table)
    rows = [
        f"{json.dumps(language)}: {json.dumps(each, ensure_ascii=False)}"
        for language, each in table.items()
    ]
    text = "{\n " + ",\n ".join(rows) + "\n}\n"
    says = "/** Monday to Sunday, January to December: `benchmarks calendar_names`. */"
    kind = "Readonly<Record<string, readonly string[]>>"
    typed = f"{says}\nexport const NAMES: {kind} = {text.rstrip()};\n"
    files = {TABLE: text, CLIENT: typed}
    if "--check" in sys.argv:
        return int(any(p.read_text("utf-8") != t for p, t in files.items()))
    for path, content in files.items():
        path.write_text(content, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
