"""Whether a mixture of word trees keeps more than one tree at equal attack.

    python -m benchmarks tree_mixture

A word near the border of its group has near words in the next one. A mixture draws the
tree first, by a fair public lot, and then a word by that tree: if every tree promises
at most epsilon for two words, so does the mixture, since a sum of numerators is at most
the largest ratio times the sum of denominators. The trees have the classes of the
shipped one; their groups are made from vectors of which a tenth of the coordinates is
left out, another tenth for each. Writes results/tree_mixture.json. Needs scikit-learn.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from joblib import Parallel, delayed

import mondegreen as mg
from benchmarks import machine
from benchmarks.measure.trees import tree_texts as measure
from benchmarks.ship.ship_tree import SETTINGS, lists
from mondegreen.space.tree import WordTree
from mondegreen.space.tree_build import build_tree
from mondegreen.space.word_classes import FUNCTION_CLASSES

COUNTS = (1, 2)
GROUP = (0.5, 0.7, 0.9)
"""Chance of a word of the same group."""
ROOT = 0.066
"""Chance of any word; function words are mixed with what is left."""
SEEDS = 2
LEFT_OUT = 0.1


class Mixture:
    """Some trees of equal chances, one of which is drawn for each word."""

    def __init__(self, space: mg.Space, trees: list[WordTree], group: float) -> None:
        from mondegreen.space.store import with_tree

        chances = (0.0, group, 1 - group - ROOT, 0.0, 0.0, ROOT)
        mechanism = mg.mechanism("tree", epsilon=12.0, level_probabilities=chances)
        self.space = space
        self.states = [mechanism.prepare(with_tree(space, tree)) for tree in trees]

    @property
    def worst_loss(self) -> float:
        """Nats between any two words, at most."""
        return max(state.law.losses()[-1] for state in self.states)

    def sample(self, ids: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw a tree for each word, and a word by it."""
        drawn = np.array([state.sample(ids, rng) for state in self.states])
        chosen = rng.integers(len(self.states), size=len(ids))
        return drawn[chosen, np.arange(len(ids))]

    def log_prob(self, ids: np.ndarray) -> np.ndarray:
        """The logarithms of the law."""
        laws = [np.exp(state.log_prob(ids)) for state in self.states]
        return np.log(np.mean(laws, axis=0))


def trees_of(space: mg.Space, count: int) -> list[WordTree]:
    """Trees that differ in their groups."""
    classes, opposites = lists(space)
    found = []
    for number in range(count):
        rng = np.random.default_rng(number)
        kept = np.sort(rng.permutation(space.dim)[int(LEFT_OUT * space.dim) :])
        part = mg.Space.from_arrays("part", space.words, space.vectors[:, kept])
        found.append(
            build_tree(
                part,
                classes=classes,
                joined=FUNCTION_CLASSES,
                opposites=opposites,
                **SETTINGS,
            )
        )
    return found


def row(space: mg.Space, texts: measure.Texts, mixture: Mixture) -> dict[str, Any]:
    """Measure one mixture."""
    rngs = map(np.random.default_rng, range(SEEDS))
    drawn = [mixture.sample(texts.ids, rng) for rng in rngs]
    found = np.array(
        [measure.accuracy(texts, each, space.vocab_size)[0] for each in drawn]
    )
    prior = np.zeros(space.vocab_size + 1)
    prior[: len(texts.prior)] = texts.prior
    return {
        "trees": len(mixture.states),
        "attack": round(measure.table_attack(mixture, prior), 4),
        "accuracy": round(float(found.mean()), 4),
        "accuracy_deviation": round(float(found.std(ddof=1)), 4),
        "cosine": round(measure.cosine(space, texts.ids, drawn[0]), 4),
        "worst_loss": round(mixture.worst_loss, 3),
    }


def main() -> None:
    """Measure all mixtures and store them."""
    space = mg.load_space()
    texts, trees = measure.read("imdb", space), trees_of(space, max(COUNTS))
    cases = [(count, group) for count in COUNTS for group in GROUP]
    rows = Parallel(n_jobs=2)(
        delayed(row)(space, texts, Mixture(space, trees[:count], group))
        for count, group in cases
    )
    found = [
        {"group": group, **each} for (_, group), each in zip(cases, rows, strict=True)
    ]
    print(*found, sep="\n", file=sys.stderr)
    machine.save("tree_mixture", {"data": "imdb", "root": ROOT, "rows": found})


if __name__ == "__main__":
    main()
