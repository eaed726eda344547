"""Certificates against brute force that shares no code with them.

``benchmarks/measure/brute_force.py`` computes from the formula in numpy alone.
"""

import numpy as np
import pytest

import mondegreen as mg
from benchmarks.measure import brute_force
from mondegreen.mechanisms.laws.certificate import exact_epsilons, lower_bounds
from mondegreen.mechanisms.selection.exponential import ExponentialLaw

SETTINGS = [(0.5, np.inf), (1.0, np.inf), (2.25, 7.7), (4.0, 4.3), (4.0, 6.0), (7, 3.3)]
TOLERANCE = 1e-4
"""Absolute, nats per unit: what rounding to integers may add is counted on top."""


def laws_of(space, settings):
    return [ExponentialLaw(space, rate, cutoff) for rate, cutoff in settings]


def compare(space, laws):
    vectors = space.vectors.astype(np.float64)
    numbers = [(law.rate, law.cutoff) for law in laws]
    exact = brute_force.brute_force(vectors, space.unknown, numbers)
    truth = np.array([max(each["words"], each["unknown"]) for each in exact])
    found, least = np.array(exact_epsilons(laws)), np.array(lower_bounds(laws))
    assert (truth <= found).all()
    assert (found <= truth + TOLERANCE).all()
    assert (least <= truth * (1 + 1e-12)).all()
    assert (least > 0.85 * truth).all()
    return exact


@pytest.fixture(scope="module")
def some():
    space = mg.load_space()
    return mg.Space.from_arrays("some", space.words[:1000], space.vectors[:1000])


def test_certificates_equal_brute_force_with_the_unknown_word_binding_and_not(some):
    exact = compare(some, laws_of(some, SETTINGS))
    binding = [each["unknown"] > each["words"] for each in exact]
    assert 1 <= sum(binding) < len(binding)


@pytest.mark.slow("other spaces", seconds=0.3, but="0")
@pytest.mark.parametrize("place", [0, 2, 4])
def test_certificates_equal_the_maximum_over_all_triples(some, place):
    words = mg.Space.from_arrays("few", some.words[:600], some.vectors[:600])
    (law,) = laws_of(words, SETTINGS[place : place + 1])
    everyone = words.points(np.arange(601, dtype=np.int32))
    truth, _ = brute_force.triples(everyone, everyone[:-1], law.rate, law.cutoff)
    (found,) = exact_epsilons([law])
    assert truth <= found <= truth + TOLERANCE


@pytest.mark.long
def test_certificates_of_the_embedded_space_equal_brute_force():
    space = mg.load_space()
    names = [("exponential", 2.5), ("exponential", 8.0), ("tem", 2.0), ("tem", 8.0)]
    names += [("calibrated", 1.7), ("calibrated", 3.0), ("calibrated", 8.0)]
    states = [mg.mechanism(name, epsilon=e).prepare(space) for name, e in names]
    exact = compare(space, [state.law for state in states])
    binding = [each["unknown"] > each["words"] for each in exact]
    assert 1 <= sum(binding) < len(binding)
    for state, found in zip(states, exact, strict=True):
        law, rng = state.law, np.random.default_rng(0)
        some = rng.choice(space.vocab_size, 100, replace=False)
        inputs = np.unique([*some, *found["pair"], space.vocab_size]).astype(np.int32)
        vectors = space.vectors.astype(np.float64)
        points = space.points(inputs)
        truth, _ = brute_force.triples(points, vectors, law.rate, law.cutoff)
        assert truth == pytest.approx(max(found["words"], found["unknown"]), abs=1e-9)
        assert state.guarantee.certified == pytest.approx(truth, abs=TOLERANCE)
