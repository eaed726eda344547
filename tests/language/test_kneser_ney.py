import itertools
from dataclasses import replace

import numpy as np
import pytest
from corpora import BOUNDARY, SIZE, UNKNOWN, BruteForce, counted, flat, sentences

from mondegreen.errors import InvalidParameterError
from mondegreen.language import counts as counts_module
from mondegreen.language.counts import Counter
from mondegreen.language.kneser_ney import compute_discount, estimate

CORPUS = sentences()
GRID = np.array(list(itertools.product(range(SIZE), repeat=3)))


def test_the_corpus_reaches_every_branch():
    brute = BruteForce(CORPUS)
    assert all(discounts != [0, 0.5, 1.0, 1.5] for discounts in brute.discounts[1:])
    assert brute.raw[0][UNKNOWN,]
    assert min(brute.raw[2].values()) == 1


@pytest.mark.parametrize("least", [1, 2, 4])
def test_it_is_the_formula_of_chen_and_goodman(least):
    brute, tables = BruteForce(CORPUS, least), estimate(counted(CORPUS), least)
    rng = np.random.default_rng(1)
    for u, v, w in rng.permutation(GRID)[:300].tolist():
        wanted = brute.prob(v, w) if v == BOUNDARY else brute.prob(u, v, w)
        found = np.exp(tables.log_prob(u, v, w))
        assert found == pytest.approx(wanted, rel=1e-9), (u, v, w)


@pytest.mark.parametrize("least", [1, 2, 3, 1000])
@pytest.mark.parametrize("count", [1, 2, 5, 400])
def test_every_distribution_sums_to_one(least, count):
    tables = estimate(counted(sentences(count=count)), least)
    found = np.exp(tables.log_prob(*GRID.T)).reshape(SIZE * SIZE, SIZE)
    np.testing.assert_allclose(found.sum(1), 1, atol=1e-9)
    assert found.min() > 0


def test_what_is_kept_is_never_below_its_back_off():
    tables = estimate(counted(CORPUS))
    pairs = np.repeat(np.arange(SIZE), np.diff(tables.pair_starts))
    u, v = (
        np.repeat(each, np.diff(tables.triple_starts))
        for each in (pairs, tables.pair_words)
    )
    shorter = tables.log_backoff(u, v) + tables.pair_log_prob(v, tables.triple_words)
    assert (tables.triple_log >= shorter - 1e-12).all()


@pytest.mark.parametrize("least", [2, 3])
def test_no_ngram_below_the_least_count_is_kept(least):
    brute, tables = BruteForce(CORPUS), estimate(counted(CORPUS), least)
    pairs = np.repeat(np.arange(SIZE), np.diff(tables.pair_starts))
    kept = set(zip(pairs.tolist(), tables.pair_words.tolist(), strict=True))
    assert kept == {gram for gram, n in brute.raw[1].items() if n >= least}
    owners = np.repeat(np.arange(len(pairs)), np.diff(tables.triple_starts))
    columns = (pairs[owners], tables.pair_words[owners], tables.triple_words)
    kept = set(zip(*(each.tolist() for each in columns), strict=True))
    assert kept == {gram for gram, n in brute.raw[2].items() if n >= least}
    assert len(kept) < len(brute.raw[2])


def test_words_below_the_least_count_are_all_alike():
    corpus = [[0, 1, 0, 1], [0, 1], [2, 0], [3, 3]]
    log = estimate(counted(corpus), least=3).unigram_log
    assert log[2] == log[3] == log[7]  # once, twice, never
    assert log[0] > log[2]


def test_frequencies_are_shares_of_running_words():
    corpus = [[0, 1, 0, 1], [0, 1], [2, 0], [UNKNOWN]]
    found = estimate(counted(corpus)).frequency
    assert found[0] / found[1] == pytest.approx(4 / 3)
    assert found[2] == found[UNKNOWN] == pytest.approx(found[1] / 3)
    # The nine words that do not occur have one occurrence together.
    assert found[3:12] == pytest.approx([found[2] / 9] * 9)
    assert found.sum() == pytest.approx(1)
    cut = estimate(counted(corpus), least=2).frequency
    assert cut[2:] == pytest.approx([2 / 9 / 11] * 11)


def test_a_stored_score_below_its_back_off_counts_for_nothing():
    tables = estimate(counted(CORPUS))
    low = replace(
        tables, triple_log=tables.triple_log - 50, pair_log=tables.pair_log - 50
    )
    u, v, w = GRID.T
    single = tables.unigram_backoff[v] + tables.unigram_log[w]
    wanted = tables.log_backoff(u, v) + single
    np.testing.assert_allclose(low.log_prob(u, v, w), wanted)


def test_discounts_of_a_tiny_corpus_are_sane():
    found = compute_discount(np.array([1, 1, 2, 9]))
    assert found.tolist() == [0.5, 0.5, 1.0, 1.5]
    # n1 to n4 = 1, 1, 9, 1 would give a negative discount of 2.
    odd = compute_discount(np.array([1, 2, *[3] * 9, 4]))
    assert odd.tolist() == [0.5, 1.0, *[1.5] * 10]


def test_chunks_do_not_matter(monkeypatch):
    whole = counted(CORPUS)
    monkeypatch.setattr(counts_module, "_CHUNK", 50)
    counter = Counter(SIZE - 2)
    for sentence in CORPUS:
        counter.add(*flat([sentence]))
    pieces = counter.finish()
    assert (pieces.words, pieces.sentences) == (whole.words, whole.sentences)
    assert pieces.sentences == len(CORPUS)
    np.testing.assert_array_equal(pieces.keys, whole.keys)
    np.testing.assert_array_equal(pieces.counts, whole.counts)


def test_a_sentence_ends_with_the_words_that_are_added():
    counter = Counter(SIZE - 2)
    counter.add(np.array([0, 1], np.int32), [False, False])
    counter.add(np.array([2], np.int32), [False])
    counter.add(np.zeros(0, np.int32), [])
    counts = counter.finish()
    expected = [(0, 1, BOUNDARY), (BOUNDARY, 0, 1), (BOUNDARY, 2, BOUNDARY)]
    keys = [(u * SIZE + v) * SIZE + w for u, v, w in expected]
    assert counts.keys.tolist() == sorted(keys)
    assert counts.sentences == 2


@pytest.mark.parametrize("size", [1, (1 << 21) - 2])
def test_the_smallest_and_the_largest_vocabulary_are_counted(size):
    counter = Counter(size)
    counter.add(np.array([size - 1], np.int32), [True])
    (key,) = counter.finish().keys.tolist()
    end, base = size + 1, size + 2
    assert key == (end * base + size - 1) * base + end


@pytest.mark.parametrize("bad", [0, -1, (1 << 21) - 1, 1 << 21])
def test_a_vocabulary_that_keys_cannot_hold_is_refused(bad):
    with pytest.raises(InvalidParameterError, match="a space of"):
        Counter(bad)


def test_what_cannot_be_estimated_is_refused():
    with pytest.raises(InvalidParameterError, match="least"):
        estimate(counted(CORPUS), 0)
    with pytest.raises(InvalidParameterError, match="some text"):
        estimate(Counter(3).finish())
