"""Compute the integers of a shipped word tree for common values of epsilon.

    python -m benchmarks ship_tree_weights [DIGEST]

Takes about a minute; run it for every tree that is to ship. Without the first digits of
a digest: for the default one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import mondegreen as mg
from mondegreen.mechanisms.laws.tree import weights_within
from mondegreen.space.store import load_tree

OUTPUT = Path(mg.__file__).parent / "space" / "data" / "trees"
EPSILONS = sorted(
    {0.25, 0.75, 35.0, 40.0, 50.0, 100.0}
    | {tenth / 10 for tenth in range(1, 10)}
    | {half / 2 for half in range(2, 61)}
)


def main() -> None:
    """Solve, and write one line for each epsilon."""
    tree = load_tree(mg.load_space(), *sys.argv[1:])
    rows = []
    for epsilon in EPSILONS:
        limits = [epsilon * height for height in tree.heights[1:]]
        row = list(weights_within(tree, limits))
        rows.append(f'    "{epsilon!r}": {json.dumps(row)}')
        print(epsilon, row, flush=True)
    body = ",\n".join(rows)
    text = f'{{\n  "tree": "{tree.digest}",\n  "weights": {{\n{body}\n  }}\n}}\n'
    (OUTPUT / f"{tree.digest[:12]}.weights.json").write_text(text)


if __name__ == "__main__":
    main()
