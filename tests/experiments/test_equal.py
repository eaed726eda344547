"""Equal privacy: levels that are reached, or said not to be; on other texts."""

import math

import numpy as np
import pytest

pytest.importorskip("sklearn")

import mondegreen as mg
from mondegreen_experiments.bench import Labelled
from mondegreen_experiments.equal.kinds import Kind, Sizes, ends_of, kind_of
from mondegreen_experiments.equal.levels import Curve, Reached
from mondegreen_experiments.equal.protected import (
    CERTIFIED,
    NOMINAL,
    READER,
    SINGLE,
    epsilons_for,
    readers_at,
    recovered,
    worst_loss,
)
from mondegreen_experiments.equal.trade import accuracy_of, text_cosine
from mondegreen_experiments.models.linear import fitted_linear
from mondegreen_experiments.papers.benchmark import equal
from mondegreen_experiments.releases import prepared

SIZE = 60
TINY = Sizes(
    dim=300, vocabulary=50, public=300, train=240, valid=80, test=240, words=10, read=60
)
LEVELS = ((NOMINAL, 2), (CERTIFIED, 6), (SINGLE, 0.3), (READER, 0.4), (READER, 0.6))


class MadeUp:
    """Words at random places, frequent ones first, and texts whose words tell them.

    Each word is behind its likely forerunner half of the time, so context tells of it.
    """

    def __init__(self):
        vectors = np.random.default_rng(0).normal(size=(SIZE, 5))
        words = [f"w{i}" for i in range(SIZE)]
        self.made = mg.Space.from_arrays("made-up", words, vectors)
        self.asked = []

    def space(self, name):
        return self.made

    def labelled(self, name, split, space="glove-300", most=0):
        self.asked.append((name, split))
        rng = np.random.default_rng([len(name), *map(ord, split)])
        labels = rng.integers(0, 2, most)
        shares = 1 / (np.arange(SIZE) + 5.0)
        texts = []
        for label in labels:
            text = rng.choice(SIZE, 12, p=shares / shares.sum()) // 2 * 2 + label
            follows = np.flatnonzero(rng.random(11) < 0.5) + 1
            text[follows] = (text[follows - 1] + 2) % SIZE
            texts.append(text.astype(np.int32))
        return Labelled(texts, labels)


@pytest.fixture(scope="module")
def kind():
    return kind_of(MadeUp(), "imdb", ("imdb", "ag_news"), TINY)


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setitem(equal._SIZES, "tiny", TINY)
    monkeypatch.setitem(equal._LEVELS, "tiny", LEVELS)


def rising(epsilon):
    return {"stays": epsilon / (10 + epsilon)}


@pytest.mark.parametrize("level", [0.01, 0.3, 0.5, 0.9])
def test_a_level_is_reached_within_the_tolerance(level):
    found = Curve(rising, start=1.0).reach("stays", level, 1e-3)
    assert isinstance(found, Reached)
    assert abs(found.value - level) <= 1e-3
    assert found.value == rising(found.epsilon)["stays"]


def test_levels_share_what_was_looked_at():
    looks = []

    def look(epsilon):
        looks.append(epsilon)
        return rising(epsilon)

    curve = Curve(look, start=1.0)
    curve.reach("stays", 0.5, 1e-3)
    before = len(looks)
    assert curve.reach("stays", 0.5, 1e-3).value == pytest.approx(0.5, abs=1e-3)
    assert len(looks) == before == len(set(looks))


@pytest.mark.parametrize(
    ("look", "level", "says"),
    [
        (rising, 1.5, "at most 0.9"),
        (lambda e: {"stays": 0.2 + e / (10 + e)}, 0.1, "at least 0.2"),
        (lambda e: {"stays": 0.2 if e < 7.3 else 0.6}, 0.5, "jumps from 0.2 to 0.6"),
        (lambda e: None if e < 40 else rising(e), 0.5, "at least 0.8"),
        (lambda e: None, 0.5, "no mechanism"),
    ],
)
def test_a_level_that_cannot_be_reached_is_said(look, level, says):
    found = Curve(look, start=1.0).reach("stays", level, 1e-3)
    assert isinstance(found, str)
    assert found.startswith("not reached: ")
    assert says in found


