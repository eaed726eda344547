"""Words on a public list are never printed; the law of the draws does not change."""

import numpy as np
import pytest

import mondegreen as mg
from mondegreen.errors import ConfigurationError
from mondegreen.space.store import load_tree, with_tree
from mondegreen.space.tree import WordTree
from mondegreen.text.never_printed import never_printed, replacements

SLUR, OBSCENE = "wop", "bollocks"
WORDS = ["cat", SLUR, "dog", OBSCENE, "nonsense", "tax"]


def small(tree=None):
    space = mg.Space.from_arrays("small", WORDS, [[0], [1], [4], [8], [9], [20]])
    return space if tree is None else with_tree(space, WordTree.from_labels(tree))


@pytest.fixture(scope="module")
def default():
    return mg.load_space()


def test_every_entry_is_a_word_of_the_default_vocabulary(default):
    assert never_printed() <= default.index.keys()
    assert len(never_printed()) > 150


def test_another_word_of_the_group_is_printed(default):
    found = replacements(default)
    listed = {default.index[word] for word in never_printed()}
    assert found.keys() == listed
    assert not listed & set(found.values())
    nodes = load_tree(default).nodes
    same = [nodes[1, word] == nodes[1, other] for word, other in found.items()]
    assert all(same)


def test_it_is_the_first_that_may_be_printed_of_the_lowest_group():
    labels = [range(6), [0, 1, 2, 1, 2, 3], [0, 1, 1, 1, 1, 0], [0] * 6]
    # The group of both holds nothing else, so that of the next level is asked.
    assert replacements(small(labels)) == {1: 2, 3: 2}


def test_without_a_tree_it_is_the_nearest():
    assert replacements(small()) == {1: 0, 3: 4}


def test_words_that_name_people_do_not_stand_in():
    space = mg.Space.from_arrays("s", ["gay", SLUR, "tax"], [[0], [1], [9]])
    assert replacements(space) == {1: 2}
    only = mg.Space.from_arrays("s", ["gay", SLUR], [[0], [1]])
    assert replacements(only) == {1: 0}


def test_a_space_of_nothing_else_is_refused_by_what_would_print_it():
    space = mg.Space.from_arrays("bad", [SLUR, OBSCENE.upper()], [[0], [1]])
    with pytest.raises(ConfigurationError, match="--print-all"):
        replacements(space)
    mg.Privatizer(mg.mechanism("tem", epsilon=1.0), space, print_all=True)


def test_a_space_without_such_words_changes_nothing():
    space = mg.Space.from_arrays("s", ["cat", "dog"], [[0], [1]])
    assert replacements(space) == {}
    p = mg.Privatizer(mg.mechanism("tem", epsilon=1.0), space)
    assert not any("print forms" in line for line in p.guarantee.assumptions)


def test_no_draw_prints_a_listed_word_and_print_all_prints_each():
    options = {"space": small(), "noise": mg.Seeded(3)}
    text = " ".join(WORDS * 200)
    one = mg.Privatizer(mg.mechanism("tem", epsilon=0.1), **options)
    two = mg.Privatizer(mg.mechanism("tem", epsilon=0.1), print_all=True, **options)
    clean, raw = one(text).text.split(), two(text).text.split()
    assert {SLUR, OBSCENE} <= set(raw)
    assert not {SLUR, OBSCENE} & set(clean)
    swap = {SLUR: "cat", OBSCENE: "nonsense"}
    assert [swap.get(word, word) for word in raw] == clean


def test_a_word_of_the_keep_list_is_the_choice_of_whoever_keeps_it():
    p = mg.Privatizer(mg.mechanism("tem", epsilon=0.1), small(), keep=[OBSCENE])
    assert p(OBSCENE).text == OBSCENE


@pytest.mark.parametrize("mechanism", ["tree", "tem", "laplace"])
def test_the_mechanism_draws_the_same_words(default, mechanism, monkeypatch):
    """The ids that reach the printer are those of a privatizer that prints all."""
    space = small([range(6), [0, 1, 2, 1, 2, 3], [0, 1, 1, 1, 1, 0], [0] * 6])
    drawn = []
    for print_all in (True, False):
        p = mg.Privatizer(
            mg.mechanism(mechanism, epsilon=1.0),
            space,
            noise=mg.Seeded(8),
            print_all=print_all,
            case="truecase",
        )
        join = p._detokenizer.join
        monkeypatch.setattr(
            p._detokenizer,
            "join",
            lambda tokens, codes, join=join: drawn.append(codes) or join(tokens, codes),
        )
        p.texts([" ".join(WORDS * 20)], None, "text")
    assert np.array_equal(*drawn)
