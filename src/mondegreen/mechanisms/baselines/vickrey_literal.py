"""Vickrey as it is printed: the input word is excluded (no privacy; to compare)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, final

import numpy as np

from mondegreen.arrays import Ids
from mondegreen.errors import SpaceError
from mondegreen.guarantee import Guarantee
from mondegreen.mechanisms import base
from mondegreen.mechanisms.noise import vickrey
from mondegreen.mechanisms.noise.base import BLOCK, NoiseState
from mondegreen.mechanisms.noise.laplace import Laplace
from mondegreen.space.space import Space


@final
@dataclass(frozen=True, slots=True)
class VickreyLiteral(base.AbstractMechanism):
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
    *Privacy.* None. :math:`P(w \mid w) = 0` while :math:`P(w \mid w') > 0`: the loss is
    infinite for every epsilon, ``t`` and pair of words. The last step looks at the
    input, so it is no post-processing. Counterexample:
    ``docs/proofs/vickrey_literal.md``.

    *Differs from the paper.* It does not: Algorithm 1 as printed. Where the ratio is
    0/0, :math:`P(y_1) = 1 - t`; in a space of two words the other one is released.

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
    >>> state.guarantee.is_proved
    False
    """

    epsilon: float = base.epsilon_parameter(
        "per unit of Euclidean distance",
        help="claimed, not kept: loss in nats for two words one unit apart",
    )
    t: float = base.parameter(
        0.5, range="[0, 1]", help="weight of the second neighbour", within=(0, 1)
    )

    name: ClassVar[str] = "vickrey_literal"
    family: ClassVar[str] = "noise"
    metric: ClassVar[str] = "Euclidean distance"
    is_private: ClassVar[bool] = False

    def prepare(self, space: Space) -> VickreyLiteralState:
        base.check_space(self, space)
        if space.vocab_size == 1:
            raise SpaceError(
                f"space {space.name!r} has one word; {self.name} releases another word "
                "than the input and needs two"
            )
        laplace = Laplace(self.epsilon).prepare(space)
        guarantee = self.promise(
            space,
            certified_how="not proved: the input is excluded from its own outputs, so "
            "its loss is infinite; use vickrey",
            disclosed=("one word that the input was not: the output",),
            assumptions=laplace.guarantee.assumptions,
        )
        noise = replace(laplace, guarantee=guarantee, uniforms=1)
        return VickreyLiteralState(space, guarantee, noise, self.t)


@final
@dataclass(frozen=True, slots=True)
class VickreyLiteralState(base.State):
    """The printed algorithm prepared for one space.

    No :class:`NoiseState`, whose decoders may not see the input: what this chooses from
    depends on it.
    """

    space: Space
    guarantee: Guarantee
    noise: NoiseState
    t: float

    def sample(self, ids: Ids, rng: np.random.Generator) -> Ids:
        base.check_ids(ids, self.space.vocab_size)
        out = np.empty(len(ids), dtype=np.int32)
        for i, (points, uniforms) in enumerate(self.noise.noisy(ids, rng)):
            block = slice(i * BLOCK, i * BLOCK + len(points))
            words, distances = vickrey.nearest_words(
                self.space, self.noise.search, points, 3, excluded=ids[block]
            )
            two = distances[:, :2]  # the input itself is last: the error of the paper
            alone = np.isinf(two[:, 1])  # in a space of two words
            law = vickrey.two_neighbours(np.where(np.isinf(two), 0.0, two), self.t)
            law[alone] = 1.0, 0.0
            out[block] = vickrey.choose_neighbour(words, law, uniforms)
        return out
