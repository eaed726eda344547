"""The tight-constraints mechanism: exact on small spaces, refused where it must be."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mondegreen as mg
from mondegreen.errors import ConfigurationError, SpaceError
from mondegreen.mechanisms.selection.tight import solve_tight


def make_space(seed, size, dim, scale=1.0, duplicates=False):
    points = scale * np.random.default_rng(seed).normal(size=(size, dim))
    if duplicates and size > 2:
        points[1] = points[0]
    words = [f"w{i}" for i in range(size)]
    return mg.Space.from_arrays("s", words, points.astype(np.float32))


def excess_loss(state, claimed):
    """The largest log-ratio above what is claimed, in nats, over everything."""
    space = state.space
    ids = np.arange(space.vocab_size + 1, dtype=np.int32)
    log_law, points = state.log_prob(ids), space.points(ids)
    gaps = np.linalg.norm(points[:, None] - points[None], axis=2)
    loss = np.abs(log_law[:, None] - log_law[None]).max(axis=2)
    return float((loss - claimed * np.minimum(gaps, state.law.cutoff)).max())


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    size=st.integers(1, 16),
    dim=st.integers(1, 5),
    scale=st.floats(0.3, 4),
    epsilon=st.floats(0.3, 20),
    duplicates=st.booleans(),
)
@pytest.mark.slow("all pairs and outputs, in exact arithmetic")
def test_the_bound_holds_wherever_there_is_a_solution(
    seed, size, dim, scale, epsilon, duplicates
):
    space = make_space(seed, size, dim, scale, duplicates)
    try:
        state = mg.mechanism("tight", epsilon=epsilon).prepare(space)
    except ConfigurationError as error:
        assert "calibrated" in str(error)  # noqa: PT017  it may refuse, and says why
        return
    except SpaceError as error:  # words so near that rounding would cost too much
        assert "rounding" in str(error)  # noqa: PT017
        return
    assert excess_loss(state, epsilon) <= 1e-12


@pytest.mark.slow("other weights", seconds=0.3, but="1e-10")
@pytest.mark.parametrize("above", [0.0, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-7, 1e-3])
def test_the_bound_holds_where_the_weight_of_a_word_is_all_but_0(above):
    # A word in the middle of six: from some epsilon down its weight would be negative.
    ends = [sign * row for row in np.eye(3) for sign in (1, -1)]
    points = np.array([[0, 0, 0], *ends], dtype=np.float32)
    space = mg.Space.from_arrays("star", [f"w{i}" for i in range(7)], points)
    low, high = 1.0, 2.0
    for _ in range(60):
        middle = (low + high) / 2
        try:
            solve_tight(space, middle, space.geometry.diameter)
            high = middle
        except ConfigurationError:
            low = middle
    epsilon = high * (1 + above)
    try:
        state = mg.mechanism("tight", epsilon=epsilon).prepare(space)
    except ConfigurationError:
        assert above < 1e-8  # it may refuse where rounding would cost too much
        return
    assert state.law.mu.min() < 1e-3
    assert excess_loss(state, epsilon) <= 1e-12


def test_the_bound_is_reached_so_half_of_it_is_rejected():
    state = mg.mechanism("tight", epsilon=4.0).prepare(make_space(0, 20, 4, 2.0))
    assert excess_loss(state, 4.0) <= 1e-12
    assert excess_loss(state, 2.0) > 1.0  # the weakened twin, by the same checker
    assert excess_loss(state, 3.99) > 0


def test_the_solution_makes_every_sum_one():
    space = make_space(1, 50, 6, 2.0)
    mu = solve_tight(space, 3.0, 5.0)
    points = space.points(np.arange(51, dtype=np.int32))
    gaps = np.linalg.norm(points[:, None] - points[None], axis=2)
    sums = np.exp(-3.0 * np.minimum(gaps, 5.0)) @ mu
    assert np.abs(sums - 1).max() < 1e-11


def test_two_words_and_the_unknown_one_get_the_whole_of_epsilon():
    # Three points in a row: the middle one is the unknown word, printed as "a".
    space = mg.Space.from_arrays("ab", ["a", "b"], [[0.0], [2.0]])
    state = mg.mechanism("tight", epsilon=2.0).prepare(space)
    end = 1 / (1 + np.exp(-2.0))
    middle = (1 - np.exp(-2.0)) / (1 + np.exp(-2.0))
    law = np.exp(state.log_prob(np.array([0, 1], dtype=np.int32)))
    kept = end + middle * np.exp(-2.0)
    assert law[0] == pytest.approx([kept, 1 - kept], rel=1e-6)
    assert law[1, 1] == pytest.approx(end, rel=1e-6)


def test_a_dense_space_is_refused_with_an_epsilon_that_works():
    space = make_space(3, 60, 2, 0.3)
    with pytest.raises(
        ConfigurationError, match="certainly works from epsilon"
    ) as info:
        mg.mechanism("tight", epsilon=0.5).prepare(space)
    (works,) = re.findall(r"works from epsilon ([\d.]+\d)", str(info.value))
    assert (
        mg.mechanism("tight", epsilon=float(works) * 1.01).prepare(space).law.mu.min()
        > 0
    )


def test_sampler_and_table_agree():
    space = make_space(5, 8, 2, 1.5)
    state = mg.mechanism("tight", epsilon=2.5).prepare(space)
    stats = pytest.importorskip("scipy.stats")
    for word in (0, 8):
        ids = np.full(200_000, word, dtype=np.int32)
        counts = np.bincount(state.sample(ids, np.random.default_rng(7)), minlength=8)
        expected = np.exp(state.log_prob(ids[:1]))[0] * len(ids)
        assert stats.chisquare(counts, expected, sum_check=False).pvalue > 1e-6


def test_every_draw_of_a_row_is_the_word_its_integers_say():
    state = mg.mechanism("tight", epsilon=2.0).prepare(make_space(6, 6, 2))
    ((_, row),) = state.law.rows([2])
    weights = row.weights()
    assert int(weights.sum()) == 1 << 62
    ends = [0, *np.cumsum(row.floors.weights()).tolist()]
    for word, (start, stop) in enumerate(itertools.pairwise(ends)):
        drawn = row.outputs(np.array([start, stop - 1]))
        assert drawn.tolist() == [word, word]
