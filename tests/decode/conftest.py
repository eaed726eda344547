"""A language of six words, and a channel that mixes them."""

import numpy as np
import pytest

from mondegreen.language.counts import Counter
from mondegreen.language.ngrams import NGrams
from mondegreen.mechanisms.channel import Channel
from mondegreen.space.space import Space

WORDS = 6


@pytest.fixture(scope="session")
def space():
    points = np.random.default_rng(0).normal(size=(WORDS, 3))
    return Space.from_arrays("six", [f"w{i}" for i in range(WORDS)], points)


@pytest.fixture(scope="session")
def language(space):
    """Of sentences that a rule makes: each word is mostly followed by the next."""
    rng = np.random.default_rng(1)
    counter = Counter(WORDS)
    for _ in range(400):
        length = int(rng.integers(1, 9))
        ids = [int(rng.integers(0, WORDS))]
        while len(ids) < length:
            step = int(rng.integers(1, 3)) if rng.random() < 0.8 else 4
            ids.append((ids[-1] + step) % (WORDS + 1))  # V is the unknown word
        ends = np.zeros(length, dtype=bool)
        ends[-1] = True
        counter.add(np.array(ids, dtype=np.int32), ends)
    return NGrams.from_counts(counter.finish(), space)


@pytest.fixture(scope="session")
def law():
    """P(y | x), shape (V + 1, V): outputs 4 and 5 tell the same."""
    rng = np.random.default_rng(2)
    table = rng.dirichlet(np.full(WORDS, 0.7), WORDS + 1) + 0.01
    table[:, 5] = table[:, 4]
    return table / table.sum(axis=1, keepdims=True)


@pytest.fixture(scope="session")
def channel(law):
    """All inputs are candidates of each output, in some order."""
    observation = np.array([0, 1, 2, 3, 4, 4], dtype=np.int32)
    candidates = np.tile(np.arange(WORDS + 1, dtype=np.int32), (5, 1))
    return Channel(observation, candidates, np.log(law[:, :5].T), "exact")
