"""Directions: on the sphere, and uniform there."""

from __future__ import annotations

import numpy as np
import pytest

from mechanisms.laws import ALPHA, direction_p_value
from mondegreen.sampling.laplace import uniform_direction

DIMS = [(1, 60_000), (2, 60_000), (5, 60_000), (50, 40_000), (300, 20_000)]


@pytest.mark.parametrize(("n", "rows"), DIMS)
def test_directions_are_uniform_on_the_sphere(n, rows):
    u = uniform_direction(np.random.default_rng(n), (rows, n))
    assert u.shape == (rows, n)
    assert direction_p_value(u) > ALPHA


@pytest.mark.slow("other dimensions", but="5-60000")
@pytest.mark.parametrize(("n", "rows"), DIMS[1:])
def test_directions_that_are_not_uniform_are_noticed(n, rows):
    rng = np.random.default_rng(n)
    cube = rng.uniform(-1, 1, (rows, n))
    cube /= np.linalg.norm(cube, axis=1, keepdims=True)
    tilted = rng.standard_normal((rows, n))
    tilted[:, 0] *= 1.2
    tilted /= np.linalg.norm(tilted, axis=1, keepdims=True)
    ball = uniform_direction(rng, (rows, n)) * rng.random((rows, 1)) ** (1 / n)
    assert direction_p_value(tilted) < ALPHA
    assert direction_p_value(ball) < ALPHA
    if n < 50:  # in many dimensions a cube looks round
        assert direction_p_value(cube) < ALPHA


def test_no_rows_are_no_directions():
    assert uniform_direction(np.random.default_rng(0), (0, 3)).shape == (0, 3)
