"""Words that tell of a hidden one from far away, in the same text."""

import random

import numpy as np
import pytest
from tests.attacks.halves import attack_half

from mondegreen.attacks import whole_texts
from mondegreen.attacks.policies import strongest_reader
from mondegreen.attacks.sensitive import (
    BEST,
    WHOLE,
)
from mondegreen.attacks.whole_texts import Texts, WholeTexts

ILLS = "diabetes asthma migraine arthritis pneumonia epilepsy anemia".split()
NAMES = "Anna Maria Julia Laura Sarah Helen Thomas Peter Robert David".split()
SAID = (
    "He said that {} is harder now.",
    "She asked about {} again.",
    "There was some talk about {} today.",
    "It began with {} a year ago.",
    "Nothing new with {} so far.",
    "The question of {} came up twice.",
)
DIAGNOSES = "They have {}.", "This is a case of {}.", "So we think that it is {}."
THINGS = """walking reading driving cleaning dancing singing writing watching talking
working climbing sitting standing light noise stairs morning evening winter window
computer chair street music air dust weather garden""".split()
TELLING = {ill: THINGS[4 * i : 4 * i + 4] for i, ill in enumerate(ILLS)}


def write_notes(count, *, share=0.5, names=0):
    """Write notes about illnesses; ``share`` of the things tell which one it is."""
    rng = random.Random(5)
    found = []
    for _ in range(count):
        ill = rng.choice(ILLS)
        lines = [
            rng.choice(SAID).format(
                rng.choice(TELLING[ill] if rng.random() < share else THINGS)
            )
            for _ in range(8)
        ]
        lines.insert(4, rng.choice(DIAGNOSES).format(ill))
        lines += [f"We met {rng.choice(NAMES)} too." for _ in range(names)]
        found.append(" ".join(lines))
    return found


def write_repeats(count):
    """Write texts that name one illness seven times, each time beside few words."""
    rng = random.Random(6)
    return [
        " ".join(
            rng.choice(("With {1}, the {0} is back.", "Now the {0} and {1}.")).format(
                ill, rng.choice(TELLING[ill] if rng.random() < 0.5 else THINGS)
            )
            for _ in range(7)
        )
        for ill in rng.choices(ILLS, k=count)
    ]


def get_ways(found, name="health"):
    return {
        way["by"]: way["by_class"][name]["value"]
        for way in found.details["by"]
        if way["by"] != BEST
    }


@pytest.mark.slow("an attack")
def test_far_away_words_tell_an_illness():
    found = attack_half(write_notes(600), with_neighbors=True)
    ways = get_ways(found)
    assert ways.pop(WHOLE) > 0.6
    assert max(ways.values()) < 0.45
    assert strongest_reader(found).details["by_class"]["health"]["value"] > 0.6


@pytest.mark.slow("an attack")
def test_a_word_that_is_repeated_is_read_from_all_its_places():
    ways = get_ways(attack_half(write_repeats(500), with_neighbors=True))
    assert ways.pop(WHOLE) > max(ways.values()) + 0.1


@pytest.mark.slow("an attack")
def test_words_that_tell_nothing_leave_the_guess_from_the_group():
    ways = get_ways(attack_half(write_notes(600, share=0.0), with_neighbors=True))
    assert ways[WHOLE] == pytest.approx(ways["the group alone"], abs=0.04)


@pytest.mark.slow("an attack")
def test_names_that_nothing_tells_do_not_hide_what_tells_an_illness():
    found = attack_half(write_notes(600, names=12), with_neighbors=True)
    assert get_ways(found)[WHOLE] > 0.6
    names = get_ways(found, "first_name")
    assert names[WHOLE] == pytest.approx(names["the group alone"], abs=0.04)


def number_notes():
    """A corpus and a release in numbers: 0 to 39 are ordinary words, 40 a group."""
    rng = np.random.default_rng(3)
    illness = rng.integers(4, size=200)
    beside = 10 * illness[:, None] + rng.integers(10, size=(200, 6))
    symbols = np.insert(beside, [0, 6], 40, axis=1)
    words = np.where(symbols == 40, 100 + illness[:, None], symbols)
    starts = np.arange(0, symbols.size + 1, symbols.shape[1])
    hidden = np.flatnonzero(symbols == 40)
    return Texts(symbols.ravel(), starts, hidden), words.ravel()


def test_places_of_one_text_and_group_get_one_guess():
    texts, words = number_notes()
    found = WholeTexts(texts, words, 40).guess(texts, texts.symbols)
    first, last = found[texts.hidden].reshape(-1, 2).T
    assert (first == last).all()
    assert (found[texts.hidden] == words[texts.hidden]).mean() > 0.95


def test_small_steps_give_the_same_guesses(monkeypatch):
    texts, words = number_notes()
    whole = WholeTexts(texts, words, 40).guess(texts, texts.symbols)
    monkeypatch.setattr(whole_texts, "_CELLS", 32)
    parts = WholeTexts(texts, words, 40).guess(texts, texts.symbols)
    assert whole.tolist() == parts.tolist()


def test_a_corpus_without_the_group_changes_no_guess():
    texts, words = number_notes()
    nothing = Texts(texts.symbols[:0], texts.starts[:1], texts.hidden[:0])
    read = texts.symbols + 7
    found = WholeTexts(nothing, words[:0], 40).guess(texts, read)
    assert found.tolist() == read.tolist()
