import pytest

from mondegreen.text.sentences import sentence_ends
from mondegreen.text.tokenizer import tokenize


def ends_of(text):
    parts = tokenize([text]).parts[0]
    ends = sentence_ends(parts[2::2])
    return [word for word, end in zip(parts[1::2], ends, strict=True) if end]


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("one two", ["two"]),
        ("one. two", ["one", "two"]),
        ("one .two", ["two"]),
        ("one! two? three", ["one", "two", "three"]),
        ("one!two", ["one", "two"]),
        ('"one." two', ["one", "two"]),
        ("one\ntwo\r\nthree\rfour", ["one", "two", "three", "four"]),
        ("one... two", ["one", "two"]),
        ("one...two", ["one", "two"]),
        ("3.14 is u.s. law", ["s", "law"]),
        ("one, two; three: four (five)", ["five"]),
        ("一。二！三？四。", ["一", "二", "三", "四"]),
        ("one.", ["one"]),
        ("...", []),
        ("", []),
    ],
)
def test_sentences_end_where_public_rules_say(text, ends):
    assert ends_of(text) == ends


def test_the_last_word_always_ends_a_sentence():
    assert sentence_ends([" ", ", "]) == [False, True]
    assert sentence_ends([]) == []
