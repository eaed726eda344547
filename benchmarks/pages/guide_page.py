"""Write the figures of the user pages in docs/guide from the result files.

``python -m benchmarks guide_page`` runs after ``policies``, ``policy_readings`` and
``device``.
"""

from __future__ import annotations

import json
import math
from typing import Any, Final

from benchmarks import machine
from benchmarks.pages.page import Table, Tables, fill
from benchmarks.pages.policies_page import (
    COLLECTIONS,
    DEFAULT,
    JUDGES,
    READINGS,
    load,
    marks_of,
)

KRR: Final = "sensitive|krr|10|none"


def possible() -> Table:
    """What an attacker recovers of each kind of texts, and how many words stay."""
    rows = load("policies")["rows"]
    body = []
    for name in COLLECTIONS:
        cells = [name]
        for setting in (DEFAULT, KRR):
            found = rows[setting][name]
            attack = found["attack"]
            low, high = _percent(attack["low"]), _percent(attack["high"])
            cells.append(f"{_percent(attack['value'])} % ({low} to {high})")
            cells.append(f"{_percent(found['kept'])} %")
        body.append(cells)
    header = ["texts"]
    for setting in ("default", "`krr` 10"):
        header += [f"recovered, {setting}", f"words that stay, {setting}"]
    return Table(header, body)


def prompts() -> str:
    """How many of twenty prompts still ask the same, in both tests."""
    found = json.loads((machine.RESULTS / "asks_same_prompts.json").read_text("utf-8"))
    count, judges = found["conversations"], found["judges"]
    restored = [sum(2 * m.get("y", 0) > count for m in j.values()) for j in judges]
    names, health = ([_count_same(j, n) for j in range(len(JUDGES))] for n in READINGS)
    return (
        f"Language models judged {len(judges[0])} prompts. With the restoring proxy "
        f"and `names`, each of {len(judges)} judges said that {_list(restored)} prompts "
        "still ask the same ([how](../explanation/private-prompts.md)). Without "
        f"`--restore`, at epsilon 12, each of {len(JUDGES)} judges said this of "
        f"{_list(names)} prompts under `names`, and of {_list(health)} under "
        "`sensitive --open health`.\n"
    )


def _count_same(judge: int, policy: str) -> int:
    """Count the prompts that ask the same in most of their five draws."""
    return sum(each.count("y") > 2 for each in marks_of(judge)[policy])


def download() -> str:
    """The sizes of the two files that a page serves, compressed and rounded up."""
    path = machine.RESULTS / "device.json"
    sizes: dict[str, Any] = json.loads(path.read_text("utf-8"))["download"]
    artifact = sizes["policy artifact, one epsilon"]["gzip"]
    client = sizes["module"]["gzip"]
    return (
        f"Compressed, the artifact has {math.ceil(artifact / 1e3)} kB and the client "
        f"has {math.ceil(client / 1e3)} kB.\n"
    )


def _percent(share: float) -> int:
    return round(100 * share)


def _list(numbers: list[int]) -> str:
    """Join numbers by "or", each once."""
    return " or ".join(str(each) for each in sorted(set(numbers)))


PLACES: Final[dict[str, Tables]] = {
    "guide/choose.md": {"possible": possible},
    "guide/service-and-prompts.md": {"twenty prompts": prompts},
    "guide/browser.md": {"download": download},
}


def main() -> None:
    """Write the pages."""
    for page, tables in PLACES.items():
        fill(page, tables)


if __name__ == "__main__":
    main()
