"""Release thirty sentences at equal success of a guess, as data of docs/examples.md.

    python -m benchmarks reading_page [--page]

Every mechanism runs where an adversary who sees one output, and knows the law and how
frequent words are in public text, guesses the word one time in five, and two times in
five. For closed laws the settings are read off exact numbers of tree_evidence.json.
Other laws are sampled: guesses are learnt from draws, and meet new ones, so that the
true success may be larger. ``--page`` writes from results/reading.json alone. The seed
makes releases repeatable, and so not private.
"""

from __future__ import annotations

import json
import sys
from typing import Any, Final

import numpy as np

from benchmarks import machine
from benchmarks.pages.page import Table, fill
from benchmarks.pages.reading_sentences import SENTENCES

PAGE: Final = "examples.md"
ATTACKS: Final = (0.2, 0.4)
SEED: Final = 29
TREES: Final[dict[str, dict[str, Any]]] = {
    "tree": {"by_class": False},
    "tree, chances by class": {"power": 0.5},
}
"""How the chances of the tree are found: see `best_tree`."""
CLOSED: Final = ("exponential", "tem", "calibrated")
GRIDS: Final = {
    "laplace": (6.0, 8.0, 10.0, 12.0, 14.0),
    "vickrey": (6.0, 8.0, 10.0, 12.0, 16.0, 24.0),
    "mahalanobis": (8.0, 10.0, 12.0, 14.0, 16.0),
    "brr": (0.3, 0.38, 0.46, 0.54, 0.62),
    "truncated_gumbel": (35.0, 200.0, 2000.0),
}
"""Epsilons at which laws without a closed form are attacked."""
MET_WORDS: Final = 20_000


def stored() -> dict[str, Any]:
    """The results of the last run."""
    found: dict[str, Any] = json.loads(
        (machine.RESULTS / "reading.json").read_text(encoding="utf-8")
    )
    return found


def measure() -> None:
    """Find settings, release the sentences, and write the result file."""
    import mondegreen as mg
    from benchmarks.measure.trees.tree_evidence import Bench
    from benchmarks.measure.trees.tree_evidence import stored as evidence

    bench = Bench()
    known, settings = evidence(bench.tree.digest), []
    for target in ATTACKS:
        settings += [_tree(bench, target, *kind) for kind in TREES.items()]
        settings += [_closed(known, name, target) for name in CLOSED]
    curves = _curves(bench)
    for name, grid in GRIDS.items():
        curve = curves[name]["success"]
        for target in ATTACKS:
            if curve[0] <= target <= curve[-1]:
                epsilon = float(np.interp(target, curve, grid))
                settings.append(
                    {
                        "mechanism": name,
                        "label": name,
                        "target": target,
                        "epsilon": round(epsilon, 3),
                    }
                )
    flat = [sentence for some in SENTENCES.values() for sentence in some]
    for setting in settings:
        given = setting.get("parameters", {"epsilon": setting["epsilon"]})
        mechanism = mg.mechanism(setting["mechanism"], **given)
        privatizer = mg.Privatizer(
            mechanism, bench.space, noise=mg.Seeded(SEED), allow_unproved=True
        )
        promise = privatizer.guarantee
        far = promise.loss(promise.scale["diameter"])
        setting["worst_loss"] = round(far, 2) if promise.is_proved else None
        setting["texts"] = [found.text for found in privatizer.batch(flat) if found]
    result = {
        "machine": machine.describe(),
        "space": bench.space.digest,
        "tree": bench.tree.digest,
        "seed": SEED,
        "attack_without_output": round(float(bench.public.max()), 4),
        "curves": curves,
        "sentences": flat,
        "settings": settings,
    }
    path = machine.RESULTS / "reading.json"
    path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf-8")


def _tree(bench: Any, target: float, label: str, how: dict[str, Any]) -> dict[str, Any]:
    """The setting of the tree at a target, and its exact attack."""
    from benchmarks.measure.trees.tree_evidence_plan import TREES as BOUNDS
    from mondegreen.calibration.guess import vulnerability
    from mondegreen.calibration.tree_levels import best_tree

    epsilon = dict(BOUNDS)[target]
    found = best_tree(
        bench.space, bench.tree, bench.public, success=target, epsilon=epsilon, **how
    )
    law = found.prepare(bench.space).law
    return {
        "mechanism": "tree",
        "label": label,
        "target": target,
        "epsilon": epsilon,
        "parameters": found.to_dict()["parameters"],
        "attack": round(vulnerability(law, bench.public), 4),
    }


def _closed(known: dict[str, Any], name: str, target: float) -> dict[str, Any]:
    """The setting of a closed law whose attack is nearest to a target."""
    found = {
        float(key.partition("|")[2]): row["public"]
        for key, row in known["laws"].items()
        if key.partition("|")[0] == name
    }
    epsilon = min(found, key=lambda epsilon: abs(found[epsilon] - target))
    return {
        "mechanism": name,
        "label": name,
        "target": target,
        "epsilon": epsilon,
        "attack": found[epsilon],
    }


def _curves(bench: Any) -> dict[str, Any]:
    """The success against sampled laws by epsilon; what is known is kept."""
    result = machine.RESULTS / "reading.json"
    curves = stored().get("curves", {}) if result.exists() else {}
    for name, grid in GRIDS.items():
        if curves.get(name, {}).get("epsilons") != list(grid):
            found = [round(_success(bench, name, epsilon), 4) for epsilon in grid]
            curves[name] = {"epsilons": list(grid), "success": found}
            print(name, curves[name], file=sys.stderr, flush=True)
    return curves


def _success(bench: Any, name: str, epsilon: float) -> float:
    """How often guesses that were learnt from draws are right on new draws."""
    from benchmarks.measure.trees.tree_evidence import learnt

    rng = np.random.default_rng(1)
    size = bench.space.vocab_size
    ids = rng.choice(size + 1, MET_WORDS, p=bench.public).astype(np.int32)
    state = bench.state(name, epsilon)
    return learnt(ids, [state.sample(ids, rng) for _ in range(5)])


def every_sentence() -> Table:
    """All sentences under every mechanism, at both targets."""
    sentences = [(kind, one) for kind, some in SENTENCES.items() for one in some]
    rows = [
        [
            _code(row["label"]),
            f"{row['target']:g}",
            f"{row['epsilon']:g}",
            "–" if row["worst_loss"] is None else f"{row['worst_loss']:g}",
            kind,
            sentence,
            text,
        ]
        for row in stored()["settings"]
        for (kind, sentence), text in zip(sentences, row["texts"], strict=True)
    ]
    header = ["mechanism", "success", "epsilon", "nats, any two", "kind"]
    return Table([*header, "sentence", "release"], rows)


def _code(label: str) -> str:
    """A label with the name of its mechanism as code."""
    name, comma, rest = label.partition(",")
    return f"`{name}`{comma}{rest.replace('chances', 'probabilities')}"


TABLES: Final[dict[str, Any]] = {}
DATA: Final = {"examples-at-equal-success.csv": every_sentence}


def main() -> None:
    """Measure unless told otherwise, and write the page."""
    if "--page" not in sys.argv:
        measure()
    fill(PAGE, TABLES, DATA)


if __name__ == "__main__":
    main()
