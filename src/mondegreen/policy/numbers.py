r"""Numbers: hidden behind their format, blurred on a public log grid, or plain.

``hide``
    Numbers have the symbols of :mod:`mondegreen.policy.shapes`. The guarantee must
    state: numbers of one format lose 0; the format (how many digits, a leading zero, a
    year) is a symbol as any other; separators pass, so their places tell magnitude.
``near``
    Amounts become cells of a public :class:`Grid` and get two-sided geometric noise
    (:class:`Near`). The guarantee must state: the grid and its bounds; loss in nats per
    cell and at most; that signs, currencies and units ("million") pass and tell
    magnitude; that a near amount is meant to be told from a far one.
``plain``
    Amounts that stand alone become structure (:func:`open_amounts`). The guarantee must
    state: they are disclosed, an infinite loss between texts whose amounts differ.

An *amount* is digits with an optional fraction and commas in groups of three, between
blanks or signs that end a number: ``12,000`` is one and its commas are its own, since
structure that tells magnitude would pass. Years, numbers with a leading zero, dates,
times, phone numbers and parts of addresses are no amounts: they hide.
"""

from __future__ import annotations

import bisect
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise
from typing import ClassVar, Final, final

import numpy as np

from mondegreen.arrays import Ids, Weights
from mondegreen.errors import InvalidParameterError
from mondegreen.policy.references import read_references
from mondegreen.policy.shapes import Shape, number_shape
from mondegreen.sampling.integers import TOTAL, draw_uniform, log_above
from mondegreen.text.tokenizer import TokenizedBatch

HIDE_DISCLOSED: Final = (
    "separators of numbers: the places of commas, points and signs. They disclose "
    "magnitude",
)
PLAIN_DISCLOSED: Final = (
    "amounts: every number that stands alone between blanks or brackets, with at most "
    "four digits, or with commas of thousands, a decimal point or a currency sign, "
    "such as 30, 12,000, 0.5 or $52000. A PIN, a house number or a short code that "
    "looks so passes too. Hidden are years, dates, times, leading zeros, other numbers "
    "of five digits and more, parts of addresses and codes, and numbers side by side, "
    "such as those of phones and cards. Whether numbers are neighbors is disclosed",
)

_MARGIN: Final = 1e-12
"""Taken off e^c, which outweighs the error of ``exp`` in floating point."""

_MOST: Final = 36.0
"""Nats from one end of the grid to the other: 0.6 for each of 60 steps."""

_FINEST: Final = 20
"""Cells per decade at most: two digits then tell all cells apart."""

_LONGEST: Final = 40
"""Digits of the longest amount that is read; longer ones are beyond every grid."""

_AMOUNT: Final = re.compile("(0|[1-9][0-9]*|[1-9][0-9]{0,2}(,[0-9]{3})+)([.][0-9]+)?")
_JOINS: Final = frozenset({",", "."})
_BEFORE: Final = re.compile(r"[\s(\[{\"“‘«$¢£¥€₹₩₽<>=~]-?\Z")
_MONEY: Final = re.compile(r"[$¢£¥€₹₩₽]\s?-?\Z")
_BESIDE: Final = re.compile(r"[\s()+./-]*")
"""What may stand between two parts of a phone or card number."""

_PLAIN_DIGITS: Final = 4
"""Digits of the longest number that passes as plain without another sign."""

_AFTER: Final = re.compile(r"[\s)\]}\"”’»%;!?<>]|[.,:][\s)\]}\"”’»]")


