"""Certificates in the Poincaré ball, against all pairs and outputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mondegreen as mg
from mondegreen.audit.run import audit_mechanism
from mondegreen.errors import SpaceError
from mondegreen.mechanisms.laws.certificate import exact_epsilons
from mondegreen.mechanisms.selection.exponential import ExponentialLaw
from mondegreen.space import distances as engine
from mondegreen.space.distances import Distances
from mondegreen.space.metric import relative_error

WORDNET = Path(__file__).parents[2] / "../shared/data/wordnet"
VECTORS = WORDNET / "mammal_poincare_10d.npy"
NAMES = WORDNET / "mammal_poincare_10d.words.txt"


def ball(seed, size=12, dim=3, edge=0.9):
    """Points of the ball up to a norm of ``edge``, in several rings."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(size, dim))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    share = rng.uniform(0.2, 1.0, size=(size, 1))
    share[: 1 + size // 3] = 1.0  # some at the very edge
    points *= edge * share
    words = [f"w{i}" for i in range(size)]
    return mg.Space.from_arrays("ball", words, points, metric="poincare")


def hyperbolic(space):
    """Distances of all inputs in extended precision, by another formula than ours."""
    points = space.points(np.arange(space.vocab_size + 1)).astype(np.longdouble)
    room = 1 - (points**2).sum(axis=1)
    table = np.zeros((len(points), len(points)), dtype=np.longdouble)
    for i, point in enumerate(points):
        gap = ((points - point) ** 2).sum(axis=1)
        root = np.sqrt(room[i] * room)
        whole = np.sqrt(gap + room[i] * room)
        # 2 artanh(sqrt(gap) / whole) = 2 ln((sqrt(gap) + whole) / root)
        table[i] = 2 * np.log1p((np.sqrt(gap) + gap / (whole + root)) / root)
    return table


def true_epsilon(state, rows=None):
    """The largest log-ratio per unit of min(d, cutoff), over all outputs."""
    space = state.space
    everyone = np.arange(space.vocab_size + 1, dtype=np.int32)
    log_law = state.log_prob(everyone)
    metric = np.minimum(hyperbolic(space), state.law.cutoff)
    worst = 0.0
    for i in everyone if rows is None else rows:
        loss = np.abs(log_law - log_law[i]).max(axis=1)
        apart = metric[i] > 0
        assert (loss[~apart] == 0).all()
        worst = max(worst, float((loss[apart] / metric[i][apart]).max(initial=0.0)))
    return worst


mechanisms = st.one_of(
    st.builds(lambda e: mg.mechanism("exponential", epsilon=e), st.floats(0.05, 20)),
    st.builds(
        lambda e, g: mg.mechanism("tem", epsilon=e, gamma=g),
        st.floats(0.05, 20),
        st.floats(0.3, 6),
    ),
    st.builds(
        lambda e, b: mg.mechanism("calibrated", epsilon=e, beta=b),
        st.floats(0.05, 20),
        st.sampled_from([None, 0.1]),
    ),
)


@pytest.mark.slow("many spaces")
@settings(max_examples=80, deadline=None)
@given(
    mechanism=mechanisms,
    seed=st.integers(0, 10**6),
    size=st.integers(1, 12),
    dim=st.integers(1, 4),
    edge=st.sampled_from([0.3, 0.9, 0.999, 1 - 1e-6]),
)
def test_a_certificate_in_the_ball_is_never_below_the_truth(
    mechanism, seed, size, dim, edge
):
    try:
        state = mechanism.prepare(ball(seed, size, dim, edge))
    except SpaceError as error:
        assert "rounding could add" in str(error)  # noqa: PT017  it may refuse
        return
    found = state.guarantee.certified
    assert "hyperbolic" in state.guarantee.metric
    assert true_epsilon(state) <= found <= mechanism.epsilon


def test_a_certificate_in_the_ball_is_close_to_the_truth():
    state = mg.mechanism("exponential", epsilon=1.0).prepare(ball(3, 60, 3, 0.99))
    words = range(60)  # for the unknown word it is a bound
    assert true_epsilon(state, words) >= 0.95 * state.guarantee.certified


def test_twice_the_rate_in_the_ball_is_certified_as_such():
    space = ball(5, 30)
    true = mg.mechanism("exponential", epsilon=2.0).prepare(space).law
    twin = ExponentialLaw(space, 2 * true.rate, np.inf)
    assert exact_epsilons([twin])[0] > 1.5 * exact_epsilons([true])[0]


def test_errors_of_distances_near_the_edge_are_charged(monkeypatch):
    space = ball(7, 20, 3, 1 - 1e-6)
    eta = relative_error("poincare", space.vectors, space.unknown)
    tiles = Distances(space)
    assert tiles.relative_error == eta > 1e-11
    assert tiles.error(2.0) == 2.0 * eta
    law = ExponentialLaw(space, 0.5, np.inf)
    honest = exact_epsilons([law])[0]
    monkeypatch.setattr(engine, "relative_error", lambda *given: 1e-3)
    charged = exact_epsilons([law])[0]
    # 2 c e over the distance of the worst pair, which the diameter bounds.
    assert charged - honest > 2 * 0.5 * 1e-3 * law.cutoff / space.geometry.diameter


def test_distances_of_tiles_are_off_by_no_more_than_is_charged():
    for space in (
        ball(1, 40, 5, 1 - 1e-6),
        mg.Space.from_arrays(
            "far",
            [f"w{i}" for i in range(40)],
            1e3 + np.random.default_rng(0).normal(size=(40, 5)),
        ),
    ):
        tiles = Distances(space)
        points = space.points(np.arange(41)).astype(np.longdouble)
        truth = hyperbolic(space)
        if space.metric == "euclidean":
            gaps = points[:, None] - points[None]
            truth = np.sqrt((gaps**2).sum(axis=2))
        seen = []
        tiles.each(lambda i, j, table, seen=seen: seen.append(table.copy()))
        (table,) = seen
        error = np.abs(table - truth)
        assert (error <= tiles.relative_error * truth + 1e-18).all()
        assert error.max() <= tiles.error(np.inf)
        assert tiles.relative_error < 1e-6


def test_an_audit_of_the_ball_agrees():
    report = audit_mechanism(
        mg.mechanism("calibrated", epsilon=1.5), ball(9, 40), seed=0
    )
    assert report.verdict == "holds"
    assert report.found <= 1.5


needs_mammals = pytest.mark.skipif(
    not VECTORS.exists(), reason="the WordNet mammals of shared/data are not here"
)


@pytest.fixture(scope="module")
def mammals():
    words = NAMES.read_text("utf-8").split()
    return mg.Space.from_arrays("mammals", words, np.load(VECTORS), metric="poincare")


@needs_mammals
@pytest.mark.parametrize(
    ("name", "epsilon"), [("exponential", 1.0), ("tem", 5.0), ("calibrated", 1.0)]
)
@pytest.mark.slow("all pairs of a whole space")
def test_certificates_of_the_mammals_hold_over_all_pairs(mammals, name, epsilon):
    state = mg.mechanism(name, epsilon=epsilon).prepare(mammals)
    rows = range(0, 1183, 7)  # against all others, and all outputs
    found = state.guarantee.certified
    assert true_epsilon(state, rows) <= found <= epsilon


@pytest.mark.slow("all mammals")
@needs_mammals
def test_the_numbers_of_the_proofs_are_those_of_the_mammals(mammals):
    textbook = mg.mechanism("exponential", epsilon=1.0).prepare(mammals)
    best = mg.mechanism("calibrated", epsilon=1.0).prepare(mammals)
    assert round(textbook.guarantee.certified, 3) == 0.923
    assert round(best.law.rate / textbook.law.rate, 2) == 1.11
    noise = mg.mechanism("hyperbolic", epsilon=9.01).prepare(mammals)
    ids = np.repeat(np.arange(mammals.vocab_size, dtype=np.int32), 20)
    stay = np.mean(noise.sample(ids, np.random.default_rng(5)) == ids)
    assert stay == pytest.approx(0.988, abs=0.003)


@needs_mammals
@pytest.mark.long
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("name", ["exponential", "tem", "calibrated"])
def test_certificates_of_the_mammals_hold_over_every_pair(mammals, name, epsilon):
    state = mg.mechanism(name, epsilon=epsilon).prepare(mammals)
    found = state.guarantee.certified
    truth = true_epsilon(state)
    assert truth <= found <= epsilon
    assert truth >= 0.9 * found


@needs_mammals
@pytest.mark.long
def test_tight_holds_for_the_mammals(mammals):
    state = mg.mechanism("tight", epsilon=2.0).prepare(mammals)
    assert true_epsilon(state) <= 2.0
