"""Rules that stand for query scramblers: which word they name for which."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import mondegreen as mg
from mondegreen_experiments.bench import Labelled
from mondegreen_experiments.measures.scramblers import alike, generalised, scrambled

WORDS = ["dog", "animal", "thing", "run", "move", "quick", "turn", "round"]


@pytest.fixture
def wordnet(tmp_path):
    rows = [
        ("dog.n.01", "domestic_animal.n.01", "hypernym"),  # two words: climbed over
        ("domestic_animal.n.01", "animal.n.01", "hypernym"),
        ("dog.n.01", "thing.n.01", "hypernym"),  # a second way up is not taken
        ("animal.n.01", "thing.n.02", "hypernym"),
        ("run.n.01", "nothing_here.n.01", "hypernym"),  # a noun that leads nowhere
        ("run.v.01", "move.v.03", "hypernym"),
        ("quick.a.01", "thing.n.01", "similar_to"),
        ("turn.v.01", "go_round.v.01", "hypernym"),  # two above each other
        ("go_round.v.01", "turn.v.01", "hypernym"),
    ]
    names = ("src", "dst", "relation")
    table = pa.table(
        {n: list(c) for n, c in zip(names, zip(*rows, strict=True), strict=True)}
    )
    pq.write_table(table, tmp_path / "relations.parquet")
    return tmp_path


def test_a_word_becomes_the_nearest_more_general_one_of_the_space(wordnet):
    space = mg.Space.from_arrays("few", WORDS, np.eye(len(WORDS)))
    rule = generalised(space, wordnet)
    named = dict(zip(WORDS, (WORDS[i] for i in rule[:-1]), strict=True))
    assert named == {
        **{each: each for each in WORDS},
        **{"dog": "animal", "animal": "thing", "run": "move"},
    }
    assert rule[-1] == len(WORDS)  # the unknown word stays unknown


def test_a_rarer_word_becomes_the_one_of_most_alike_company():
    rng = np.random.default_rng(0)
    # 0 and 1 are common; 2 and 3 stand behind 0, 4 and 5 behind 1; 6 is too rare.
    texts = [
        np.array([[0, 2 + rng.integers(2)], [1, 4 + rng.integers(2)]][i % 2], np.int32)
        for i in range(200)
    ]
    texts.append(np.array([6, 0, 1], np.int32))
    rule = alike(texts, 8, common=2, most=6)
    assert rule.tolist() == [0, 1, 3, 2, 5, 4, 8, 8, 8]
    np.testing.assert_array_equal(rule, alike(texts, 8, common=2, most=6))


def test_a_scrambled_text_has_its_length_and_label_and_the_words_of_the_rule():
    texts = Labelled([np.array([0, 1], np.int32), np.array([2], np.int32)], np.ones(2))
    found = scrambled(texts, np.array([1, 1, 0, 3], np.int32))
    assert [each.tolist() for each in found.words] == [[1, 1], [0]]
    assert (found.labels == texts.labels).all()
