"""Recipes of CMP on made-up data: both ends known, and claims that can fail."""

import math

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("sklearn")

import mondegreen as mg
from mondegreen_experiments import bench as benches
from mondegreen_experiments.bench import Bench, Labelled
from mondegreen_experiments.choices import Choices
from mondegreen_experiments.papers import recipe_named

SIZE = 200


class MadeUp:
    """Texts whose label is told by their words; a pair of columns says the same."""

    choices = Choices()

    def __init__(self):
        vectors = np.random.default_rng(0).normal(size=(SIZE, 8))
        vectors += 3 * np.eye(8)[np.arange(SIZE) % 8]
        words = [f"w{i}" for i in range(SIZE)]
        self.made = mg.Space.from_arrays("made-up", words, vectors)

    def space(self, name):
        return self.made

    def labelled(self, name, split, space="glove-300", most=0, column="text"):
        rng = np.random.default_rng([len(name), *map(ord, split)])
        kinds = 2 if name == "imdb" else 8
        labels = np.arange(most or 900) % kinds
        if name == "mrpc":  # the same words in both columns, and all say the same
            labels[:] = 1
        words = [rng.integers(0, SIZE, 8) for _ in labels]
        if name != "mrpc":
            words = [
                text // kinds * kinds + label
                for text, label in zip(words, labels, strict=True)
            ]
        return Labelled([text.astype(np.int32) for text in words], labels)

    def named_labels(self, name, space="glove-300"):
        words = [np.arange(i, SIZE, 8, dtype=np.int32) for i in range(12)]
        return Labelled(words, np.arange(12))


def measured(name, point, seed=0):
    found = recipe_named(name).measure(MadeUp(), point, seed)
    assert all(isinstance(v, str) or math.isfinite(v) for v in found.values())
    return found


def holds(name, part, table):
    """Whether the claim with these words holds in a table."""
    [shape] = [each for each in recipe_named(name).shapes if part in each.claim]
    return shape.holds(table)


def test_distances_are_those_of_all_pairs_of_the_words():
    found = measured("cmp-distances", {"vectors": "glove", "dim": 8, "words": SIZE})
    points = MadeUp().made.vectors.astype(float)
    table = np.linalg.norm(points[:, None] - points, axis=2)
    apart = np.sort(table, axis=1)[:, 1:]
    assert found["nearest_50"] == pytest.approx(np.median(apart[:, 0]), rel=1e-5)
    assert found["nearest_05"] == pytest.approx(np.percentile(apart[:, 0], 5), rel=1e-5)
    assert found["hundredth_50"] == pytest.approx(np.median(apart[:, 99]), rel=1e-5)
    assert found["pair_95"] == pytest.approx(np.percentile(apart, 95), rel=0.02)
    assert found["epsilon"] == pytest.approx(2 * 9**0.5 / np.median(apart[:, 0]))


def test_claims_about_distances_can_fail():
    def table(near, epsilon, ratio):
        names = ("nearest_50", "hundredth_50", "pair_50")
        return [
            (
                {"vectors": "glove", "dim": dim},
                {
                    **dict.fromkeys(names, a),
                    "epsilon": b,
                    "hundredth_to_nearest": ratio,
                },
            )
            for dim, a, b in zip((50, 300), near, epsilon, strict=True)
        ]

    good, bad = table((1, 2), (5, 9), 1.5), table((2, 1), (9, 5), 2.5)
    for part in ("distances grow", "larger epsilon", "hundredth"):
        assert holds("cmp-distances", part, good)
        assert not holds("cmp-distances", part, bad)


def test_words_stay_at_large_epsilon_and_seldom_near_zero():
    sizes = {"vectors": "glove", "dim": 8, "words": 50, "runs": 100}
    stay, lost = (
        measured("cmp-deniability", {"epsilon": epsilon, **sizes})
        for epsilon in (1000, 0.01)
    )
    assert (stay["n_w"], stay["s_w"]) == (1, 1)
    assert lost["n_w"] < 0.05
    assert lost["s_w"] > 20
    nearest = MadeUp().made.geometry.nearest
    assert stay["scaled"] == pytest.approx(1000 * nearest / 8**0.5)
    assert stay["formula"] == pytest.approx(2 * (2 * math.log(SIZE)) ** 0.5)


