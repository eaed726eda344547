"""Write docs/explanation/decoders.md and its data from the result file."""

from __future__ import annotations

import json

from benchmarks import machine
from benchmarks.measure.decoders import SIZES, stored
from benchmarks.pages.page import Table, fill

PAGE = "explanation/decoders.md"


def _count(number):
    return f"{number:,}"


def rates_table(result):
    """Queries a second by size, threads and epsilon."""
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
    return Table([*header, "same words"], rows)


def shares_table(result):
    """The rate of mechanisms as a share of their search."""
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
    return Table([*header, "share"], rows, [1])


def tried_table(result):
    """The range over epsilons of what was tried."""
    rows = [
        [
            name,
            f"{min(e['ratio'] for e in entries):.2f} to "
            f"{max(e['ratio'] for e in entries):.2f}",
            f"{100 * min(e['agreement'] for e in entries):.1f} %",
        ]
        for name, entries in result["tried"].items()
    ]
    return Table(["filter", "rate over exact", "worst agreement"], rows)


def summary(result):
    """The range of the gain of the fast decoder, and its worst agreement."""
    rows = []
    for part in SIZES:
        for threads in (1, 2):
            found = [
                e for e in result["rates"].get(part, ()) if e["threads"] == threads
            ]
            if found:
                fast = [e["fast"] for e in found]
                exact = [e["exact"]["queries_per_second"] for e in found]
                rates = [e["queries_per_second"] for e in fast]
                ratios = [e["ratio"] for e in fast]
                rows.append(
                    [
                        _count(SIZES[part]),
                        str(threads),
                        f"{_count(min(exact))} to {_count(max(exact))}",
                        f"{_count(min(rates))} to {_count(max(rates))}",
                        f"{min(ratios):.1f} to {max(ratios):.1f}",
                        f"{100 * min(e['agreement'] for e in fast):.2f} %",
                    ]
                )
    header = ["words", "threads", "exact, a second", "fast, a second", "ratio"]
    return Table([*header, "same words, least"], rows)


def gpu_table(result):
    """Rates and equal words of ``torch`` on a GPU, over all epsilons of a size."""
    rows = []
    for size in dict.fromkeys(row["words"] for row in result["rows"]):
        found = [row for row in result["rows"] if row["words"] == size]
        rates = [row["queries_a_second"] for row in found]
        plain = [row["float64_queries_a_second"] for row in found]
        compared = sum(row["compared"] for row in found)
        equal = compared - sum(row["other_words"] for row in found)
        rows.append(
            [
                _count(size),
                f"{min(rates):,.0f} to {max(rates):,.0f}",
                f"{min(plain):,.0f} to {max(plain):,.0f}",
                f"{equal:,} of {compared:,}",
            ]
        )
    header = ["words", f"torch on {result['gpu']}, a second", "NumPy in float64"]
    return Table([*header, "same words"], rows)


def _stored_gpu():
    return json.loads((machine.RESULTS / "gpu_decoder.json").read_text("utf-8"))


TABLES = {
    "decoders": lambda: summary(stored()),
    "decoder on a gpu": lambda: gpu_table(_stored_gpu()),
    "filters that were not kept": lambda: tried_table(stored()),
}
DATA = {
    "decoders.csv": lambda: rates_table(stored()),
    "decoders-in-mechanisms.csv": lambda: shares_table(stored()),
}


if __name__ == "__main__":
    fill(PAGE, TABLES, DATA)
