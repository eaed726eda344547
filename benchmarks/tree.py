"""What the word tree keeps and gives away, beside mechanisms in Euclidean distance.

    python benchmarks/tree.py

IMDb reviews: accuracy of a classifier that is trained and tested on releases, or tested
on clear text; mean cosine; words kept; success of the Bayes-optimal guess of one word
from its output under the frequencies of these very texts; agreement of part of speech,
by an independent tagger in context; worst-case loss. Writes results/tree.json.
Needs scikit-learn and textblob.
"""

from __future__ import annotations

import sys
import time

import machine
import numpy as np
import tree_texts as measure

import mondegreen as mg
from mondegreen.calibration.guess import success_of
from mondegreen.mechanisms.selection.tree import TreeState

SEEDS = (0, 1, 2)
CASES = {
    "tree, default": ("tree", {"epsilon": 10.0}),
    "tree, group or all": (
        "tree",
        {"epsilon": 10.0, "probabilities": (0.0, 0.934, 0.0, 0.0, 0.0, 0.066)},
    ),
    "tree, function words mixed": (
        "tree",
        {"epsilon": 10.0, "probabilities": (0.0, 0.434, 0.5, 0.0, 0.0, 0.066)},
    ),
    "exponential 2": ("exponential", {"epsilon": 2.0}),
    "exponential 2.5": ("exponential", {"epsilon": 2.5}),
}


def row(space: mg.Space, texts: measure.Texts, state: object) -> dict[str, object]:
    """Measure one prepared mechanism."""
    found = []
    for seed in SEEDS:
        released = state.sample(texts.ids, np.random.default_rng(seed))
        found.append(measure.accuracy(texts, released, space.vocab_size))
    prior = np.zeros(space.vocab_size + 1)
    prior[: len(texts.prior)] = texts.prior
    is_tree = isinstance(state, TreeState)
    attack = (
        success_of(state.law, prior) if is_tree else measure.table_attack(state, prior)
    )
    promise = state.guarantee
    means, spread = np.mean(found, axis=0), np.std(found, axis=0, ddof=1)
    return {
        "accuracy": round(float(means[0]), 4),
        "accuracy_clear_test": round(float(means[1]), 4),
        "accuracy_deviation": round(float(spread[0]), 4),
        "cosine": round(measure.cosine(space, texts.ids, released), 4),
        "kept": round(float((released == texts.ids).mean()), 4),
        "attack": round(attack, 4),
        "tag_agreement": round(measure.tag_agreement(space, texts, released), 4),
        "worst_loss": round(promise.loss(promise.scale["diameter"]), 3),
        "certified_loss": round(promise.certified * promise.scale["diameter"], 3)
        if promise.certified
        else None,
    }


def speed(state: TreeState, texts: measure.Texts) -> float:
    """Return words a second inside the mechanism, on one core, with real noise."""
    from mondegreen.sampling.noise import Batch, OSNoise

    best = 0.0
    for _ in range(5):
        ((_, rng),) = OSNoise().streams(Batch(0, b"", ["text"]))
        start = time.perf_counter()
        state.sample(texts.ids, rng)
        best = max(best, len(texts.ids) / (time.perf_counter() - start))
    return best


def main(names: list[str]) -> None:
    """Measure all cases, or those named."""
    space = mg.load_space()
    texts = measure.read("imdb", space)
    clear = measure.accuracy(texts, texts.ids, space.vocab_size)[0]
    rows = {}
    for name in names or CASES:
        mechanism, parameters = CASES[name]
        state = mg.mechanism(mechanism, **parameters).prepare(space)
        rows[name] = row(space, texts, state)
        print(name, rows[name], file=sys.stderr, flush=True)
    tree = mg.mechanism("tree", epsilon=10.0).prepare(space)
    machine.save(
        "tree",
        {
            "data": "imdb",
            "words": len(texts.ids),
            "unknown": round(float((texts.ids == space.vocab_size).mean()), 4),
            "clear_accuracy": round(clear, 4),
            "tree": tree.tree.digest,
            "words_a_second": round(speed(tree, texts)),
            "seeds": len(SEEDS),
            "mechanisms": rows,
        },
    )


if __name__ == "__main__":
    main(sys.argv[1:])
