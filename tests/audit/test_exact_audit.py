"""Exact audits, against brute force and independent formulas."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from line_law import line_law as intervals_law
from plane_law import plane_law as cells_law
from reference import audit_known

import mondegreen as mg
from mechanisms.laws import (
    all_inputs,
    distances,
    flip_probability,
    input_points,
    line_law,
    plane_law,
    vickrey_line_law,
)
from mondegreen.audit import exact, run
from mondegreen.audit.claim import Claim, metric_named
from mondegreen.audit.exact import LawTable, build_table, worst_pair
from mondegreen.audit.run import audit_mechanism
from mondegreen.audit.subspace import subspace
from mondegreen.errors import (
    ConfigurationError,
    LawUnknownError,
    MondegreenError,
    UnknownNameError,
)
from mondegreen.mechanisms.selection.base import SelectionState
from mondegreen.space.binarize import with_codes
from spaces import make_cloud, make_space

LINE = [0.0, 1.0, 1.5, 4.0, -2.0]
PLANE = [[0, 0], [1, 0.2], [-0.5, 2], [3, 3], [-2, -1], [1.2, -1.5]]


def cloud(count=30, dim=4):
    return make_cloud(count, dim)


def euclidean(space, epsilon):
    return Claim("it", epsilon, *metric_named("euclidean", space), space)


def brute_force(log_law, d):
    """max |ln P/P'| / d, from the definition."""
    best = 0.0
    for i in range(len(log_law)):
        for j in range(len(log_law)):
            for y in range(log_law.shape[1]):
                if i == j:
                    continue
                loss = log_law[i, y] - log_law[j, y]
                if loss > 1e-11:
                    best = max(best, math.inf if d[i, j] == 0 else loss / d[i, j])
    return best


@pytest.mark.parametrize("name", ["exponential", "tem", "calibrated"])
@pytest.mark.parametrize("epsilon", [0.3, 2.0, 9.0])
def test_the_exact_audit_is_brute_force(name, epsilon):
    space = cloud(12, 2)
    state = mg.mechanism(name, epsilon=epsilon).prepare(space)
    report = audit_mechanism(mg.mechanism(name, epsilon=epsilon), space, runs=0)
    d = np.minimum(distances(space), state.guarantee.scale["diameter"])
    found = brute_force(state.log_prob(all_inputs(space)), d)
    assert report.found == pytest.approx(found, rel=1e-9)
    assert report.verdict == "holds"
    assert report.found_is == "exact"
    assert report.pairs == 13 * 12 // 2
    # The certificate is never below the truth.
    certified = state.guarantee.certified
    assert certified is None or report.found <= certified * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_tight_keeps_its_promise_for_the_unknown_word_at_its_own_point(seed):
    points = 2 * np.random.default_rng(seed).normal(size=(12, 3))
    space = mg.Space.from_arrays("s", [f"w{i}" for i in range(12)], points)
    sound = mg.mechanism("tight", epsilon=4.0)
    report = audit_mechanism(sound, space, runs=0)
    assert (report.verdict, report.pairs) == ("holds", 13 * 12 // 2)
    assert 3.99 < report.found <= 4.0
    assert audit_mechanism(sound, space, claim=3.9, runs=0).verdict == "broken"


@pytest.mark.parametrize("epsilon", [0.3, 1.2, 5.0])
def test_intervals_are_the_interval_law_and_spend_all_of_epsilon(epsilon):
    space = make_space(LINE)
    log = intervals_law(mg.mechanism("laplace", epsilon=epsilon).prepare(space))
    starts = input_points(space)[:, 0]
    expected = [line_law(LINE, float(start), epsilon) for start in starts]
    np.testing.assert_allclose(np.exp(log), expected, rtol=1e-9, atol=1e-15)
    report = audit_known("laplace", space, epsilon, runs=0)
    assert report.verdict == "holds"
    assert report.found == pytest.approx(epsilon, rel=1e-9)


def test_intervals_keep_tails_that_differences_of_doubles_lose():
    space = make_space([0.0, 30.0, 60.0])
    log = intervals_law(mg.mechanism("laplace", epsilon=3.0).prepare(space))
    # P(60 | 0) = e^(-3 * 45) / 2
    assert log[0, 2] == pytest.approx(-135 - math.log(2), rel=1e-12)
    assert audit_known("laplace", space, 3.0, runs=0).verdict == "holds"


@pytest.mark.parametrize("t", [0.0, 0.5, 1.0, (0.5, 2.0, 0.1)])
def test_quadrature_on_a_line_is_that_of_the_law_tests(t):
    space = make_space(LINE)
    log = intervals_law(mg.mechanism("vickrey", epsilon=1.2, t=t).prepare(space))
    for row, start in zip(log, input_points(space)[:, 0], strict=True):
        expected = vickrey_line_law(LINE, float(start), 1.2, t)
        np.testing.assert_allclose(np.exp(row), expected, atol=1e-9)
    report = audit_known("vickrey", space, 1.2, parameters={"t": t}, runs=0)
    assert report.verdict == "holds"


@pytest.mark.slow("integrals in the plane")
def test_cells_in_the_plane_are_those_of_the_law_tests():
    space = make_space(PLANE)
    for name, root in (("laplace", np.eye(2)), ("mahalanobis", None)):
        state = mg.mechanism(name, epsilon=1.5).prepare(space)
        if root is None:
            sigma = np.cov(space.vectors.astype(float).T)
            root = np.linalg.cholesky(
                0.2 * sigma * 2 / np.trace(sigma) + 0.8 * np.eye(2)
            )
        log = cells_law(state)
        points = input_points(space)
        for row, start in zip(log, points, strict=True):
            expected = plane_law(points[:-1], start, root, 1.5, 4000)
            np.testing.assert_allclose(np.exp(row), expected, atol=3e-6)
        np.testing.assert_allclose(np.exp(log).sum(axis=1), 1, atol=1e-12)
        assert audit_known(name, space, 1.5, runs=0).verdict == "holds"


def test_far_cells_keep_their_digits():
    # Two words: the law of the half-plane in closed form, 40 units away.
    space = make_space([[0.0, 0], [40.0, 0]])
    log = cells_law(mg.mechanism("laplace", epsilon=5.0).prepare(space))
    expected = math.log(flip_probability(5.0, 2, 40.0))  # -98.6
    assert log[0, 1] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["laplace", "mahalanobis", "vickrey"])