@final
@dataclass(frozen=True, slots=True)
class Grid:
    r"""Cells of amounts, equally wide on a log scale, from a power of ten to another.

    .. math:: i(v) = \mathrm{clip}\Big(\mathrm{round}\frac{\ln(|v| / a)}{\ln r},\ 0,\
              J - 1\Big), \qquad a = 10^{low}, \quad r = 10^{1 / D}

    with :math:`D` cells per decade, :math:`J = D (high - low) + 1`. All amounts up to
    the lowest cell are alike, zero included, and all beyond the highest one. Bounds
    are public: they must not be chosen by looking at private numbers.

    Parameters
    ----------
    low, high : int in [-6, 15], powers of ten
        Centers of the first and of the last cell.
    per_decade : int in [1, 20]
        Cells for a factor of ten.

    Notes
    -----
    *Numerics.* Cells are found in integers: :math:`v` is above the edge between cells
    :math:`j - 1` and :math:`j` where :math:`(v / a)^{2 D} > 10^{2 j - 1}`. No amount
    is on an edge, because edges are irrational.

    Examples
    --------
    >>> grid = Grid(0, 6, per_decade=10)
    >>> [grid.find_cell(word) for word in ("0", "1", "30", "12,000", "9" * 50, "2019")]
    [0, 0, 15, 41, 60, None]
    >>> [grid.print(cell) for cell in (0, 15, 41, 60)]
    ['1', '32', '13,000', '1,000,000']
    """

    low: int = 0
    high: int = 6
    per_decade: int = 10

    def __post_init__(self) -> None:
        if not -6 <= self.low < self.high <= 15:
            given = f"10^{self.low} to 10^{self.high}"
            raise InvalidParameterError(
                "grid", given, "powers of ten in 10^-6 .. 10^15"
            )
        if not 1 <= self.per_decade <= _FINEST:
            raise InvalidParameterError("per_decade", self.per_decade, f"1..{_FINEST}")

    @property
    def cells(self) -> int:
        """Number of cells, J."""
        return self.per_decade * (self.high - self.low) + 1

    def find_cell(self, word: str) -> int | None:
        """The cell of an amount, by its own spelling; None for all other words."""
        if not _is_amount(word):
            return None
        whole, _, fraction = word.replace(",", "").partition(".")
        if len(whole) > _LONGEST:
            return self.cells - 1
        value = (
            Fraction(f"{whole}.{fraction[:_LONGEST] or 0}") / Fraction(10) ** self.low
        )
        power: Fraction = value ** (2 * self.per_decade)
        return bisect.bisect_left(
            range(1, self.cells), 1, key=lambda j: power < 10 ** (2 * j - 1)
        )

    def print(self, cell: int, beside: int = 0) -> str:
        """Write the center of a cell: two significant digits, a function of it alone.

        Amounts of five digits and more have commas. ``beside`` counts through other
        amounts, the nearest first: whole ones, or of three significant digits. They
        serve where the center was given out already.

        >>> [Grid().print(15, beside) for beside in range(4)]
        ['32', '33', '31', '34']
        >>> [Grid().print(0, beside) for beside in range(3)]
        ['1', '2', '3']
        """
        decade, place = divmod(cell, self.per_decade)
        digits = round(10 * 10 ** (place / self.per_decade))
        value = digits * Fraction(10) ** (self.low + decade - 1)
        step = max(Fraction(10) ** (self.low + decade - 2), Fraction(1))
        # Both ways in turn, and only upwards where nothing is left below.
        both = 2 * max(math.ceil(value / step) - 1, 0)
        ways = (beside + 1) // 2 * (1 if beside % 2 else -1)
        value += step * (ways if beside <= both else beside - both // 2)
        if value.denominator > 1:
            places = max(1 - self.low - decade, 0)
            return f"{float(value):.{places}f}".rstrip("0")
        return f"{value.numerator:,}" if value >= 10_000 else str(value.numerator)

    def shapes(self) -> tuple[Shape, ...]:
        """The cells as symbols of a policy, each with one output.

        They must be leaves at the root of ``krr`` and ``urr``, a symbol each: as inner
        values of one symbol they would lose epsilon + ln(J max P).
        """
        return tuple(
            Shape(
                f"amount near {self.print(j)}", 1, partial(_print_only, self.print(j))
            )
            for j in range(self.cells)
        )


@final
@dataclass(frozen=True)
class Near:
    r"""The two-sided geometric mechanism on a grid, clamped to its ends.

    .. math:: P(j \mid i) = \frac{1 - \alpha}{1 + \alpha} \alpha^{|i - j|}
              \text{ inside}, \quad \frac{\alpha^{|i - j|}}{1 + \alpha}
              \text{ at the ends}, \qquad \alpha = e^{-c}

    so that amounts of cells :math:`i` and :math:`i'` lose :math:`c |i - i'|`, at most
    :math:`c (J - 1)`, and no factor of 2 comes from the ends.

    Parameters
    ----------
    grid : Grid
        The cells.
    nats : float in (0, 36 / (J - 1)], nats per cell
        The rate :math:`c`.

    Raises
    ------
    InvalidParameterError
        If :math:`c (J - 1)` is over 36, or too small for weights over 2**62.

    Notes
    -----
    *Privacy.* Proof: ``docs/proofs/numbers.md``. Before ``krr`` or ``urr`` at epsilon,
    the loss of two amounts is at most the smaller of :math:`c |i - i'|` and epsilon,
    and that of an amount and any other word at most what the mechanism states.

    *Numerics.* Weights are integers over 2**62, made from the far end: each is at most
    :math:`e^c` times the next. So no pair loses more than :math:`c |i - i'|`, rounding
    included.

    Examples
    --------
    >>> near = Near(Grid(0, 3, per_decade=5), nats=0.5)
    >>> near.certified <= 0.5, round(near.certified, 6)
    (True, 0.5)
    """

    grid: Grid
    nats: float

    def __post_init__(self) -> None:
        most = _MOST / max(self.grid.cells - 1, 1)
        if not 0 < self.nats <= most:
            allowed = f"above 0 and at most {most:g} nats per cell for this grid"
            raise InvalidParameterError("near", self.nats, allowed)
        self._tails  # noqa: B018 - refuses what integers cannot express
        if self.certified > self.nats:  # weights that are too small to be rounded
            allowed = "a rate that integers over 2**62 can keep on this grid"
            raise InvalidParameterError("near", self.nats, allowed)

    @property
    def disclosed(self) -> tuple[str, ...]:
        """What passes unchanged beside the cells."""
        return (
            "magnitude of amounts: a number by itself is printed near its value, at "
            f"{self.certified:.4g} nats for a factor of "
            f"{10 ** (1 / self.grid.per_decade):.4g}",
            "signs and units of amounts: minus, currency, percent and, if the policy "
            "shows them, words such as million, which disclose magnitude",
        )

    @property
    def equivalents(self) -> tuple[str, ...]:
        """What the guarantee states of amounts."""
        grid, worst = self.grid, self.certified * (self.grid.cells - 1)
        factor = f"a factor of {10 ** (1 / grid.per_decade):.4g}"
        first, last = grid.print(0), grid.print(grid.cells - 1)
        return (
            f"amounts on a public grid of {grid.cells} cells, {first} to {last}: "
            f"{self.certified:.4g} nats for {factor} (certified: {self.certified!r}), "
            f"at most {worst:.4g} nats, and never more than any two words",
        )

    @cached_property
    def _tails(self) -> tuple[int, ...]:
        """Weights S_0, S_1, ... S_(J-1) of being at least so many cells off."""
        ratio = Fraction(math.exp(self.nats) * (1 - _MARGIN))
        reach = self.grid.cells - 1
        if ratio > 1:
            # The smallest weight n = S_{J-1} of the far end that leaves no more to the
            # center than rho allows: a larger n takes more from the center.
            last = bisect.bisect_left(
                range(1, TOTAL), 1, key=lambda n: _is_enough(n, ratio, reach)
            )
            tails = _tails_from(last + 1, ratio, reach)
            if tails and _is_law(tails, ratio):
                return tails
        allowed = "large enough for weights over 2**62"
        raise InvalidParameterError("near", self.nats, allowed)

    @cached_property
    def weights(self) -> Weights:
        """The law as integers of sum 2**62, shape (J, J), a row for each input cell."""
        tails, cells = self._tails, self.grid.cells
        table = np.empty((cells, cells), dtype=np.int64)
        for i in range(cells):
            for j in range(cells):
                # S_k at the ends, where all beyond is clamped to; w_k = S_k - S_{k+1}
                # inside.
                off = abs(i - j)
                is_end = j in (0, cells - 1)
                inner = tails[0] - tails[1] if not off else 0
                if off and not is_end:
                    inner = tails[off] - tails[off + 1]
                table[i, j] = tails[off] if is_end else inner
        return table

    @cached_property
    def certified(self) -> float:
        """The exact largest loss of two neighboring cells, in nats, rounded up."""
        rows = self.weights.astype(object)
        # Rows i and i + 1, all outputs, both ways: cells further apart follow step by
        # step.
        worst = Fraction(1)
        for one, other in pairwise(rows):
            for a, b in zip(one, other, strict=True):
                worst = max(worst, Fraction(max(a, b), min(a, b)))
        return log_above(worst)

    def sample(self, cells: Ids, rng: np.random.Generator) -> Ids:
        """Draw a cell for each cell; one 64-bit word of ``rng`` each, in order."""
        draws = draw_uniform(rng, len(cells))
        found = np.empty(len(cells), dtype=np.int32)
        for k, (cell, draw) in enumerate(zip(cells.tolist(), draws, strict=True)):
            found[k] = np.searchsorted(self._sums[cell], draw, side="right")
        return found

    @cached_property
    def _sums(self) -> Weights:
        return np.asarray(np.cumsum(self.weights, axis=1))

    def blur(self, symbols: Ids, first: int, rng: np.random.Generator) -> Ids:
        """Draw another cell for each cell among the symbols of a policy.

        The cells are the symbols ``first .. first + J - 1``. Give what returns to
        ``sample`` of ``krr`` or ``urr``: the law of an amount is then that of its cell
        plus the same chance of every stray.
        """
        found = symbols.astype(np.int32, copy=True)
        is_cell = (symbols >= first) & (symbols < first + self.grid.cells)
        found[is_cell] = first + self.sample(symbols[is_cell] - first, rng)
        return found


@final
@dataclass(frozen=True, slots=True)
class AmountLookup:
    """Gives amounts the symbols of their cells.

    Parameters
    ----------
    grid : Grid
        The cells.
    first : int
        The symbol of the first cell.
    """

    grid: Grid
    first: int

    conditions: ClassVar[tuple[str, ...]] = ()

    def recode(self, batch: TokenizedBatch, symbols: Ids) -> Ids:
        """Replace the symbols of amounts in a batch of :func:`merge_amounts`.

        The symbol of a word depends on its own spelling and on the structure beside it.
        """
        found, words = symbols.copy(), batch.words()
        cells: dict[str, int | None] = {}
        first = 0
        for parts, count in zip(batch.parts, batch.counts(), strict=True):
            for i in _amounts(parts or []):
                word = words[first + i // 2]
                if word not in cells:
                    cells[word] = self.grid.find_cell(word)
                cell = cells[word]
                if cell is not None:
                    found[first + i // 2] = self.first + cell
            first += count
        return found


def merge_amounts(batch: TokenizedBatch) -> TokenizedBatch:
    """Make one word of each amount: its commas and its point must not pass.

    >>> from mondegreen.text.tokenizer import tokenize
    >>> merge_amounts(tokenize(["I paid $12,000.50 in 3 parts, on 1.2.20."])).words()
    ['I', 'paid', '12,000.50', 'in', '3', 'parts', 'on', '1', '2', '20']
    """
    return TokenizedBatch([parts and _merge(parts) for parts in batch.parts])


def open_amounts(batch: TokenizedBatch) -> TokenizedBatch:
    """Make structure of amounts, so that they pass: for ``plain``.

    Only those pass that :data:`PLAIN_DISCLOSED` names: long numbers without a sign of
    an amount, and numbers side by side, may be those of phones, cards and accounts.

    >>> from mondegreen.text.tokenizer import tokenize
    >>> open_amounts(tokenize(["Meet 30 people at 10:30"])).parts
    [['', 'Meet', ' 30 ', 'people', ' ', 'at', ' ', '10', ':', '30', '']]
    """
    merged = merge_amounts(batch)
    return TokenizedBatch([parts and _open(parts) for parts in merged.parts])


def _open(parts: list[str]) -> list[str]:
    """Join amounts to the structure around them, in merged parts."""
    amounts = {i for i in _amounts(parts) if _may_pass(parts, i)}
    opened = parts[:1]
    for i in range(1, len(parts), 2):
        if i in amounts:
            opened[-1] += parts[i] + parts[i + 1]
        else:
            opened += parts[i : i + 2]
    return opened


def _merge(parts: list[str]) -> list[str]:
    """Join runs of digits that are one amount."""
    merged = parts[:1]
    i = 1
    while i < len(parts):
        end = i
        while (
            end + 2 < len(parts)
            and parts[end + 1] in _JOINS
            and _is_digits(parts[end])
            and _is_digits(parts[end + 2])
        ):
            end += 2
        run = "".join(parts[i : end + 1])
        if end > i and not _AMOUNT.fullmatch(run):
            merged += parts[i : end + 2]  # as it was
        else:
            merged += [run, parts[end + 1]]
        i = end + 2
    return merged


def _amounts(parts: list[str]) -> Iterator[int]:
    """The places of amounts that stand alone, in merged parts."""
    for i in range(1, len(parts), 2):
        if parts[i][:1].isdigit() and _is_amount(parts[i]):
            # A text begins and ends as a line does.
            before = "\n" * (i == 1) + read_references(parts[i - 1])
            behind = read_references(parts[i + 1]) + "\n" * (i + 2 == len(parts))
            if _BEFORE.search(before) and _AFTER.match(behind):
                yield i


def _may_pass(parts: list[str], i: int) -> bool:
    """Whether an amount in merged parts is no part of a phone or a long code."""
    word, before = parts[i], parts[i - 1]
    is_signed = not word.isdigit() or _MONEY.search(before) is not None
    if not is_signed and len(word) > _PLAIN_DIGITS:
        return False
    near = ((i - 2, before), (i + 2, parts[i + 1]))
    return not any(
        0 < k < len(parts)
        and _BESIDE.fullmatch(read_references(gap))
        and (parts[k][0].isdigit() or parts[k][-1].isdigit())
        for k, gap in near
    )


def _is_amount(word: str) -> bool:
    """Whether a word is spelled as an amount, and not as a year."""
    if not _AMOUNT.fullmatch(word):
        return False
    return not word.isdigit() or number_shape(word, in_date=False) != "year"


def _is_digits(word: str) -> bool:
    return word.isascii() and word.isdigit()


def _print_only(printed: str, number: int) -> str:
    """The only output of a cell."""
    return printed


def _tails_from(last: int, ratio: Fraction, reach: int) -> tuple[int, ...] | None:
    """Weights of tails, from the far one: each at most ``ratio`` times the next.

    None where they come to more than there is.
    """
    # w_{J-2} = floor((rho - 1) n), w_k = floor(rho w_{k+1}), S_k = w_k + S_{k+1}:
    # `step` is w, `tails` are S, from the far end. At last S_0 = T - S_1.
    tails = [last]
    step = math.floor((ratio - 1) * last)
    for _ in range(reach - 1):
        tails.append(tails[-1] + step)
        if step < 1 or 2 * tails[-1] >= TOTAL:
            return None
        step = math.floor(ratio * step)
    return (TOTAL - tails[-1], *reversed(tails))


def _is_enough(last: int, ratio: Fraction, reach: int) -> bool:
    """Whether so much at the far end keeps the center within ``ratio`` of the next."""
    tails = _tails_from(last, ratio, reach)
    return tails is None or _is_law(tails, ratio)


def _is_law(tails: tuple[int, ...], ratio: Fraction) -> bool:
    """Whether the center is within ``ratio`` of its neighbors, inside and at an end."""
    # w_0 = S_0 - S_1 against w_1 = S_1 - S_2, and S_0 against S_1 at an end. All other
    # neighbors have rho by construction (docs/proofs/numbers.md).
    center = tails[0] - tails[1]
    beside = tails[1] - (tails[2] if len(tails) > 2 else 0)
    return tails[0] <= ratio * tails[1] and center <= ratio * beside
