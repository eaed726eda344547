"""A detector in front of a policy: it moves symbols, and nothing else."""

from __future__ import annotations

import pickle
import random
from types import SimpleNamespace

import numpy as np
import pytest

import mondegreen as mg
from mondegreen.errors import ConfigurationError, MondegreenError
from mondegreen.policy.detection import DetectorLookup
from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.policy import load_policy
from mondegreen.text.tokenizer import tokenize

TEXT = "We sailed on the Merry Widow, didn't we? Call Baker at 555 1234, ann@x.com."


@pytest.fixture(scope="module")
def policy():
    return load_policy("names")


def span(start, end, kind="PERSON", score=0.8):
    return SimpleNamespace(start=start, end=end, entity_type=kind, score=score)


def of(part, kind="PERSON", score=0.8, text=TEXT):
    start = text.index(part)
    return span(start, start + len(part), kind, score)


def symbols(policy, found, text=TEXT, make=DetectorLookup):
    return make(policy, lambda given: found, "test 1").codes(tokenize([text])).tolist()


def plain(policy, text=TEXT):
    return PolicyLookup(policy).codes(tokenize([text])).tolist()


def places(part, text=TEXT):
    """The places of the words of a part of a text."""
    start = text.index(part)
    before = len(tokenize([text[:start]]).words())
    return set(range(before, before + len(tokenize([part]).words())))


def moved(policy, found, text=TEXT, make=DetectorLookup):
    pairs = zip(symbols(policy, found, text, make), plain(policy, text), strict=True)
    return {i for i, (new, old) in enumerate(pairs) if new != old}


class Greedy(DetectorLookup):
    """A broken variant: what stands beside a span is hidden too."""

    def _find(self, parts):
        found = super()._find(parts)
        return [each._replace(first=max(each.first - 1, 0)) for each in found]


@pytest.mark.parametrize("make", [DetectorLookup, Greedy])
def test_words_that_are_not_found_have_the_symbols_they_have_alone(policy, make):
    found = [of("Merry Widow"), of("Baker")]
    inside = places("Merry Widow") | places("Baker")
    is_sound = moved(policy, found, make=make) <= inside
    assert is_sound == (make is DetectorLookup)


@pytest.mark.slow("many texts")
def test_whatever_a_detector_finds_other_words_do_not_move(policy):
    dice = random.Random(25)
    kinds = ["PERSON", "LOCATION", "URL", "DATE_TIME", "ODD", "NRP"]
    for _ in range(300):
        ends = [sorted(dice.sample(range(len(TEXT) + 1), 2)) for _ in range(3)]
        found = [span(*e, dice.choice(kinds), dice.random()) for e in ends]
        touched = set()
        for start, end in ends:
            for i, word in enumerate(tokenize([TEXT]).words()):
                at = sum(map(len, tokenize([TEXT]).parts[0][: 2 * i + 1]))
                if start < at + len(word) and end > at:
                    touched.add(i)
        assert moved(policy, found) <= touched
        assert symbols(policy, found[::-1]) == symbols(policy, found)


@pytest.mark.parametrize("name", ["urr", "krr"])
def test_the_second_layer_prints_other_words_alike_whether_or_not_one_is_found(name):
    inside, has_changed = places("Merry Widow"), False
    for seed, epsilon in enumerate((2.0, 6.0, 12.0)):
        law = mg.mechanism(name, epsilon=epsilon)
        base = mg.Privatizer(law, policy="names", noise=mg.Seeded(seed))
        outputs = []
        for found in ([], [of("Merry Widow", "LOCATION")]):
            p = base.with_detector(lambda text, found=found: found, "test 1")
            release = p.batch([TEXT], number=0)[0]
            outputs.append([release.text[s.start : s.end] for s in release.spans])
        for i, (one, two) in enumerate(zip(*outputs, strict=True)):
            assert i in inside or one == two
            has_changed |= one != two
    assert has_changed


def test_what_is_found_is_of_one_law_within_its_type(policy):
    for kind in ("PERSON", "LOCATION", "ORGANIZATION", "SHIP"):
        texts = [f"I saw {name} there." for name in ("merry", "widow", "banana")]
        one, two, three = (
            symbols(policy, [span(6, 6 + len(text) - 13, kind)], text)[2]
            for text in texts
        )
        assert one == two == three
        assert policy.alphabet.is_group(np.array([one])).all()


def test_a_name_that_is_found_keeps_its_own_kind_and_formats_stay(policy):
    text = "Anna paid 5551234 to anna@bank.com on Monday"
    own = plain(policy, text)
    found = [
        span(0, 4),
        of("5551234", "PHONE_NUMBER", text=text),
        of("anna@bank.com", "EMAIL_ADDRESS", text=text),
        of("Monday", "DATE_TIME", text=text),
    ]
    assert symbols(policy, found, text) == own


