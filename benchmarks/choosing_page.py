"""Write the table of docs/explanation/choosing-epsilon.md, from exact laws.

Over every tenth of the 2,000 most frequent words of the embedded space: how many stay,
and how many become one of the ten next likeliest words. Also writes
benchmarks/results/choosing_epsilon.json; ``--page`` only fills the page from it.
"""

from __future__ import annotations

import json
import sys

import machine
import numpy as np
from page import fill, markdown_table

PAGE = "explanation/choosing-epsilon.md"
EPSILONS = (0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 4.0)


def measure() -> None:
    """Compute the numbers and write the result file."""
    from mondegreen import load_space, mechanism

    space = load_space()
    ids = np.arange(0, 2000, 10, dtype=np.int32)
    rows = []
    for epsilon in EPSILONS:
        state = mechanism("calibrated", epsilon=epsilon).prepare(space)
        law = np.exp(state.log_prob(ids))
        stays = law[np.arange(len(ids)), ids]
        law[np.arange(len(ids)), ids] = 0
        promise = state.guarantee
        rows.append(
            {
                "epsilon": epsilon,
                "stays": float(stays.mean()),
                "ten_next": float(np.sort(law, axis=1)[:, -10:].sum(axis=1).mean()),
                "nats_nearest": promise.loss(promise.scale["nearest"]),
                "nats_any": promise.loss(promise.scale["diameter"]),
            }
        )
    machine.save("choosing_epsilon", {"mechanism": "calibrated", "rows": rows})


def table() -> str:
    """Return what epsilon does, from the result file."""
    content = json.loads((machine.RESULTS / "choosing_epsilon.json").read_text())
    header = [
        "epsilon",
        "unchanged",
        "one of the ten next likeliest words",
        "nats, median nearest neighbour",
        "nats, any two words",
    ]
    rows = [
        [
            f"{row['epsilon']:g}",
            f"{row['stays']:.1%}",
            f"{row['ten_next']:.1%}",
            f"{row['nats_nearest']:.1f}",
            f"{row['nats_any']:.1f}",
        ]
        for row in content["rows"]
    ]
    return markdown_table(header, rows)


TABLES = {"epsilons": table}

if __name__ == "__main__":
    if "--page" not in sys.argv:
        measure()
    fill(PAGE, TABLES)
