"""Surrogates of a conversation: an exact inverse, and nothing of the user's words."""

import copy
import math
import pickle
from collections import Counter

import numpy as np
import pytest
from scipy import stats

import mondegreen as mg
from mondegreen.errors import ConfigurationError, DataError, InvalidParameterError
from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.policy import load_policy
from mondegreen.policy.scope import Surrogates
from mondegreen.policy.sealing import seal, unseal
from mondegreen.text.tokenizer import canonical, tokenize
from policy.tiny import INPUTS, TinyPolicy, look_up

KEY = bytes(range(32))
POLICY = TinyPolicy()


def hide(surrogates, text):
    return list(map(POLICY.print, surrogates.hide(*look_up(text)).tolist()))


def keys(count, seed):
    data = np.random.default_rng(seed).bytes(32 * count)
    return (data[i : i + 32] for i in range(0, len(data), 32))


def test_the_inverse_is_exact_over_turns():
    for key in keys(50, seed=1):
        surrogates = Surrogates(POLICY, key)
        words = "Anna the flu OKAFOR Boris gout and measles croup Dora mumps".split()
        sent = []
        for word in (*words, *map(str.upper, words)):
            sent += hide(surrogates, word)
        turns = len(words)
        assert sent[:turns] == sent[turns:]
        for word, surrogate in zip(words, sent[:turns], strict=True):
            expected = None if word in POLICY.ordinary else word
            assert surrogates.restore(surrogate) == expected
            assert surrogates.restore(surrogate.upper()) == expected


def test_two_words_never_share_a_surrogate_and_ordinary_ones_pass():
    for key in keys(50, seed=2):
        sent = hide(Surrogates(POLICY, key), " ".join([*INPUTS, "the", "and"]))
        assert len(set(sent)) == len(INPUTS) + 2
        assert sent[-2:] == ["the", "and"]


@pytest.mark.parametrize("word", ["anna", "okafor"])
def test_a_word_may_stand_for_itself_as_for_any_other(word):
    """All words of a group have one law, known or not. False alarms: 1e-6."""
    found = Counter(hide(Surrogates(POLICY, key), word)[0] for key in keys(3_000, 3))
    assert set(found) == {"Anna", "Boris", "Carla"}
    assert stats.chisquare(list(found.values())).pvalue > 1e-6


def test_all_injections_are_alike():
    runs = 6_000
    found = Counter(
        tuple(hide(Surrogates(POLICY, key), "okafor anna")) for key in keys(runs, 4)
    )
    assert len(found) == math.perm(3, 2)
    assert stats.chisquare(list(found.values())).pvalue > 1e-6


def test_the_same_words_in_the_same_order_get_the_same_surrogates_again():
    text = "anna flu boris okafor gout measles dora"
    again = [hide(Surrogates(POLICY, KEY), text) for _ in range(2)]
    turns = Surrogates(POLICY, KEY)
    one_by_one = [hide(turns, word)[0] for word in text.split()]
    assert again == [one_by_one, one_by_one]


def test_surrogates_depend_on_the_key_and_the_policy():
    text = " ".join(INPUTS)
    other = TinyPolicy()
    other.digest = "1" * 64
    drawn = {
        tuple(hide(Surrogates(policy, key), text))
        for policy in (POLICY, other)
        for key in (KEY, KEY[::-1])
    }
    assert len(drawn) == 4


def test_public_words_are_never_given_out_and_the_users_own_are():
    for key in keys(100, seed=5):
        surrogates = Surrogates(POLICY, key, public=["CARLA", "gout"])
        sent = hide(surrogates, "anna boris okafor dora flu measles")
        assert not {"Carla", "gout"} & set(sent)
        assert len(set(sent)) == 6
    given = {hide(Surrogates(POLICY, key), "anna boris")[0] for key in keys(100, 6)}
    assert "Boris" in given  # though the user's text has it, and since nothing may tell


def test_a_group_that_is_all_public_goes_to_its_next_lap():
    surrogates = Surrogates(POLICY, KEY, public=["flu", "gout"])
    assert sorted(hide(surrogates, "flu measles")) == ["fluxx2", "goutxx2"]


def test_urr_hides_the_group_too_and_restores():
    state = mg.mechanism("urr", epsilon=0.5).prepare(POLICY.alphabet)
    strays = 0
    for key in keys(100, seed=7):
        surrogates = Surrogates(POLICY, key, sample=state.sample)
        (sent,) = hide(surrogates, "flu")
        strays += sent in POLICY.words[2:5]
        assert surrogates.restore(sent) == "flu"
    assert 20 < strays < 60  # the chance is 1 / (1 + e^0.5) = .38


def test_a_mechanism_that_may_show_ordinary_words_is_refused():
    state = mg.mechanism("krr", epsilon=0.1).prepare(POLICY.alphabet)
    surrogates = Surrogates(POLICY, KEY, sample=state.sample)
    with pytest.raises(ConfigurationError, match="urr"):
        hide(surrogates, " ".join(INPUTS))  # all nine in groups: 1 in 500 keys


