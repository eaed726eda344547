r"""The truncated exponential law as integers, and what its rounding costs.

Every selection mechanism over a metric draws from

.. math:: P(y \mid w) \propto \exp(-c \min(d(w, y), g)),

with its own rate :math:`c` and cutoff :math:`g`. All words at distance :math:`g` or
more have one common weight, the floor. A law is therefore stored as the floor and a
list of the words above it: a handful of words where privacy is weak, all where it is
strong, and in both cases the whole vocabulary is possible.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids, rows_within
from mondegreen.errors import SpaceError
from mondegreen.mechanisms.laws.base import IntegerRow, Row, row_of
from mondegreen.mechanisms.laws.dense import DenseLaws, lists_many
from mondegreen.mechanisms.laws.scan import EuclideanScan, scan_of
from mondegreen.sampling.integers import TOTAL
from mondegreen.space.space import Space

_BLOCK_BYTES: Final = 72 << 20
_SMALLEST_WEIGHT: Final = 1 << 14
"""No weight is smaller, so that rounding to integers moves no ratio by 2e-4."""


@final
class ExponentialLaw:
    r"""Integer laws :math:`P(y \mid w) \propto \exp(-c \min(d(w, y), g))`.

    Parameters
    ----------
    space : Space
        Its metric is :math:`d`.
    rate : float in (0, inf), per unit of distance
        :math:`c`.
    cutoff : float in (0, inf]
        :math:`g`. It is lowered where weights would fall below 2**14 parts of 2**62,
        which makes the promise stronger, and to the diameter of the space.

    Attributes
    ----------
    cutoff : float
        :math:`g` as used.
    kappa : float
        Most that rounding moves any log-ratio of two inputs, in nats.

    Notes
    -----
    *Numerics.* With :math:`F` a lower bound of every weight, :math:`\kappa` sums
    :math:`4/(F-2)` for two weights rounded down by at most 2 each;
    :math:`4 c e` for distances with error :math:`e` in two weights and two
    normalisers; and :math:`V (2 V + 2^{17}) / 2^{61} + 10^{-12}` for the remainder
    that the largest weight takes, which is at least :math:`2^{62} / V`, and for the
    exponentials.
    """

    def __init__(self, space: Space, rate: float, cutoff: float) -> None:
        self.space, self.rate = space, rate
        self._scan = scan_of(space)
        resolution = math.log(TOTAL / space.vocab_size / _SMALLEST_WEIGHT)
        self.cutoff = min(cutoff, resolution / rate, space.geometry.diameter)
        self.kappa = self._rounding()

    @classmethod
    def textbook(cls, space: Space, epsilon: float, cutoff: float) -> ExponentialLaw:
        r"""Return the law whose promise of ``epsilon`` is proved for any space.

        In real numbers, both the weight and the normaliser change by at most
        :math:`e^{c \min(d, g)}` from one input to another, and :math:`2c = \epsilon`
        would do. Rounding adds at most :math:`\kappa` nats to any log-ratio, so
        :math:`c = (\epsilon - \kappa / \delta) / 2`, where :math:`\delta` is the
        smallest positive distance of two inputs, gives
        :math:`2 c d + \kappa \le \epsilon d`: the promise holds for the integers.

        Raises
        ------
        SpaceError
            If two words are so close together that rounding could tell them apart.
        """
        widest = cls(space, epsilon / 2, cutoff)
        closest = min(space.geometry.closest, widest.cutoff)
        # All inputs at one point share one law, whatever the rate.
        rate = (epsilon - widest.kappa / closest) / 2 if closest else epsilon / 2
        if rate < 0.99 * epsilon / 2:
            raise too_much_rounding(space, epsilon, widest.kappa, widest.cutoff)
        # At a smaller rate and the same cutoff every weight is larger, and kappa less.
        return cls(space, rate, widest.cutoff)

    def _rounding(self) -> float:
        """Return kappa."""
        closest = min(self.space.geometry.closest, self.cutoff)
        count = self.space.vocab_size
        smallest = TOTAL / count * math.exp(-self.rate * self.cutoff)
        error = self._scan.error(closest, self.cutoff)
        return (
            4 / (smallest - 2)
            + 4 * self.rate * error
            + count * (2 * count + 2.0**17) / 2.0**61
            + 1e-12
        )

    takes_distances: ClassVar[bool] = True
    falls_with_distance: ClassVar[bool] = True

    def log_rows(
        self, ids: Ids, distances: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return log-probabilities and probabilities from distances."""
        logs = np.minimum(distances, self.cutoff)
        logs *= -self.rate
        probabilities = np.exp(logs)
        sums = probabilities.sum(axis=1, keepdims=True)
        probabilities /= sums
        logs -= np.log(sums)
        return logs, probabilities

    def metric(self, distances: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``min(distances, cutoff)``; the same array where nothing is cut."""
        if self.cutoff >= self.space.geometry.diameter:
            return distances
        return np.minimum(distances, self.cutoff)

    @property
    def key(self) -> str:
        """What names this law among the exponential laws of its space."""
        # Ten digits: another machine may round rates otherwise, in the last of
        # sixteen, which is far below the margin of a certificate.
        return f"{self.rate:.10g} {self.cutoff:.10g}"

    @cached_property
    def dense(self) -> DenseLaws | None:
        """The same laws by blocks of words, where they list many words."""
        scan = self._scan
        if not isinstance(scan, EuclideanScan):
            return None
        if not lists_many(self.space, scan, self.cutoff):
            return None
        return DenseLaws(self.space, scan, self.rate, self.cutoff)

    def rows(self, points: Sequence[int]) -> Iterator[tuple[int, IntegerRow]]:
        """Yield the law of each input, in order; memory is bounded by a block."""
        if self.dense is not None:
            yield from self.dense.rows(points)
            return
        size = rows_within(_BLOCK_BYTES, self.space.vocab_size)
        for start in range(0, len(points), size):
            block = np.array(points[start : start + size], dtype=np.int32)
            for point, near in zip(
                block.tolist(), self._scan.near(block, self.cutoff), strict=True
            ):
                yield point, self._row(*near)

    def _row(self, ids: Ids, distances: NDArray[np.float64]) -> Row:
        """Quantise the law of one input from the words within the cutoff."""
        floor = math.exp(-self.rate * self.cutoff)
        if len(ids):
            # A word a rounding error within the cutoff must not weigh less than the
            # floor.
            excess = np.maximum(np.exp(-self.rate * distances) - floor, 0.0)
        else:  # all words at the cutoff or beyond: uniform, remainder to word 0
            ids, excess = np.zeros(1, dtype=np.int32), np.zeros(1)
        return row_of(ids, excess, floor, self.space.vocab_size)


def too_much_rounding(
    space: Space, epsilon: float, kappa: float, cutoff: float
) -> SpaceError:
    """Say why a law cannot keep its promise in integers: near inputs, or the cutoff."""
    closest = space.geometry.closest
    if cutoff < closest:
        return SpaceError(
            f"space {space.name!r}: at epsilon {epsilon:g} all distances beyond "
            f"{cutoff:.2g} count as {cutoff:.2g}, where integers end, and rounding "
            f"could add {kappa:.2g} nats; the closest inputs are {closest:.2g} apart, "
            "so every word would stay as it is: take a smaller epsilon"
        )
    return SpaceError(
        f"space {space.name!r}: rounding could add {kappa:.2g} nats, too much for "
        f"epsilon {epsilon:g} on inputs {closest:.2g} apart; merge or drop near "
        "duplicates when building the space, or take an epsilon that fits its distances"
    )