def test_an_infinite_value_is_above_every_level():
    found = Curve(lambda e: {"nats": e if e < 9 else math.inf}, 1.0).reach(
        "nats", 8, 0.1
    )
    assert abs(found.value - 8) <= 0.1


@pytest.mark.slow("bisects with readers, three times")
@pytest.mark.parametrize("law", ["TEM", "SynTF", "tree"])
def test_levels_come_out_equal_on_texts_that_chose_nothing(kind, law):
    found = epsilons_for(kind, law, LEVELS)
    assert found[NOMINAL, 2] == Reached(2, 2)
    state, _ = readers_at(kind, law, found[CERTIFIED, 6].epsilon)
    assert worst_loss(state)[0] == pytest.approx(6, abs=0.05)
    for sense, level in LEVELS[2:]:
        epsilon = found[sense, level].epsilon
        again = np.mean(
            [recovered(kind, law, epsilon, kind.test, seed)[sense] for seed in range(4)]
        )
        assert again == pytest.approx(level, abs=0.07), (sense, level)


def test_an_epsilon_that_a_mechanism_has_not_is_said(kind):
    found = epsilons_for(kind, "truncated Gumbel", ((NOMINAL, 2), (CERTIFIED, 6)))
    assert all(each.startswith("not reached: ") for each in found.values())


def test_choices_are_made_on_valid_texts_and_figures_on_test_texts(kind, monkeypatch):
    seen = []

    def seeing(kind, law, epsilon, texts, seed):
        seen.append(texts)
        return {SINGLE: epsilon / (9 + epsilon), READER: epsilon / (9 + epsilon)}

    monkeypatch.setattr("mondegreen_experiments.equal.protected.recovered", seeing)
    epsilons_for(kind, "TEM", ((SINGLE, 0.31),))
    assert seen
    assert all(texts is kind.valid for texts in seen)


def test_the_worst_loss_of_a_closed_law_is_that_of_all_pairs(kind):
    state = prepared("TEM", 3.0, kind.space)
    logs = state.log_prob(np.arange(kind.space.vocab_size + 1, dtype=np.int32))
    loss, how = worst_loss(state)
    assert loss == pytest.approx(np.ptp(logs, axis=0).max(), abs=1e-3)
    assert loss <= state.guarantee.loss(kind.space.geometry.diameter)
    assert how.startswith("exact")


def test_the_worst_loss_of_noise_is_what_is_proved(kind):
    loss, how = worst_loss(prepared("CMP", 3.0, kind.space))
    assert loss == pytest.approx(3 * kind.space.geometry.diameter)
    assert how.startswith("proved")
    none = mg.mechanism("vickrey_literal", epsilon=3.0).prepare(kind.space)
    assert worst_loss(none) == (math.inf, "none: nothing is proved of it")


def test_readers_recover_all_without_noise_and_only_chance_near_epsilon_zero(kind):
    clear, lost = (recovered(kind, "TEM", e, kind.test, 0) for e in (1e3, 1e-3))
    assert clear[SINGLE] > 0.99
    assert clear[READER] > 0.99
    for sense in (SINGLE, READER):
        assert lost[sense] < lost["by chance"] + 0.1


def test_whole_texts_tell_more_than_single_words(kind):
    found = recovered(kind, "TEM", 2.0, kind.test, 0)
    assert found[READER] > found[SINGLE] + 0.02


def test_only_known_words_are_left_and_public_texts_are_no_others():
    bench = MadeUp()
    found = kind_of(bench, "imdb", ("imdb",), TINY)
    assert isinstance(found, Kind)
    assert found.space.vocab_size == 50
    assert found.train.flat.max() < 50
    assert max(len(text) for text in found.train.words) <= 10
    assert found.language.about.words < 300 * 12
    assert ends_of(found.valid).sum() == len(found.valid)
    assert {split for _, split in bench.asked} == {"train", "valid", "test"}


