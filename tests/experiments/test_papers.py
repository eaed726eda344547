"""What recipes of the papers measure, on made-up data, with its ends known."""

import math

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("sklearn")

import mondegreen as mg
from mondegreen.experiments.bench import Labelled
from mondegreen.experiments.papers import recipe_named
from mondegreen.experiments.recipe import point_key
from mondegreen.experiments.releases import LAWS, laws_by_epsilon, prepared, released
from mondegreen.space.binarize import with_codes

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


SMALL = {"texts": 160, "valid": 40, "test": 160, "words": 12}


def test_a_classifier_learns_from_releases_as_far_as_words_stay():
    none, clear, lost = (
        measured("across-accuracy", {"law": law, "epsilon": epsilon, **SMALL})
        for law, epsilon in (("none", 0), ("CMP", 1000), ("CMP", 0.01))
    )
    assert none["unchanged"] == 1
    assert none["both"] > 0.9
    assert clear == none
    assert lost["unchanged"] < 0.05
    for name in ("both", "test_time", "train_time"):
        assert 0.35 < lost[name] < 0.65


def test_authors_are_named_without_noise_and_not_at_epsilon_near_zero():
    none, lost = (
        measured(
            "cmp-authorship", {"law": law, "epsilon": 0.01, "texts": 200, "test": 200}
        )
        for law in ("none", "CMP")
    )
    assert min(none["naive"], none["adaptive"], none["train_time"]) > 0.95
    for name in ("naive", "adaptive", "train_time"):
        assert 0.35 < lost[name] < 0.65


@pytest.mark.slow("thirty small models")
def test_members_are_told_without_noise_and_not_at_epsilon_near_zero():
    sizes = {"texts": 60, "words": 12, "models": 6, "epochs": 40}
    none, lost = (
        measured(
            "across-membership", {"law": law, "epsilon": 0.01, **sizes}, told=False
        )
        for law in ("none", "TEM")
    )
    for attack in ("shadow", "ratio"):
        for who in ("naive", "adaptive"):
            name = f"{attack}_{who}_auc"
            assert none[f"{name}_low"] > 0.8, name
            assert lost[f"{name}_low"] < 0.5 < lost[f"{name}_high"], name


@pytest.mark.slow("seven small language models")
def test_users_are_told_without_noise_and_not_at_epsilon_near_zero():
    sizes = {"users": 50, "words": 12, "shadows": 2, "epochs": 60}
    none, lost = (
        measured("cmp-auditor", {"law": law, "epsilon": 0.01, **sizes}, told=False)
        for law in ("none", "TEM")
    )
    for who in ("naive", "adaptive"):
        assert none[f"{who}_auc_low"] > 0.9
        assert none[f"{who}_accuracy"] > 0.9
        assert 0.3 < lost[f"{who}_auc"] < 0.7  # three standard deviations
        assert 0.3 < lost[f"{who}_accuracy"] < 0.7


def test_the_mass_beyond_the_threshold_is_at_most_beta_and_reaches_it():
    for epsilon, tight in ((0.5, False), (200, True)):
        found = measured("tem-threshold", {"beta": 0.01, "epsilon": epsilon})
        assert (found["worst_of_beta"] > 0.999) is tight
        assert found["worst_of_beta"] <= 1 + 2e-4
        assert (found["alone"] == 1) is tight


def test_neighbours_within_the_threshold_get_fewer():
    few, many = (
        measured("tem-cost", {"law": "TEM", "epsilon": epsilon}) for epsilon in (50, 2)
    )
    assert 1 <= few["neighbours"] < many["neighbours"] == SIZE
    assert min(few["again_us"], few["first_us"]) > 0


def test_sizes_are_those_of_bits_and_floats():
    found = measured("brr-sizes", {"vectors": "glove-300", "codes": "trained"})
    assert found["index_codes_mb"] == SIZE * 32 / 1e6
    assert found["index_vectors_mb"] == SIZE * 6 * 4 / 1e6
    assert 0.3 < found["recall_at_10"] <= 1


def test_the_ratio_makes_the_bounds_of_both_losses_equal():
    for by in ("mean", "largest"):
        found = measured("brr-privacy-ratio", {"by": by, "epsilon": 3})
        bounds = 3 * found["euclidean"], found["epsilon_brr"] * found["hamming"]
        assert bounds[0] == pytest.approx(bounds[1])


def test_a_word_becomes_itself_at_large_epsilon_and_anything_near_zero():
    stays, lost = (
        measured("cmp-words", {"word": "w7", "dim": 300, "epsilon": e, "runs": 300})
        for e in (1000, 0.01)
    )
    assert stays == {"n_w": 1, "s_w": 1, "near": 0, "outputs": "w7 1.00"}
    assert lost["n_w"] < 0.2
    assert lost["s_w"] > 50
    assert 0 < lost["near"] < 0.5
    assert lost["outputs"].count(",") == 4


def test_the_mean_is_over_all_pairs_a_word_and_itself_included():
    bench = MadeUp()
    points = bench.made.vectors.astype(float)
    mean = np.linalg.norm(points[:, None] - points, axis=2).mean()
    found = recipe_named("brr-privacy-ratio").measure(
        bench, {"by": "mean", "epsilon": 1}, 0
    )
    assert found["euclidean"] == pytest.approx(mean, rel=1e-3)


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
    assert prepared(law, 3.0, MadeUp().made).guarantee.epsilon == 3


def test_a_grid_begins_without_noise():
    keys = [point_key(each) for each in laws_by_epsilon(("CMP",), (1, 2), words=9)]
    assert keys == [
        "law=none, epsilon=0, words=9",
        "law=CMP, epsilon=1, words=9",
        "law=CMP, epsilon=2, words=9",
    ]
