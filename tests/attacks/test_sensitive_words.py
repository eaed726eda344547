"""Sensitive words: one frozen list, and a reader that recovers all, some, or none."""

from dataclasses import replace

import numpy as np
import pytest

import mondegreen as mg
from mondegreen.attacks.linkage import linkage
from mondegreen.attacks.pairs import build_pairs, looks_drawn
from mondegreen.attacks.parts import draw_parts
from mondegreen.attacks.policies import attack_policy, worst_guesses
from mondegreen.attacks.reader import TableReader
from mondegreen.attacks.sensitive import (
    BEST,
    NEIGHBORS,
    Guesses,
    InDomainReader,
    guess_hidden_words,
    guess_words_of_space,
    is_counted,
    sensitive_words,
    word_classes,
)
from mondegreen.policy.lexicon import Lexicon, load_lexicon
from mondegreen.policy.policy import Policy, load_policy
from mondegreen.policy.printing import PolicyPrinter
from mondegreen.text.lookup import Lookup
from mondegreen.text.tokenizer import tokenize

ILLNESSES = ("diabetes", "asthma", "cancer", "influenza", "epilepsy")
DOMAIN = [
    f"{start} {illness} {end}."
    for illness, end in zip(
        ILLNESSES,
        ("since then", "for long", "at last", "once again", "but rarely"),
        strict=True,
    )
    for start in ("I have", "She had", "We know", "They have", "He had")
] * 4


def state_of(policy, name="urr", epsilon=30.0):
    return mg.mechanism(name, epsilon=epsilon).prepare(policy.alphabet)


def attacked(policy, state=None, texts=DOMAIN, corpus=DOMAIN, seed=0):
    state = state or state_of(policy)
    reader, batch = InDomainReader(policy, corpus, state.response), tokenize(texts)
    symbols = reader.lookup.codes(batch)
    released = state.sample(symbols, np.random.default_rng(seed))
    guesses = guess_hidden_words(reader, batch, released, with_neighbors=True)
    return sensitive_words(batch, guesses, policy.alphabet.is_group(symbols))


def policy_with(lexicon, **lists):
    made = {name: getattr(lexicon, name) for name in Lexicon.__dataclass_fields__}
    lexicon = Lexicon(**{**made, **lists})
    return Policy(lexicon, "sensitive", hide_among=10**6)  # no bands


def one_group():
    """A policy that hides everything in one group: not one word is ordinary."""
    lexicon = load_lexicon()
    words = [w for some in lexicon.words.values() for w in some]
    everything = tuple(dict.fromkeys([*lexicon.ordinary, *words]))
    empty = {"capital": {}, "upper": {}, "unprinted": {}, "ordinary": ()}
    return policy_with(lexicon, words={("rest", "s"): everything}, **empty)


@pytest.mark.slow("an attack")
def test_a_policy_that_hides_nothing_is_recovered_wholly():
    shown = load_policy("sensitive", opened=load_lexicon().classes[:10])
    found = attacked(load_policy("sensitive", ordinary=ILLNESSES))
    assert found.n == len(DOMAIN)
    assert found.value == 1.0
    assert found.details["hidden_only"]["n"] == 0
    assert attacked(shown).value == 1.0


def test_a_policy_that_hides_everything_in_one_group_is_recovered_by_the_prior_alone():
    """All symbols are alike, and all texts of one length: places tell the prior."""
    skewed = DOMAIN + ["I have diabetes since then."] * 100
    found = attacked(one_group(), texts=skewed, corpus=skewed)
    batch = tokenize(skewed)
    counted = is_counted(batch)
    words = np.array([word.lower() for word in batch.words()])
    best = (words[counted] == "diabetes").mean()
    assert found.value == pytest.approx(best)
    assert found.details["group_alone"]["value"] in (0.0, pytest.approx(best))
    assert found.chance == pytest.approx(best)


def test_neighbors_give_back_what_the_group_alone_does_not():
    found = attacked(load_policy("sensitive"))
    alone = found.details["group_alone"]["value"]
    assert alone == pytest.approx(0.2)  # five illnesses, alike in frequency
    assert found.value > 0.9
    assert found.low <= found.value <= found.high


