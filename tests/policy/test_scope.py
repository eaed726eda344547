"""Scopes against brute force: exact laws of whole texts, on a policy of a few words."""

import itertools
import math
import re
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import mondegreen as mg
from mondegreen.errors import ConfigurationError, DataError, InvalidParameterError
from mondegreen.policy import scope as scopes
from mondegreen.policy.lookup import PolicyLookup
from mondegreen.policy.policy import load_policy
from mondegreen.policy.printing import PolicyPrinter
from mondegreen.policy.scope import (
    KeyScope,
    Members,
    PlaceScope,
    RecordScope,
    make_scope,
)
from mondegreen.policy.shapes import SHAPES
from mondegreen.sampling.integers import TOTAL
from mondegreen.text.tokenizer import canonical, tokenize
from policy.tiny import TinyPolicy, look_up

KEY = bytes(range(32))
POLICY = TinyPolicy()
STATES = {
    name: mg.mechanism(name, epsilon=1.5).prepare(POLICY.alphabet)
    for name in ("krr", "urr")
}


class RedrawError(Exception):
    """A path with a rejected member: those that are left have the law, scaled."""


class Given:
    """Stands in for a generator: gives each symbol the member that is asked for."""

    def __init__(self, members):
        self.members = members

    def integers(self, low, high, size, dtype):
        if self.members is None:
            raise RedrawError
        members, self.members = self.members, None
        return np.array(members, dtype=dtype)


def weights_of(response):
    """The law of symbols as integers over 2**62."""
    table = {}
    targets = range(response.first, response.first + response.count)
    for x in range(4):
        others = [z for z in targets if z != x]
        table |= {(x, z): response.stray for z in others}
        table[x, x] = TOTAL - len(others) * response.stray
    return table


def law_of(scope, state, text):
    """The exact law of the printed words of a text.

    Rejected members are left out and the rest is scaled, for each choice of symbols:
    every entity has the same chance of a free member on all paths.
    """
    batch, symbols = look_up(text)
    table = weights_of(state.response)
    inputs = []

    def record(given, rng):
        inputs[:] = given.tolist()
        return given

    scope.draw(batch, symbols, record, np.random.default_rng(0))
    law = Counter()
    for drawn in itertools.product(range(4), repeat=len(inputs)):
        pairs = zip(inputs, drawn, strict=True)
        chance = math.prod(Fraction(table.get(p, 0), TOTAL) for p in pairs)
        if not chance:
            continue
        found = Counter()
        sizes = [range(POLICY.sizes[z]) for z in drawn]
        for members in itertools.product(*sizes):
            symbols_drawn = np.array(drawn, dtype=np.int32)
            try:
                codes = scope.draw(
                    batch, symbols, lambda _, __, z=symbols_drawn: z, Given(members)
                )
            except RedrawError:
                continue
            found[tuple(map(POLICY.print, codes.tolist()))] += 1
        for printed, count in found.items():
            law[printed] += chance * Fraction(count, found.total())
    assert sum(law.values()) == 1
    return law


def loss_of(one, other):
    """The largest log-ratio of two laws, as a ratio; None if it is infinite."""
    if one.keys() != other.keys():
        return None
    return max(max(one[y] / other[y], other[y] / one[y]) for y in one)


def keeps(scope, state, one, other, entities):
    """Whether two texts lose at most the ratio of the certificate per entity."""
    response = state.response
    worst = loss_of(law_of(scope, state, one), law_of(scope, state, other))
    return (
        worst is not None
        and worst <= Fraction(response.kept, response.stray) ** entities
    )


RECORD = RecordScope(POLICY)

# Texts that agree in which sensitive words are equal: entities whose symbol differs.
PAIRS = [
    ("anna flu anna", "boris flu boris", 0),
    ("anna flu anna", "Okafor gout OKAFOR", 0),  # unknown words are alike
    ("anna boris the", "boris okafor the", 0),
    ("anna boris anna", "anna flu anna", 1),
    ("anna flu anna", "flu anna flu", 2),
    ("anna the and", "the anna and", 2),
]


@pytest.mark.parametrize(("one", "other", "entities"), PAIRS)
def test_a_text_loses_epsilon_for_each_word_whose_symbol_differs(one, other, entities):
    assert keeps(RECORD, STATES["krr"], one, other, entities)


@pytest.mark.parametrize(
    ("one", "other", "entities"), [p for p in PAIRS if "the" not in p[0]]
)
def test_sensitive_words_lose_as_much_under_urr(one, other, entities):
    assert keeps(RECORD, STATES["urr"], one, other, entities)


