"""Write what epsilon does into docs/how-to/choose-epsilon.md, from exact laws.

Over every tenth of the 2,000 most frequent words of the embedded space: how many stay,
and what the others become. Also writes benchmarks/results/choosing_epsilon.json;
``--page`` only fills the page from it.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

from benchmarks import machine
from benchmarks.pages.page import Table, fill
from mondegreen import Space

PAGE = "how-to/choose-epsilon.md"
EPSILONS = (0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 4.0)
TREE_EPSILONS = (4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 18.0)
MEETING = ("itself", "group", "function", "branch", "class", "any")
"""Where a word and what replaces it meet: the levels of the tree."""


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
    content = {"mechanism": "calibrated", "rows": rows, "tree": tree_rows(space, ids)}
    machine.save("choosing_epsilon", content)


def tree_rows(space: Space, ids: np.ndarray) -> list[dict[str, float]]:
    """Where words and what replaces them meet in the tree."""
    from mondegreen import mechanism

    rows = []
    for epsilon in TREE_EPSILONS:
        state = mechanism("tree", epsilon=epsilon).prepare(space)
        law = np.exp(state.log_prob(ids))
        everyone = np.arange(space.vocab_size, dtype=np.int32)
        meets = state.tree.meeting_levels(ids, everyone)
        shares = np.bincount(meets.ravel(), law.ravel(), len(MEETING)) / len(ids)
        rows.append(
            {
                "epsilon": epsilon,
                **dict(zip(MEETING, shares.tolist(), strict=True)),
                "nats_group": state.law.losses()[0],
                "nats_any": state.law.losses()[-1],
            }
        )
    return rows


def stored() -> dict[str, Any]:
    """The numbers of the last run."""
    found: dict[str, Any] = json.loads(
        (machine.RESULTS / "choosing_epsilon.json").read_text()
    )
    return found


def table() -> Table:
    """What epsilon does, from the result file."""
    header = [
        "epsilon",
        "unchanged",
        "one of the ten next most likely words",
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
        for row in stored()["rows"]
    ]
    return Table(header, rows)


def tree_table() -> Table:
    """The same of the tree."""
    header = [
        "epsilon",
        "unchanged",
        "another word of its group",
        "of its branch",
        "of its class",
        "any other",
        "nats, two words of a group",
        "nats, any two words",
    ]
    rows = [
        [
            f"{row['epsilon']:g}",
            f"{row['itself']:.1%}",
            f"{row['group']:.1%}",
            f"{row['branch']:.1%}",
            f"{row['class'] + row['function']:.1%}",
            f"{row['any']:.1%}",
            f"{row['nats_group']:.2f}",
            f"{row['nats_any']:.1f}",
        ]
        for row in stored()["tree"]
    ]
    return Table(header, rows)


TABLES = {"epsilons": table, "tree epsilons": tree_table}

if __name__ == "__main__":
    if "--page" not in sys.argv:
        measure()
    fill(PAGE, TABLES)
