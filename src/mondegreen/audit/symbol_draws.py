"""Draws over a policy, compared with their law: strays, members of groups, digits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats, Ids, Weights
from mondegreen.audit.report import Finding
from mondegreen.audit.statistical import Counts, describe_excess, find_excess
from mondegreen.audit.symbol_law import SymbolLaw
from mondegreen.mechanisms.symbols.response import ResponseState
from mondegreen.policy.policy import Policy
from mondegreen.sampling.integers import TOTAL

POOL: Final = 50
"""Draws for strays, for each draw of one input: strays are rare."""

_FEW: Final = 100
"""Outputs of a group for which the runs are enough; larger groups have more draws."""

_PARTS: Final = 1000
"""Parts of the outputs of a larger format, which are counted."""

_BLOCK: Final = 1 << 20

_COUNTED: Final = 10_000
"""Outputs of the largest group whose outputs are counted one by one."""


@final
@dataclass(frozen=True, slots=True)
class MemberTest:
    """Parts of the outputs of one symbol: where each begins, and its probability."""

    symbol: int
    starts: Weights  # outputs of the symbol are numbered from 0
    law: Floats

    def draw(self, policy: Policy, runs: int, rng: np.random.Generator) -> Counts:
        """Count how many outputs fall into each part; the last count is of others."""
        codes = policy.draw_members(np.full(runs, self.symbol, dtype=np.int32), rng)
        offsets = codes - policy.first[self.symbol]
        parts = np.searchsorted(self.starts, offsets, side="right") - 1
        is_other = (offsets < 0) | (offsets >= policy.sizes[self.symbol])
        parts[is_other] = len(self.starts)
        return np.bincount(parts, minlength=len(self.starts) + 1)

    def name(self, policy: Policy, part: int) -> str:
        """Name a part by its first output."""
        if part == len(self.starts):
            return "words of other groups"
        code = int(policy.first[self.symbol] + self.starts[part])
        is_one = len(self.starts) == policy.sizes[self.symbol]
        return f"{policy.print(code)!r}{'' if is_one else ' and above'}"


def split(runs: int) -> tuple[int, int, int]:
    """Cut runs into two parts that choose an event, and one that measures it."""
    half = runs // 2
    return half // 2, half - half // 2, half


def stray_findings(
    state: ResponseState,
    law: SymbolLaw,
    names: Sequence[str],
    runs: int,
    rng: np.random.Generator,
    alpha: float,
) -> list[Finding]:
    """Compare how often words are replaced, and by which symbols, with the law.

    All ordinary words are drawn equally often, and so are all groups. Where the
    chances of the inputs differ, the bounds of equal chances are wider (Hoeffding,
    Annals of Mathematical Statistics 1956).
    """
    found = []
    for kind, ids, shares in law.pooled:
        parts = [_count_strays(state, ids, part, rng) for part in split(POOL * runs)]
        excess = find_excess(parts, shares, alpha / len(law.pooled))
        if excess is not None:
            outputs = [*names, "themselves"]
            seen = describe_excess(excess, outputs.__getitem__)
            found.append(Finding("strays", True, f"{kind} words give {seen}"))
    return found


def _count_strays(
    state: ResponseState, ids: Ids, runs: int, rng: np.random.Generator
) -> Counts:
    """Count the outputs of all inputs in turn; the last count is of those that stay."""
    size = state.alphabet.size
    found = np.zeros(size + 1, dtype=np.int64)
    for start in range(0, runs, _BLOCK):
        given = ids[np.arange(start, min(start + _BLOCK, runs)) % len(ids)]
        drawn = state.sample(given, rng)
        found += np.bincount(np.where(drawn == given, size, drawn), minlength=size + 1)
    return found


def member_findings(
    policy: Policy,
    names: Sequence[str],
    runs: int,
    rng: np.random.Generator,
    alpha: float,
) -> list[Finding]:
    """Compare the outputs of each group and each format with the uniform law."""
    tests = [
        _make_test(policy, symbol)
        for symbol in range(len(policy.ordinary), policy.alphabet.size)
    ]
    found = []
    for test in tests:
        draws = runs * max(1, len(test.law) // _FEW)
        parts = [test.draw(policy, part, rng) for part in split(draws)]
        excess = find_excess(parts, test.law, alpha / len(tests))
        if excess is not None:
            seen = describe_excess(excess, partial(test.name, policy))
            text = f"{names[test.symbol]!r} gives {seen}"
            found.append(Finding("members", True, text))
    return found


def _make_test(policy: Policy, symbol: int) -> MemberTest:
    """Count the outputs of a symbol one by one, or in 1,000 parts of a large format."""
    size = int(policy.sizes[symbol])
    count = size if size <= _COUNTED else _PARTS
    edges = [size * i // count for i in range(count + 1)]
    draws = [_upto(b, size) - _upto(a, size) for a, b in pairwise(edges)]
    return MemberTest(symbol, np.array(edges[:-1], dtype=np.int64), _law([*draws, 0]))


def digit_findings(
    policy: Policy,
    names: Sequence[str],
    runs: int,
    rng: np.random.Generator,
    alpha: float,
) -> list[Finding]:
    """Compare each digit of printed numbers with its law, format by format."""
    symbols = list_number_formats(policy)
    lengths = [len(policy.print(int(policy.first[symbol]))) for symbol in symbols]
    found = []
    for symbol, length in zip(symbols, lengths, strict=True):
        parts = [_print_digits(policy, symbol, part, rng) for part in split(runs)]
        for place in range(length):
            counts = [np.bincount(part[:, place], minlength=10) for part in parts]
            law = _digit_law(policy, symbol, length - 1 - place)
            excess = find_excess(counts, law, alpha / sum(lengths))
            if excess is not None:
                seen = describe_excess(excess, str)
                text = f"digit {place + 1} of {names[symbol]!r} is {seen}"
                found.append(Finding("digits", True, text))
    return found


def list_number_formats(policy: Policy) -> list[int]:
    """List the symbols of large formats whose outputs are numbers in a row."""
    found = []
    for symbol in range(len(policy.ordinary), policy.alphabet.size):
        first, size = int(policy.first[symbol]), int(policy.sizes[symbol])
        low, high = policy.print(first), policy.print(first + size - 1)
        is_number = low.isdigit() and high.isdigit() and len(low) == len(high)
        if size > _COUNTED and is_number and int(high) - int(low) == size - 1:
            found.append(symbol)
    return found


def _print_digits(
    policy: Policy, symbol: int, runs: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Print numbers, and cut them into digits: an array of (runs, digits)."""
    codes = policy.draw_members(np.full(runs, symbol, dtype=np.int32), rng)
    return np.array([list(map(int, policy.print(code))) for code in codes.tolist()])


def _digit_law(policy: Policy, symbol: int, place: int) -> Floats:
    """The law of one digit of a format; ``place`` 0 is that of the units."""
    low, size = int(policy.print(int(policy.first[symbol]))), int(policy.sizes[symbol])
    base, rest = divmod(TOTAL, size)
    draws = []
    for digit in range(10):
        below, whole, part = (
            _numbers_with(digit, place, low + more) for more in (0, size, rest)
        )
        draws.append(base * (whole - below) + part - below)
    return _law(draws)


def _numbers_with(digit: int, place: int, stop: int) -> int:
    """Count the numbers below ``stop`` that have a digit at a place."""
    unit: int = 10**place
    tens, rest = divmod(stop, 10 * unit)
    return tens * unit + min(max(rest - digit * unit, 0), unit)


def _upto(stop: int, size: int) -> int:
    """Count the draws whose remainder, by ``size``, is below ``stop``."""
    base, rest = divmod(TOTAL, size)
    return stop * base + min(stop, rest)


def _law(weights: Sequence[int]) -> Floats:
    return np.array([weight / TOTAL for weight in weights])
