"""Mechanisms that do not keep their promise: their laws, what breaks, what holds.

The checkers are those that pass the sound mechanisms.
"""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy import integrate, special, stats

import mondegreen as mg
from mechanisms.laws import (
    ALPHA,
    all_inputs,
    counts,
    distances,
    g_test,
    statistical_violation,
    table_violation,
    vickrey_line_law,
)
from mondegreen.cli.main import cli
from mondegreen.errors import (
    InvalidParameterError,
    LawUnknownError,
    SpaceError,
    UnprovedGuaranteeError,
)
from mondegreen.mechanisms.baselines.custext import build_clusters
from mondegreen.mechanisms.baselines.truncated_gumbel import (
    gumbel_scale,
    log_law,
    log_poisson,
)
from mondegreen.sampling.integers import TOTAL
from mondegreen.space.store import save_space
from spaces import make_cloud as cloud
from spaces import make_space
from strategies import epsilons, spaces

UNPROVED = ["custext", "santext_plus", "truncated_gumbel", "vickrey_literal"]
LINE = [0.0, 1.0, 1.5, 4.0, -2.0]

few = settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)


def line(points=LINE):
    return make_space([[x] for x in points])


def state_of(name, space, epsilon, **parameters):
    return mg.mechanism(name, epsilon=epsilon, **parameters).prepare(space)


def table(state):
    return state.log_prob(all_inputs(state.space))


def sampler_p_value(state, law, inputs, size=200_000):
    """Smallest p-value of a G-test over inputs, Bonferroni-corrected."""
    rng, vocab_size = np.random.default_rng(0), state.space.vocab_size
    found = [
        g_test(counts(state.sample, word, vocab_size, size, rng), law[word])
        for word in inputs
    ]
    return min(1.0, len(found) * min(found))


def worst_loss(first, second):
    """Largest |ln P(y|w) - ln P(y|w')| where at least one of them is possible."""
    possible = np.isfinite(first) | np.isfinite(second)
    return float(np.abs(first[possible] - second[possible]).max())


# vickrey_literal


def literal_law(epsilon, t):
    """The printed algorithm on a line, by quadrature: Vickrey on the other words."""
    centroid = float(np.mean(LINE))
    law = np.zeros((len(LINE) + 1, len(LINE)))
    for word, start in enumerate([*LINE, centroid]):
        others = np.arange(len(LINE)) != word
        law[word, others] = vickrey_line_law(np.array(LINE)[others], start, epsilon, t)
    return law


@pytest.mark.slow("other settings", but="0.5")
@pytest.mark.parametrize("t", [0.0, 0.5, 1.0])
def test_vickrey_literal_draws_from_the_printed_algorithm(t):
    law = literal_law(2.0, t)
    np.testing.assert_allclose(law.sum(axis=1), 1, atol=1e-9)
    state = state_of("vickrey_literal", line(), 2.0, t=t)
    assert sampler_p_value(state, law, [0, 2, 4, 5]) > ALPHA
    # and the sound mechanism has another law
    sound = state_of("vickrey", line(), 2.0, t=t)
    assert sampler_p_value(sound, law, [0]) < ALPHA


@pytest.mark.slow("other settings", seconds=0.1, but=("0.0-2.0", "1.0-2.0"))
@pytest.mark.parametrize("epsilon", [0.01, 2.0, 20.0])
@pytest.mark.parametrize("t", [0.0, 0.5, 1.0])
def test_vickrey_literal_loses_infinitely_much(epsilon, t):
    d = distances(line())
    with np.errstate(divide="ignore"):
        literal = np.log(literal_law(epsilon, t))
        centre = [*LINE, float(np.mean(LINE))]
        sound = np.log([vickrey_line_law(LINE, x, epsilon, t) for x in centre])
    assert table_violation(literal, d, epsilon) == math.inf
    if epsilon < 20:  # beyond, quadrature in doubles loses the tails of the sound law
        assert table_violation(sound, d, epsilon) < 1e-6


