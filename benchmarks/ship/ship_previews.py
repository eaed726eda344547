"""Write the previews of the default settings, so that a start of them measures nothing.

A preview is kept under a digest of all that decides it. A setting that differs in
anything has another digest, and is measured when somebody asks.
"""

from __future__ import annotations

import json

import mondegreen as mg
from mondegreen.scores.preview import MEASURED, measure, preview_key
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


def main() -> None:
    """Write the file."""
    rows = [row(epsilon, read) for epsilon in EPSILONS for read in READ]
    lines = ",\n".join(json.dumps(each) for each in rows)
    MEASURED.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(f"{len(rows)} previews: {MEASURED.name}")


if __name__ == "__main__":
    main()
