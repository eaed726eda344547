"""Releases that are vectors: of which words, with whose noise, and what they refuse."""

from __future__ import annotations

import os

import numpy as np
import pytest
from scipy import stats

import mondegreen as mg
from mondegreen.errors import InvalidParameterError, UnprovedGuaranteeError
from mondegreen.mechanisms.noise.private_vectors import PrivateVectors
from mondegreen.privatizer.vectors import term_frequencies, word_vectors

SPACE = mg.Space.from_arrays(
    "animals", ["cat", "cow", "tax"], [[0.0, 1.0], [0.5, 1.0], [9.0, 9.0]]
)


def syntf(epsilon=6.0):
    return mg.mechanism("syntf", epsilon=epsilon).prepare(SPACE)


def noisy(epsilon=3.0):
    return PrivateVectors(epsilon=epsilon).prepare(SPACE)


def test_frequencies_are_those_of_the_mixture_of_laws():
    state, size, alpha = syntf(), 60_000, 1e-6
    (counts,) = term_frequencies(
        state, ["A cat, a cat; tax?"], size, noise=mg.Seeded(1)
    )
    # Two unknown words (a), two cats and a tax.
    law = np.exp(state.log_prob(np.array([3, 0, 3, 0, 2], dtype=np.int32))).mean(axis=0)
    assert stats.chisquare(counts, law * size).pvalue > alpha


def test_a_text_without_words_is_one_unknown_word():
    state = syntf()
    empty, unknown = term_frequencies(
        state, ["...", "zyzzyva"], 40_000, noise=mg.Seeded(2)
    )
    law = np.exp(state.log_prob(np.array([3], dtype=np.int32)))[0] * 40_000
    assert stats.chisquare(empty, law).pvalue > 1e-6
    assert stats.chisquare(unknown, law).pvalue > 1e-6


def test_noise_is_fresh_unless_it_is_keyed_or_seeded():
    state, texts = noisy(), ["cat cow", "cat cow"]
    first, second = word_vectors(state, texts)
    assert not np.intersect1d(first, second).size > 1
    assert not np.array_equal(word_vectors(state, texts)[0], first)
    keyed = mg.KeyedNoise(os.urandom(32))
    again = [word_vectors(state, texts, noise=keyed, ids=["1", "2"]) for _ in range(2)]
    assert np.array_equal(np.concatenate(again[0]), np.concatenate(again[1]))
    assert not np.array_equal(again[0][0], again[0][1])
    # Another release of the same texts under the same key shares nothing with it.
    other = word_vectors(noisy(4.0), texts, noise=keyed, ids=["1", "2"])
    assert not np.array_equal(other[0], again[0][0])
    sizes = [
        term_frequencies(syntf(), texts, size, noise=keyed, ids=["1", "2"])
        for size in (500, 500, 501)
    ]
    assert np.array_equal(sizes[0], sizes[1])
    assert sizes[2].sum(axis=1).tolist() == [501, 501]


def test_vectors_are_those_of_the_words_in_order():
    state = noisy(1e6)  # hardly any noise
    (rows,) = word_vectors(state, ["Tax the cow"])
    expected = SPACE.points(np.array([2, 3, 1], dtype=np.int32))
    np.testing.assert_allclose(rows, expected, atol=1e-3)
    assert state.decode(rows)[[0, 2]].tolist() == [2, 1]
    assert word_vectors(state, []) == []


def test_what_makes_no_sense_is_refused():
    unproved = mg.mechanism("custext", epsilon=1.0, k=2).prepare(SPACE)
    with pytest.raises(UnprovedGuaranteeError):
        term_frequencies(unproved, ["cat"], 3)
    for texts in ("cat", [None], [3]):
        with pytest.raises(InvalidParameterError, match="texts"):
            word_vectors(noisy(), texts)
    with pytest.raises(InvalidParameterError, match="ids"):
        term_frequencies(syntf(), ["cat"], 3, ids=["1", "2"])
    with pytest.raises(InvalidParameterError, match="size"):
        term_frequencies(syntf(), ["cat"], 0)
