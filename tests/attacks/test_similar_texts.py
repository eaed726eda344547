"""Texts that are repeated: who knows one of them reads the others."""

import random

import numpy as np
import pytest
from tests.attacks.halves import attack_half

import mondegreen as mg
from mondegreen.attacks.any_tool.rows import Given
from mondegreen.attacks.any_tool.run import read_release
from mondegreen.attacks.policies import strongest_reader
from mondegreen.attacks.sensitive import (
    SIMILAR,
)
from mondegreen.attacks.similar_texts import Level, SimilarTexts
from mondegreen.calibration.policies import PolicyPlan, PolicySample
from mondegreen.language.store import load_language
from mondegreen.settings import Settings

NAMES = "Anna Maria Julia Laura Sarah Helen Thomas Peter Robert David".split()
ILLS = "diabetes asthma pneumonia cancer epilepsy migraine arthritis".split()
SAID = (
    "The box was open when it came.",
    "We have waited for three weeks now.",
    "It works well but the color is not right.",
    "There was water in it and the screen stays black.",
    "He said that he will not pay for this.",
    "The second one is missing and nobody answers.",
    "Please do not send it to the old address again.",
    "She would like to have it before the end of the month.",
    "Can you look at it again and write back?",
    "It was much too late and the paper was wet.",
    "I think that this is the wrong one.",
    "They want to change the plan and keep the number.",
)
PLACES = "Leeds Boston Lyon Madrid Prague Vienna Dublin Milan".split()
AROUND = """the and that this with from have was they about when after before could
would should more other some very also then because where people time work good
little long right""".split()
INSERTED = "really then also very".split()


def make_texts(count, copies, seed=0):
    """Write texts that many people wrote; the words around names tell nothing."""
    rng = random.Random(seed)
    texts = [
        f"{rng.choice(NAMES)} has {rng.choice(ILLS)}. {' '.join(rng.sample(SAID, 4))}"
        for _ in range(count)
    ]
    found = texts * copies
    rng.shuffle(found)
    return found


