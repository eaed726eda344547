"""What recipes of the papers measure, on made-up data, with its ends known."""

import math

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("sklearn")

import mondegreen as mg
from mondegreen.space.binarize import with_codes
from mondegreen_experiments.bench import Labelled
from mondegreen_experiments.papers import recipe_named
from mondegreen_experiments.recipe import point_key
from mondegreen_experiments.releases import LAWS, laws_by_epsilon, prepared, released

SIZE = 200


class MadeUp:
    """Words at random places, and texts whose class is told by their words, or not."""

    def __init__(self, told=True):
        vectors = np.random.default_rng(0).normal(size=(SIZE, 6))
        words = [f"w{i}" for i in range(SIZE)]
        space = mg.Space.from_arrays("made-up", words, vectors)
        self.made, self.told = with_codes(space, bits=64), told

    def space(self, name):
        return self.made

    def labelled(self, name, split, space="glove-300", most=0):
        rng = np.random.default_rng([len(name), *map(ord, split)])
        labels = rng.integers(0, 2, most)
        words = [rng.integers(0, SIZE, 12).astype(np.int32) for _ in labels]
        if self.told:
            words = [
                (text // 2 * 2 + label).astype(np.int32)
                for text, label in zip(words, labels, strict=True)
            ]
        return Labelled(words, labels)


def measured(name, point, seed=0, told=True):
    found = recipe_named(name).measure(MadeUp(told), point, seed)
    assert all(isinstance(v, str) or math.isfinite(v) for v in found.values())
    return found


def test_a_release_keeps_lengths_and_labels():
    bench = MadeUp()
    texts = bench.labelled("imdb", "train", most=20).cut(5)
    assert {len(each) for each in texts.words} == {5}
    found = released(texts, prepared("TEM", 0.01, bench.made), np.random.default_rng(0))
    assert [len(each) for each in found.words] == [5] * 20
    assert (found.labels == texts.labels).all()
    assert (found.flat != texts.flat).mean() > 0.9
    assert released(texts, None, np.random.default_rng(0)) is texts


@pytest.mark.parametrize("law", sorted(set(LAWS) - {"tree", "truncated Gumbel"}))
def test_every_law_of_the_papers_is_known(law):
    epsilon = 1e4 if law == "truncated Gumbel" else 3.0  # it has no scale at less
    assert prepared(law, epsilon, MadeUp().made).guarantee.epsilon == epsilon


def test_a_grid_begins_without_noise():
    keys = [point_key(each) for each in laws_by_epsilon(("CMP",), (1, 2), words=9)]
    assert keys == [
        "law=none, epsilon=0, words=9",
        "law=CMP, epsilon=1, words=9",
        "law=CMP, epsilon=2, words=9",
    ]
