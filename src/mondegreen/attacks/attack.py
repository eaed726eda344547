"""What one attack found, and how far it may be from what it would find again."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, final

import numpy as np

from mondegreen.arrays import Floats, Weights
from mondegreen.scores.interval import Ends

_RESAMPLES: Final = 1000
_SEED: Final = 14
_Z: Final = 1.96  # of an interval of 95 %


@final
@dataclass(frozen=True, slots=True)
class Attack:
    """One attack: the attacker, the success, and the success without the release.

    Parameters
    ----------
    name : str
        Its key in the JSON of ``mondegreen attack``.
    adversary : str
        Who attacks and what is known to them, for people.
    value, low, high : float or None, in ``unit``
        What was found, and the ends of an interval of 95 %; equal where the law tells
        it exactly, None where it is not known.
    chance : float or None, in ``unit``
        What the same adversary reaches without looking at the release.
    n : int
        How many words or texts it was measured on.
    unit : str
        Of what ``value`` is a share, or "nats a word".
    details : mapping
        More numbers, as JSON values. ``by``, where it is there, lists the ways that an
        attacker can go: each with its name ``by``, ``value``, ``low`` and ``high``.
    """

    name: str
    adversary: str
    value: float | None
    low: float | None
    high: float | None
    chance: float | None
    n: int
    unit: str = "share of words"
    details: Mapping[str, Any] = field(default_factory=dict)

    def say_excess(self, limit: float) -> str | None:
        """Say how the attack is above a limit; None where it is shown to be below.

        The upper end of the interval is compared: few texts show little. What is not
        known is not below. Where ``details`` holds several ways ``by`` which the
        attacker can go, the largest value of all ways counts, then the largest end.

        Parameters
        ----------
        limit : float
            In ``unit``.

        Returns
        -------
        str or None
            The end of a sentence that begins with the name.

        Examples
        --------
        >>> Attack("reader", "a reader", 0.0, 0.0, 0.23, 0.1, 13).say_excess(0.1)
        'is 0 and may be up to 0.23'
        """
        if self.value is None:
            return "is not known"
        ways = self.details.get("by") or [{"value": self.value, "high": self.high}]
        most = find_strongest(ways)
        if most["value"] > limit:
            return f"is {most['value']:.4g}{_say_way(most)}"
        ends = [way for way in ways if way["high"] is not None]
        most = max(ends, key=lambda way: way["high"], default={"high": -math.inf})
        if most["high"] > limit:
            share, end = most["value"], most["high"]
            return f"is {share:.4g} and may be up to {end:.4g}{_say_way(most)}"
        return None

    def to_dict(self) -> dict[str, Any]:
        """Convert to JSON values, details beside the others.

        Returns
        -------
        dict of str to JSON values
            Value, interval, chance level and details.
        """
        values: dict[str, Any] = asdict(self)
        details: dict[str, Any] = values.pop("details")
        return values | details


def find_strongest(ways: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Find the way by which an attacker reaches most, the first of equal ones.

    Parameters
    ----------
    ways : sequence of mapping
        Each with its ``value``, and the upper end ``high`` of its interval.

    Returns
    -------
    mapping

    Examples
    --------
    >>> find_strongest([{"by": "a", "value": 0.1}, {"by": "b", "value": 0.3}])["by"]
    'b'
    """
    return max(ways, key=lambda way: way["value"])


def _say_way(way: Mapping[str, Any]) -> str:
    return f" by {way['by']}" if "by" in way else ""


def count_rows(
    name: str,
    adversary: str,
    count: float | None,
    rows: int,
    details: Mapping[str, Any] | None = None,
) -> Attack:
    """State how many rows of one release an attack found.

    Parameters
    ----------
    name, adversary : str
        As of :class:`Attack`.
    count : float or None, in rows
        It is counted and not estimated, so the interval has no width.
    rows : int
        How many rows were looked at.
    details : mapping, optional
        As of :class:`Attack`.

    Returns
    -------
    Attack
        In the unit ``rows``, without a chance level.

    Examples
    --------
    >>> found = count_rows("unchanged_rows", "counts rows", 2.0, 40)
    >>> found.low, found.high, found.unit
    (2.0, 2.0, 'rows')
    """
    details = details or {}
    return Attack(name, adversary, count, count, count, None, rows, "rows", details)


def by_texts(hits: Floats, words: Floats | Weights) -> Ends:
    """Bound a share of words, 95 %, where the words of one text are correlated.

    The hull of two intervals: texts drawn again 1,000 times, with a fixed seed, and
    that of Wilson, as if words were independent, which is the wider one for few texts.
    With no hit at all, or hits only, texts do not tell how correlated their words are:
    then Wilson's interval counts each text once, as if its words were one.

    Parameters
    ----------
    hits, words : float64 array, shape (texts,)
        Words that were guessed (or the chance of it, summed), and how many there were.

    Examples
    --------
    >>> low, high = by_texts(np.array([5.0, 5.0, 0.0, 10.0]), np.full(4, 10.0))
    >>> round(low, 2), round(high, 2)
    (0.12, 0.88)
    """
    total = float(words.sum())
    if not total:
        return 0.0, 1.0
    share = float(hits.sum()) / total
    independent = total if 0 < share < 1 else float(np.count_nonzero(words))
    low, high = wilson(share * independent, independent)
    rng, count = np.random.default_rng(_SEED), len(words)
    drawn = rng.multinomial(count, np.full(count, 1 / count), size=_RESAMPLES)
    sizes = drawn @ words
    shares = (drawn @ hits)[sizes > 0] / sizes[sizes > 0]
    ends = np.quantile(shares, [0.025, 0.975])
    return min(low, float(ends[0])), min(1.0, max(high, float(ends[1])))


def wilson(hits: float, runs: float) -> Ends:
    """Bound a probability by hits of independent runs, 95 % (Wilson, JASA 1927).

    >>> [round(end, 3) for end in wilson(0, 100)]
    [0.0, 0.037]
    """
    share, z2 = hits / runs, _Z * _Z
    centre = share + z2 / (2 * runs)
    spread = _Z * math.sqrt(share * (1 - share) / runs + z2 / (4 * runs * runs))
    scale = 1 + z2 / runs
    # With no hits, or all, one end is the share itself, but for rounding.
    low, high = (centre - spread) / scale, (centre + spread) / scale
    return max(0.0, min(low, share)), min(1.0, max(high, share))
