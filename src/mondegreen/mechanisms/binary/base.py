"""The binary family: flip bits of a code, then decode without seeing the word."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids, LogProbs
from mondegreen.errors import LawUnknownError
from mondegreen.guarantee import Guarantee
from mondegreen.mechanisms.base import State, check_ids
from mondegreen.mechanisms.metrics import code_distances
from mondegreen.sampling.bits import draw_flips
from mondegreen.space.codes import Bits, Codes
from mondegreen.space.search.hamming import HammingSearch
from mondegreen.space.space import Space

LARGEST_LAW_BITS: Final = 16
"""Laws of longer codes are not enumerated: a code of n bits has 2**n cells."""

_BLOCK: Final = 4096
"""Words decoded together: full speed, and four MB of random words at 256 bits."""


@final
@dataclass(frozen=True, slots=True)
class BinaryState(State):
    """A binary mechanism prepared for one space.

    Parameters
    ----------
    space : Space
        Where inputs and outputs live.
    guarantee : Guarantee
        What one call promises for each word.
    codes : Codes
        The public code of every input.
    threshold : int in 1 .. 2**63
        Every bit flips with probability ``threshold / 2**64``.
    search : HammingSearch
        Over the codes of the words.
    """

    space: Space
    guarantee: Guarantee
    codes: Codes
    threshold: int
    search: HammingSearch

    def sample(self, ids: Ids, rng: np.random.Generator) -> Ids:
        """Draw an output for each input; see :class:`mondegreen.mechanisms.State`.

        A token consumes 32 bits for every bit of its code and 64 for ties, in order;
        bits that these leave undecided, one in 2**32, ask for more after their block.
        """
        check_ids(ids, self.space.vocab_size)
        out = np.empty(len(ids), dtype=np.int32)
        size = self.codes.bits // 2 + 1
        for start in range(0, len(ids), _BLOCK):
            block = ids[start : start + _BLOCK]
            words = rng.integers(0, 1 << 64, size=(len(block), size), dtype=np.uint64)
            noisy = draw_flips(words[:, :-1], self.threshold, rng)
            noisy ^= self.codes.points(block)
            out[start : start + _BLOCK] = self.search.pick(noisy, words[:, -1])
        return out

    @property
    def digests(self) -> Mapping[str, str]:
        """The codes, which may come with the package and not with the space."""
        return {"codes": self.codes.digest}

    def log_prob(self, ids: Ids) -> LogProbs:
        """Return the logarithms of the law, shape (T, V), by enumeration of all codes.

        Raises
        ------
        LawUnknownError
            If codes have more than 16 bits.
        """
        check_ids(ids, self.space.vocab_size)
        bits, vocab_size = self.codes.bits, self.space.vocab_size
        if bits > LARGEST_LAW_BITS:
            raise LawUnknownError(
                f"the law of {self.guarantee.mechanism} is enumerated for codes of at "
                f"most {LARGEST_LAW_BITS} bits; these have {bits}. Sample from it, or "
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

    def distances(self, first: Ids, second: Ids) -> NDArray[np.float64]:
        """Return the metric of the guarantee, (first, second)."""
        return code_distances(self.codes, first, second)

    def _cells(self) -> tuple[Bits, Ids, NDArray[np.float64]]:
        """Return every code, with each word it may become and the share of it."""
        count = 1 << self.codes.bits
        every = np.arange(count, dtype=">u2" if self.codes.bits == 16 else "u1")
        packed = every.view(np.uint8).reshape(count, -1)
        ties = self.search.ties(packed)
        sizes = np.array([len(tied) for tied in ties])
        which = np.repeat(np.arange(count), sizes)
        return packed[which], np.concatenate(ties), 1 / sizes[which]

    def _log_mass(self, mass: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log of the sum over h of mass[h] q**h (1-q)**(n-h), per word."""
        log_flip = math.log(self.threshold) - 64 * math.log(2)
        log_keep = math.log1p(-self.threshold / 2**64)
        flips = np.arange(len(mass))
        weights = flips * log_flip + flips[::-1] * log_keep
        with np.errstate(divide="ignore"):
            terms = np.log(mass) + weights[:, None]
        largest = terms.max(axis=0)
        found: NDArray[np.float64] = largest + np.log(np.exp(terms - largest).sum(0))
        return found
