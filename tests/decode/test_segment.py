"""Ends of sentences from released words: a public rule, text by text."""

import numpy as np
import pytest

import mondegreen as mg
from mondegreen.decode.segment import likely_ends
from mondegreen.language.store import load_language


@pytest.fixture(scope="module")
def english():
    return load_language()


@pytest.fixture(scope="module")
def index():
    return mg.load_space().index


def ids(index, text):
    return np.array([index[word] for word in text.split()], dtype=np.int32)


def slow_ends(language, codes, counts):
    """The formula, word by word."""
    end, found, start = language.boundary, [], 0
    for count in counts:
        text = codes[start : start + count].tolist()
        start += count
        for i in range(count):
            stops = False
            if i + 1 < count and text[i] >= 0 and text[i + 1] >= 0:
                before = text[i - 1] if i and text[i - 1] >= 0 else end
                triple = (np.array([x]) for x in (before, text[i], end))
                again = (np.array([x]) for x in (text[i], end, text[i + 1]))
                on = (np.array([x]) for x in (before, text[i], text[i + 1]))
                ended = language.log_prob(*triple) + language.log_prob(*again)
                stops = bool((ended > language.log_prob(*on))[0])
            found.append(stops)
    return found


def test_it_is_the_formula(english):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 400, 300).astype(np.int32)
    codes[rng.random(300) < 0.1] = -1
    counts = np.array([1, 0, 40, 9, 250])
    found = likely_ends(english, codes, counts)
    assert found.tolist() == slow_ends(english, codes, counts)
    assert 0 < found.sum() < 150


def test_it_finds_where_people_end_a_sentence(english, index):
    text = ids(index, "he went to the door it was closed the doctor said nothing")
    found = likely_ends(english, text, np.array([len(text)]))
    assert found[4] or found[7]  # door, closed
    assert not found[3]  # the
    assert not found[-1]  # that a text ends is known


def test_a_text_is_cut_alike_whatever_stands_beside_it(english, index):
    one = ids(index, "she opened the letter we were very tired of the rain")
    two = ids(index, "what is the law of large numbers they do not know")
    together = likely_ends(english, np.append(one, two), np.array([len(one), len(two)]))
    alone = [likely_ends(english, each, np.array([len(each)])) for each in (one, two)]
    assert together.tolist() == np.concatenate(alone).tolist()


def test_nothing_has_no_ends(english):
    assert len(likely_ends(english, np.zeros(0, np.int32), np.zeros(2, np.int64))) == 0
