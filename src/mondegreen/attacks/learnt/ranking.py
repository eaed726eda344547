"""How well scores tell members from others: area under the curve, and its low end."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats
from mondegreen.attacks.attack import wilson
from mondegreen.errors import InvalidParameterError

_Z: float = 1.959963984540054


@final
@dataclass(frozen=True, slots=True)
class Ranking:
    r"""Scores of members and of others, as an adversary ranks them.

    Attributes
    ----------
    auc : float in [0, 1]
        The chance that a member's score is above another's, ties counted half; 0.5 is
        chance level. An adversary whose area is below 0.5 turns the order around, so
        read ``max(auc, 1 - auc)``.
    low, high : float
        Interval of 95 % for it (Hanley and McNeil 1982).
    found : mapping from float to (float, float, float)
        For a share of others wrongly accused: the share of members that is found, and
        the ends of its interval (Wilson). Chance level is the share itself.
    """

    auc: float
    low: float
    high: float
    found: dict[float, tuple[float, float, float]]

    @classmethod
    def of(
        cls, members: Floats, others: Floats, at: tuple[float, ...] = (0.001, 0.01, 0.1)
    ) -> Ranking:
        """Rank.

        >>> ranking = Ranking.of(np.array([3.0, 2.0, 2.0]), np.array([1.0, 2.0]))
        >>> round(ranking.auc, 3)
        0.833
        """
        if not len(members) or not len(others):
            raise InvalidParameterError("scores", "none", "of members and of others")
        ordered = np.sort(others)
        below = np.searchsorted(ordered, members, side="left")
        ties = np.searchsorted(ordered, members, side="right") - below
        auc = float((below + ties / 2).mean() / len(others))
        reach = _Z * _deviation(auc, len(members), len(others))
        found = {
            share: _share_within(share, members, ordered)
            for share in at
            if share * len(others) >= 1
        }
        return cls(auc, max(0.0, auc - reach), min(1.0, auc + reach), found)


def _deviation(auc: float, members: int, others: int) -> float:
    """Standard deviation of the area (Hanley and McNeil 1982, with exponentials)."""
    both, twice = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    spread = auc * (1 - auc)
    spread += (members - 1) * (both - auc**2) + (others - 1) * (twice - auc**2)
    return math.sqrt(max(spread, 0.25 / max(members, others)) / (members * others))


def _share_within(
    share: float, members: Floats, ordered: NDArray[np.float64]
) -> tuple[float, float, float]:
    """Members above a threshold that at most this share of the others exceed."""
    allowed = int(share * len(ordered))
    threshold = ordered[len(ordered) - allowed - 1]
    hits = int((members > threshold).sum())
    low, high = wilson(hits, len(members))
    return hits / len(members), low, high
