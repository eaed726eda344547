"""Mechanisms whose states do not know their law, with the law of a reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from line_law import line_law
from plane_law import plane_law

import mondegreen as mg
from mondegreen.audit.run import audit_state


@dataclass(frozen=True)
class WithLaw:
    """A state as it is, but for a law that is given as a table of logarithms."""

    inner: Any
    table: np.ndarray

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def log_prob(self, ids: np.ndarray) -> np.ndarray:
        return self.table[ids]


def known(state: Any) -> WithLaw:
    """Return a noise mechanism on a line or in the plane, with its exact law."""
    law = line_law if state.space.dim == 1 else plane_law
    return WithLaw(state, law(state))


def audit_known(name: str, space: Any, epsilon: float, **options: Any) -> Any:
    """Audit such a mechanism exactly."""
    parameters = options.pop("parameters", {})
    state = mg.mechanism(name, epsilon=epsilon, **parameters).prepare(space)
    return audit_state(known(state), **options)
