"""k-ary randomized response over the symbols of a policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, final

from mondegreen.guarantee import GROUPED
from mondegreen.mechanisms import base
from mondegreen.mechanisms.symbols.response import (
    Response,
    ResponseMechanism,
    ResponseState,
)


@final
@dataclass(frozen=True, slots=True)
class Krr(ResponseMechanism):
    r"""Keep the symbol of a word, or print any other symbol of the policy, all alike.

    .. math::

        P(z \mid x) = \frac{e^\epsilon}{e^\epsilon + m - 1} \text{ for } z = x,
        \qquad \frac{1}{e^\epsilon + m - 1} \text{ otherwise,}

    over the :math:`m` symbols of a policy: every ordinary word is one, every group of
    sensitive words is one. A group prints any of its words, all alike.

    Parameters
    ----------
    epsilon : float in [1e-9, 1e9], nats
        Largest loss of any two words, attained by every two of different symbols. Words
        of one group lose 0.

    Raises
    ------
    InvalidParameterError
        If epsilon is out of range.

    Notes
    -----
    *Privacy.* Epsilon-local differential privacy of a word, with no pair left out, and
    metric privacy for the pseudometric that is 0 within a group and 1 otherwise. Proof:
    ``docs/proofs/krr.md``.

    *Numerics.* Both weights are integers over 2**62; the weight of strays is rounded
    up, so the certificate ln(a / b) never exceeds epsilon.

    References
    ----------
    .. [1] Kairouz, Oh, Viswanath. "Extremal Mechanisms for Local Differential Privacy."
       JMLR 17, 2016, Section 4.2 (randomized response).

    Examples
    --------
    >>> import numpy as np
    >>> from mondegreen.policy.alphabet import Alphabet
    >>> state = Krr(epsilon=2.0).prepare(Alphabet("tiny", "0" * 64, 2, 2))
    >>> np.exp(state.log_prob(np.array([0], dtype=np.int32))).round(3).tolist()
    [[0.711, 0.096, 0.096, 0.096]]
    """

    epsilon: float = base.epsilon_parameter(
        "nats", help="loss in nats for any two words of different symbols"
    )

    name: ClassVar[str] = "krr"
    is_private: ClassVar[bool] = True
    metric: ClassVar[str] = f"{GROUPED}, 1 otherwise"

    def prepare(self, space: Any) -> ResponseState:
        """Set the integers of the law, and certify them."""
        alphabet = self.check_alphabet(space)
        response = Response.within(self.epsilon, 0, alphabet.size)
        promise = self.promise_on(
            alphabet,
            response.loss,
            certified_how="proof, and exact arithmetic over the sampled integers",
            equivalents=(
                f"{response.loss:.6g}-local differential privacy of a word",
                "words of one group have the same probabilities: their loss is 0",
            ),
        )
        return ResponseState(alphabet, response, promise)