def test_no_word_is_ever_its_own_output_not_even_beside_its_double():
    space = make_space([[0.0, 0], [0, 0], [0, 0], [1, 0], [5, 5]])
    state = state_of("vickrey_literal", space, 3.0)
    ids = np.tile(np.arange(5, dtype=np.int32), 5000)
    assert (state.sample(ids, np.random.default_rng(0)) != ids).all()
    # words 0 and 1 lie at one point, so no loss at all is allowed between them
    order = np.array([0, 1, 2, 3, 4])
    rng = np.random.default_rng(1)
    for name, is_broken in (("vickrey_literal", True), ("vickrey", False)):
        sample = state_of(name, space, 3.0).sample
        found = statistical_violation(sample, order, (0, 1), 0.0, 50_000, rng)
        assert (found > 5) == is_broken, name


def test_vickrey_literal_with_two_words_swaps_them_and_with_one_refuses():
    state = state_of("vickrey_literal", line([0.0, 1.0]), 2.0)
    out = state.sample(np.array([0, 1] * 50, dtype=np.int32), np.random.default_rng(0))
    assert out.tolist() == [1, 0] * 50
    unknown = state.sample(np.full(2000, 2, dtype=np.int32), np.random.default_rng(0))
    assert set(unknown.tolist()) == {0, 1}
    with pytest.raises(SpaceError, match="one word"):
        state_of("vickrey_literal", line([1.0]), 2.0)
    with pytest.raises(LawUnknownError, match="vickrey_literal"):
        state.log_prob(np.array([0]))


# truncated_gumbel


@pytest.mark.parametrize("count", [1, 2, 3, 20, 5000])
def test_the_number_of_candidates_is_a_truncated_poisson(count):
    law = np.exp(log_poisson(count))
    assert law.shape == (count,)
    assert law.sum() == pytest.approx(1, rel=1e-12)
    if count > 1:
        poisson = stats.poisson(math.log(count)).pmf(np.arange(1, count + 1))
        np.testing.assert_allclose(law, poisson / poisson.sum(), rtol=1e-9, atol=1e-300)


def test_the_scale_solves_the_equations_of_the_paper():
    epsilon, count, closest, diameter = 40.0, 30, 0.5, 7.0
    alpha = (epsilon - 2 * (1 + math.log(count)) / closest) / 3
    w = float(special.lambertw(2 * alpha * diameter).real)
    expected = 2 * diameter / min(w, math.log(alpha * closest))
    found = gumbel_scale(epsilon, count, closest, diameter)
    assert found == pytest.approx(expected, rel=1e-13)


def truncated_gumbel_law(d, bound, scale):
    """P(y) from the definition, by adaptive quadrature for every k and every word."""
    noise = stats.gumbel_r(scale=scale)
    mass = noise.cdf(bound) - noise.cdf(-bound)

    def survival(x):
        return (noise.cdf(bound) - noise.cdf(np.clip(x, -bound, bound))) / mass

    def wins(word, k):
        others = [d[j] for j in range(k) if j != word]

        def density(x):
            rest = np.prod([survival(d[word] + x - other) for other in others])
            return noise.pdf(x) / mass * rest

        breaks = sorted({np.clip(o - bound - d[word], -bound, bound) for o in others})
        edges = np.unique([-bound, *breaks, bound])
        return sum(
            integrate.quad(density, a, b, epsabs=1e-13)[0]
            for a, b in itertools.pairwise(edges)
        )

    poisson = stats.poisson(math.log(len(d))).pmf(np.arange(1, len(d) + 1))
    poisson /= poisson.sum()
    return [
        sum(poisson[k - 1] * wins(y, k) for k in range(y + 1, len(d) + 1))
        for y in range(len(d))
    ]


@pytest.mark.parametrize("scale", [0.4, 2.0, 30.0])
@pytest.mark.slow("integrates the law numerically")
def test_the_law_of_truncated_gumbel_is_its_definition(scale):
    d = np.array([0.0, 0.7, 0.7, 1.1, 3.0, 4.0])
    law = np.exp(log_law(d, 4.0, scale))
    np.testing.assert_allclose(law, truncated_gumbel_law(d, 4.0, scale), atol=1e-10)
    off = np.array([0.3, 0.7, 4.0])  # the unknown word is at no word
    law = np.exp(log_law(off, 4.0, scale))
    np.testing.assert_allclose(law, truncated_gumbel_law(off, 4.0, scale), atol=1e-10)


