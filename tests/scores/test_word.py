"""What one setting means for a word: exact numbers, runs, odds, documents."""

import json
import math

import numpy as np
import pytest

import mondegreen as mg
from mondegreen.errors import InvalidParameterError
from mondegreen.scores.interval import Interval
from mondegreen.scores.word import score_word
from mondegreen.space.binarize import with_codes

WORDS = ["a", "b", "c", "d"]


@pytest.fixture(scope="module")
def space():
    return mg.Space.from_arrays("line", WORDS, [[0.0], [1.0], [3.0], [8.0]])


def scored(space, name="exponential", epsilon=2.0, word=0, seed=0, **options):
    state = mg.mechanism(name, epsilon=epsilon).prepare(space)
    return state, score_word(state, word, np.random.default_rng(seed), **options)


def test_exact_numbers_are_those_of_the_law(space):
    state, found = scored(space, top=3)
    law = np.exp(state.log_prob(np.array([0], dtype=np.int32)))[0]
    weights = np.exp(-state.law.rate * np.array([0.0, 1.0, 3.0, 8.0]))
    assert law == pytest.approx(weights / weights.sum(), rel=1e-3)
    assert found.stay == pytest.approx(law[0])
    assert found.distance == pytest.approx(law @ [0, 1, 3, 8])
    assert found.rank == pytest.approx(law @ [0, 1, 2, 3])
    assert [output.word for output in found.outputs] == ["a", "b", "c"]
    assert found.outputs[1].probability == pytest.approx(law[1])
    assert found.runs is None


def test_odds_are_promised_and_realised(space):
    state, found = scored(space)
    near, far = found.odds
    assert (near.other, near.distance) == ("b", 1.0)
    assert (far.other, far.distance) == ("d", 8.0)
    assert near.promised == 2.0
    logs = state.log_prob(np.array([0, 3], dtype=np.int32))
    assert far.realised == pytest.approx(np.abs(logs[0] - logs[1]).max())
    assert far.realised <= far.promised


@pytest.mark.parametrize("name", ["exponential", "tem", "calibrated", "syntf"])
@pytest.mark.parametrize("word", range(5))
def test_what_a_law_does_is_within_what_is_promised(space, name, word):
    for odds in scored(space, name, 3.0, word)[1].odds:
        assert odds.realised <= odds.promised * (1 + 1e-9)


def test_the_unknown_word_has_no_chance_to_stay(space):
    _, found = scored(space, word=4)
    assert not found.is_known
    assert found.stay == 0.0
    assert found.odds[0].other == "b"  # it lies at the very point of c, 2 from b


def test_a_document_adds_up(space):
    state, found = scored(space, document=7)
    scale, bound = state.guarantee.scale, state.guarantee.certified
    assert bound < 2
    assert found.document.nearest == pytest.approx(7 * bound * scale["nearest"])
    assert found.document.any == state.guarantee.text_loss(7)
    assert found.document.any_delta == state.guarantee.text_loss(7, 1e-6)


def test_noise_is_estimated_with_intervals(space):
    _, found = scored(space, "laplace", runs=20_000)
    flip = math.exp(-1.0) / 2  # to the right of 0.5
    assert isinstance(found.stay, Interval)
    assert found.stay.low <= 1 - flip <= found.stay.high
    assert found.outputs[0].word == "a"
    assert found.odds[0].realised is None
    assert found.distinct in (3, 4)  # d comes once in 120,000 runs


def test_outputs_are_measured_on_other_runs_than_those_that_found_them():
    """Among many equal outputs the luckiest of the runs are not overstated."""
    angles = np.linspace(0, 2 * np.pi, 41)[:-1]
    ring = mg.Space.from_arrays(
        "ring", [f"w{i}" for i in range(40)], np.c_[np.cos(angles), np.sin(angles)]
    )
    shares = [
        output.probability.estimate
        for seed in range(60)
        for output in scored(ring, "laplace", 1e-3, 40, seed, runs=200, top=5)[
            1
        ].outputs
    ]
    # each has probability 1/40 and is measured on 100 runs
    error = math.sqrt(1 / 40 / 100 / len(shares))
    assert abs(np.mean(shares) - 1 / 40) < 5.5 * error


def test_codes_and_restricted_promises_have_odds_too(space):
    coded = with_codes(space, bits=8, method="hyperplane")
    _, found = scored(coded, "brr", 1.0)
    assert all(odds.distance == int(odds.distance) for odds in found.odds)
    _, found = scored(space, "santext_plus", 1.0)
    assert found.document is None
    assert found.odds[0].promised is None
    assert math.isinf(found.odds[0].realised)


def test_json_has_no_infinity(space):
    _, found = scored(space, "santext_plus", 1.0)
    text = json.dumps(found.to_dict(), allow_nan=False)
    assert json.loads(text)["odds"][0]["realised"] is None


def test_one_word_alone_has_no_odds():
    alone = mg.Space.from_arrays("one", ["a"], [[1.0]])
    _, found = scored(alone, "tem")
    assert found.odds == ()
    assert found.stay == 1.0


def test_nonsense_is_refused(space):
    with pytest.raises(InvalidParameterError):
        scored(space, word=6)
    with pytest.raises(InvalidParameterError):
        scored(space, top=0)
