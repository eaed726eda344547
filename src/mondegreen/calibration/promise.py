"""The epsilon that a state certainly has, and what it is worth in nats."""

from __future__ import annotations

import math

from mondegreen.calibration.found import Ends
from mondegreen.mechanisms.base import State


def promise(state: State) -> dict[str, Ends]:
    """Return the ends of the certified epsilon, and of losses in nats.

    Where a certificate could be computed and was not, it is at least the rate of the
    law and at most what the proof allows. Nothing is returned for unproved mechanisms.
    """
    guarantee = state.stated
    if not guarantee.is_proved:
        return {}
    low, high = state.certified_bounds
    scale = guarantee.scale
    found = {"certified_epsilon": (low, high)}
    for name, unit in (("worst_loss", "diameter"), ("near_loss", "nearest")):
        if math.isfinite(scale[unit]):
            found[name] = low * scale[unit], high * scale[unit]
    if math.isfinite(scale["mean"]):
        label = guarantee.epsilon * scale["mean"]
        found["privacy_ratio"] = label, label
    return found
