"""Exact audits over the symbols of a policy: all pairs of inputs, in integers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats, Ids, Weights
from mondegreen.audit.report import Finding
from mondegreen.errors import MondegreenError
from mondegreen.mechanisms.base import Progress, no_progress
from mondegreen.mechanisms.symbols.response import ResponseState
from mondegreen.policy.numbers import Near
from mondegreen.sampling.integers import TOTAL, log_above
from mondegreen.wording import amount

_ROWS_BYTES: Final = 1 << 25

_PROBED: Final = 512
"""Outputs of one input whose first and last draw are tried; other inputs take others,
so that all are tried in turn."""

_ROUNDING: Final = 1e-12
"""Relative error of logarithms of doubles; not counted as loss."""

Integers = NDArray[np.object_]
"""Integers of any size: weights over 2**62, or over 2**124 where amounts are near."""


@final
@dataclass(frozen=True, slots=True)
class Columns:
    """The smallest and the largest weight of each output, and inputs that have it."""

    low: Integers
    high: Integers
    low_at: Ids
    high_at: Ids

    def with_rows(self, other: Columns) -> Columns:
        """Return the extremes over the inputs of both."""
        is_lower, is_higher = other.low < self.low, other.high > self.high
        return Columns(
            np.where(is_lower, other.low, self.low),
            np.where(is_higher, other.high, self.high),
            np.where(is_lower, other.low_at, self.low_at),
            np.where(is_higher, other.high_at, self.high_at),
        )

    def times(self, factor: int) -> Columns:
        """Return the same law over a larger sum of weights."""
        return Columns(self.low * factor, self.high * factor, self.low_at, self.high_at)


@final
@dataclass(frozen=True, slots=True)
class Ratio:
    """Two inputs, and an output that the first has more often than the second."""

    first: int
    second: int
    output: int
    ratio: Fraction | None  # None: impossible for the second

    @property
    def loss(self) -> float:
        """Its natural logarithm in nats, rounded up."""
        return math.inf if self.ratio is None else log_above(self.ratio)


@final
@dataclass(frozen=True, slots=True)
class SymbolLaw:
    """The integer law of all inputs, as far as an audit needs it."""

    ordinary: Columns | None  # None where the policy has no ordinary word
    sensitive: Columns
    # What some inputs give, each equally often: outputs other than the input itself,
    # and last the share of inputs that stay. Cells of amounts are left out.
    pooled: tuple[tuple[str, Ids, Floats], ...]

    def worst(self, first_group: int, *, with_ordinary: bool) -> Ratio | None:
        """Find the largest ratio that the claim covers; None if all inputs are alike.

        ``with_ordinary`` says that every two inputs are compared on every output.
        Otherwise two sensitive ones are, and all inputs on outputs of groups alone.
        """
        everyone = self.sensitive
        if self.ordinary is not None:
            everyone = everyone.with_rows(self.ordinary)
        outputs = range(len(everyone.low))
        if with_ordinary:
            return _largest(everyone, outputs)
        found = (
            _largest(everyone, outputs[first_group:]),
            _largest(self.sensitive, outputs),
        )
        ratios = [each for each in found if each is not None]
        return max(ratios, key=lambda each: each.loss, default=None)


def _largest(columns: Columns, outputs: range) -> Ratio | None:
    """Find the largest ratio of two inputs over some outputs, exactly."""
    best, chosen = Fraction(1), None
    for z in outputs:
        low, high = int(columns.low[z]), int(columns.high[z])
        inputs = int(columns.high_at[z]), int(columns.low_at[z])
        if high > 0 == low:
            return Ratio(*inputs, z, None)
        # Cross-multiplied, since a fraction for each output would be slow.
        if low and high * best.denominator > best.numerator * low:
            best, chosen = Fraction(high, low), Ratio(*inputs, z, Fraction(high, low))
    return chosen


def read_law(state: ResponseState, progress: Progress = no_progress) -> SymbolLaw:
    """Read the integers of all inputs, one block of them after another.

    Raises
    ------
    MondegreenError
        If the weights of an input are no law.
    """
    alphabet = state.alphabet
    plain = alphabet.size - len(alphabet.cells)
    kinds = {
        "ordinary": np.arange(alphabet.ordinary, dtype=np.int32),
        "sensitive": np.arange(alphabet.ordinary, plain, dtype=np.int32),
    }
    columns: dict[str, Columns] = {}
    pooled = []
    for kind, ids in kinds.items():
        if not len(ids):
            continue
        shares = np.zeros(alphabet.size + 1)
        for some, rows in _blocks(state, ids):
            columns[kind] = _add_rows(columns.get(kind), some, rows)
            stays = rows[np.arange(len(some)), some].astype(np.float64)
            shares[:-1] += rows.sum(axis=0, dtype=np.float64)
            shares[some] -= stays
            shares[-1] += stays.sum()
            progress(int(some[-1] + 1) / alphabet.size)
        pooled.append((kind, ids, np.maximum(shares, 0) / (float(TOTAL) * len(ids))))
    if alphabet.near is not None:
        columns = {kind: each.times(TOTAL) for kind, each in columns.items()}
        cells = _cell_columns(state, alphabet.near)
        known = columns.get("sensitive")
        columns["sensitive"] = cells if known is None else known.with_rows(cells)
    return SymbolLaw(columns.get("ordinary"), columns["sensitive"], tuple(pooled))


def _blocks(state: ResponseState, ids: Ids) -> Iterator[tuple[Ids, Weights]]:
    """Yield inputs and their weights, checked to be laws."""
    size = state.alphabet.size
    count = max(1, _ROWS_BYTES // (8 * size))
    for start in range(0, len(ids), count):
        some = ids[start : start + count]
        rows = state.response.weights(some, size)
        # The float sum, too: one of 64 bits may overflow to the right number.
        off = np.abs(rows.sum(axis=1, dtype=np.float64) / TOTAL - 1)
        if (rows < 0).any() or (rows.sum(axis=1) != TOTAL).any() or off.max() > 1e-6:
            raise MondegreenError(
                f"what {state.guarantee.mechanism} states as its law does not sum to "
                "1, so it cannot be audited"
            )
        yield some, rows


def _extremes(ids: Ids, rows: Weights | Integers) -> Columns:
    low_at, high_at = rows.argmin(axis=0), rows.argmax(axis=0)
    outputs = np.arange(rows.shape[1])
    low, high = rows[low_at, outputs], rows[high_at, outputs]
    return Columns(low.astype(object), high.astype(object), ids[low_at], ids[high_at])


def _add_rows(known: Columns | None, ids: Ids, rows: Weights) -> Columns:
    """Return the extremes with more rows; most blocks change few outputs."""
    if known is None:
        return _extremes(ids, rows)
    low, high = rows.min(axis=0), rows.max(axis=0)
    (some,) = np.nonzero((low < known.low) | (high > known.high))
    more = _extremes(ids, rows[:, some])
    old = Columns(
        known.low[some], known.high[some], known.low_at[some], known.high_at[some]
    )
    changed = old.with_rows(more)
    for name in ("low", "high", "low_at", "high_at"):
        getattr(known, name)[some] = getattr(changed, name)
    return known


def _cell_columns(state: ResponseState, near: Near) -> Columns:
    """Give the extremes of amounts: mixtures of the laws of all cells, over 2**124."""
    ids = np.array(state.alphabet.cells, dtype=np.int32)
    ((_, rows),) = _blocks(state, ids)
    # Nearly all outputs have the same weights for all cells: they are mixed once.
    columns, inverse = np.unique(rows, axis=1, return_inverse=True)
    mixed = near.weights.astype(object) @ columns.astype(object)
    return _extremes(ids, mixed[:, inverse.reshape(-1)])


def find_near_break(near: Near) -> Finding | None:
    """Compare all pairs of cells with the rate that is stated for a step."""
    with np.errstate(divide="ignore"):
        logs = np.log(near.weights.astype(np.float64))
    steps = np.arange(len(logs))
    losses = np.abs(logs[:, None] - logs[None]).max(axis=2)
    allowed = near.certified * np.abs(steps[:, None] - steps)
    over = losses - allowed * (1 + _ROUNDING) - _ROUNDING
    i, j = np.unravel_index(int(over.argmax()), over.shape)
    if over[i, j] <= 0 and near.certified <= near.nats:
        return None
    text = (
        f"amounts near {near.grid.print(int(i))} and {near.grid.print(int(j))} lose "
        f"{losses[i, j]:.4g} nats, and {near.nats * abs(i - j):.4g} are allowed"
    )
    return Finding("amounts", True, text)


class _Given:
    """Stands in for a generator: gives the draws that an audit chose, in turn."""

    def __init__(self, *draws: Weights) -> None:
        self._draws = list(draws)

    def integers(self, low: int, high: int, size: int, dtype: Any) -> Weights:
        if (low, high) != (0, TOTAL) or not self._draws:
            raise MondegreenError("the sampler does not take one draw for each symbol")
        draws = self._draws.pop(0)
        if len(draws) != size:
            raise MondegreenError("the sampler does not take one draw for each symbol")
        return draws.astype(dtype)


@final
@dataclass(frozen=True, slots=True)
class Probes:
    """How many draws were tried, and the inputs for which the sampler was wrong."""

    count: int
    wrong: tuple[int, ...]


def probe_sampler(state: ResponseState, progress: Progress = no_progress) -> Probes:
    """Try the first and the last draw of outputs, for every input.

    So the integers that were compared are those that the sampler uses: the draws of an
    input give itself first, then the other outputs in order.
    """
    alphabet, near = state.alphabet, state.alphabet.near
    count, wrong = 0, []
    for some, rows in _blocks(state, np.arange(alphabet.size, dtype=np.int32)):
        for x, row in zip(some.tolist(), rows, strict=True):
            draws, expected = _edges(x, row)
            blurred = _blur_draws(near, x - alphabet.cells.start, len(draws))
            found = _sample(state, x, *blurred, draws)
            is_wrong = bool((found != expected).any())
            if near is not None and x in alphabet.cells:
                is_wrong |= _is_blur_wrong(state, near, x)
            wrong += [x] * is_wrong
            count += len(draws)
        progress(int(some[-1] + 1) / alphabet.size)
    return Probes(count, tuple(wrong))


def _sample(state: ResponseState, symbol: int, *draws: Weights) -> Ids:
    given: Any = _Given(*draws)
    return state.sample(np.full(len(draws[-1]), symbol, dtype=np.int32), given)


def _edges(x: int, row: Weights) -> tuple[Weights, Weights]:
    """The first and the last draw of outputs of an input, and these outputs."""
    every = np.flatnonzero(row)
    at = int(np.searchsorted(every, x))  # the place of the input among them
    has_input = at < len(every) and bool(every[at] == x)
    count = len(every) + (not has_input)
    is_tried = np.full(count, count <= _PROBED)
    is_tried[(np.arange(_PROBED) * count // _PROBED + x) % count] = True
    is_tried[[0, -1]] = True
    # The input comes first, the others in order: those before it end later for it.
    others = np.flatnonzero(is_tried[1:])
    others = every[others + (has_input & (others >= at))]
    ends = np.cumsum(row)[others] + np.where(others < x, row[x], 0)
    if has_input:
        others, ends = np.append(x, others), np.append(row[x], ends)
    return np.append(ends - row[others], ends - 1), np.tile(others, 2)


def _blur_draws(near: Near | None, cell: int, count: int) -> list[Weights]:
    """Draws under which an amount stays in its cell; none where there are no cells."""
    if near is None:
        return []
    if cell < 0:
        return [np.zeros(0, dtype=np.int64)]
    start = int(near.weights[cell, :cell].sum())
    return [np.full(count, start, dtype=np.int64)]


def _is_blur_wrong(state: ResponseState, near: Near, symbol: int) -> bool:
    """Tell whether the first or last draw of a cell gives another cell."""
    first = state.alphabet.cells.start
    weights = near.weights[symbol - first]
    ends = np.cumsum(weights)
    cells = np.flatnonzero(weights)
    draws = np.append((ends - weights)[cells], ends[cells] - 1)
    found = _sample(state, symbol, draws, np.zeros(len(draws), dtype=np.int64))
    return bool((found != first + np.tile(cells, 2)).any())


def describe_probes(probes: Probes, names: Any) -> list[Finding]:
    """Report inputs whose outputs are not those of the law."""
    if not probes.wrong:
        return []
    words = ", ".join(repr(names[x]) for x in probes.wrong[:3])
    more = len(probes.wrong) - 3
    others = f" and {amount(more, 'other')}" if more > 0 else ""
    text = f"the sampler does not follow the law for {words}{others}"
    return [Finding("sampler", True, text)]
