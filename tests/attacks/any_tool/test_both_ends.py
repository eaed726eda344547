"""Attacks come out where they must: nothing masked, all masked, masked at random."""

import random

import pytest
from tests.attacks.any_tool.texts import make_texts, replace

import mondegreen as mg
from mondegreen.attacks.any_tool.reader import TRIGRAMS
from mondegreen.attacks.any_tool.rows import Given
from mondegreen.attacks.any_tool.run import attack_release
from mondegreen.attacks.any_tool.spans import Annotation
from mondegreen.language.store import load_language

COUNT = 150


@pytest.fixture(scope="module")
def attack():
    space, language = mg.load_space(), load_language()

    def make(change, *, has_spans=True, whole=False, count=COUNT):
        rows = []
        for number, (text, spans) in enumerate(make_texts(count), start=1):
            marked = [Annotation(*span) for span in spans] if has_spans else None
            label = "two" if "Oslo" in text else "one"
            release = change(text) if whole else replace(text, change)
            rows.append(Given(number, text, release, marked, label))
        return attack_release(rows, language, space, has_spans=has_spans).attacks

    return make


@pytest.mark.parametrize("has_spans", [True, False])
def test_a_release_that_masks_nothing_is_read_whole(attack, has_spans):
    found = attack(lambda word: word, has_spans=has_spans)
    for name in ("survivors", "reader"):
        assert found[name].value == found[name].high == 1.0
        assert found[name].low > 0.97  # 150 texts
    assert found["linkage"].value > 0.9  # a few texts are equal
    attribute = found["attribute"]
    assert attribute.value == attribute.details["on_originals"]
    assert attribute.low > attribute.chance
    assert "surrogates" not in found


@pytest.mark.slow("an attack each", seconds=2)
@pytest.mark.parametrize("has_spans", [True, False])
@pytest.mark.parametrize("mask", ["***", "[REDACTED]", "XXXX"])
def test_a_release_that_masks_all_leaves_chance(attack, mask, has_spans):
    found = attack(lambda word: mask, has_spans=has_spans)
    assert found["survivors"].value == 0.0
    assert found["reader"].value <= found["reader"].chance + 0.02
    words = found["linkage"].details["by"][0]  # the other ways need no words
    assert words["by"] == "words"
    assert words["low"] <= found["linkage"].chance <= words["high"]
    assert found["attribute"].low <= found["attribute"].chance + 0.05
    assert "surrogates" not in found


@pytest.mark.slow("an attack")
def test_a_withheld_text_leaves_nothing(attack):
    found = attack(lambda text: "", whole=True)
    assert found["survivors"].value == 0.0
    assert found["identity"].value == pytest.approx(1 / COUNT)
    assert found["linkage"].value == pytest.approx(1 / COUNT)


@pytest.mark.slow("seconds")
@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_a_release_that_masks_at_random_leaves_the_rest(attack, share):
    rng = random.Random(1)
    found = attack(lambda word: "[MASK]" if rng.random() < share else word)
    survivors = found["survivors"]
    assert survivors.low <= 1 - share <= survivors.high
    assert survivors.high - survivors.low < 0.15
    # The reader has what stands, and guesses some of the rest.
    assert survivors.value <= found["reader"].value < 1
    hidden = found["reader"].details["hidden_words"]
    assert hidden["n"] == pytest.approx(share * survivors.n, rel=0.1)
    assert 0 < hidden["top_1"]["value"] < hidden["top_10"]["value"] <= 1
    guessed = survivors.value + (1 - survivors.value) * hidden["top_1"]["value"]
    ways = {way["by"]: way["value"] for way in found["reader"].details["by"]}
    assert ways[TRIGRAMS] == pytest.approx(guessed, abs=1e-9)
    # Texts of four frames are similar: with few masks, their words are copied.
    assert found["reader"].value == max(ways.values())


@pytest.mark.slow("an attack")
def test_one_kind_that_is_left_is_found_by_its_kind(attack):
    found = attack(lambda word: word if word in ("Oslo", "Paris") else "***")
    by_kind = found["survivors"].details["by_kind"]
    assert by_kind["name"]["value"] == by_kind["illness"]["value"] == 0
    assert 0.2 < by_kind["place"]["value"] < 0.5


@pytest.mark.slow("seconds")
def test_consistent_surrogates_are_solved_and_fresh_ones_are_not(attack):
    names = {"Ann", "Bob", "Maria", "Peter", "Laura", "Kevin", "Susan", "Frank"}
    cipher = {word: f"qz{i}ble" for i, word in enumerate(sorted(names))}
    same = attack(lambda word: cipher.get(word, word))["surrogates"]
    assert same.details["consistent_in"] == "all rows"
    assert same.details["across_rows"]["value"] == 1.0
    assert same.details["across_rows"]["chance"] == 0.0
    rng = random.Random(2)
    fresh = attack(lambda word: f"q{rng.random():.9f}"[2:] if word in names else word)
    assert fresh["surrogates"].details["consistent_in"] == "none"
    assert fresh["surrogates"].details["across_rows"]["value"] == 0.0


@pytest.mark.slow("seconds")
def test_numbered_masks_are_surrogates_and_plain_masks_are_none(attack):
    numbers = {}

    def number(word):
        return f"<NAME_{numbers.setdefault(word, len(numbers))}>"

    found = attack(lambda word: number(word) if word in ("Ann", "Bob") else word)
    assert found["surrogates"].details["consistent_in"] == "all rows"
    assert "surrogates" not in attack(
        lambda word: "<NAME>" if word in ("Ann", "Bob") else word
    )


@pytest.mark.slow("attacks")
def test_a_name_that_stands_elsewhere_is_left(attack):
    def rewrite(text):
        return f"It is about {text.split()[0]}." if text.startswith(("A", "B")) else ""

    found = attack(rewrite, whole=True)
    assert found["survivors"].details["by_kind"]["name"]["value"] > 0


def test_the_riskiest_rows_are_numbers(attack):
    worst = attack(lambda word: word)["survivors"].details["riskiest_rows"]
    assert len(worst) == 20
    assert all(each["left"] == each["units"] == 9 for each in worst[:5])
    assert all(isinstance(each["row"], int) for each in worst)


@pytest.mark.slow("two attacks", seconds=2)
def test_the_same_result_again(attack):
    once, again = (attack(lambda word: word[:4], count=20) for _ in range(2))
    assert once == again
