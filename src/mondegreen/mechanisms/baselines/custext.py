"""CusText: draws a word from a small fixed cluster (no metric privacy)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np

from mondegreen.arrays import Floats, Ids
from mondegreen.errors import InvalidParameterError
from mondegreen.mechanisms import base
from mondegreen.mechanisms.baselines.restricted import (
    RESTRICTED_ASSUMPTIONS,
    RestrictedRow,
    RestrictedState,
)
from mondegreen.sampling.integers import TOTAL
from mondegreen.space.space import Space

_MOST_WORDS: Final = 10_000
_SMALLEST_WEIGHT: Final = 1 << 14


@final
@dataclass(frozen=True, slots=True)
class Custext(base.AbstractMechanism):
    r"""Draw a word from the fixed cluster of the input.

    Clusters :math:`C` of ``k`` words are disjoint: in the order of the space, a word
    that is in none yet takes its ``k - 1`` nearest words that are in none. Then

    .. math::

        P(y \mid w) \propto e^{\frac{\epsilon}{2} u(w, y)}, \quad y \in C(w), \qquad
        u(w, y) = 1 - \frac{d(w, y) - \min_C d}{\max_C d - \min_C d}.

    For comparison only. Use ``exponential`` or ``tem``, whose outputs are all words.

    Parameters
    ----------
    epsilon : float in [1e-9, 1e9]
        Loss in nats for two words of one cluster; it has no unit of distance.
    k : int in 2..10000
        Words of a cluster; the last cluster may be smaller.

    Raises
    ------
    InvalidParameterError
        If a parameter is out of range.

    Notes
    -----
    *Privacy.* Epsilon-differential privacy between words of one cluster, and nothing
    beyond: the cluster of every word is released unchanged, so two words of different
    clusters, near as they may be, lose infinitely much. Proof and counterexample:
    ``docs/proofs/custext.md``.

    *Numerics.* Integer weights over :math:`2^{62}`; scores beyond
    :math:`\ln(2^{48}/k)` nats are cut off, and the rate pays for rounding.

    *Differs from the paper.* The order of words is that of the public space, not of the
    private corpus; unknown words, which pass unchanged in the authors' code, belong to
    the cluster of the word nearest to them. This is the authors' "conservative"
    mapping; the other one promises nothing at all. CusText+ keeps stop words: use
    ``keep``.

    References
    ----------
    .. [1] Chen, Mo, Wang, Chen, Nie, Wang, Cui. "A Customized Text Sanitization
       Mechanism with Differential Privacy." Findings of ACL 2023.

    Examples
    --------
    >>> import mondegreen as mg
    >>> words = ["ill", "red", "sick", "blue"]
    >>> space = mg.Space.from_arrays("s", words, [[0], [8], [1], [9]])
    >>> state = Custext(epsilon=2.0, k=2).prepare(space)
    >>> np.exp(state.log_prob(np.array([0, 3], dtype=np.int32))).round(3).tolist()
    [[0.731, 0.0, 0.269, 0.0], [0.0, 0.269, 0.0, 0.731]]
    """

    epsilon: float = base.epsilon_parameter(
        "", help="loss in nats for two words of one cluster; infinite between clusters"
    )
    k: int = base.parameter(20, range="2..10000", help="words of a cluster")

    name: ClassVar[str] = "custext"
    family: ClassVar[str] = "selection"
    metric: ClassVar[str] = "1 within a cluster, infinite between clusters"
    is_private: ClassVar[bool] = False

    def __post_init__(self) -> None:
        base.AbstractMechanism.__post_init__(self)
        allowed = f"a whole number in 2..{_MOST_WORDS}"
        k = base.check_interval("k", self.k, 2, _MOST_WORDS, allowed)
        if not k.is_integer():
            raise InvalidParameterError("k", self.k, allowed)
        object.__setattr__(self, "k", int(k))

    def prepare(self, space: Space) -> CustextState:
        """Cluster the words of the space: seconds for a large one."""
        base.check_space(self, space)
        members = build_clusters(space, self.k)
        cluster = np.empty(space.vocab_size + 1, dtype=np.int32)
        for i, words in enumerate(members):
            cluster[words] = i
        gaps = space.vectors.astype(np.float64) - space.unknown
        cluster[-1] = cluster[np.argmin(np.einsum("ij,ij->i", gaps, gaps))]
        # A utility in [0, 1] changes by at most 1 from one input to another, whatever
        # the rounding of distances; cut off at g it changes by at most g.
        k = min(self.k, space.vocab_size)
        cutoff = math.log(TOTAL / k / _SMALLEST_WEIGHT)
        smallest = TOTAL / k * math.exp(-min(self.epsilon / 2, cutoff))
        kappa = 4 / (smallest - 2) + k * (2 * k + 2.0**16) / 2.0**61 + 1e-12
        rate = max(self.epsilon - kappa, 0.0) / 2
        guarantee = self.promise(
            space,
            scale=dict.fromkeys(("closest", "nearest", "mean", "diameter"), 1.0),
            certified_how="not proved: an output reveals the cluster of the input "
            "(infinite loss between clusters); use exponential or tem",
            equivalents=(
                f"what holds: two words of one cluster lose at most {self.epsilon:g} "
                "nats",
            ),
            disclosed=(
                f"which of the {len(members):,} clusters of at most {self.k} words "
                "each word belongs to",
            ),
            assumptions=RESTRICTED_ASSUMPTIONS,
        )
        return CustextState(space, guarantee, members, cluster, rate, cutoff)


@final
@dataclass(frozen=True, slots=True)
class CustextState(RestrictedState):
    """CusText prepared for one space."""

    members: list[Ids]  # the words of each cluster
    cluster: Ids  # of every input; of the unknown word, that of its nearest word
    rate: float
    cutoff: float

    def rows(self, words: Sequence[int]) -> Iterator[RestrictedRow]:
        for word in words:
            members = self.members[self.cluster[word]]
            loss = self.rate * self._disutility(word, members)
            weights = np.exp(-np.minimum(loss, self.cutoff))
            yield RestrictedRow.of(word, 0, members, weights)

    def distances(self, first: Ids, second: Ids) -> Floats:
        apart = self.cluster[first][:, None] != self.cluster[second]
        return np.where(apart, np.inf, base.discrete_distances(first, second))

    def _disutility(self, word: int, members: Ids) -> Floats:
        """1 - u: distances to the cluster, from 0 for the least to 1."""
        point = self.space.points(np.array([word], dtype=np.int32))
        gaps = self.space.vectors[members].astype(np.float64) - point
        distances: Floats = np.sqrt(np.einsum("ij,ij->i", gaps, gaps))
        distances -= distances.min()
        return distances / (distances.max() or 1.0)


def build_clusters(space: Space, k: int) -> list[Ids]:
    """Part the words into clusters of ``k``, the last one smaller."""
    vectors = space.vectors.astype(np.float64)
    vectors -= space.unknown  # from the centroid products round least
    halves = np.einsum("ij,ij->i", vectors, vectors) / 2
    left = np.arange(space.vocab_size, dtype=np.int32)
    is_left = np.ones(space.vocab_size, dtype=bool)
    clusters: list[Ids] = []
    for first in range(space.vocab_size):
        if not is_left[first]:
            continue
        if np.count_nonzero(is_left) < 0.9 * len(left):
            kept = is_left[left]
            left, vectors, halves = left[kept], vectors[kept], halves[kept]
        own = int(np.searchsorted(left, first))
        order = halves - vectors @ vectors[own]
        order[~is_left[left]] = np.inf
        order[own] = -np.inf
        some = min(k, int(np.count_nonzero(is_left)))
        members = np.sort(left[np.argpartition(order, some - 1)[:some]])
        is_left[members] = False
        clusters.append(members)
    return clusters