def test_a_change_of_one_word_counts_each_word_whose_symbol_differs(policy):
    """The second layer's bound holds however the detector changes its mind."""

    def moody(text):
        return [span(0, 5), span(6, 11)] if "Dr" in text else []

    made = DetectorLookup(policy, moody, "moody 1")
    one = made.codes(tokenize(["merry widow and Dr"]))
    two = made.codes(tokenize(["merry widow and me"]))
    assert np.flatnonzero(one != two).tolist()[:2] == [0, 1]
    said = " ".join(made.assumptions)
    assert "changes its mind" in said
    assert "Nothing is promised of what it finds" in said


def test_where_spans_overlap_the_higher_score_decides_then_the_longer(policy):
    person = symbols(policy, [of("Merry Widow")])
    place = symbols(policy, [of("Merry Widow", "LOCATION")])
    both = [of("Merry Widow", "LOCATION", 0.9), of("Merry Widow", "PERSON", 0.5)]
    assert symbols(policy, both) == place
    longer = [of("Merry", "LOCATION", 0.5), of("Merry Widow", "PERSON", 0.5)]
    assert symbols(policy, longer) == person
    # A shorter one with a higher score takes its words, the other one the rest.
    mixed = symbols(policy, [of("Merry", "LOCATION", 0.9), of("Merry Widow")])
    (first, second) = sorted(places("Merry Widow"))
    assert mixed[first] == place[first]
    assert mixed[second] == person[second]


def test_a_span_that_cuts_a_word_takes_all_of_it(policy):
    assert symbols(policy, [of("erry Wid")]) == symbols(policy, [of("Merry Widow")])
    assert not moved(policy, [of(", ")])


@pytest.mark.parametrize(
    "found",
    [
        [span(-1, 3)],
        [span(0, len(TEXT) + 1)],
        [span(5, 5)],
        [span(9, 3)],
        [span(0.0, 3.0)],
        [span(True, 3)],
        [span(0, 3, None)],
        [span(0, 3, "")],
        [span(0, 3, "PERSON", float("nan"))],
        [span(0, 3, "PERSON", None)],
        ["Merry Widow"],
        None,
        7,
    ],
    ids=repr,
)
def test_nonsense_of_a_detector_stops_the_batch(policy, found):
    with pytest.raises(MondegreenError, match="nothing was released") as error:
        symbols(policy, found)
    assert "Merry" not in str(error.value)


def test_a_detector_that_fails_stops_the_batch_and_its_message_is_lost(policy):
    def fails(text):
        raise ValueError(text)

    law = mg.mechanism("urr", epsilon=9.0)
    p = mg.Privatizer(law, policy="names").with_detector(fails, "test 1")
    with pytest.raises(MondegreenError, match="ValueError; nothing") as error:
        p(TEXT)
    assert error.value.__cause__ is None
    assert "Merry" not in str(error.value)


def test_the_guarantee_states_both_layers_and_keeps_its_bound():
    law = mg.mechanism("urr", epsilon=9.0)
    base = mg.Privatizer(law, policy="names")
    made = base.with_detector(lambda text: [], "finder 7").guarantee
    assert made.word_loss == base.guarantee.word_loss
    assert made.conditions == base.guarantee.conditions
    assert made.disclosed == base.guarantee.disclosed
    first, second = made.assumptions[-2:]
    assert first.startswith("first layer: the detector finder 7 decides")
    assert second.startswith("second layer: every word goes through the policy")
    assert "first layer" not in " ".join(base.guarantee.assumptions)


def test_a_detector_is_lost_nowhere():
    law = mg.mechanism("urr", epsilon=9.0)
    base = mg.Privatizer(law, policy="names")
    assert base.digest
    made = base.with_detector(lambda text: [], "finder 7")
    assert made.digest != base.digest
    assert made.digest != base.with_detector(lambda text: [], "finder 8").digest
    assert isinstance(made.with_noise(None)._lookup, DetectorLookup)
    with pytest.raises(ConfigurationError, match="stays in its process"):
        made.to_dict()
    with pytest.raises(ConfigurationError, match="stays in its process"):
        pickle.dumps(made)
    with pytest.raises(ConfigurationError, match="one detector"):
        made.with_detector(lambda text: [], "other 1")
    tree = mg.Privatizer(mg.mechanism("tree", epsilon=9.0))
    with pytest.raises(ConfigurationError, match="no policy"):
        tree.with_detector(lambda text: [], "other 1")
