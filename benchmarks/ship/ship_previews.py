"""Write the previews of the default settings, so that a start of them measures nothing.

And what attackers recovered under the shipped policies, from results/policies.json.

A preview is kept under a digest of all that decides it. A setting that differs in
anything has another digest, and is measured when somebody asks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import mondegreen as mg
from benchmarks import machine
from mondegreen.scores.preview import ATTACKED, MEASURED, measure, preview_key
from mondegreen.text.lookup import Lookup

EPSILONS = (2.0, 4.0, 6.0, 8.0, 10.0, 12.0)
READ = ("none", "words", "sentence")


def row(epsilon: float, read: str) -> dict[str, object]:
    """Measure one setting of the tree on the default space."""
    made = mg.Privatizer(mg.mechanism("tree", epsilon=epsilon), read=read)
    parts = made.state, Lookup(made.space), made.reading
    return {
        "mechanism": "tree",
        "epsilon": epsilon,
        "read": read,
        "key": preview_key(*parts),
        "preview": measure(*parts, with_attacker=True).to_dict(),
    }


def attacked() -> list[dict[str, object]]:
    """What the attacker of docs/explanation/policies.md recovered, by setting."""
    found = json.loads((machine.RESULTS / "policies.json").read_text())
    rows = []
    for setting, by_texts in found["rows"].items():
        policy, mechanism, epsilon, _ = setting.split("|")
        if policy not in found["policies"]:
            continue
        shares = [x["attack"]["value"] for x in by_texts.values() if "attack" in x]
        rows.append(
            {
                "policy": found["policies"][policy]["digest"],
                "mechanism": mechanism,
                "epsilon": float(epsilon),
                "least": min(shares),
                "most": max(shares),
                "kinds": len(shares),
            }
        )
    return rows


def write(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Write rows, one a line."""
    lines = ",\n".join(json.dumps(each) for each in rows)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(f"{len(rows)} rows: {path.name}")


def main() -> None:
    """Write both files."""
    write(MEASURED, [row(epsilon, read) for epsilon in EPSILONS for read in READ])
    write(ATTACKED, attacked())


if __name__ == "__main__":
    main()
