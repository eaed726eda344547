"""Write the tables of docs/how-to/keep-a-conversation.md from the result files."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from benchmarks import machine
from benchmarks.pages.page import Table, fill

PAGE = "how-to/keep-a-conversation.md"


def restoring() -> Table:
    """Words that are restored wrongly or not at all, and the time that it takes."""
    each = _load("restoring")
    found, times = each["restorations"], each["latency"]
    plain, ours = times["plain"], times["restore"]
    row = {
        "answers": f"{found['answers']:,}",
        "words restored": f"{found['restored']:,}",
        "wrong": f"{100 * found['wrong of restored']:.3f} %",
        "missed": f"{100 * found['missed of meant']:.3f} %",
        "p50, ms: forwarding alone": f"{plain['p50, ms']:.0f}",
        "restoring": f"{ours['p50, ms']:.0f}",
        "processor, ms: forwarding alone": f"{plain['processor, ms']:.1f}",
        "restoring a request": f"{ours['processor, ms']:.1f}",
    }
    return Table(list(row), [list(row.values())])


def reformatting() -> Table:
    """What comes back of days, times and numbers in another form, by kind."""
    found = _load("reformatting")
    rows = []
    for name, each in (*found["forms"].items(), ("all", found["all"])):
        count = each["sentences"]
        shares = (f"{100 * each.get(how, 0) / count:.2f} %" for how in _OUTCOMES)
        rows.append([name, f"{count:,}", *shares])
    return Table(["in another form", "sentences", *_OUTCOMES], rows)


def chance() -> str:
    """How many sentences that have nothing to do with the prompt change."""
    found = _load("reformatting")["nothing to do with it"]
    share = 100 * found["wrong by chance"] / found["sentences"]
    return (
        f'Of {found["sentences"]:,} other sentences, such as "See you on Sun." and '
        f'"Wed is a verb.", {share:.1f} % change by chance.\n'
    )


_OUTCOMES = ("restored", "missed", "wrong")
_LANGUAGES = {
    "en": "English", "fr": "French", "de": "German", "es": "Spanish",
    "it": "Italian", "pt": "Portuguese", "nl": "Dutch",
}  # fmt: skip


def translating() -> Table:
    """Weekdays and months in answers, by language."""
    heads = [
        "language", "sentences", "names to restore", "restored in the language",
        "as the user wrote it", "missed", "wrong by chance", "wrong otherwise",
    ]  # fmt: skip
    rows = []
    for code, name in _LANGUAGES.items():
        found = _load("translating")["languages"][code]
        as_written = found.get("as the user wrote it", 0)
        by_chance = found.get("wrong by chance", 0)
        rows.append(
            [
                name,
                f"{found['sentences']:,}",
                f"{found['meant']:,}",
                f"{found['meant'] - found['missed'] - as_written:,}",
                f"{as_written:,}",
                f"{found['missed']:,}",
                f"{by_chance:,}",
                f"{found['wrong'] - by_chance:,}",
            ]
        )
    return Table(heads, rows)


def surrogates() -> str:
    """How many weekdays and months have a surrogate that can be translated."""
    found = _load("translating")["surrogates"]
    share = 100 * found["of the table"] / found["all"]
    return (
        f"{share:.0f} of 100 weekdays and months had a weekday or month as their "
        "surrogate.\n"
    )


def _load(name: str) -> Any:
    return json.loads((machine.RESULTS / f"{name}.json").read_text("utf-8"))


TABLES: dict[str, Callable[[], Table | str]] = {
    "restoring": restoring,
    "reformatting": reformatting,
    "by chance": chance,
    "translating": translating,
    "translated surrogates": surrogates,
}

if __name__ == "__main__":
    fill(PAGE, TABLES)
