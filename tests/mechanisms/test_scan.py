"""Distances of a large space are the same numbers, whatever product they come from."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import mondegreen as mg
from mondegreen.mechanisms.laws import scan as module
from mondegreen.mechanisms.laws.scan import EuclideanScan
from mondegreen.space.space import Space

COUNT, DIM = 4300, 37


def make_space(dtype, size=1.0, closest=None):
    rng = np.random.default_rng(5)
    vectors = (size * rng.normal(size=(COUNT, DIM))).astype(dtype)
    if closest is not None:
        vectors[1] = vectors[0]
        vectors[1, 0] += closest
    return Space.from_arrays("scanned", [f"w{i}" for i in range(COUNT)], vectors)


@pytest.fixture(
    scope="module",
    params=[
        (np.float16, 0.3),
        (np.float32, 1.0),
        (np.float32, 1e-6),
        (np.float32, 1e6),
    ],
    ids=str,
)
def space(request):
    return make_space(*request.param)


BLOCK = np.array([0, 3, 999, 1000, 4299, COUNT], dtype=np.int32)


def whole(scan, block):
    out = np.empty((len(block), COUNT))
    scan.compute_squared(block, scan.queries(block), slice(0, COUNT), out)
    return out


def shuffled(scan, block, rng):
    """The same sums in another order."""
    order = rng.permutation(DIM + 2)
    wide = scan._words.astype(np.float64)
    wide[:, -2] = scan._norms
    left, right = scan.queries(block)[:, order], wide[:, order]
    return np.add.reduce(left[:, None, :] * right[None, :, :], axis=2)


def test_squares_are_those_of_exact_arithmetic(space):
    scan = EuclideanScan(space)
    assert scan.is_exact
    squares = whole(scan, BLOCK)
    points = scan.inputs(BLOCK)
    words = scan.inputs(np.arange(COUNT, dtype=np.int32))
    for row, point in zip(squares, points, strict=True):
        for word in (0, 1, 3, 1000, 2001, 4299):
            gaps = zip(point.tolist(), words[word].tolist(), strict=True)
            exact = sum((Fraction(a) - Fraction(b)) ** 2 for a, b in gaps)
            assert Fraction(float(row[word])) == exact


def test_squares_do_not_depend_on_shape_or_order(space):
    scan, rng = EuclideanScan(space), np.random.default_rng(0)
    squares = whole(scan, BLOCK)
    assert (shuffled(scan, BLOCK, rng) == squares).all()
    for rows in (1, 2, 5):
        for start, stop in ((0, 1), (7, 264), (256, 512), (4096, COUNT)):
            block = BLOCK[:rows]
            out = np.empty((rows, stop - start))
            scan.compute_squared(block, scan.queries(block), slice(start, stop), out)
            assert (out == squares[:rows, start:stop]).all()


def test_without_rounding_they_would(monkeypatch):
    monkeypatch.setattr(module, "_grid", lambda space: 0.0)
    scan = EuclideanScan(make_space(np.float32))
    assert not scan.is_exact
    other = shuffled(scan, BLOCK, np.random.default_rng(0))
    assert (other != whole(scan, BLOCK)).any()


@pytest.mark.slow("distances in exact arithmetic")
def test_the_error_that_is_charged_covers_rounding(space):
    scan = EuclideanScan(space)
    everyone = np.arange(COUNT + 1, dtype=np.int32)
    true, words = space.points(everyone), space.vectors.astype(np.float64)
    squares = whole(scan, everyone)
    worst = 0.0
    for point, row in zip(true, squares, strict=True):
        gaps = np.sqrt(((words - point) ** 2).sum(axis=1))
        worst = max(worst, float(np.abs(gaps - np.sqrt(np.maximum(row, 0))).max()))
    allowed = scan.error(space.geometry.closest, space.geometry.diameter)
    assert worst <= allowed
    assert allowed <= 1e-3 * space.geometry.closest


def test_near_words_have_the_same_distances(space):
    scan = EuclideanScan(space)
    squares = whole(scan, BLOCK)
    cutoff = float(np.sqrt(np.median(squares)))
    for share in (0.6, 1.0):
        near = scan.near(BLOCK, share * cutoff)
        for row, (ids, gaps) in zip(squares, near, strict=True):
            assert (ids == np.flatnonzero(row < (share * cutoff) ** 2)).all()
            assert (gaps == np.sqrt(row[ids])).all()


def test_inputs_too_close_to_be_rounded_are_left_as_they_are():
    space = make_space(np.float32, closest=1e-3)
    assert not EuclideanScan(space).is_exact
    state = mg.mechanism("exponential", epsilon=1.0).prepare(space)
    assert state.law.blocks is not None
    assert not state.law.blocks.is_reproducible
    out = state.sample(np.arange(300, dtype=np.int32), np.random.default_rng(0))
    assert ((out >= 0) & (out < COUNT)).all()


def test_words_at_one_point_stay_there():
    scan = EuclideanScan(make_space(np.float32, closest=0.0))
    assert scan.is_exact
    assert (whole(scan, np.array([0], dtype=np.int32))[0, :2] == 0).all()


def test_small_spaces_are_left_as_they_are():
    vectors = np.random.default_rng(0).normal(size=(20, 3))
    space = Space.from_arrays("small", [f"w{i}" for i in range(20)], vectors)
    assert not EuclideanScan(space).is_exact
