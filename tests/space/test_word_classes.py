"""Grammatical classes from a database of a few lines in the form of WordNet."""

from __future__ import annotations

import numpy as np
import pytest

from mondegreen.errors import SpaceError
from mondegreen.space.word_classes import CLOSED_CLASSES, WordNet, word_classes

HEADER = "  1 This line stands for the licence, which begins with blanks.\n"
FILES = {
    "index.noun": "dog n 1 0 1 1 00000001  \nman n 1 0 1 1 00000002  \n"
    "oslo n 1 0 1 0 00000003  \nrun n 1 0 1 1 00000004  \n",
    "index.verb": "run v 1 0 1 1 00000005  \nstop v 1 0 1 1 00000006  \n"
    "carry v 1 0 1 1 00000007  \ngo v 1 0 1 1 00000010  \n",
    "index.adj": "good a 1 0 1 1 00000008  \nbad a 1 0 1 1 00000009  \n"
    "big a 1 0 1 1 00000011  \n",
    "index.adv": "quickly r 1 0 1 1 00000012  \n",
    "noun.exc": "geese goose\nmen man\n",
    "verb.exc": "ran run\nwent go\n",
    "adj.exc": "better good\nbest good\n",
    "adv.exc": "",
    "cntlist.rev": "run%2:38:00:: 1 30\nrun%1:04:00:: 1 5\ngood%3:00:01:: 1 9\n"
    "bad%5:00:00:x:00 1 4\n",
    "data.noun": "00000001 05 n 01 dog 0 000 | x  \n00000002 05 n 01 man 0 000 | x  \n"
    "00000003 15 n 01 Oslo 0 000 | x  \n00000004 04 n 01 run 0 000 | x  \n",
    "data.verb": "00000005 38 v 01 run 0 000 01 + 01 00 | x  \n",
    "data.adj": "00000008 00 a 01 good 0 001 ! 00000009 a 0102 | x  \n"
    "00000009 00 s 02 naughty 0 bad(a) 0 002 ! 00000008 a 0201 "
    "& 00000011 a 0000 | x  \n00000011 00 a 01 big 0 000 | x  \n",
    "data.adv": "00000012 02 r 01 quickly 0 000 | x  \n",
}


@pytest.fixture
def wordnet(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(HEADER + text)
    return WordNet(tmp_path)


@pytest.mark.parametrize(
    ("word", "expected"),
    {
        "dog": "noun",
        "dogs": "plural noun",
        "men": "plural noun",
        "oslo": "name",
        "run": "verb",
        "runs": "verb, third person",
        "ran": "verb, past",
        "running": "verb, -ing",
        "stopped": "verb, past",
        "carries": "verb, third person",
        "carried": "verb, past",
        "good": "adjective",
        "better": "comparative",
        "best": "superlative",
        "bigger": "comparative",
        "quickly": "adverb",
        "the": "determiner",
        "2nd": "number",
        "dogly": "noun",
    }.items(),
)
def test_words_have_their_class(wordnet, word, expected):
    names = ["dog", "good", word] if word not in {"dog", "good"} else ["dog", "good"]
    points = np.eye(3)[[0, 1, 0]][: len(names)].astype(np.float32)
    found = dict(zip(names, word_classes(names, points, wordnet), strict=True))
    assert found[word] == expected


def test_a_strange_word_has_the_class_of_its_neighbours(wordnet):
    words = ["oslo", "bergen", "dog"]
    points = np.array([[1, 0], [1, 0.1], [0, 1]], dtype=np.float32)
    assert word_classes(["oslo", "bergen"], points[:2], wordnet)[1] == "name"
    assert len(word_classes(words, points, wordnet)) == 3
    assert word_classes(["xyz"], points[:1], wordnet) == ["noun"]


def test_antonyms_are_pairs_of_words(wordnet):
    assert wordnet.antonyms() == [("bad", "good")]


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(SpaceError, match=r"index\.noun"):
        WordNet(tmp_path)


def test_a_word_is_in_one_closed_class():
    assert CLOSED_CLASSES["the"] == "determiner"
    assert all(word == word.lower() for word in CLOSED_CLASSES)