def test_neighbors_alone_see_the_sentence_and_no_group():
    policy = load_policy("sensitive")
    assert attacked(policy).details["neighbors_alone"]["value"] > 0.9
    # Neighbors that tell nothing: a name or an illness, with one frequency each.
    same = [f"I saw {word} here." for word in ("diabetes", "Anna")] * 40
    found = attacked(policy, texts=same, corpus=same)
    assert found.details["neighbors_alone"]["value"] <= 0.5
    assert found.value == 1.0  # the group tells them apart


def test_strays_are_counted_as_what_they_are():
    """At a small epsilon outputs tell nothing, and no reader recovers much."""
    policy = load_policy("sensitive")
    blind = attacked(policy, state_of(policy, "krr", 1e-6))
    assert blind.details["group_alone"]["value"] <= 0.25
    assert blind.value <= 0.25


def test_words_outside_the_corpus_count_in_one_figure_and_not_in_the_other():
    policy = load_policy("sensitive")
    texts = [*DOMAIN, *["I have leukemia since then."] * len(DOMAIN)]
    found = attacked(policy, texts=texts)
    assert found.n == 2 * len(DOMAIN)
    assert found.details["known_only"]["n"] == len(DOMAIN)
    share = found.details["known_only"]["value"]
    assert found.value == pytest.approx(share / 2)


@pytest.mark.slow("all words of all policies")
def test_the_list_is_frozen_for_all_policies():
    batch = tokenize(["Ann moved to Oslo in May; zorble, Zorble and 12 uncles may."])
    classes = dict(zip(batch.words(), word_classes(batch).tolist(), strict=True))
    assert classes == {
        "Ann": "first_name",
        "moved": "ordinary",
        "to": "ordinary",
        "Oslo": "place",
        "in": "ordinary",
        "May": "time",
        "zorble": "rest",
        "Zorble": "other_name",
        "and": "ordinary",
        "12": "number",
        "uncles": "family",
        "may": "ordinary",
    }
    texts = [*DOMAIN, "Ann moved to Oslo in May."]
    sizes = {
        attacked(load_policy(name, opened=opened), texts=texts).n
        for name in ("sensitive", "names")
        for opened in ((), ("health",), ("place",))
    }
    assert len(sizes) == 1


@pytest.mark.parametrize("name", ["krr", "urr"])
def test_printed_words_are_read_back_as_their_symbols(name):
    policy, rng = load_policy("sensitive"), np.random.default_rng(3)
    texts = ["Don't call Ann in May: she's ill.", *DOMAIN[:20]]
    reader = InDomainReader(policy, DOMAIN, state_of(policy).response)
    state, batch = state_of(policy, name, 12.0), tokenize(texts)
    drawn = state.sample(reader.lookup.codes(batch), rng)
    codes = policy.draw_members(drawn, rng)
    printed = PolicyPrinter(policy).join(batch, codes)
    pairs = build_pairs(texts, reader.lookup, printed)
    assert pairs.left_out == 0
    assert (pairs.released == drawn).mean() > 0.98
    assert looks_drawn(state, pairs)
    assert not looks_drawn(state_of(policy, name, 1.0), pairs)


def test_ordinary_words_link_a_release_and_hidden_ones_do_not():
    policy = load_policy("sensitive")
    state = state_of(policy, epsilon=12.0)
    reader = InDomainReader(policy, DOMAIN, state.response)
    rng = np.random.default_rng(0)
    plain = [
        " ".join(rng.choice(policy.ordinary[200:400], 6).tolist()) for _ in range(60)
    ]
    hidden = [" ".join(rng.choice(ILLNESSES, 6).tolist()) for _ in range(60)]
    for texts, low, high in ((plain, 0.95, 1.0), (hidden, 0.0, 0.1)):
        pairs = build_pairs(texts, reader.lookup).sample(state, rng)
        assert low <= linkage(state, pairs).value <= high


def test_the_worst_words_are_named_only_where_the_corpus_is_public():
    policy = load_policy("sensitive")
    reader = InDomainReader(
        policy, [*DOMAIN, "zyxwol zyxwol."], state_of(policy).response
    )
    assert worst_guesses(policy, reader).details["words"] == []
    named = [
        word for word, _ in worst_guesses(policy, reader, named=True).details["words"]
    ]
    assert set(named) <= set(policy.symbols)
    assert set(named) & set(ILLNESSES)
    assert "zyxwol" not in named


