"""The event by which two inputs are told apart, chosen on runs of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.audit.sampler import Counts
from mondegreen.scores.interval import wilson

_CAUTION: Final = 2.5
"""Deviations by which counts are mistrusted when events are compared."""


@final
@dataclass(frozen=True, slots=True)
class Event:
    """A set of outputs.

    Parameters
    ----------
    members : bool array, shape (outputs,)
        Which of the outputs that were known when it was chosen.
    is_open : bool
        Whether it holds every output that was not seen then.
    score : float, nats
        How telling it looked; of no statistical meaning.
    """

    members: NDArray[np.bool_]
    is_open: bool
    score: float

    def mask(self, size: int) -> NDArray[np.bool_]:
        """Return which outputs are in it, shape (size,) or more if more are known."""
        found = np.full(max(size, len(self.members)), self.is_open)
        found[: len(self.members)] = self.members
        return found

    def hits(self, counts: Counts) -> int:
        """Return how many runs fell into it."""
        return int(counts[self.mask(len(counts))[: len(counts)]].sum())


def choose_event(first: tuple[Counts, Counts], second: tuple[Counts, Counts]) -> Event:
    """Return the set of outputs that tells the first input best from the second.

    Parameters
    ----------
    first, second : (int64 array, int64 array)
        Counts of two separate parts of the runs of each input.

    Notes
    -----
    Candidates are single outputs; by the lemma of Neyman and Pearson, the sets of
    outputs whose ratio exceeds a threshold; and all but the most frequent outputs,
    since many rare ones have no ratio to go by. Outputs are ordered by the first part
    of the runs and scored by the second, since sets of rare outputs look better than
    they are on the runs that chose them. What the first part has not seen is one
    output for this purpose; a set that contains it is open to whatever comes. The
    runs that measure the event must be others again.
    """
    size = max(map(len, (*first, *second)))
    p, scored_p, q, scored_q = (
        np.pad(part, (0, size - len(part))) for part in (*first, *second)
    )
    seen = p + q > 0
    old_p, old_q = np.append(p[seen], 0), np.append(q[seen], 0)
    new_p = np.append(scored_p[seen], scored_p[~seen].sum())
    new_q = np.append(scored_q[seen], scored_q[~seen].sum())
    orders = (
        np.array([np.argmax(_score(old_p, old_q, int(old_p.sum())))]),
        np.argsort(-(old_p + 0.5) / (old_q + 0.5), kind="stable"),
        np.argsort(old_p + old_q, kind="stable"),
    )
    best, chosen, runs = -np.inf, orders[0], int(new_p.sum())
    for order in orders:
        score = _score(np.cumsum(new_p[order]), np.cumsum(new_q[order]), runs)
        cut = int(np.argmax(score))
        if score[cut] > best:
            best, chosen = float(score[cut]), order[: cut + 1]
    inside = np.zeros(len(old_p), dtype=bool)
    inside[chosen] = True
    members = np.full(size, inside[-1])
    members[seen] = inside[:-1]
    return Event(members, bool(inside[-1]), best)


def _score(p: Counts, q: Counts, runs: int) -> NDArray[np.float64]:
    """Return rough lower bounds of log-ratios."""
    low, _ = wilson(p, runs, _CAUTION)
    _, high = wilson(q, runs, _CAUTION)
    with np.errstate(divide="ignore"):
        score: NDArray[np.float64] = np.log(low) - np.log(high)
    return score
