"""SanText+: frequent words mostly pass in clear (no metric privacy; to compare)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np

from mondegreen.mechanisms.base import (
    AbstractMechanism,
    check_space,
    epsilon_parameter,
    parameter,
)
from mondegreen.mechanisms.baselines.restricted import (
    RESTRICTED_ASSUMPTIONS,
    RestrictedLaw,
    RestrictedRow,
    RestrictedState,
)
from mondegreen.mechanisms.selection.exponential import ExponentialLaw
from mondegreen.sampling.integers import TOTAL
from mondegreen.space.space import Space

_SHARE: Final = (1e-6, 1.0, "in [1e-6, 1]")


@final
@dataclass(frozen=True, slots=True)
class SantextPlus(AbstractMechanism):
    r"""Privatize rare words by distance; pass most frequent words in clear.

    The words are split into the sensitive ones :math:`V_S`, the rarest, and the others
    :math:`V_N`. With :math:`e(y \mid w) \propto e^{-\frac{\epsilon}{2} d(w, y)}` over
    :math:`y \in V_S`,

    .. math::

        P(y \mid w) = e(y \mid w) \quad (w \in V_S), \qquad
        P(y \mid w) = p\, e(y \mid w) + (1 - p)\, [y = w] \quad (w \in V_N).

    For comparison only. Use ``exponential``, the same law over all words.

    Parameters
    ----------
    epsilon : float in [1e-9, 1e9], per unit of Euclidean distance
        What is claimed; the inner rate is half of it.
    sensitive : float in [1e-6, 1]
        Share of the words, rounded up to whole words, that are sensitive: the last
        ones of the space. Spaces list the most frequent words first.
    p : float in [1e-6, 1]
        Chance that a word that is not sensitive is privatized.

    Raises
    ------
    InvalidParameterError
        If a parameter is out of range.

    Notes
    -----
    *Privacy.* Not metric privacy: an output in :math:`V_N` can only come from itself,
    so that its loss is infinite, and each such word passes in clear with probability
    :math:`1 - p`. What holds (UMLDP): for outputs in :math:`V_S` the loss is at most
    :math:`\epsilon d + \ln(1/p)`, and at most :math:`\epsilon d` if both words are in
    one class. Proof and counterexample: ``docs/proofs/santext_plus.md``.

    *Numerics.* Integer weights as for ``exponential``, rounded once more to
    :math:`V_S`; the rate pays for both. The chance to be privatized is rounded up.

    *Differs from the paper.* The split is by the public order of the space; the
    authors' code counts words of the private corpus, and takes one word more. The
    unknown word is sensitive; their code replaces it by any word of the corpus.

    References
    ----------
    .. [1] Yue, Du, Wang, Li, Sun, Chow. "Differential Privacy for Text Analytics via
       Natural Text Sanitization." Findings of ACL 2021 (SanText+).

    Examples
    --------
    >>> import mondegreen as mg
    >>> space = mg.Space.from_arrays("ab", ["the", "sick", "ill"], [[0], [1], [2]])
    >>> state = SantextPlus(epsilon=2.0, p=0.25).prepare(space)
    >>> np.exp(state.log_prob(np.array([0, 1], dtype=np.int32))).round(3).tolist()
    [[0.75, 0.183, 0.067], [0.0, 0.731, 0.269]]
    """

    epsilon: float = epsilon_parameter(
        "per unit of Euclidean distance",
        help="claimed, kept for rare outputs only: loss in nats for words a unit apart",
    )
    sensitive: float = parameter(
        0.5,
        range="[1e-6, 1]",
        help="share of the words, the rarest, always privatized",
        within=_SHARE,
    )
    p: float = parameter(
        0.2,
        range="[1e-6, 1]",
        help="chance that another word is privatized",
        within=_SHARE,
    )

    name: ClassVar[str] = "santext_plus"
    family: ClassVar[str] = "selection"
    metric: ClassVar[str] = "Euclidean distance"
    is_private: ClassVar[bool] = False

    def prepare(self, space: Space) -> RestrictedState:
        """Prepare the integer laws of a space; they are computed when needed."""
        check_space(self, space)
        law = SantextPlusLaw(space, self.epsilon, self.sensitive, self.p)
        frequent, chance = law.frequent, f"ln(1/{self.p:g})"
        disclosed = (
            f"each of the {frequent:,} most frequent words, with chance {1 - self.p:g}",
        )
        guarantee = self.promise(
            space,
            certified_how="not proved: an output among the frequent words is the input "
            "itself (infinite loss); use exponential",
            equivalents=(
                f"what holds: outputs among the {space.vocab_size - frequent:,} rarest "
                f"words lose at most epsilon * d + {chance} = epsilon * d + "
                f"{math.log(1 / self.p):.4g} nats (UMLDP)",
            ),
            disclosed=disclosed if frequent and self.p < 1 else (),
            assumptions=RESTRICTED_ASSUMPTIONS,
        )
        return RestrictedState(space, guarantee, law)


@final
class SantextPlusLaw(RestrictedLaw):
    """The integer laws of SanText+: those of ``exponential``, kept to sensitive words.

    The ``frequent`` words that are not sensitive have the lowest ids, and pass in clear
    with the weight ``stay``, of 2**62. ``rate`` and ``cutoff`` are those of the
    exponential law.
    """

    def __init__(
        self, space: Space, epsilon: float, sensitive: float, p: float
    ) -> None:
        count = max(1, math.ceil(sensitive * space.vocab_size * (1 - 1e-12)))
        self.space = space
        self.frequent = space.vocab_size - count
        self.stay = TOTAL - math.ceil(p * TOTAL)
        # One rounding costs kappa: 2 rate = epsilon - kappa / delta. To restrict the
        # integers to some words and to round again costs at most two more of it.
        once = ExponentialLaw.textbook(space, epsilon, math.inf)
        self._law = ExponentialLaw(space, 3 * once.rate - epsilon, once.cutoff)
        self.rate, self.cutoff = self._law.rate, self._law.cutoff
        self._sensitive = np.arange(self.frequent, space.vocab_size, dtype=np.int32)

    def rows(self, words: Sequence[int]) -> Iterator[RestrictedRow]:
        """Yield the law of each input, in order; memory is bounded by a block."""
        points = self.space.canonical[np.array(words, dtype=np.int32)]
        rows = self._law.rows(points.tolist())
        for word, (_, row) in zip(words, rows, strict=True):
            weights = row.weights()[self.frequent :]
            stay = self.stay if word < self.frequent else 0
            yield RestrictedRow.of(
                word, stay, self._sensitive, weights.astype(np.float64)
            )
