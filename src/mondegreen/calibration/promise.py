"""The epsilon that a state certainly has, and what it is worth in nats."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mondegreen.calibration.exact import SMALL
from mondegreen.calibration.found import Ends
from mondegreen.guarantee import Guarantee
from mondegreen.mechanisms.base import State
from mondegreen.mechanisms.laws.certified import (
    CertifiableLaw,
    certificate_of,
    certificates_of,
    has_certificate,
)
from mondegreen.mechanisms.laws.truncated import ExponentialLaw
from mondegreen.mechanisms.selection.base import SelectionState


def stated(state: State) -> Guarantee:
    """Return the guarantee of a state, without a certificate not computed so far.

    The guarantee itself would compute it, which takes a pass over all pairs of words.
    """
    return state.stated if isinstance(state, SelectionState) else state.guarantee


def certify_states(states: Sequence[State]) -> None:
    """Compute the certificates of all states that can have one, and keep them."""
    laws = [law for state in states if (law := _certifiable(state)) is not None]
    # One pass over all pairs for those in a distance; the others are quick.
    certificates_of([law for law in laws if isinstance(law, ExponentialLaw)])
    certificates_of([law for law in laws if not isinstance(law, ExponentialLaw)])


def promise(state: State) -> dict[str, Ends]:
    """Return the ends of the certified epsilon, and of losses in nats.

    Where a certificate could be computed and was not, it is at least the rate of the
    law and at most what the proof allows. Nothing is returned for unproved mechanisms.
    """
    guarantee = stated(state)
    if not guarantee.is_proved:
        return {}
    low, high = _epsilon(state)
    scale = guarantee.scale
    found = {"certified_epsilon": (low, high)}
    for name, unit in (("worst_loss", "diameter"), ("near_loss", "nearest")):
        if math.isfinite(scale[unit]):
            found[name] = low * scale[unit], high * scale[unit]
    if math.isfinite(scale["mean"]):
        label = guarantee.epsilon * scale["mean"]
        found["privacy_ratio"] = label, label
    return found


def _epsilon(state: State) -> Ends:
    """Return the ends of the certified epsilon."""
    guarantee, law = stated(state), _certifiable(state)
    claimed = guarantee.epsilon
    if law is not None and (has_certificate(law) or law.space.vocab_size <= SMALL):
        low = high = min(certificate_of(law), claimed)
    elif law is not None and guarantee.certified is None:
        low = law.rate if isinstance(law, ExponentialLaw) else 0.0
        high = claimed
    else:
        low = high = min(guarantee.certified or claimed, claimed)
    return low, high


def _certifiable(state: State) -> CertifiableLaw | None:
    """Return the law of a state if its certificate can be computed."""
    law = state.law if isinstance(state, SelectionState) else None
    return law if isinstance(law, CertifiableLaw) else None
