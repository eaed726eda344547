"""Masks that keep the length of a word, its first letter or its initial."""

import random

import pytest
from tests.attacks.any_tool.texts import ILLNESSES, NAMES, PLACES, make_texts, replace

import mondegreen as mg
from mondegreen.attacks.any_tool.nearest import NEAREST
from mondegreen.attacks.any_tool.reader import TRIGRAMS
from mondegreen.attacks.any_tool.rows import Given, read_rows
from mondegreen.attacks.any_tool.run import read_release
from mondegreen.attacks.any_tool.shapes import Shape, learn_shown, read_shape
from mondegreen.language.store import load_language

HIDDEN = {*NAMES, *PLACES, *ILLNESSES}
COUNT = 120

MASKS = {
    "the length": lambda word: "*" * len(word),
    "the length, as X": lambda word: "X" * len(word),
    "the first letter": lambda word: word[0] + "****",
    "the first letter and the length": lambda word: word[0] + "*" * (len(word) - 1),
    "the last letters": lambda word: "#" * (len(word) - 2) + word[-2:],
    "both ends": lambda word: word[0] + "__" + word[-1],
    "an initial": lambda word: word[0] + ".",
    "letters and X": lambda word: word[0] + "X" * (len(word) - 1),
}
"""Releases by what their masks show."""

SILENT = {
    "a constant mask": lambda word: "***",
    "a mask of any length": lambda word: "*" * random.Random(word).randint(3, 12),
    "a class": lambda word: "[NAME]" if word in NAMES else "[HEALTH]",
    "a wrong letter": lambda word: random.Random(word).choice("bdfgjq") + "****",
    "surrogates": lambda word: random.Random(word).choice(("Emma", "Rome", "flu")),
}


def release(change):
    return [
        Given(
            i + 1, text, replace(text, lambda w: change(w) if w in HIDDEN else w), spans
        )
        for i, (text, spans) in enumerate(make_texts(COUNT))
    ]


def recover(change):
    found = read_release(release(change), load_language(), mg.load_space())
    return found["reader"].value


@pytest.mark.slow("an attack for each kind of masks")
@pytest.mark.parametrize("name", MASKS)
def test_the_reader_tries_the_words_that_fit_a_mask(name):
    assert recover(MASKS[name]) > recover(SILENT["a constant mask"]) + 0.2


@pytest.mark.slow("an attack")
def test_an_initial_and_a_length_tell_most_words():
    assert recover(MASKS["the first letter and the length"]) > 0.8


TOWNS = "Leeds Paris Milan Turin Delhi Miami Seoul Tokyo".split()


def write_pairs(count, mask):
    """Write a person and a town, side by side; the verb goes with the person."""
    rng = random.Random(8)
    given = []
    for i in range(count):
        at, town = rng.randrange(len(NAMES)), rng.choice(TOWNS)
        verb = "wrote called helped asked paid met saw left".split()[at]
        text = f"{NAMES[at]} {town} {verb} us again."
        mine, its = mask(NAMES[at]), mask(town)
        spans = [(0, len(NAMES[at]), "name")]
        given.append(Given(i + 1, text, f"{mine} {its} {verb} us again.", spans))
    return given


@pytest.mark.slow("an attack")
def test_a_word_behind_another_mask_tells_which_word_fits():
    # The town stands between the name and the verb. Three names have five letters.
    given = write_pairs(400, lambda word: "*" * len(word))
    found = read_release(given, load_language(), mg.load_space())["reader"]
    ways = {way["by"]: way["value"] for way in found.details["by"]}
    assert ways[NEAREST] > 0.95
    assert ways[TRIGRAMS] < 0.3


@pytest.mark.slow("an attack")
def test_masks_that_show_nothing_have_no_such_way():
    found = read_release(
        write_pairs(40, lambda word: "***"), load_language(), mg.load_space()
    )
    assert NEAREST not in {way["by"] for way in found["reader"].details["by"]}


@pytest.mark.parametrize("name", SILENT)
def test_masks_that_show_nothing_change_no_guess(name):
    rows = [*read_rows(release(SILENT[name]))]
    shown = learn_shown(rows)
    for row in rows:
        for place in range(len(row.words)):
            assert not shown.tests(read_shape(row, place))


@pytest.mark.parametrize(
    ("text", "word", "has_fit"),
    [
        ("b*****", "boston", True),
        ("b*****", "berlin", True),
        ("b*****", "madrid", False),
        ("b****", "boston", False),
    ],
)
def test_a_word_fits_by_its_length_and_its_letters(text, word, has_fit):
    shown = learn_shown(
        read_rows(release(MASKS["the first letter and the length"])),
    )
    assert shown.has_fit(Shape(text), word) is has_fit


def test_all_words_are_tried_where_none_fits_a_mask():
    # One mask of a word in another form than all others: no word begins with "zzz".
    change = MASKS["the first letter and the length"]
    given = release(change)
    last = given[-1].original
    given[-1] = given[-1]._replace(
        release=replace(last, lambda w: "zzz*" if w in HIDDEN else w)
    )
    found = read_release(given, load_language(), mg.load_space())
    assert found["reader"].value > 0.5