def test_twice_the_epsilon_is_found_exactly(name):
    space = make_space(LINE)
    report = audit_known(name, space, 2.0, claim=1.0, runs=0)
    assert report.verdict == "broken"
    assert report.found == pytest.approx(2.0, rel=1e-6)
    assert report.worst.excess > 0


def test_hyperbolic_noise_on_a_diameter_is_exact():
    space = make_space(np.tanh(np.array(LINE) / 4), metric="poincare")
    report = audit_known("hyperbolic", space, 1.5, runs=0)
    assert report.verdict == "holds"
    assert report.found == pytest.approx(1.5, rel=1e-6)


@pytest.mark.long
def test_codes_of_few_bits_are_enumerated():
    space = with_codes(cloud(20, 6), bits=8)
    report = audit_mechanism(mg.mechanism("brr", epsilon=0.7), space, runs=2000, seed=0)
    assert report.verdict == "holds"
    assert "Hamming" in report.metric
    twin = audit_mechanism(mg.mechanism("brr", epsilon=1.4), space, claim=0.7, runs=0)
    assert twin.verdict == "broken"


def test_an_infinite_loss_is_no_lower_bound():
    for found_is in ("exact", "lower bound"):
        report = audit_mechanism(mg.mechanism("tem", epsilon=1.0), cloud(6), runs=0)
        shown = str(replace(report, found=math.inf, found_is=found_is))
        assert "found      infinite: no epsilon holds" in shown
        assert "at least" not in shown.splitlines()[3]