def test_the_bound_is_attained_and_counts_a_word_once_for_all_its_places():
    state = STATES["krr"]
    response = state.response
    laws = [law_of(RECORD, state, text) for text in ("anna anna anna", "flu flu flu")]
    assert loss_of(*laws) == Fraction(response.kept, response.stray)


def test_by_place_a_word_counts_at_each_place():
    state = STATES["krr"]
    response = state.response
    laws = [law_of(PlaceScope(POLICY), state, t) for t in ("anna anna", "flu flu")]
    assert loss_of(*laws) == Fraction(response.kept, response.stray) ** 2


def test_which_words_are_equal_is_told_without_bound():
    laws = [law_of(RECORD, STATES["krr"], text) for text in ("anna anna", "anna boris")]
    assert loss_of(*laws) is None


def test_every_injection_is_as_likely_as_every_other():
    """Given the symbols, d words get d of n members with chance (n - d)! / n!."""
    law = law_of(RECORD, STATES["urr"], "anna okafor")
    names = {y: p for y, p in law.items() if all(w in POLICY.words[2:5] for w in y)}
    assert len(names) == math.perm(3, 2)
    assert len(set(names.values())) == 1


def test_strays_take_members_as_sensitive_words_do():
    """An ordinary word that strays never shares the output of another entity."""
    law = law_of(RECORD, STATES["krr"], "the the anna")
    sensitive = POLICY.words[2:]
    for printed in law:
        given = [word for word in printed if word.lower() not in POLICY.ordinary]
        assert len(set(given)) == len(given)
        assert all(word.split("xx")[0] in sensitive for word in given)
    assert any(printed[0] != printed[1] for printed in law)


@pytest.mark.parametrize(
    ("text", "other"), [("anna the", "okafor the"), ("flu", "measles")]
)
def test_a_scope_that_avoids_words_of_the_text_is_rejected(monkeypatch, text, other):
    """Avoiding them, so that no word stands for itself, tells which are not there."""
    assert keeps(RECORD, STATES["krr"], text, other, 0)

    law = {}
    for mine in (text, other):
        words = set(mine.split())

        def avoid(policy, words=words):
            return Members(policy, lambda code: policy.print(code).lower() in words)

        monkeypatch.setattr(scopes, "Members", avoid)
        monkeypatch.setattr(scopes, "_in_conflict", all_of)
        law[mine] = law_of(RECORD, STATES["krr"], mine)
    assert loss_of(law[text], law[other]) is None


def all_of(texts, codes):
    return np.ones(len(texts), dtype=bool)


def test_texts_without_conflict_are_passed_over_without_effect(monkeypatch):
    batch = tokenize(["anna boris", "flu gout measles anna", None, "the okafor"] * 50)
    symbols = np.array([2, 2, 3, 3, 3, 2, 0, 2] * 50, dtype=np.int32)
    quick, slow = [], []
    for found in (quick, slow):
        for seed in range(20):
            rng = np.random.default_rng(seed)
            found.append(
                RECORD.draw(batch, symbols, STATES["krr"].sample, rng).tolist()
            )
        monkeypatch.setattr(scopes, "_in_conflict", all_of)
    assert quick == slow


def test_a_full_group_starts_a_lap_with_a_suffix():
    text = "flu gout measles croup mumps flu"
    batch, symbols = look_up(text)

    def keep(given, rng):
        return given

    codes = RECORD.draw(batch, symbols, keep, np.random.default_rng(3))
    printed = [POLICY.print(code) for code in codes.tolist()]
    assert printed[0] == printed[5]
    assert len(set(printed)) == 5
    laps = [word.partition("xx")[2] for word in printed]
    assert laps[:5] == ["", "", "2", "2", "3"]