@pytest.mark.parametrize("scale", [0.1, 1.0, 50.0])
@pytest.mark.parametrize("count", [2, 60, 200])
def test_the_law_of_truncated_gumbel_keeps_its_smallest_probabilities(count, scale):
    # Words at one point are equally likely among the first k: a closed form.
    log = log_law(np.zeros(count), 1.0, scale)
    terms = log_poisson(count) - np.log(np.arange(1, count + 1))
    expected = np.logaddexp.accumulate(terms[::-1])[::-1]
    np.testing.assert_allclose(log, expected, rtol=1e-10)
    assert count < 200 or log[-1] < -500


@pytest.mark.slow("other sizes", but="3.0")
@pytest.mark.parametrize("factor", [1.05, 3.0, 1000.0])
def test_truncated_gumbel_draws_from_its_law(factor):
    space = cloud(30)
    smallest = mg.mechanism("truncated_gumbel", epsilon=1.0).smallest_epsilon(space)
    state = state_of("truncated_gumbel", space, factor * smallest)
    log = table(state)
    assert np.isfinite(log).all()
    assert sampler_p_value(state, np.exp(log), [0, 17, 30]) > ALPHA


@pytest.mark.slow("a law by simulation")
def test_truncated_gumbel_samples_where_its_law_is_out_of_reach():
    # Two paths to distances, one for many words: the same law on a shared corner.
    crowd = np.random.default_rng(0).normal(size=(599, 4)) + 50
    space = make_space(np.concatenate([crowd, [[0.0] * 4]]))
    state = state_of("truncated_gumbel", space, 1e4)
    with pytest.raises(LawUnknownError, match="512 words"):
        state.log_prob(np.array([0]))
    d = distances(space)[7, :-1]
    order = np.argsort(d, kind="stable")
    law = np.empty(600)
    geometry = space.geometry
    law[order] = np.exp(log_law(d[order], geometry.diameter, state.scale))
    assert sampler_p_value(state, {7: law}, [7]) > ALPHA


def test_truncated_gumbel_refuses_what_its_theorem_does_not_cover():
    space = cloud(30)
    closest = space.geometry.closest
    smallest = (5 + 2 * math.log(30)) / closest
    with pytest.raises(InvalidParameterError, match=f"above {smallest:.3f}") as caught:
        state_of("truncated_gumbel", space, smallest * (1 - 1e-9))
    assert "5 + 2 ln 30" in str(caught.value)
    state = state_of("truncated_gumbel", space, smallest * (1 + 1e-6))
    assert state.scale > 1e5 * space.geometry.diameter  # no signal left at the edge
    with pytest.raises(SpaceError, match="one point"):
        state_of("truncated_gumbel", make_space([[1.0, 1], [1, 1]]), 2.0)


def test_on_the_default_space_truncated_gumbel_wants_a_huge_epsilon():
    space = mg.load_space()
    with pytest.raises(InvalidParameterError, match=r"above 34\.7"):
        state_of("truncated_gumbel", space, 8.0)


def test_a_huge_epsilon_does_not_make_truncated_gumbel_keep_the_word():
    # b falls with the logarithm of epsilon only.
    space = cloud(30)
    kept = [
        np.exp(np.diag(table(state_of("truncated_gumbel", space, epsilon))))
        for epsilon in (1e3, 1e6, 1e9)
    ]
    assert [round(float(k.mean()), 1) for k in kept] == [0.5, 0.6, 0.7]


def simplex(count):
    """M points at mutual distance 1; w, w' 1 beyond it, y 1 beyond that."""
    vertices = np.eye(count, count + 1) / math.sqrt(2)
    centre = vertices.mean(axis=0)
    axis = (vertices[0] - centre) / np.linalg.norm(vertices[0] - centre)
    beyond = vertices[0] + axis
    return np.concatenate([vertices, [beyond, beyond + np.eye(count + 1)[count]]])


