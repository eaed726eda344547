"""Statistical audits: false alarms, power, pairs, and targets in their processes."""

from __future__ import annotations

import contextlib
import json
import math

import audit_targets
import numpy as np
import pytest
from mutants import HERE, LINE, make_space, target_space
from scipy import stats

import mondegreen as mg
from mondegreen.audit.claim import Claim, choose_pairs, metric_named
from mondegreen.audit.report import Evidence
from mondegreen.audit.run import audit_mechanism
from mondegreen.audit.statistical import (
    measure_pairs,
    power_nats,
    rarest_event,
    strongest,
    wilson,
)
from mondegreen.audit.target import Target, audit_target, chance_of_agreement
from mondegreen.errors import ConfigurationError, InvalidParameterError, LawUnknownError
from mondegreen.scores.interval import lower_bound, upper_bound

FALSE_ALARMS = 1e-6
"""Of the tests in this file themselves."""


class Coins:
    """Counts of known laws, one row for each input."""

    def __init__(self, law, seed):
        self.law, self.rng = np.asarray(law), np.random.default_rng(seed)

    def counts(self, given, runs):
        return self.rng.multinomial(runs, self.law[given[0]])

    def name(self, output):
        return f"y{output}"


def pair(first, second, distance, epsilon):
    words, allowed = ("abc"[first], "abc"[second]), epsilon * distance
    return Evidence(
        ids=(first, second), words=words, distance=distance, allowed=allowed
    )


def compared(law, epsilon, distance, *, seed, runs=400, alpha=0.1):
    pairs = [pair(0, 1, distance, epsilon)]
    return strongest(measure_pairs(Coins(law, seed), pairs, runs, alpha))


@pytest.mark.slow("many audits")
def test_a_law_at_the_bound_is_called_broken_at_most_as_often_as_stated():
    # The hardest sound case: P(y|w) = e^epsilon P(y|w') exactly.
    tight = [[math.e * 0.2, 1 - math.e * 0.2], [0.2, 0.8]]
    alarms = sum(compared(tight, 1.0, 1.0, seed=s).excess > 0 for s in range(1000))
    assert alarms <= stats.binom(1000, 0.1).isf(FALSE_ALARMS)


@pytest.mark.slow("many audits")
def test_equal_laws_at_distance_0_are_called_broken_at_most_as_often_as_stated():
    law = np.full((2, 30), 1 / 30)
    alarms = sum(compared(law, 1.0, 0.0, seed=s).excess > 0 for s in range(1000))
    assert alarms <= stats.binom(1000, 0.1).isf(FALSE_ALARMS)


@pytest.mark.parametrize("name", ["laplace", "vickrey", "exponential"])
def test_sound_mechanisms_are_called_broken_at_most_as_often_as_stated(name):
    mechanism = mg.mechanism(name, epsilon=1.0)
    audits = [
        audit_mechanism(
            mechanism, LINE, method="statistical", runs=400, alpha=0.1, seed=seed
        )
        for seed in range(40)
    ]
    broken = sum(report.is_broken for report in audits)
    assert broken <= stats.binom(40, 0.1).isf(FALSE_ALARMS)
    assert {report.verdict for report in audits} <= {"broken", "not rejected"}


def test_independent_noise_is_called_repeated_at_most_as_often_as_stated():
    # Coins that fall the same way nine times in ten agree often, and innocently.
    alarms = 0
    for seed in range(2000):
        draws = (np.random.default_rng(seed).random((3, 200)) < 0.9).tolist()
        alarms += chance_of_agreement(*draws) < math.log(0.1)
    assert alarms <= stats.binom(2000, 0.1).isf(FALSE_ALARMS)


def test_the_chance_of_agreement_is_that_of_the_sign_test():
    rng = np.random.default_rng(0)
    base, other, control = rng.integers(0, 3, size=(3, 40)).tolist()
    k = sum(a == b != c for a, b, c in zip(base, other, control, strict=True))
    m = sum(a == c != b for a, b, c in zip(base, other, control, strict=True))
    expected = stats.binomtest(k, k + m, alternative="greater").pvalue
    found = math.exp(chance_of_agreement(base, other, control))
    assert found == pytest.approx(expected)
    # Noise that is shared in a third of the places alone is seen too.
    shared = [a if i % 3 == 0 else b for i, (a, b) in enumerate(zip(base, other))]  # noqa: B905
    assert chance_of_agreement(base * 9, shared * 9, control * 9) < math.log(1e-3)
    assert chance_of_agreement("aaaa", "aaaa", "aaaa") == 0


