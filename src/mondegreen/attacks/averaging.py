r"""Repeated releases of one text: noise that is drawn anew averages out.

With k independent outputs of one word the best guess is

.. math:: \arg\max_x \; \pi(x) \prod_{j \le k} P(y_j \mid x)

whose success is estimated on a sample of the original words. Release a text once, or
with keyed noise, which repeats itself.
"""

from __future__ import annotations

import threading
from typing import Final

import numpy as np

from mondegreen.arrays import Floats, Ids
from mondegreen.attacks.attack import Attack, wilson
from mondegreen.attacks.outputs import level_shares, logarithms, pass_over
from mondegreen.attacks.pairs import Pairs
from mondegreen.mechanisms.base import Progress, State, no_progress
from mondegreen.mechanisms.laws.tree import TreeLaw

RELEASES: Final = (1, 2, 5, 20)
_WORDS: Final = 500


def averaging(
    state: State,
    pairs: Pairs,
    prior: Floats,
    rng: np.random.Generator,
    progress: Progress = no_progress,
) -> Attack:
    """Guess single words from 2, 5 and 20 releases of them, under a closed law.

    Raises LawUnknownError for a law without a closed form.
    """
    count = min(_WORDS, len(pairs.inputs))
    words = rng.choice(pairs.inputs, count, replace=False)
    most = max(RELEASES)
    outputs = state.sample(np.repeat(words, most), rng).reshape(count, most)
    law = state.tree_law
    guesses = (
        _by_rows(state, outputs, prior, progress)
        if law is None
        else _by_levels(law, outputs, prior)
    )
    right = (guesses == words).mean(axis=1)
    by: list[dict[str, float]] = []
    for releases, share in zip(RELEASES, right.tolist(), strict=True):
        low, high = wilson(share * count, count)
        by.append({"releases": releases, "value": share, "low": low, "high": high})
    return Attack(
        "averaging",
        f"guesses each word from {most} releases of it, drawn anew each time",
        by[-1]["value"],
        by[-1]["low"],
        by[-1]["high"],
        float((words == int(prior.argmax())).mean()),
        count,
        details={"by": by},
    )


def _by_levels(law: TreeLaw, outputs: Ids, prior: Floats) -> Ids:
    """Guess words of a tree from their outputs.

    Words in the order of the tree, where each node is a run of them.
    """
    tree = law.tree
    order = np.append(tree.order, tree.vocab_size)
    shares = logarithms(level_shares(law)[:, order])
    closer = shares[:-1] - shares[1:]  # what meeting one level lower adds
    expected = logarithms(prior[order])
    guesses = np.empty((len(RELEASES), len(outputs)), dtype=np.int32)
    for column, row in enumerate(outputs.tolist()):
        belief = expected.copy()
        for number, output in enumerate(row, start=1):
            for level in range(tree.levels):
                node = int(tree.nodes[level, output])
                start, stop = tree.bounds[level][node : node + 2].tolist()
                belief[start:stop] += closer[level, start:stop]
            if number in RELEASES:
                place = int((belief + number * shares[-1]).argmax())
                guesses[RELEASES.index(number), column] = order[place]
    return guesses


def _by_rows(state: State, outputs: Ids, prior: Floats, progress: Progress) -> Ids:
    """Guess words from their outputs in one pass over the inputs that are expected."""
    count, most = outputs.shape
    seen, columns = np.unique(outputs, return_inverse=True)
    at = [k - 1 for k in RELEASES]
    best = np.full((len(at), count), -np.inf)
    guesses = np.zeros((len(at), count), dtype=np.int32)
    lock = threading.Lock()

    def work(block: Ids, logs: Floats, law: Floats) -> None:
        table = logs[:, seen][:, columns.ravel()].reshape(len(block), count, most)
        beliefs = np.cumsum(table, axis=2)[:, :, at]
        beliefs += np.log(prior[block])[:, None, None]
        places = beliefs.argmax(axis=0).T
        values = beliefs.max(axis=0).T
        with lock:
            # The lowest id of equally likely ones, whichever block comes first.
            ids = block[places]
            better = (values > best) | ((values == best) & (ids < guesses))
            best[better], guesses[better] = values[better], ids[better]

    expected = np.flatnonzero(prior).astype(np.int32)
    pass_over(state, expected, work, progress)
    return guesses
