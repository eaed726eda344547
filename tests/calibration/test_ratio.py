"""The privacy ratio of the BRR paper, and what it does not say."""

from __future__ import annotations

import numpy as np
import pytest
from mondegreen.calibration.ratio import PrivacyRatio

from mondegreen.errors import InvalidParameterError
from mondegreen.space.binarize import with_codes
from mondegreen.space.geometry import Geometry
from mondegreen.space.space import Space


def cloud(count=60, dim=6):
    vectors = np.random.default_rng(1).normal(size=(count, dim))
    return Space.from_arrays("c", [f"w{i}" for i in range(count)], vectors)


def pairwise(space):
    x = space.vectors.astype(float)
    euclidean = np.sqrt(((x[:, None] - x[None]) ** 2).sum(2))
    table = np.unpackbits(space.codes.table, axis=1).astype(int)
    return euclidean, np.abs(table[:, None] - table[None]).sum(2)


def test_the_mean_ratio_is_that_of_the_paper_with_the_zero_diagonal():
    space = with_codes(cloud(), bits=64)
    ratio = PrivacyRatio.between(space.geometry, space.codes.geometry)
    euclidean, hamming = pairwise(space)
    assert ratio.of_mean == pytest.approx(euclidean.mean() / hamming.mean(), rel=1e-5)


def test_the_maximal_ratio_makes_the_upper_bounds_equal():
    space = with_codes(cloud(), bits=64)
    ratio = PrivacyRatio.between(space.geometry, space.codes.geometry)
    epsilon = ratio.epsilon(10.0, of="max")
    bound = epsilon * space.codes.geometry.diameter
    assert bound == pytest.approx(10.0 * space.geometry.diameter)


def test_either_ratio_can_be_the_larger_one():
    # so the mean is no "conservative choice" in general
    flat = Geometry(closest=1.0, nearest=1.0, mean=2.0, diameter=4.0)
    peaked = Geometry(closest=1.0, nearest=1.0, mean=1.0, diameter=4.0)
    one, other = (
        PrivacyRatio.between(*pair) for pair in ((flat, peaked), (peaked, flat))
    )
    assert one.of_mean > one.of_max
    assert other.of_mean < other.of_max


def test_there_and_back_is_the_same_epsilon():
    space = with_codes(cloud(), bits=64)
    there = PrivacyRatio.between(space.geometry, space.codes.geometry)
    back = PrivacyRatio.between(space.codes.geometry, space.geometry)
    for of in ("mean", "max"):
        assert back.epsilon(there.epsilon(3.0, of=of), of=of) == pytest.approx(3.0)


def test_points_without_distances_are_refused():
    space = Space.from_arrays("one", ["a", "b"], [[1.0], [1.0]])
    coded = with_codes(space, bits=8)
    with pytest.raises(InvalidParameterError):
        PrivacyRatio.between(space.geometry, coded.codes.geometry)
    with pytest.raises(InvalidParameterError, match="of must be mean or max"):
        PrivacyRatio(1.0, 1.0).epsilon(1.0, of="median")
