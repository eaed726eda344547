"""The exponential mechanism over a metric (SanText)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, final

from mondegreen.mechanisms.base import (
    AbstractMechanism,
    check_space,
    epsilon_parameter,
)
from mondegreen.mechanisms.laws.exponential import ExponentialLaw
from mondegreen.mechanisms.selection.base import SelectionState, selection_guarantee
from mondegreen.space.space import Space


@final
@dataclass(frozen=True, slots=True)
class Exponential(AbstractMechanism):
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
    *Privacy.* Epsilon-metric privacy in Euclidean distance over the whole
    vocabulary: numerator and normaliser each change by at most
    :math:`e^{\epsilon d / 2}`. Proof: ``docs/proofs/exponential.md``.

    *Numerics.* The law that is sampled has integer weights. Distances beyond
    :math:`g = \ln(2^{62} / 2^{14} V) / c` count as :math:`g`, so no word is
    impossible; the promise then holds for the smaller metric :math:`\min(d, g)`.

    *Differs from the paper.* The vocabulary is public; the authors' code takes it
    from the private corpus.

    References
    ----------
    .. [1] Yue, Du, Wang, Li, Sun, Chow. "Differential Privacy for Text Analytics via
       Natural Text Sanitization." Findings of ACL 2021 (SanText).
    .. [2] McSherry, Talwar. "Mechanism Design via Differential Privacy." FOCS 2007.

    Examples
    --------
    >>> import mondegreen as mg, numpy as np
    >>> space = mg.Space.from_arrays("ab", ["a", "b"], [[0], [1]])
    >>> state = Exponential(epsilon=2.0).prepare(space)
    >>> np.exp(state.log_prob(np.array([0], dtype=np.int32))).round(3).tolist()
    [[0.731, 0.269]]
    """

    epsilon: float = epsilon_parameter(help="loss in nats for two words one unit apart")

    name: ClassVar[str] = "exponential"
    aliases: ClassVar[tuple[str, ...]] = ("santext",)
    family: ClassVar[str] = "selection"
    space_metrics: ClassVar[tuple[str, ...]] = ("euclidean", "poincare")
    metric: ClassVar[str] = "Euclidean or hyperbolic distance"

    def prepare(self, space: Space) -> SelectionState:
        """Prepare the integer laws of a space; they are computed when needed."""
        check_space(self, space)
        law = ExponentialLaw.textbook(space, self.epsilon, math.inf)
        return SelectionState(space, selection_guarantee(self, law), law)
