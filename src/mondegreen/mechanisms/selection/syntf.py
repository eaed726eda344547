"""Synthetic words by a public rating (SynTF)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from mondegreen.mechanisms.base import (
    AbstractMechanism,
    check_space,
    epsilon_parameter,
    parameter,
)
from mondegreen.mechanisms.laws.rating import RatingLaw, rating_of
from mondegreen.mechanisms.selection.base import SelectionState
from mondegreen.space.space import Space


@final
@dataclass(frozen=True, slots=True)
class Syntf(AbstractMechanism):
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
    Scores beyond a cutoff count as the cutoff, so no word is impossible.

    *Differs from the paper.* The rating here is public and fixed: it is computed from
    the space, and so is its sensitivity. Popular code offers only synonyms of the
    input as outputs, which reveals it with certainty, and rates by statistics of the
    private corpus.

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

    epsilon: float = epsilon_parameter("nats", help="loss in nats for any two words")
    vector_share: float = parameter(
        0.75,
        range="[0, 1]",
        help="share of the vectors in the rating",
        within=(0.0, 1.0, "in [0, 1]"),
    )

    name: ClassVar[str] = "syntf"
    family: ClassVar[str] = "selection"
    metric: ClassVar[str] = "discrete distance"
    space_metrics: ClassVar[tuple[str, ...]] = ("euclidean", "poincare")

    def prepare(self, space: Space) -> SelectionState:
        """Measure the sensitivity of the rating; laws are computed when needed."""
        check_space(self, space)
        rating = rating_of(space, self.vector_share)
        law = RatingLaw(rating, space, self.epsilon)
        slope = 2 * law.rate * (1 + 1e-9)
        guarantee = self.promise(
            space,
            scale=dict.fromkeys(("closest", "nearest", "mean", "diameter"), 1.0),
            certified_how="proof, for the integer weights that are sampled",
            equivalents=(
                f"{self.epsilon:.6g}-local differential privacy of a word, from the "
                f"measured sensitivity {rating.sensitivity:.6g} of the rating",
                f"at most {slope:.6g} * D(v, v') + {law.kappa:.2g} nats, where D is "
                "the largest difference of the ratings of v and v'",
            ),
            assumptions=("every probability is an integer over 2^62, drawn exactly",),
        )
        # Words at one point differ in their letters, so each has a law of its own.
        inputs = np.arange(space.vocab_size + 1, dtype=np.int32)
        return SelectionState(space, guarantee, law, inputs=inputs)
