"""What recipes of the comparative benchmark measure, with its ends known."""

import functools
import math

import numpy as np
import pytest

pytest.importorskip("torch")

import mondegreen as mg
from mondegreen_experiments.bench import Labelled
from mondegreen_experiments.choices import Choices
from mondegreen_experiments.measures.as_run import GUMBEL, ONE_CELL, state_of
from mondegreen_experiments.measures.scored import beside, counted, drawn
from mondegreen_experiments.papers import recipe_named
from mondegreen_experiments.papers.benchmark import scores
from mondegreen_experiments.papers.benchmark.axes import AXES
from mondegreen_experiments.releases import prepared

SIZE = 600  # of at most 512 the law of Gumbel noise is computed, for long


class MadeUpTexts:
    """Texts of made-up words, whose class is told by them, and a list of English."""

    choices = Choices()

    def __init__(self, folder):
        vectors = np.random.default_rng(0).normal(size=(SIZE, 6))
        vectors[:, 0] += np.arange(SIZE) % 2 * 6  # the class
        words = [f"w{i}" for i in range(SIZE)]
        self.made = mg.Space.from_arrays("made-up", words, vectors)
        self.english = folder / "en.txt"
        self.english.write_text("\n".join(words[: SIZE // 2]), encoding="utf-8")
        self.written = functools.cache(self._written)

    def space(self, name):
        return self.made

    def path(self, name):
        return self.english

    def _written(self, name, split, column="text"):
        rng = np.random.default_rng([len(name), *map(ord, split)])
        labels = rng.integers(0, 2, 400)
        words = [rng.integers(0, SIZE // 2, 14) * 2 + label for label in labels]
        return [" ".join(f"w{i}" for i in text) + "!" for text in words], labels

    def labelled(self, name, split, space="glove-300", most=0):
        texts, labels = self.written(name, split)
        words = [[int(w[1:]) for w in text.rstrip("!").split()] for text in texts]
        return Labelled([np.array(w, np.int32) for w in words], labels)


@pytest.fixture
def bench(tmp_path):
    return MadeUpTexts(tmp_path)


def measured(bench, name, point, seed=0):
    found = recipe_named(name).measure(bench, point, seed)
    assert all(math.isfinite(value) for value in found.values())
    return found


SIZES = {"train": 250, "valid": 60, "test": 200, "words": 12, "rate": 1e-2}


@pytest.mark.slow("four small networks")
def test_scores_know_no_noise_no_loss_and_nothing_left(bench):
    none, clear, lost = (
        measured(
            bench,
            "benchmark-scores",
            {"texts": "imdb", "law": law, "dim": 50, "epsilon": epsilon, **SIZES},
        )
        for law, epsilon in (("none", 0), ("CMP", 1000), ("TEM", 0.01))
    )
    assert none["baseline"] == none["accuracy"] == clear["accuracy"] > 90
    for found in (none, clear):
        assert (found["n_w"], found["s_w"], found["pp"]) == (100, 1, 0)
        assert found["low"] == found["rare_unchanged"] == 100
        assert found["cs"] == pytest.approx(100)
        assert found["puc_50"] == pytest.approx(0.5 * 100 + 0.5 * (1 + 100) / 5)
    assert lost["baseline"] == none["baseline"]
    assert 35 < lost["accuracy"] < 65
    assert lost["n_w"] < 10
    assert lost["pp"] > 90
    assert lost["rare_unchanged"] < 10 < 90 < lost["low"]


@pytest.mark.slow("four small networks")
def test_a_baseline_has_the_seed_and_the_dimension_of_its_point(bench):
    point = {"texts": "imdb", "law": "TEM", "dim": 50, "epsilon": 0.01, **SIZES}
    for seed in (0, 1):
        bare = {**point, "law": "none", "epsilon": 0}
        found, none = (
            measured(bench, "benchmark-scores", p, seed) for p in (point, bare)
        )
        assert found["baseline"] == none["accuracy"]


@pytest.mark.slow("42 releases")
def test_cells_of_the_regression_go_together(bench):
    point = {"dims": "50", "count": 40, "words": 8, "counted": 30}
    found = measured(bench, "benchmark-regression", point)
    assert found["cells"] == 42
    assert 0 < found["r2"] <= 1
    assert min(v for k, v in found.items() if k.startswith("inflation")) >= 1


def test_costs_are_measured_beside_those_of_cmp(bench):
    mine = measured(bench, "benchmark-cost", {"law": "CMP", "dim": 50, "epsilon": 10})
    assert mine["first_us_to_cmp"] == mine["again_us_to_cmp"] == 1
    other = {"law": "TEM", "dim": 50, "epsilon": 5}
    found = measured(bench, "benchmark-cost", other)
    assert min(found["first_us"], found["again_us"], found["peak_mb"]) > 0
    assert "peak_mb" not in measured(bench, "benchmark-cost", other, seed=1)


def test_words_stay_at_large_epsilon_and_not_near_zero(bench):
    for law in ("CMP", "Mahalanobis", "TEM", "SanText", "SynTF"):
        stays, lost = (
            measured(
                bench,
                "benchmark-counts",
                {"texts": "imdb", "law": law, "dim": 50, "epsilon": epsilon},
            )
            for epsilon in (1e5, 0.01)
        )
        # TEM keeps one in a thousand for words beyond its threshold.
        assert stays == pytest.approx({"n_w": 100, "s_w": 1}, abs=0.11), law
        assert lost["n_w"] < 3, law
        assert lost["s_w"] > 30, law


def test_exact_counts_are_those_that_runs_tend_to(bench):
    words = np.arange(20, dtype=np.int32)
    state = prepared("SanText", 4.0, bench.made)
    rng = np.random.default_rng(0)
    outputs = np.stack([state.sample(words, rng) for _ in range(2000)])
    exact = counted(state, words, rng)
    assert exact["n_w"] == pytest.approx(100 * (outputs == words).mean(), abs=1)
    different = [
        len(np.unique(outputs[i : i + 100, word]))
        for i in range(0, 2000, 100)
        for word in range(len(words))
    ]
    assert exact["s_w"] == pytest.approx(np.mean(different), abs=0.5)


def test_gumbel_noise_as_it_was_run_hardly_depends_on_epsilon(bench):
    low, high = (state_of(GUMBEL, epsilon, bench.made) for epsilon in (1.0, 10.0))
    assert low.scale == pytest.approx(high.scale, rel=0.2)
    assert not low.guarantee.is_proved
    printed = prepared("truncated Gumbel", 1e4, bench.made)
    assert printed.scale < low.scale


def test_a_search_of_one_cell_keeps_fewer_words(bench):
    words = np.repeat(np.arange(SIZE, dtype=np.int32), 10)
    exact, partial = (
        (
            state_of(law, 4.0, bench.made).sample(words, np.random.default_rng(0))
            == words
        )
        for law in ("CMP", ONE_CELL)
    )
    assert 0.1 < partial.mean() < exact.mean() < 0.9
    alone = state_of(ONE_CELL, 1e6, bench.made).sample(words, np.random.default_rng(0))
    assert (alone == words).all()


def test_texts_are_drawn_by_seed_and_keep_their_ends(bench):
    one, same, other = (drawn(bench, "imdb", "test", 30, 5, s) for s in (0, 0, 1))
    assert one.texts == same.texts != other.texts
    whole = bench.written("imdb", "test")[0]
    assert all(any(text.endswith(part) for text in whole) for part in one.texts)
    assert {len(each) for each in one.known.words} == {5}
    assert [f"w{i}" for i in one.known.words[0]] == one.texts[0].rstrip("!").split()


def test_an_unknown_word_counts_as_changed_and_as_rare(tmp_path):
    class Unknown(MadeUpTexts):
        def _written(self, name, split, column="text"):
            return ["Oslo w1 w2", "w1 w2 w2"], np.array([0, 1])

    bench = Unknown(tmp_path)
    written = drawn(bench, "imdb", "test", 2, 9, 0)
    flat = written.known.flat
    release = written.known.with_words(np.where(flat == SIZE, 7, flat).astype(np.int32))
    found = beside(bench, [written], [release])
    assert found["pp"] == pytest.approx(100 / 6)
    assert found["low"] == pytest.approx(200 / 3)  # w1 and w2 of three words
    assert found["rare_unchanged"] == pytest.approx(500 / 6)
    assert found["english"] == 100
    assert beside(bench, [written], [None])["english"] == pytest.approx(500 / 6)


def test_the_claims_are_false_where_they_should_be():
    recipe = recipe_named("benchmark-regression")
    as_said = {"epsilon": 0.5, "n_w": -0.5, "s_w": -0.5, "pp": -0.5}
    turned = {name: -value for name, value in as_said.items()}
    assert [s.holds([({}, turned)]) for s in recipe.shapes] == [False] * 4
    assert [s.holds([({}, as_said)]) for s in recipe.shapes] == [True] * 4


def orders(by_law):
    """A table of accuracies by (axis, accuracy) of each law, on the same texts."""
    return [
        ({"law": law, "texts": "t"}, {"accuracy": y, **dict.fromkeys(AXES, x)})
        for law, points in by_law.items()
        for x, y in points
    ]


def test_an_order_is_judged_where_both_laws_reach_a_level():
    line = [(0.1, 0.5), (0.9, 0.9)]
    higher = [(x, y + 0.05) for x, y in line]
    claims = {
        (each.claim.split()[0], each.claim.rpartition(" at equal ")[2]): each
        for each in recipe_named("benchmark-axes").shapes
        if " than CMP" in each.claim
    }
    assert len(claims) == 9 * len(AXES)
    for law, ahead in (("TEM", higher), ("BRR", higher)):
        for name in AXES.values():
            shape = claims[law, name]
            assert shape.test(orders({law: ahead, "CMP": line})) == pytest.approx(0.05)
            assert not shape.holds(orders({law: line, "CMP": ahead}))
            beyond = [(0.95, 0.99)]  # above every level: nothing can be told
            assert math.isnan(shape.test(orders({law: beyond, "CMP": line})))
    safe = [(0.01, 0.8)]  # always below a level: it counts with its best
    shape = claims["urr", AXES["sensitive"]]
    assert shape.test(orders({"urr": safe, "CMP": line})) > 0.1


def test_more_dimensions_keep_fewer_words_or_the_claim_fails():
    (shape,) = (
        each
        for each in recipe_named("benchmark-counts").shapes
        if each.claim.startswith("fewer words stay in more dimensions")
    )
    assert shape.holds(shape.printed)
    turned = [({**p, "dim": -p["dim"]}, m) for p, m in shape.printed]
    assert not shape.holds(turned)


def releases(*found):
    """Releases of film reviews in 50 dimensions, with PUC at the ends of alpha."""
    return [
        (
            {"texts": "imdb", "law": law, "epsilon": epsilon, "dim": 50},
            {"puc_25": private, "puc_50": 50.0, "puc_75": useful},
        )
        for law, epsilon, private, useful in found
    ]


def test_alpha_decides_where_two_releases_beat_each_other():
    apart = releases(("CMP", 1, 80, 60), ("CMP", 10, 60, 84))
    assert scores._alpha_decides(apart) == 19
    assert scores._alpha_decides(releases(("CMP", 1, 80, 85), ("CMP", 10, 60, 84))) < 0
    near = releases(("CMP", 1, 80, 84), ("CMP", 10, 60, 84.5))
    assert scores._alpha_decides(near) < 0


def test_epsilon_turns_where_each_mechanism_does():
    turns = [("CMP", 1, 80, 60), ("CMP", 10, 60, 84), ("SynTF", 10, 1, 1)]
    assert scores._turns_epsilon(releases(*turns)) == 20
    stays = [("TEM", 1, 70, 80), ("TEM", 10, 60, 79)]
    assert scores._turns_epsilon(releases(*turns, *stays)) == -1


def test_a_release_is_worth_it_at_each_alpha():
    clear = ("none", 0, 40, 80)
    table = releases(clear, ("CMP", 1, 80, 81))
    table[1][1]["puc_50"] = 53.0
    assert scores._worth_it(table) == 1
    assert scores._worth_it(releases(clear, ("CMP", 1, 80, 79))) == -1
