"""The exponential mechanism over a metric (SanText), and the laws of a distance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Final, final

from mondegreen.errors import SpaceError
from mondegreen.mechanisms import base
from mondegreen.mechanisms.laws.certificate import exact_epsilons, lower_bounds
from mondegreen.mechanisms.laws.integer import IntegerLaw
from mondegreen.mechanisms.laws.scan import build_scan
from mondegreen.mechanisms.selection.base import SelectionState, prepare_state
from mondegreen.sampling.integers import TOTAL
from mondegreen.space.space import Space

SMALLEST_WEIGHT: Final = 1 << 14
"""No weight is smaller, so that rounding to integers moves no ratio by 2e-4."""


@final
@dataclass(frozen=True, slots=True)
class Exponential(base.AbstractMechanism):
    r"""Draw a word with probability falling exponentially in its distance.

    .. math:: P(y \mid w) = e^{-\frac{\epsilon}{2} d(w, y)} / Z_w

    Parameters
    ----------
    epsilon : float in [1e-9, 1e9], per unit of distance
        Euclidean, or hyperbolic on a space in the Poincaré ball.
        The inner rate is half of it: the other half pays for the normaliser.

    Raises
    ------
    InvalidParameterError
        If ``epsilon`` is out of range.

    Notes
    -----
    *Privacy.* Epsilon-metric privacy in the distance over the whole vocabulary:
    numerator and normaliser each change by at most :math:`e^{\epsilon d / 2}`. Proof:
    ``docs/proofs/exponential.md``.

    *Numerics.* Integer weights. Distances beyond :math:`g = \ln(2^{48} / V) / c` count
    as :math:`g`, so no word is impossible; the promise is then for :math:`\min(d, g)`.

    *Differs from the paper.* The vocabulary is public; the authors' code takes it
    from the private corpus.

    References
    ----------
    .. [1] Yue, Du, Wang, Li, Sun, Chow. "Differential Privacy for Text Analytics via
       Natural Text Sanitization." Findings of ACL 2021 (SanText).

    Examples
    --------
    >>> import mondegreen as mg, numpy as np
    >>> space = mg.Space.from_arrays("ab", ["a", "b"], [[0], [1]])
    >>> state = Exponential(epsilon=2.0).prepare(space)
    >>> np.exp(state.log_prob(np.array([0], dtype=np.int32))).round(3).tolist()
    [[0.731, 0.269]]
    """

    epsilon: float = base.epsilon_parameter()

    name: ClassVar[str] = "exponential"
    is_private: ClassVar[bool] = True
    aliases: ClassVar[tuple[str, ...]] = ("santext",)
    family: ClassVar[str] = "selection"
    space_metrics: ClassVar[tuple[str, ...]] = ("euclidean", "poincare")
    metric: ClassVar[str] = "Euclidean or hyperbolic distance"

    def prepare(self, space: Space) -> SelectionState:
        """Prepare the integer laws of a space; they are computed when needed."""
        base.check_space(self, space)
        return prepare_state(
            self, ExponentialLaw.textbook(space, self.epsilon, math.inf)
        )


@final
class ExponentialLaw(IntegerLaw):
    r"""Integer laws :math:`P(y \mid w) \propto \exp(-c \min(d(w, y), g))`.

    The cutoff is lowered where weights would fall below 2**14 parts of 2**62, which
    makes the promise stronger, and to the diameter of the space.
    """

    certify = staticmethod(exact_epsilons)
    bound = staticmethod(lower_bounds)

    def __init__(self, space: Space, rate: float, cutoff: float) -> None:
        cutoff = min(cutoff, finest_cutoff(space, rate), space.geometry.diameter)
        scan = build_scan(space)
        super().__init__(space, scan, rate, cutoff)
        error = scan.error(min(space.geometry.closest, cutoff), cutoff)
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


def too_much_rounding(
    space: Space, epsilon: float, kappa: float, cutoff: float
) -> SpaceError:
    """Say why a law cannot keep its promise in integers: near inputs, or the cutoff."""
    closest = space.geometry.closest
    if cutoff < closest:
        return SpaceError(
            f"space {space.name!r}: at epsilon {epsilon:g}, integer weights end at a "
            f"distance of {cutoff:.2g}, and rounding could add {kappa:.2g} nats. The "
            f"closest inputs are {closest:.2g} apart, so every word would be "
            "unchanged: use a smaller epsilon"
        )
    return SpaceError(
        f"space {space.name!r}: rounding could add {kappa:.2g} nats, too much for "
        f"epsilon {epsilon:g} on inputs {closest:.2g} apart; merge or drop near "
        "duplicates when building the space, or take an epsilon that fits its distances"
    )
