"""The truncated exponential mechanism (TEM)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, final

from mondegreen.mechanisms import base
from mondegreen.mechanisms.selection.base import SelectionState, prepare_state
from mondegreen.mechanisms.selection.exponential import ExponentialLaw
from mondegreen.space.space import Space


@final
@dataclass(frozen=True, slots=True)
class Tem(base.AbstractMechanism):
    r"""Draw near words by distance and all words beyond a threshold alike.

    .. math::

        P(y \mid w) = e^{-\frac{\epsilon}{2} \min(d(w, y), \gamma)} / Z_w, \qquad
        \gamma = \frac{2}{\epsilon} \ln \frac{(1 - \beta)(V - 1)}{\beta}

    Parameters
    ----------
    epsilon : float in [1e-9, 1e9], per unit of distance
        Euclidean, or hyperbolic on a space in the Poincaré ball.
        The inner rate is half of it.
    beta : float in [1e-12, 0.5]
        Largest chance that a word leaves its neighbourhood of radius
        :math:`\gamma`; the unknown word, which is no output, may leave more often.
    gamma : float in [1e-9, 1e9], unit of distance, optional
        Sets the threshold itself, in place of ``beta``.

    Raises
    ------
    InvalidParameterError
        If a parameter is out of range.

    Notes
    -----
    *Privacy.* Epsilon-metric privacy for :math:`\min(d, \gamma)`, which is a metric.
    That is stronger than the published claim for :math:`d`, and makes any two words
    :math:`\epsilon \gamma`-indistinguishable. Proof: ``docs/proofs/tem.md``.

    *Numerics.* Integer weights. A ``beta`` below about :math:`V^2 / 2^{48}` lowers
    :math:`\gamma` to :math:`\ln(2^{48} / V) / c`, which the guarantee states: the
    promise gets stronger, and the chance to leave exceeds ``beta``. For
    a larger ``beta`` rounding may add a share of it, which ``docs/proofs/tem.md``
    bounds.

    *Differs from the paper.* The claim. The published pseudocode, Gumbel noise on
    scores and on one score for "far away", has exactly this law.

    References
    ----------
    .. [1] Carvalho, Vasiloudis, Feyisetan, Wang. "TEM: High Utility Metric
       Differential Privacy on Text." SDM 2023. We read its poster, "TruncatedEM".

    Examples
    --------
    >>> import mondegreen as mg
    >>> space = mg.Space.from_arrays("line", ["a", "b", "c"], [[0], [1], [50]])
    >>> state = Tem(epsilon=4.0).prepare(space)
    >>> round(Tem(epsilon=4.0).threshold(3), 2)  # 2/4 ln(0.999 * 2 / 0.001)
    3.8
    >>> state.guarantee.metric
    'min(Euclidean distance, 3.8)'
    """

    epsilon: float = base.epsilon_parameter()
    beta: float = base.parameter(
        0.001,
        range="[1e-12, 0.5]",
        help="largest chance to leave the neighbourhood",
        within=(1e-12, 0.5),
    )
    gamma: float | None = base.parameter(
        None,
        range="[1e-9, 1e9], or null",
        unit="distance",
        help="radius of the neighbourhood, in place of beta",
        within=(1e-9, 1e9),
    )

    name: ClassVar[str] = "tem"
    is_private: ClassVar[bool] = True
    family: ClassVar[str] = "selection"
    space_metrics: ClassVar[tuple[str, ...]] = ("euclidean", "poincare")
    metric: ClassVar[str] = "min(distance, gamma), Euclidean or hyperbolic"

    def threshold(self, vocab_size: int) -> float:
        r"""Return :math:`\gamma`, in units of distance, for a vocabulary size.

        Parameters
        ----------
        vocab_size : int
            Number of words of the space.

        Returns
        -------
        float
            Words farther than this share one score.
        """
        if self.gamma is not None:
            return self.gamma
        outside = (1 - self.beta) * max(vocab_size - 1, 1) / self.beta
        return 2 / self.epsilon * math.log(outside)

    def prepare(self, space: Space) -> SelectionState:
        """Prepare the integer laws of a space; they are computed when needed."""
        base.check_space(self, space)
        threshold = self.threshold(space.vocab_size)
        return prepare_state(
            self, ExponentialLaw.textbook(space, self.epsilon, threshold)
        )
