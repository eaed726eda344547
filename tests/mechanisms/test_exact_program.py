"""Programs that set integers of a law are solved exactly: the same on every machine."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from mondegreen.mechanisms.laws.exact_program import minimize_on_simplex


def solve_square(matrix, right):
    """Return the only solution of equations in fractions, or None."""
    rows = [
        [*map(Fraction, row), Fraction(b)] for row, b in zip(matrix, right, strict=True)
    ]
    size = len(rows)
    for column in range(size):
        pivot = next((i for i in range(column, size) if rows[i][column]), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [value / rows[column][column] for value in rows[column]]
        for i in range(size):
            if i != column:
                factor = rows[i][column]
                rows[i] = [
                    a - factor * b for a, b in zip(rows[i], rows[column], strict=True)
                ]
    return [row[-1] for row in rows]


def least_cost(costs, rows):
    """Try every vertex: n - 1 of the inequalities hold with equality."""
    size = len(costs)
    walls = [*rows.tolist(), *np.eye(size, dtype=int).tolist()]
    found = []
    for chosen in combinations(walls, size - 1):
        point = solve_square([*chosen, [1] * size], [0] * (size - 1) + [1])
        if point is None or min(point) < 0:
            continue
        products = [
            sum(a * x for a, x in zip(row, point, strict=True)) for row in rows.tolist()
        ]
        if all(value <= 0 for value in products):
            found.append(sum(c * x for c, x in zip(costs, point, strict=True)))
    return min(found)


@pytest.mark.parametrize("seed", range(30))
def test_the_point_costs_what_the_best_vertex_costs(seed):
    rng = np.random.default_rng(seed)
    size, count = rng.integers(2, 5), rng.integers(0, 7)
    rows = rng.integers(-6, 7, size=(count, size)).astype(object)
    rows[:, -1] = -abs(rows[:, -1])  # the last corner satisfies all
    costs = [Fraction(int(value), 3) for value in rng.integers(-5, 6, size=size)]
    point = minimize_on_simplex(costs, rows)
    assert sum(point) == 1
    assert min(point) >= 0
    assert all(value <= 0 for value in rows @ np.array(point, dtype=object))
    cost = sum(c * x for c, x in zip(costs, point, strict=True))
    assert cost == least_cost(costs, rows)


def test_rows_that_floats_cannot_tell_apart_are_told_apart():
    tiny = 10**40  # p0 <= p1 / (10^40 + 1), and not p1 / 10^40
    rows = np.array([[tiny, -1], [tiny + 1, -1]], dtype=object)
    point = minimize_on_simplex([Fraction(0), Fraction(1)], rows)
    assert point == (Fraction(1, tiny + 2), Fraction(tiny + 1, tiny + 2))


def test_denominators_beyond_the_range_of_floats_are_no_error():
    large = 10**400
    rows = np.array([[large, 0, -1], [0, 3, -1]], dtype=object)
    costs = [Fraction(-10 * large), Fraction(-1), Fraction(0)]
    point = minimize_on_simplex(costs, rows)
    assert sum(point) == 1
    assert all(sum(a * p for a, p in zip(row, point, strict=True)) <= 0 for row in rows)
    assert point[0] > 0


def test_a_program_that_is_degenerate_ends():
    rows = np.array([[1, -1, 0], [2, -2, 0], [1, 0, -1], [3, -1, -2]], dtype=object)
    point = minimize_on_simplex([Fraction(0), Fraction(1), Fraction(2)], rows)
    assert sum(point) == 1
    assert all(value <= 0 for value in rows @ np.array(point, dtype=object))
    assert point == (Fraction(1, 3),) * 3
