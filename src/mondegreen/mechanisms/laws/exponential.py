r"""Laws that fall exponentially with a score, as integers; what rounding costs them.

Every mechanism of the selection family draws from

.. math:: P(y \mid w) \propto m_y \exp(-c \min(d(w, y), g)),

with its own rate :math:`c`, cutoff :math:`g` and score :math:`d`: a distance, or what a
rating lacks to 1. All :math:`m_y` are 1 but for ``tight``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids, rows_within
from mondegreen.errors import SpaceError
from mondegreen.mechanisms.laws.blocks import BlockLaws, lists_many
from mondegreen.mechanisms.laws.certificate import exact_epsilons, lower_bounds
from mondegreen.mechanisms.laws.rows import OwnFloors, Row, row_of
from mondegreen.mechanisms.laws.scan import EuclideanScan, Scan, scan_of
from mondegreen.sampling.integers import TOTAL
from mondegreen.space.space import Space

_BLOCK_BYTES: Final = 72 << 20

SMALLEST_WEIGHT: Final = 1 << 14
"""No weight is smaller, so that rounding to integers moves no ratio by 2e-4."""

Floats = NDArray[np.float64]
Certifier = Callable[..., list[float]]


class IntegerLaw:
    r"""The laws of all inputs of one mechanism on one space, made when asked for.

    ``rate`` and ``cutoff`` are :math:`c` and :math:`g` in the formula of the module;
    ``scan`` finds the words with a score below the cutoff.
    """

    takes_distances: ClassVar[bool] = True
    """Whether the score is the distance of the space; see :meth:`log_rows`."""

    falls_with_distance: ClassVar[bool] = True
    """Whether a closer word is never less likely."""

    certify: ClassVar[Certifier | None] = None
    """Computes certificates of several laws: ``(laws, progress)``; None where the
    proof is all there is."""

    bound: ClassVar[Certifier]
    """Computes in a blink what their certificates cannot be below: ``(laws)``."""

    # What distinguishes ``tight``: factors m of the words and, last, of the unknown
    # word as an output, which is released as another word; floors that follow m.
    factors: Floats | None = None
    floors: OwnFloors | None = None
    to_unknown: Floats | None = None
    printed: int = 0

    def __init__(self, space: Space, scan: Scan, rate: float, cutoff: float) -> None:
        self.space, self.scan, self.rate, self.cutoff = space, scan, rate, cutoff

    @property
    def key(self) -> str:
        """What names this law among those of its space that have a certificate."""
        # Ten digits: another machine may round rates otherwise, in the last of
        # sixteen, which is far below the margin of a certificate.
        return f"{self.rate:.10g} {self.cutoff:.10g}"

    @cached_property
    def blocks(self) -> BlockLaws | None:
        """The same laws by blocks of words, where they list many words."""
        scan = self.scan
        if not isinstance(scan, EuclideanScan):
            return None
        return BlockLaws(self) if lists_many(self.space, scan, self.cutoff) else None

    def rows(self, points: Sequence[int]) -> Iterator[tuple[int, Row]]:
        """Yield the law of each canonical input, in order, in bounded memory."""
        if self.blocks is not None:
            yield from self.blocks.rows(points)
            return
        size = rows_within(_BLOCK_BYTES, self.space.vocab_size)
        for start in range(0, len(points), size):
            block = np.array(points[start : start + size], dtype=np.int32)
            near = self.scan.near(block, self.cutoff)
            for point, (words, scores) in zip(block.tolist(), near, strict=True):
                yield point, self.row(point, words, scores)

    def row(self, point: int, words: Ids, scores: Floats) -> Row:
        """Quantise the law of one input from the words below the cutoff."""
        floor = math.exp(-self.rate * self.cutoff)
        if len(words):
            # A word a rounding error within the cutoff must not weigh less than the
            # floor.
            excess = np.maximum(np.exp(-self.rate * scores) - floor, 0.0)
        else:  # all words at the cutoff or beyond: uniform, remainder to word 0
            words, excess = np.zeros(1, dtype=np.int32), np.zeros(1)
        return row_of(words, excess, floor, self.space.vocab_size)

    def check_remainder(self, remainder: int) -> None:
        """Refuse integers that do not leave to the largest weight what they should."""
        if remainder < 0:
            raise SpaceError("the weights of an input exceed one")

    def log_rows(self, ids: Ids, distances: Floats) -> tuple[Floats, Floats]:
        """Log-probabilities and probabilities in real numbers, from distances."""
        logs = np.minimum(distances, self.cutoff)
        logs *= -self.rate
        probabilities = np.exp(logs)
        sums = probabilities.sum(axis=1, keepdims=True)
        probabilities /= sums
        logs -= np.log(sums)
        return logs, probabilities


def finest_cutoff(space: Space, rate: float) -> float:
    """The cutoff at which weights reach the smallest that is allowed."""
    return math.log(TOTAL / space.vocab_size / SMALLEST_WEIGHT) / rate


def rounding(space: Space, rate: float, cutoff: float, error: float) -> float:
    r"""Kappa, the most that rounding moves any log-ratio of two inputs, in nats.

    With :math:`F` a lower bound of every weight it sums :math:`4/(F-2)` for two weights
    rounded down by at most 2 each; :math:`4 c e` for scores with error :math:`e` in two
    weights and two normalisers; and :math:`V (2 V + 2^{17}) / 2^{61} + 10^{-12}` for
    the remainder that the largest weight takes, which is at least :math:`2^{62} / V`,
    and for the exponentials.
    """
    count = space.vocab_size
    smallest = TOTAL / count * math.exp(-rate * cutoff)
    return (
        4 / (smallest - 2)
        + 4 * rate * error
        + count * (2 * count + 2.0**17) / 2.0**61
        + 1e-12
    )


@final
class ExponentialLaw(IntegerLaw):
    r"""Integer laws :math:`P(y \mid w) \propto \exp(-c \min(d(w, y), g))`.

    The cutoff is lowered where weights would fall below 2**14 parts of 2**62, which
    makes the promise stronger, and to the diameter of the space. ``kappa`` is what
    rounding may add to a log-ratio, in nats.
    """

    certify = staticmethod(exact_epsilons)
    bound = staticmethod(lower_bounds)

    def __init__(self, space: Space, rate: float, cutoff: float) -> None:
        cutoff = min(cutoff, finest_cutoff(space, rate), space.geometry.diameter)
        super().__init__(space, scan_of(space), rate, cutoff)
        error = self.scan.error(min(space.geometry.closest, cutoff), cutoff)
        self.kappa = rounding(space, rate, cutoff, error)

    @classmethod
    def textbook(cls, space: Space, epsilon: float, cutoff: float) -> ExponentialLaw:
        r"""The law whose promise of ``epsilon`` is proved for any space.

        In real numbers, both the weight and the normaliser change by at most
        :math:`e^{c \min(d, g)}` from one input to another, and :math:`2c = \epsilon`
        would do. Rounding adds at most :math:`\kappa` nats to any log-ratio, so
        :math:`c = (\epsilon - \kappa / \delta) / 2`, where :math:`\delta` is the
        smallest positive distance of two inputs, gives
        :math:`2 c d + \kappa \le \epsilon d`: the promise holds for the integers.
        """
        widest = cls(space, epsilon / 2, cutoff)
        closest = min(space.geometry.closest, widest.cutoff)
        # All inputs at one point share one law, whatever the rate.
        rate = (epsilon - widest.kappa / closest) / 2 if closest else epsilon / 2
        if rate < 0.99 * epsilon / 2:
            raise too_much_rounding(space, epsilon, widest.kappa, widest.cutoff)
        # At a smaller rate and the same cutoff every weight is larger, and kappa less.
        return cls(space, rate, widest.cutoff)


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
