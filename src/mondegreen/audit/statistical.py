r"""Statistical audits: a lower confidence bound of the loss, from outputs alone.

For each pair one half of the runs chooses an event, the fresh other half measures it:

.. math:: \hat\epsilon = \frac{\ln(p_L / p_U)}{d(w, w')},

with Clopper-Pearson bounds at level :math:`\alpha / 2m` each for :math:`m` pairs, so
that over all pairs a sound mechanism is called broken with probability at most
:math:`\alpha`. Not rejecting means nothing formal: an event that is rarer than the
runs can see, or a pair that was not tried, may still break the claim.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from mondegreen.audit.distances import ClaimMetric
from mondegreen.audit.events import choose_event
from mondegreen.audit.exact import input_word
from mondegreen.audit.report import Evidence
from mondegreen.audit.sampler import Counts, Sampler
from mondegreen.scores.interval import lower_bound, upper_bound
from mondegreen.space.space import Space

Progress = Callable[[float], object]

_NAMED: Final = 8
"""Outputs of an event that the evidence names."""


@final
@dataclass(frozen=True, slots=True)
class Comparison:
    """Two inputs that are compared.

    Parameters
    ----------
    first, second : hashable
        As the sampler takes them.
    ids : (int, int)
        For the evidence.
    words : (str, str)
        For the evidence.
    distance : float
        In the metric of the claim.
    """

    first: Hashable
    second: Hashable
    ids: tuple[int, int]
    words: tuple[str, str]
    distance: float

    def allowed(self, epsilon: float) -> float:
        """Return the loss that a claim of ``epsilon`` allows, in nats."""
        return epsilon * self.distance

    def swapped(self) -> Comparison:
        """Return it with the second input first."""
        return Comparison(
            self.second, self.first, self.ids[::-1], self.words[::-1], self.distance
        )


@final
@dataclass(frozen=True, slots=True)
class _Runs:
    """Counts of one input: two parts that choose events, and the half that measures."""

    choosing: tuple[Counts, Counts]
    measuring: Counts


def comparison_of(
    space: Space, metric: ClaimMetric, pair: tuple[int, int], *, words: bool = False
) -> Comparison:
    """Return a pair of inputs with its distance and its names.

    Parameters
    ----------
    space : Space
        Of the inputs.
    metric : ClaimMetric
        Of the claim.
    pair : (int, int)
        Ids.
    words : bool
        Whether the sampler takes words; otherwise it takes ids.
    """
    first, second = pair
    names = input_word(space, first), input_word(space, second)
    distance = float(metric.between(np.array([first]), np.array([second]))[0, 0])
    keys = names if words else pair
    return Comparison(keys[0], keys[1], pair, names, distance)


def measure_pairs(
    sampler: Sampler,
    pairs: Sequence[Comparison],
    epsilon: float,
    runs: int,
    alpha: float,
    progress: Progress = lambda share: None,
) -> list[Evidence]:
    """Return what was certified for each pair.

    Parameters
    ----------
    sampler : Sampler
        Draws outputs.
    pairs : sequence of Comparison
        All count in the correction.
    epsilon : float
        Of the claim.
    runs : int
        Runs of each input; one half chooses events, the other measures them.
    alpha : float
        Chance that a mechanism within the claim gets a positive excess.
    progress : callable
        Called with the share that is done.

    Returns
    -------
    list of Evidence
        One for each pair. The losses are lower bounds, 0 where nothing was certified;
        all of them hold together, except with probability ``alpha``.

    Notes
    -----
    The runs of an input serve all of its pairs: the correction is a union bound, which
    asks for no independence between pairs.
    """
    half = runs // 2
    level = alpha / (2 * max(len(pairs), 1))
    keys = list(
        dict.fromkeys(key for pair in pairs for key in (pair.first, pair.second))
    )
    drawn: dict[Hashable, _Runs] = {}
    for done, key in enumerate(keys, start=1):
        # Two separate runs: what is chosen on one is measured on the other.
        parts = (half // 2, half - half // 2)
        choosing = sampler.counts(key, parts[0]), sampler.counts(key, parts[1])
        drawn[key] = _Runs(choosing, sampler.counts(key, half))
        progress(done / len(keys))
    return [_measure(sampler, pair, drawn, epsilon, half, level) for pair in pairs]


def strongest(found: Sequence[Evidence]) -> Evidence | None:
    """Return the evidence that exceeds what is allowed most, else the largest epsilon.

    Parameters
    ----------
    found : sequence of Evidence
        From :func:`measure_pairs`.

    Returns
    -------
    Evidence or None
        None where there is none.
    """
    return max(
        found, key=lambda each: (max(each.excess, 0.0), each.epsilon), default=None
    )


def _measure(
    sampler: Sampler,
    pair: Comparison,
    drawn: dict[Hashable, _Runs],
    epsilon: float,
    half: int,
    level: float,
) -> Evidence:
    """Choose an event on the first halves and bound its ratio on the second."""
    event, ordered = max(
        (
            (choose_event(drawn[way.first].choosing, drawn[way.second].choosing), way)
            for way in (pair, pair.swapped())
        ),
        key=lambda option: option[0].score,
    )
    p, q = drawn[ordered.first].measuring, drawn[ordered.second].measuring
    hits = event.hits(p), event.hits(q)
    low, high = lower_bound(hits[0], half, level), upper_bound(hits[1], half, level)
    size = max(len(p), len(q))
    members = np.flatnonzero(event.mask(size))
    seen = np.pad(p, (0, max(size, len(event.members)) - len(p)))[members]
    frequent = members[np.argsort(-seen, kind="stable")]
    return Evidence(
        ids=ordered.ids,
        words=ordered.words,
        distance=ordered.distance,
        loss=max(0.0, math.log(low / high)) if low > 0 else 0.0,
        allowed=ordered.allowed(epsilon),
        event=tuple(sampler.name(int(output)) for output in frequent[:_NAMED]),
        outputs=len(members),
        counts=hits,
        runs=half,
    )
