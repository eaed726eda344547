"""The exponential mechanism at the largest rate its certificate allows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Final, final

from mondegreen.mechanisms import base
from mondegreen.mechanisms.laws.certified import (
    compute_certificates,
    load_shipped_rates,
)
from mondegreen.mechanisms.selection.base import SelectionState, prepare_state
from mondegreen.mechanisms.selection.exponential import ExponentialLaw
from mondegreen.space.space import Space

_ROUNDS: Final = 2
_RATES: Final = 12
"""Two rounds of twelve rates find the largest to within epsilon / 288."""


@final
@dataclass(frozen=True, slots=True)
class Calibrated(base.AbstractMechanism):
    r"""Draw by distance at the largest rate whose certificate stays within epsilon.

    .. math::

        P(y \mid w) = e^{-c \min(d(w, y), \gamma)} / Z_w, \qquad
        c = \max \{ c : \max_{w, w', y} \frac{\ln P(y \mid w) - \ln P(y \mid w')}
        {\min(d(w, w'), \gamma)} \le \epsilon \}

    The textbook law takes :math:`c = \epsilon / 2`, since for *some* space the
    normalisers may cost the other half. On the space at hand they cost less.

    Parameters
    ----------
    epsilon : float in [1e-9, 1e9], per unit of distance
        Euclidean, or hyperbolic on a space in the Poincaré ball.
        What the certificate of the law stays within.
    beta : float in [1e-12, 0.5], or None
        The law is that of TEM, with
        :math:`\gamma = \ln((1 - \beta)(V - 1) / \beta) / c`. Without it distances are
        cut off only where integers end.

    Raises
    ------
    InvalidParameterError
        If a parameter is out of range.

    Notes
    -----
    *Privacy.* Epsilon-metric privacy for :math:`\min(d, \gamma)`, by the certificate,
    which is computed over all pairs of inputs, counts rounding and is rounded up. At
    the rate of the textbook the promise is proved, so there always is an answer.
    Proof: ``docs/proofs/calibrated.md``.

    *Numerics.* The rate is the largest of a grid, as certificates need not grow with
    it. For the embedded space the grid is shipped, from epsilon 0.4 to 12 in steps of
    1.5 %; elsewhere it takes a minute, once.

    References
    ----------
    .. [1] McSherry, Talwar. "Mechanism Design via Differential Privacy." FOCS 2007.

    Examples
    --------
    >>> import mondegreen as mg
    >>> space = mg.Space.from_arrays("line", ["a", "b", "c"], [[0], [1], [2]])
    >>> state = Calibrated(epsilon=2.0).prepare(space)
    >>> 1.0 < state.law.rate < state.guarantee.certified <= 2.0
    True
    """

    epsilon: float = base.epsilon_parameter(
        help="loss in nats for two words one unit apart, certified"
    )
    beta: float | None = base.parameter(
        0.001,
        range="[1e-12, 0.5], or null",
        help="chance to leave the neighbourhood",
        within=(1e-12, 0.5),
    )

    name: ClassVar[str] = "calibrated"
    is_private: ClassVar[bool] = True
    family: ClassVar[str] = "selection"
    space_metrics: ClassVar[tuple[str, ...]] = ("euclidean", "poincare")
    metric: ClassVar[str] = "Euclidean or hyperbolic distance, or min(distance, gamma)"

    def cutoff(self, rate: float, vocab_size: int) -> float:
        r""":math:`\gamma` at a rate, in units of distance.

        Parameters
        ----------
        rate : float, 1/distance
            Inner parameter of the law.
        vocab_size : int
            Number of words of the space.

        Returns
        -------
        float
            Distance beyond which all words share one weight.
        """
        if self.beta is None:
            return math.inf
        return math.log((1 - self.beta) * max(vocab_size - 1, 1) / self.beta) / rate

    def prepare(self, space: Space) -> SelectionState:
        """Find the rate of a space and prepare its integer laws."""
        return prepare_state(self, self._largest(space))

    def warm_up(self, space: Space, progress: base.Progress = base.no_progress) -> None:
        """Look for the rate, which may take passes over all pairs of words.

        The certificates of the laws that were tried are kept, so that ``prepare`` is
        quick, and finds the same law.
        """
        self._largest(space, progress)

    def _law(self, space: Space, rate: float) -> ExponentialLaw:
        return ExponentialLaw(space, rate, self.cutoff(rate, space.vocab_size))

    def _largest(
        self, space: Space, progress: base.Progress = base.no_progress
    ) -> ExponentialLaw:
        """The law of the largest rate on a grid whose certificate is within epsilon.

        The grid is the shipped one, or the same for every space: never what happens to
        be in a cache, so that one epsilon means one law on every machine. Below the
        textbook law, whose promise is proved, there is no need to look.
        """
        base.check_space(self, space)
        cutoff = self.cutoff(self.epsilon / 2, space.vocab_size)
        best = ExponentialLaw.textbook(space, self.epsilon, cutoff)
        for rate, cutoff, certificate in reversed(load_shipped_rates(space)):
            if certificate <= self.epsilon and best.rate < rate:
                found = self._law(space, rate)
                if math.isclose(found.cutoff, cutoff, rel_tol=1e-9):
                    return found
        low, high = best.rate, self.epsilon
        for turn in range(_ROUNDS):
            step = (high - low) / _RATES
            laws = [self._law(space, low + step * (k + 1)) for k in range(_RATES)]

            def advance(share: float, turn: int = turn) -> None:
                progress((turn + share) / _ROUNDS)

            certificates = compute_certificates(laws, advance)
            fits = [k for k in range(_RATES) if certificates[k] <= self.epsilon]
            if fits:
                best = laws[fits[-1]]
                low = best.rate
            high = low + step
        return best
