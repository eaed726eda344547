"""Scores of a release, each by hand on a corpus of a few words."""

import numpy as np
import pytest

import mondegreen as mg
from mondegreen.errors import InvalidParameterError
from mondegreen.scores import corpus
from mondegreen.scores.corpus import CorpusScorer

WORDS = ["cold", "cool", "not", "warm", "hot"]


@pytest.fixture
def space():
    return mg.Space.from_arrays(
        "line", WORDS, [[1, 0], [1, 1], [0, 1], [3, 0], [-2, 0]]
    )


def scored(space, originals, releases, **options):
    scorer = CorpusScorer(space, **options)
    scorer.add(originals, releases)
    return scorer.scores()


def test_changes_are_counted_by_place(space):
    found = scored(space, ["cold warm hot", "cool"], ["cold hot warm", "cool"])
    assert (found.texts, found.words, found.paired, found.changed) == (2, 4, 4, 2)
    assert found.pp == 50.0


def test_case_and_contractions_are_no_changes(space):
    found = scored(space, ["COLD isn't ＣＯＯＬ"], ["cold is not cool"])
    assert (found.paired, found.changed) == (4, 0)


def test_low_counts_rare_types_wherever_they_stand(space):
    # counts: cold 3, warm 1, hot 2, cool 1; rarest two, ties by letters: cool, warm
    originals = ["cold cold cold hot hot warm cool"]
    releases = ["cool cold cold hot hot hot hot"]
    found = scored(space, originals, releases, rare=2)
    assert found.rare_types == 2
    assert found.low == 50.0  # cool is there, in place of another word
    assert found.rare_unchanged == 0.0  # no occurrence of a rare word survived


def test_ties_of_rare_types_are_alphabetical(space):
    found = scored(space, ["warm hot cool"], ["cool hot hot"], rare=1)
    assert found.low == 100.0  # cool comes before hot and warm


def test_distances_and_cosines_by_hand(space):
    found = scored(space, ["cold cold", "hot"], ["cool warm", "cold"])
    assert found.distance == pytest.approx((1 + 2 + 3) / 3)
    assert found.word_cosine == pytest.approx((2**-0.5 + 1 - 1) / 3)
    # means (1, 0) and (2, 0.5); (-2, 0) and (1, 0)
    assert found.text_cosine == pytest.approx((2 / np.hypot(2, 0.5) - 1) / 2)


def test_unknown_words_that_come_back_are_counted(space):
    found = scored(space, ["Oslo cold Rome"], ["oslo cold warm"])
    assert (found.unknown, found.unknown_unchanged, found.foreign) == (2, 1, 1)
    assert found.distance == 0.0  # the one pair whose words both have vectors


def test_texts_of_another_length_are_set_aside(space):
    found = scored(space, ["cold warm", "hot"], ["cold", "hot"])
    assert (found.unaligned, found.paired, found.changed) == (1, 1, 0)
    assert found.words == 3


def test_nulls_stay_null(space):
    found = scored(space, [None, "cold"], [None, None])
    assert (found.texts, found.withheld, found.paired) == (1, 1, 0)
    assert found.pp is None
    with pytest.raises(InvalidParameterError):
        scored(space, [None], ["cold"])
    with pytest.raises(InvalidParameterError):
        scored(space, ["cold"], [])


def test_english_is_what_the_list_says(space):
    found = scored(space, ["Cold xyz"], ["xyz hot"], english=["COLD", "hot"])
    assert (found.english_original, found.english_release) == (50.0, 50.0)


def test_chunks_add_up_to_the_whole(space):
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, size=5)) for _ in range(40)]
    released = [" ".join(rng.choice(WORDS, size=5)) for _ in range(40)]
    chunked = CorpusScorer(space)
    for start in range(0, 40, 7):
        chunked.add(texts[start : start + 7], released[start : start + 7])
    found, whole = chunked.scores(), scored(space, texts, released)
    assert found.to_dict() == pytest.approx(whole.to_dict())


def test_words_are_compared_in_bounded_blocks(space, monkeypatch):
    texts, released = (
        ["cold warm", "hot", "cool cold hot"],
        ["hot cool", "hot", "hot cold warm"],
    )
    whole = scored(space, texts, released)
    monkeypatch.setattr(corpus, "_WORDS", 2)
    assert scored(space, texts, released).to_dict() == pytest.approx(whole.to_dict())


def test_an_empty_corpus_has_no_scores(space):
    found = CorpusScorer(space).scores()
    assert (found.pp, found.low, found.distance) == (None, None, None)


@pytest.mark.slow("a share by simulation")
def test_the_share_that_changes_is_what_the_law_says():
    """PP of a release of one word is one minus its N_w; false alarm below 1e-6."""
    space = mg.Space.from_arrays("ab", ["a", "b"], [[0.0], [1.0]])
    p = mg.Privatizer(
        mg.mechanism("exponential", epsilon=2.0), space, noise=mg.Seeded(0)
    )
    texts = ["a"] * 20_000
    released = [release.text for release in p.batch(texts)]
    found = scored(space, texts, released)
    change = 1 - 1 / (1 + np.exp(-1.0))
    assert abs(found.pp / 100 - change) < 5 * np.sqrt(change * (1 - change) / 20_000)


def test_the_repr_shows_no_text(space):
    scorer = CorpusScorer(space)
    scorer.add(["cold"], ["warm"])
    assert "cold" not in repr(scorer)
