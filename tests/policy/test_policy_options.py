"""``--numbers`` and ``--same key``: laws, doors, and what the guarantee says."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

import doors
import mondegreen as mg
from mondegreen.audit.claim import Claim
from mondegreen.audit.exact import LawTable, worst_pair
from mondegreen.cli.main import cli
from mondegreen.errors import ConfigurationError, PrivacyError
from mondegreen.policy.alphabet import Alphabet
from mondegreen.policy.lexicon import SHIPPED
from mondegreen.policy.numbers import Grid, Near
from mondegreen.policy.policy import load_policy
from mondegreen.policy.printing import PolicyPrinter
from mondegreen.prompts.guard import PromptGuard
from mondegreen.sampling.integers import TOTAL
from mondegreen.settings import Settings
from mondegreen.text.tokenizer import TokenizedBatch

LAW = {"mechanism": "urr", "epsilon": 12.0, "policy": "sensitive"}
OPTIONS = {
    "key": {**LAW, "same": "key"},
    "plain": {**LAW, "numbers": "plain"},
    "near": {**LAW, "numbers": "near", "near": 0.4},
    "near, krr": {**LAW, "mechanism": "krr", "numbers": "near", "same": "record"},
}
TEXT = (
    "Anna Schmidt pays $12,000.50 for 30 days and Anna called +49 170 5551234; "
    "card 4111 1111 1111 1111, a30@example.org, since 1999."
)
PRIVATE = ("schmidt", "5551234", "170", "a30", "4111")
DOORS = [name for name in doors.DOORS if name != "guard"]  # it makes its own ids


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv(doors.VARIABLE, doors.KEY.hex())


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("door", DOORS)
def test_every_door_gives_the_release_of_the_privatizer(door, name, tmp_path):
    expected = doors.privatizer(OPTIONS[name], TEXT, tmp_path)
    assert doors.DOORS[door](OPTIONS[name], TEXT, tmp_path) == expected
    assert not [word for word in PRIVATE if word in expected.lower().split()]


# --- one key


def test_under_a_key_a_word_is_the_same_in_all_records_columns_and_processes():
    made = doors.made(OPTIONS["key"])
    first = made("Okafor met Anna.", id="1", column="a").text.rstrip(".").split()
    other = made("ANNA saw okafor.", id="2", column="b").text.rstrip(".").split()
    again = pickle.loads(pickle.dumps(mg.Privatizer.from_dict(made.to_dict())))
    third = again.with_noise(mg.KeyedNoise(doors.KEY))("So Anna left.", id="3").text
    assert first[2].lower() == other[0].lower() == third.split()[1].lower()
    fresh = made.with_noise(mg.KeyedNoise(bytes(range(1, 33))))
    names = "Anna Okafor Boris Dora Emil"
    assert made(names, id="1").text != fresh(names, id="1").text


def test_an_option_changes_what_keyed_noise_draws():
    scopes = {doors.made(each)._scope("text") for each in (LAW, *OPTIONS.values())}
    assert len(scopes) == 1 + len(OPTIONS)


@pytest.mark.parametrize("noise", [None, mg.Seeded(1)])
def test_same_key_without_a_key_is_refused(noise):
    made = mg.Privatizer(
        mg.mechanism("urr", epsilon=12.0), policy="sensitive", same="key", noise=noise
    )
    with pytest.raises(ConfigurationError, match="--same key needs a key"):
        made("Anna", id="1")
    with pytest.raises((ConfigurationError, PrivacyError)):
        PromptGuard(made)


def test_the_command_refuses_same_key_before_it_reads(tmp_path):
    (tmp_path / "in.txt").write_text("Anna")
    given = ["privatize", str(tmp_path / "in.txt"), "-o", str(tmp_path / "out.txt")]
    given += ["-e", "12", "--policy", "sensitive", "--same", "key"]
    done = CliRunner().invoke(cli, given)
    assert done.exit_code != 0
    assert "--key-file" in done.output
    assert not (tmp_path / "out.txt").exists()


def test_spark_takes_a_spec_with_same_key_and_refuses_it_without_a_key():
    pytest.importorskip("pyspark")
    from mondegreen.integrations.spark import release as spark

    spec = doors.made(OPTIONS["key"]).to_dict()
    import pyarrow as pa

    batch = pa.RecordBatch.from_pydict({"id": ["1", "2"], "text": ["Anna", "Anna"]})
    how = {"columns": {"text": "text"}, "id_column": "id", "names": ["id", "text"]}
    how |= {"needed": [0, 1], "left": [1]}
    (done,) = spark.release_batches([batch], spec, secret=doors.VARIABLE, **how)
    one, other = done["text"].to_pylist()
    assert one == other
    with pytest.raises(ConfigurationError, match="--same key needs a key"):
        list(spark.release_batches([batch], spec, secret=None, **how))


# --- numbers


def test_the_guarantees_say_what_each_option_discloses():
    told = {name: doors.made(each).guarantee for name, each in OPTIONS.items()}
    default = doors.made(LAW).guarantee
    assert "one digit 10" in default.summary()
    assert not [line for line in default.disclosed if line.startswith("amounts")]
    assert any("ciphers" in line for line in told["key"].disclosed)
    assert any(line.startswith("amounts: ") for line in told["plain"].disclosed)
    assert any(line.startswith("magnitude of") for line in told["near"].disclosed)
    assert any("0.4 nats for a factor of 1.259" in x for x in told["near"].equivalents)
    assert told["near"].certified <= 12


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"numbers": "plain", "structure": "plain"}, "needs --structure keep"),
        ({"near": 0.2}, "--near needs --numbers near"),
        ({"numbers": "near", "near": 0.9}, "nats per cell"),
        ({"numbers": "close"}, "one of hide, near, plain"),
    ],
)
def test_options_that_do_not_go_together_are_refused(wrong, message):
    with pytest.raises(mg.errors.MondegreenError, match=message):
        doors.made({**LAW, **wrong})


def test_numbers_and_same_need_a_policy_with_ordinary_words():
    for wrong in ({"numbers": "near"}, {"same": "key"}, {"most_ordinary": 9}):
        with pytest.raises(ConfigurationError, match="needs a policy"):
            Settings(epsilon=10.0, policy="all", **wrong).resolve()


NEAR = Near(Grid(0, 1, per_decade=3), 0.7)
ALPHABET = Alphabet("tiny", "0" * 64, 2, 1 + NEAR.grid.cells, near=NEAR)
SPACE = mg.Space.from_arrays(
    "symbols", [f"s{i}" for i in range(ALPHABET.size)], np.eye(ALPHABET.size)
)


class Broken:
    """Stands in for :class:`Near`, with other integers for its law."""

    grid, equivalents, disclosed = NEAR.grid, (), ()
    certified = NEAR.certified

    def __init__(self, weights):
        self.weights = weights


def by_value():
    """Cells 0 and 1 print only 0 and 1, cells 2 and 3 only 2 and 3."""
    weights = NEAR.weights.copy()
    half = len(weights) // 2
    weights[:half, half:] = weights[half:, :half] = 0
    weights[:, 0] += TOTAL - weights.sum(axis=1)
    weights[half:, half] += weights[half:, 0]
    weights[half:, 0] = 0
    return weights


def louder():
    return Near(NEAR.grid, 1.05 * NEAR.nats).weights


def passes(state, epsilon, nats):
    """Audit all pairs: symbols within epsilon, cells within nats for each step."""
    ids = np.arange(state.input_count, dtype=np.int32)
    table, cells = LawTable(ids, state.log_prob(ids)), state.alphabet.cells

    def steps(first, second):
        return nats * np.abs(first[:, None] - second[None, :]).astype(float)

    far = Claim("it", epsilon, "discrete", state.distances, SPACE)
    near = Claim("it", 1.0, "steps", steps, SPACE)
    found = [worst_pair(table, far), worst_pair(_rows(table, cells), near)]
    return all(each is not None and each.excess <= 1e-9 for each in found)


def _rows(table, cells):
    return LawTable(table.ids[cells.start :], table.log_law[cells.start :])


def test_the_law_of_all_symbols_passes_the_audit():
    state = mg.mechanism("krr", epsilon=2.0).prepare(ALPHABET)
    assert passes(state, state.guarantee.certified, NEAR.certified)
    assert not passes(state, 0.9 * state.guarantee.certified, NEAR.certified)
    # The noise of krr hides more; at a large epsilon the bound of cells is tight.
    tight = mg.mechanism("krr", epsilon=30.0).prepare(ALPHABET)
    assert passes(tight, 30.0, NEAR.certified)
    assert not passes(tight, 30.0, 0.99 * NEAR.certified)


def test_sensitive_words_of_urr_pass_the_audit_and_amounts_are_among_them():
    state = mg.mechanism("urr", epsilon=2.0).prepare(ALPHABET)
    ids = np.arange(2, state.input_count, dtype=np.int32)
    claim = Claim("it", state.guarantee.certified, "discrete", state.distances, SPACE)
    found = worst_pair(LawTable(ids, state.log_prob(ids)), claim)
    assert found is not None
    assert found.excess <= 1e-9
    columns = np.exp(state.log_prob(np.arange(state.input_count)))[:, 2:]
    ratio = (columns.max(axis=0) / columns.min(axis=0)).max()
    assert np.log(ratio) <= state.guarantee.certified + 1e-9


@pytest.mark.parametrize("weights", [by_value, louder])
def test_broken_cells_fail_the_audit(weights):
    """A range chosen by the true value, and noise that is too small."""
    broken = replace(ALPHABET, near=Broken(weights()))
    assert (broken.near.weights.sum(axis=1) == TOTAL).all()
    state = mg.mechanism("krr", epsilon=30.0).prepare(broken)
    assert not passes(state, 30.0, NEAR.certified)


def test_cells_are_sampled_as_the_law_says():
    """Chi-square over 40,000 draws; false alarms: 1e-6."""
    for name in ("krr", "urr"):
        state = mg.mechanism(name, epsilon=2.0).prepare(ALPHABET)
        cell = np.full(40_000, ALPHABET.cells.start + 1, dtype=np.int32)
        drawn = state.sample(cell, np.random.default_rng(8))
        found = np.bincount(drawn, minlength=ALPHABET.size)
        expected = 40_000 * np.exp(state.log_prob(cell[:1]))[0]
        used = expected > 0
        assert not found[~used].any()
        assert stats.chisquare(found[used], expected[used]).pvalue > 1e-6


def test_explain_and_policy_show_know_the_options():
    shown = ["--policy", "sensitive", "--numbers", "near", "--same", "key"]
    done = CliRunner().invoke(cli, ["policy", "show", "12,000", "1999", *shown])
    assert done.exit_code == 0, done.output
    assert "amount near 13,000" in done.output
    assert "year" in done.output
    assert "one replacement in all texts under one key" in done.output
    done = CliRunner().invoke(cli, ["explain", "12,000", "-e", "12", *shown])
    assert done.exit_code == 0, done.output
    assert "a cipher" in done.output
    own = CliRunner().invoke(cli, ["explain", "12,000", "-e", "12", *shown, "--json"])
    assert json.loads(own.stdout)["guarantee"]["parameters"] == {"epsilon": 12.0}


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (("i", "'m"), "I'm"),
        (("demonstration", "'m"), "Demonstration am"),
        (("you", "'re"), "You're"),
        (("router", "'re"), "Router are"),
        (("could", "n't"), "Couldn't"),
        (("unexpected", "n't"), "Unexpected not"),
        (("we", "'d"), "We'd"),
        (("would", "'d"), "Would would"),
    ],
)
def test_an_ending_joins_only_a_word_that_takes_it(words, printed):
    """Any released word may stand before an ending: krr prints strays."""
    policy = load_policy("sensitive", ordinary=("demonstration", "router"))
    printer = PolicyPrinter(policy)
    codes = np.array([policy.symbols[word] for word in words])
    batch = TokenizedBatch([["", "x", "", "'m", ""]])
    assert printer.join(batch, codes) == [printed]


def test_the_symbol_of_a_word_that_hides_is_no_output_that_takes_an_ending():
    policy = load_policy("sensitive", sensitive=("you", "a"))
    printer = PolicyPrinter(policy)
    # Symbols of groups, and outputs that happen to have their numbers.
    codes = np.array([policy.symbols["you"], policy.symbols["'re"]])
    (text,) = printer.join(TokenizedBatch([["", "x", "", "'re", ""]]), codes)
    assert text.endswith(" are")
    codes = np.array([policy.symbols["a"], len(policy.ordinary)])
    (text,) = printer.join(TokenizedBatch([["", "x", " ", "y", ""]]), codes)
    assert text.split()[0].lower() == policy.print(policy.symbols["a"]).lower()


def test_the_command_does_not_write_over_its_policy(tmp_path):
    (tmp_path / "in.txt").write_text("the")
    path = tmp_path / "my.policy"
    path.write_bytes(SHIPPED.read_bytes())
    given = ["privatize", str(tmp_path / "in.txt"), "-o", str(path), "--force"]
    done = CliRunner().invoke(cli, [*given, "-e", "12", "--policy", str(path)])
    assert done.exit_code != 0
    assert path.read_bytes() == SHIPPED.read_bytes()