def test_a_zero_for_one_input_alone_is_infinite():
    space = make_space([0.0, 1.0])
    with np.errstate(divide="ignore"):
        log = np.log(np.array([[0.5, 0.5], [0.0, 1.0], [0.5, 0.5]]))
    table = LawTable(all_inputs(space), log)
    worst = worst_pair(table, euclidean(space, 1e9))
    assert worst.loss == math.inf
    assert worst.epsilon == math.inf
    assert worst.event == ("w0",)
    # Impossible for all is no difference.
    log[:, 0] = -np.inf
    log[:, 1] = 0.0
    worst = worst_pair(table, euclidean(space, 1.0))
    assert worst.loss == 0


@pytest.mark.parametrize("wrong", [math.nan, math.inf, 1.1, 0.0])
def test_what_is_no_law_is_not_audited_as_one(wrong, monkeypatch):
    space, mechanism = cloud(6), mg.mechanism("exponential", epsilon=1.0)
    honest = SelectionState.log_prob

    def log_prob(self, ids):
        table = honest(self, ids)
        with np.errstate(divide="ignore"):
            table[0] += np.log(wrong)
        return table

    monkeypatch.setattr(SelectionState, "log_prob", log_prob)
    with pytest.raises(MondegreenError, match="sum to 1"):
        audit_mechanism(mechanism, space, runs=400, seed=0)


def test_words_at_one_point_may_not_differ_at_all():
    space = make_space([0.0, 0.0, 3.0])
    log = np.log(
        np.array(
            [[0.5, 0.3, 0.2], [0.5, 0.3001, 0.1999], [1 / 3] * 3] * 1 + [[1 / 3] * 3]
        )
    )
    worst = worst_pair(LawTable(all_inputs(space), log), euclidean(space, 10.0))
    assert worst.ids in ((0, 1), (1, 0))
    assert worst.epsilon == math.inf


def test_clusters_hold_within_and_break_as_local_privacy():
    space, custext = cloud(40, 3), mg.mechanism("custext", epsilon=1.0, k=5)
    assert audit_mechanism(custext, space, runs=0).verdict == "holds"
    report = audit_mechanism(custext, space, metric="discrete", runs=0)
    assert report.verdict == "broken"
    assert report.found == math.inf


@pytest.mark.slow("audits a large space")
def test_large_spaces_go_by_certificate_and_pairs():
    space = mg.load_space()
    report = audit_mechanism(mg.mechanism("exponential", epsilon=2.0), space, runs=0)
    assert report.verdict == "holds"
    assert report.found_is == "upper bound"
    assert 1.0 < report.found < 2.0
    with pytest.raises(LawUnknownError, match="4,096"):
        build_table(mg.mechanism("exponential", epsilon=2.0).prepare(space))


def large(monkeypatch, most=8):
    """Make every space too large for all pairs; return one of 40 words."""
    monkeypatch.setattr(exact, "LARGEST_TABLE", most)
    return cloud(40, 3)


def test_where_a_certificate_decides_outputs_are_compared_with_the_law(monkeypatch):
    space, mechanism = large(monkeypatch), mg.mechanism("exponential", epsilon=2.0)
    report = audit_mechanism(mechanism, space, seed=0)
    assert report.verdict == "holds"
    assert report.found_is == "upper bound"
    assert report.worst.excess <= 0
    assert "show no difference" in report.power
    # A sampler of another law is caught, whatever the certificate says.
    twin = mg.mechanism("exponential", epsilon=4.0).prepare(space)
    draw = np.exp(twin.log_prob(all_inputs(space)))

    def sample(self, ids, rng):
        edges = np.cumsum(draw[ids], axis=1)
        return (edges <= rng.random((len(ids), 1))).sum(axis=1).astype(np.int32)

    monkeypatch.setattr(SelectionState, "sample", sample)
    report = audit_mechanism(mechanism, space, seed=0)
    assert report.verdict == "broken"
    assert {finding.kind for finding in report.findings} == {"sampler"}


def test_a_claim_that_no_certificate_covers_is_compared_in_part(monkeypatch):
    space, mechanism = large(monkeypatch, 20), mg.mechanism("exponential", epsilon=3.0)
    report = audit_mechanism(mechanism, space, claim=1.6, runs=0, seed=0)
    assert report.verdict == "broken"
    assert 1.6 < report.found <= mechanism.prepare(space).guarantee.certified
    report = audit_mechanism(mechanism, space, metric="euclidean", runs=0, seed=0)
    assert report.verdict == "not rejected"
    assert report.found_is == "lower bound"