@pytest.mark.parametrize(
    ("count", "epsilon", "loss"),
    [(20, 12.3, 30.3), (40, 13.7, 72.6), (60, 14.6, 122.0)],
)
def test_the_counterexample_has_the_printed_numbers(count, epsilon, loss):
    points = simplex(count)
    d = np.linalg.norm(points[:, None] - points, axis=2).round(12)  # ties are ties
    w, other, y = 0, count, count + 1
    assert d[w, other] == 1
    given_epsilon = 1.1 * (5 + 2 * math.log(count + 2))
    assert round(given_epsilon, 1) == epsilon
    scale = gumbel_scale(given_epsilon, count + 2, 1.0, d.max())
    law = np.empty_like(d)
    for row, gaps in zip(law, d, strict=True):
        order = np.argsort(gaps, kind="stable")
        row[order] = log_law(gaps[order], d.max(), scale)
    assert round(float(law[other, y] - law[w, y]), 1) == loss
    assert table_violation(law, d, given_epsilon) > loss - epsilon - 0.1


@pytest.mark.parametrize("factor", [1.01, 2.0, 100.0])
def test_the_counterexample_breaks_the_mechanism_and_not_the_sound_one(factor):
    space = make_space(simplex(20))
    smallest = mg.mechanism("truncated_gumbel", epsilon=1.0).smallest_epsilon(space)
    state = state_of("truncated_gumbel", space, factor * smallest)
    # As said, but the centroid is an input too: the smallest distance is 0.71, and
    # epsilon starts at 15.8.
    law, d = table(state), distances(space)
    assert 29 < worst_loss(law[0], law[20]) < 31
    if factor < 1.5:
        assert table_violation(law, d, factor * smallest) > 10
    sound = state_of("exponential", space, smallest)
    assert table_violation(table(sound), d, smallest) <= 0


# santext_plus


def santext_plus_law(space, epsilon, frequent, p):
    """P(y | w) in real numbers."""
    scores = np.exp(-epsilon / 2 * distances(space)[:, :-1])
    scores[:, :frequent] = 0
    law = scores / scores.sum(axis=1, keepdims=True)
    law[:frequent] *= p
    law[np.arange(frequent), np.arange(frequent)] += 1 - p
    return law


@pytest.mark.parametrize("epsilon", [0.1, 2.0, 8.0])
@pytest.mark.parametrize(("share", "frequent"), [(0.5, 20), (0.26, 29), (1.0, 0)])
@pytest.mark.parametrize("p", [0.2, 1.0])
def test_santext_plus_is_the_published_law(epsilon, share, frequent, p):
    state = state_of("santext_plus", cloud(), epsilon, sensitive=share, p=p)
    real = santext_plus_law(state.space, epsilon, frequent, p)
    np.testing.assert_allclose(np.exp(table(state)), real, rtol=1e-4, atol=1e-9)
    assert sampler_p_value(state, np.exp(table(state)), [0, 25, 40], 50_000) > ALPHA


def umldp_violation(state, epsilon, p):
    """By how much the restricted promise is broken; every pair and rare output."""
    law, space, frequent = table(state), state.space, state.frequent
    rare = law[:, frequent:]
    assert np.isfinite(rare).all()
    is_rare = np.arange(space.vocab_size + 1) >= frequent
    d = np.minimum(distances(space), state.law.cutoff)
    allowed = epsilon * d + math.log(1 / p) * (is_rare[:, None] & ~is_rare)
    loss = (rare[:, None] - rare[None]).max(axis=2)  # of w against w', one-sided
    return float((loss - allowed * (1 + 1e-12)).max()) - 1e-12


@pytest.mark.slow("all pairs")
@few
@given(
    space=spaces(max_words=20),
    epsilon=epsilons(),
    share=st.floats(0.01, 1),
    p=st.floats(1e-6, 1),
)
def test_what_santext_plus_promises_for_rare_outputs_holds(space, epsilon, share, p):
    try:
        state = state_of("santext_plus", space, epsilon, sensitive=share, p=p)
    except SpaceError:
        assume(False)
    assert umldp_violation(state, epsilon, p) <= 0
    # The rows are integers, complete, and nothing that should be possible is not.
    for row in state.rows(all_inputs(space).tolist()):
        weights = np.diff(row.cumulative, prepend=0)
        assert weights.min() >= 1
        assert row.cumulative[-1] == TOTAL
        assert 0 <= row.stay < TOTAL


