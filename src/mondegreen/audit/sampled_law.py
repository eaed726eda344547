"""Whether a sampler follows the law that an exact audit is about."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mondegreen.audit.exact import LawTable, input_word
from mondegreen.audit.report import Finding
from mondegreen.audit.sampler import Counts, Sampler
from mondegreen.scores.interval import lower_bound
from mondegreen.space.space import Space


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