def test_a_limit_of_the_reader_is_compared_with_its_best_guess():
    """The guess from the group alone is right here, and that of sentences is not."""
    batch = tokenize(["Ann met Bob.", "Eva met Max."] * 20)
    counted = is_counted(batch)
    wrong = np.zeros(len(counted), dtype=np.bool_)
    guesses = Guesses(wrong, counted, counted, "knows", 9, {NEIGHBORS: wrong})
    found = sensitive_words(batch, guesses)
    assert found.value == 0.0
    assert [way["by"] for way in found.details["by"]] == [
        *("whole sentences", "the group alone", "the other words alone", BEST)
    ]
    assert found.say_excess(0.5) == "is 1 by the group alone"
    assert found.details["by"][0]["high"] == found.high
    nobody = sensitive_words(batch, replace(guesses, alone=wrong))
    assert nobody.say_excess(0.5) is None


def test_the_best_way_of_each_class_is_chosen_by_other_texts():
    """One way knows names, another one illnesses; a third is right by chance."""
    batch = tokenize(["Ann has asthma.", "Eva has lupus."] * 100)
    classes = word_classes(batch)
    counted = is_counted(batch)
    names, ill = classes == "first_name", classes == "health"
    lucky = counted & (np.random.default_rng(0).random(len(counted)) < 0.5)
    guesses = Guesses(names, ill, counted, "knows", 9, {NEIGHBORS: lucky})
    ways = {each["by"]: each for each in sensitive_words(batch, guesses).details["by"]}
    assert ways["whole sentences"]["value"] == ways["the group alone"]["value"] == 0.5
    assert ways[BEST]["value"] == 1.0
    # Chance is not taken for knowledge: the choice of one half is used in the other.
    luck = {
        name: np.random.default_rng(i).random(len(counted)) < 0.5
        for i, name in enumerate("abcdefgh")
    }
    none = np.zeros(len(counted), dtype=np.bool_)
    many = sensitive_words(batch, Guesses(none, none, counted, "knows", 9, luck))
    ways = {each["by"]: each["value"] for each in many.details["by"]}
    assert ways[BEST] < 0.56


def test_all_keys_that_scripts_read_are_there():
    policy = load_policy("sensitive")
    state = state_of(policy)
    reader = InDomainReader(policy, DOMAIN, state.response)
    pairs = build_pairs(DOMAIN, reader.lookup).sample(state, np.random.default_rng(0))
    found = attack_policy(policy, state, reader, tokenize(DOMAIN), pairs)
    assert list(found) == [
        *("sensitive_words", "single_word", "reader", "worst_word"),
        *("mutual_information", "linkage"),
    ]
    assert found["reader"].value == found["sensitive_words"].value
    assert found["single_word"].value < found["reader"].value
    assert all(each.value is not None for each in found.values())


@pytest.mark.parametrize(("epsilon", "low", "high"), [(800, 1.0, 1.0), (1e-6, 0, 0.3)])
def test_mechanisms_over_a_space_are_judged_by_the_same_list(epsilon, low, high):
    """A word outside the space counts, and is never recovered."""
    words = sorted({word.lower() for word in tokenize(DOMAIN).words()} - {"epilepsy"})
    points = np.random.default_rng(0).normal(size=(len(words), 8))
    space = mg.Space.from_arrays("small", words, points)
    state = mg.mechanism("exponential", epsilon=epsilon).prepare(space)
    pairs = build_pairs(DOMAIN, Lookup(space)).sample(state, np.random.default_rng(0))
    as_they_are = TableReader(np.arange(len(words), dtype=np.int32))
    guesses = guess_words_of_space(as_they_are, as_they_are, pairs, len(words), 0)
    found = sensitive_words(tokenize(DOMAIN), guesses)
    assert found.n == len(DOMAIN)
    assert found.details["known_only"]["n"] == len(DOMAIN) * 4 // 5
    assert low <= found.details["known_only"]["value"] <= high
    assert found.value == pytest.approx(0.8 * found.details["known_only"]["value"])


def test_the_attacked_half_is_no_speaker_of_a_conversation():
    halves = draw_parts(1000)
    assert np.bincount(halves).tolist() == [500, 500]
    assert 200 < halves[::2].sum() < 300
