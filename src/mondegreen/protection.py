"""One word for how much a release protects: the worst of what is proved and measured.

The word is never better than the weakest fact that is known, so that it can be quoted
without the rest. A setting without a proof, or noise that others can repeat, has none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, final, get_args

Protection: TypeAlias = Literal["strong", "moderate", "weak", "vacuous", "none"]


@final
@dataclass(frozen=True, slots=True)
class Level:
    """The most that a release may lose and still have this word.

    Parameters
    ----------
    name : Protection
        The word.
    loss : float, nats
        Certified loss between any two words: e^loss is the change in odds.
    recovered : float
        Share of words that are unchanged, or that an attacker recovers.
    near : float
        Share of words that are unchanged or become a word of near meaning.
    """

    name: Protection
    loss: float
    recovered: float
    near: float


LEVELS: Final = (
    Level("strong", loss=1.0, recovered=0.10, near=0.50),
    Level("moderate", loss=5.0, recovered=0.25, near=0.75),
    Level("weak", loss=10.0, recovered=0.50, near=0.95),
)
"""Best first. What exceeds the last level is ``vacuous``. The page
``docs/explanation/protection.md`` gives reasons for the numbers."""

MOST_BETWEEN_GROUPS: Final = 20.0
"""The most, in nats, between two groups of a policy; a larger loss is ``vacuous``.

Words of one group lose nothing at any epsilon. Above this loss, the printed word shows
the group of its original, except about one word in millions.
"""


def protection(
    loss: float = 0.0, recovered: float = 0.0, near: float = 0.0
) -> Protection:
    """Find the word for a loss in nats, and for shares of words, where measured.

    >>> protection(loss=1.0), protection(loss=10.0), protection(loss=1e6)
    ('strong', 'weak', 'vacuous')
    >>> protection(loss=1.0, recovered=0.38), protection(loss=float("nan"))
    ('weak', 'vacuous')
    """
    for level in LEVELS:  # a comparison with NaN is false, so it meets no level
        if loss <= level.loss and recovered <= level.recovered and near <= level.near:
            return level.name
    return "vacuous"


def worst(words: Iterable[Protection]) -> Protection:
    """Find the least protection of several; none where there are none.

    >>> worst(["strong", "weak"]), worst(["vacuous", "none"]), worst([])
    ('weak', 'none', 'none')
    """
    return max(words, key=get_args(Protection).index, default="none")
