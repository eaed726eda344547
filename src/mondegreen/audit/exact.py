"""Exact audits: every pair of inputs and every output of a law that is known."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids, LogProbs
from mondegreen.audit.distances import ClaimMetric
from mondegreen.audit.report import Evidence
from mondegreen.errors import LawUnknownError, MondegreenError
from mondegreen.mechanisms.base import State
from mondegreen.space.space import Space

LARGEST_TABLE: Final = 4096
"""Words of the largest space whose whole law is compared, all pairs and outputs."""

_ROUNDING: Final = 1e-11
"""Nats that logarithms of doubles may be off; not counted as loss."""

_IMPOSSIBLE: Final = -1e30
"""Stands for ln 0, so that two impossible outputs differ by nothing."""

_COMPLETE: Final = 1e-6
"""How far the probabilities of an input may be from a sum of 1."""

_CHUNK_BYTES: Final = 1 << 20

Progress = Callable[[float], object]


@final
@dataclass(frozen=True, slots=True)
class LawTable:
    """The law of some inputs.

    Parameters
    ----------
    ids : int32 array, shape (inputs,)
        Which inputs the rows are; ``V`` is the unknown word.
    log_law : float64 array, shape (inputs, outputs)
        Natural logarithms; ``-inf`` for the impossible.
    outputs : sequence of str
        Names of the columns.
    error : float, nats
        Most that an entry may be off, where it comes from quadrature.
    how : str
        Where the table comes from.
    columns : int32 array, shape (V,), optional
        The column of every word; by default one each.
    """

    ids: Ids
    log_law: LogProbs
    outputs: Sequence[str]
    how: str
    error: float = 0.0
    columns: Ids | None = None


def table_of(state: State, ids: Ids | None = None) -> LawTable:
    """Return the law of a state that knows it.

    Parameters
    ----------
    state : State
        Its ``log_prob`` is the law that it samples.
    ids : int32 array, optional
        Which inputs; all, the unknown word included, by default.

    Raises
    ------
    LawUnknownError
        If the law has no closed form, or the space is too large for all inputs.
    MondegreenError
        If what is stated is no law.
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
            f"what {state.guarantee.mechanism} states as its law does not sum to 1; "
            "nothing can be audited by it"
        )
    return LawTable(chosen, log_law, state.space.words, "closed law")


def worst_pair(
    table: LawTable,
    metric: ClaimMetric,
    epsilon: float,
    space: Space,
    pairs: Sequence[tuple[int, int]] | None = None,
    progress: Progress = lambda share: None,
) -> Evidence | None:
    r"""Return the pair of rows with the largest :math:`\max_y |\ln P/P'| / d`.

    Parameters
    ----------
    table : LawTable
        Rows to compare.
    metric : ClaimMetric
        Distances of their ids.
    epsilon : float
        Of the claim.
    space : Space
        For the names of the inputs.
    pairs : sequence of (int, int), optional
        Rows to compare, instead of all pairs.
    progress : callable
        Called with the share that is done.

    Returns
    -------
    Evidence or None
        None where there are not two inputs. The loss is what is certain: rounding of
        logarithms, and the error of the table, are taken off. A loss at distance 0,
        or an output that one input alone can have, is infinite per unit of distance.

    Notes
    -----
    *Numerics.* Memory is the table and a megabyte a thread; all cores are used.
    """
    log_law = np.where(np.isneginf(table.log_law), _IMPOSSIBLE, table.log_law)
    slack = _ROUNDING + 2 * table.error
    partners = _partners(len(log_law), pairs)
    best: list[tuple[float, float, int, int]] = []
    lock, done = threading.Lock(), [0]

    def work(i: int) -> None:
        others = partners[i]
        losses = _losses(log_law, i, others) - slack
        gaps = metric.between(table.ids[i : i + 1], table.ids[others])[0]
        steepness = _per_distance(losses, gaps)
        worst = int(np.argmax(steepness))
        with lock:
            best.append(
                (float(steepness[worst]), float(losses[worst]), i, int(others[worst]))
            )
            done[0] += len(others)
            progress(done[0] / total)

    total = sum(map(len, partners.values()))
    if not total:
        return None
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(work, partners))
    _, _, first, second = max(best)
    return _evidence(table, log_law, (first, second), metric, epsilon, space, slack)


def input_word(space: Space, id: int) -> str:
    """Return the name of an input; the unknown word is no word of the space."""
    return space.words[id] if id < space.vocab_size else "(unknown word)"


def _partners(
    rows: int, pairs: Sequence[tuple[int, int]] | None
) -> dict[int, NDArray[np.intp]]:
    """Return for each row the rows it is compared with."""
    if pairs is None:
        return {i: np.arange(i + 1, rows) for i in range(rows - 1)}
    found: dict[int, list[int]] = {}
    for i, j in pairs:
        found.setdefault(min(i, j), []).append(max(i, j))
    return {i: np.array(others, dtype=np.intp) for i, others in found.items()}


def _losses(log_law: LogProbs, i: int, others: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the largest difference of row i to others; infinite at lone zeros."""
    size = max(1, _CHUNK_BYTES // (8 * log_law.shape[1]))
    found = np.empty(len(others))
    contiguous = len(others) > 0 and int(others[-1] - others[0]) + 1 == len(others)
    for start in range(0, len(others), size):
        stop = min(start + size, len(others))
        rows: slice | NDArray[np.intp] = others[start:stop]
        if contiguous:  # a view instead of a copy
            rows = slice(int(others[0]) + start, int(others[0]) + stop)
        gap = log_law[rows] - log_law[i]
        found[start:stop] = np.maximum(gap.max(axis=1), -gap.min(axis=1))
    found[found > -_IMPOSSIBLE / 2] = np.inf
    return found


def _per_distance(
    losses: NDArray[np.float64], gaps: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return loss over distance; infinite for any loss at distance 0."""
    found = np.zeros(len(losses))
    positive = losses > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        found[positive] = losses[positive] / gaps[positive]
    # Infinitely far apart, nothing is promised.
    found[np.isinf(gaps)] = 0.0
    return found


def _evidence(
    table: LawTable,
    log_law: LogProbs,
    rows: tuple[int, int],
    metric: ClaimMetric,
    epsilon: float,
    space: Space,
    slack: float,
) -> Evidence:
    """Describe a pair; the first input is the one that has the output more often."""
    gap = log_law[rows[0]] - log_law[rows[1]]
    output = int(np.argmax(np.abs(gap)))
    first, second = rows if gap[output] >= 0 else rows[::-1]
    ids = int(table.ids[first]), int(table.ids[second])
    distance = float(metric.between(np.array(ids[:1]), np.array(ids[1:]))[0, 0])
    size = abs(float(gap[output]))
    return Evidence(
        ids=ids,
        words=(input_word(space, ids[0]), input_word(space, ids[1])),
        distance=distance,
        loss=math.inf if size > -_IMPOSSIBLE / 2 else max(0.0, size - slack),
        allowed=epsilon * distance,
        event=(table.outputs[output],),
        outputs=1,
    )
