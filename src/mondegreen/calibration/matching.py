"""Settings of other mechanisms that are as private as a given one, in a named sense."""

from __future__ import annotations

from typing import Final

from mondegreen.calibration.measurement import Measurement
from mondegreen.calibration.targets import Target
from mondegreen.errors import ConfigurationError, UnknownNameError

MATCHES: Final = {
    "certified_epsilon": "the same certified epsilon: comparable in one metric only",
    "worst_loss": "the same certified loss, in nats, between the two farthest words",
    "bayes_risk": "the same error of the best guess of one word",
    "privacy_ratio": "the same label by the privacy ratio: no equal privacy",
    "n_w": "the same chance to stay: no promise",
}
"""What can be made equal, and what that is."""


def match_target(
    reference: Measurement, by: str, *, over: str = "P95", prior: str = "sample"
) -> Target:
    """Return the target that makes another setting as private as a reference.

    Where the score of the reference is an interval, the target is its more private
    end: what is found is no less private than the reference, whatever its true value.

    Parameters
    ----------
    reference : Measurement
        What to match.
    by : str
        One of :data:`MATCHES`.
    over, prior : str
        As for :class:`mondegreen.calibration.targets.Target`.

    Raises
    ------
    UnknownNameError
        If there is no such match.
    ConfigurationError
        If the score of the reference is not known, or leaves nothing to find.
    """
    if by not in MATCHES:
        raise UnknownNameError("match", by, MATCHES)
    probe = Target(by, 1.0 if by != "bayes_risk" else 0.5, over, prior)
    ends = reference.scores.get(probe.score)
    if ends is None:
        raise ConfigurationError(
            f"{probe.score} of {reference.mechanism} is not known, so nothing can be "
            f"matched by it; choose one of: {', '.join(MATCHES)}"
        )
    value = ends[1] if probe.is_at_least else ends[0]
    if not 0 < value:
        raise ConfigurationError(
            f"{probe.score} of {reference.mechanism} at epsilon {reference.epsilon:g} "
            "is 0, as far as runs can tell: take a larger epsilon of the reference"
        )
    return Target(by, value, over, prior)
