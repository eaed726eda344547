"""The audit of urr and krr on a policy: brute force, laws of draws, both doors."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from symbol_mutants import (
    CITIES,
    DRUGS,
    SMALL,
    WORDS,
    Shown,
    louder,
    make_policy,
    prepare,
    symbol_audit,
)

import mondegreen as mg
from commands import run_command
from mondegreen.audit import audit_mechanism, audit_state
from mondegreen.audit import symbol_draws as draws
from mondegreen.audit.policy import SymbolNames
from mondegreen.audit.printed_words import DrawnNoise, PrintedWords, choose_words
from mondegreen.audit.statistical import find_excess
from mondegreen.audit.symbol_law import find_near_break, probe_sampler, read_law
from mondegreen.errors import ConfigurationError, LawUnknownError, MondegreenError
from mondegreen.mechanisms.symbols.response import ResponseState
from mondegreen.policy.alphabet import Alphabet
from mondegreen.policy.numbers import Grid, Near
from mondegreen.policy.policy import load_policy
from mondegreen.sampling.integers import TOTAL

FALSE_ALARMS = 1e-6
"""Of the tests in this file themselves."""

TINY = Near(Grid(0, 1, per_decade=3), nats=0.5)


class Table:
    """A response whose law is any table of integers."""

    stray = 0

    def __init__(self, table):
        self.table = table

    def weights(self, ids, size):
        return self.table[ids]


def tiny(ordinary, groups, near=None):
    return Alphabet("tiny", "0" * 64, ordinary, groups, near=near)


def random_table(size, seed, zeros=0):
    """Make a law of integers, with some impossible outputs."""
    rng = np.random.default_rng(seed)
    table = rng.integers(1, TOTAL // size, size=(size, size))
    for _ in range(zeros):
        table[rng.integers(size), rng.integers(size)] = 0
    table[:, -1] += TOTAL - table.sum(axis=1)
    return table


def brute_force(table, ordinary, *, with_ordinary):
    """The largest ratio from the definition; None if it is infinite."""
    best, size = Fraction(1), len(table)
    for x in range(size):
        for other in range(size):
            is_sensitive = min(x, other) >= ordinary
            for z in range(size):
                if not (with_ordinary or is_sensitive or z >= ordinary):
                    continue
                p, q = int(table[x, z]), int(table[other, z])
                if p and not q:
                    return None
                best = max(best, Fraction(p, q)) if q else best
    return best


@pytest.mark.parametrize("with_ordinary", [False, True])
@pytest.mark.parametrize("zeros", [0, 1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_the_worst_ratio_is_that_of_brute_force(seed, zeros, with_ordinary):
    alphabet = tiny(4, 3)
    table = random_table(7, seed, zeros)
    honest = mg.mechanism("urr", epsilon=1.0).prepare(alphabet)
    law = read_law(ResponseState(alphabet, Table(table), honest.guarantee))
    found = law.worst(4, with_ordinary=with_ordinary)
    assert found.ratio == brute_force(table, 4, with_ordinary=with_ordinary)
    # And it is the ratio of the pair and the output that are named.
    p, q = (int(table[x, found.output]) for x in (found.first, found.second))
    assert (found.ratio is None) == (q == 0)
    assert found.ratio is None or found.ratio == Fraction(p, q)


@pytest.mark.parametrize("name", ["krr", "urr"])
def test_amounts_are_mixtures_of_cells_in_integers(name):
    alphabet = tiny(2, 6, TINY)
    state = mg.mechanism(name, epsilon=1.2).prepare(alphabet)
    law, exact = read_law(state), []
    for x in range(8):
        row = state.response.weights(np.arange(8, dtype=np.int32), 8).astype(object)
        cell = x - alphabet.cells.start
        exact.append(TINY.weights[cell].astype(object) @ row[4:] if cell >= 0 else
                     row[x] * TOTAL)  # fmt: skip
    table = np.array(exact)
    assert set(table.sum(axis=1)) == {TOTAL**2}
    expected = brute_force(table, 2, with_ordinary=name == "krr")
    assert law.worst(2, with_ordinary=name == "krr").ratio == expected
    assert not probe_sampler(state).wrong


@pytest.mark.parametrize("epsilon", [1e-9, 0.3, 2.0, 12.0, 1e9])
@pytest.mark.parametrize("name", ["krr", "urr"])
def test_what_is_found_is_the_certificate(name, epsilon):
    report = audit_mechanism(mg.mechanism(name, epsilon=epsilon), SMALL, runs=0)
    certified = prepare(name, epsilon).guarantee.certified
    assert (report.verdict, report.found_is) == ("holds", "exact")
    assert report.found == certified <= epsilon
    assert report.pairs == SMALL.alphabet.size * (SMALL.alphabet.size - 1) // 2
    assert not report.findings


def test_a_claim_of_urr_for_ordinary_words_is_broken_and_one_of_krr_holds():
    of_urr = audit_mechanism(mg.mechanism("urr", epsilon=2.0), SMALL,
                             metric="discrete", runs=0)  # fmt: skip
    assert (of_urr.verdict, of_urr.found) == ("broken", math.inf)
    assert not of_urr.findings  # the certificate is of another claim
    of_krr = audit_mechanism(mg.mechanism("krr", epsilon=2.0), SMALL,
                             metric="discrete", runs=0)  # fmt: skip
    assert of_krr.verdict == "holds"


def test_a_sampler_that_is_wrong_for_one_draw_of_one_input_is_found():
    honest = prepare("krr").response

    class OffByOne:
        weights, stray = honest.weights, honest.stray

        @staticmethod
        def sample(ids, rng):
            found = honest.sample(ids, rng)
            if ids[0] == 5:
                found[-1] = 0  # the last draw of the last output
            return found

    state = prepare("krr")
    twin = ResponseState(SMALL.alphabet, OffByOne(), state.guarantee)
    assert probe_sampler(twin).wrong == (5,)
    assert not probe_sampler(state).wrong


def test_what_is_no_law_is_not_audited():
    alphabet = tiny(4, 3)
    state = mg.mechanism("urr", epsilon=1.0).prepare(alphabet)
    for wrong in (0, 1 << 40):
        table = random_table(7, 0)
        table[3, 3] += 1 + wrong
        with pytest.raises(MondegreenError, match="sum to 1"):
            read_law(ResponseState(alphabet, Table(table), state.guarantee))


def test_a_rate_of_amounts_that_is_too_high_is_found(monkeypatch):
    assert find_near_break(TINY) is None
    loud = Near(TINY.grid, nats=1.0).weights
    monkeypatch.setitem(TINY.__dict__, "weights", loud)
    monkeypatch.setitem(TINY.__dict__, "certified", 0.5)
    finding = find_near_break(TINY)
    assert finding.is_break
    assert "are allowed" in finding.text


# --- draws


def test_the_law_of_members_counts_the_draws_of_each():
    for size in (7, 40_000):
        symbol = len(SMALL.ordinary)
        policy = make_policy()
        policy.sizes[symbol] = size
        policy.print = str
        test = draws._make_test(policy, symbol)
        assert test.law.sum() == pytest.approx(1, abs=1e-12)
        base, rest = divmod(TOTAL, size)
        edges = [*test.starts.tolist(), size]
        first = sum(base + (k < rest) for k in range(edges[1])) / TOTAL
        assert test.law[0] == first
        assert len(test.law) == min(size, 1000) + 1


@pytest.mark.parametrize("low", [0, 10_000, 100_000])
def test_the_law_of_digits_is_that_of_counting(low):
    stop = low + 12_345
    for place in range(6):
        for digit in (0, 1, 9):
            counted = sum(number // 10**place % 10 == digit for number in range(stop))
            assert draws._numbers_with(digit, place, stop) == counted


def test_digits_of_numbers_have_their_law():
    (symbol, *_) = draws.list_number_formats(SMALL)
    assert SMALL.print(int(SMALL.first[symbol])) == "10000"
    law = draws._digit_law(SMALL, symbol, 4)
    assert law[0] == 0
    np.testing.assert_allclose(law[1:], 1 / 9, rtol=1e-9)
    np.testing.assert_allclose(draws._digit_law(SMALL, symbol, 0), 0.1, rtol=1e-9)


def test_equal_laws_are_called_different_at_most_as_often_as_stated():
    rng, law = np.random.default_rng(0), np.array([0.5, 0.3, 0.15, 0.05, 0.0])
    alarms = sum(
        find_excess([rng.multinomial(n, law) for n in (100, 100, 200)], law, 0.1)
        is not None
        for _ in range(1000)
    )
    assert 0 < alarms <= stats.binom(1000, 0.1).isf(FALSE_ALARMS)


@pytest.mark.parametrize(
    "other", [[0.6, 0.2, 0.1, 0.1], [0.5, 0.3, 0.2, 0.0], [0.45, 0.3, 0.15, 0.1]]
)
def test_another_law_is_called_different(other):
    rng, law = np.random.default_rng(0), np.array([0.5, 0.3, 0.15, 0.05])
    parts = [rng.multinomial(n, other) for n in (2000, 2000, 4000)]
    excess = find_excess(parts, law, 1e-6)
    assert excess.hits / excess.runs > excess.share


def test_an_output_that_the_law_does_not_have_is_found():
    parts = [np.array([50, 50, 5])] * 3
    excess = find_excess(parts, np.array([0.5, 0.5, 0.0]), 1e-3)
    assert excess.outputs.tolist() == [2]


def test_pairs_are_of_all_kinds_and_have_one_structure():
    printed = PrintedWords(prepare("krr"), SMALL, DrawnNoise(np.random.default_rng(0)))
    chosen = list(choose_words(printed, SMALL, np.random.default_rng(0)))
    kinds = {
        (a == b, min(a, b) < len(SMALL.ordinary), max(a, b) < len(SMALL.ordinary))
        for (a, b), _ in chosen
    }
    # Alike; two groups; an ordinary word and another; two ordinary words.
    assert kinds >= {(True, False, False), (False, False, False)}
    assert kinds >= {(False, True, False), (False, True, True)}
    assert (CITIES[0].capitalize(), CITIES[-1].capitalize()) in dict(
        (words, symbols) for symbols, words in chosen
    )
    assert all(printed.find_symbol(w) is not None for _, two in chosen for w in two)
    for other in ("'m", "two words", "", "a\nb", "-5"):
        assert printed.find_symbol(other) is None


def test_printed_words_are_those_of_a_release():
    state = prepare("urr", 40.0)
    printed = PrintedWords(state, SMALL, DrawnNoise(np.random.default_rng(0)))
    counts = printed.counts((0, DRUGS[0]), 3000)
    names = {printed.name(i) for i in range(len(counts))}
    assert names == {word.capitalize() for word in DRUGS}
    assert counts.sum() == 3000
    assert printed.shows_group(len(counts)).all()
    assert printed.counts((0, WORDS[2]), 10).sum() == 10
    assert not printed.shows_group(len(counts) + 1)[-1]


@pytest.mark.slow("audits")
def test_a_statistical_audit_looks_at_pairs_that_it_could_convict():
    report = symbol_audit("urr", method="statistical")(0)
    assert report.verdict == "not rejected"
    assert "16 of 16 pairs" in report.power
    # At a large epsilon, only words of one group are allowed less than could be seen.
    far = audit_mechanism(mg.mechanism("urr", epsilon=30.0), SMALL,
                          method="statistical", runs=400, seed=0)  # fmt: skip
    assert far.verdict == "not rejected"
    assert far.worst.allowed == 0


def test_words_of_a_group_that_are_told_apart_by_what_is_printed_are_found():
    """Of one group by the law, and yet the word itself is never printed."""
    policy = make_policy()
    state = prepare("urr", policy=policy)
    printed = PrintedWords(state, policy, DrawnNoise(np.random.default_rng(0)))
    given = dict.fromkeys([CITIES[0], CITIES[-1]])
    for word in given:
        counts = printed.counts((0, word), 4000)
        names = [printed.name(i) for i in range(len(counts))]
        own = names.index(word.capitalize())
        assert counts[own] > 0  # fixed points are not excluded


@pytest.mark.slow("20 audits", seconds=4)
@pytest.mark.parametrize("name", ["krr", "urr"])
def test_sound_mechanisms_are_called_broken_at_most_as_often_as_stated(name):
    mechanism = mg.mechanism(name, epsilon=1.0)
    audits = [
        audit_mechanism(
            mechanism,
            SMALL,
            method="statistical",
            runs=40,
            pairs=4,
            alpha=0.1,
            seed=seed,
        )
        for seed in range(20)
    ]
    broken = sum(report.is_broken for report in audits)
    assert broken <= stats.binom(20, 0.1).isf(FALSE_ALARMS)


# --- doors


@pytest.mark.slow("audits")
def test_a_seed_repeats_an_audit_and_without_one_noise_is_that_of_a_release():
    audit = symbol_audit("krr", method="statistical", pairs=3)
    assert audit(3) == audit(3)
    assert audit(None).verdict == "not rejected"


def test_a_state_needs_its_own_policy():
    state = prepare("urr")
    assert audit_state(state, policy=SMALL, runs=0).verdict == "holds"
    for other in (None, load_policy("names")):
        with pytest.raises(ConfigurationError, match="policy"):
            audit_state(state, policy=other, runs=0)
    with pytest.raises(ConfigurationError, match="discrete"):
        audit_state(state, policy=SMALL, metric="euclidean")
    with pytest.raises(ConfigurationError, match="urr or krr"):
        audit_mechanism(mg.mechanism("tem", epsilon=1.0), SMALL)
    with pytest.raises(LawUnknownError, match="--runs"):
        audit_state(state, policy=SMALL, method="statistical", runs=0)


def test_symbols_have_names():
    names = SymbolNames.of(SMALL)
    assert names.words[0] == "the"
    assert {"place, singular", "health, singular", "format year"} <= set(names.words)
    assert len(set(names.words)) == len(names.words) == SMALL.alphabet.size


def run(*arguments):
    done = run_command("audit", *arguments, "--json", expect=None)
    return done.exit_code, json.loads(done.stdout) if done.stdout else done


@pytest.mark.slow("audits all words of the default", seconds=5)
def test_the_command_audits_the_default_and_python_the_same():
    code, report = run("-e", "12", "--seed", "0", "--runs", "2000")
    made = mg.Privatizer(mg.mechanism("urr", epsilon=12.0))
    assert (code, report["verdict"], report["found_is"]) == (0, "holds", "exact")
    assert report["subject"] == "urr (epsilon 12)"
    assert report["space_digest"] == made.policy.digest
    assert report["found"] == made.guarantee.certified
    own = audit_mechanism(mg.mechanism("urr", epsilon=12.0), load_policy("sensitive"),
                          seed=0, runs=2000)  # fmt: skip
    assert own.to_dict() == report


@pytest.mark.slow("audits all words of two policies", seconds=12)
def test_the_command_takes_what_chooses_a_policy():
    code, report = run("--policy", "names", "-m", "krr", "-e", "8", "--runs", "0")
    assert (code, report["verdict"], report["space"]) == (0, "holds", "policy names")
    near = ("--numbers", "near", "--hide-among", "20", "--runs", "400", "--seed", "0")
    code, report = run("-e", "2", *near)
    assert (code, report["verdict"]) == (0, "holds")
    code, report = run("-e", "4", "--claim", "2", "--runs", "0")
    assert (code, report["verdict"]) == (4, "broken")
    assert report["found"] == pytest.approx(4)


@pytest.mark.parametrize(
    "arguments",
    [
        ["-e", "2", "--words", "40"],
        ["-e", "2", "--metric", "hamming"],
        ["-e", "2", "--space", "x.safetensors"],
        ["-e", "2", "-m", "tem", "--policy", "names"],
        ["-e", "2", "-m", "urr", "--policy", "all"],
        ["-e", "2", "--set", "t=1"],
        ["-e", "2", "--target", "a:b", "--policy", "names"],
        ["-e", "2", "--target", "a:b", "--hide-among", "5"],
    ],
    ids=" ".join,
)
def test_what_does_not_go_with_a_policy_exits_2(arguments):
    code, done = run(*arguments)
    assert code == ConfigurationError.exit_code, done


@pytest.mark.slow("two audits; test_must_detect has the same of krr by default")
def test_a_broken_version_is_reported_with_its_word():
    report = symbol_audit("urr", Shown)(0)
    assert report.worst.words[1] == "sun"
    assert report.worst.loss == math.inf
    assert symbol_audit("krr", louder)(0).found > 2
