r"""Statistical audits: a lower confidence bound of the loss, from outputs alone.

For each pair one half of the runs chooses an event, the fresh other half measures it:

.. math:: \hat\epsilon = \frac{\ln(p_L / p_U)}{d(w, w')},

with Clopper-Pearson bounds at level :math:`\alpha / 2m` each for :math:`m` pairs, so
that over all pairs a sound mechanism is called broken with probability at most
:math:`\alpha`. Not rejecting means nothing formal: an event that is rarer than the
runs can see, or a pair that was not tried, may still break the claim.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats
from mondegreen.audit.claim import Claim
from mondegreen.audit.report import AuditReport, Evidence
from mondegreen.errors import InvalidParameterError
from mondegreen.mechanisms.base import Progress, State, no_progress
from mondegreen.scores.interval import lower_bound, upper_bound
from mondegreen.wording import amount

Counts = NDArray[np.int64]
"""``(outputs,)``; outputs that were seen for the first time later are further back."""

Input = tuple[int, str]
"""An id and a word: a sampler takes what it needs."""

_CAUTION: Final = 2.5
"""Deviations by which counts are mistrusted when events are compared."""

_NAMED: Final = 8
"""Outputs of an event that the evidence names."""

_SHOWN: Final = 3
"""Outputs that a finding names."""

_BLOCK: Final = 1 << 17

_SUM: Final = 1e-12
"""How far a sum of probabilities may be off."""


class Sampler(Protocol):
    """Draws outputs of inputs, and counts them."""

    def counts(self, given: Input, runs: int) -> Counts:
        """How often each output came out of fresh runs of one input."""

    def name(self, output: int) -> str:
        """The output of that index."""


@final
@dataclass(frozen=True, slots=True)
class StateSampler:
    """Counts outputs of a mechanism of this package."""

    state: State
    rng: np.random.Generator

    def counts(self, given: Input, runs: int) -> Counts:
        size = self.state.space.vocab_size
        found = np.zeros(size, dtype=np.int64)
        for start in range(0, runs, _BLOCK):
            ids = np.full(min(_BLOCK, runs - start), given[0], dtype=np.int32)
            found += np.bincount(self.state.sample(ids, self.rng), minlength=size)
        return found

    def name(self, output: int) -> str:
        return self.state.space.words[output]


Covered = Callable[[Evidence, int], NDArray[np.bool_]]
"""Which of so many outputs the claim is about, for a pair."""


def cover_all(pair: Evidence, outputs: int) -> NDArray[np.bool_]:
    """Cover all outputs, as most claims do."""
    return np.ones(outputs, dtype=np.bool_)


def measure_pairs(
    sampler: Sampler,
    pairs: Sequence[Evidence],
    runs: int,
    alpha: float,
    progress: Progress = no_progress,
    covered: Covered = cover_all,
) -> list[Evidence]:
    """Certify a loss for each pair: lower bounds, or 0.

    One half of the runs of an input chooses events, the other measures them. All
    bounds hold together, except with probability ``alpha``. The runs of an input serve
    all of its pairs: a union bound asks for no independence. Events hold no output that
    the claim does not cover.
    """
    half = runs // 2
    level = alpha / (2 * max(len(pairs), 1))
    inputs = list(dict.fromkeys(given for pair in pairs for given in pair.inputs))
    drawn: dict[Input, tuple[Counts, ...]] = {}
    for done, given in enumerate(inputs, start=1):
        # Two separate runs choose the event: what is found on one is scored on the
        # other. The third measures.
        parts = (half // 2, half - half // 2, half)
        drawn[given] = tuple(sampler.counts(given, part) for part in parts)
        progress(done / len(inputs))
    return [_measure(sampler, pair, drawn, half, level, covered) for pair in pairs]


def _measure(
    sampler: Sampler,
    pair: Evidence,
    drawn: dict[Input, tuple[Counts, ...]],
    half: int,
    level: float,
    covered: Covered,
) -> Evidence:
    """Choose an event on the first halves and bound its ratio on the second."""
    size = max(len(part) for given in pair.inputs for part in drawn[given])
    first, second = (
        [np.pad(part, (0, size - len(part))) for part in drawn[given]]
        for given in pair.inputs
    )
    swapped = replace(pair, ids=pair.ids[::-1], words=pair.words[::-1])
    ways = [(first, second, pair), (second, first, swapped)]
    within = covered(pair, size)
    events = [choose_event(p[:2], q[:2], within) for p, q, _ in ways]
    best = max((0, 1), key=lambda way: events[way][1])
    event, (p, q, ordered) = events[best][0], ways[best]
    hits = int(p[2][event].sum()), int(q[2][event].sum())
    low = lower_bound(hits[0], half, level)
    high = upper_bound(hits[1], half, level)
    members = np.flatnonzero(event)
    frequent = members[np.argsort(-p[2][members], kind="stable")]
    return replace(
        ordered,
        loss=max(0.0, math.log(low / high)) if low > 0 else 0.0,
        event=tuple(sampler.name(int(output)) for output in frequent[:_NAMED]),
        outputs=len(members),
        counts=hits,
        runs=half,
    )


def strongest(found: Sequence[Evidence]) -> Evidence | None:
    """The largest excess over what is allowed, else the largest epsilon."""
    return max(
        found, key=lambda each: (max(each.excess, 0.0), each.epsilon), default=None
    )


def choose_event(
    first: Sequence[Counts],
    second: Sequence[Counts],
    within: NDArray[np.bool_],
) -> tuple[NDArray[np.bool_], float]:
    """Choose outputs that tell the first input from the second, and say how well.

    That is in nats, of no statistical meaning. Each input comes with the counts of two
    separate parts of its runs, all of one length; those that measure the event must be
    others again. Outputs that are not ``within`` are left out of the event.

    Candidates are single outputs; by the lemma of Neyman and Pearson, the sets of
    outputs whose ratio exceeds a threshold; and all but the most frequent outputs,
    since many rare ones have no ratio to go by. Outputs are ordered by the first part
    of the runs and scored by the second, since sets of rare outputs look better than
    they are on the runs that chose them. What the first part has not seen is one
    output: a set that holds it holds all of them.
    """
    (p, scored_p), (q, scored_q) = first, second
    seen, unseen = within & (p + q > 0), within & (p + q == 0)
    old_p, old_q = np.append(p[seen], 0), np.append(q[seen], 0)
    new_p = np.append(scored_p[seen], scored_p[unseen].sum())
    new_q = np.append(scored_q[seen], scored_q[unseen].sum())
    orders = (
        np.array([np.argmax(_score(old_p, old_q, int(p.sum())))]),
        np.argsort(-(old_p + 0.5) / (old_q + 0.5), kind="stable"),
        np.argsort(old_p + old_q, kind="stable"),
    )
    best, chosen, runs = -np.inf, orders[0], int(scored_p.sum())
    for order in orders:
        score = _score(np.cumsum(new_p[order]), np.cumsum(new_q[order]), runs)
        cut = int(np.argmax(score))
        if score[cut] > best:
            best, chosen = float(score[cut]), order[: cut + 1]
    inside = np.zeros(len(old_p), dtype=bool)
    inside[chosen] = True
    event = unseen & inside[-1]
    event[seen] = inside[:-1]
    return event, best


@final
@dataclass(frozen=True, slots=True)
class Excess:
    """A set of outputs that came more often than their law allows."""

    outputs: NDArray[np.intp]  # the most frequent first
    share: float  # by the law
    hits: int
    runs: int


def find_excess(parts: Sequence[Counts], law: Floats, level: float) -> Excess | None:
    """Compare the outputs of three separate runs with a law; None for no difference.

    The first part orders outputs, by how much they are too frequent. The second
    chooses how many of them make an event. The third measures that: its
    Clopper-Pearson bound holds at ``level``. Outputs that are too rare make all the
    others too frequent.
    """
    ordering, choosing, fresh = parts
    expected = law * int(ordering.sum())
    order = np.argsort(-(ordering + 0.5) / (expected + 0.5), kind="stable")
    sets = np.cumsum(choosing[order]), np.cumsum(law[order])
    cut = int(np.argmax(_deviations(*sets, int(choosing.sum()))))
    event = order[: cut + 1]
    hits, runs, share = int(fresh[event].sum()), int(fresh.sum()), law[event].sum()
    if lower_bound(hits, runs, level) <= share + _SUM:
        return None
    frequent = event[np.argsort(-fresh[event], kind="stable")]
    return Excess(frequent, float(share), hits, runs)


def _deviations(hits: Counts, shares: Floats, runs: int) -> Floats:
    """How many deviations counts are above their law; rough where few are expected."""
    spread = np.sqrt(runs * shares * np.maximum(1 - shares, 0) + 1)
    return np.asarray((hits - runs * shares - 1) / spread)


def describe_excess(excess: Excess, name: Callable[[int], str]) -> str:
    """Name the first outputs of an event, and how often they came."""
    shown = ", ".join(name(i) for i in excess.outputs[:_SHOWN].tolist())
    more = len(excess.outputs) - _SHOWN
    return (
        f"{shown}{f' and {more:,} more' if more > 0 else ''} in {excess.hits:,} of "
        f"{excess.runs:,} draws, where the law has a share of {excess.share:.4g}"
    )


def _score(p: Counts, q: Counts, runs: int) -> Floats:
    """Rough lower bounds of log-ratios."""
    low, _ = wilson(p, runs, _CAUTION)
    _, high = wilson(q, runs, _CAUTION)
    with np.errstate(divide="ignore"):
        score: Floats = np.log(low) - np.log(high)
    return score


def wilson(hits: Counts, runs: int, z: float) -> tuple[Floats, Floats]:
    """Give rough bounds of many probabilities at once, to choose events by."""
    share = hits / runs
    centre = share + z * z / (2 * runs)
    spread = z * np.sqrt(share * (1 - share) / runs + z * z / (4.0 * runs * runs))
    scale = 1 + z * z / runs
    return np.maximum(centre - spread, 0.0) / scale, (centre + spread) / scale


def check_settings(runs: int, pairs: int, alpha: float) -> None:
    """Refuse settings that no statistical audit can work with."""
    if runs != 0 and runs < 20:  # 0, or enough for two halves
        raise InvalidParameterError("runs", runs, "0, or at least 20")
    if pairs < 1:
        raise InvalidParameterError("pairs", pairs, "at least 1")
    if not 0 < alpha < 1:
        raise InvalidParameterError("alpha", alpha, "in (0, 1)")


def power_nats(runs: int, alpha: float, pairs: int) -> float:
    """The largest loss that so many pairs could have certified together.

    That is of an event which always happens for one input and never for the other.

    >>> round(power_nats(2_000_000, 0.05, pairs=1), 1)
    12.5
    """
    half, level = runs // 2, alpha / (2 * max(pairs, 1))
    return math.log(lower_bound(half, half, level) / upper_bound(0, half, level))


def rarest_event(runs: int, alpha: float, pairs: int) -> float:
    """The least share of runs that certifies a loss, if the other input has none."""
    half, level = runs // 2, alpha / (2 * max(pairs, 1))

    def certify(hits: int) -> float:
        return lower_bound(hits, half, level)

    counts, never = range(1, half), upper_bound(0, half, level)
    return (1 + bisect.bisect_right(counts, never, key=certify)) / half


def pair_report(
    claim: Claim,
    found: Sequence[Evidence],
    drawn: str,
    runs: int,
    alpha: float,
    level: float,
) -> AuditReport:
    """Report what was found at ``level`` of ``alpha``, and what could have been.

    ``drawn`` says how many outputs there were, for people.
    """
    nats = power_nats(runs, level, len(found))
    rare = rarest_event(runs, level, len(found))
    within = sum(pair.allowed < nats for pair in found)
    power = (
        f"losses up to {nats:.3g} nats could have been certified, and an output that "
        f"one input never has if the other has it in at least {rare:.2g} of its runs; "
        "not rejecting proves nothing about rarer events or other pairs; "
        f"{within} of {len(found)} pairs are allowed less than that"
    )
    if within < len(found) / 2:
        power += " (more runs, nearer words or a smaller epsilon would see more)"
    return claim.report(
        strongest(found),
        "not rejected",
        found_is="lower bound",
        method=f"statistical: {amount(len(found), 'pair')}, {drawn}, "
        f"false-alarm rate {alpha:g}",
        pairs=len(found),
        power=power,
        power_nats=nats,
        runs=runs,
        alpha=alpha,
    )
