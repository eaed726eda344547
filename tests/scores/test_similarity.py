"""Distances and cosines by hand, and sentence models of others."""

import numpy as np
import pytest

from mondegreen.errors import ConfigurationError
from mondegreen.scores.corpus import cosines, sentence_cosines
from mondegreen.scores.law import pair_distances
from mondegreen.space.metric import distances
from mondegreen.space.space import Space


@pytest.mark.parametrize("metric", ["euclidean", "poincare"])
def test_pairs_have_the_distances_of_the_table(metric):
    points = np.random.default_rng(0).uniform(-0.5, 0.5, size=(6, 2))
    space = Space.from_arrays("s", list("abcdef"), points, metric=metric)
    first, second = np.arange(7), np.array([6, 5, 4, 3, 2, 1, 0])
    every = space.points(np.arange(7))
    table = distances(metric, every, every)
    found = pair_distances(space, first, second)
    assert found == pytest.approx(table[first, second])


def test_cosines_by_hand():
    left = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0], [1.0, 0.0]])
    right = np.array([[0.0, 2.0], [3.0, 3.0], [1.0, 0.0], [-1.0, 0.0]])
    found = cosines(left, right)
    assert found[[0, 1, 3]] == pytest.approx([0.0, 1.0, -1.0])
    assert np.isnan(found[2])


def test_a_sentence_model_gives_one_vector_for_each_text():
    with pytest.raises(ConfigurationError, match="one vector for each"):
        sentence_cosines(["a", "b"], ["a", "b"], lambda texts: np.zeros((1, 3)))
