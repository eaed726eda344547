"""The metric of a claim, as numbers between inputs.

A guarantee names its metric; here is what each name means. The unknown word is an
input like others and lies at the unknown point of the space.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids
from mondegreen.errors import ConfigurationError, UnknownNameError
from mondegreen.mechanisms.base import State
from mondegreen.mechanisms.noise.mahalanobis import regularized_covariance
from mondegreen.space.distances import METRICS, distances
from mondegreen.space.space import Space
from mondegreen.space.store import codes_of

METRIC_NAMES: Final = ("discrete", "euclidean", "hamming", "poincare")
"""Metrics that a claim can be audited in besides that of the guarantee."""

Distances = Callable[[Ids, Ids], NDArray[np.float64]]


@final
@dataclass(frozen=True, slots=True)
class ClaimMetric:
    """A metric of inputs.

    Parameters
    ----------
    name : str
        As the guarantee states it.
    between : callable ``(ids, ids) -> float64 array, shape (first, second)``
        Distances of inputs to inputs; ``V`` is the unknown word. Exactly 0 between
        inputs that nothing may tell apart.
    """

    name: str
    between: Distances


def metric_of(state: State) -> ClaimMetric:
    """Return the metric in which the guarantee of a state is stated.

    Raises
    ------
    ConfigurationError
        If the guarantee names a metric that is not known here.

    Examples
    --------
    >>> import mondegreen as mg
    >>> space = mg.Space.from_arrays("line", ["a", "b", "c"], [[0], [1], [9]])
    >>> state = mg.mechanism("tem", epsilon=1.0, gamma=4.0).prepare(space)
    >>> metric_of(state).between(np.array([0]), np.arange(3)).tolist()
    [[0.0, 1.0, 4.0]]
    """
    name, space = state.guarantee.metric, state.space
    if name.startswith("discrete"):
        return ClaimMetric(name, _discrete)
    if name.startswith("Hamming"):
        return ClaimMetric(name, _hamming(space))
    if "Mahalanobis" in name:
        share = state.guarantee.parameters["lambda_"]
        return ClaimMetric(name, _mahalanobis(space, float(share)))
    if name.startswith("ultrametric"):
        return ClaimMetric(name, state.distances)  # type: ignore[attr-defined]
    if "cluster" in name:
        return ClaimMetric(name, _clusters(state.law.cluster))  # type: ignore[attr-defined]
    if any(text in name for text in METRICS.values()):
        # Truncated metrics state their cutoff as the diameter.
        diameter = float(state.guarantee.scale["diameter"])
        return ClaimMetric(name, _in_space(space, diameter))
    raise ConfigurationError(f"the audit does not know the metric {name!r}")


def metric_named(name: str, space: Space) -> ClaimMetric:
    """Return one of :data:`METRIC_NAMES` on a space, to audit another claim.

    Raises
    ------
    UnknownNameError
        If there is none of that name.
    ConfigurationError
        If the space has another metric.
    """
    if name not in METRIC_NAMES:
        raise UnknownNameError("metric", name, METRIC_NAMES)
    if name == "discrete":
        return ClaimMetric("discrete distance", _discrete)
    if name == "hamming":
        return ClaimMetric("Hamming distance of codes", _hamming(space))
    if name != space.metric:
        raise ConfigurationError(
            f"the metric of space {space.name!r} is {space.metric}; audit in that, or "
            "build the space anew"
        )
    return ClaimMetric(METRICS[name], _in_space(space, np.inf))


def _discrete(first: Ids, second: Ids) -> NDArray[np.float64]:
    """1 between any two inputs."""
    table: NDArray[np.bool_] = np.asarray(first)[:, None] != np.asarray(second)
    return table.astype(np.float64)


def _in_space(space: Space, cutoff: float) -> Distances:
    """Distances of the space, cut off; exactly 0 between inputs at one point."""
    canonical = space.canonical

    def between(first: Ids, second: Ids) -> NDArray[np.float64]:
        left, right = canonical[first], canonical[second]
        table = distances(space.metric, space.points(left), space.points(right))
        table[left[:, None] == right] = 0.0
        np.minimum(table, cutoff, out=table)
        return table

    return between


def _mahalanobis(space: Space, share: float) -> Distances:
    """Distances after whitening, exactly 0 between inputs at one point."""
    inverse = np.linalg.inv(np.linalg.cholesky(regularized_covariance(space, share)))

    def between(first: Ids, second: Ids) -> NDArray[np.float64]:
        left, right = space.canonical[first], space.canonical[second]
        table = distances(
            "euclidean", space.points(left) @ inverse.T, space.points(right) @ inverse.T
        )
        table[left[:, None] == right] = 0.0
        return table

    return between


def _hamming(space: Space) -> Distances:
    """Numbers of bits in which codes differ."""
    codes = codes_of(space)

    def between(first: Ids, second: Ids) -> NDArray[np.float64]:
        right = codes.points(np.asarray(second))
        table = np.empty((len(first), len(second)))
        for row, code in zip(table, codes.points(np.asarray(first)), strict=True):
            row[:] = np.bitwise_count(right ^ code).sum(axis=1, dtype=np.int64)
        return table

    return between


def _clusters(cluster: Ids) -> Distances:
    """1 within a cluster, infinite between clusters."""

    def between(first: Ids, second: Ids) -> NDArray[np.float64]:
        apart = cluster[first][:, None] != cluster[second]
        return np.where(apart, np.inf, _discrete(first, second))

    return between
