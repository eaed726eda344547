"""Distances to the k-th nearest words, against sorting all of them."""

import numpy as np
import pytest

import mondegreen as mg
from mondegreen.report.study import RANKS, neighbour_distances
from mondegreen.space.metric import distances

COUNT = 300


def space_of(vectors, metric="euclidean"):
    words = [f"w{place}" for place in range(len(vectors))]
    return mg.Space.from_arrays("cloud", words, vectors, metric=metric)


@pytest.mark.parametrize("metric", ["euclidean", "poincare"])
def test_distances_are_those_of_sorting(metric):
    vectors = np.random.default_rng(0).normal(size=(COUNT, 6))
    if metric == "poincare":
        vectors /= 2 * np.linalg.norm(vectors, axis=1).max()
    space = space_of(vectors, metric)
    table = distances(metric, space.vectors, space.vectors)
    table.sort(axis=1)  # the word itself is first, at distance 0
    found = neighbour_distances(space)
    assert found["k"] == [k for k in RANKS if k < COUNT]
    wanted = np.percentile(table[:, found["k"]], found["percentiles"], axis=0).T
    np.testing.assert_allclose(found["distances"], wanted, rtol=1e-5)
    assert found["words"] == found["vocab_size"] == COUNT


def test_a_second_word_at_the_same_point_is_a_neighbour_at_no_distance():
    found = neighbour_distances(space_of(np.array([[1.0], [1.0], [5.0]])))
    assert found["distances"][0][0] == pytest.approx(0, abs=1e-5)
    assert found["distances"][1][0] == pytest.approx(4)


def test_some_words_stand_for_all_and_say_so():
    vectors = np.random.default_rng(1).normal(size=(COUNT, 6))
    found = neighbour_distances(space_of(vectors), words=100)
    whole = neighbour_distances(space_of(vectors))
    assert (found["words"], found["vocab_size"]) == (100, COUNT)
    assert found["distances"] != whole["distances"]
    np.testing.assert_allclose(found["distances"], whole["distances"], rtol=0.25)


def test_one_word_has_no_neighbours():
    assert neighbour_distances(space_of(np.array([[1.0]]))) is None
