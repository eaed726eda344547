"""What a mechanism leaves of ordinary words, for people to read in a guarantee."""

from __future__ import annotations

import numpy as np
import pytest
from mondegreen.privatizer.ordinary import near_words, ordinary_words, shares_kept

import mondegreen as mg
from mondegreen.text.tokenizer import canonical, tokenize

COUNT = 1000


@pytest.fixture(scope="module")
def space():
    words = [f"w{i}" for i in range(COUNT)]
    return mg.Space.from_arrays("line", words, np.arange(COUNT)[:, None])


def test_the_share_that_stays_is_that_of_the_law(space):
    ids = np.repeat(np.arange(0, COUNT, 10, dtype=np.int32), 40)
    state = mg.mechanism("tem", epsilon=4.0).prepare(space)
    law = np.exp(state.log_prob(ids[::40]))
    exact = law[np.arange(100), ids[::40]].mean()
    stay, near = shares_kept(state, ids)
    assert stay == pytest.approx(exact, abs=0.03)
    assert stay < near <= 1


def test_an_unknown_word_never_stays(space):
    state = mg.mechanism("tem", epsilon=4.0).prepare(space)
    assert shares_kept(state, np.full(50, COUNT, dtype=np.int32)) == (0.0, 0.0)
    assert shares_kept(state, np.zeros(0, dtype=np.int32)) == (0.0, 0.0)


def test_a_vocabulary_of_few_words_is_drawn_from_often():
    space = mg.Space.from_arrays("twins", ["cat", "dog"], [[0.0], [0.0]])
    for epsilon in (1.0, 5.0):
        made = mg.Privatizer(mg.mechanism("tem", epsilon=epsilon), space)
        stay = made.guarantee.ordinary_text["stay"]
        assert stay == pytest.approx(0.5, abs=0.06)  # the twins share one law


def test_one_percent_of_a_small_space_is_near(space):
    state = mg.mechanism("tem", epsilon=4.0).prepare(space)
    ids = np.full(60, 500, dtype=np.int32)
    outputs = np.arange(470, 530, dtype=np.int32)
    near = near_words(state, ids, outputs)
    # Of words at equal distances both count, so five on either side are among ten.
    assert outputs[near].tolist() == [n for n in range(495, 506) if n != 500]


def test_words_of_a_group_of_the_tree_are_near():
    space = mg.load_space()
    state = mg.mechanism("tree", epsilon=10.0).prepare(space)
    first, last = state.tree.members(1, 7)[[0, -1]]
    pair = np.array([first], dtype=np.int32), np.array([last], dtype=np.int32)
    assert near_words(state, *pair).all()


def test_the_ordinary_words_are_plain_words_of_the_default_space():
    words = ordinary_words()
    assert len(words) == 1000
    assert tokenize([" ".join(words)]).words() == list(words)
    assert all(canonical(word) == word for word in words)
    index = mg.load_space().index
    assert sum(word in index for word in words) > 950
