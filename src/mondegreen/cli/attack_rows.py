"""``mondegreen attack``: what is checked on every row of both files."""

from __future__ import annotations

import math
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any, Final

from mondegreen.cli.score import row_pairs
from mondegreen.errors import SourceError
from mondegreen.wording import amount

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mondegreen.attacks.attack import Attack
    from mondegreen.attacks.printed import AbstractPrintedRows
    from mondegreen.cli.attack import Files
    from mondegreen.io.base import AbstractSource
    from mondegreen.report.sarif import Finding

_ROWS: Final = 1024

_MOST: Final = 0.5
"""If more rows cannot be paired, the release belongs to other texts."""

_MANY: Final = 0.1
"""If more rows cannot be paired, each limit fails, unless a limit allows them."""


def read_all_rows(
    files: Files, rows: AbstractPrintedRows, tell: Callable[[str], object]
) -> None:
    """Show all texts and their releases to what counts them.

    Files with different numbers of rows are refused.
    """
    with files.open(files.sample) as mine, files.open(str(files.release)) as theirs:
        both = (
            (number, text, release)
            for number, texts, releases in row_pairs(mine, theirs)
            for text, release in zip(texts, releases, strict=True)
            if text is not None and release is not None
        )
        while chunk := list(islice(both, _ROWS)):
            tell(f"all rows: {chunk[-1][0]:,}")
            numbers, texts, releases = zip(*chunk, strict=True)
            rows.add(numbers, texts, releases)


def check_pairing(files: Files, rows: AbstractPrintedRows) -> None:
    """Refuse a release most of whose rows belong to other originals."""
    if rows.unpaired > _MOST * rows.rows:
        problem = (
            f"{rows.unpaired:,} of {amount(rows.rows, 'row')} have another number of "
            "words than their original"
        )
        hint = "give both files in the same order, row by row"
        raise SourceError(str(files.release), problem, hint=hint)


def limit_unpaired(found: Mapping[str, Attack]) -> dict[str, float]:
    """Limit the rows that no attack on words sees, where they are counted."""
    unpaired = found.get("unpaired_rows")
    return {} if unpaired is None else {unpaired.name: math.ceil(_MANY * unpaired.n)}


def attack_rows(
    rows: AbstractPrintedRows | None, *, is_drawn: bool = True
) -> dict[str, Attack]:
    """Count rows that no attack on words explains, where a release was read."""
    if rows is None:
        return {}
    found = rows.make_attack(is_drawn=is_drawn), rows.count_unpaired()
    return {each.name: each for each in found}


def describe_reading(rows: AbstractPrintedRows | None) -> dict[str, Any]:
    """Say what was counted on all rows of both files, as JSON values."""
    if rows is None:
        return {}
    return {"rows": rows.rows, "foreign_rows": rows.foreign}


def attack_other_columns(files: Files, spans: str | None = None) -> Attack | None:
    """Look for originals in other columns of the release; None if it has none.

    Units are looked for, too, if ``spans`` names the field that annotates them.
    """
    from mondegreen.attacks.other_columns import OtherColumns

    columns = OtherColumns(spans)
    with (
        files.open(files.sample) as mine,
        files.open(str(files.release)) as theirs,
        files.open(str(files.release)) as again,
    ):
        marked = _iterate_fields(files, spans)
        rows = zip(row_pairs(mine, theirs), _iterate_others(again), strict=False)
        for (_, texts, releases), (others, keys, values) in rows:
            units = _read_units(texts, next(marked, None))
            columns.add(texts, releases, others, keys, units, values)
    return columns.make_attack() if columns.has_columns else None


def _iterate_fields(files: Files, spans: str | None) -> Iterator[Any]:
    return repeat(None) if spans is None else files.field(files.sample, spans)


def _read_units(texts: Sequence[str | None], field: Any) -> list[str]:
    """Read the annotated units of a row that has one text."""
    from mondegreen.attacks.any_tool.spans import read_spans

    if field is None or len(texts) != 1 or (text := texts[0]) is None:
        return []
    return [text[each.start : each.end] for each in read_spans(field, text)]


def _iterate_others(
    source: AbstractSource,
) -> Iterator[tuple[dict[str, str], Iterator[str], dict[str, Any]]]:
    """Yield the other texts of each row, the names of its fields, and its numbers."""
    from mondegreen.io.base import find_keys

    for batch in source.batches():
        for record in source.iterate_other_records(batch):
            texts, values = source.join_texts(record), source.list_values(record)
            yield texts, find_keys(record), values


def say_foreign(rows: AbstractPrintedRows) -> str:
    """Say which rows have words that this setting never prints."""
    listed = ", ".join(map(str, rows.foreign_rows))
    more = ", ..." if rows.foreign > len(rows.foreign_rows) else ""
    has = "has" if rows.foreign == 1 else "have"
    return (
        f"{amount(rows.foreign, 'row')} {has} words that this setting never prints: "
        f"{listed}{more}"
    )


def describe_rows(found: Mapping[str, Attack]) -> Iterator[str]:
    """Say in lines what was counted over rows: numbers of rows, never text."""
    if (rows := found.get("unchanged_rows")) is not None:
        yield from _of_unchanged(rows)
    if (moved := found.get("displaced_rows")) is not None and moved.details["rows"]:
        listed = _list(moved.details["rows"], int(moved.value or 0))
        yield f"rows that belong to the original of another row: {listed}"
    if (others := found.get("other_columns")) is not None:
        for name, count in others.details["columns"].items():
            held, given = count["originals"], count["hidden_words"]
            yield (
                f"column {name!r} of the release: originals in {amount(held, 'row')}, "
                f"hidden words in {amount(given, 'row')}"
            )


def name_columns(attack: Attack) -> str:
    """Name the columns that hold originals, for a message about a limit."""
    columns = attack.details.get("columns", {})
    held = [repr(name) for name, count in columns.items() if count["originals"]]
    return f": column {', '.join(held)} of the release" if held else ""


def find_rows(found: Mapping[str, Attack]) -> Iterator[Finding]:
    """Make a finding of each row that is listed as unchanged, or in a wrong place."""
    from mondegreen.report.sarif import Finding

    problems = {
        "unchanged_rows": "is unchanged",
        "displaced_rows": "belongs to the original of another row",
    }
    for name, problem in problems.items():
        for each in found[name].details["rows"] if name in found else ():
            row = each["row"] if isinstance(each, dict) else each
            yield Finding(name, f"Row {row} {problem}.", row, None, name)


def _of_unchanged(rows: Attack) -> Iterator[str]:
    """Say how many rows stay, and list those that no tool has looked at."""
    count, details = int(rows.value or 0), rows.details
    if "expected" in details:
        by_chance = details["expected"]
        chance = "how many chance explains is not known"
        if by_chance is not None:
            chance = f"at most {by_chance:.2g} expected by chance"
        yield (
            f"rows whose hidden words are all unchanged: {details['found']:,} of "
            f"{rows.n:,} ({chance})"
        )
        if details["rows"]:
            yield f"rows that chance does not explain: {_list(details['rows'], count)}"
        return
    yield f"unchanged rows: {count:,} of {rows.n:,} with units"
    if without := details.get("rows_without_units"):
        yield f"rows without units, in which nothing was looked for: {without:,}"
    if details["rows"]:
        listed = [f"{each['row']} ({each['units']})" for each in details["rows"]]
        yield f"unchanged rows (units): {_list(listed, count)}"


def _list(rows: list[Any], count: int) -> str:
    listed = ", ".join(map(str, rows[:10]))
    return listed + (", ..." if count > len(rows[:10]) else "")
