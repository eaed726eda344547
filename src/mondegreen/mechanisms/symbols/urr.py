"""Utility-optimized randomized response over the symbols of a policy."""

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
class Urr(ResponseMechanism):
    r"""Keep the symbol of a word, or print a group of sensitive words, all alike.

    With :math:`|G|` groups, a sensitive word :math:`x` of group :math:`g` and an
    ordinary word :math:`o` have the laws

    .. math::

        P(g \mid x) = \frac{e^\epsilon}{D}, \quad P(g' \mid x) = \frac{1}{D}, \qquad
        P(o \mid o) = \frac{e^\epsilon - 1}{D}, \quad P(g' \mid o) = \frac{1}{D},

    where :math:`D = e^\epsilon + |G| - 1`. A group prints any of its words, all alike.

    Parameters
    ----------
    epsilon : float in [1e-9, 1e9], nats
        Largest loss of two sensitive words, and of any two words where a sensitive word
        is printed. Words of one group lose 0. Where an ordinary word is printed, it
        loses infinitely much against any other word.

    Raises
    ------
    InvalidParameterError
        If epsilon is out of range.

    Notes
    -----
    *Privacy.* Utility-optimized local differential privacy [1]_: epsilon-local
    differential privacy among sensitive words; a printed sensitive word may have been
    any ordinary word (cover). **An ordinary word that is printed was that word**: it
    has no protection, which the guarantee says. Proof: ``docs/proofs/urr.md``.

    *Numerics.* All weights are integers over 2**62; the weight of strays is rounded up,
    so the certificate ln(a / b) never exceeds epsilon.

    References
    ----------
    .. [1] Murakami, Kawamoto. "Utility-Optimized Local Differential Privacy Mechanisms
       for Distribution Estimation." USENIX Security 2019, Section 4.1 (uRR).

    Examples
    --------
    >>> import numpy as np
    >>> from mondegreen.policy.alphabet import Alphabet
    >>> state = Urr(epsilon=2.0).prepare(Alphabet("tiny", "0" * 64, 2, 2))
    >>> np.exp(state.log_prob(np.array([0, 2], dtype=np.int32))).round(3).tolist()
    [[0.762, 0.0, 0.119, 0.119], [0.0, 0.0, 0.881, 0.119]]
    """

    epsilon: float = base.epsilon_parameter(
        "nats",
        help="loss in nats for two sensitive words of different groups, and for any "
        "two words if a sensitive word is printed",
    )

    name: ClassVar[str] = "urr"
    is_private: ClassVar[bool] = True
    metric: ClassVar[str] = f"on sensitive words: {GROUPED}, 1 otherwise"

    def prepare(self, space: Any) -> ResponseState:
        """Set the integers of the law, and certify them."""
        alphabet = self.check_alphabet(space)
        response = Response.within(self.epsilon, alphabet.ordinary, alphabet.groups)
        promise = self.promise_on(
            alphabet,
            response.loss,
            certified_how="proof, and exact arithmetic over the sampled integers",
            equivalents=(
                f"{response.loss:.6g}-local differential privacy of a sensitive word "
                "among sensitive words",
                "words of one group have the same probabilities: their loss is 0",
                "a printed sensitive word may have been any ordinary word: these "
                f"odds change by at most e^{response.loss:.6g}",
            ),
            conditions=("are sensitive words of the policy",),
            disclosed=(
                "ordinary words: a printed word of the public list was that word; a "
                "and an count as one, and follow the next word",
            ),
        )
        return ResponseState(alphabet, response, promise)
