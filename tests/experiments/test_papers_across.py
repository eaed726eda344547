"""Auditor, authors, members, accuracy, TEM and BRR: recipes with both ends known."""

import itertools
import math
from collections import defaultdict

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("sklearn")

import mondegreen as mg
from mondegreen import load_space
from mondegreen.space.binarize import with_codes
from mondegreen_experiments import releases
from mondegreen_experiments.bench import Labelled
from mondegreen_experiments.choices import Choices
from mondegreen_experiments.measures.scramblers import SCRAMBLERS
from mondegreen_experiments.papers import recipe_named
from mondegreen_experiments.releases import (
    BY_LARGEST,
    BY_RATIO,
    LAWS,
    NO_NOISE,
    equal_by_ratio,
    release_at,
)

SIZE = 200
ROOM = (
    "cmp-auditor",
    "cmp-authorship",
    "across-accuracy",
    "across-membership",
    "tem-cost",
    "tem-threshold",
    "brr-sizes",
    "brr-privacy-ratio",
)


class Reviews:
    """Words at random places, and texts whose class is told by their words, or not."""

    choices = Choices()

    def __init__(self, told=True):
        vectors = np.random.default_rng(0).normal(size=(SIZE, 6))
        vectors[:, 0] = np.where(np.arange(SIZE) % 2, 2, -2)  # what tells the class
        words = [f"w{i}" for i in range(SIZE)]
        space = mg.Space.from_arrays("made-up", words, vectors)
        self.made, self.told = with_codes(space, bits=64), told

    def space(self, name):
        return self.made

    def labelled(self, name, split, space="glove-300", most=0):
        rng = np.random.default_rng([len(name), *map(ord, split)])
        labels = rng.integers(0, 2, most)
        words = rng.integers(0, SIZE, (most, 12)).astype(np.int32)
        if self.told:
            words = (words // 2 * 2 + labels[:, None]).astype(np.int32)
        return Labelled(list(words), labels)


def measured(name, point, seed=0, bench=None):
    found = recipe_named(name).measure(bench or Reviews(), point, seed)
    assert all(isinstance(v, str) or math.isfinite(v) for v in found.values())
    return found


def test_a_classifier_learns_from_releases_as_far_as_words_stay():
    sizes, bench = {"train": 160, "valid": 40, "test": 160, "words": 12}, Reviews()
    none, clear, lost = (
        measured(
            "across-accuracy", {"law": law, "epsilon": epsilon, **sizes}, bench=bench
        )
        for law, epsilon in ((NO_NOISE, 0), ("CMP", 1000), ("CMP", 0.01))
    )
    assert none["unchanged"] == 1
    assert none["both"] > 0.95
    assert clear == none
    assert lost["unchanged"] < 0.05
    # A class is one direction here: a model of nothing tells all clear texts or none.
    for name in ("both", "test_time"):
        assert 0.35 < lost[name] < 0.65


def test_authors_are_named_without_noise_and_not_at_epsilon_near_zero():
    none, lost = (
        measured(
            "cmp-authorship", {"law": law, "epsilon": 0.01, "texts": 200, "test": 200}
        )
        for law in (NO_NOISE, "CMP")
    )
    assert min(none["naive"], none["adaptive"], none["train_time"]) > 0.95
    for name in ("naive", "adaptive"):
        assert 0.35 < lost[name] < 0.65


@pytest.mark.slow("thirty small models")
def test_members_are_told_without_noise_and_not_at_epsilon_near_zero():
    sizes = {"texts": 120, "words": 12, "models": 6, "shadows": 2, "epochs": 20}
    bench = Reviews(told=False)
    none, clear, lost = (
        measured(
            "across-membership", {"law": law, "epsilon": epsilon, **sizes}, bench=bench
        )
        for law, epsilon in ((NO_NOISE, 0), ("TEM", 1000), ("TEM", 0.01))
    )
    assert none["gap"] > 0.2
    for attack, who in itertools.product(
        ("shadow", "ratio"), ("naive", "adaptive", "fresh")
    ):
        name = f"{attack}_{who}"
        assert none[f"{name}_auc"] > 0.85, name
        assert none[f"{name}_tpr_1"] > 0.1, name
        assert clear[f"{name}_auc"] > 0.85, name
        # Three standard deviations of an area of 240 texts that nothing tells.
        assert abs(lost[f"{name}_auc"] - 0.5) < 0.115, name
        assert f"{name}_tpr_0.1" not in none  # 120 texts have no thousandth


AUDITED = {
    **{"users": 100, "words": 12, "known": 150, "dim": 32},
    **{"shadows": 2, "epochs": 25},
}


@pytest.mark.slow("nine small language models")
def test_users_are_told_without_noise_and_not_at_epsilon_near_zero():
    bench = Reviews(told=False)
    none, lost = (
        measured("cmp-auditor", {"law": law, "epsilon": 0.01, **AUDITED}, bench=bench)
        for law in (NO_NOISE, "TEM")
    )
    for who in ("naive", "adaptive"):
        assert none[f"{who}_auc"] > 0.95
        assert none[f"{who}_accuracy"] > 0.85
        # 200 users: three standard deviations of the area are 0.123, of accuracy 0.106.
        assert abs(lost[f"{who}_auc"] - 0.5) < 0.15
        assert abs(lost[f"{who}_accuracy"] - 0.5) < 0.13


@pytest.mark.slow("six small language models")
def test_a_rule_hides_no_user_from_an_auditor_who_knows_it(monkeypatch):
    from mondegreen_experiments.papers.cmp import auditor

    def other_words(bench, name, space, texts):
        return np.append((np.arange(SIZE) + 7) % SIZE, SIZE).astype(np.int32)

    monkeypatch.setattr(auditor, "rule_named", other_words)
    bench = Reviews(told=False)
    found = measured(
        "cmp-auditor", {"law": "Versatile", "epsilon": 0, **AUDITED}, bench=bench
    )
    assert found["unchanged"] == 0
    assert abs(found["naive_auc"] - 0.5) < 0.15
    assert found["adaptive_auc"] > 0.95


def test_the_mass_beyond_the_threshold_exceeds_beta_by_rounding_at_most():
    for epsilon, tight in ((0.5, False), (200, True)):
        found = measured("tem-threshold", {"beta": 0.01, "epsilon": epsilon})
        assert (found["worst"] > 0.00999) is tight
        assert found["excess"] <= found["excess_bound"] < 1e-3
        assert (found["excess"] > 0) is tight
        assert (found["alone"] == 1) is tight


def test_neighbours_within_the_threshold_get_fewer():
    few, many = (
        measured("tem-cost", {"law": "TEM", "epsilon": epsilon}) for epsilon in (50, 2)
    )
    assert 1 <= few["neighbours"] < many["neighbours"] == SIZE
    assert min(few["again_us"], few["first_us"]) > 0


def test_sizes_are_those_of_bits_and_floats():
    found = measured("brr-sizes", {"vectors": "glove-300", "codes": "trained"})
    names = sum(len(f"w{i}") + 1 for i in range(SIZE)) / 1e6
    assert found["index_codes_mb"] == SIZE * 32 / 1e6
    assert found["index_vectors_mb"] == SIZE * 6 * 4 / 1e6
    assert found["all_codes_mb"] == pytest.approx(found["index_codes_mb"] + names)
    assert found["all_vectors_mb"] == pytest.approx(found["index_vectors_mb"] + names)
    assert 0.3 < found["recall_at_10"] <= 1


def test_the_ratio_makes_the_bounds_of_both_losses_equal():
    for by in ("mean", "largest"):
        found = measured("brr-privacy-ratio", {"by": by, "epsilon": 3})
        bounds = 3 * found["euclidean"], found["epsilon_brr"] * found["hamming"]
        assert bounds[0] == pytest.approx(bounds[1])


def test_the_mean_is_over_all_pairs_a_word_and_itself_included():
    space = Reviews().made
    points = space.vectors.astype(float)
    mean = np.linalg.norm(points[:, None] - points, axis=2).mean()
    assert equal_by_ratio(space, "mean")[0] == pytest.approx(mean, rel=1e-3)


def test_a_point_by_ratio_has_the_epsilon_that_the_ratio_gives():
    space = Reviews().made
    euclidean, hamming = equal_by_ratio(space, "mean")
    state = release_at({"law": BY_RATIO, "epsilon": 4}, space)
    assert state.guarantee.epsilon == pytest.approx(4 * euclidean / hamming)
    assert state is release_at({"law": BY_RATIO, "epsilon": 4}, space)  # kept
    assert release_at({"law": NO_NOISE, "epsilon": 0}, space) is None


@pytest.mark.parametrize("name", ROOM)
def test_what_is_published_is_on_a_grid_and_claims_read_every_table(name):
    recipe = recipe_named(name)
    points = [dict(each) for grid in recipe.points.values() for each in grid]
    assert all(dict(each.point) in points for each in recipe.published)
    for grid in recipe.points.values():
        table = [(point, defaultdict(lambda: 0.5)) for point in grid]
        assert {each.holds(table) for each in recipe.shapes} <= {True, False}
        laws = {point["law"] for point in grid if "law" in point}
        assert laws <= {*LAWS, *SCRAMBLERS, BY_LARGEST, BY_RATIO, NO_NOISE}


@pytest.mark.parametrize("law", ["CMP", "Mahalanobis", "Vickrey"])
def test_the_decoder_that_is_sooner_releases_the_same_words(monkeypatch, law):
    """A recipe takes the faster one of this machine: its results are no others."""
    space, words = load_space(), np.arange(64, dtype=np.int32)
    found = []
    for decoder in ("exact", "fast"):
        monkeypatch.setattr(releases, "_sooner", lambda space, name=decoder: name)
        state = releases.prepared(law, 12.0, space)
        found.append(state.sample(words, np.random.default_rng(0)).tolist())
    assert found[0] == found[1]


def test_what_measures_time_names_its_decoder(monkeypatch):
    """Else CMP would cost what the machine's faster decoder does."""

    def choose(space):
        raise AssertionError("the decoder is chosen by the machine")

    monkeypatch.setattr(releases, "_sooner", choose)
    measured("tem-cost", {"law": "CMP", "epsilon": 5})
    measured("brr-sizes", {"vectors": "glove-300", "codes": "trained"})
    with pytest.raises(AssertionError, match="by the machine"):
        releases.prepared("CMP", 5.0, Reviews().space("glove-300"))
