"""The metric of a claim, as numbers between inputs.

A guarantee names its metric; here is what each name means. The unknown word is an
input like others and lies at the unknown point of the space.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids
from mondegreen.errors import ConfigurationError, UnknownNameError
from mondegreen.mechanisms.base import State
from mondegreen.mechanisms.metrics import (
    code_distances,
    discrete_distances,
    space_distances,
)
from mondegreen.space.distances import METRICS
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
    """Return the metric in which the guarantee of a state is stated."""
    return ClaimMetric(state.guarantee.metric, state.distances)


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
        return ClaimMetric("discrete distance", discrete_distances)
    if name == "hamming":
        between = partial(code_distances, codes_of(space))
        return ClaimMetric("Hamming distance of codes", between)
    if name != space.metric:
        raise ConfigurationError(
            f"the metric of space {space.name!r} is {space.metric}; audit in that, or "
            "build the space anew"
        )
    return ClaimMetric(METRICS[name], partial(space_distances, space))
