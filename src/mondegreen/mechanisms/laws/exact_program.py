r"""Linear programs over a simplex, solved in rational arithmetic.

Solvers in floating point return another vertex, or the same with other last digits, on
another processor. Keyed releases must repeat everywhere, so the few programs that set
integers of a law are solved exactly. They have one variable per level of a tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

Point = tuple[Fraction, ...]

_Integers = NDArray[np.object_]
"""Python integers of any size."""

_ROUNDS: Final = 10_000


def minimize_on_simplex(costs: Sequence[Fraction], rows: _Integers) -> Point:
    r"""Find the point of least cost of a simplex that satisfies homogeneous rows.

    .. math:: \min_p \; c^T p \quad \text{such that} \quad A p \le 0, \;
              \textstyle\sum_l p_l = 1, \; p \ge 0

    Rows are added one at a time, the most violated first, since few of them bind.

    Parameters
    ----------
    costs : sequence of Fraction, shape (n,)
        The costs :math:`c`.
    rows : array of int of any size, shape (m, n)
        The rows :math:`A`. Their last column is at most 0, so that the last corner of
        the simplex satisfies all of them.

    Returns
    -------
    tuple of Fraction, shape (n,)
        The same vertex on every machine.

    Examples
    --------
    >>> rows = np.array([[3, -1]], dtype=object)
    >>> minimize_on_simplex([Fraction(0), Fraction(1)], rows)
    (Fraction(1, 4), Fraction(3, 4))
    """
    # Of one row only its direction counts, so rows are compared by (A p)_i / max |A_i|.
    scales = np.array([max(map(abs, row)) or 1 for row in rows.tolist()], dtype=object)
    chosen: list[int] = []
    while True:
        # The best point for some of the rows. If it satisfies all of them it is the
        # best for all. Else the worst one joins: it is new, since the point satisfies
        # those that were chosen exactly. So this ends after at most m rounds.
        point = _pivot(costs, rows[chosen])
        if not len(rows):
            return point
        whole = _clear_denominators(point)
        above = rows @ np.array(whole, dtype=object)
        # Quotients of integers are rounded correctly, so the order is the same
        # everywhere. A quotient that is rounded to 0 must not end the search. None is
        # above 1 after the shift, however large the denominators of the point are.
        bits = sum(whole).bit_length()
        excess = [
            (above[i] / (scales[i] << bits), above[i] > 0) for i in range(len(rows))
        ]
        worst = max(range(len(rows)), key=lambda i: (excess[i][1], excess[i][0]))
        if above[worst] <= 0:
            return point
        chosen.append(worst)


def _clear_denominators(point: Point) -> list[int]:
    """Integers in the proportion of a point."""
    common = np.lcm.reduce([value.denominator for value in point], dtype=object)
    return [int(value * common) for value in point]


def _pivot(costs: Sequence[Fraction], rows: _Integers) -> Point:
    """Run the simplex method with Bland's rule, which never cycles.

    It starts at the last corner. A basic variable is ``table[i][-1]`` plus the sum of
    ``table[i][j]`` times the nonbasic variable ``nonbasic[j]``.
    """
    last = len(costs) - 1
    # With p_last = 1 - (sum of the others), the slack -(A p)_i of a row is -A_i,last +
    # sum_j (A_i,last - A_ij) p_j. At the last corner all p_j are 0, and it is -A_i,last
    # >= 0: a start that satisfies all rows.
    slacks = [
        [Fraction(row[last] - value) for value in row[:last]] + [Fraction(-row[last])]
        for row in rows.tolist()
    ]
    table = [[*[Fraction(-1)] * last, Fraction(1)], *slacks]  # p_last, then slacks
    # c^T p = c_last + sum_j (c_j - c_last) p_j.
    cost = [value - costs[last] for value in costs[:last]]
    basic = [last, *range(last + 1, last + 1 + len(slacks))]
    nonbasic = list(range(last))
    for _ in range(_ROUNDS):
        falling = [j for j, value in enumerate(cost) if value < 0]
        if not falling:
            return _read_point(len(costs), table, basic)
        # Bland: of the variables that lower the cost the one of the lowest number, and
        # of those that first fall to 0 as it rises, likewise.
        enter = min(falling, key=nonbasic.__getitem__)
        limits = [
            (-row[-1] / row[enter], basic[i], i)
            for i, row in enumerate(table)
            if row[enter] < 0
        ]
        leave = min(limits)[2]  # on a simplex some variable always falls
        _exchange(table, cost, enter, leave)
        basic[leave], nonbasic[enter] = nonbasic[enter], basic[leave]
    raise RuntimeError("Bland's rule ends")  # pragma: no cover


def _exchange(
    table: list[list[Fraction]], cost: list[Fraction], enter: int, leave: int
) -> None:
    """Make a nonbasic variable basic, and the other way round, in place."""
    old = table[leave]
    # old[-1] + sum_j old[j] x_j = x_leave, solved for x_enter; then put into all rows.
    factor = -1 / old[enter]
    new = [value * factor for value in old]
    new[enter] = -factor
    for i, row in enumerate(table):
        if i != leave and (share := row[enter]):
            row[:] = [
                share * new[j] + (0 if j == enter else value)
                for j, value in enumerate(row)
            ]
    table[leave] = new
    share = cost[enter]
    cost[:] = [
        share * new[j] + (0 if j == enter else value) for j, value in enumerate(cost)
    ]


def _read_point(count: int, table: list[list[Fraction]], basic: list[int]) -> Point:
    values = {variable: row[-1] for variable, row in zip(basic, table, strict=True)}
    return tuple(values.get(variable, Fraction(0)) for variable in range(count))
