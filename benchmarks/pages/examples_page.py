"""Release ten sentences by every mechanism; write docs/examples.md and its data.

Run by hand (a minute): ``python -m benchmarks examples_page``. Everything is measured
with the library, by default and on the embedded space. The seed makes the page
repeatable, and is the reason why these releases are not private. ``--page`` writes from
the stored result.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

import mondegreen as mg
from benchmarks.machine import RESULTS
from benchmarks.pages import policy_page
from benchmarks.pages.page import Table, fill

PAGE: Final = "examples.md"
RESULT: Final = RESULTS / "examples.json"
SEED: Final = 7
PROBES: Final = 400
"""Words whose stay is counted: every fifth of the 2,000 most frequent of the space."""
DRAWS: Final = 20

SENTENCES: Final = (
    "My daughter was diagnosed with diabetes last week.",
    "I owe the bank forty thousand dollars and my husband doesn't know.",
    "Please send the contract to Margaret Okonkwo before Friday.",
    "We moved from Berlin to a small village near Lake Tahoe.",
    "The lawyer says that my brother will go to prison.",
    "I have been sober for three years, and I'm proud of it!",
    "Dr. Zielinski changed my medication because I couldn't sleep.",
    "They fired me two days after I joined the union.",
    "Her new boyfriend works nights at the hospital in Leeds.",
    "Transfer $2,300 to my landlord, then cancel the insurance.",
)
EPSILONS: Final = {
    "brr": (1.0, 2.0, 3.0),
    "calibrated": (1.0, 1.5, 2.0),
    "custext": (1.0, 5.0, 20.0),
    "exponential": (1.5, 2.5, 3.5),
    "laplace": (8.0, 14.0, 20.0),
    "mahalanobis": (9.0, 16.0, 23.0),
    "santext_plus": (1.5, 2.5, 3.5),
    "syntf": (20.0, 30.0, 40.0),
    "tem": (1.5, 2.5, 3.5),
    "tight": (2.5, 3.0, 4.0),
    "tree": (8.0, 10.0, 12.0),
    "truncated_gumbel": (40.0, 400.0, 4000.0),
    "vickrey": (8.0, 16.0, 40.0),
    "vickrey_literal": (8.0, 16.0, 40.0),
}
"""For each mechanism: most words replaced, about half of them, few of them.

``hyperbolic`` is for spaces in the Poincaré ball, of which none is embedded.
"""


def main() -> int:
    """Measure, and write both files."""
    space = mg.load_space()
    results = [_measure(space, name) for name in EPSILONS]
    report = {
        "question": "What do releases look like at three epsilons per mechanism?",
        "space": space.name,
        "space_digest": space.digest,
        "seed": SEED,
        "mondegreen": mg.__version__,
        "sentences": list(SENTENCES),
        "mechanisms": results,
    }
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", "utf-8")
    fill(PAGE, TABLES, DATA)
    return 0


def stored() -> dict[str, Any]:
    """The results of the last run."""
    report: dict[str, Any] = json.loads(RESULT.read_text("utf-8"))
    return report


def _measure(space: mg.Space, name: str) -> dict[str, Any]:
    """The releases of all sentences, and the share of words that stay."""
    settings = []
    for epsilon in EPSILONS[name]:
        privatizer = mg.Privatizer(
            mg.mechanism(name, epsilon=epsilon),
            space,
            noise=mg.Seeded(SEED),
            allow_unproved=True,
        )
        releases = privatizer.batch(list(SENTENCES))
        promise = privatizer.guarantee
        settings.append(
            {
                "epsilon": epsilon,
                "proved": promise.is_proved,
                "metric": promise.metric,
                "nearest_neighbour_loss": round(
                    promise.loss(promise.scale["nearest"]), 2
                ),
                "worst_loss": round(promise.loss(promise.scale["diameter"]), 2),
                "unchanged": round(_unchanged(privatizer.state), 4),
                "texts": [release.text for release in releases if release],
            }
        )
    return {"name": name, "settings": settings}


def _unchanged(state: Any) -> float:
    """The share of draws that are the input word."""
    ids = np.repeat(np.arange(0, 5 * PROBES, 5, dtype=np.int32), DRAWS)
    drawn = state.sample(ids, np.random.default_rng(SEED))
    return float((drawn == ids).mean())


def settings() -> Iterator[tuple[list[str], list[str]]]:
    """The cells that say what a setting is, and its releases."""
    for result in stored()["mechanisms"]:
        for row in result["settings"]:
            mark = "" if row["proved"] else " (no proof)"
            cells = [
                f"`{result['name']}`{mark}",
                f"{row['epsilon']:g}",
                f"{row['unchanged']:.1%}",
                f"{row['nearest_neighbour_loss']:.1f}",
                f"{row['worst_loss']:.1f}",
            ]
            yield cells, row["texts"]


HEADER: Final = ["mechanism", "epsilon", "unchanged", "nats, nearest", "nats, any two"]


def default() -> Table:
    """All sentences under the default."""
    released = policy_page.release("sensitive", SENTENCES)
    rows = [list(row) for row in zip(SENTENCES, released, strict=True)]
    return Table(["sentence", "`sensitive`, `urr`, epsilon 12"], rows, (1,))


def first_sentence() -> Table:
    """The first sentence under every mechanism, at the middle one of its epsilons."""
    some: dict[str, list[list[str]]] = {}
    for cells, texts in settings():
        some.setdefault(cells[0], []).append([*cells, texts[0]])
    rows = [each[len(each) // 2] for each in some.values()]
    return Table([*HEADER, "release"], rows, (5,))


def every_sentence() -> Table:
    """All sentences under every setting."""
    rows = [
        [*cells, sentence, text]
        for cells, texts in settings()
        for sentence, text in zip(stored()["sentences"], texts, strict=True)
    ]
    return Table([*HEADER, "sentence", "release"], rows)


TABLES: Final = {"default": default, "every mechanism": first_sentence}
DATA: Final = {"examples.csv": every_sentence}


if __name__ == "__main__":
    if "--page" in sys.argv:
        fill(PAGE, TABLES, DATA)
        sys.exit(0)
    sys.exit(main())