def test_the_unknown_word_is_among_the_inputs_of_a_part(monkeypatch):
    space, seen = large(monkeypatch, 12), []

    def tabled(state, ids=None):
        seen.append(ids)
        return build_table(state, ids)

    monkeypatch.setattr(run, "build_table", tabled)
    audit_mechanism(mg.mechanism("tem", epsilon=2.0), space, runs=0, seed=0)
    assert len(seen[-1]) == len(set(seen[-1].tolist())) <= 12
    assert space.vocab_size in seen[-1]


def test_a_certificate_decides_what_outputs_leave_open(monkeypatch):
    space = with_codes(cloud(20, 6), bits=32)
    mechanism = mg.mechanism("brr", epsilon=0.7)
    report = audit_mechanism(mechanism, space, runs=400, pairs=2, seed=0)
    assert report.verdict == "holds"
    assert "statistical" in report.method
    assert report.found == mechanism.prepare(space).guarantee.certified
    assert audit_mechanism(mechanism, space, runs=0).verdict == "holds"
    assert audit_mechanism(mechanism, space, method="exact").verdict == "holds"
    twin = mg.mechanism("brr", epsilon=1.4)
    broken = audit_mechanism(twin, space, claim=0.1, runs=4000, pairs=4, seed=0)
    assert broken.verdict == "broken"
    with pytest.raises(LawUnknownError):
        audit_mechanism(twin, space, claim=0.7, method="exact")


def test_chosen_pairs_are_those_that_are_compared_in_whatever_order():
    rng = np.random.default_rng(0)
    space = cloud(20)
    log = np.log(rng.dirichlet(np.ones(20), size=21))
    table, claim = LawTable(all_inputs(space), log), euclidean(space, 1.0)
    for _ in range(50):
        chosen = [tuple(rng.choice(21, 2, replace=False)) for _ in range(4)]
        chosen += [(0, 3), (0, 9), (0, 5)]  # as many as from 3 to 5
        steepest = max(
            np.abs(log[i] - log[j]).max() / claim.pair(i, j).distance for i, j in chosen
        )
        found = worst_pair(table, claim, chosen)
        assert found.epsilon == pytest.approx(steepest, rel=1e-9)
        assert found.ids in chosen or found.ids[::-1] in chosen


@pytest.mark.long
def test_a_claim_below_the_certificate_is_broken_by_pairs():
    space = mg.load_space()
    mechanism = mg.mechanism("exponential", epsilon=3.0)
    report = audit_mechanism(mechanism, space, claim=1.5, runs=0, seed=0)
    assert report.verdict == "broken"
    assert 1.5 < report.found <= 1.926


def test_a_part_of_a_space_keeps_what_it_has():
    space = with_codes(cloud(50, 6), bits=16)
    part = subspace(space, 10)
    assert part.vocab_size == 10
    assert part.words[0] == space.words[0]
    assert part.words[-1] == space.words[-1]
    assert part.codes.bits == 16
    assert subspace(space, 99) is space


@pytest.mark.parametrize(("name", "power"), [("manhattan", 1), ("chebyshev", np.inf)])
def test_a_claim_may_be_in_another_norm_of_the_vectors(name, power):
    space = cloud()
    stated, between = metric_named(name, space)
    assert stated == f"{name.capitalize()} distance"
    ids = np.arange(space.vocab_size + 1, dtype=np.int32)
    points = np.concatenate([space.vectors.astype(float), space.unknown[None]])
    norms = np.linalg.norm(points[:, None] - points, ord=power, axis=2)
    np.testing.assert_allclose(between(ids, ids), norms, rtol=1e-12)
    ball = make_space([[0.0], [0.5]], metric="poincare")
    with pytest.raises(ConfigurationError, match="poincare"):
        metric_named(name, ball)


def test_metrics_that_do_not_exist_are_refused():
    with pytest.raises(UnknownNameError, match="discrete"):
        metric_named("cosine", cloud())
    with pytest.raises(ConfigurationError, match="euclidean"):
        metric_named("poincare", cloud())
