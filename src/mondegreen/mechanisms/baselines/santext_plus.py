"""SanText+: frequent words mostly pass unchanged (no metric privacy; to compare)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from mondegreen.mechanisms import base
from mondegreen.mechanisms.baselines.restricted import (
    RESTRICTED_ASSUMPTIONS,
    RestrictedRow,
    RestrictedState,
)
from mondegreen.mechanisms.selection.exponential import ExponentialLaw
from mondegreen.sampling.integers import TOTAL
from mondegreen.space.space import Space


def _share(default: float, help: str) -> Any:
    return base.parameter(default, range="[1e-6, 1]", help=help, within=(1e-6, 1))


@final
@dataclass(frozen=True, slots=True)
class SantextPlus(base.AbstractMechanism):
    r"""Privatize rare words by distance; pass most frequent words unchanged.

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
    so that its loss is infinite, and each such word passes unchanged with probability
    :math:`1 - p`. What holds (UMLDP): for outputs in :math:`V_S` the loss is at most
    :math:`\epsilon d + \ln(1/p)`, and at most :math:`\epsilon d` if both words are in
    one class. Proof and counterexample: ``docs/proofs/santext_plus.md``.

    *Numerics.* Integer weights as for ``exponential``, rounded once more to
    :math:`V_S`; the rate pays for both. The chance to be privatized is rounded up.

    *Differs from the paper.* The split is by the public order of the space; the
    authors' code counts words of the private corpus. The unknown word is sensitive.

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

    epsilon: float = base.epsilon_parameter(
        "per unit of Euclidean distance",
        help="claimed, kept for rare outputs only: loss in nats for words a unit apart",
    )
    sensitive: float = _share(0.5, "share of the words, the rarest, always privatized")
    p: float = _share(0.2, "chance that another word is privatized")

    name: ClassVar[str] = "santext_plus"
    family: ClassVar[str] = "selection"
    metric: ClassVar[str] = "Euclidean distance"
    is_private: ClassVar[bool] = False

    def prepare(self, space: Space) -> SantextPlusState:
        base.check_space(self, space)
        size = space.vocab_size
        frequent = size - max(1, math.ceil(self.sensitive * size * (1 - 1e-12)))
        # One rounding costs kappa: 2 rate = epsilon - kappa / delta. To restrict the
        # integers to some words and to round again costs at most two more of it.
        once = ExponentialLaw.textbook(space, self.epsilon, math.inf)
        law = ExponentialLaw(space, 3 * once.rate - self.epsilon, once.cutoff)
        stay = TOTAL - math.ceil(self.p * TOTAL)
        disclosed = (
            f"each of the {frequent:,} most frequent words, with chance {1 - self.p:g}",
        )
        guarantee = self.promise(
            space,
            certified_how="not proved: an output among the frequent words is the input "
            "itself (infinite loss); use exponential",
            equivalents=(
                f"what holds: outputs among the {size - frequent:,} rarest "
                f"words lose at most epsilon * d + ln(1/{self.p:g}) = epsilon * d + "
                f"{math.log(1 / self.p):.4g} nats (UMLDP)",
            ),
            disclosed=disclosed if frequent and self.p < 1 else (),
            assumptions=RESTRICTED_ASSUMPTIONS,
        )
        return SantextPlusState(space, guarantee, law, frequent, stay)


@final
@dataclass(frozen=True, slots=True)
class SantextPlusState(RestrictedState):
    """SanText+ prepared for one space."""

    law: ExponentialLaw  # kept to the sensitive words
    frequent: int  # words that are not sensitive, with the lowest ids
    stay: int  # of 2**62: how often such a word passes in clear

    def rows(self, words: Sequence[int]) -> Iterator[RestrictedRow]:
        sensitive = np.arange(self.frequent, self.space.vocab_size, dtype=np.int32)
        points = self.space.canonical[np.array(words, dtype=np.int32)]
        rows = self.law.rows(points.tolist())
        for word, (_, row) in zip(words, rows, strict=True):
            weights = row.weights()[self.frequent :].astype(np.float64)
            stay = self.stay if word < self.frequent else 0
            yield RestrictedRow.of(word, stay, sensitive, weights)