def test_a_sampler_with_its_law_is_reported_at_most_as_often_as_stated():
    mechanism = mg.mechanism("exponential", epsilon=1.0)
    audits = [
        audit_mechanism(mechanism, LINE, runs=400, alpha=0.1, seed=seed)
        for seed in range(40)
    ]
    broken = sum(report.is_broken for report in audits)
    assert broken <= stats.binom(40, 0.1).isf(FALSE_ALARMS)


@pytest.mark.parametrize("gap", [0.5, 1.0, 2.0])
def test_a_leak_within_the_power_is_found(gap):
    # P(y0): e^(1 + gap) times as likely, where e^1 is allowed.
    often = 0.03 * math.exp(1 + gap)
    law = [[often, 1 - often], [0.03, 0.97]]
    found = [
        compared(law, 1.0, 1.0, seed=s, runs=40_000, alpha=0.01).excess > 0
        for s in range(50)
    ]
    assert all(found)


def test_a_leak_spread_over_many_rare_outputs_is_found():
    # No output is frequent enough to stand for itself; together they are 1 in 25.
    rare = np.full(500, 1 / 500)
    law = [
        np.concatenate([[0.50, 0.46], 0.04 * rare]),
        np.concatenate([[0.52, 0.479], 0.001 * rare]),
    ]
    evidence = compared(law, 1.0, 0.1, seed=0, runs=4000, alpha=0.001)
    assert evidence.excess > 0.5


def test_the_loss_is_a_lower_bound_and_approaches_the_truth():
    law = [[0.5, 0.5], [0.1, 0.9]]
    losses = [
        compared(law, 1.0, 1.0, seed=0, runs=n).loss for n in (10**3, 10**5, 10**7)
    ]
    assert losses == sorted(losses)
    assert losses[-1] < math.log(5)
    assert losses[-1] == pytest.approx(math.log(5), abs=0.01)


def test_without_a_violation_the_largest_certified_epsilon_is_reported():
    # The near pair certifies nothing, the far one a good deal of what it is allowed.
    law = [[0.5, 0.5], [0.5, 0.5], [0.02, 0.98]]
    pairs = [pair(0, 1, 0.1, 1.0), pair(0, 2, 9.0, 1.0)]
    found = measure_pairs(Coins(law, 0), pairs, 40_000, 0.01)
    assert strongest(found).ids == (0, 2)
    assert strongest(found).epsilon > 2.5 / 9
    assert strongest([]) is None


@pytest.mark.parametrize("pairs", [1, 4])
def test_power_is_that_of_the_extreme_counts(pairs):
    level = 0.02 / (2 * pairs)
    never = upper_bound(0, 1000, level)
    most = math.log(lower_bound(1000, 1000, level) / never)
    assert power_nats(2000, 0.02, pairs) == pytest.approx(most)
    hits = round(rarest_event(2000, 0.02, pairs) * 1000)
    assert lower_bound(hits, 1000, level) > never
    assert never >= lower_bound(hits - 1, 1000, level)


def test_rough_bounds_surround_the_share():
    hits = np.array([0, 1, 50, 100])
    low, high = wilson(hits, 100, 2.5)
    assert (low <= hits / 100).all()
    assert (high >= hits / 100).all()
    assert low[0] == 0


def test_power_grows_with_runs_and_is_reached():
    assert power_nats(1000, 0.01, 4) < power_nats(100_000, 0.01, 4)
    always = [[1.0, 0.0], [0.0, 1.0]]
    evidence = compared(always, 1.0, 1.0, seed=0, runs=1000, alpha=0.01)
    assert evidence.loss == pytest.approx(power_nats(1000, 0.01, 1))


def test_pairs_are_of_all_kinds_and_within_reach():
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(size=(60, 3)), [[50, 0, 0]], [[0, 0, 0]] * 2])
    space = make_space(points)
    claim = Claim("it", 1.0, *metric_named("euclidean", space), space)
    pairs = choose_pairs(claim, 24, rng)
    assert len(pairs) == len(set(pairs)) == 24
    assert all(i < j for i, j in pairs)
    assert (61, 62) in pairs  # the duplicates
    assert any(j == space.vocab_size for _, j in pairs)  # the unknown word
    gaps = claim.between(np.arange(61), np.arange(61))
    nearest = np.unravel_index(np.argmin(gaps + np.eye(61) * 1e9), gaps.shape)
    assert (min(nearest), max(nearest)) in pairs
    close = choose_pairs(claim, 24, rng, largest=2.0)
    assert all(claim.pair(i, j).distance <= 2 for i, j in close)