def quote_paragraphs(count, copies, longest, *, dropped=0.0, inserted=0.0):
    """Write texts that quote paragraphs, with other words around them."""
    rng = random.Random(7)
    adjectives = "small large old new late early quick slow open closed".split()
    things = "box order letter app phone screen garden window table car".split()

    def add_words(words):
        return " ".join(rng.choice(AROUND) for _ in range(words))

    def edit(paragraph):
        words = []
        for word in paragraph.split():
            if rng.random() < inserted:
                words.append(rng.choice(INSERTED))
            if word not in AROUND or rng.random() >= dropped:
                words.append(word)
        return " ".join(words)

    found = []
    for _ in range(count):
        some = [f"{rng.choice(adjectives)} {rng.choice(things)}" for _ in range(3)]
        who, other = rng.sample(NAMES, 2)
        paragraph = (
            f"on this day the {some[0]} of {who} was near the {some[1]} in "
            f"{rng.choice(PLACES)} when {other} said that the {rng.choice(ILLS)} came "
            f"back after the {some[2]}"
        )
        for _ in range(copies):
            words = rng.choice([0, longest // 4, longest])
            edited = f"{edit(paragraph)} {add_words(words // 2)}"
            found.append(f"{add_words(words - words // 2)} {edited}")
    rng.shuffle(found)
    return found


def get_ways(found):
    return {way["by"]: way["value"] for way in found.details["by"]}


def test_words_of_repeated_texts_are_copied_from_another_one():
    found = attack_half(make_texts(60, 6))
    ways = get_ways(found)
    assert ways[SIMILAR] > 0.9
    assert ways["whole sentences"] < 0.5
    assert strongest_reader(found).value == ways[SIMILAR]


def test_the_classes_of_the_reader_are_those_of_the_strongest_way():
    found = attack_half(make_texts(60, 6))
    read = strongest_reader(found)
    assert found.details["by_class"]["health"]["value"] < 0.5
    for name in ("first_name", "health"):
        assert read.details["by_class"][name]["value"] > 0.9
        assert read.details["by_class"][name]["by"] == SIMILAR
    for name in ("hidden_only", "known_only"):
        assert read.details[name]["value"] > 0.9 > found.details[name]["value"]
    total = sum(each["n"] for each in read.details["by_class"].values())
    assert total == read.n


def test_texts_that_are_not_repeated_are_read_as_before():
    ways = get_ways(attack_half(make_texts(300, 1)))
    assert ways[SIMILAR] == pytest.approx(ways["whole sentences"], abs=0.03)


@pytest.mark.parametrize(
    ("longest", "edits", "least"),
    [
        (200, {}, 0.75),
        (20, {"dropped": 0.3}, 0.65),
        (20, {"inserted": 0.2}, 0.6),
    ],
)
def test_quoted_paragraphs_are_found_among_other_words(longest, edits, least):
    ways = get_ways(attack_half(quote_paragraphs(80, 4, longest, **edits)))
    assert ways[SIMILAR] > least
    assert ways["whole sentences"] < 0.35


def test_paragraphs_that_are_quoted_once_are_read_as_before():
    ways = get_ways(attack_half(quote_paragraphs(240, 1, 40)))
    assert ways[SIMILAR] == pytest.approx(ways["whole sentences"], abs=0.04)


def test_a_calibration_counts_what_is_copied():
    settings = Settings(policy="sensitive").resolve()
    scores = [
        PolicyPlan(
            settings,
            PolicySample.of("x", make_texts(count, copies)),
            mechanisms=["urr"],
        ).curve([14.0])[0]
        for count, copies in ((60, 8), (480, 1))
    ]
    repeated, single = (each.sensitive.value for each in scores)
    assert repeated > 0.9 > 0.5 > single


def test_the_reader_of_any_tool_copies_too():
    def read(texts):
        rows = [
            Given(i + 1, text, f"<NAME> has <ILLNESS>. {text.split('. ', 1)[1]}")
            for i, text in enumerate(texts)
        ]
        return read_release(rows, load_language(), mg.load_space())["reader"]

    repeated, single = read(make_texts(40, 6)), read(make_texts(240, 1))
    assert repeated.value > 0.9
    assert "the most similar known text" in repeated.adversary
    assert single.value < 0.5


def test_an_attacker_copies_from_texts_without_a_release():
    """Each text is there once, and stands in public texts as well."""
    texts = [*dict.fromkeys(make_texts(200, 1))]
    rows = [
        Given(i + 1, text, f"<NAME> has <ILLNESS>. {text.split('. ', 1)[1]}")
        for i, text in enumerate(texts)
    ]
    given = rows, load_language(), mg.load_space()
    assert read_release(*given)["reader"].value < 0.5
    assert read_release(*given, known=texts)["reader"].value > 0.9


def test_a_place_is_copied_from_where_more_of_its_neighbors_are():
    texts = [np.array(each) for each in ([4, 5, 9, 6, 7], [4, 8, 9, 8, 7])]
    words = [each + 10 * (i + 1) for i, each in enumerate(texts)]
    known = SimilarTexts(texts, words)
    found = known.copy(np.array([4, 8, 9, 8, 7]), [2])
    assert (found.words.tolist(), found.likeness.tolist()) == ([29], [1.0])
    assert known.copy(np.array([4, 5, 9, 6, 7]), [2]).words.tolist() == [19]
    # Without the text itself the other one is the most similar, but not very.
    other = known.copy(np.array([4, 8, 9, 8, 7]), [2], without=1)
    assert other.words.tolist() == [19]
    assert other.likeness[0] < 0.8
    nothing = known.copy(np.array([1, 2, 3]), [1])
    assert (nothing.words.tolist(), nothing.likeness.tolist()) == ([-1], [0.0])


def test_no_known_text_is_copied_where_there_is_none():
    none = SimilarTexts([], [])
    assert none.copy(np.array([1, 2]), [0]).words.tolist() == [-1]
    assert none.learn_level({}, {}) == (0.0, np.inf)


def test_a_place_is_found_far_from_the_places_of_similar_texts():
    """A known text of 2,000 other words has the passage, and so has none of eight."""
    rng = np.random.default_rng(2)
    passage = np.array([901, 902, 903, 990, 904, 905, 906])
    others = rng.integers(0, 300, (40, 50))
    long = np.concatenate([rng.integers(300, 800, 2000), passage])
    texts = [*others, long]
    known = SimilarTexts(texts, [each + 1000 for each in texts])
    release = np.concatenate([others[:8, :40].ravel(), passage])
    assert known.copy(release, [323]).words.tolist() == [1990]
    found = known.copy(release, [323], Level(0.0, 0.9))
    assert found.words.tolist() == [-1]
    assert 0 < found.likeness[0] < 0.9


def test_words_may_be_missing_or_inserted():
    known = SimilarTexts([np.arange(40)], [np.arange(40)])
    missing = np.delete(np.arange(40), [17, 23])
    inserted = np.insert(np.arange(40), [18, 23], 77)
    for signs, place in ((missing, 19), (inserted, 21)):
        found = known.copy(signs, [place])
        assert found.words.tolist() == [20]
        assert found.likeness[0] > 0.7
    # All 40 signs are equally rare, and one is not known: the formula by hand.
    found = known.copy(np.insert(np.arange(40), 21, 77), [20])
    weights = np.log(2) / np.sqrt(1 + np.abs(np.arange(-20, 21)))
    stranger = np.log(2) / np.sqrt(2)
    assert found.likeness[0] == pytest.approx(1 - stranger / weights.sum())


def test_many_places_are_copied_as_each_of_them():
    rng = np.random.default_rng(3)
    texts = [rng.integers(0, 30, size) for size in (0, 1, 700, 60, 60)]
    known = SimilarTexts(texts, texts)
    release = np.concatenate([texts[2], texts[4]])
    places = rng.permutation(len(release))
    found = known.copy(release, places.tolist(), without=2)
    for place, word, likeness in zip(places[:40], *found, strict=False):
        alone = known.copy(release, [place], without=2)
        assert (alone.words[0], alone.likeness[0]) == (word, likeness)
    own = known.copy(texts[2], [*range(700)])
    assert own.words.tolist() == texts[2].tolist()
    assert own.likeness.min() > 0.999


def test_the_known_texts_tell_how_much_whole_texts_count():
    """The same form in all texts: only their other sentences tell them apart."""
    rng = np.random.default_rng(5)
    forms, texts, words = np.arange(30), [], []
    for i in range(60):
        rest = 100 + 40 * (i // 2) + rng.permutation(40)
        texts.append(np.concatenate([forms, rest]))
        words.append(np.concatenate([forms, rest]))
        words[-1][5] = 5000 + i // 2
    known = SimilarTexts(texts, words)
    places = {i: np.array([5]) for i in range(60)}
    level = known.learn_level(places, {i: np.array([False]) for i in range(60)})
    assert level.share > 0
    for i in range(60):
        assert known.copy(texts[i], [5], level, without=i).words[0] == words[i][5]
