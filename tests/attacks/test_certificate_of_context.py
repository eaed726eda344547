"""The places that an attacker is sure of: calibrated, and right at both ends."""

import numpy as np
import pytest
from tests.attacks import small

from mondegreen.attacks.certificate import find_guessed_places
from mondegreen.attacks.pairs import build_pairs
from mondegreen.errors import ConfigurationError, InvalidParameterError
from mondegreen.language.build import build_language
from mondegreen.text.lookup import Lookup


def chained(count, seed):
    """Texts in which the next word is mostly that after the last one."""
    rng, texts = np.random.default_rng(seed), []
    for _ in range(count):
        ids = [int(rng.integers(small.SIZE))]
        while len(ids) < 6:
            ids.append((ids[-1] + (1 if rng.random() < 0.8 else 5)) % small.SIZE)
        texts.append(" ".join(small.WORDS[i] for i in ids) + ".")
    return texts


@pytest.fixture(scope="module")
def language():
    return build_language([chained(600, 0)], small.space())


@pytest.fixture(scope="module")
def pairs():
    return build_pairs(chained(200, 9), Lookup(small.space()))


def released(pairs, chances):
    state = small.tree_state(chances)
    return state, pairs.sample(state, np.random.default_rng(3))


def test_without_noise_every_place_is_guessed(pairs, language):
    state, drawn = released(pairs, small.EXACT)
    places = find_guessed_places(state, drawn, language)
    assert len(places) == len(pairs.inputs)
    assert all(place.is_right and place.belief > 0.99 for place in places)


def test_where_nothing_is_told_no_place_is_guessed(pairs, language):
    state, drawn = released(pairs, small.NOTHING)
    assert find_guessed_places(state, drawn, language) == []


def test_beliefs_are_as_often_right_as_they_say(pairs, language):
    state, drawn = released(pairs, small.CHANCES)
    places = find_guessed_places(state, drawn, language)
    assert 0.1 * len(pairs.inputs) < len(places) < len(pairs.inputs)
    belief = np.mean([place.belief for place in places])
    right = np.mean([place.is_right for place in places])
    assert abs(belief - right) < 0.06
    assert [p.belief for p in places] == sorted(
        (p.belief for p in places), reverse=True
    )


def test_a_place_is_told_by_text_and_word(pairs, language):
    state, drawn = released(pairs, small.EXACT)
    places = {(p.text, p.word) for p in find_guessed_places(state, drawn, language)}
    assert places == {(text, word) for text in range(200) for word in range(6)}


def test_what_cannot_be_listed_is_refused(pairs, language):
    state, drawn = released(pairs, small.CHANCES)
    for wrong in (-0.1, 1.0, float("nan")):
        with pytest.raises(InvalidParameterError):
            find_guessed_places(state, drawn, language, above=wrong)
    with pytest.raises(ConfigurationError):
        find_guessed_places(state, pairs, language)
