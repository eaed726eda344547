"""A small space whose words change nearly evenly, and what stands on it."""

import numpy as np
import pytest

import mondegreen as mg

WORDS = tuple(f"{a}{b}{c}" for a in "bdfgklmn" for b in "aeiou" for c in "dgkm")


@pytest.fixture(scope="session")
def evenly():
    """A privatizer of a space in memory."""
    vectors = np.random.default_rng(5).normal(size=(len(WORDS), 6))
    space = mg.Space.from_arrays("prompts", WORDS, vectors)
    return mg.Privatizer(mg.mechanism("tem", epsilon=0.1), space)
