"""Targets: what a setting must keep, as a score and the side of it that is allowed.

A target can be a number, or to be as private as another setting, in a named sense.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, final

from mondegreen.calibration.score_bounds import ScoreBounds
from mondegreen.errors import (
    ConfigurationError,
    InvalidParameterError,
    UnknownNameError,
)
from mondegreen.scores.definitions import PERCENTILES

KEYS: Final = {
    "n_w": "no word stays with probability above {value}{words}",
    "s_w": "at least {value} likely outputs{words}",
    "bayes_risk": "the best guess ({prior} prior) errs with probability at least "
    "{value}",
    "reader": "a reader of sentences recovers at most {value} of the words",
    "worst_word": "no word of content is guessed with probability above {value}",
    "certified_epsilon": "certified epsilon at most {value}",
    "worst_loss": "nats between any two words, by the certificate, at most {value}",
    "privacy_ratio": "epsilon times the mean distance at most {value}",
    "utility_loss": "words move at most {value} of the way to a random word "
    "({prior} prior)",
    "sensitive": "an attacker with texts from the same domain recovers at most "
    "{percent} % of the sensitive words",
    "ordinary": "at least {percent} % of the ordinary words stay",
}
"""What can be asked for; two are about use, the others about privacy."""

POLICY_KEYS: Final = ("sensitive", "ordinary")
"""Those that are about policies; the others are about mechanisms over a space."""

_OF_USE: Final = ("utility_loss", "ordinary")

OVER: Final = ("worst", *(f"P{percent}" for percent in reversed(PERCENTILES)), "mean")
"""Which words must keep a target about words: all, a percentage, or their mean."""

MATCHES: Final = {
    "certified_epsilon": "the same certified epsilon: comparable in one metric only",
    "worst_loss": "the same certified loss, in nats, between the two farthest words",
    "bayes_risk": "the same error of the best guess of one word",
    "reader": "the same share of words that a reader of sentences recovers",
    "privacy_ratio": "the same label by the privacy ratio: no equal privacy",
    "n_w": "the same chance to stay: no promise",
}
"""What can be made equal to that of another setting, and what that is."""

_RANGES: Final = {
    "n_w": (0.0, 1.0, "above 0, at most 1"),
    "s_w": (1.0, math.inf, "at least 1 word"),
    "bayes_risk": (0.0, 1.0, "above 0, below 1"),
    "reader": (0.0, 1.0, "in (0, 1], as a share of words"),
    "worst_word": (0.0, 1.0, "in (0, 1]"),
    "utility_loss": (0.0, 1.0, "in (0, 1], as a share of the loss of a random word"),
    "sensitive": (0.0, 1.0, "in (0, 1], as a share of sensitive words"),
    "ordinary": (0.0, 1.0, "in (0, 1], as a share of ordinary words"),
}


@final
@dataclass(frozen=True, slots=True)
class Target:
    """One thing that a setting must keep: a largest, or least, value, ends included.

    ``over`` says for which words ``n_w`` and ``s_w`` must hold, ``P95`` for 95 % of the
    vocabulary; ``prior`` whose words ``bayes_risk`` and ``utility_loss`` are about.

    >>> target = Target("n_w", 0.5)
    >>> target.score, str(target)
    ('n_w_95', 'no word stays with probability above 0.5, in 95 % of the vocabulary')
    """

    key: str
    value: float
    over: str = "P95"
    prior: str = "sample"

    def __post_init__(self) -> None:
        if self.key not in KEYS:
            raise UnknownNameError("target", self.key, KEYS)
        if self.over not in OVER:
            raise InvalidParameterError("over", self.over, "one of " + ", ".join(OVER))
        low, high, allowed = _RANGES.get(self.key, (0.0, math.inf, "a positive number"))
        fits = low < self.value <= high or self.value == low == 1.0
        if not fits or not math.isfinite(self.value):
            raise InvalidParameterError(f"target {self.key}", self.value, allowed)

    @property
    def is_about_use(self) -> bool:
        """Whether a larger epsilon helps to keep it."""
        return self.key in _OF_USE

    @property
    def is_at_least(self) -> bool:
        """Whether the value is the least that is allowed."""
        return self.key in ("bayes_risk", "s_w", "ordinary")

    @property
    def is_linear(self) -> bool:
        """Whether the score grows as epsilon does, or about so."""
        return self.key in ("certified_epsilon", "privacy_ratio", "worst_loss")

    @property
    def score(self) -> str:
        """Its key in the scores of :class:`ScoreBounds`."""
        if self.key == "utility_loss":
            return f"utility_loss_share_{self.prior}"
        if self.key == "bayes_risk":
            return f"bayes_risk_{self.prior}"
        if self.key not in ("n_w", "s_w"):
            return self.key
        if self.over == "mean":
            return f"{self.key}_mean"
        if self.over == "worst":
            return "n_w_max" if self.key == "n_w" else "s_w_min"
        percent = int(self.over[1:])
        return f"n_w_{percent}" if self.key == "n_w" else f"s_w_{100 - percent:02d}"

    def pessimistic(self, found: ScoreBounds) -> float | None:
        """Take the end of the score on the wrong side; None if it is not known."""
        ends = found.scores.get(self.score)
        return None if ends is None else ends[0 if self.is_at_least else 1]

    def likely(self, found: ScoreBounds) -> float | None:
        """Take a point of the score, to find where to look and for nothing else."""
        ends = found.scores.get(self.score)
        if ends is None:
            return None
        # The upper end of a risk is that of a good adversary; the lower is a bound.
        # Of supports runs tell the lower end alone.
        near = {"bayes_risk": ends[1], "s_w": ends[0]}
        return near.get(self.key, sum(ends) / 2)

    def margin(self, found: ScoreBounds) -> float:
        """Tell by how much a setting seems to keep the target; negative: misses."""
        value = self.likely(found)
        if value is None or math.isnan(value):
            return -math.inf
        return value - self.value if self.is_at_least else self.value - value

    def holds(self, found: ScoreBounds) -> bool:
        """Whether a setting keeps the target even at the wrong end of what is known.

        A score that is not known is not on the right side.
        """
        value = self.pessimistic(found)
        if value is None:
            return False
        return value >= self.value if self.is_at_least else value <= self.value

    def __str__(self) -> str:
        says = KEYS[self.key]
        if self.score == "n_w_mean":
            says = "words stay with probability at most {value}{words}"
        words = {"worst": ", whatever the word", "mean": " on average"}.get(
            self.over, f", in {self.over[1:]} % of the vocabulary"
        )
        percent = f"{100 * self.value:g}"
        return says.format(
            value=f"{self.value:g}", percent=percent, words=words, prior=self.prior
        )


def parse_target(text: str, over: str = "P95", prior: str = "sample") -> Target:
    """Read a target from ``KEY=VALUE``."""
    key, equals, value = text.partition("=")
    try:
        number = float(value)
    except ValueError:
        equals, number = "", 0.0
    if not equals:
        raise InvalidParameterError("--target", text, "KEY=VALUE, such as n_w=0.5")
    return Target(key.strip(), number, over, prior)


def match_target(
    reference: ScoreBounds, by: str, *, over: str = "P95", prior: str = "sample"
) -> Target:
    """Make the target of being as private as a reference, in one of :data:`MATCHES`.

    Where the score of the reference is an interval, the target is its more private
    end: what is found is no less private than the reference, whatever its true value.
    """
    if by not in MATCHES:
        raise UnknownNameError("match", by, MATCHES)
    probe = Target(by, 1.0, over, prior)
    ends = reference.scores.get(probe.score)
    if ends is None:
        raise ConfigurationError(
            f"{probe.score} of {reference.mechanism} is not known, so it cannot be "
            f"matched; choose one of: {', '.join(MATCHES)}"
        )
    value = ends[1] if probe.is_at_least else ends[0]
    if not 0 < value:
        raise ConfigurationError(
            f"{probe.score} of {reference.mechanism} at epsilon {reference.epsilon:g} "
            "was 0 in all runs: use a larger epsilon for the reference"
        )
    return Target(by, value, over, prior)
