"""Write the tables of docs/how-to/private-search.md from the result file."""

from __future__ import annotations

import json
from typing import Any

from benchmarks import machine
from benchmarks.pages.page import Table, fill

PAGE = "how-to/private-search.md"
RANKS = (1, 10, 50, 200)
SHOWN = (None, ("names", 12.0), ("sensitive", 8.0), ("sensitive", 12.0), ("all", 12.0))


def found() -> dict[str, Any]:
    """The results of the last run."""
    text = (machine.RESULTS / "private_search.json").read_text("utf-8")
    result: dict[str, Any] = json.loads(text)
    return result


def setting_of(row: dict[str, Any]) -> str:
    """The policy and epsilon of a row, in words."""
    if row["policy"] is None:
        return "the question as it is"
    return f"`{row['policy']}` {row['epsilon']:g}"


def recall() -> Table:
    """The share of questions whose passage is among the first k, by setting."""
    rows = [
        [name, setting_of(row), *(f"{row[f'recall_at_{k}']:.2f}" for k in RANKS)]
        for name, collection in found()["collections"].items()
        for row in collection["rows"]
        if row["policy"] is None or (row["policy"], row["epsilon"]) in SHOWN
    ]
    return Table(["collection", "released with", *map(str, RANKS)], rows, (1,))


def topics() -> Table:
    """What a server sees, and what comes first at home."""
    rows = []
    for name, collection in found()["collections"].items():
        for row in collection["rows"]:
            is_shown = row["policy"] is None or (row["policy"], row["epsilon"]) in SHOWN
            if is_shown and "topics" in collection:
                seen = row["server_guesses_topic"], row["topic_first_at_home"]
                shares = [f"{100 * share:.0f} %" for share in seen]
                sent = row.get("sent_as_it_is")
                as_it_is = "100 %" if sent is None else f"{100 * sent:.0f} %"
                rows.append([name, setting_of(row), as_it_is, *shares])
    header = [
        "collection",
        "released with",
        "sent unchanged",
        "server finds the topic",
        "topic of the first passage on your machine",
    ]
    return Table(header, rows, (1,))


def cost() -> str:
    """What is fetched: passages, and bytes of these collections."""
    result = found()
    parts = [
        f"{name} {collection['passages']:,} passages of "
        f"{collection['bytes_of_a_passage']:.0f} bytes on average"
        for name, collection in result["collections"].items()
    ]
    sizes = [c["bytes_of_a_passage"] for c in result["collections"].values()]
    low, high = (round(50 * size / 1000, 1) for size in (min(sizes), max(sizes)))
    return (
        f"Collections: {'; '.join(parts)}. So 50 passages are {low} to {high} kB. "
        f"{result['queries']:,} questions were asked of each.\n"
    )


def everything() -> Table:
    """All settings and measures."""
    names = [
        *(f"recall_at_{k}" for k in RANKS),
        "first_at_home",
        "among_five_at_home",
        "server_guesses_topic",
        "topic_first_at_home",
        "sent_as_it_is",
    ]
    rows = []
    for name, collection in found()["collections"].items():
        for row in collection["rows"]:
            values = [f"{row[n]:.3f}" if n in row else "–" for n in names]
            epsilon = f"{row['epsilon']:g}" if "epsilon" in row else "–"
            rows.append([name, row["policy"] or "–", epsilon, *values])
    return Table(["collection", "policy", "epsilon", *names], rows, (1,))


TABLES = {"recall": recall, "topics": topics, "cost": cost}

DATA = {"private-search.csv": everything}

if __name__ == "__main__":
    fill(PAGE, TABLES, DATA)