def test_the_promise_of_santext_plus_has_no_room_for_less_noise():
    state = state_of("santext_plus", cloud(), 4.0, p=0.2)
    assert umldp_violation(state, 4.0, 0.2) <= 0
    assert umldp_violation(state, 2.0, 0.2) > 0
    assert umldp_violation(state, 4.0, 0.5) > 0


def test_santext_plus_loses_infinitely_much_on_frequent_outputs():
    state = state_of("santext_plus", cloud(), 2.0)
    assert table_violation(table(state), distances(state.space), 2.0) == math.inf
    law = np.exp(table(state))
    frequent = law[:, :20]
    assert ((frequent > 0) == np.eye(41, 20, dtype=bool)).all()
    np.testing.assert_allclose(np.diag(frequent), 0.8, rtol=1e-9)
    # without frequent words it is the sound mechanism, and passes
    whole = state_of("santext_plus", cloud(), 2.0, sensitive=1.0)
    assert table_violation(table(whole), distances(whole.space), 2.0) <= 0


# custext


def clusters_by_the_book(space, k):
    """Scan the words; take the nearest that are left."""
    d, left, found = distances(space), list(range(space.vocab_size)), []
    while left:
        near = sorted(left, key=lambda word: d[left[0], word])[:k]
        found.append(sorted(near))
        left = [word for word in left if word not in near]
    return found


@pytest.mark.parametrize(("count", "k"), [(1, 2), (7, 20), (40, 6), (300, 20), (90, 2)])
def test_clusters_are_those_of_the_paper(count, k):
    space = cloud(count)
    found = [members.tolist() for members in build_clusters(space, k)]
    assert found == clusters_by_the_book(space, k)
    assert sorted(itertools.chain(*found)) == list(range(count))
    assert all(size == k for size in map(len, found[:-1]))


@few
@given(space=spaces(), k=st.integers(2, 12))
def test_clusters_part_any_vocabulary(space, k):
    found = build_clusters(space, k)
    every = np.concatenate(found).tolist()
    assert Counter(every) == Counter(range(space.vocab_size))
    assert all(len(members) == k for members in found[:-1])


def custext_law(space, epsilon, k):
    """P(y | w) in real numbers; the unknown word as its nearest word."""
    d, law = distances(space), np.zeros((space.vocab_size + 1, space.vocab_size))
    for members in clusters_by_the_book(space, k):
        inputs = list(members)
        if np.argmin(d[-1, :-1]) in members:
            inputs.append(space.vocab_size)
        for word in inputs:
            gaps = d[word, members]
            span = gaps.max() - gaps.min()
            utility = 1 - (gaps - gaps.min()) / span if span else np.ones(len(gaps))
            weights = np.exp(epsilon / 2 * (utility - 1))
            law[word, members] = weights / weights.sum()
    return law


@pytest.mark.parametrize("epsilon", [0.1, 3.0, 30.0])
@pytest.mark.parametrize("k", [2, 6, 20])
def test_custext_is_the_published_law(epsilon, k):
    state = state_of("custext", cloud(), epsilon, k=k)
    law = np.exp(table(state))
    np.testing.assert_allclose(law, custext_law(state.space, epsilon, k), rtol=1e-6)
    assert sampler_p_value(state, law, [0, 25, 40], 50_000) > ALPHA


def cluster_violation(state, epsilon):
    """By how much a pair of one cluster loses more than epsilon; every output."""
    law, cluster = table(state), state.cluster
    worst = -math.inf
    for i in range(len(law)):
        for j in np.flatnonzero(cluster == cluster[i]):
            worst = max(worst, worst_loss(law[i], law[j]))
    return worst - epsilon * (1 + 1e-12) - 1e-12


@pytest.mark.slow("all pairs")
@few
@given(space=spaces(), epsilon=epsilons(1e-9, 1e9), k=st.integers(2, 12))
def test_what_custext_promises_within_a_cluster_holds(space, epsilon, k):
    state = state_of("custext", space, epsilon, k=k)
    assert cluster_violation(state, epsilon) <= 0
    for row in state.rows(all_inputs(space).tolist()):
        assert np.diff(row.cumulative, prepend=0).min() >= 1
        assert row.cumulative[-1] == TOTAL


