r"""Synthetic words by a public rating of word pairs (SynTF)."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar, Final, final

import numpy as np

from mondegreen.arrays import Floats, Ids, slices
from mondegreen.errors import SpaceError
from mondegreen.mechanisms import base
from mondegreen.mechanisms.laws.certificate import discrete_bounds, discrete_epsilons
from mondegreen.mechanisms.laws.integer import IntegerLaw
from mondegreen.mechanisms.selection.base import SelectionState, prepare_state
from mondegreen.mechanisms.selection.exponential import finest_cutoff, rounding
from mondegreen.space.space import Space

_CHUNK_WORDS: Final = 8192
_TILE_ROWS: Final = 2048


@final
@dataclass(frozen=True, slots=True)
class Syntf(base.AbstractMechanism):
    r"""Draw a word by how well it is rated as a substitute; hide any word in any other.

    .. math::

        P(w \mid v) \propto \exp\Big(\frac{\epsilon\, \rho(v, w)}{2 \Delta}\Big),
        \qquad
        \rho(v, w) = \alpha\, \frac{1 + \cos(\phi(v), \phi(w))}{2}
                   + (1 - \alpha)\, \mathrm{dice}(v, w)

    over the whole vocabulary, where :math:`\Delta \le 1` bounds how much a rating
    changes with the input and dice is the share of common character bigrams.

    Parameters
    ----------
    epsilon : float in [1e-9, 1e9], nats
        Loss of one word, whichever two words are compared.
    vector_share : float in [0, 1]
        :math:`\alpha`. The rest is for bigrams, which favour inflected forms.

    Raises
    ------
    InvalidParameterError
        If a parameter is out of range.

    Notes
    -----
    *Privacy.* Epsilon-local differential privacy of a word: metric privacy for the
    discrete distance, 1 between any two inputs. Also
    :math:`(\epsilon / \Delta) D_\rho`-private but for rounding, with the pseudometric
    :math:`D_\rho(v, v') = \max_y |\rho(v, y) - \rho(v', y)|`; that is sharper for
    words that are rated alike. Proof: ``docs/proofs/syntf.md``. Documents as counts of
    words: :func:`mondegreen.mechanisms.term_frequency.draw_term_frequencies`.

    *Numerics.* Integer weights; what rounding may add is taken off epsilon first.

    *Differs from the paper.* The rating is public and fixed, and so is its sensitivity.
    Popular code offers only synonyms of the input, which reveals it with certainty, and
    rates by statistics of the private corpus.

    References
    ----------
    .. [1] Weggenmann, Kerschbaum. "SynTF: Synthetic and Differentially Private Term
       Frequency Vectors for Privacy-Preserving Text Mining." SIGIR 2018, Algorithm 1.

    Examples
    --------
    >>> import mondegreen as mg
    >>> words, vectors = ["cat", "cats", "tax"], [[1, 0], [1, 0.2], [-1, 0]]
    >>> state = Syntf(epsilon=10.0).prepare(mg.Space.from_arrays("s", words, vectors))
    >>> np.exp(state.log_prob(np.array([0], dtype=np.int32))).round(3).tolist()
    [[0.609, 0.387, 0.004]]
    """

    epsilon: float = base.epsilon_parameter(
        "nats", help="loss in nats for any two words"
    )
    vector_share: float = base.parameter(
        0.75, range="[0, 1]", help="share of the vectors in the rating", within=(0, 1)
    )

    name: ClassVar[str] = "syntf"
    is_private: ClassVar[bool] = True
    family: ClassVar[str] = "selection"
    metric: ClassVar[str] = "discrete distance"
    space_metrics: ClassVar[tuple[str, ...]] = ("euclidean", "poincare")

    def prepare(self, space: Space) -> SelectionState:
        """Measure the sensitivity of the rating; laws are computed when needed."""
        base.check_space(self, space)
        law = RatingLaw(build_rating(space, self.vector_share), self.epsilon)
        slope = 2 * law.rate * (1 + 1e-9)
        state = prepare_state(
            self,
            law,
            metric=self.metric,
            scale=dict.fromkeys(("closest", "nearest", "mean", "diameter"), 1.0),
            equivalents=(
                f"{self.epsilon:.6g}-local differential privacy of a word, from the "
                f"measured sensitivity {law.rating.sensitivity:.6g} of the rating",
                f"at most {slope:.6g} * D(v, v') + {law.kappa:.2g} nats, where D is "
                "the largest difference of the ratings of v and v'",
            ),
        )
        # Words at one point differ in their letters, so each has a law of its own.
        everyone = np.arange(space.vocab_size + 1, dtype=np.int32)
        return replace(state, inputs=everyone)


@final
class Bigrams:
    r"""How many character bigrams two words share (Dice coefficient of sets).

    .. math:: \mathrm{dice}(v, w) = \frac{2 |B_v \cap B_w|}{|B_v| + |B_w|}

    where :math:`B_w` are the pairs of adjacent characters of w, its start and its end
    counted as a character. Every word shares all with itself, and the unknown word
    none with any. Words have no line breaks, so that a line break marks both ends.

    >>> Bigrams(["night", "nacht", "x"]).overlap(0).round(3).tolist()
    [1.0, 0.5, 0.0]
    """

    def __init__(self, words: Sequence[str]) -> None:
        known: dict[str, int] = {}
        sets = [
            {known.setdefault(a + b, len(known)) for a, b in pairwise(f"\n{word}\n")}
            for word in words
        ]
        self._sizes = np.array([len(each) for each in sets])
        bigrams = np.fromiter(
            (bigram for each in sets for bigram in sorted(each)), dtype=np.int64
        )
        self._of_word = np.split(bigrams, np.cumsum(self._sizes)[:-1])
        # The same table by bigram: the words that have it.
        order = np.argsort(bigrams, kind="stable")
        owners = np.repeat(np.arange(len(words), dtype=np.int32), self._sizes)
        counts = np.bincount(bigrams, minlength=len(known))
        self._owners: list[Ids] = np.split(owners[order], np.cumsum(counts)[:-1])

    def overlap(self, word: int) -> Floats:
        """The coefficients of one input with all words, shape (V,)."""
        count = len(self._sizes)
        if word == count:  # the unknown word
            return np.zeros(count)
        own = self._of_word[word]
        owners = np.concatenate([self._owners[bigram] for bigram in own.tolist()])
        shared = np.bincount(owners, minlength=count)
        shares: Floats = 2 * shared / (self._sizes + len(own))
        return shares


@final
class Rating:
    r"""How good a substitute each word of a space is for each input, from 0 to 1.

    A vector of length 0 has the cosine 0 with all. The unknown word is rated by the
    vector of its point, and has no bigrams.

    ``sensitivity`` is an upper bound of :math:`\max_y |\rho(v, y) - \rho(v', y)|` over
    all inputs: no rating is above 1 and none below
    :math:`\alpha (1 + \cos_{\min}) / 2`, with the smallest cosine of an input and a
    word over all pairs. The difference is the sensitivity, exactly so where a pair with
    that cosine shares no bigram. ``rating_error`` is the most that a computed rating
    differs from the real one.
    """

    def __init__(self, space: Space, vector_share: float) -> None:
        self.space, self.vector_share = space, vector_share
        self._bigrams = Bigrams(space.words)
        self._inverse_norms = _inverse_norms(space)
        self.rating_error = (3 * space.dim + 32) * 2.0**-53
        lowest = self._smallest_cosine() if vector_share > 0 else 0.0
        sensitivity = 1 - vector_share * (1 + lowest) / 2
        # At least 2^-20: where all ratings are equal any bound will do.
        self.sensitivity = min(1.0, max(sensitivity + 1e-12, 2.0**-20))

    def rows(self, block: Ids) -> Floats:
        """The ratings of all words for each input, (rows, V)."""
        space = self.space
        directions = space.points(block) * self._inverse_norms[block, None]
        found = np.empty((len(block), space.vocab_size))
        for part in slices(space.vocab_size, _CHUNK_WORDS):
            wide = space.vectors[part].astype(np.float64)
            np.matmul(directions, wide.T, out=found[:, part])
        found *= self._inverse_norms[:-1]
        found += 1
        found *= self.vector_share / 2
        if self.vector_share < 1:
            for row, word in zip(found, block.tolist(), strict=True):
                row += (1 - self.vector_share) * self._bigrams.overlap(word)
        return found

    def near(self, block: Ids, cutoff: float) -> Iterator[tuple[Ids, Floats]]:
        """Yield for each input the words rated above 1 - cutoff, and what they lack."""
        for ratings in self.rows(block):
            scores = np.clip(1 - ratings, 0.0, cutoff)
            near = np.flatnonzero(scores < cutoff).astype(np.int32)
            yield near, scores[near]

    def _smallest_cosine(self) -> float:
        """A lower bound of all cosines, tile by tile in float32."""
        space = self.space
        tiles = [
            (space.points(ids) * self._inverse_norms[ids, None]).astype(np.float32)
            for ids in _inputs(space, _TILE_ROWS)
        ]
        # The pair of the unknown word with itself is no pair of input and output, and
        # has the cosine 1: it may stay.
        smallest = min(
            float((left @ right.T).min())
            for i, left in enumerate(tiles)
            for right in tiles[i:]
        )
        return max(-1.0, smallest - (space.dim + 8) * 2.0**-22)


@functools.lru_cache(maxsize=2)
def build_rating(space: Space, vector_share: float) -> Rating:
    """A rating that laws at every epsilon share: it takes seconds to measure."""
    return Rating(space, vector_share)


@final
class RatingLaw(IntegerLaw):
    r"""Integer laws :math:`P(y \mid v) \propto \exp(-c \min(1 - \rho(v, y), g))`.

    From one input to another each score moves by at most the sensitivity
    :math:`\Delta`, so weight and normaliser change by :math:`e^{c \Delta}` each, and
    :math:`2 c \Delta + \kappa = \epsilon`. No smallest distance enters: inputs that
    are alike are allowed the whole epsilon too.
    """

    takes_distances: ClassVar[bool] = False
    falls_with_distance: ClassVar[bool] = False
    certify = staticmethod(discrete_epsilons)
    bound = staticmethod(discrete_bounds)

    def __init__(self, rating: Rating, epsilon: float) -> None:
        space, self.rating = rating.space, rating
        widest = epsilon / (2 * rating.sensitivity)
        cutoff = min(1.0, finest_cutoff(space, widest))
        self.kappa = rounding(space, widest, cutoff, rating.rating_error)
        # At a smaller rate and the same cutoff kappa is less.
        rate = (epsilon - self.kappa) / (2 * rating.sensitivity)
        if rate < 0.99 * widest:
            raise SpaceError(
                f"space {space.name!r}: rounding could add {self.kappa:.2g} nats, too "
                f"much for epsilon {epsilon:g}; take a larger epsilon or fewer words"
            )
        super().__init__(space, rating, rate, cutoff)

    @property
    def key(self) -> str:
        """What names this law among those of its space."""
        return f"rating {self.rating.vector_share:.10g} {super().key}"


def _inverse_norms(space: Space) -> Floats:
    """1 over the length of each input's vector; 0 for a vector of length 0."""
    blocks = _inputs(space, _CHUNK_WORDS)
    norms = np.concatenate(
        [np.linalg.norm(space.points(ids), axis=1) for ids in blocks]
    )
    inverse = np.zeros_like(norms)
    np.divide(1.0, norms, out=inverse, where=norms > 0)
    return inverse


def _inputs(space: Space, size: int) -> list[Ids]:
    """All inputs, so many at a time."""
    everyone = np.arange(space.vocab_size + 1, dtype=np.int32)
    return [everyone[part] for part in slices(len(everyone), size)]
