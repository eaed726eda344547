r"""Rows of a release whose hidden words all stay, against what a law explains.

A row with hidden words :math:`w_1 \dots w_k` stays as it is with a chance :math:`p` of
at most :math:`\prod_i p(w_i)`. Of all rows with :math:`p \le 2^{-b}`, the number that
stay is compared with a Poisson law of mean :math:`\sum p`, whose tail is above that of
the exact law (Hoeffding 1956). So a row with many hidden words needs no company: it is
raw. A row with one hidden word stays now and then, and only too many of them are raw.
"""

from __future__ import annotations

import heapq
import math
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Floats, Weights
from mondegreen.attacks.attack import Attack, count_rows

LISTED: Final = 20
"""Rows that are listed by number, at most."""

_BINS: Final = 1100  # powers of 1/2; a float has none that is smaller
_CHANCE: Final = 1e-6
"""What is rarer than this is not called chance."""

Marks = NDArray[np.bool_]


def poisson_tail(found: Floats | Weights, expected: Floats) -> Floats:
    """Chance of at least so many events, of a Poisson law with this mean.

    Parameters
    ----------
    found, expected : arrays of one shape
        Counts, and means of 0 or more.

    Returns
    -------
    float64 array

    Examples
    --------
    >>> poisson_tail(np.array([0, 1, 2]), np.array([0.0, 0.0, 1.0])).round(3).tolist()
    [1.0, 0.0, 0.264]
    """
    from scipy.stats import poisson

    return np.asarray(poisson.sf(np.asarray(found) - 1, expected), dtype=np.float64)


def is_chance(found: int, expected: float) -> bool:
    """Whether chance explains so many events.

    Parameters
    ----------
    found : int
    expected : float

    Returns
    -------
    bool
    """
    return bool(poisson_tail(np.array([found]), np.array([expected]))[0] >= _CHANCE)


@final
class UnchangedRows:
    """Counts rows whose hidden words all stay, in memory that no number of rows grows.

    Parameters
    ----------
    are_independent : bool
        Whether the draws of one row say nothing about those of another. If not, as
        under the scope of a key, rows are compared with the sum of their chances alone
        (Markov), which needs no independence.

    Examples
    --------
    >>> rows = UnchangedRows(are_independent=True)
    >>> chances = np.log([0.01, 0.01, 1e-12])
    >>> rows.add(np.array([1, 2, 3]), chances, np.array([True, False, True]))
    >>> rows.make_attack().value, rows.make_attack().details["rows"]
    (1.0, [3])
    """

    def __init__(self, *, are_independent: bool) -> None:
        self._are_independent = are_independent
        self._expected = np.zeros(_BINS)
        self._found: Weights = np.zeros(_BINS, dtype=np.int64)
        self._rarest: list[tuple[int, int]] = []  # bin, and minus the row
        self._is_known = True
        self.count = 0

    def add(self, numbers: Weights, logs: Floats, stays: Marks) -> None:
        """Count rows.

        Parameters
        ----------
        numbers : int array, shape (rows,)
            Of the rows in their file.
        logs : float64 array, shape (rows,)
            Logarithm of the chance that all hidden words stay; NaN if nobody knows.
        stays : bool array, shape (rows,)
        """
        self.count += len(numbers)
        self._is_known &= not np.isnan(logs).any()
        logs = np.nan_to_num(logs, nan=0.0, neginf=-math.inf)
        bins = np.minimum(np.floor(-logs / math.log(2)), _BINS - 1).astype(np.int64)
        self._expected += np.bincount(bins, np.exp(logs), _BINS)
        self._found += np.bincount(bins[stays], minlength=_BINS)
        rows = zip(bins[stays].tolist(), (-numbers[stays]).tolist(), strict=True)
        for entry in rows:
            push = heapq.heappush if len(self._rarest) < LISTED else heapq.heappushpop
            push(self._rarest, entry)

    def make_attack(self) -> Attack:
        """Tell how many rows stay that chance does not explain.

        Returns
        -------
        Attack
            ``found`` and ``expected`` in its details count all rows that stay.
        """
        found = self._found[::-1].cumsum()[::-1]
        expected = self._expected[::-1].cumsum()[::-1]
        if self._are_independent:
            chances = poisson_tail(found, expected)
        else:
            chances = np.where(found > 0, expected, 1.0)
        (raw,) = np.nonzero(chances < _CHANCE)
        first = int(raw[0]) if len(raw) else _BINS
        value: float | None = float(found[first]) if len(raw) else 0.0
        why = ""
        if not self._is_known or not self.count:
            value = None
            why = "; not known: " + (
                "the probabilities of this mechanism have no closed form"
                if self.count
                else "no row has hidden words"
            )
        rows = sorted(-minus for b, minus in self._rarest if b >= first)
        return count_rows(
            "unchanged_rows",
            "counts rows whose hidden words are all unchanged, where chance does not "
            f"explain it{why}",
            value,
            self.count,
            {
                "found": int(found[0]),
                "expected": float(expected[0]) if self._is_known else None,
                "rows": rows,
            },
        )

    def __repr__(self) -> str:
        return f"UnchangedRows({self.count} rows)"
