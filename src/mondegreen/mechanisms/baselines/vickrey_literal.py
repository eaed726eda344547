"""Vickrey as it is printed: the input word is excluded (no privacy; to compare)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Final, final

import numpy as np
from numpy.typing import NDArray

from mondegreen.arrays import Ids, LogProbs
from mondegreen.errors import LawUnknownError, SpaceError
from mondegreen.guarantee import Guarantee
from mondegreen.mechanisms.base import (
    AbstractMechanism,
    State,
    check_epsilon,
    check_ids,
    check_interval,
    check_space,
    parameter,
)
from mondegreen.mechanisms.noise.laplace import Laplace
from mondegreen.sampling.laplace import multivariate_laplace
from mondegreen.space.search.base import NeighbourSearch
from mondegreen.space.space import Space

_BLOCK: Final = 4096


@final
@dataclass(frozen=True, slots=True)
class VickreyLiteral(AbstractMechanism):
    r"""Add noise; release one of the two nearest words other than the input.

    With :math:`x = \phi(w) + Z`, :math:`Z` as for Laplace, and :math:`r_1 \le r_2` the
    distances from :math:`x` to the nearest words :math:`y_1, y_2` of
    :math:`W \setminus \{w\}`,

    .. math:: P(y_1 \mid x) = \frac{(1-t)\, r_2}{t\, r_1 + (1-t)\, r_2}.

    For comparison only. Use ``vickrey``, which keeps the input among its neighbours.

    Parameters
    ----------
    epsilon : float in [1e-9, 1e9], per unit of Euclidean distance
        What is claimed; the rate of the noise.
    t : float in [0, 1]
        0 always takes the nearest other word, 1 the second nearest.

    Raises
    ------
    InvalidParameterError
        If a parameter is out of range.
    SpaceError
        If a space has one word: there is no other to release.

    Notes
    -----
    *Privacy.* None. :math:`P(w \mid w) = 0` while :math:`P(w \mid w') > 0`, so the loss
    is infinite for every epsilon, ``t`` and pair of words, at distance 0 too: each
    output names one word that the input was not. The last step looks at the input, so
    it is no post-processing. Counterexample: ``docs/proofs/vickrey_literal.md``.

    *Differs from the paper.* It does not: Algorithm 1 as printed. The unknown word is
    no output, so nothing is excluded for it. Where the ratio is 0/0,
    :math:`P(y_1) = 1 - t`; in a space of two words the other one is released.

    References
    ----------
    .. [1] Xu, Aggarwal, Feyisetan, Teissier. "On a Utilitarian Approach to Privacy
       Preserving Text Generation." PrivateNLP 2021, Algorithm 1.

    Examples
    --------
    >>> import mondegreen as mg
    >>> space = mg.Space.from_arrays("line", ["cold", "cool", "hot"], [[0], [1], [9]])
    >>> state = VickreyLiteral(epsilon=50.0, t=0.0).prepare(space)
    >>> state.sample(np.array([0, 1, 2], dtype=np.int32), np.random.default_rng(0))
    array([1, 0, 1], dtype=int32)
    >>> state.guarantee.is_private
    False
    """

    epsilon: float = parameter(
        range="[1e-9, 1e9]",
        unit="per unit of Euclidean distance",
        help="claimed, not kept: loss in nats for two words one unit apart",
    )
    t: float = parameter(0.5, range="[0, 1]", help="weight of the second neighbour")

    name: ClassVar[str] = "vickrey_literal"
    family: ClassVar[str] = "noise"
    metric: ClassVar[str] = "Euclidean distance"
    is_private: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        t = check_interval("t", self.t, 0.0, 1.0, "in [0, 1]")
        object.__setattr__(self, "t", t)

    def prepare(self, space: Space) -> VickreyLiteralState:
        """Build the search index of the space."""
        check_space(self, space)
        if space.vocab_size == 1:
            raise SpaceError(
                f"space {space.name!r} has one word; {self.name} releases another word "
                "than the input and needs two"
            )
        laplace = Laplace(self.epsilon).prepare(space)
        guarantee = replace(
            laplace.guarantee,
            mechanism=self.name,
            parameters=self.to_dict()["parameters"],
            certified_how="not proved: the input is excluded from its own outputs, so "
            "its loss is infinite; use vickrey",
            proof="docs/proofs/vickrey_literal.md",
            disclosed=("one word that the input was not: the output",),
            is_private=False,
        )
        return VickreyLiteralState(
            space, guarantee, self.epsilon, self.t, laplace.search
        )


@final
@dataclass(frozen=True, slots=True)
class VickreyLiteralState(State):
    """The printed algorithm prepared for one space.

    A state of its own: its decoder must know the input, which the decoders of
    :class:`mondegreen.mechanisms.noise.base.NoiseState` may not.
    """

    space: Space
    guarantee: Guarantee
    epsilon: float
    t: float
    search: NeighbourSearch

    def sample(self, ids: Ids, rng: np.random.Generator) -> Ids:
        """Draw an output for each input; see :class:`mondegreen.mechanisms.State`."""
        check_ids(ids, self.space.vocab_size)
        out = np.empty(len(ids), dtype=np.int32)
        for start in range(0, len(ids), _BLOCK):
            block = ids[start : start + _BLOCK]
            out[start : start + _BLOCK] = self._block(block, rng)
        return out

    def _block(self, ids: Ids, rng: np.random.Generator) -> Ids:
        """Draw an output for each of a few inputs."""
        points = multivariate_laplace(rng, self.epsilon, (len(ids), self.space.dim))
        points += self.space.points(ids)
        found = self.search.nearest(points, 3)
        gaps = self.space.vectors[found].astype(np.float64) - points[:, None, :]
        distances = np.sqrt(np.einsum("tkn,tkn->tk", gaps, gaps))
        distances[found == ids[:, None]] = np.inf  # the error of the algorithm
        order = np.argsort(distances, axis=1, kind="stable")[:, :2]
        near = np.take_along_axis(distances, order, axis=1)
        second = rng.random(len(ids)) >= _first_chance(near[:, 0], near[:, 1], self.t)
        chosen = np.take_along_axis(order, second[:, None].astype(np.intp), axis=1)
        out: Ids = np.take_along_axis(found, chosen, axis=1)[:, 0]
        return out

    def log_prob(self, ids: Ids) -> LogProbs:
        """Raise: a probability is an integral over a Voronoi cell."""
        raise LawUnknownError(
            f"{self.guarantee.mechanism} has no law in closed form; sample from it"
        )


def _first_chance(
    first: NDArray[np.float64], second: NDArray[np.float64], t: float
) -> NDArray[np.float64]:
    """Return P(y1) at distances r1 and r2; r2 is infinite where there is no y2."""
    alone = np.isinf(second)
    weight = (1 - t) * np.where(alone, 0.0, second)
    total = t * first + weight
    chance = np.divide(weight, total, out=np.full_like(weight, 1 - t), where=total > 0)
    return np.where(alone, 1.0, chance)
