"""A small public space with a tree, its laws as tables, and texts to attack."""

import numpy as np

import mondegreen as mg
from mondegreen.attacks.pairs import build_pairs
from mondegreen.space.store import with_tree
from mondegreen.space.tree import WordTree
from mondegreen.text.lookup import Lookup

SIZE = 24
WORDS = [f"{a}{b}g" for a in "bdfklm" for b in "aeio"]
TREE = WordTree.from_labels(
    [
        range(SIZE),
        [word // 3 for word in range(SIZE)],
        [word // 6 for word in range(SIZE)],
        [0] * SIZE,
    ]
)
EXACT = [1 - 1e-12, 0.0, 0.0, 1e-12]
NOTHING = [0.0, 0.0, 0.0, 1.0]
CHANCES = [0.3, 0.4, 0.2, 0.1]
OWN = {WORDS[7]: [0.1, 0.2, 0.2, 0.5], WORDS[20]: [0.7, 0.1, 0.1, 0.1]}


def space():
    rng = np.random.default_rng(0)
    groups = np.repeat(rng.normal(size=(SIZE // 3, 8)), 3, axis=0)
    points = groups + 0.5 * rng.normal(size=(SIZE, 8))
    return with_tree(mg.Space.from_arrays("small", WORDS, points), TREE)


def tree_state(chances=CHANCES, own=None, epsilon=40.0):
    made = mg.mechanism(
        "tree", epsilon=epsilon, level_probabilities=chances, of_class=own
    )
    return made.prepare(space())


def states():
    """Closed laws of every kind: by levels, by distances, by rows."""
    return {
        "tree": tree_state(own=OWN),
        "exponential": mg.mechanism("exponential", epsilon=2.0).prepare(space()),
        "syntf": mg.mechanism("syntf", epsilon=8.0).prepare(space()),
    }


def law_of(state):
    """The table of a law, inputs by outputs."""
    ids = np.arange(SIZE + 1, dtype=np.int32)
    return np.exp(state.log_prob(ids))


def prior_of(seed=1):
    return np.random.default_rng(seed).dirichlet([0.4] * (SIZE + 1))


def texts_of(count, words, seed=2):
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, SIZE + 1)
    return [
        " ".join(rng.choice(WORDS, words, p=shares / shares.sum()))
        for _ in range(count)
    ]


def pairs(count=60, words=8, seed=2):
    return build_pairs(texts_of(count, words, seed), Lookup(space()))
