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
from typing import Final, Protocol, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.audit.bounds import (
    largest_loss,
    lower_bound,
    rarest_event,
    upper_bound,
    wilson,
)
from mondegreen.audit.distances import ClaimMetric
from mondegreen.audit.exact import LawTable, input_word
from mondegreen.audit.report import Evidence, Finding
from mondegreen.errors import InvalidParameterError
from mondegreen.mechanisms.base import State
from mondegreen.space.space import Space

__all__ = [
    "Comparison",
    "Sampler",
    "StateSampler",
    "check_settings",
    "comparison_of",
    "law_findings",
    "measure_pairs",
    "power_of",
    "reach",
    "strongest",
]

Counts = NDArray[np.int64]
_Drawn = tuple[tuple[Counts, Counts], Counts]
Progress = Callable[[float], object]

_Z: Final = 2.5
"""Caution, in deviations, with which events are chosen on the first half."""

_BLOCK: Final = 1 << 17


class Sampler(Protocol):
    """Draws outputs of inputs, and counts them."""

    def counts(self, key: Hashable, runs: int) -> Counts:
        """Return how often each output came out of fresh runs of one input."""

    def name(self, output: int) -> str:
        """Return the output of that index."""


@final
class StateSampler:
    """Counts outputs of a mechanism of this package.

    Parameters
    ----------
    state : State
        Prepared.
    rng : numpy.random.Generator
        Consumed.
    """

    def __init__(self, state: State, rng: np.random.Generator) -> None:
        self._state, self._rng = state, rng

    def counts(self, key: Hashable, runs: int) -> Counts:
        """Return how often each word came out for an input."""
        size = self._state.space.vocab_size
        found = np.zeros(size, dtype=np.int64)
        for start in range(0, runs, _BLOCK):
            ids = np.full(min(_BLOCK, runs - start), key, dtype=np.int32)
            found += np.bincount(self._state.sample(ids, self._rng), minlength=size)
        return found

    def name(self, output: int) -> str:
        """Return a word."""
        return self._state.space.words[output]


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
    """
    half = runs // 2
    level = alpha / (2 * max(len(pairs), 1))
    keys = list(
        dict.fromkeys(key for pair in pairs for key in (pair.first, pair.second))
    )
    drawn: dict[Hashable, _Drawn] = {}
    for done, key in enumerate(keys, start=1):
        # Two separate runs: what is chosen on one is measured on the other.
        parts = (half // 2, half - half // 2)
        chosen = sampler.counts(key, parts[0]), sampler.counts(key, parts[1])
        drawn[key] = chosen, sampler.counts(key, half)
        progress(done / len(keys))
    return [_measure(sampler, pair, drawn, epsilon, half, level) for pair in pairs]


def strongest(found: Sequence[Evidence]) -> Evidence | None:
    """Return the evidence that exceeds what is allowed most; None where there is none.

    Parameters
    ----------
    found : sequence of Evidence
        From :func:`measure_pairs`.
    """
    return max(found, key=_rank, default=None)


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


def check_settings(runs: int, pairs: int, alpha: float) -> None:
    """Refuse settings that no statistical audit can work with.

    Parameters
    ----------
    runs : int
        0, or enough for two halves.
    pairs : int
        At least 1.
    alpha : float
        In (0, 1).
    """
    if runs != 0 and runs < 20:
        raise InvalidParameterError("runs", runs, "0, or at least 20")
    if pairs < 1:
        raise InvalidParameterError("pairs", pairs, "at least 1")
    if not 0 < alpha < 1:
        raise InvalidParameterError("alpha", alpha, "in (0, 1)")


def power_of(runs: int, alpha: float, pairs: int) -> tuple[float, str]:
    """Return the largest loss that could have been certified, and it in words.

    Parameters
    ----------
    runs : int
        Runs of each input, both halves.
    alpha : float
        Level over all pairs.
    pairs : int
        Pairs that share it.
    """
    level = alpha / (2 * max(pairs, 1))
    nats = largest_loss(runs // 2, level)
    rare = rarest_event(runs // 2, level)
    return nats, (
        f"losses up to {nats:.3g} nats could have been certified, and an output that "
        f"one input never has if the other has it in at least {rare:.2g} of its runs; "
        "not rejecting proves nothing about rarer events or other pairs"
    )


def reach(power: str, nats: float, pairs: Sequence[Comparison], epsilon: float) -> str:
    """Return what the power means for these pairs: how many it could have convicted.

    Parameters
    ----------
    power : str
        From :func:`power_of`.
    nats : float
        From :func:`power_of`.
    pairs : sequence of Comparison
        That were compared.
    epsilon : float
        Of the claim.
    """
    within = sum(epsilon * pair.distance < nats for pair in pairs)
    text = f"{power}; {within} of {len(pairs)} pairs are allowed less than that"
    if within < len(pairs) / 2:
        text += " (more runs, nearer words or a smaller epsilon would see more)"
    return text


def law_findings(
    sampler: Sampler,
    table: LawTable,
    space: Space,
    inputs: Sequence[int],
    runs: int,
    alpha: float,
) -> list[Finding]:
    """Compare outputs with the law that was audited; return where they disagree.

    An exact audit is about a formula. This ties the formula to what is sampled: on
    one half of the runs the outputs are found that are too frequent, the other half
    tests their share, at ``alpha`` over all inputs.

    Parameters
    ----------
    sampler : Sampler
        Draws outputs.
    table : LawTable
        The law.
    space : Space
        For the names of inputs.
    inputs : sequence of int
        Rows of the table that are tried.
    runs : int
        Runs of each.
    alpha : float
        Chance that a sampler with that law is reported.
    """
    half, found = runs // 2, []
    for row in inputs:
        key, law = int(table.ids[row]), np.exp(table.log_law[row])
        chosen, fresh = (_merged(sampler.counts(key, half), table) for _ in range(2))
        gap = chosen - half * law
        # Many small deviations add up in a set; a single output may stand out alone.
        event = gap > np.sqrt(half * law * np.maximum(1 - law, 0))
        if not event.any():
            continue
        hits, share = int(fresh[event].sum()), float(law[event].sum())
        low = lower_bound(hits, half, alpha / len(inputs))
        if low > share + 1e-12 + table.error:
            found.append(
                Finding(
                    "sampler",
                    True,
                    f"outputs of {input_word(space, key)!r} that the law gives a share "
                    f"of {share:.4g} came in {hits:,} of {half:,} runs",
                )
            )
    return found


def _merged(counts: Counts, table: LawTable) -> Counts:
    """Add up words that are one column of the table."""
    if table.columns is None:
        return counts
    merged = np.zeros(table.log_law.shape[1], dtype=np.int64)
    np.add.at(merged, table.columns, counts)
    return merged


def _measure(
    sampler: Sampler,
    pair: Comparison,
    drawn: dict[Hashable, _Drawn],
    epsilon: float,
    half: int,
    level: float,
) -> Evidence:
    """Choose an event on the first halves and bound its ratio on the second."""
    options = []
    for first, second in ((pair.first, pair.second), (pair.second, pair.first)):
        options.append(
            (
                _best_event(drawn[first][0], drawn[second][0]),
                first == pair.first,
                first,
                second,
            )
        )
    best, forward, first, second = max(options, key=lambda option: option[0][0])
    _, event, is_open = best
    p, q = _aligned(drawn[first][1], drawn[second][1], len(event))
    inside = np.full(max(len(p), len(event)), is_open)
    inside[: len(event)] = event
    hits = int(p[inside[: len(p)]].sum()), int(q[inside[: len(q)]].sum())
    low, high = lower_bound(hits[0], half, level), upper_bound(hits[1], half, level)
    members = np.flatnonzero(inside)
    frequent = members[np.argsort(-p[members], kind="stable")]
    turn = 1 if forward else -1
    return Evidence(
        ids=pair.ids[::turn],  # type: ignore[arg-type]
        words=pair.words[::turn],  # type: ignore[arg-type]
        distance=pair.distance,
        loss=max(0.0, math.log(low / high)) if low > 0 else 0.0,
        allowed=epsilon * pair.distance if pair.distance else 0.0,
        event=tuple(sampler.name(int(output)) for output in frequent[:8]),
        outputs=len(members),
        counts=hits,
        runs=half,
    )


def _best_event(
    first: tuple[Counts, Counts], second: tuple[Counts, Counts]
) -> tuple[float, NDArray[np.bool_], bool]:
    """Return the most telling set of outputs, its score, and whether it is open.

    Candidates are single outputs; by the lemma of Neyman and Pearson, the sets of
    outputs whose ratio exceeds a threshold; and all but the most frequent outputs,
    since many rare ones have no ratio to go by. Outputs are ordered by one part of
    the runs and scored by another, since sets of rare outputs look better than they
    are on the runs that chose them. What the first part has not seen is one output
    for this purpose; a set that contains it is open to whatever comes.
    """
    size = max(map(len, (*first, *second)))
    p, scored_p, q, scored_q = (
        np.pad(part, (0, size - len(part))) for part in (*first, *second)
    )
    seen = p + q > 0
    old_p, old_q = np.append(p[seen], 0), np.append(q[seen], 0)
    new_p = np.append(scored_p[seen], scored_p[~seen].sum())
    new_q = np.append(scored_q[seen], scored_q[~seen].sum())
    runs = int(new_p.sum())
    orders = (
        np.array([np.argmax(_score(old_p, old_q, int(old_p.sum())))]),
        np.argsort(-(old_p + 0.5) / (old_q + 0.5), kind="stable"),
        np.argsort(old_p + old_q, kind="stable"),
    )
    best, chosen = -np.inf, orders[0]
    for order in orders:
        score = _score(np.cumsum(new_p[order]), np.cumsum(new_q[order]), runs)
        cut = int(np.argmax(score))
        if score[cut] > best:
            best, chosen = float(score[cut]), order[: cut + 1]
    members = np.zeros(len(old_p), dtype=bool)
    members[chosen] = True
    event = np.full(size, members[-1])
    event[seen] = members[:-1]
    return best, event, bool(members[-1])


def _score(p: Counts, q: Counts, half: int) -> NDArray[np.float64]:
    """Return rough lower bounds of log-ratios."""
    low, _ = wilson(p, half, _Z)
    _, high = wilson(q, half, _Z)
    with np.errstate(divide="ignore"):
        score: NDArray[np.float64] = np.log(low) - np.log(high)
    return score


def _aligned(p: Counts, q: Counts, least: int = 1) -> tuple[Counts, Counts]:
    """Return counts of the same length; outputs seen later are further back."""
    size = max(len(p), len(q), least)
    return np.pad(p, (0, size - len(p))), np.pad(q, (0, size - len(q)))


def _rank(evidence: Evidence) -> tuple[float, float]:
    """Order by excess; without any, by epsilon."""
    return evidence.excess, evidence.epsilon