def test_the_linear_classifier_learns_what_is_told(kind):
    told = fitted_linear(kind.train, kind.valid, kind.space.vocab_size)(kind.test)
    assert (told.argmax(axis=1) == kind.test.labels).mean() > 0.95
    assert told.sum(axis=1) == pytest.approx(1)
    rng = np.random.default_rng(0)
    mixed = Labelled(kind.train.words, rng.permutation(kind.train.labels))
    told = fitted_linear(mixed, kind.valid, kind.space.vocab_size)(kind.test)
    assert 0.3 < (told.argmax(axis=1) == kind.test.labels).mean() < 0.7


def test_the_linear_classifier_learns_what_words_only_hint_at():
    rng = np.random.default_rng(0)
    parts = []
    for count in (800, 200, 600):
        labels = rng.integers(0, 2, count)
        hints = rng.random((count, 20)) < 0.6
        words = 2 * rng.integers(0, 500, (count, 20))
        words += np.where(hints, labels[:, None], 1 - labels[:, None])
        parts.append(Labelled(list(words.astype(np.int32)), labels))
    assert accuracy_of(parts, 1000) > 0.65


def test_the_cosine_is_one_for_the_same_text_and_none_for_another(kind):
    texts = kind.test
    others = texts.with_words(np.random.default_rng(0).permutation(texts.flat))
    assert text_cosine(kind, texts, texts) == pytest.approx(1)
    assert text_cosine(kind, texts, others) < 0.2


@pytest.mark.slow("bisects with readers")
def test_a_point_of_the_recipe_at_both_ends(tiny):
    same = {"data": "imdb", "size": "tiny"}
    bench = MadeUp()

    def found(law, by, level):
        return equal.measure(bench, {**same, "law": law, "by": by, "level": level}, 0)

    clear, kept = found("none", "clear text", 0), found("TEM", READER, 0.6)
    assert clear["accuracy"] > 0.95
    assert clear["chance"] < 0.7
    assert 0.5 < kept["accuracy"] <= clear["accuracy"]
    assert kept["reader"] == pytest.approx(0.6, abs=0.08)
    assert kept["reader"] >= kept["single"] > kept["by_chance"]
    missing = found("truncated Gumbel", NOMINAL, 2)
    assert missing["epsilon_is"].startswith("not reached")
    assert "accuracy" not in missing


def table(values):
    """Rows of a made-up table: (data, law, by, level) to measures."""
    return [
        (dict(zip(("data", "law", "by", "level"), point, strict=True)), measures)
        for point, measures in values.items()
    ]


def test_an_order_that_is_reversed_does_not_survive():
    def rows(equal_success):
        values = {}
        for data in ("imdb", "ag_news"):
            for law, nominal in (("TEM", 0.8), ("CMP", 0.6)):
                values[data, law, NOMINAL, 10] = {"accuracy": nominal}
                for level in (0.3, 0.5):
                    after = {"accuracy": equal_success[law]}
                    values[data, law, READER, level] = after
        return table(values)

    assert equal._survives(rows({"TEM": 0.7, "CMP": 0.6}))
    assert equal._lead_is_left(rows({"TEM": 0.7, "CMP": 0.6})) > 0
    assert equal._lead_is_left(rows({"TEM": 0.62, "CMP": 0.6})) < 0
    assert equal._survives(rows({"TEM": 0.6, "CMP": 0.62}))
    assert not equal._survives(rows({"TEM": 0.6, "CMP": 0.7}))


def test_laws_are_alike_within_so_much():
    values = {
        (data, law, NOMINAL, 10): {"reader": reader}
        for data in ("imdb", "ag_news")
        for law, reader in (("TEM", 0.9), ("CMP", 0.85), ("BRR", 0.82))
    }
    assert equal._alike(NOMINAL, (10,), 0.1)(table(values)) > 0
    values["imdb", "CMP", NOMINAL, 10] = {"reader": 0.5}
    assert equal._alike(NOMINAL, (10,), 0.1)(table(values)) < 0
