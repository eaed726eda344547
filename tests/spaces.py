"""Small spaces for tests: words ``w0``, ``w1``, ... at given or random points."""

from __future__ import annotations

import numpy as np

from mondegreen.space.space import Space


def make_space(points, name="space", metric="euclidean"):
    """Return a space with a word at each point; single numbers lie on a line."""
    points = np.asarray(points)
    points = points.reshape(len(points), -1)
    words = [f"w{i}" for i in range(len(points))]
    return Space.from_arrays(name, words, points, metric=metric)


def make_cloud(count=40, dim=3, seed=0, scale=1.0):
    """Return a space of normally distributed points."""
    rng = np.random.default_rng(seed)
    return make_space(scale * rng.normal(size=(count, dim)))