def test_claims_about_where_half_of_the_words_stay_can_fail():
    def table(halves, formula):
        """Two spaces whose N_w is a straight line through .5 at these places."""
        return [
            (
                {"vectors": "glove", "dim": dim, "epsilon": epsilon},
                {
                    "n_w": 0.5 * epsilon,
                    "s_w": 9 - epsilon,
                    "scaled": epsilon * half,
                    "formula": formula,
                },
            )
            for dim, half in zip((50, 300), halves, strict=True)
            for epsilon in (0, 2)
        ]

    one, formula = "one multiple", "2 sqrt(2 ln V)"
    assert holds("cmp-deniability", one, table((3, 3.5), 3))
    assert not holds("cmp-deniability", one, table((3, 4), 3))
    assert holds("cmp-deniability", formula, table((3, 3.5), 3))
    assert not holds("cmp-deniability", formula, table((3, 3.5), 9))


def test_a_word_becomes_itself_at_large_epsilon_and_anything_near_zero():
    stays, lost = (
        measured("cmp-words", {"word": "w7", "dim": 300, "epsilon": e, "runs": 300})
        for e in (1000, 0.01)
    )
    twice = stays.pop("within_twice")
    assert stays == {
        "n_w": 1,
        "s_w": 1,
        "changed": 0,
        "near": 0,
        "farther": 0,
        "outputs": "w7 1.00",
    }
    assert lost["n_w"] < 0.2
    assert lost["s_w"] > 50
    assert 0 < lost["near"] < 0.5
    assert lost["farther"] > 0.8
    assert lost["outputs"].count(",") == 4
    points = MadeUp().made.vectors.astype(float)
    apart = np.sort(np.linalg.norm(points - points[7], axis=1))
    assert twice == (apart < 2 * apart[1]).sum() - 1


def test_claims_about_words_can_fail():
    def table(near, farther):
        return [
            (
                {"word": "w7", "dim": 300, "epsilon": epsilon},
                {"n_w": 0.5, "changed": 20, "near": near, "farther": far},
            )
            for epsilon, far in zip((6, 12), farther, strict=True)
        ]

    assert holds("cmp-words", "ten nearest words", table(0.6, (0.9, 0.8)))
    assert not holds("cmp-words", "ten nearest words", table(0.4, (0.9, 0.8)))
    assert holds("cmp-words", "come nearer", table(0.4, (0.9, 0.8)))
    assert not holds("cmp-words", "come nearer", table(0.4, (0.8, 0.9)))
    assert not holds("cmp-words", "come nearer", table(0.4, (1.1, 0.9)))


@pytest.mark.parametrize("claim", ["stay more often", "come nearer"])
def test_nothing_follows_where_a_word_never_stays(claim):
    measured = {"changed": 1000, "near": 0.0, "farther": 1.2, "n_w": 0.0}
    stays = {**measured, "n_w": 0.5, "farther": 0.9}
    table = [
        ({"word": word, "dim": 300, "epsilon": epsilon}, found)
        for word, found in (("w7", measured), ("w8", stays))
        for epsilon in (6, 12)
    ]
    [shape] = [s for s in recipe_named("cmp-words").shapes if claim in s.claim]
    assert math.isnan(shape.test(table))


@pytest.mark.slow("four small recurrent networks")
def test_reviews_are_told_without_noise_and_not_at_epsilon_near_zero():
    sizes = {"texts": 160, "valid": 40, "tests": 160, "words": 8}
    none, same, lost = (
        measured("cmp-utility", {"law": law, "epsilon": epsilon, **sizes})
        for law, epsilon in (("none", 0), ("CMP", 1000), ("CMP", 0.01))
    )
    assert none == same
    assert none["unchanged"] == 1
    assert none["chance"] == 0.5
    assert min(none["both"], none["test"], none["train"]) > 0.9
    assert lost["unchanged"] < 0.05
    # Not training alone: clear texts of a class are alike, and told alike by a model
    # that learned nothing, so that nearly all or nearly none may be right by chance.
    for name in ("both", "test"):
        assert 0.34 < lost[name] < 0.66  # four deviations


def reviews(train):
    """Accuracies by epsilon, without noise first, that are all those of training."""
    return [
        (
            {"law": "CMP" if epsilon else "none", "epsilon": epsilon},
            {
                **dict.fromkeys(("train", "test", "both"), value),
                "chance": 0.5,
                "unchanged": {0: 1.0, 6: 0.3, 12: 0.7}[epsilon],
            },
        )
        for epsilon, value in zip((0, 6, 12), train, strict=True)
    ]


