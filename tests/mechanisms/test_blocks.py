"""Laws by blocks of words: the same integers as whole laws, kept or shared."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import mondegreen as mg
from mechanisms.laws import table_violation
from mondegreen.errors import MondegreenError
from mondegreen.mechanisms.laws import cache
from mondegreen.mechanisms.laws.cache import SharedLaws
from mondegreen.mechanisms.laws.integer import BlockLaws
from mondegreen.mechanisms.laws.rows import Row
from mondegreen.sampling.integers import TOTAL, draw_uniform
from mondegreen.space.space import Space

COUNT = 4200


@pytest.fixture(scope="module", params=[np.float16, np.float32])
def space(request):
    vectors = np.random.default_rng(3).normal(size=(COUNT, 12)).astype(request.param)
    vectors[17] = vectors[4000]  # two words at one point
    return Space.from_arrays("dense", [f"w{i}" for i in range(COUNT)], vectors)


def law_of(name, space, epsilon):
    """Return a fresh state, which keeps nothing yet."""
    return mg.mechanism(name, epsilon=epsilon).prepare(space)


@pytest.fixture(scope="module")
def state(space):
    return law_of("exponential", space, 1.0)


POINTS = [0, 5, 17, 2100, 4199, COUNT]


def test_most_words_listed_means_blocks(space, state):
    assert state.law.blocks is not None
    assert state.law.blocks.is_reproducible
    assert mg.mechanism("tem", epsilon=40.0).prepare(space).law.blocks is None


def test_laws_that_list_many_words_are_not_made_twice(space, monkeypatch):
    state = law_of("tem", space, 6.5)  # a cutoff below the mean distance
    assert state.law.cutoff < space.geometry.mean
    assert state.law.blocks is not None
    ids = np.arange(40, dtype=np.int32)
    state.sample(ids, np.random.default_rng(0))
    made = []
    monkeypatch.setattr(type(state.law), "rows", lambda law, points: made + points)
    state.sample(ids, np.random.default_rng(1))  # would fail on a point to make
    assert law_of("tem", space, 6.5).law.rows([3]) == [3]  # as it is patched


def test_the_integers_are_those_of_the_law(space, state):
    law = state.law
    points = np.array(POINTS, dtype=np.int32)
    gaps = distances_from(space, points)
    real = np.exp(-law.rate * np.minimum(gaps, law.cutoff))
    real /= real.sum(axis=1, keepdims=True)
    for row, expected in zip(law.rows(POINTS), real, strict=True):
        weights = row[1].weights()
        assert int(weights.sum()) == TOTAL
        assert (weights >= 1 << 13).all()
        np.testing.assert_allclose(weights / TOTAL, expected, rtol=law.kappa)


def distances_from(space, points):
    inputs = np.concatenate([space.vectors.astype(float), space.unknown[None]])
    gaps = inputs[points][:, None] - space.vectors.astype(float)[None]
    return np.sqrt((gaps**2).sum(axis=2))


@pytest.mark.slow("another type", but="float32")
def test_the_bound_holds_and_a_weaker_claim_is_broken(space, state):
    near = np.argsort(distances_from(space, np.array([5]))[0])[:40].astype(np.int32)
    inputs = np.append(near, COUNT).astype(np.int32)
    table = state.log_prob(inputs)
    points = np.concatenate([space.vectors.astype(float), space.unknown[None]])[inputs]
    gaps = np.linalg.norm(points[:, None] - points[None], axis=2)
    metric = np.minimum(gaps, state.guarantee.scale["diameter"])
    assert table_violation(table, metric, state.guarantee.epsilon) <= 0
    assert table_violation(table, metric, state.guarantee.epsilon / 2.1) > 0


def ends_of(row, vocab_size):
    """First and last draw of every word of a row, and the words, by its mapping."""
    above = np.diff(row.cumulative, prepend=0)
    base = TOTAL - int(row.cumulative[-1])
    stops = base + row.cumulative
    filled = np.flatnonzero(above)
    return stops[filled] - above[filled], stops[filled] - 1, filled


def test_every_end_of_an_interval_maps_to_its_word_whole_and_by_block_cdf(state):
    laws = state.law.blocks
    for point, row in laws.rows(POINTS):
        first, last, words = ends_of(row, COUNT)
        assert (row.outputs(first) == words).all()
        assert (row.outputs(last) == words).all()
        draws = np.concatenate([first, last])
        out = np.full(len(draws), -1, dtype=np.int32)
        laws.outputs([point], [row.block_cdf], [(0, len(draws))], draws, out)
        assert (out == np.concatenate([words, words])).all()
        # The uniform part: every word owns `floor` draws in a row.
        floor = (TOTAL - int(row.cumulative[-1])) // COUNT
        steps = np.arange(COUNT, dtype=np.int64) * floor
        for draws in (steps, steps + floor - 1):
            out = np.full(COUNT, -1, dtype=np.int32)
            laws.outputs([point], [row.block_cdf], [(0, COUNT)], draws, out)
            assert (out == np.arange(COUNT)).all()
            assert (row.outputs(draws) == np.arange(COUNT)).all()


@pytest.mark.slow("whole rows of a large space", seconds=2)
def test_block_cdfs_draw_what_whole_rows_draw_in_any_company(state):
    laws, rng = state.law.blocks, np.random.default_rng(0)
    points = np.unique(state.space.canonical[rng.integers(0, COUNT, 300)]).tolist()
    rows = dict(laws.rows(points))
    draws = draw_uniform(rng, 40 * len(points))
    whole = np.concatenate(
        [rows[p].outputs(draws[40 * i : 40 * i + 40]) for i, p in enumerate(points)]
    )
    for size in (1, 2, 5, 31, len(points)):
        out = np.full(len(draws), -1, dtype=np.int32)
        for start in range(0, len(points), size):
            some = points[start : start + size]
            bounds = [
                (40 * (start + i), 40 * (start + i) + 40) for i in range(len(some))
            ]
            laws.outputs(some, [rows[p].block_cdf for p in some], bounds, draws, out)
        assert (out == whole).all()


def test_a_block_cdf_of_another_law_is_refused(state):
    laws = state.law.blocks
    (_, row), (_, other) = laws.rows([3, 9])
    mixed = row.block_cdf.copy()
    mixed[0] = other.block_cdf[0]  # another scale, so other integers
    draws = draw_uniform(np.random.default_rng(0), 50)
    with pytest.raises(MondegreenError, match="two different laws"):
        laws.outputs([3], [mixed], [(0, 50)], draws, np.zeros(50, dtype=np.int32))


def test_a_batch_is_its_words_one_by_one_warm_or_cold(space):
    ids = np.random.default_rng(1).integers(0, COUNT + 1, 400).astype(np.int32)
    ids[::7] = 5  # one frequent word
    whole = law_of("exponential", space, 1.0)
    first = whole.sample(ids, np.random.default_rng(2))
    again = whole.sample(ids, np.random.default_rng(2))  # from what was kept
    assert (first == again).all()
    single, rng = law_of("exponential", space, 1.0), np.random.default_rng(2)
    parts = [single.sample(ids[i : i + 1], rng) for i in range(120)]
    assert (np.concatenate(parts) == first[:120]).all()


def test_without_reproducible_products_rows_are_made_whole(space, monkeypatch):
    plain = law_of("exponential", space, 1.0)
    ids = np.arange(0, 60, dtype=np.int32)
    expected = plain.sample(ids, np.random.default_rng(4))
    other = law_of("exponential", space, 1.0)
    other.law.blocks.__dict__["is_reproducible"] = False
    for _ in range(2):
        assert (other.sample(ids, np.random.default_rng(4)) == expected).all()
    assert not other._cache._block_cdfs


def shared_states(space, name, epsilon, count):
    states = [law_of(name, space, epsilon) for _ in range(count)]
    memory, lock = bytearray(states[0].shared_bytes), threading.Lock()
    for state in states:
        state.share(memory, lock)
    return states


@pytest.mark.slow("whole rows of a large space", seconds=0.3, but="float32-tem-12.0")
@pytest.mark.parametrize(("name", "epsilon"), [("exponential", 1.0), ("tem", 12.0)])
def test_states_that_share_draw_the_same_and_compute_each_law_once(
    space, name, epsilon, monkeypatch
):
    one, two = shared_states(space, name, epsilon, 2)
    ids = np.random.default_rng(5).integers(0, COUNT + 1, 900).astype(np.int32)
    expected = law_of(name, space, epsilon).sample(ids, np.random.default_rng(6))
    assert (one.sample(ids, np.random.default_rng(6)) == expected).all()
    asked = []
    rows = type(two.law).rows
    monkeypatch.setattr(
        type(two.law), "rows", lambda law, p: (asked.extend(p), rows(law, p))[1]
    )
    assert (two.sample(ids, np.random.default_rng(6)) == expected).all()
    shareable = [
        row.pack(130) is not None for _, row in rows(one.law, np.unique(ids).tolist())
    ]
    assert len(asked) <= len(shareable) - sum(shareable) + 2


def test_a_law_claimed_by_a_process_that_fails_is_computed_here(space, monkeypatch):
    monkeypatch.setattr(cache, "_PATIENCE", 0.05)
    one, two = shared_states(space, "exponential", 1.0, 2)
    ids = np.arange(30, dtype=np.int32)
    claimed = one._cache._shared.claim(space.canonical[ids].astype(np.int64), 10)
    assert len(claimed) == 10
    expected = law_of("exponential", space, 1.0).sample(ids, np.random.default_rng(6))
    assert (two.sample(ids, np.random.default_rng(6)) == expected).all()


def test_no_law_is_claimed_twice_and_a_full_table_shares_no_more():
    numbers, inputs = 4, 9
    memory = bytearray(8 * (1 + inputs + 2 * numbers))  # room for two
    shared = SharedLaws(memory, threading.Lock(), inputs, numbers)
    points = np.arange(9)
    assert shared.claim(points, 4).tolist() == [0, 1, 2, 3]
    assert shared.claim(points, 9).tolist() == [4, 5, 6, 7, 8]
    for point in range(3):
        assert shared.is_coming(point)
        shared.publish(point, np.full(numbers, point + 10))
        assert not shared.is_coming(point)
    assert [shared.find(p) is not None for p in range(3)] == [True, True, False]
    assert shared.find(1).tolist() == [11] * 4


def test_a_packed_law_is_the_same_law(space):
    state = law_of("tem", space, 12.0)
    found = 0
    for _, row in state.law.rows(list(range(50))):
        numbers = row.pack(130)
        if numbers is None:
            assert len(row.words) > 64
            continue
        found += 1
        again = Row.unpack(numbers, COUNT)
        assert (again.weights() == row.weights()).all()
    assert found


@pytest.mark.slow("whole rows of a large space")
def test_tight_by_blocks_is_tight_in_whole_rows(space):
    state = mg.mechanism("tight", epsilon=12.0).prepare(space)
    law = state.law
    laws = BlockLaws(law, law.scan)
    assert laws.is_reproducible
    draws = draw_uniform(np.random.default_rng(0), 500)
    for (point, row), (_, whole) in zip(
        laws.rows(POINTS), law.rows(POINTS), strict=True
    ):
        weights = row.weights()
        assert int(weights.sum()) == TOTAL
        np.testing.assert_allclose(weights, whole.weights(), rtol=1e-9)
        out = np.full(500, -1, dtype=np.int32)
        laws.outputs([point], [row.block_cdf], [(0, 500)], draws, out)
        assert (out == row.outputs(draws)).all()


def test_what_is_kept_stays_within_its_bounds(space, monkeypatch):
    monkeypatch.setattr(cache, "_ROW_BYTES", 200_000)
    monkeypatch.setattr(cache, "_CDF_BYTES", 9_000)
    state = law_of("exponential", space, 1.0)
    ids = np.repeat(np.arange(100, dtype=np.int32), 40)
    expected = law_of("exponential", space, 1.0).sample(ids, np.random.default_rng(1))
    for _ in range(2):
        assert (state.sample(ids, np.random.default_rng(1)) == expected).all()
    rows, cdfs = state._cache._rows, state._cache._block_cdfs
    assert 0 < sum(row.nbytes for row in rows.values()) <= 200_000
    assert 0 < sum(cdf.nbytes for cdf in cdfs.values()) <= 9_000
