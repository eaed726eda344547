"""Metrics of guarantees as numbers between inputs, for the states of mechanisms.

Inputs are ids; ``V`` is the unknown word, which lies at the unknown point of the space.
Every table has the shape (first, second).
"""

from __future__ import annotations

import math

import numpy as np

from mondegreen.arrays import Floats, Ids, Vectors
from mondegreen.space.codes import Codes
from mondegreen.space.metric import distances
from mondegreen.space.space import Space


def discrete_distances(first: Ids, second: Ids) -> Floats:
    """1 between any two inputs."""
    table: Floats = np.not_equal.outer(first, second).astype(np.float64)
    return table


def space_distances(
    space: Space,
    first: Ids,
    second: Ids,
    *,
    cutoff: float = math.inf,
    whitening: Vectors | None = None,
) -> Floats:
    """Distances of the space, cut off, after a linear map where one is given.

    They are exactly 0 between inputs at one point, which nothing may tell apart.
    """
    left, right = space.canonical[first], space.canonical[second]
    points, others = space.points(left), space.points(right)
    if whitening is not None:
        points, others = points @ whitening.T, others @ whitening.T
    table = distances(space.metric, points, others)
    table[left[:, None] == right] = 0.0
    np.minimum(table, cutoff, out=table)
    return table


def code_distances(codes: Codes, first: Ids, second: Ids) -> Floats:
    """Numbers of bits in which codes differ."""
    right = codes.points(np.asarray(second))
    table = np.empty((len(first), len(second)))
    for row, code in zip(table, codes.points(np.asarray(first)), strict=True):
        row[:] = np.bitwise_count(right ^ code).sum(axis=1, dtype=np.int64)
    return table
