"""The model that ships: what is in it, and that it opens at once."""

import time
import zlib
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import mondegreen as mg
from benchmarks.ship import ship_language as ship
from mondegreen.language.build import TextCounter
from mondegreen.language.scorer import NGramScorer
from mondegreen.language.store import DEFAULT, load_language

ROOT = Path(__file__).parents[2]
PUBLIC = ROOT / "../shared/data/public_text"
CASES = ship.CASES.read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def model():
    return load_language()


def test_it_is_small_and_says_what_it_is_from(model):
    assert DEFAULT.stat().st_size <= 12_000_000
    assert len(zlib.compress(DEFAULT.read_bytes())) <= 8_000_000
    assert (model.about.least, model.about.order) == (3, 3)
    model.check_space(mg.load_space())
    notice = (Path(__file__).parents[2] / "NOTICE").read_text("utf-8")
    assert "language/data/english.lm" in notice
    assert len(model.about.sources) == len(ship.SOURCES)
    for name, licence in ship.SOURCES.values():
        assert f"{name} ({licence})" in model.about.sources


def test_it_prefers_english_to_its_words_in_another_order(model):
    scorer, rng = NGramScorer(model, mg.load_space()), np.random.default_rng(0)
    sentence = "the president of the united states went to the hospital".split()
    shuffled = [rng.permutation(sentence).tolist() for _ in range(50)]
    scores = scorer.log_probs([sentence, *shuffled])
    assert scores[0] > scores[1:].max() + 10


@pytest.mark.slow("all words")
def test_its_distributions_sum_to_one_but_for_rounding(model):
    rng, words = np.random.default_rng(0), np.arange(model.vocab_size + 2)
    first = np.repeat(words, np.diff(model.pair_starts))
    long = np.flatnonzero(np.diff(model.triple_starts) > 0)
    for pair in rng.choice(long, 40).tolist():
        behind = first[pair], int(model.pair_words[pair])
        total = np.exp(model.log_prob(*behind, words)).sum()
        assert total == pytest.approx(1, abs=0.05)
    totals = [
        np.exp(model.log_prob(0, second, words)).sum()
        for second in rng.integers(len(words), size=40).tolist()
    ]
    assert np.abs(np.array(totals) - 1).max() < 0.05
    assert np.exp(model.unigram_log.astype(float)).sum() == pytest.approx(1, abs=1e-4)


@pytest.mark.alone
def test_it_opens_in_a_tenth_of_a_second():
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        load_language()
        seconds.append(time.perf_counter() - start)
    assert min(seconds) < 0.1


@pytest.mark.long
@pytest.mark.skipif(not PUBLIC.is_dir(), reason="public_text is not there")
def test_it_has_all_that_occurs_three_times_and_nothing_else(model):
    start = time.perf_counter()
    counter = TextCounter(mg.load_space())
    for batch in ship.batches():
        counter.add(batch)
    counts = counter.finish()
    assert time.perf_counter() - start < 120
    assert (model.about.words, model.about.sentences) == counts[3:]
    size = counts.size
    pairs = np.repeat(np.arange(size), np.diff(model.pair_starts)) * size
    pairs += model.pair_words
    owners = np.repeat(pairs, np.diff(model.triple_starts))
    triples = owners * size + model.triple_words
    np.testing.assert_array_equal(triples, counts.keys[counts.counts >= 3])
    # Every pair is the begin of as many triples as it occurs, but at an end.
    begins, place = np.unique(counts.keys // size, return_inverse=True)
    often = begins[np.bincount(place, counts.counts) >= 3]
    inner = pairs[pairs % size != size - 1]
    np.testing.assert_array_equal(inner, often)


def reviewed_forms():
    """Words whose spelling was read by hand, whatever public text has."""
    path = ROOT / "packaging" / "policy" / "print_forms.tsv"
    return {row.split("\t")[0] for row in path.read_text("utf-8").splitlines()}


def test_words_have_their_usual_spelling():
    spelled = dict(line.split("\t") for line in CASES)
    assert CASES == sorted(CASES)
    for word in ("I", "London", "NASA", "English", "Monday", "McDonald"):
        assert spelled[word.lower()] == word
    assert not {"the", "house", "doctor", "may", "will"} & spelled.keys()
    known = mg.load_space().index.keys() | reviewed_forms()
    for word, printed in spelled.items():
        assert word in known
        assert printed.lower() == word != printed


@pytest.mark.slow("reads 2,000 texts of each public file")
@pytest.mark.skipif(not PUBLIC.is_dir(), reason="public_text is not there")
def test_spellings_are_counted_inside_sentences_only():
    texts = []
    for path in sorted(PUBLIC.glob("*.parquet")):
        texts += pq.read_table(path, columns=["text"])["text"][:2000].to_pylist()
    counts = ship.spellings(iter([texts]))
    assert counts["the"] > 50 * counts["The"]


def test_a_spelling_needs_five_occurrences_and_a_majority():
    def found(text):
        return ship.cases(ship.spellings(iter([[text]])), frozenset(["oslo", "cat"]))

    assert found("in Oslo" * 1) == []
    assert found("in Oslo " * 5) == ["oslo\tOslo"]
    assert found("in Oslo " * 4) == []
    assert found("in Oslo " * 5 + "in oslo " * 5) == []
    assert found("in OSLO " * 3 + "in Oslo " * 2 + "in oslo " * 4) == ["oslo\tOSLO"]
    assert found('Oslo. Oslo! Oslo? "Oslo" Oslo: Oslo. ' * 5) == []
    assert found("in Bergen " * 9) == []
