"""The claim that is audited: an epsilon, a metric, and the inputs they speak of."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, final

import numpy as np

from mondegreen.arrays import Ids
from mondegreen.audit.report import AuditReport, Evidence, Verdict
from mondegreen.errors import (
    ConfigurationError,
    InvalidParameterError,
    UnknownNameError,
)
from mondegreen.mechanisms.base import State
from mondegreen.mechanisms.metrics import (
    Floats,
    code_distances,
    discrete_distances,
    space_distances,
)
from mondegreen.space.metric import METRICS
from mondegreen.space.space import Space
from mondegreen.space.store import codes_of

METRIC_NAMES: Final = ("discrete", "euclidean", "hamming", "poincare")
"""Metrics that a claim can be audited in besides that of the guarantee."""

_TOLERANCE: Final = 1e-9
"""Relative; what doubles cost in a product of epsilon and a distance."""

Distances = Callable[[Ids, Ids], Floats]


@final
@dataclass(frozen=True, slots=True)
class Claim:
    """No output tells two inputs apart by more than ``epsilon`` times their distance.

    ``between(ids, ids)`` has the shape (first, second), where ``V`` is the unknown
    word; exactly 0 between inputs that nothing may tell apart.
    """

    subject: str
    epsilon: float
    metric: str
    between: Distances
    space: Space

    def __post_init__(self) -> None:
        if not 0 < self.epsilon < math.inf:
            name = "epsilon of the claim"
            raise InvalidParameterError(name, self.epsilon, "a positive number")

    def pair(self, first: int, second: int) -> Evidence:
        """Return two inputs with what is allowed, before anything was found."""
        distance = float(self.between(np.array([first]), np.array([second]))[0, 0])
        return Evidence(
            ids=(first, second),
            words=(self.word(first), self.word(second)),
            distance=distance,
            allowed=self.epsilon * distance,
        )

    def word(self, id: int) -> str:
        """Return the name of an input; the unknown word is no word of the space."""
        is_known = id < self.space.vocab_size
        return self.space.words[id] if is_known else "(unknown word)"

    def report(
        self, worst: Evidence | None, otherwise: Verdict, **known: Any
    ) -> AuditReport:
        """Return a report; any excess beyond rounding breaks the claim."""
        broken = worst is not None and worst.excess > _TOLERANCE * worst.allowed
        return AuditReport(
            verdict="broken" if broken else otherwise,
            subject=self.subject,
            claimed=self.epsilon,
            found=0.0 if worst is None else worst.epsilon,
            metric=self.metric,
            space=self.space.name,
            space_digest=self.space.digest,
            worst=worst,
            **known,
        )


def claim_of(state: State, epsilon: float | None, metric: str | None) -> Claim:
    """Return the claim of a guarantee, or the same in another epsilon or metric."""
    guarantee, space = state.guarantee, state.space
    claimed = float(guarantee.epsilon if epsilon is None else epsilon)
    if metric is not None:
        return Claim(guarantee.setting, claimed, *metric_named(metric, space), space)
    return Claim(guarantee.setting, claimed, guarantee.metric, state.distances, space)


def metric_named(name: str, space: Space) -> tuple[str, Distances]:
    """Return one of :data:`METRIC_NAMES` on a space: its name, and numbers."""
    if name not in METRIC_NAMES:
        raise UnknownNameError("metric", name, METRIC_NAMES)
    if name == "discrete":
        return "discrete distance", discrete_distances
    if name == "hamming":
        return "Hamming distance of codes", partial(code_distances, codes_of(space))
    if name != space.metric:
        raise ConfigurationError(
            f"the metric of space {space.name!r} is {space.metric}; audit in that, or "
            "build the space anew"
        )
    return METRICS[name], partial(space_distances, space)