def test_custext_with_twice_the_epsilon_is_rejected():
    # A crowd and a pair apart: 3.42 of the 4 nats that are allowed are lost.
    space = line([i / 1e4 for i in range(18)] + [10.0, 10.001])
    state = state_of("custext", space, 4.0)
    assert cluster_violation(state, 4.0) <= 0
    assert cluster_violation(state, 3.4) > 0
    assert cluster_violation(state_of("custext", space, 8.0), 4.0) > 0


def test_custext_loses_infinitely_much_between_clusters():
    # Near pairs too: words 2 and 3 are 0.1 apart, and no output is common to them.
    space = line([0.0, 10.0, 4.9, 5.0, 0.5, 9.0])
    state = state_of("custext", space, 1.0, k=3)
    assert state.cluster.tolist()[2:4] == [0, 1]
    law = table(state)
    assert table_violation(law, distances(space), 1.0) == math.inf
    assert worst_loss(law[2], law[3]) == math.inf
    assert not (np.isfinite(law[2]) & np.isfinite(law[3])).any()


@pytest.mark.parametrize("k", [1, 0, 2.5, 10_001, True, "20", None])
def test_custext_refuses_clusters_of_no_size(k):
    with pytest.raises(InvalidParameterError, match="k must be a whole number"):
        mg.mechanism("custext", epsilon=1.0, k=k)


# What all of them say, and where they may run


def wide_line():
    return line([0.0, 4.0, 5.0, 9.0, 20.0])


@pytest.mark.parametrize("name", UNPROVED)
def test_the_guarantee_says_that_nothing_is_proved(name):
    guarantee = state_of(name, wide_line(), 99.0).guarantee
    assert guarantee.is_void
    assert guarantee.disclosed
    assert guarantee.certified is None
    text = str(guarantee)
    assert text.startswith("NOT PRIVATE")
    assert "not proved: " in text
    assert "; use " in guarantee.certified_how


def test_those_with_a_restricted_guarantee_state_it():
    said = {
        name: str(state_of(name, wide_line(), 99.0).guarantee)
        for name in ("santext_plus", "custext")
    }
    assert "epsilon * d + ln(1/0.2)" in said["santext_plus"]
    assert "each of the 2 most frequent words, with chance 0.8" in said["santext_plus"]
    assert "which of the 1 clusters of at most 20 words" in said["custext"]
    assert "one cluster lose at most 99 nats" in said["custext"]


@pytest.mark.parametrize("name", UNPROVED)
def test_a_privatizer_refuses_it_unless_it_is_allowed(name):
    mechanism, space = mg.mechanism(name, epsilon=99.0), wide_line()
    with pytest.raises(UnprovedGuaranteeError, match="allow_unproved"):
        mg.Privatizer(mechanism, space)
    privatizer = mg.Privatizer(mechanism, space, allow_unproved=True)
    release = privatizer("w0 w1 Oslo w2.")
    assert len(release.spans) == 4
    assert release.guarantee.is_void


@pytest.mark.parametrize("name", UNPROVED)
def test_the_command_line_refuses_it_unless_it_is_allowed(name, tmp_path):
    path, out = tmp_path / "s.safetensors", tmp_path / "out.txt"
    save_space(wide_line(), path)
    report = tmp_path / "report.json"
    command = ["privatize", "-", "-o", str(out), "-m", name, "-e", "99"]
    command += ["--space", str(path), "--report", str(report)]
    refused = CliRunner().invoke(cli, command, input="w1 w2 Oslo\n")
    assert refused.exit_code == 4, refused.output
    assert "allow_unproved" in refused.stderr
    assert not out.exists()
    done = CliRunner().invoke(cli, [*command, "--allow-unproved"], input="w1 w2 Oslo\n")
    assert done.exit_code == 0, done.output
    assert done.stderr.startswith("NOT PRIVATE")
    assert set(out.read_text().split()) <= set(wide_line().words)
    stamped = json.loads(report.read_text())["guarantee"]
    assert stamped["protection"] == "none"
    assert stamped["certified_how"].startswith("not proved: ")
