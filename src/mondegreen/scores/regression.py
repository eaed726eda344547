"""Ordinary least squares, and whether its coefficients mean anything."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from mondegreen.arrays import Floats
from mondegreen.errors import InvalidParameterError


@final
@dataclass(frozen=True, slots=True)
class LeastSquares:
    r"""A linear model of one number by others.

    Attributes
    ----------
    intercept : float
        The value where all others are 0, in the unit of the number.
    coefficients : mapping from str to float
        What one unit more of each adds, the others being the same.
    r2 : float in [0, 1]
        The share of the variance that the model explains.
    errors : mapping from str to float
        Standard errors of the coefficients, of independent cells of equal variance; a
        coefficient over its error is its t. Not a number where there are no more cells
        than coefficients.
    inflation : mapping from str to float, at least 1
        Variance inflation factors, :math:`1 / (1 - R_j^2)` with the :math:`R_j^2` of a
        number explained by all others: how many times larger the variance of its
        coefficient is than if it did not depend on them. Above 10, "the others being
        the same" describes no data, and the coefficient means nothing by itself.
    """

    intercept: float
    coefficients: Mapping[str, float]
    r2: float
    errors: Mapping[str, float]
    inflation: Mapping[str, float]

    @classmethod
    def of(cls, number: Floats, others: Mapping[str, Floats]) -> LeastSquares:
        """Fit ``number``, (cells,), by ``others``, (cells,) each.

        Raises ``InvalidParameterError`` where there are too few cells, or a column does
        not vary or is exactly a sum of others.

        >>> x, z = np.array([0.0, 1, 2, 3]), np.array([1.0, 0, 0, 1])
        >>> fit = LeastSquares.of(2 + 3 * x - z, {"x": x, "z": z})
        >>> round(fit.intercept, 6), {k: round(v, 6) for k, v in fit.inflation.items()}
        (2.0, {'x': 1.0, 'z': 1.0})
        """
        table = np.column_stack([np.asarray(each, float) for each in others.values()])
        ones = np.ones((len(table), 1))
        if np.linalg.matrix_rank(np.hstack([ones, table])) <= table.shape[1]:
            allowed = "enough of them, none a sum of others"
            raise InvalidParameterError("columns", list(others), allowed)
        solved, r2 = _fit(number, table)
        inflation = {
            name: 1 / (1 - _fit(table[:, i], np.delete(table, i, axis=1))[1])
            for i, name in enumerate(others)
        }
        coefficients = dict(zip(others, map(float, solved[1:]), strict=True))
        columns = np.hstack([ones, table])
        errors = dict(zip(others, _errors(number, columns, solved)[1:], strict=True))
        return cls(float(solved[0]), coefficients, r2, errors, inflation)


def _errors(number: Floats, columns: Floats, solved: Floats) -> list[float]:
    """Standard errors of a solution, that of the intercept first."""
    left, free = number - columns @ solved, len(columns) - columns.shape[1]
    if free == 0:
        return [math.nan] * columns.shape[1]
    spread = np.diag(np.linalg.inv(columns.T @ columns)) * float(left @ left) / free
    return [float(each) for each in np.sqrt(spread)]


def _fit(number: Floats, table: Floats) -> tuple[Floats, float]:
    """The solution, the intercept first, and the share of variance explained."""
    columns = np.column_stack([np.ones(len(number)), table])
    solved: Floats = np.linalg.lstsq(columns, number, rcond=None)[0].astype(np.float64)
    left = number - columns @ solved
    spread = number - number.mean()
    total = float(spread @ spread)
    # A number that does not vary is explained by its mean.
    return solved, 1 - float(left @ left) / total if total else 1.0
