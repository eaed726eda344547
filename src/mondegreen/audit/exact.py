"""Exact audits: every pair of inputs and every output of a law that is known."""

from __future__ import annotations

import bisect
import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats, Ids, LogProbs, slices
from mondegreen.audit.claim import Claim
from mondegreen.audit.report import Evidence, Finding
from mondegreen.audit.statistical import StateSampler
from mondegreen.errors import LawUnknownError, MondegreenError
from mondegreen.mechanisms.base import Progress, State, no_progress
from mondegreen.scores.interval import lower_bound

LARGEST_TABLE: Final = 4096
"""Words of the largest space whose whole law is compared, all pairs and outputs."""

_ROUNDING: Final = 1e-11
"""Nats that logarithms of doubles may be off; not counted as loss."""

_IMPOSSIBLE: Final = -1e30
"""Stands for ln 0, so that two impossible outputs differ by nothing."""

_COMPLETE: Final = 1e-6
"""How far the probabilities of an input may be from a sum of 1."""

_CHUNK_BYTES: Final = 1 << 20


class LawTable(NamedTuple):
    """Natural logarithms of the law of some inputs, a row each; -inf: impossible."""

    ids: Ids
    log_law: LogProbs


def build_table(state: State, ids: Ids | None = None) -> LawTable:
    """Ask for the law of some inputs, by default all, the unknown word included.

    Raises ``LawUnknownError`` where there is no closed form, or too many words for all.
    """
    size = state.space.vocab_size
    if ids is None and size > LARGEST_TABLE:
        raise LawUnknownError(
            f"all pairs and outputs are compared on up to {LARGEST_TABLE:,} words; "
            f"this space has {size:,}: pass --words {LARGEST_TABLE}, or fewer"
        )
    chosen = np.arange(size + 1, dtype=np.int32) if ids is None else ids
    log_law = state.log_prob(chosen)
    # Not so where an entry is no number, either: it would compare as no loss.
    if not (np.abs(np.exp(log_law).sum(axis=1) - 1) < _COMPLETE).all():
        raise MondegreenError(
            f"the probabilities of {state.guarantee.mechanism} do not sum to 1, so "
            "they cannot be audited"
        )
    return LawTable(chosen, log_law)


def worst_pair(
    table: LawTable,
    claim: Claim,
    pairs: Sequence[tuple[int, int]] | None = None,
    progress: Progress = no_progress,
) -> Evidence | None:
    r"""Find the pair of rows with the largest :math:`\max_y |\ln P/P'| / d`.

    All pairs of rows by default; None where there is none. A loss at distance 0, or an
    output that one input alone can have, is infinite per unit of distance. Memory is
    the table and a megabyte a thread; all cores are used.
    """
    log_law = np.where(np.isneginf(table.log_law), _IMPOSSIBLE, table.log_law)
    partners = _partners(len(log_law), pairs)
    total = sum(map(len, partners.values()))
    if not total:
        return None

    def worst_with(i: int) -> tuple[float, float, int, int]:
        others = partners[i]
        losses = _losses(log_law, i, others) - _ROUNDING
        distances = claim.between(table.ids[i : i + 1], table.ids[others])[0]
        with np.errstate(divide="ignore", invalid="ignore"):
            steepness = np.where(losses > 0, losses / distances, 0.0)
        steepness[np.isinf(distances)] = 0.0  # infinitely far: nothing is promised
        worst = int(np.argmax(steepness))
        return float(steepness[worst]), float(losses[worst]), i, int(others[worst])

    found, done = [], 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for each in pool.map(worst_with, partners):
            found.append(each)
            done += len(partners[each[2]])
            progress(done / total)
    _, _, first, second = max(found)
    return _evidence(table.ids, log_law, first, second, claim)


def _partners(
    rows: int, pairs: Sequence[tuple[int, int]] | None
) -> dict[int, NDArray[np.intp]]:
    """For each row the later rows that it is compared with, in order."""
    if pairs is None:
        return {i: np.arange(i + 1, rows) for i in range(rows - 1)}
    found: dict[int, set[int]] = {}
    for i, j in pairs:
        found.setdefault(min(i, j), set()).add(max(i, j))
    return {i: np.array(sorted(others)) for i, others in found.items()}


def _losses(log_law: LogProbs, i: int, others: NDArray[np.intp]) -> Floats:
    """The largest difference of row i to others; infinite at lone zeros."""
    size = max(1, _CHUNK_BYTES // (8 * log_law.shape[1]))
    found = np.empty(len(others))
    for part in slices(len(others), size):
        some = others[part]
        first, last = int(some[0]), int(some[-1])
        # A view where the rows follow each other, instead of a copy.
        follow = last - first + 1 == len(some)
        gap = (log_law[first : last + 1] if follow else log_law[some]) - log_law[i]
        found[part] = np.maximum(gap.max(axis=1), -gap.min(axis=1))
    found[found > -_IMPOSSIBLE / 2] = np.inf
    return found


def _evidence(
    ids: Ids, log_law: LogProbs, first: int, second: int, claim: Claim
) -> Evidence:
    """Describe a pair of rows; the input that has the output more often is first."""
    gap = log_law[first] - log_law[second]
    output = int(np.argmax(np.abs(gap)))
    if gap[output] < 0:
        first, second = second, first
    size = abs(float(gap[output]))
    is_infinite = size > -_IMPOSSIBLE / 2
    return replace(
        claim.pair(int(ids[first]), int(ids[second])),
        loss=math.inf if is_infinite else max(0.0, size - _ROUNDING),
        event=(claim.space.words[output],),
        outputs=1,
    )


def smallest_difference(runs: int, level: float) -> float:
    """The smallest excess over a share of one half that such a test would find.

    Excesses over other shares are found sooner.

    >>> round(smallest_difference(20_000, 0.0001), 3)
    0.019
    """
    half = runs // 2
    counts = range(half // 2, half)
    above = bisect.bisect_right(counts, 0.5, key=lambda n: lower_bound(n, half, level))
    return (half // 2 + above) / half - 0.5


def sampler_findings(
    sampler: StateSampler,
    table: LawTable,
    rows: Sequence[int],
    claim: Claim,
    runs: int,
    alpha: float,
) -> list[Finding]:
    """Compare outputs with the law that was audited, and report where they disagree.

    An exact audit is about a formula. This ties the formula to what is sampled: on
    one half of the runs the outputs are found that are too frequent, the other half
    tests their share, at ``alpha`` over all rows.
    """
    half, found = runs // 2, []
    for row in rows:
        id, law = int(table.ids[row]), np.exp(table.log_law[row])
        name = claim.word(id)
        chosen, fresh = (sampler.counts((id, name), half) for _ in range(2))
        gap = chosen - half * law
        # Many small deviations add up in a set; a single output may stand out alone.
        event = gap > np.sqrt(half * law * np.maximum(1 - law, 0))
        if not event.any():
            continue
        hits, share = int(fresh[event].sum()), float(law[event].sum())
        if lower_bound(hits, half, alpha / len(rows)) > share + 1e-12:
            text = (
                f"outputs of {name!r} that the law gives a share of {share:.4g} came "
                f"in {hits:,} of {half:,} runs"
            )
            found.append(Finding("sampler", True, text))
    return found
