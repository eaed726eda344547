"""Write the tables of docs/explanation/decoders.md from the result file."""

from __future__ import annotations

from benchmarks.measure.decoders import SIZES, stored
from benchmarks.pages.page import fill, markdown_table

PAGE = "explanation/decoders.md"


def _count(number):
    return f"{number:,}"


def rates_table(result):
    """Return queries a second by size, threads and epsilon."""
    rows = [
        [
            _count(SIZES[part]),
            str(e["threads"]),
            f"{e['epsilon']:g}",
            f"{e['stay']:.2f}",
            str(e["k"]),
            _count(e["exact"]["queries_per_second"]),
            _count(e["fast"]["queries_per_second"]),
            f"{e['fast']['ratio']:.1f}",
            f"{100 * e['fast']['agreement']:.2f} %",
        ]
        for part in SIZES
        for e in result["rates"].get(part, ())
    ]
    header = ["words", "threads", "epsilon", "stay", "k", "exact", "fast", "ratio"]
    return markdown_table([*header, "same words"], rows)


def shares_table(result):
    """Return the rate of mechanisms as a share of their search."""
    rows = [
        [
            e["mechanism"],
            e["decoder"],
            _count(SIZES[part]),
            str(e["threads"]),
            _count(e["search_per_second"]),
            _count(e["words_per_second"]),
            f"{100 * e['share']:.0f} %",
        ]
        for part in SIZES
        for e in result["shares"].get(part, ())
    ]
    header = ["mechanism", "decoder", "words", "threads", "search alone", "mechanism"]
    return markdown_table([*header, "share"], rows, [1])


def tried_table(result):
    """Return the range over epsilons of what was tried."""
    rows = [
        [
            name,
            f"{min(e['ratio'] for e in entries):.2f} to "
            f"{max(e['ratio'] for e in entries):.2f}",
            f"{100 * min(e['agreement'] for e in entries):.1f} %",
        ]
        for name, entries in result["tried"].items()
    ]
    return markdown_table(["filter", "rate over exact", "worst agreement"], rows)


def tables(result):
    """Return the tables of the page, by the name of their place."""
    return {
        "decoders": lambda: rates_table(result),
        "mechanisms over their search": lambda: shares_table(result),
        "filters that were not kept": lambda: tried_table(result),
    }


if __name__ == "__main__":
    fill(PAGE, tables(stored()))