def test_one_word_has_no_pair_but_with_the_unknown_one():
    space = make_space([[1.0, 2.0]])
    report = audit_mechanism(mg.mechanism("exponential", epsilon=1.0), space, seed=0)
    assert report.verdict == "holds"
    assert report.found == 0


def test_without_runs_only_exact_methods_are_left():
    space = make_space(np.random.default_rng(0).normal(size=(5, 9)))
    with pytest.raises(LawUnknownError):
        audit_mechanism(mg.mechanism("laplace", epsilon=1.0), space, runs=0)
    with pytest.raises(LawUnknownError):
        audit_mechanism(mg.mechanism("laplace", epsilon=1.0), space, method="exact")


@pytest.mark.parametrize("options", [{"runs": 3}, {"pairs": 0}, {"alpha": 1.0}])
def test_settings_that_make_no_sense_are_refused(options):
    with pytest.raises(InvalidParameterError):
        audit_mechanism(mg.mechanism("tem", epsilon=1.0), LINE, **options)
    with pytest.raises(InvalidParameterError):
        audit_mechanism(mg.mechanism("tem", epsilon=1.0), LINE, claim=math.inf)


# Targets


def audited(name, **options):
    with contextlib.chdir(HERE):
        return audit_target(
            f"audit_targets:{name}",
            target_space(),
            options.pop("epsilon", 1.0),
            runs=2000,
            seed=0,
            **options,
        )


def test_a_sound_target_is_not_rejected():
    report = audited("sound")
    assert report.verdict == "not rejected"
    assert report.found_is == "lower bound"
    assert not report.findings


def test_too_little_noise_in_a_target_is_found():
    assert audited("too_much").verdict == "broken"


def test_unknown_words_must_be_alike_whatever_comes_out():
    assert audited("unknown_verbatim").worst.distance == 0
    assert audited("unknown_length").verdict == "broken"  # x * len(word)
    assert audited("unknown_raises").verdict == "not rejected"  # the same error for all
    assert audited("unknown_verbatim", unknown=()).verdict == "not rejected"


def test_a_constant_repeats_itself_innocently():
    report = audited("constant")
    assert report.verdict == "not rejected"
    assert not report.findings


def test_shared_noise_is_a_warning_unless_the_target_runs_in_workers():
    report = audited("shared_by_workers")
    assert report.verdict == "not rejected"
    assert [f.kind for f in report.findings] == ["noise shared by workers"]
    assert audited("shared_by_workers", workers=True).verdict == "broken"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("audit_targets:absent", "AttributeError"),
        ("no_such_module:f", "ModuleNotFoundError"),
        ("audit_targets", "MODULE:FUNCTION"),
        ("audit_targets:POINTS", "not callable"),
    ],
)
def test_targets_that_do_not_exist_are_named(name, message):
    with (
        contextlib.chdir(HERE),
        pytest.raises(ConfigurationError, match=message),
        Target(name),
    ):
        pass


@pytest.mark.parametrize(
    ("name", "message"), [("hangs", "within 2 s"), ("dies", "exit status 3")]
)
def test_a_target_that_hangs_or_dies_ends_the_audit(name, message):
    with (
        contextlib.chdir(HERE),
        Target(f"audit_targets:{name}", timeout=2.0) as target,
        pytest.raises(ConfigurationError, match=message),
    ):
        target.counts((0, "a"), 1)


def test_what_a_target_prints_does_not_disturb(tmp_path, monkeypatch, capfd):
    code = "print('hello')\ndef f(word):\n    print(word)\n    return 3\n"
    (tmp_path / "loud.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    with Target("loud:f") as target:
        assert target.counts((0, "a"), 5).tolist() == [5]
        assert target.name(0) == "<int: 3>"
    assert "hello" in capfd.readouterr().err


def test_a_report_is_json_and_readable():
    report = audited("unknown_verbatim")
    values = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert values["verdict"] == "broken"
    assert values["worst"]["epsilon"] == "inf"
    assert values["worst"]["distance"] == 0
    assert str(report).startswith("BROKEN")
    assert "allowed 0 nats" in str(report)
    assert list(audit_targets.POINTS) == list("abcde")