def test_claims_about_reviews_can_fail():
    assert holds("cmp-utility", "only training texts", reviews((0.9, 0.6, 0.8)))
    assert not holds("cmp-utility", "only training texts", reviews((0.9, 0.8, 0.6)))
    assert holds("cmp-utility", "less than 0.02", reviews((0.9, 0.6, 0.885)))
    assert not holds("cmp-utility", "less than 0.02", reviews((0.9, 0.6, 0.87)))
    assert holds("cmp-utility", "robust", reviews((0.9, 0.75, 0.8)))
    assert not holds("cmp-utility", "robust", reviews((0.9, 0.55, 0.8)))


@pytest.mark.slow("nine matching models")
@pytest.mark.parametrize("task", ["paraphrase", "questions", "kind"])
def test_answers_rank_first_without_noise_and_by_chance_near_epsilon_zero(task):
    none, lost = (
        measured(
            "cmp-answers", {"task": task, "law": law, "epsilon": 0.01, "texts": 480}
        )
        for law in ("none", "CMP")
    )
    assert none["unchanged"] == 1
    for name in ("both", "train", "test"):
        assert none[f"{name}_mrr"] > 0.9, name
    assert none["untrained_mrr"] == lost["untrained_mrr"] <= none["train_mrr"]
    for name in ("both_mrr", "test_mrr", "both_map", "test_map", "tf_idf_mrr"):
        chance = lost["chance_map" if name.endswith("map") else "chance_mrr"]
        assert lost[name] == pytest.approx(chance, abs=0.12), name


def ranked(lost):
    """MRR by task and epsilon, if this share of the lead over chance is lost at 6."""
    return [
        (
            {"task": task, "law": "CMP" if epsilon else "none", "epsilon": epsilon},
            {
                **{
                    f"{name}_{score}": 1 - share * bool(epsilon) * 0.8 / epsilon * 6
                    if epsilon
                    else 1.0
                    for name in ("train", "test", "both")
                    for score in ("map", "mrr")
                },
                "tf_idf_map": 0.5,
                "untrained_map": 0.5,
                "chance_mrr": 0.2,
            },
        )
        for task, share in zip(("paraphrase", "questions", "kind"), lost, strict=True)
        for epsilon in (0, 6, 12)
    ]


def test_claims_about_answers_can_fail():
    assert holds("cmp-answers", "most sensitive", ranked((0.8, 0.7, 0.6)))
    assert not holds("cmp-answers", "most sensitive", ranked((0.8, 0.5, 0.6)))
    assert holds("cmp-answers", "rise", ranked((0.8, 0.7, 0.6)))
    assert not holds("cmp-answers", "rise", ranked((0.8, -0.7, 0.6)))
    assert holds("cmp-answers", "TF-IDF", ranked((0.5, 0.5, 0.5)))
    assert not holds("cmp-answers", "TF-IDF", ranked((0.8, 0.7, 0.6)))
    assert holds("cmp-answers", "an untrained one", ranked((0.5, 0.5, 0.5)))
    assert not holds("cmp-answers", "an untrained one", ranked((0.8, 0.7, 0.6)))


@pytest.fixture
def folder(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {
        "text1": ["oslo", "bergen", "paris"],
        "text2": ["norway", "norway coast", "france"],
        "label": ["a-city", "b", "c"],
        "split": ["train", "test", "train"],
    }
    pq.write_table(pa.table(columns), tmp_path / "pairs.parquet")
    (tmp_path / "vectors").mkdir()
    (tmp_path / "vectors" / "w2v_imdb.words.txt").write_text("a\nb\nc\nd\n")
    vectors = np.random.default_rng(0).normal(size=(4, 300)).astype(np.float16)
    np.save(tmp_path / "vectors" / "w2v_imdb_300d.npy", vectors)
    return tmp_path


def test_columns_of_pairs_are_read_with_labels_of_the_whole_table(folder):
    bench = Bench(folder)
    first = bench.labelled("pairs", "train", column="text1")
    second = bench.labelled("pairs", "train", column="text2")
    words = bench.space("glove-300").words
    assert [words[text[0]] for text in first.words] == ["oslo", "paris"]
    assert [words[text[0]] for text in second.words] == ["norway", "france"]
    assert first.labels.tolist() == second.labels.tolist() == [0, 2]
    names = bench.named_labels("pairs")
    assert [[words[i] for i in text] for text in names.words] == [
        ["a", "city"],
        ["b"],
        ["c"],
    ]


def test_spaces_of_word2vec_have_all_words_or_the_most_frequent(folder, monkeypatch):
    monkeypatch.setitem(benches._W2V, "w2v_frequent", 3)
    bench = Bench(folder)
    assert bench.space("w2v-300").words == ("a", "b", "c", "d")
    assert bench.space("w2v_frequent-300").words == ("a", "b", "c")
    assert bench.space("w2v_frequent-2").dim == 2
