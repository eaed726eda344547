"""Write the figures of the user pages in docs/guide from the result files.

``python -m benchmarks guide_page`` runs after ``policies``, ``policy_readings`` and
``device``.
"""

from __future__ import annotations

import json
import math
from importlib.metadata import version
from typing import Any, Final

from benchmarks import machine
from benchmarks.measure.policy_readings import JUDGES
from benchmarks.pages.page import Table, Tables, fill
from benchmarks.pages.policies_page import (
    COLLECTIONS,
    DEFAULT,
    READINGS,
    count_same,
    load,
)
from mondegreen.policy.policy import load_policy

KRR: Final = "sensitive|krr|10|none"
EXAMPLE: Final = "clinc150"
FEWEST: Final = 30
"""Words of a class whose share the example may name."""


def read_rows() -> dict[str, Any]:
    """Results by setting; those of earlier lists where there are no others."""
    found = load("policies")
    return {**found["earlier"], **found["rows"]}


def possible() -> Table:
    """What an attacker recovers of each kind of texts, and how many words stay."""
    rows = read_rows()
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
    found = json.loads(
        (machine.RESULTS / "asks_same_prompts_names.json").read_text("utf-8")
    )
    count, judges = found["conversations"], found["judges"]
    restored = [sum(2 * m.get("y", 0) > count for m in j.values()) for j in judges]
    names, health, *_ = (
        [count_same(j, n) for j in range(len(JUDGES))] for n in READINGS
    )
    return (
        f"Language models judged {len(judges[0])} prompts. With the restoring proxy "
        f"and `names`, each of {len(judges)} judges said that {_list(restored)} "
        "prompts still ask the same ([how](../explanation/private-prompts.md)). "
        f"Without `--restore`, at epsilon 12, each of {len(JUDGES)} said this of "
        f"{_list(names)} prompts under `names`, and of {_list(health)} under "
        "`sensitive --open health`.\n"
    )


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


def assessment() -> str:
    """The text for an impact assessment, with the results of one collection."""
    found = read_rows()[DEFAULT][EXAMPLE]
    attack = found["attack"]
    large = {k: v for k, v in attack["by_class"].items() if v["n"] >= FEWEST}
    worst = max(large, key=lambda name: large[name]["value"])
    digest = load_policy("sensitive").digest
    return (
        "> Free text is altered before it is shared with a vendor for labeling. Nearly "
        "all ordinary words, which a public list names (policy `sensitive`, digest "
        f"{digest[:12]}...), stay. The others are replaced at random (mechanism "
        "`urr`, epsilon 12, version "
        f"{version('mondegreen')}). The limit is per word, not per person. The release "
        f"is pseudonymized personal data. We attacked {attack['texts']:,} texts. With "
        f"a corpus of {attack['corpus_words']:,} words, the attacker recovered up "
        f"to {_percent(attack['high'])} % of the sensitive words, and "
        f"{_percent(large[worst]['value'])} % of the class {worst}. With 1,000 "
        f"originals, the attacker linked {_percent(found['linkage'])} % of the "
        "releases. Columns removed: customer, email, date; unchanged: topic. The head "
        "of support keeps keys, maps, ledgers and reports until 31 March, and the "
        "vendor the release until 28 February. The vendor agrees not to re-identify "
        "people. Risks left: singling out, linkage, inference, false statements. "
        "Measures: the originals stay with us; the release is marked as altered.\n"
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
    "how-to/answer-requests.md": {"assessment": assessment},
}


def main() -> None:
    """Write the pages."""
    for page, tables in PLACES.items():
        fill(page, tables)


if __name__ == "__main__":
    main()