def test_a_lap_without_end_fails_closed():
    members = Members(POLICY)
    members.mark(3, 6 + 7 * ((2**63 - 1) // 7 - 1))
    members.mark(3, 5 + 7 * ((2**63 - 1) // 7 - 1))
    with pytest.raises(DataError, match="nothing was released"):
        members.take(3, 6, np.random.default_rng(0))


def test_outputs_that_may_repeat_are_shared():
    scope = RecordScope(POLICY, repeating=range(3, 4))
    batch, symbols = look_up("flu gout measles croup")
    codes = scope.draw(batch, symbols, lambda z, _: z, np.random.default_rng(1))
    assert set(codes.tolist()) == {5, 6}


def test_records_of_a_batch_have_maps_of_their_own():
    batch = tokenize(["anna boris okafor", None, "anna boris okafor", ""])
    symbols = np.full(6, 2, dtype=np.int32)
    seen = set()
    rng = np.random.default_rng(5)
    for _ in range(200):
        codes = RECORD.draw(batch, symbols, lambda z, _: z, rng).tolist()
        assert sorted(codes[:3]) == sorted(codes[3:]) == [2, 3, 4]
        seen.add(codes[:3] == codes[3:])
    assert seen == {True, False}


def test_one_text_after_the_other_draws_in_the_order_that_is_documented():
    """Symbols of all entities, members of all, then members again where taken."""
    batch, symbols = look_up("anna the anna boris")
    codes = RECORD.draw(batch, symbols, STATES["krr"].sample, np.random.default_rng(9))
    rng = np.random.default_rng(9)
    z = STATES["krr"].sample(np.array([2, 0, 2], dtype=np.int32), rng)
    first = POLICY.draw_members(z, rng).tolist()
    given = []
    for symbol, code in zip(z.tolist(), first, strict=True):
        while symbol >= 2 and code in given:
            code = int(POLICY.draw_members(np.array([symbol]), rng)[0])
        given.append(code)
    assert codes.tolist() == [given[0], given[1], given[0], given[2]]


def test_symbols_of_another_text_are_refused():
    batch, _ = look_up("anna the")
    with pytest.raises(InvalidParameterError, match="one symbol for each of 2 words"):
        RECORD.draw(batch, np.array([2]), lambda z, _: z, np.random.default_rng(0))


# --- one output under one key


def draw_keyed(text, key=KEY, context=b"settings", seed=0):
    batch, symbols = look_up(text)
    rng = np.random.default_rng(seed)
    scope = KeyScope(POLICY, key, context)
    return scope.draw(batch, symbols, STATES["krr"].sample, rng).tolist()


def test_a_key_gives_a_word_one_output_in_every_batch():
    one = draw_keyed("anna flu the ANNA", seed=1)
    other = draw_keyed("the flu anna", seed=2)
    assert one[0] == one[3] == other[2]
    assert one[1] == other[1]


def test_other_keys_and_settings_give_other_outputs():
    words = "anna boris okafor dora flu gout measles croup mumps"
    drawn = {tuple(draw_keyed(words))}
    drawn.add(tuple(draw_keyed(words, key=bytes(range(1, 33)))))
    drawn.add(tuple(draw_keyed(words, context=b"others")))
    assert len(drawn) == 3


def test_over_keys_the_law_is_that_of_a_place():
    """Chi-square over 4,000 keys; false alarms: 1e-6."""
    state, runs = STATES["krr"], 4_000
    keys = np.random.default_rng(7).bytes(32 * runs)
    drawn = [draw_keyed("okafor", keys[32 * i : 32 * i + 32])[0] for i in range(runs)]
    symbols = np.exp(state.log_prob(np.array([2], dtype=np.int32)))[0]
    law = np.repeat(symbols / POLICY.sizes, POLICY.sizes)
    found = np.bincount(drawn, minlength=7)
    assert stats.chisquare(found, runs * law / law.sum()).pvalue > 1e-6


def test_ordinary_words_draw_fresh_noise_under_a_key():
    drawn = {draw_keyed("the", seed=seed)[0] for seed in range(100)}
    assert len(drawn) > 1


def test_the_chance_of_a_collision_is_the_one_that_is_documented():
    chance = 1 - math.perm(150, 10) / 150**10
    assert f"{chance:.2f}"[1:] == ".26"
    assert ".26 for 10 words and 150" in " ".join((KeyScope.__doc__ or "").split())


def test_a_key_is_needed_and_never_shown():
    with pytest.raises(ConfigurationError, match="--key-file"):
        make_scope("key", POLICY)
    with pytest.raises(InvalidParameterError, match="32"):
        make_scope("key", POLICY, key=b"short")
    with pytest.raises(InvalidParameterError, match="'place', 'record' or 'key'"):
        make_scope("user", POLICY)
    shown = repr(make_scope("key", POLICY, key=KEY))
    assert "not shown" in shown
    assert repr(KEY)[2:10] not in shown


def test_each_scope_says_what_it_discloses():
    assert not make_scope("place", POLICY).disclosed
    for same in ("record", "key"):
        lines = make_scope(same, POLICY, key=KEY).disclosed
        assert any(line.startswith("equal words: ") for line in lines)


# --- the shipped policy


@pytest.fixture(scope="module")
def shipped():
    return load_policy("sensitive")


def test_no_output_of_the_policy_looks_like_one_of_a_later_lap(shipped):
    later = re.compile("xx[0-9]+$")
    words = [canonical(word) for word in shipped.words]
    assert not [word for word in words if later.search(word)]
    rng = np.random.default_rng(0)
    shapes = np.arange(
        len(shipped.ordinary) + len(shipped.groups), shipped.alphabet.size
    ).repeat(300)
    codes = shipped.draw_members(shapes, rng).tolist()
    assert not [c for c in codes if later.search(canonical(shipped.print(c)))]


@pytest.mark.parametrize("name", ["sensitive", "names"])
def test_sensitive_outputs_are_printed_by_one_symbol_alone(name):
    """Else two words of one text could look equal. Endings such as 'd print a word."""
    policy = load_policy(name)
    counts = Counter(map(canonical, policy.words[len(policy.ordinary) :]))
    assert max(counts.values()) == 1
    shown = set(map(canonical, policy.words[: len(policy.ordinary)]))
    assert not shown & counts.keys()


def test_only_these_formats_print_what_another_symbol_prints():
    """As the page of scopes says: a part of a date is one or two digits."""
    formats = defaultdict(set)
    for shape in SHAPES:
        if shape.size <= 10**4:  # longer numbers are of one length each
            for i in range(shape.size):
                formats[canonical(shape.print(i))].add(shape.name)
    shared = {frozenset(names) for names in formats.values() if len(names) > 1}
    date = "month or day of a date"
    assert shared == {
        frozenset(("1 digits", date)),
        frozenset(("2 digits", date)),
        frozenset(("2 digits", "day of a date above 12")),
        frozenset(("0 and 1 digits", f"{date}, with 0")),
    }
    for name in ("sensitive", "names"):
        words = set(map(canonical, load_policy(name).words))
        assert not words & formats.keys()
        address = re.compile("([bdfgklmnprstvz][aeiou]){3}x")
        assert 0 < sum(address.fullmatch(word) is not None for word in words) < 10


def test_laps_are_printed_with_their_suffix(shipped):
    code = int(shipped.first[-1]) - 1
    later = code + 2 * shipped.output_count
    assert shipped.print(later) == shipped.print(code) + "xx3"
    assert shipped.symbol_at(later) == shipped.symbol_at(code)
    batch = tokenize(["we met"])
    codes = np.array([later, shipped.output_count], dtype=np.int64)
    (text,) = PolicyPrinter(shipped).join(batch, codes)
    assert text == f"{shipped.print(code)}xx3 {shipped.print(0)}xx2"


TEXT = "My doctor Anna Schmidt says that Anna has diabetes, since 1999, in Oslo."


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Oslo", "Bergen"),
        ("diabetes", "measles"),
        ("Schmidt", "Okafor"),
        ("says", "hears"),
    ],
)
def test_one_changed_word_moves_no_other_symbol(shipped, old, new):
    lookup = PolicyLookup(shipped)
    state = mg.mechanism("krr", epsilon=6.0).prepare(shipped.alphabet)
    released = []
    for text in (TEXT, TEXT.replace(old, new)):
        batch = tokenize([text])
        symbols = lookup.codes(batch)
        drawn = []

        def sample(ids, rng, drawn=drawn):
            drawn[:] = state.sample(ids, rng).tolist()
            return np.array(drawn, dtype=np.int32)

        rng = np.random.default_rng(11)
        RecordScope(shipped).draw(batch, symbols, sample, rng)
        released.append((symbols.tolist(), drawn))
    (before, drawn), (after, drawn_after) = released
    place = tokenize([TEXT]).words().index(old)
    assert before[:place] == after[:place]
    assert before[place + 1 :] == after[place + 1 :]
    moved = [a != b for a, b in zip(drawn, drawn_after, strict=True)]
    assert sum(moved) <= 1


def test_a_name_is_one_name_throughout(shipped):
    batch = tokenize([TEXT])
    symbols = PolicyLookup(shipped).codes(batch)
    state = mg.mechanism("urr", epsilon=12.0).prepare(shipped.alphabet)
    rng = np.random.default_rng(2)
    for _ in range(50):
        codes = RecordScope(shipped).draw(batch, symbols, state.sample, rng)
        printed = [shipped.print(code) for code in codes.tolist()]
        assert printed[2] == printed[6]
        assert len({printed[2], printed[3], printed[8], printed[9], printed[-1]}) == 5
