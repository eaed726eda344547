r"""The best chances of the levels for a target: attack success and worst-case loss.

    python benchmarks/tree_frontier.py [tree]

``tree`` leaves the other mechanisms out.

For a bound A on the success of the Bayes-optimal guess under a frequency prior, and one
on the loss of any two words, maximise the mean closeness :math:`\sum_l p_l u_l`, where
:math:`u_l` is the mean cosine of a word of the text and a word of its node. The success

.. math:: \sum_y \max_w \pi(w) P(y \mid w) = \sum_y \max_l \pi_l(y) F_l(y)

is convex in p: its largest pieces at one solution are a linear bound for the next
(Kelley's cutting planes). Losses are linear constraints. Then the accuracy on IMDb
reviews at each solution, beside ``exponential`` and ``tem`` at their own success. The
prior of the optimisation is that of public text (counts of shared/data/vectors, whose
IMDb part is the official train part); success is reported under the frequencies of
the texts themselves. Writes results/tree_frontier.json.
"""

from __future__ import annotations

import sys

import machine
import numpy as np
import tree_texts as measure
from scipy.optimize import linprog

import mondegreen as mg
from mondegreen.space.store import tree_of

TARGETS = (
    (0.10, 10.0),
    (0.15, 10.0),
    (0.18, 10.0),
    (0.20, 10.0),
    (0.22, 10.0),
    (0.25, 12.0),
    (0.30, 12.0),
    (0.40, 12.0),
)
"""Success of the guess, and nats for any two words."""
SEEDS = (0, 1)
ROUNDS = 60
OTHERS = (("exponential", 1.75), ("exponential", 2.25), ("exponential", 2.75))


def public_prior(space: mg.Space) -> np.ndarray:
    """Return frequencies of words in public text, the unknown word last."""
    folder = machine.SHARED / "vectors"
    words = (folder / "w2v_imdb.words.txt").read_text(encoding="utf-8").split("\n")
    counts = dict(zip(words, np.load(folder / "w2v_imdb.counts.npy"), strict=False))
    found = np.array([counts.get(word, 0) + 0.5 for word in space.words] + [0.0])
    found[-1] = 0.03 * found.sum()
    return found / found.sum()


def closeness(space: mg.Space, tree: object, prior: np.ndarray) -> np.ndarray:
    """Return the mean cosine of a word and a word of its node, per level."""
    unit = space.vectors.astype(np.float64)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    found = []
    for level, nodes in enumerate(tree.nodes[:, :-1]):
        sums = np.zeros((len(tree.sizes(level)), unit.shape[1]))
        np.add.at(sums, nodes, unit)
        means = sums / tree.sizes(level)[:, None]
        found.append(float(((unit * means[nodes]).sum(axis=1) * prior[:-1]).sum()))
    return np.array(found) / prior[:-1].sum()


def best(
    tree: object, prior: np.ndarray, gain: np.ndarray, target: float, loss: float
) -> np.ndarray:
    """Return the chances of the levels that gain most within both bounds.

    An output for which the unknown word is the best guess adds a constant.
    """
    blind = prior[-1] / tree.vocab_size
    reach, top = measure.shares(tree), measure.peaks(tree, prior)
    levels, size = reach.shape
    ones = 1 / np.unique(reach, axis=1).T
    rows = [one * np.exp(-loss) * size - np.eye(levels)[-1] for one in ones]
    limits = [0.0] * len(rows)
    p = np.eye(levels)[-1]
    for _ in range(ROUNDS):
        solved = linprog(
            -gain,
            A_ub=np.array(rows),
            b_ub=limits,
            A_eq=np.ones((1, levels)),
            b_eq=[1.0],
            bounds=[(0, 1)] * levels,
        )
        if solved.x is None:  # no law stays below: all words alike
            return np.eye(levels)[-1]
        p = solved.x
        law = np.cumsum((p[:, None] / reach)[::-1], axis=0)[::-1]
        chosen = (top * law).argmax(axis=0)
        height = top[chosen, np.arange(size)]
        # F_l counts the levels from l up.
        counted = np.arange(levels)[:, None] >= chosen
        seen = (top * law).max(axis=0) > blind
        cut = (counted * height / reach)[:, seen].sum(axis=1)
        room = target - blind * np.count_nonzero(~seen)
        if cut @ p <= room + 1e-6:
            break
        rows.append(cut)
        limits.append(room)
    return p / p.sum()


def safe(p: np.ndarray) -> tuple[float, ...]:
    """Return chances a little nearer to the root, for the exact certificate."""
    mixed = p * (1 - 1e-6)
    mixed[-1] += 1e-6
    return tuple((mixed / mixed.sum()).tolist())


def main(*, only_tree: bool) -> None:
    """Trace the frontier."""
    space = mg.load_space()
    texts = measure.read("imdb", space)
    own = np.zeros(space.vocab_size + 1)
    own[: len(texts.prior)] = texts.prior
    prior, tree = public_prior(space), tree_of(space)
    gain = closeness(space, tree, prior)
    cases = []
    for target, loss in TARGETS:
        p = safe(best(tree, prior, gain, target, loss))
        mechanism = mg.mechanism("tree", epsilon=loss, probabilities=p)
        cases.append((f"tree, target {target}", mechanism, target))
    if not only_tree:
        for name, epsilon in OTHERS:
            mechanism = mg.mechanism(name, epsilon=epsilon)
            cases.append((f"{name} {epsilon}", mechanism, None))
    rows = []
    for name, mechanism, target in cases:
        state = mechanism.prepare(space)
        attack = measure.tree_attack if target else measure.table_attack
        found, kept = [], 0.0
        for seed in SEEDS:
            released = state.sample(texts.ids, np.random.default_rng(seed))
            found.append(measure.accuracy(texts, released, space.vocab_size))
            kept = float((released == texts.ids).mean())
        promise = state.guarantee
        rows.append(
            {
                "mechanism": name,
                "target": target,
                "probabilities": getattr(state, "probabilities", None),
                "attack": round(attack(state, own), 4),
                "accuracy": round(float(np.mean(found, axis=0)[0]), 4),
                "accuracy_clear_test": round(float(np.mean(found, axis=0)[1]), 4),
                "kept": round(kept, 4),
                "worst_loss": round(promise.loss(promise.scale["diameter"]), 3),
            }
        )
        print(rows[-1], file=sys.stderr, flush=True)
    machine.save(
        "tree_frontier",
        {
            "data": "imdb",
            "tree": tree.digest,
            "closeness": gain.round(4).tolist(),
            "rows": rows,
        },
    )


if __name__ == "__main__":
    main(only_tree=sys.argv[1:] == ["tree"])