def test_a_map_comes_back_from_its_file_and_goes_on():
    text = "Anna flu okafor gout measles"
    whole = Surrogates(POLICY, KEY, public=["Carla"])
    expected = [*hide(whole, text), *hide(whole, "dora anna croup")]
    first = Surrogates(POLICY, KEY, public=["Carla"])
    sent = hide(first, text)
    second = Surrogates.from_bytes(first.to_bytes(KEY[::-1]), KEY[::-1], POLICY)
    assert sent + hide(second, "dora anna croup") == expected
    assert [second.restore(word) for word in sent] == text.split()
    assert len(second) == 7


def test_a_map_is_unreadable_without_the_key_and_refused_if_changed():
    surrogates = Surrogates(POLICY, KEY)
    hide(surrogates, "okafor")
    data = surrogates.to_bytes(KEY)
    assert b"okafor" not in data
    assert surrogates.to_bytes(KEY) != data  # a fresh salt
    with pytest.raises(DataError, match="key"):
        Surrogates.from_bytes(data, KEY[::-1], POLICY)
    for place in (25, 60, len(data) - 1):
        changed = bytearray(data)
        changed[place] ^= 1
        with pytest.raises(DataError, match="changed"):
            Surrogates.from_bytes(bytes(changed), KEY, POLICY)
    with pytest.raises(DataError, match="not a sealed file"):
        Surrogates.from_bytes(b"{}", KEY, POLICY)
    other = TinyPolicy()
    other.digest = "1" * 64
    with pytest.raises(DataError, match="another policy"):
        Surrogates.from_bytes(data, KEY, other)


def test_the_length_of_a_file_tells_its_words_roughly_at_most():
    assert len({len(seal(b"x" * size, KEY)) for size in range(1, 4097, 64)}) == 1


def test_sealed_bytes_of_every_length_come_back():
    for size in (0, 1, 4095, 4096, 4097):
        content = bytes(33 + i % 90 for i in range(size))
        assert unseal(seal(content, KEY), KEY).rstrip() == content


def test_a_sealed_file_needs_a_whole_key():
    with pytest.raises(InvalidParameterError, match="32"):
        seal(b"{}", b"short")


def test_nothing_of_a_conversation_is_shown_or_copied_unawares():
    surrogates = Surrogates.new(POLICY)
    hide(surrogates, "okafor")
    assert "okafor" not in repr(surrogates).lower()
    with pytest.raises(TypeError, match="to_bytes"):
        pickle.dumps(surrogates)
    with pytest.raises(TypeError, match="to_bytes"):
        copy.copy(surrogates)


def test_fresh_conversations_have_keys_of_their_own():
    text = " ".join(INPUTS)
    drawn = {tuple(hide(Surrogates.new(POLICY), text)) for _ in range(10)}
    assert len(drawn) > 5


def test_the_shipped_policy_restores_a_whole_text():
    policy = load_policy("names")
    text = "Anna Schmidt of Bergen wrote to Boris Okafor on 07/05/2021 about 4711."
    batch = tokenize([text])
    symbols = PolicyLookup(policy).codes(batch)
    for key in keys(10, seed=9):
        surrogates = Surrogates(policy, key)
        sent = [policy.print(c) for c in surrogates.hide(batch, symbols).tolist()]
        for word, symbol, given in zip(batch.words(), symbols, sent, strict=True):
            if policy.alphabet.is_group(symbol):
                assert surrogates.restore(given) == word
            else:
                assert canonical(given) == canonical(word)


def hide_apart(surrogates, text, place):
    return list(
        map(POLICY.print, surrogates.hide_apart(*look_up(text), place).tolist())
    )


def test_words_apart_have_one_law_whether_they_are_equal_or_not():
    """Of two places, equal words and different ones. False alarms: 1e-6."""
    counts = [Counter(), Counter()]
    for key in keys(3_000, 5):
        for count, text in zip(counts, ("Anna Anna", "Anna Boris"), strict=True):
            count[tuple(hide_apart(Surrogates(POLICY, key), text, "x"))] += 1
    assert set(counts[0]) == set(counts[1])
    table = [[count[each] for each in counts[0]] for count in counts]
    assert stats.chi2_contingency(table).pvalue > 1e-6


def test_words_apart_take_nothing_from_words_of_the_user():
    for key in keys(30, seed=6):
        alone, beside = Surrogates(POLICY, key), Surrogates(POLICY, key)
        hide_apart(beside, "Anna Boris Dora Okafor flu", "x")
        assert hide(beside, "Dora Boris mumps") == hide(alone, "Dora Boris mumps")


def test_words_apart_are_restored_unless_two_of_them_share_a_surrogate():
    key = bytes(range(32))
    surrogates = Surrogates(POLICY, key)
    text = "Anna Boris Okafor Dora"  # more than the group has members
    sent = hide_apart(surrogates, text, "x")
    assert hide_apart(surrogates, text, "x") == sent
    again = Surrogates.from_bytes(surrogates.to_bytes(KEY), KEY, POLICY)
    assert hide_apart(again, text, "x") == sent
    for each in (surrogates, again):
        for word, surrogate in zip(text.split(), sent, strict=True):
            is_clear = sent.count(surrogate) == 1
            assert each.restore(surrogate) == (word if is_clear else None)


def test_a_word_of_the_user_comes_before_one_apart():
    for key in keys(30, seed=7):
        surrogates = Surrogates(POLICY, key)
        hide_apart(surrogates, "Dora Boris", "x")
        (mine,) = hide(surrogates, "Okafor")
        assert surrogates.restore(mine) == "Okafor"
