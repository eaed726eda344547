"""Binary randomised response (BRR)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from mondegreen.mechanisms.base import AbstractMechanism, check_epsilon, parameter
from mondegreen.mechanisms.binary.base import BinaryState
from mondegreen.sampling.bits import flip_threshold, realised_epsilon
from mondegreen.space.search.hamming import HammingSearch
from mondegreen.space.space import Space
from mondegreen.space.store import codes_of


@final
@dataclass(frozen=True, slots=True)
class Brr(AbstractMechanism):
    r"""Flip every bit of the code of a word; release a word whose code is nearest.

    .. math::

        M(w) \in \arg\min_y H(b(y), b(w) \oplus F), \qquad
        P(F_i = 1) = q, \quad q = \frac{1}{1 + e^\epsilon}

    Parameters
    ----------
    epsilon : float in [1e-9, 1e9], per bit
        Of codes that differ in one bit more, one loses at most epsilon nats more.

    Raises
    ------
    InvalidParameterError
        If ``epsilon`` is out of range.
    SpaceError
        When prepared for a space that has no codes; it says how to make them.

    Notes
    -----
    *Privacy.* Epsilon-metric privacy in the Hamming distance :math:`H` of the codes:
    a bit that two codes share says nothing, and one in which they differ changes the
    chance of any noisy bit by at most :math:`(1 - q) / q = e^\epsilon`. Decoding is
    post-processing. Hence also ``bits * epsilon`` local privacy. Words with one code
    have one law. Proof: ``docs/proofs/brr.md``.

    *Numerics.* :math:`q` is an integer over :math:`2^{64}`, rounded up, and bits are
    drawn from it exactly; beyond epsilon 44 it is :math:`2^{-64}`. The search is exact.

    *Differs from the paper.* A tie, which is common among whole numbers, is broken by
    fresh randomness, uniformly over all words at the least distance; the paper is
    silent. Unknown words have a public code: the majority of every bit.

    References
    ----------
    .. [1] Silva Carvalho, Vasiloudis, Feyisetan. "BRR: Preserving Privacy of Text Data
       Efficiently on Device." ICML workshop 2021.
    .. [2] Warner. "Randomized Response: A Survey Technique for Eliminating Evasive
       Answer Bias." JASA 1965.

    Examples
    --------
    >>> import mondegreen as mg, numpy as np
    >>> from mondegreen.space.binarize import with_codes
    >>> space = mg.Space.from_arrays("ab", ["a", "b"], [[0.0], [1.0]])
    >>> state = Brr(epsilon=0.5).prepare(with_codes(space, bits=8))
    >>> np.exp(state.log_prob(np.array([0], dtype=np.int32))).round(3).tolist()
    [[0.752, 0.248]]
    """

    epsilon: float = parameter(
        range="[1e-9, 1e9]",
        unit="per bit of Hamming distance",
        help="loss in nats for two words whose codes differ in one bit",
    )

    name: ClassVar[str] = "brr"
    family: ClassVar[str] = "binary"
    metric: ClassVar[str] = "Hamming distance of codes"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))

    def prepare(self, space: Space) -> BinaryState:
        """Build the search index over the codes of the space."""
        codes = codes_of(space)
        threshold = flip_threshold(self.epsilon)
        search = HammingSearch(codes.table)
        local = self.epsilon * codes.bits
        guarantee = self.promise(
            space,
            metric=f"Hamming distance of {codes.bits}-bit codes",
            scale=codes.geometry.to_dict(),
            certified=min(self.epsilon, realised_epsilon(threshold)),
            certified_how="proof, for the integer probability that is drawn; decoder: "
            + search.describe(),
            equivalents=(
                f"epsilon {local:.6g} whatever the words are (local privacy: "
                f"{codes.bits} bits)",
            ),
            assumptions=(
                f"every bit flips with probability {threshold} / 2^64, drawn exactly",
                f"the codes ({codes.method}, {codes.digest[:12]}) were made from "
                "public vectors alone",
            ),
        )
        return BinaryState(space, guarantee, codes, threshold, search)
