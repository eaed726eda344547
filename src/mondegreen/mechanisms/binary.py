"""Binary randomised response (BRR): flip bits of a code, then decode."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np

from mondegreen.arrays import Floats, Ids, LogProbs, slices
from mondegreen.errors import LawUnknownError
from mondegreen.guarantee import Guarantee
from mondegreen.mechanisms import base
from mondegreen.sampling.bits import (
    compute_realized_epsilon,
    draw_flips,
    flip_threshold,
)
from mondegreen.space.codes import Bits, Codes
from mondegreen.space.search.hamming import HammingSearch
from mondegreen.space.space import Space
from mondegreen.space.store import load_codes

_MOST_LAW_BITS: Final = 16
"""Laws of longer codes are not enumerated: a code of n bits has 2**n cells."""

_BLOCK: Final = 4096
"""Words decoded together: full speed, and four MB of random words at 256 bits."""


@final
@dataclass(frozen=True, slots=True)
class Brr(base.AbstractMechanism):
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
    *Privacy.* Epsilon-metric privacy in the Hamming distance :math:`H` of the codes,
    and so ``bits * epsilon`` local privacy: each bit in which two codes differ changes
    the chance of a noisy bit by at most :math:`(1 - q) / q = e^\epsilon`, and decoding
    is post-processing. Proof: ``docs/proofs/brr.md``.

    *Numerics.* :math:`q` is an integer over :math:`2^{64}`, rounded up, and bits are
    drawn from it exactly; beyond epsilon 44 it is :math:`2^{-64}`. The search is exact.

    *Differs from the paper.* A tie is broken by fresh randomness, uniformly over all
    words at the least distance. Unknown words have a public code: the majority of
    every bit. On both the paper is silent.

    References
    ----------
    .. [1] Silva Carvalho, Vasiloudis, Feyisetan. "BRR: Preserving Privacy of Text Data
       Efficiently on Device." ICML workshop 2021.

    Examples
    --------
    >>> import mondegreen as mg, numpy as np
    >>> from mondegreen.space.binarize import with_codes
    >>> space = mg.Space.from_arrays("ab", ["a", "b"], [[0.0], [1.0]])
    >>> state = Brr(epsilon=0.5).prepare(with_codes(space, bits=8))
    >>> np.exp(state.log_prob(np.array([0], dtype=np.int32))).round(3).tolist()
    [[0.752, 0.248]]
    """

    epsilon: float = base.epsilon_parameter(
        "per bit of Hamming distance",
        help="loss in nats for two words whose codes differ in one bit",
    )

    name: ClassVar[str] = "brr"
    is_private: ClassVar[bool] = True
    family: ClassVar[str] = "binary"
    metric: ClassVar[str] = "Hamming distance of codes"

    def prepare(self, space: Space) -> BinaryState:
        codes = load_codes(space)
        threshold = flip_threshold(self.epsilon)
        search = HammingSearch(codes.table)
        local = self.epsilon * codes.bits
        guarantee = self.promise(
            space,
            metric=f"Hamming distance of {codes.bits}-bit codes",
            scale=codes.geometry.to_dict(),
            certified=min(self.epsilon, compute_realized_epsilon(threshold)),
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


@final
@dataclass(frozen=True, slots=True)
class BinaryState(base.State):
    """A binary mechanism prepared for one space.

    Every bit of the public ``codes`` flips with probability ``threshold / 2**64``.
    """

    space: Space
    guarantee: Guarantee
    codes: Codes
    threshold: int
    search: HammingSearch

    def sample(self, ids: Ids, rng: np.random.Generator) -> Ids:
        # A token consumes 32 bits for every bit of its code and 64 for ties, in order;
        # bits that these leave undecided, one in 2**32, ask for more after their block.
        base.check_ids(ids, self.space.vocab_size)
        out = np.empty(len(ids), dtype=np.int32)
        size = self.codes.bits // 2 + 1
        for part in slices(len(ids), _BLOCK):
            block = ids[part]
            words = rng.integers(0, 1 << 64, size=(len(block), size), dtype=np.uint64)
            noisy = draw_flips(words[:, :-1], self.threshold, rng)
            noisy ^= self.codes.points(block)
            out[part] = self.search.pick(noisy, words[:, -1])
        return out

    @property
    def flips(self) -> base.Flips:
        return base.Flips(self.codes, self.threshold)

    @property
    def digests(self) -> Mapping[str, str]:
        """The codes, which may come with the package and not with the space."""
        return {"codes": self.codes.digest}

    def log_prob(self, ids: Ids) -> LogProbs:
        """The law, shape (T, V), by enumeration of all codes of at most 16 bits."""
        base.check_ids(ids, self.space.vocab_size)
        bits, vocab_size = self.codes.bits, self.space.vocab_size
        if bits > _MOST_LAW_BITS:
            raise LawUnknownError(
                f"the law of {self.guarantee.mechanism} is enumerated for codes of at "
                f"most {_MOST_LAW_BITS} bits; these have {bits}. Sample from it, or "
                "use a selection mechanism such as tem"
            )
        inputs, inverse = np.unique(self.codes.points(ids), axis=0, return_inverse=True)
        cells, words, shares = self._cells()
        table = np.empty((len(inputs), vocab_size))
        for i, code in enumerate(inputs):
            flipped = np.bitwise_count(cells ^ code).sum(axis=1, dtype=np.int64)
            place = flipped * vocab_size + words
            mass = np.zeros((bits + 1) * vocab_size)
            np.add.at(mass, place, shares)
            table[i] = self._log_mass(mass.reshape(bits + 1, vocab_size))
        return table[inverse.ravel()]

    def distances(self, first: Ids, second: Ids) -> Floats:
        return self.codes.distances(first, second)

    def _cells(self) -> tuple[Bits, Ids, Floats]:
        """Every code, with each word it may become and the share of it."""
        count = 1 << self.codes.bits
        every = np.arange(count, dtype=">u2" if self.codes.bits == 16 else "u1")
        packed = every.view(np.uint8).reshape(count, -1)
        ties = self.search.ties(packed)
        sizes = np.array([len(tied) for tied in ties])
        which = np.repeat(np.arange(count), sizes)
        return packed[which], np.concatenate(ties), 1 / sizes[which]

    def _log_mass(self, mass: Floats) -> Floats:
        """Logarithm of the sum over h of mass[h] q**h (1-q)**(n-h), for each word."""
        log_flip = math.log(self.threshold) - 64 * math.log(2)
        log_keep = math.log1p(-self.threshold / 2**64)
        flips = np.arange(len(mass))
        weights = flips * log_flip + flips[::-1] * log_keep
        with np.errstate(divide="ignore"):
            terms = np.log(mass) + weights[:, None]
        largest = terms.max(axis=0)
        found: Floats = largest + np.log(np.exp(terms - largest).sum(0))
        return found
